"""Masks as pictures made of characters, and a problem as a notebook shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from algebra.documents import Document, TextPicture
from algebra.problems.allocation import Allocation

if TYPE_CHECKING:
    from algebra.problems.names import Names
    from algebra.problems.problem import Problem

# Wider masks are summarized by counts.
WIDEST = 48
# Rows whose counts are listed one by one, and the largest number of different counts otherwise.
_MOST_COUNTS = 64
_MOST_KINDS = 10


def mask_rows(allocation: Allocation, matrix: str, names: Names | None = None) -> tuple[str, ...]:
    """A mask as rows of characters, with the rows' names before them."""
    rows = ["".join("●" if v else "·" for v in row) for row in allocation.masks[matrix]]
    own = names.rows(matrix) if names else None
    if own is not None:
        wide = max(map(len, own))
        rows = [f"{unit:<{wide}}  {row}" for unit, row in zip(own, rows, strict=True)]
    return tuple(rows)


def mask_pictures(allocation: Allocation, names: Names | None = None) -> tuple[TextPicture, ...]:
    """One picture for each matrix that learns; a wide matrix has only counts, in the title."""
    out = []
    for matrix in allocation.matrices:
        rows, columns = allocation.network.shapes[matrix]
        counts = _counts(allocation.row_counts(matrix))
        title = f"{matrix} ({rows}×{columns}), learnable weights a row: {counts}"
        is_drawn = max(rows, columns) <= WIDEST
        out.append(TextPicture(mask_rows(allocation, matrix, names) if is_drawn else (), title))
    return tuple(out)


def _counts(numbers: Sequence[int]) -> str:
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
    parts = [f"{many} × {number}" for number, many in common[:_MOST_KINDS]]
    if len(common) > _MOST_KINDS:
        parts.append(f"… (from {min(numbers)} to {max(numbers)})")
    return ", ".join(parts)


def problem_page(problem: Problem) -> Document:
    """The text of a problem's `repr`, and the masks if what learns are fixed cells."""
    is_drawn = not problem.is_random and not problem.updates
    masks = mask_pictures(problem.allocation, problem.names) if is_drawn else ()
    return Document(repr(problem), parts=masks)
