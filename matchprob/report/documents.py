"""Documents in a terminal: title, facts, parts, explanation."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from algebra.documents import Document, Explanation, Paragraph, Part, TextPicture, is_numeric
from matchprob.io.page import Page
from matchprob.report.steps import commands


def print_document(
    out: Console,
    document: Document,
    file: str,
    own: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Print a document.

    Parameters
    ----------
    out : Console
    document : Document
    file : str
        The files on the command line, quoted for a shell.
    own : mapping, optional
        Options of the call, as for `matchprob.report.steps.commands`.
    """
    print_findings(out, document)
    print_explanation(out, document.why, file, own)


def print_findings(out: Console, document: Document) -> None:
    """Print a document without its explanation."""
    out.print(Text(document.title, style=STYLES.get(document.tone, "")))
    facts = document.shown_facts()
    if facts:
        grid = table("", "")
        grid.show_header = False
        for name, text in facts.items():
            if text not in document.title.split(": "):
                grid.add_row(Text(f"  {name}", style="dim"), Text(text))
        out.print(grid)
    for is_text, parts in groupby(document.parts, lambda part: isinstance(part, Paragraph)):
        if is_text:
            # One object: of a long report it is cut before other parts.
            out.print(Text("\n").join(_paragraph(part) for part in parts))
        else:
            for part in parts:
                _print_part(out, part)


def _paragraph(part: Part) -> Text:
    assert isinstance(part, Paragraph)
    return Text(part.text, style=STYLES.get(part.tone, ""))


def _print_part(out: Console, part: Part) -> None:
    assert not isinstance(part, Paragraph)
    if isinstance(part, TextPicture):
        out.print(Text(f"\n{part.title}" if part.title else ""))
        if part.rows:
            out.print(Text("\n".join(part.rows), style="cyan"))
        return
    if part.is_empty:
        return
    out.print(Text(f"\n{part.title}" if part.title else "", style="bold"))
    cells = part.cells()
    made = table(*cells, right=[name for name, column in cells.items() if is_numeric(column)])
    tones = [part.tones.get(name, [""] * len(column)) for name, column in cells.items()]
    for row in zip(*map(zip, cells.values(), tones), strict=True):
        made.add_row(*(Text(text, style=STYLES.get(tone, "")) for text, tone in row))
    out.print(made)


def print_explanation(
    out: Console,
    why: Explanation,
    file: str,
    own: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Print what is known, what is open, what would decide it, what to try."""
    out.print()
    for text in why.known:
        _wrapped(out, "", text)
    for label, text in why.labelled():
        _wrapped(out, label, text)
    for command, purpose in commands(why, file, own):
        _wrapped(out, "Try: ", f"{command}   ({purpose})")


def _wrapped(out: Console, label: str, text: str) -> None:
    """Print a paragraph, its further lines indented."""
    if isinstance(out, Page):
        text = out.worded(text)
    start = "  " + " " * (len(text) - len(text.lstrip()))
    lines = textwrap.wrap(
        label + text.strip(), max(40, out.width - 1), initial_indent=start,
        subsequent_indent=start + " " * len(label), break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
    out.print("\n".join(lines), markup=False, soft_wrap=True)


STYLES = {
    "maximal": "bold green",
    "minimal": "bold red",
    "intermediate": "bold yellow",
    "undecided": "bold magenta",
    "strong": "bold",
    "quiet": "dim",
    "good": "green",
    "bad": "bold red",
    "open": "yellow",
}
# Largest width of text columns, folded on narrow pages, and the smallest.
_WRAPPED = ("note", "reason", "what")
_LEAST = 16


def table(*columns: str, right: Sequence[str] = ()) -> Table:
    """A plain table; the columns named in `right` are right-aligned."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        justify: Literal["left", "right"] = "right" if column in right else "left"
        least = _LEAST if column in _WRAPPED else None
        wraps = column in (*_WRAPPED, "")
        made.add_column(column, justify=justify, no_wrap=not wraps, min_width=least)
    return made
