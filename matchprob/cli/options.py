"""Options shared by commands; output; exit statuses."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from algebra.memory_limits import memory_size
from matchprob.io.sizes import DPI, check_dpi, inches
from matchprob.verbs.verb import Arguments, Content, LineOption

if TYPE_CHECKING:
    from rich.console import Console

    from algebra.documents import Document, Explanation
    from algebra.problems.names import Names
    from algebra.results import Result

BAD_INPUT = 2
UNFINISHED = 3
BUG = 1
# Options of the call by the name of its verb, which suggested commands repeat.
Own = Mapping[str, Mapping[str, Any]] | None


def _width(text: str, _: Arguments) -> str:
    """Checked before any work is done."""
    inches(text)
    return text


Json = Annotated[bool, LineOption("One JSON object on stdout.", flag="--json")]
Whole = Annotated[bool, LineOption("Print the whole report, also beyond 50 lines.", flag="--all")]
Memory = Annotated[
    int | None,
    LineOption(
        "Largest amount of memory, such as 4GiB; by default half of what is free.",
        metavar="SIZE", word=str, read=lambda text, _: memory_size(text),
    ),
]  # fmt: skip
Width = Annotated[
    str | None,
    LineOption(
        "Width of the picture on paper (85mm, 3.5in); chosen from its content by default.",
        metavar="WIDTH",
        read=_width,
    ),
]
NoTitle = Annotated[
    bool, LineOption("No title in the picture, for use with a caption; panels are called a, b, …")
]
Dpi = Annotated[
    int, LineOption("Dots per inch of a .png.", read=lambda number, _: check_dpi(number))
]


@dataclass(frozen=True)
class PrintOptions:
    """How a result is printed: as text or as one JSON object."""

    as_json: Json = False
    is_whole: Whole = False
    memory: Memory = None

    def print(
        self,
        found: Result,
        document: Document,
        file: str,
        names: Names | None = None,
        *,
        own: Own = None,
        show: Callable[[Console], None] | None = None,
        **more: Any,
    ) -> None:
        """Print a result; `more` is added to its JSON object."""
        data = {**found.to_dict(), **more}  # type: ignore[attr-defined]
        print_result(
            data, document, file, names,
            own=own, as_json=self.as_json, is_whole=self.is_whole, show=show,
        )  # fmt: skip


@dataclass(frozen=True)
class Shown(PrintOptions):
    """How a result with a picture is printed and drawn."""

    plot: Annotated[
        Path | None, LineOption("Draw a picture (.png, .svg or .pdf).", metavar="FILE")
    ] = None
    width: Width = None
    dpi: Dpi = DPI
    no_title: NoTitle = False

    def print(self, found: Result, *arguments: Any, **more: Any) -> None:
        """Print a result, and draw it if a picture is requested."""
        super().print(found, *arguments, **more)
        self.draw(found)

    def draw(self, found: Result) -> None:
        """Draw it if a picture is requested."""
        if self.plot is None:
            given = (
                ("--width", self.width is not None),
                ("--dpi", self.dpi != DPI),
                ("--no-title", self.no_title),
            )
            for option in [name for name, is_given in given if is_given][:1]:
                say(f"matchprob: {option} is about a picture: add --plot FILE")
            return
        from matchprob.report.drawing import paint

        paint.write_picture(found, self.plot, self.width, self.dpi, has_title=not self.no_title)
        say(f"wrote {self.plot}")


def write_output(path: Path, content: Content, note: str = "", indent: int | None = None) -> None:
    """Write a file, and report it on stderr."""
    from matchprob.io import files

    if isinstance(content, Mapping):
        from algebra.certificates.signing import file_text

        content = file_text(content, indent=indent)
    if isinstance(content, str):
        files.write_text(path, content)
    else:
        files.write_bytes(path, content)
    say(f"wrote {path}{note}")


def console(names: Names | None = None) -> Console:
    """The console for results; names of units, if given, replace indices."""
    from matchprob.io.page import Page

    return Page(names)


def say(text: str) -> None:
    """A message on stderr."""
    typer.echo(text, err=True)


def print_json(data: dict[str, Any]) -> None:
    """The one JSON object on stdout, with the versions that made it."""
    from algebra.certificates.signing import file_text

    put(file_text(data))


def explanation_fields(
    why: Explanation, file: str, names: Names | None = None, own: Own = None
) -> dict[str, Any]:
    """An explanation as the field of ``--json``, and the names of units, if there are any.

    Sentences have the names in place of indices. All other fields have indices: rows and columns of
    each matrix are the positions in ``names``.
    """
    from matchprob.report.steps import lines

    texts = lines(why, file, own)
    if not names:
        return {"explanation": texts}
    units = {
        matrix: {"rows": names.rows(matrix), "columns": names.columns(matrix)}
        for matrix in names.network.shapes
    }
    return {"names": units, "explanation": [names.annotate(text) for text in texts]}


def put(text: str) -> None:
    """Write a text to stdout without changes."""
    # typer's echo writes past a replaced stdout.
    sys.stdout.write(text)
    sys.stdout.flush()


def print_result(
    data: dict[str, Any],
    document: Document,
    file: str,
    names: Names | None = None,
    *,
    own: Own = None,
    as_json: bool,
    is_whole: bool = True,
    show: Callable[[Console], None] | None = None,
) -> None:
    """Print a document as text, or these data as one JSON object.

    Parameters
    ----------
    data : dict
    document : Document
    file : str
        The files on the command line, quoted for a shell.
    names : Names, optional
        Of units.
    own : mapping, optional
        Options of the call, by verb (`matchprob.report.steps.commands`).
    as_json : bool
    is_whole : bool, optional
        Whether a long report is not shortened.
    show : callable, optional
        Prints more, between the document's parts and its explanation.
    """
    if as_json:
        print_json({**data, **explanation_fields(document.why, file, names, own)})
        return
    from matchprob.report.documents import print_explanation, print_findings

    def findings(page: Console) -> None:
        print_findings(page, document)
        if show is not None:
            show(page)

    print_report(findings, names, lambda page: print_explanation(page, document.why, file, own),
           is_whole=is_whole)  # fmt: skip


def print_report(
    show: Callable[[Console], None],
    names: Names | None = None,
    explain: Callable[[Console], None] | None = None,
    *,
    is_whole: bool,
) -> None:
    """Print a report and its explanation; a long report is shortened unless `is_whole`."""
    from matchprob.io.page import MOST_LINES, Page

    page = Page(names, None if is_whole else MOST_LINES)
    show(page)
    printed = page.printed
    if explain is not None:
        explain(page)
    page.close(printed)
