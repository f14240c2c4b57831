"""Random allocations: 0/1 matrices drawn uniformly under row and column caps.

The papers' figures draw the allocation anew for each trial: a budget of cells in the
first k rows (or columns), each of them used, none above a cap.  The draw here is exactly
uniform over all such matrices.  Row sums are drawn with their exact weights (a dynamic
programme over binomials); column caps, when they bind, are met by rejection and, where
that takes too long, by a dynamic programme over columns.  Integers only.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb

import numpy as np

from algebra.errors import InputError

_REJECTIONS = 2_000
_STATES = 200_000


@dataclass(frozen=True)
class RandomCells:
    """A matrix whose learnable cells are drawn anew for each trial.

    Parameters
    ----------
    budget : int
        Number of learnable cells.
    rows, columns : int, optional
        Only the first `rows` rows and first `columns` columns are used; each of these
        rows gets at least one cell (each of these columns, where only `columns` is
        given).
    max_per_row, max_per_column : int, optional
        Caps.

    Examples
    --------
    >>> import random
    >>> spec = RandomCells(budget=4, rows=2, max_per_row=2)
    >>> spec.draw((3, 3), random.Random(0)).sum(axis=1).tolist()
    [2, 2, 0]
    """

    budget: int
    rows: int | None = None
    columns: int | None = None
    max_per_row: int | None = None
    max_per_column: int | None = None

    def __post_init__(self) -> None:
        for name in ("budget", "rows", "columns", "max_per_row", "max_per_column"):
            value = getattr(self, name)
            if value is None and name != "budget":
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise InputError(f"random.{name} ({value!r}) must be a whole number, at least 0")

    def allowed(self, shape: tuple[int, int], support: np.ndarray | None = None) -> np.ndarray:
        """Boolean mask of the cells that may be drawn."""
        for name, bound, axis in (("rows", shape[0], "rows"), ("columns", shape[1], "columns")):
            value = getattr(self, name)
            if value is not None and value > bound:
                raise InputError(f"random.{name} ({value}) exceeds the matrix's {bound} {axis}")
        cells = np.zeros(shape, bool)
        cells[: self.rows, : self.columns] = True
        return cells if support is None else cells & (np.asarray(support) != 0)

    def draw(
        self, shape: tuple[int, int], rng: random.Random, support: np.ndarray | None = None
    ) -> np.ndarray:
        """One mask (int8), uniform over all that meet the caps.

        Raises
        ------
        InputError
            Where no matrix meets the caps.
        """
        allowed = self.allowed(shape, support)
        by_columns = self.rows is None and self.columns is not None
        if by_columns:
            lines, line_cap, cross_cap = allowed.T, self.max_per_column, self.max_per_row
            used = self.columns or 0
        else:
            lines, line_cap, cross_cap = allowed, self.max_per_row, self.max_per_column
            used = 0 if self.rows is None else self.rows
        drawn = _draw_lines(lines, self.budget, used, line_cap, cross_cap, rng)
        if drawn is None:
            raise InputError(f"no {shape[0]}×{shape[1]} allocation meets {self}")
        return drawn.T.copy() if by_columns else drawn

    def __str__(self) -> str:
        parts = [f"budget = {self.budget}"]
        for name in ("rows", "columns", "max_per_row", "max_per_column"):
            if getattr(self, name) is not None:
                parts.append(f"{name} = {getattr(self, name)}")
        return "random { " + ", ".join(parts) + " }"


def _draw_lines(
    allowed: np.ndarray,
    budget: int,
    used: int,
    line_cap: int | None,
    cross_cap: int | None,
    rng: random.Random,
) -> np.ndarray | None:
    """Uniform 0/1 matrix inside `allowed`: the first `used` lines non-empty, caps met."""
    sizes = [int(s) for s in allowed.sum(axis=1)]
    lows = [1 if i < used else 0 for i in range(len(sizes))]
    highs = [min(s, s if line_cap is None else line_cap) for s in sizes]
    cells = [np.flatnonzero(row) for row in allowed]
    # ways[i][c]: number of ways to place c cells in lines i, i + 1, …
    ways = [[0] * (budget + 1) for _ in range(len(sizes) + 1)]
    ways[-1][0] = 1
    for i in range(len(sizes) - 1, -1, -1):
        for c in range(budget + 1):
            ways[i][c] = sum(
                comb(sizes[i], t) * ways[i + 1][c - t] for t in range(lows[i], min(highs[i], c) + 1)
            )
    if ways[0][budget] == 0:
        return None
    binding = cross_cap is not None and cross_cap < allowed.shape[0]
    for _ in range(_REJECTIONS if binding else 1):
        mask = np.zeros(allowed.shape, np.int8)
        left = budget
        for i, size in enumerate(sizes):
            pick = rng.randrange(ways[i][left])
            for t in range(lows[i], min(highs[i], left) + 1):
                pick -= comb(size, t) * ways[i + 1][left - t]
                if pick < 0:
                    break
            mask[i, cells[i][rng.sample(range(size), t)]] = 1
            left -= t
        if not binding or mask.sum(axis=0, dtype=np.int64).max(initial=0) <= cross_cap:
            return mask
    return _draw_both(allowed, budget, lows, highs, int(cross_cap or 0), rng)


def _draw_both(
    allowed: np.ndarray,
    budget: int,
    lows: Sequence[int],
    highs: Sequence[int],
    cross_cap: int,
    rng: random.Random,
) -> np.ndarray | None:
    """The same when column caps bind hard: a walk over cells, its state the column sums.

    The number of completions from a state is counted exactly and remembered, so each
    choice is made with its true weight.
    """
    rows, columns = allowed.shape

    # A column's sum matters only while the column still has allowed cells below.
    later = np.cumsum(allowed[::-1], axis=0)[::-1]

    @lru_cache(maxsize=_STATES)
    def count(i: int, j: int, in_row: int, left: int, sums: tuple[int, ...]) -> int:
        if left < 0:
            return 0
        if i == rows:
            return int(left == 0)
        if j == columns:
            if in_row < lows[i]:
                return 0
            if left > sum(highs[i + 1 :]):
                return 0
            kept = tuple(s if i + 1 < rows and later[i + 1, c] else 0 for c, s in enumerate(sums))
            if i + 1 < rows and all((allowed[i + 1 :] == allowed[i + 1 :, :1]).flat):
                kept = tuple(sorted(kept))  # identical columns: their order is irrelevant
            return count(i + 1, 0, 0, left, kept)
        total = count(i, j + 1, in_row, left, sums)
        if allowed[i, j] and in_row < highs[i] and sums[j] < cross_cap:
            taken = (*sums[:j], sums[j] + 1, *sums[j + 1 :])
            total += count(i, j + 1, in_row + 1, left - 1, taken)
        return total

    start = (0,) * columns
    if count(0, 0, 0, budget, start) == 0:
        return None
    mask = np.zeros(allowed.shape, np.int8)
    sums, left = list(start), budget
    for i in range(rows):
        in_row = 0
        for j in range(columns):
            if not (allowed[i, j] and in_row < highs[i] and sums[j] < cross_cap):
                continue
            state = tuple(sums)
            taken = (*state[:j], state[j] + 1, *state[j + 1 :])
            without = count(i, j + 1, in_row, left, state)
            with_it = count(i, j + 1, in_row + 1, left - 1, taken)
            if rng.randrange(without + with_it) >= without:
                mask[i, j] = 1
                sums[j] += 1
                in_row += 1
                left -= 1
    return mask
