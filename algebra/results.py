"""The base class of results: a short text, a table in a notebook, a data frame, a picture.

A result defines its facts (`Result.facts`) and its rows (`Result.columns`), from which the other
representations follow.  Pictures (`matchprob.report.drawing.paint`) and explanations
(`matchprob.explain`) are functions of `matchprob`, which registers them by `paint_with` and
`explain_with` when it is imported: this module depends neither on matplotlib nor on a command line.
"""

from __future__ import annotations

import html
import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from algebra.errors import InputError

# Longer texts are truncated in a `repr`, not in a notebook.
_LONGEST = 72

Painter = Callable[["Result", Any], Any]
_painters: list[Painter] = []


@dataclass(frozen=True)
class Explanation:
    """The explanation of a result as sentences.

    Attributes
    ----------
    known : tuple of str
        What is known, and why.
    open : str
        What is open, and which hypothesis fails; empty if nothing is open.
    decided_by : str
        What would decide it.
    commands : tuple of (str, str)
        Commands to try next, and their purposes.
    """

    known: tuple[str, ...] = ()
    open: str = ""
    decided_by: str = ""
    commands: tuple[tuple[str, str], ...] = ()

    def lines(self) -> list[str]:
        """Its sentences, in order: the field ``explanation`` of ``--json``."""
        out = list(self.known)
        out += [f"Open: {self.open}"] if self.open else []
        out += [f"Decided by: {self.decided_by}"] if self.decided_by else []
        return out + [f"Try: {command}   ({text})" for command, text in self.commands]

    def mapped(self, change: Callable[[str], str]) -> Explanation:
        """The same with every sentence changed; commands stay as they are."""
        return Explanation(
            tuple(map(change, self.known)),
            change(self.open),
            change(self.decided_by),
            self.commands,
        )

    def __str__(self) -> str:
        return "\n".join(self.lines())


Explainer = Callable[["Result", str], Explanation]
_explainers: list[Explainer] = []


def done_of(done: int, wanted: int) -> int | str:
    """The finished part of the requested work, as a fact: "7 of 20, partial" if not all is done.

    Examples
    --------
    >>> done_of(20, 20), done_of(7, 20)
    (20, '7 of 20, partial')
    """
    return f"{done} of {wanted}, partial" if done < wanted else done


def paint_with(painter: Painter) -> None:
    """Register the function that draws results: of a result and matplotlib axes or None."""
    _painters[:] = [painter]


def explain_with(explainer: Explainer) -> None:
    """Register the function that explains results: of a result and the problem file's name."""
    _explainers[:] = [explainer]


class Result(ABC):
    """The value of a verb.

    Attributes
    ----------
    picture : str
        Name of its picture in `matchprob.report.drawing.paint`.

    Examples
    --------
    >>> class Found(Result):
    ...     def facts(self):
    ...         return {"roots": 2, "note": "none of them real"}
    >>> Found()
    Found(roots=2, note='none of them real')
    """

    picture: ClassVar[str] = ""

    @abstractmethod
    def facts(self) -> Mapping[str, Any]:
        """Its main values by name."""

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Its table: columns of equal length; one row of the facts by default."""
        return {name: [_plain(value)] for name, value in self.facts().items()}

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={_short(value)}" for name, value in self.facts().items())
        return f"{type(self).__name__}({inside})"

    def _repr_html_(self) -> str:
        """The HTML shown by a notebook."""
        rows = "".join(
            f"<tr><td>{html.escape(name.replace('_', ' '))}</td>"
            f"<td>{html.escape(str(value))}</td></tr>"
            for name, value in self.facts().items()
            if value is not None
        )
        return f"<table><caption>{html.escape(type(self).__name__)}</caption>{rows}</table>"

    def to_frame(self) -> Any:
        """Its table as a pandas or a polars data frame, whichever is installed.

        Raises
        ------
        InputError
            If neither is installed.
        """
        return data_frame(self.columns())

    def explain(self, file: str = "P.toml") -> Explanation:
        """The explanation: what is known and why, what is open, what to try next.

        Parameters
        ----------
        file : str, optional
            Name of the problem's file in commands.

        Raises
        ------
        InputError
            If matchprob, which has the explanations, is not imported.
        """
        if not _explainers:
            raise InputError("results are explained by matchprob: import matchprob first")
        return _explainers[0](self, file)

    @property
    def explanation(self) -> tuple[str, ...]:
        """The sentences of `explain`."""
        return tuple(self.explain().lines())

    def plot(self, ax: Any = None) -> Any:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A new figure by default, which a notebook shows.

        Returns
        -------
        matplotlib axes

        Raises
        ------
        InputError
            If there is nothing to draw.
        """
        if not _painters:
            raise InputError("pictures are drawn by matchprob: import matchprob first")
        return _painters[0](self, ax)


def data_frame(columns: Mapping[str, Sequence[Any]]) -> Any:
    """Columns of equal length as a pandas or a polars data frame, whichever is installed.

    Raises
    ------
    InputError
        If neither is installed.
    """
    for name in ("pandas", "polars"):
        try:
            library = importlib.import_module(name)
        except ImportError:
            continue
        return library.DataFrame({name: list(values) for name, values in columns.items()})
    raise InputError("a data frame needs pandas or polars: python -m pip install pandas")


def named(source: object, *names: str) -> dict[str, Any]:
    """Attributes of an object under their names, as plain data.

    Fractions become text, tuples lists, and objects with `to_dict` its value.

    Examples
    --------
    >>> named(Fraction(1, 2), "numerator", "real")
    {'numerator': 1, 'real': '1/2'}
    """
    return {name: _data(getattr(source, name)) for name in names}


def columns_of(items: Sequence[object], *names: str) -> dict[str, list[Any]]:
    """A table with a row for each item and a column for each of these attributes."""
    return {name: [getattr(item, name) for item in items] for name in names}


def _data(value: Any) -> Any:
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _data(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_data(entry) for entry in value]
    return value.to_dict() if hasattr(value, "to_dict") else value


def _short(value: Any) -> str:
    if isinstance(value, str):
        return repr(value if len(value) <= _LONGEST else value[: _LONGEST - 1] + "…")
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def _plain(value: Any) -> Any:
    """A value for a data frame: exact rationals become text."""
    if isinstance(value, Fraction) or not isinstance(value, (str, int, float, bool, type(None))):
        return str(value)
    return value
