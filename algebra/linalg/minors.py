"""Maximal minors of small matrices over any commutative ring."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from algebra.time_limits import check_time


def maximal_minors(matrix: Sequence[Sequence[Any]]) -> tuple[list[Any], list[Any]]:
    """The maximal minors of a matrix without its last column, and with it.

    They are computed column by column, for all sets of rows (bits) at once, by expansion along the
    last column.  If there are fewer rows than columns, there are none.

    Examples
    --------
    >>> maximal_minors([[1, 2], [3, 5]])
    ([1, 3], [-1])
    """
    found: dict[int, Any] = {0: 1}
    before: dict[int, Any] = {}
    for column in range(len(matrix[0])):
        before, found = found, {}
        for rows, minor in before.items():
            for i, row in enumerate(matrix):
                if rows >> i & 1:
                    continue
                term = minor * row[column]
                if (rows >> (i + 1)).bit_count() & 1:
                    term = -term
                key = rows | 1 << i
                found[key] = found[key] + term if key in found else term
        check_time()
    return list(before.values()), list(found.values())
