"""What commands share: options, output, exit statuses."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from matchprob.io.sizes import DPI, check_dpi, inches

if TYPE_CHECKING:
    from rich.console import Console

    from algebra.problems.names import Names
    from algebra.results import Explanation, Result

BAD_INPUT, UNFINISHED, BUG = 2, 3, 1


Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]
Whole = Annotated[
    bool, typer.Option("--all", help="The whole report, where it has more than 50 lines.")
]
Seed = Annotated[int, typer.Option(help="Everything random follows from it.", min=0)]
Plot = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Draw a picture (.png, .svg or .pdf)."),
]


def _width(text: str | None) -> str | None:
    """Refused before any work is done."""
    if text is not None:
        inches(text)
    return text


Width = Annotated[
    str | None,
    typer.Option(
        "--width", metavar="WIDTH", callback=_width,
        help="Of the picture on paper (85mm, 3.5in); by default as wide as it needs.",
    ),
]  # fmt: skip
NoTitle = Annotated[
    bool,
    typer.Option("--no-title", help="No title in the picture: a caption says it. Panels: a, b, …"),
]
Dpi = Annotated[int, typer.Option("--dpi", callback=check_dpi, help="Dots per inch of a .png.")]
StoreOption = Annotated[
    Path | None,
    typer.Option("--store", metavar="FILE", help="Keep trials in this file; taken up again."),
]
WorkersOption = Annotated[int, typer.Option("--workers", help="Processes.", min=1)]
Timeout = Annotated[
    float, typer.Option(help="Seconds for the whole call; what is known by then is reported.")
]


def print_text(page: Console, found: Any) -> None:
    """Print the text of a result as it is."""
    page.print(str(found), markup=False)


@dataclass(frozen=True)
class PrintOptions:
    """How a result is printed: as text or as one JSON object."""

    as_json: Json = False
    is_whole: Whole = False

    def tell(
        self,
        found: Result,
        why: Explanation,
        names: Names | None,
        show: Callable[[Console, Any], None] = print_text,
        **more: Any,
    ) -> None:
        """Print a result; `more` is added to its JSON object."""
        data = {**found.to_dict(), **more}  # type: ignore[attr-defined]
        answer(
            data, why, names, lambda page: show(page, found),
            as_json=self.as_json, is_whole=self.is_whole,
        )  # fmt: skip


@dataclass(frozen=True)
class Shown(PrintOptions):
    """How a result with a picture is printed and drawn."""

    plot: Plot = None
    width: Width = None
    dpi: Dpi = DPI
    no_title: NoTitle = False

    def tell(self, found: Result, *arguments: Any, **more: Any) -> None:
        """Print a result, and draw it where a picture is asked for."""
        super().tell(found, *arguments, **more)
        self.draw(found)

    def draw(self, found: Result) -> None:
        """Draw it, where a picture is asked for."""
        if self.plot is None:
            given = (
                ("--width", self.width is not None),
                ("--dpi", self.dpi != DPI),
                ("--no-title", self.no_title),
            )
            for option in [name for name, is_given in given if is_given][:1]:
                say(f"matchprob: {option} is of a picture, and none is asked for: add --plot FILE")
            return
        from matchprob.report.drawing import paint

        paint.write(found, self.plot, self.width, self.dpi, has_title=not self.no_title)
        say(f"wrote {self.plot}")


def write(path: Path, text: str, note: str = "") -> None:
    """Write a file and say so."""
    from matchprob.io import files

    files.write_text(path, text)
    say(f"wrote {path}{note}")


def console(names: Names | None = None) -> Console:
    """Where results are printed; with names of units these are put in for indices."""
    from matchprob.io.page import Page

    return Page(names)


def say(text: str) -> None:
    """A message on stderr."""
    typer.echo(text, err=True)


def print_json(data: dict[str, Any]) -> None:
    """The one JSON object on stdout."""
    put(json.dumps(data) + "\n")


def sentences(why: Explanation, names: Names | None = None) -> dict[str, Any]:
    """An explanation as the field of ``--json``, and the names of units, where there are some.

    Sentences have the names in place of indices.  Everything else keeps its indices: rows and
    columns of each matrix are the positions in ``names``.
    """
    lines = why.lines()
    if not names:
        return {"explanation": lines}
    told = {
        matrix: {"rows": names.rows(matrix), "columns": names.columns(matrix)}
        for matrix in names.network.shapes
    }
    return {"names": told, "explanation": [names.annotate(text) for text in lines]}


def put(text: str) -> None:
    """A text on stdout as it is."""
    # typer's echo writes past a replaced stdout.
    sys.stdout.write(text)
    sys.stdout.flush()


def answer(
    data: dict[str, Any],
    why: Explanation,
    names: Names | None,
    show: Callable[[Console], None],
    *,
    as_json: bool,
    is_whole: bool = True,
) -> None:
    """A result and its explanation: one JSON object, or as a person reads them (`report`)."""
    if as_json:
        print_json({**data, **sentences(why, names)})
    else:
        report(show, names, why, is_whole=is_whole)


def report(
    show: Callable[[Console], None],
    names: Names | None = None,
    why: Explanation | None = None,
    *,
    is_whole: bool,
) -> None:
    """Print a report and its explanation; a long report is shortened unless `is_whole`."""
    from matchprob.io.page import MOST_LINES, Page
    from matchprob.report.explanation import print_explanation

    page = Page(names, None if is_whole else MOST_LINES)
    show(page)
    printed = page.printed
    if why is not None:
        print_explanation(page, why)
    page.close(printed)
