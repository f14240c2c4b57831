"""Random allocations: 0/1 matrices drawn uniformly under row and column caps.

In the papers' figures each trial draws its own allocation: a budget of cells in the first k rows
(or columns), at least one in each of them and none above a cap.  The draw here is exactly uniform
over all such matrices.  Row sums are drawn with exact weights (products of generating functions);
column caps that bind are met by rejection or, if that takes too long, by counting completions row
by row.  All numbers are integers.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from math import comb, prod
from typing import Annotated, ClassVar

import numpy as np
from flint import fmpz_poly

from algebra.declarations import Count
from algebra.errors import InputError, shown, whole_number
from algebra.problems.premises import Feature

# Rejected draws before completions are counted, or before an error if there are too many to count.
_FEW = 100
_MANY = 5_000
# Steps between states that may be listed when completions are counted.
_STEPS = 200_000


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

    feature: ClassVar[Feature] = Feature.RANDOM_CELLS

    budget: Annotated[Count, "learnable cells"]
    rows: Annotated[Count | None, "only the first rows are used"] = None
    columns: Annotated[Count | None, "only the first columns are used"] = None
    max_per_row: Annotated[Count | None, "most cells in a row"] = None
    max_per_column: Annotated[Count | None, "most cells in a column"] = None

    def __post_init__(self) -> None:
        for name in ("budget", "rows", "columns", "max_per_row", "max_per_column"):
            value = getattr(self, name)
            if value is None and name != "budget":
                continue
            object.__setattr__(self, name, whole_number(value, f"random.{name}", 0))

    def allowed(self, shape: tuple[int, int], support: np.ndarray | None = None) -> np.ndarray:
        """Boolean mask of the cells that may be drawn."""
        for name, bound, axis in (("rows", shape[0], "rows"), ("columns", shape[1], "columns")):
            value = getattr(self, name)
            if value is not None and value > bound:
                raise InputError(
                    f"random.{name} ({shown(value)}) exceeds the matrix's {bound} {axis}"
                )
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
            If no matrix meets the caps, or rejection finds none and the states are too many.
        """
        allowed = self.allowed(shape, support)
        by_columns = self.rows is None and self.columns is not None
        if by_columns:
            lines, line_cap, cross_cap = allowed.T, self.max_per_column, self.max_per_row
            used = self.columns or 0
        else:
            lines, line_cap, cross_cap = allowed, self.max_per_row, self.max_per_column
            used = 0 if self.rows is None else self.rows
        try:
            drawn = _draw_lines(lines, self.budget, used, line_cap, cross_cap, rng)
        except _Impossible:
            raise InputError(f"no {shape[0]}×{shape[1]} allocation meets {self}") from None
        except _TooTight:
            raise InputError(
                f"too few {shape[0]}×{shape[1]} allocations meet {self} to find one; raise "
                "max_per_row or max_per_column"
            ) from None
        return drawn.T.copy() if by_columns else drawn

    def __str__(self) -> str:
        parts = [f"budget = {shown(self.budget)}"]
        for name in ("rows", "columns", "max_per_row", "max_per_column"):
            if getattr(self, name) is not None:
                parts.append(f"{name} = {shown(getattr(self, name))}")
        return "random { " + ", ".join(parts) + " }"


class _Impossible(Exception):
    """No matrix meets the caps."""


class _TooTight(Exception):
    """Rejection finds no matrix, and the states are too many to count completions."""


def _draw_lines(
    allowed: np.ndarray,
    budget: int,
    used: int,
    line_cap: int | None,
    cross_cap: int | None,
    rng: random.Random,
) -> np.ndarray:
    """A uniform 0/1 matrix inside `allowed` that meets the caps, none of the `used` lines empty."""
    cells = [np.flatnonzero(row) for row in allowed]
    sizes = tuple(len(line) for line in cells)
    lows = tuple(int(i < used) for i in range(len(sizes)))
    highs = tuple(s if line_cap is None else min(s, line_cap) for s in sizes)
    if not sum(lows) <= budget <= sum(highs) or any(map(int.__gt__, lows, highs)):
        raise _Impossible
    plain = highs == sizes and not any(lows)
    levels = [] if plain else _line_sum_counts(sizes, lows, highs, budget)
    everywhere = np.flatnonzero(allowed)

    def draw() -> np.ndarray:
        mask = np.zeros(allowed.shape, np.int8)
        if plain:
            mask.flat[everywhere[rng.sample(range(len(everywhere)), budget)]] = 1
            return mask
        for i, total in enumerate(_draw_sums(levels, budget, rng)):
            mask[i, cells[i][rng.sample(range(sizes[i]), total)]] = 1
        return mask

    def fits(mask: np.ndarray) -> bool:
        return cross_cap is None or int(mask.sum(axis=0, dtype=np.int64).max()) <= cross_cap

    if cross_cap is None or cross_cap >= int(allowed.sum(axis=0, dtype=np.int64).max()):
        return draw()
    for _ in range(_FEW):
        if fits(mask := draw()):
            return mask
    walk = _completions(allowed.tobytes(), allowed.shape, budget, lows, highs, cross_cap)
    if walk is not None:
        return walk.draw(rng)
    for _ in range(_MANY):
        if fits(mask := draw()):
            return mask
    raise _TooTight


@lru_cache(maxsize=8)
def _line_sum_counts(
    sizes: tuple[int, ...], lows: tuple[int, ...], highs: tuple[int, ...], budget: int
) -> list[list[fmpz_poly]]:
    """Generating functions of single lines, of pairs of lines, of fours, …, up to all lines.

    Coefficient c is the number of ways to place c cells.
    """

    # Equal lines share one polynomial, and so do equal pairs: only different products are computed.
    @cache
    def line(size: int, low: int, high: int) -> fmpz_poly:
        return fmpz_poly([comb(size, t) if t >= low else 0 for t in range(high + 1)])

    level = [line(*numbers) for numbers in zip(sizes, lows, highs, strict=True)]
    levels = [level]
    while len(level) > 1:
        made: dict[tuple[int, ...], fmpz_poly] = {}
        above = []
        for k in range(0, len(level), 2):
            pair = level[k : k + 2]
            key = tuple(map(id, pair))
            if key not in made:
                made[key] = fmpz_poly(prod(pair, start=fmpz_poly([1])).coeffs()[: budget + 1])
            above.append(made[key])
        level = above
        levels.append(level)
    return levels


def _draw_sums(levels: list[list[fmpz_poly]], budget: int, rng: random.Random) -> list[int]:
    """Line sums with exact weights: the total is divided between halves, down to single lines."""
    totals = [budget]
    for above, below in pairwise(reversed(levels)):
        split: list[int] = []
        for k, total in enumerate(totals):
            if 2 * k + 1 == len(below):
                split.append(total)
                continue
            left, right = below[2 * k], below[2 * k + 1]
            pick = rng.randrange(int(above[k][total]))
            for t in range(max(0, total - right.degree()), min(total, left.degree()) + 1):
                pick -= int(left[t] * right[total - t])
                if pick < 0:
                    break
            split += [t, total - t]
        totals = split
    return totals


# A kind of column: the class of its allowed cells from here on, and its remaining capacity.
_Kind = tuple[int, int]
# Cells left to place, and the number of columns of each kind.
_State = tuple[int, tuple[tuple[_Kind, int], ...]]
# Number of ways, cells placed in columns of each kind, and the next state.
_Step = tuple[int, tuple[int, ...], _State]


@dataclass
class _Completions:
    """States of a walk over the rows, and the number of completions of each.

    Columns of one kind are exchangeable, so a state holds only the number of each kind.
    """

    allowed: np.ndarray
    classes: list[np.ndarray]
    later: np.ndarray
    cap: int
    start: _State
    steps: list[dict[_State, list[_Step]]]
    counts: list[dict[_State, int]]

    def draw(self, rng: random.Random) -> np.ndarray:
        """One matrix; each step is drawn with its exact weight."""
        mask = np.zeros(self.allowed.shape, np.int8)
        capacity = np.full(self.allowed.shape[1], self.cap)
        state = self.start
        for i, steps in enumerate(self.steps):
            pick = rng.randrange(self.counts[i][state])
            for ways, taken, after in steps[state]:  # noqa: B007
                pick -= ways * self.counts[i + 1][after]
                if pick < 0:
                    break
            members: dict[_Kind, list[int]] = {}
            for c, (name, free) in enumerate(
                zip(self.classes[i], np.minimum(capacity, self.later[i]), strict=True)
            ):
                members.setdefault((int(name), int(free)), []).append(c)
            for (kind, _), number in zip(state[1], taken, strict=True):
                chosen = rng.sample(members[kind], number)
                mask[i, chosen] = 1
                capacity[chosen] -= 1
            state = after
        return mask


@lru_cache(maxsize=8)
def _completions(
    cells: bytes,
    shape: tuple[int, int],
    budget: int,
    lows: tuple[int, ...],
    highs: tuple[int, ...],
    cap: int,
) -> _Completions | None:
    """All reachable states; None if they are too many.

    Raises
    ------
    _Impossible
        If no state can be completed.
    """
    allowed = np.frombuffer(cells, bool).reshape(shape)
    rows, columns = shape
    # classes[i]: equal for columns that allow the same cells from row i on.
    classes = [np.unique(allowed[i:], axis=1, return_inverse=True)[1].ravel() for i in range(rows)]
    classes.append(np.zeros(columns, np.int64))
    later = np.zeros((rows + 1, columns), np.int64)
    later[:-1] = np.cumsum(allowed[::-1], axis=0)[::-1]
    least = [sum(lows[i:]) for i in range(rows + 1)]
    most = [sum(highs[i:]) for i in range(rows + 1)]

    numbers: dict[_Kind, int] = {}
    for name, free in zip(classes[0].tolist(), np.minimum(cap, later[0]).tolist(), strict=True):
        if free:
            numbers[name, free] = numbers.get((name, free), 0) + 1
    start: _State = (budget, tuple(sorted(numbers.items())))
    steps: list[dict[_State, list[_Step]]] = []
    states, listed = {start}, 0
    for i in range(rows):
        # For each class: whether it is open in this row, its next class, its number of cells from
        # there.
        following = {
            int(name): (bool(allowed[i, c]), int(classes[i + 1][c]), int(later[i + 1, c]))
            for c, name in enumerate(classes[i])
        }
        found: dict[_State, list[_Step]] = {}
        for state in states:
            found[state] = []
            for step in _next_states(state, following, lows[i], highs[i]):
                left, kinds = step[2]
                capacity = sum(free * number for (_, free), number in kinds)
                if least[i + 1] <= left <= min(most[i + 1], capacity):
                    found[state].append(step)
                listed += 1
                if listed > _STEPS:
                    return None
        steps.append(found)
        states = {after for taken in found.values() for _, _, after in taken}
    counts: list[dict[_State, int]] = [dict.fromkeys(states, 1)]
    for found in reversed(steps):
        counts.append(
            {s: sum(w * counts[-1][after] for w, _, after in taken) for s, taken in found.items()}
        )
    counts.reverse()
    if counts[0][start] == 0:
        raise _Impossible
    return _Completions(allowed, classes, later, cap, start, steps, counts)


def _next_states(
    state: _State, following: dict[int, tuple[bool, int, int]], low: int, high: int
) -> Iterator[_Step]:
    """All ways to fill one row up to exchanging columns of one kind."""
    left, kinds = state
    sizes = [number if following[name][0] else 0 for (name, _), number in kinds]
    for taken in _compositions(sizes, low, min(high, left)):
        numbers: dict[_Kind, int] = {}
        for ((name, free), number), k in zip(kinds, taken, strict=True):
            _, after, cells = following[name]
            for kind, many in (((after, min(free, cells)), number - k), ((after, free - 1), k)):
                if many and min(kind[1], cells):
                    numbers[kind] = numbers.get(kind, 0) + many
        ways = prod(map(comb, sizes, taken))
        yield ways, taken, (left - sum(taken), tuple(sorted(numbers.items())))


def _compositions(sizes: list[int], low: int, high: int) -> Iterator[tuple[int, ...]]:
    """Tuples (k_1, k_2, …) with k_i ≤ sizes[i] and low ≤ Σ k_i ≤ high."""
    if not sizes:
        if low <= 0 <= high:
            yield ()
        return
    rest = sum(sizes[1:])
    for k in range(max(0, low - rest), min(sizes[0], high) + 1):
        for others in _compositions(sizes[1:], low - k, high - k):
            yield (k, *others)
