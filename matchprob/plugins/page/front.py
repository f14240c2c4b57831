"""The front end as one ES module, joined from the files of ``static/``.

Each file is a module with imports, exports and JSDoc types that an editor checks.  A
notebook takes a single text, so the imports between the files are removed and the files are joined
in the order of their dependencies; the page is served the same text.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

STATIC = Path(__file__).with_name("static")
# The first is the entry point for notebooks; `host` is used by the page only.
ENTRY, HOST = "allocator.js", "host.js"

_IMPORT = re.compile(
    r'^import\s+(?:\{[^}]*\}|\* as \w+)\s+from\s+"\./([\w-]+\.js)";\n', re.MULTILINE
)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class|let)\b)", re.MULTILINE)


@cache
def module() -> str:
    """The text of the module; its default export has ``render({ model, el })``."""
    parts: list[str] = []
    _add(ENTRY, parts, [])
    return "\n".join(parts)


@cache
def styles() -> str:
    """The style sheet."""
    return (STATIC / "allocator.css").read_text(encoding="utf-8")


def _add(name: str, parts: list[str], seen: list[str]) -> None:
    """A file, after those that it imports."""
    if name in seen:
        return
    seen.append(name)
    text = (STATIC / name).read_text(encoding="utf-8")
    for other in _IMPORT.findall(text):
        _add(other, parts, seen)
    text = _IMPORT.sub("", text)
    if name != ENTRY:
        text = _EXPORT.sub("", text)
    parts.append(f"// -- {name} --\n{text.removeprefix('// @ts-check').lstrip()}")
