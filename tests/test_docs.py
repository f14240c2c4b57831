"""Pages say what is there: links lead somewhere, examples and modules that are named exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *ROOT.glob("changes.d/*.md")])


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page):
    """Every relative link and picture of a page is a file."""
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_files_that_are_named_exist(page):
    """Paths of the tree in a page's text are files or folders of the tree."""
    text = page.read_text(encoding="utf-8")
    paths = re.findall(
        r"`((?:algebra|numeric|matchprob|tests|examples|benchmarks|scripts|docs)/[\w./-]+)`", text
    )
    for path in paths:
        if "NAME" not in path and "<" not in path:
            assert (ROOT / path).exists(), path


def test_the_readme_is_one_page():
    """What it is, two commands, an example, where to read on."""
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 200
