"""The base class of results: one document, a data frame, a picture.

What a result says is its `algebra.documents.Document`; short texts, notebooks and reports are
renderings of that.  Pictures are drawn by `matchprob.report.drawing.paint`: `algebra.pictures`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from algebra.pictures import painted

if TYPE_CHECKING:
    from algebra.documents import Document, Explanation
    from algebra.frames import DataFrame

# Longer texts are truncated in a `repr`, not in a notebook.
_LONGEST = 72


def done_of(done: int, wanted: int) -> int | str:
    """The finished part of the requested work, as a fact: "7 of 20, partial" if not all is done.

    Examples
    --------
    >>> done_of(20, 20), done_of(7, 20)
    (20, '7 of 20, partial')
    """
    return f"{done} of {wanted}, partial" if done < wanted else done


class Result(ABC):
    """The value of a verb: what it says is its document, from which all texts follow.

    Examples
    --------
    >>> from algebra.documents import Document
    >>> class Found(Result):
    ...     def document(self):
    ...         return Document("two roots", {"roots": 2, "note": "none of them real"})
    >>> Found()
    Found(roots=2, note='none of them real')
    >>> print(Found())
    two roots
    """

    @abstractmethod
    def document(self) -> Document:
        """What it says: title, facts, tables, paragraphs, and what follows."""

    def facts(self) -> Mapping[str, Any]:
        """Its main values by name."""
        return self.document().facts

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Its table: columns of equal length; one row of the facts by default."""
        return {name: [_plain(value)] for name, value in self.facts().items()}

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={_short(value)}" for name, value in self.facts().items())
        return f"{type(self).__name__}({inside})"

    def __str__(self) -> str:
        return str(self.document())

    def _repr_html_(self) -> str:
        """The HTML shown by a notebook."""
        return self.document().html()

    def to_frame(self) -> DataFrame:
        """Its table as a pandas data frame; as one of polars if only that is installed.

        Raises
        ------
        InputError
            If neither is installed.
        """
        from algebra.frames import data_frame

        return data_frame(self.columns())

    def to_latex(self) -> str:
        """Its table in LaTeX (`algebra.latex.latex_table`), with the rules of booktabs."""
        from algebra.latex import latex_table

        return latex_table(self.columns())

    def explain(self) -> Explanation:
        """What is known and why, what is open, what would decide it, what to try next."""
        return self.document().why

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
        return painted(self, ax)


def named(source: object, *names: str) -> dict[str, Any]:
    """Attributes of an object under their names, as plain data.

    Fractions become text, tuples lists, and objects with `to_dict` its value.

    Examples
    --------
    >>> named(Fraction(1, 2), "numerator", "real")
    {'numerator': 1, 'real': '1/2'}
    """
    return {name: _data(getattr(source, name)) for name in names}


def attribute_columns(items: Sequence[object], *names: str) -> dict[str, list[Any]]:
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
