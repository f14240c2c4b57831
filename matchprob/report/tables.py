"""What reports share: tables, masks, colours of verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich.table import Table

from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.problems.random_cells import RandomCells

STYLES = {
    "maximal": "bold green",
    "minimal": "bold red",
    "intermediate": "bold yellow",
    "undecided": "bold magenta",
}
# Wider masks are summarized by counts.
WIDEST = 48


def table(*columns: str, right: Sequence[str] = ()) -> Table:
    """A plain table; the columns named in `right` are right-aligned."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        justify: Literal["left", "right"] = "right" if column in right else "left"
        made.add_column(column, justify=justify, no_wrap=column not in ("note", "what", ""))
    return made


def mask_text(allocation: Allocation, name: str) -> str:
    """A mask as rows of ● (learnable) and · (fixed)."""
    return "\n".join("".join("●" if v else "·" for v in row) for row in allocation.masks[name])


def learns(problem: Problem) -> str:
    """What learns, on one line."""
    parts = []
    for name, value in problem.learnable.items():
        if isinstance(value, RandomCells):
            parts.append(f"{value.budget} random cells of {name}")
        else:
            parts.append(f"{int(value.sum())} cells of {name}")
    text = ", ".join(parts) or "nothing"
    return f"{text} ({problem.constraints})" if problem.constraints else text
