"""Check the built site offline: every link leads to a page and a place on it; nothing is fetched.

``python scripts/check_site.py out/site``.  Addresses elsewhere are not visited; they are counted.
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser loads by itself.
_LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
# Links of these kinds are not loaded.
_NAMES = {"canonical", "next", "prev", "index", "search", "author", "copyright", "top"}


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        name = _LOADED.get(tag)
        if name in given and not (tag == "link" and given.get("rel") in _NAMES):
            self.loaded.append(given[name])


@cache
def read(path: Path) -> _Page:
    """The links and places of a page."""
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def wrong(site: Path) -> tuple[list[str], int, int]:
    """The errors, the number of links followed, and the number of external links."""
    errors, followed, elsewhere = [], 0, 0
    for path in sorted(p for p in site.rglob("*.html") if "_static" not in p.parts):
        page, name = read(path), path.relative_to(site)
        for target in page.loaded:
            if urlsplit(target).netloc:
                errors.append(f"{name}: fetches {target}")
        for target in [*page.links, *page.loaded]:
            parts = urlsplit(target)
            if parts.scheme in ("http", "https", "mailto"):
                elsewhere += 1
                continue
            if parts.scheme:
                continue
            followed += 1
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if file.is_dir():
                file /= "index.html"
            if not file.is_file():
                errors.append(f"{name}: {target} leads nowhere")
            elif parts.fragment and file.suffix == ".html":
                place = unquote(parts.fragment)
                if place not in read(file).places and not place.startswith(":~:"):
                    errors.append(f"{name}: {target}: there is no such place on the page")
    return errors, followed, elsewhere


def main() -> int:
    """Exit status 1 if there are errors or no page."""
    site = Path(sys.argv[1])
    pages = len(list(site.rglob("*.html")))
    if not pages:
        print(f"{site}: no page", file=sys.stderr)
        return 1
    errors, followed, elsewhere = wrong(site)
    print("\n".join(errors) or f"{pages} pages, {followed} links followed, {elsewhere} elsewhere")
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())
