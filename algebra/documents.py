"""Documents: the content of a result as plain data, from which all renderings are made.

A `Document` has a title, facts, and tables, paragraphs and pictures made of characters, and an
`Explanation`: known facts with their reasons, the open question, its decision, and verbs to try
next.  Terminal, notebook, page and plain text are renderings of it.  A document depends neither on
a terminal nor on a drawing library, and contains no commands: a `Step` is a verb with options.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

# Rows of a table in plain text.
_MOST_ROWS = 40
# Text in which a cell is a number, an interval or an absent value: such columns are right-aligned.
_NUMBER = re.compile(r"[≥≤±+\-–\[(]*[\d.,e+\-–∞\])%×/ ]*(of \d+)?")


@dataclass(frozen=True)
class Paragraph:
    """A separate text.

    Attributes
    ----------
    text : str
        Several lines, if it has line breaks; blanks at the beginning of a line indent it.
    tone : str
        Its meaning, for a rendering with colours: a verdict, "strong", "quiet", "good", "bad",
        "open", or "" for none.
    """

    text: str
    tone: str = ""


@dataclass(frozen=True)
class Table:
    """Columns of equal length by their headings.

    Attributes
    ----------
    columns : mapping of str to sequence
        Numbers, texts and None, for what is not known.
    title : str
    tones : mapping of str to sequence of str
        The tones of the cells of a column, as in `Paragraph`.
    """

    columns: Mapping[str, Sequence[Any]]
    title: str = ""
    tones: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def cells(self) -> dict[str, list[str]]:
        """The cells as text."""
        return {name: [cell_text(v) for v in values] for name, values in self.columns.items()}

    @property
    def is_empty(self) -> bool:
        """Whether it has no row."""
        return not any(map(len, self.columns.values()))


@dataclass(frozen=True)
class TextPicture:
    """A picture made of characters, such as a mask.

    Attributes
    ----------
    rows : tuple of str
        Rows of characters that are equally wide.
    title : str
    """

    rows: tuple[str, ...]
    title: str = ""


Part = Paragraph | Table | TextPicture


# What a verb is asked about, if not a problem; and methods in place of options for files.
_ARGUMENTS = {
    "capacity": "model", "compare": "first, second", "construct": "target", "verify": "certificate",
}  # fmt: skip
_METHODS = {"out": ".to_dict()", "plot": ".plot()", "solutions": "", "write": ""}


@dataclass(frozen=True)
class Step:
    """A verb to try next.

    Attributes
    ----------
    verb : str
    purpose : str
        The result to expect.
    options : mapping of str to value
        Values by the names of the verb's options, with underscores.
    subject : str
        The file to which the verb applies, if it is not the file of the question.
    then : Step or None
        A verb that follows, applied to the file that this one writes.
    """

    verb: str
    purpose: str
    options: Mapping[str, Any] = field(default_factory=dict)
    subject: str = ""
    then: Step | None = None

    def __str__(self) -> str:
        """The call in Python; `matchprob.report.steps` writes the command line."""
        # A file that the command line writes is the result of the question in Python.
        return self._call("result.problem" if self.subject == "best.toml" else "")

    def _call(self, subject: str) -> str:
        words = [subject or _ARGUMENTS.get(self.verb, "problem")]
        end, result = "", ".problem"
        for name, value in self.options.items():
            if name in _METHODS:
                # Files and pictures are methods of the result.
                end = _METHODS[name]
                result = end or result
            elif isinstance(value, str) and value.replace(",", "").isdecimal():
                words.append(f"{name}=({value.replace(',', ', ')})")
            else:
                plain = isinstance(value, str | int | float | tuple)
                words.append(f"{name}={value!r}" if plain else f"{name}=...")
        text = f"mp.{self.verb}({', '.join(words)})"
        return self.then._call(text + result) if self.then else text + end


def step(verb: str, purpose: str = "", /, subject: str = "", **options: Any) -> Step:
    """A step; options that are None, False or 0 are left out.

    Examples
    --------
    >>> print(step("certify", "the verdict", timeout=600.0, seed=0))
    mp.certify(problem, timeout=600.0)
    """
    given = {name: value for name, value in options.items() if value not in (None, False, 0)}
    return Step(verb, purpose, given, subject)


@dataclass(frozen=True)
class Explanation:
    """What follows from a result, in sentences.

    Attributes
    ----------
    known : tuple of str
        Facts that are known, with their reasons.
    open : str
        The open question, and the hypothesis that fails; empty if nothing is open.
    decided_by : str
        The result or the data that would decide it.
    steps : tuple of Step
        Verbs to try next.
    """

    known: tuple[str, ...] = ()
    open: str = ""
    decided_by: str = ""
    steps: tuple[Step, ...] = ()

    def labelled(self) -> list[tuple[str, str]]:
        """The open question and its decision as labels and texts with full stops, if not empty."""
        texts = (("Open: ", self.open), ("Decided by: ", self.decided_by))
        return [(label, f"{text}.") for label, text in texts if text]

    def sentences(self) -> list[str]:
        """The known facts, the open question and its decision."""
        return [*self.known, *(label + text for label, text in self.labelled())]

    def lines(self) -> list[str]:
        """Its sentences and steps, in order."""
        return self.sentences() + [f"Try: {s}   ({s.purpose})" for s in self.steps]

    def mapped(self, change: Callable[[str], str]) -> Explanation:
        """The same with every sentence changed."""
        return replace(
            self,
            known=tuple(map(change, self.known)),
            open=change(self.open),
            decided_by=change(self.decided_by),
        )

    def __str__(self) -> str:
        return "\n".join(self.lines())


@dataclass(frozen=True)
class Document:
    """The content of a result.

    Attributes
    ----------
    title : str
        The answer in one line.
    facts : mapping of str to value
        Its main values by name; names have underscores for blanks.  None for an unknown value.
    parts : tuple of Paragraph, Table or TextPicture
        In order.
    why : Explanation
    tone : str
        The tone of the title, as in `Paragraph`.

    Examples
    --------
    >>> found = Document("2 roots", {"degree": 3, "bound": None}, (Paragraph("  one is 0"),))
    >>> print(found)
    2 roots
      one is 0
    """

    title: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()
    why: Explanation = field(default_factory=Explanation)
    tone: str = ""

    def shown_facts(self) -> dict[str, str]:
        """The facts that are known, as text."""
        return {
            name.replace("_", " "): cell_text(value)
            for name, value in self.facts.items()
            if value is not None
        }

    def mapped(self, change: Callable[[str], str]) -> Document:
        """The document with every text changed, for instance from indices to names of units."""

        def of_part(part: Part) -> Part:
            if isinstance(part, Paragraph):
                return replace(part, text=change(part.text))
            if isinstance(part, TextPicture):
                return replace(part, title=change(part.title))
            return replace(
                part, columns={k: list(map(of_value, v)) for k, v in part.columns.items()}
            )

        def of_value(value: Any) -> Any:
            return change(value) if isinstance(value, str) else value

        return Document(
            change(self.title),
            {name: of_value(value) for name, value in self.facts.items()},
            tuple(map(of_part, self.parts)),
            self.why.mapped(change),
            self.tone,
        )

    def __str__(self) -> str:
        return "\n".join([self.title, *(text for part in self.parts for text in _text_lines(part))])

    def html(self) -> str:
        """The HTML shown by a notebook and by the page."""
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{html.escape(text)}</td></tr>"
            for name, text in self.shown_facts().items()
        )
        out = [f"<table><caption>{html.escape(self.title)}</caption>{rows}</table>"]
        out += [_html_part(part) for part in self.parts]
        out += [f"<p>{html.escape(text.strip())}</p>" for text in self.why.sentences()]
        return "".join(out)


def _text_lines(part: Part) -> list[str]:
    """A part as plain text; a long table is cut after its first rows."""
    if isinstance(part, Paragraph):
        return [part.text]
    title = [part.title] if part.title else []
    if isinstance(part, TextPicture):
        return [*title, *part.rows]
    cells = part.cells()
    rows = list(zip(*cells.values(), strict=True))
    shown = [tuple(cells), *rows[:_MOST_ROWS]]
    wide = [max(len(row[k]) for row in shown) for k in range(len(cells))]
    right = [is_numeric(column) for column in cells.values()]
    out = [
        "  ".join(
            text.rjust(w) if is_right else text.ljust(w)
            for text, w, is_right in zip(row, wide, right, strict=True)
        ).rstrip()
        for row in shown
    ]
    more = [f"… and {len(rows) - _MOST_ROWS} more rows"] if len(rows) > _MOST_ROWS else []
    return [*title, *out, *more] if rows else title


def _html_part(part: Part) -> str:
    if isinstance(part, Paragraph):
        return f'<p style="white-space: pre-wrap">{html.escape(part.text.strip())}</p>'
    title = f"<p>{html.escape(part.title)}</p>" if part.title else ""
    if isinstance(part, TextPicture):
        return title + f"<pre>{html.escape(chr(10).join(part.rows))}</pre>"
    if part.is_empty:
        return ""
    cells = part.cells()
    head = "".join(f"<th>{html.escape(name)}</th>" for name in cells)
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in row) + "</tr>"
        for row in zip(*cells.values(), strict=True)
    )
    return f"{title}<table><tr>{head}</tr>{rows}</table>"


def cell_text(value: Any) -> str:
    """The text of a value.

    Examples
    --------
    >>> from fractions import Fraction
    >>> cell_text(None), cell_text(True), cell_text(0.25), cell_text(Fraction(1, 3))
    ('–', 'yes', '0.25', '1/3')
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def is_numeric(cells: Sequence[str]) -> bool:
    """Whether a column contains only numbers, intervals and absent values.

    Examples
    --------
    >>> is_numeric(["≥ 3", "–", "[0.1, 0.2]"]), is_numeric(["3 weights"])
    (True, False)
    """
    return all(_NUMBER.fullmatch(text) for text in cells)
