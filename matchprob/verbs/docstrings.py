"""Parameters in a numpydoc docstring: read, and completed."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Mapping

_UNDERLINED = re.compile(r"^(?P<title>\S.*)\n-{3,}$", re.MULTILINE)
_ENTRY = re.compile(r"^(?P<names>\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : (?P<kind>.*))?$")
# A sentence ends before a capital letter, a quotation mark or code, or with the text.
_END = re.compile(r"\.(?=\s+[A-Z\"`\[]|$)")


def first_sentence(text: str) -> str:
    """The first sentence of a text, on one line.

    Examples
    --------
    >>> first_sentence("Seconds, e.g. 2.5, for\\nthe call.  Then it ends.")
    'Seconds, e.g. 2.5, for the call.'
    """
    whole = " ".join(text.split())
    end = _END.search(whole)
    return whole[: end.end()] if end else whole


def _span(doc: str) -> tuple[int, int, int]:
    """The offsets at which the section Parameters begins, its entries begin, and it ends.

    Without such a section all three are the offset at which it belongs.
    """
    titles = list(_UNDERLINED.finditer(doc))
    starts = [title.start() for title in titles] + [len(doc)]
    for found, following in zip(titles, starts[1:], strict=True):
        if found["title"] == "Parameters":
            return found.start(), found.end() + 1, following
    return starts[0], starts[0], starts[0]


def described_parameters(doc: str) -> dict[tuple[str, ...], str]:
    """The entries of the section Parameters: their names, and the lines as they are.

    Examples
    --------
    >>> described_parameters("Do it.\\n\\nParameters\\n----------\\na, b : int\\n    Sizes.\\n")
    {('a', 'b'): 'a, b : int\\n    Sizes.'}
    """
    _, start, end = _span(doc)
    found: dict[tuple[str, ...], list[str]] = {}
    lines: list[str] = []
    for line in doc[start:end].splitlines():
        entry = _ENTRY.match(line)
        if entry:
            lines = found[tuple(entry["names"].replace("*", "").split(", "))] = []
        lines.append(line)
    return {names: "\n".join(own).rstrip() for names, own in found.items()}


def description_of(entry: str) -> str:
    """The description in an entry of the section Parameters."""
    return textwrap.dedent(entry.partition("\n")[2])


def completed(doc: str | None, shared: Mapping[str, str], order: list[str]) -> str:
    """A docstring whose section Parameters also has the shared entries.

    Parameters
    ----------
    doc : str or None
    shared : mapping of str to str
        Entries by the name of the parameter; entries of the docstring have precedence.
    order : list of str
        All parameters in the order of the signature.
    """
    clean = inspect.cleandoc(doc or "")
    own = described_parameters(clean)
    entries = {name: entry for names, entry in own.items() for name in names[:1]}
    known = {name for names in own for name in names}
    entries |= {name: entry for name, entry in shared.items() if name not in known}
    if not entries:
        return clean
    body = "\n".join(entries[name] for name in order if name in entries)
    begin, _, end = _span(clean)
    head, rest = clean[:begin].rstrip(), clean[end:].strip()
    return f"{head}\n\nParameters\n----------\n{body}\n" + (f"\n{rest}" if rest else "")
