"""Parts shared by reports: tables, masks, colours of verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from algebra.networks.limits import plural
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.names import Names
from algebra.problems.problem import Problem
from algebra.problems.random_cells import RandomCells
from algebra.problems.updates import Update

STYLES = {
    "maximal": "bold green",
    "minimal": "bold red",
    "intermediate": "bold yellow",
    "undecided": "bold magenta",
}
# Wider masks are summarized by counts.
WIDEST = 48
# Rows whose counts are printed one by one, and the largest number of different counts otherwise.
_MOST_COUNTS, _MOST_KINDS = 64, 10
# Largest width of text columns, folded on narrow pages, and the smallest.
_WRAPPED, _LEAST = ("note", "what"), 16


def listed(cells: Sequence[Cell]) -> str:
    """Weights on a line; of many a page prints the first only.

    Examples
    --------
    >>> listed([("W", 0, 1), ("W", 1, 1)]), listed([])
    ('W[0,1] W[1,1]', 'none')
    """
    return " ".join(f"{n}[{i},{j}]" for n, i, j in cells) or "none"


def table(*columns: str, right: Sequence[str] = ()) -> Table:
    """A plain table; the columns named in `right` are right-aligned."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        justify: Literal["left", "right"] = "right" if column in right else "left"
        least = _LEAST if column in _WRAPPED else None
        wraps = column in (*_WRAPPED, "")
        made.add_column(column, justify=justify, no_wrap=not wraps, min_width=least)
    return made


def mask_text(allocation: Allocation, name: str, names: Names | None = None) -> str:
    """A mask as rows of ● (learnable) and · (fixed), the rows' names before them."""
    rows = ["".join("●" if v else "·" for v in row) for row in allocation.masks[name]]
    own = names.rows(name) if names else None
    if own is not None:
        wide = max(map(len, own))
        rows = [f"{unit:<{wide}}  {row}" for unit, row in zip(own, rows, strict=True)]
    return "\n".join(rows)


def names_of(out: Console) -> Names | None:
    """The names of units used by a page."""
    return getattr(out, "names", None)


def learns(problem: Problem) -> str:
    """The learnable parameters, on one line."""
    parts = []
    for name, value in problem.learnable.items():
        if isinstance(value, RandomCells):
            parts.append(plural(value.budget, f"{value.budget} random cell") + f" of {name}")
        elif isinstance(value, Update):
            parts.append(value.words(name, problem.network.shapes[name]))
        else:
            size = int(value.sum())
            parts.append(plural(size, f"{size} cell") + f" of {name}")
    text = ", ".join(parts) or "nothing"
    return f"{text} ({problem.constraints})" if problem.constraints else text


def print_masks(out: Console, allocation: Allocation) -> None:
    """The masks, or the number of learnable weights in each row if they are wide."""
    for name in allocation.matrices:
        rows, columns = allocation.network.shapes[name]
        counts = _counts(allocation.row_counts(name))
        out.print(f"\n{name} ({rows}×{columns}), learnable weights a row: {counts}")
        if max(rows, columns) <= WIDEST:
            out.print(Text(mask_text(allocation, name, names_of(out)), style="cyan"))


def _counts(numbers: list[int]) -> str:
    """Counts one by one; if there are very many, the frequency of each.

    Examples
    --------
    >>> _counts([2, 0, 2])
    '2 0 2'
    >>> _counts([5] * 99 + [3])
    '99 × 5, 1 × 3'
    """
    if len(numbers) <= _MOST_COUNTS:
        return " ".join(map(str, numbers))
    common = Counter(numbers).most_common()
    told = [f"{many} × {number}" for number, many in common[:_MOST_KINDS]]
    if len(common) > _MOST_KINDS:
        told.append(f"… (from {min(numbers)} to {max(numbers)})")
    return ", ".join(told)
