r"""Tables in LaTeX, of the columns of a result: a tabular with the rules of booktabs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    }
)
_DIGITS = 4


def latex_table(columns: Mapping[str, Sequence[Any]]) -> str:
    r"""Columns of equal length as a tabular; numbers are aligned to the right.

    Parameters
    ----------
    columns : mapping of str to sequence
        Real numbers that are neither integers nor fractions are written with four digits; None is
        an empty cell.

    Returns
    -------
    str
        It needs ``\usepackage{booktabs}``.

    Examples
    --------
    >>> print(latex_table({"cells": ["W[0,1]"], "root_count": [2]}))
    \begin{tabular}{lr}
    \toprule
    cells & root\_count \\
    \midrule
    W[0,1] & 2 \\
    \bottomrule
    \end{tabular}
    """
    letters = "".join("r" if _are_numbers(values) else "l" for values in columns.values())
    rows = zip(*columns.values(), strict=True)
    lines = [_line([_escaped(name) for name in columns]), r"\midrule"]
    lines += [_line([_cell(value) for value in row]) for row in rows]
    return "\n".join(
        [rf"\begin{{tabular}}{{{letters}}}", r"\toprule", *lines, r"\bottomrule", r"\end{tabular}"]
    )


def _line(cells: Sequence[str]) -> str:
    # After the end of a line brackets would be its option.
    first = "{}" if cells and cells[0].startswith("[") else ""
    return f"{first}{' & '.join(cells)} \\\\"


def _are_numbers(values: Sequence[Any]) -> bool:
    known = [value for value in values if value is not None]
    numbers = [isinstance(v, Real) and not isinstance(v, bool) for v in known]
    return bool(known) and all(numbers)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, Real) and not isinstance(value, Integral | Fraction):
        return _escaped(format(value, f".{_DIGITS}g"))
    return _escaped(str(value))


def _escaped(text: str) -> str:
    return " ".join(text.translate(_ESCAPES).split())
