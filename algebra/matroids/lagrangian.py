"""Lagrangian bounds of bases under caps, in integers.

The search that uses them is `algebra.matroids.branch_and_bound`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from algebra.errors import DualError
from algebra.matroids.capped import CappedProblem

# Multipliers are integer multiples of 1/SCALE of a cost unit.
SCALE = 1 << 12
_STEPS = 40

Lines = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Hint:
    """Guidance of the search: multipliers of every line, and a value for each element.

    Attributes
    ----------
    multipliers : tuple of tuple of int
        One for each line of each system of caps, non-negative, in units of 1/`SCALE`.
    values : tuple of int
        For each element between 0 (to exclude) and `SCALE` (to include); a guess.
    """

    multipliers: Lines
    values: tuple[int, ...]


# From the elements' state (1 in, -1 out, 0 open) and the best cost known, a hint.
Relax = Callable[[np.ndarray, int | None], Hint]


@dataclass(frozen=True)
class LagrangianLeaf:
    """A part of the search space and the multipliers that bound it.

    Attributes
    ----------
    inside, outside : tuple of int
        Elements that every set of this part contains, or does not contain.
    multipliers : tuple of tuple of int
    """

    inside: tuple[int, ...]
    outside: tuple[int, ...]
    multipliers: Lines


class LagrangianSearch:
    """Bounds, heuristics and the best basis so far of one problem."""

    def __init__(self, problem: CappedProblem, relax: Relax | None = None) -> None:
        _, _, systems, costs, size = problem
        self.matroid, self.size = problem.matroid, size
        self.costs = [int(c) for c in costs]
        self.systems = [([int(g) for g in group], [int(k) for k in cap]) for group, cap in systems]
        self.relax = relax or self._subgradient
        # Larger than the cost of any set of this size.
        self.ceiling = sum(sorted(self.costs, reverse=True)[:size]) + 1
        self.best: tuple[int, ...] | None = None
        self.cost: int | None = None

    def bound(self, leaf: LagrangianLeaf) -> tuple[int, list[int]] | None:
        """The Lagrangian bound in integer cost units and its basis; None if there is none."""
        weight = [SCALE * c for c in self.costs]
        total = 0
        for (group, cap), lines in zip(self.systems, leaf.multipliers, strict=True):
            if any(value < 0 for value in lines):
                raise DualError("a negative multiplier proves nothing")
            weight = [w + lines[g] for w, g in zip(weight, group, strict=True)]
            total -= sum(value * k for value, k in zip(lines, cap, strict=True))
        gone, first = set(leaf.outside), set(leaf.inside)
        rest = [e for e in range(len(weight)) if e not in gone and e not in first]
        order = [*leaf.inside, *sorted(rest, key=weight.__getitem__)]
        basis = self.matroid.greedy(order, self.size)
        if len(basis) < self.size or not first <= set(basis):
            return None
        total += sum(weight[e] for e in basis)
        return -(-total // SCALE), basis

    def is_feasible(self, basis: Sequence[int]) -> bool:
        """Whether a set keeps all caps."""
        return not self.overfull(basis)

    def overfull(self, basis: Sequence[int]) -> set[tuple[int, int]]:
        """Lines (system, line) that contain too many elements of a set."""
        found = set()
        for s, (group, cap) in enumerate(self.systems):
            counts = np.bincount([group[e] for e in basis], minlength=len(cap))
            found |= {(s, int(g)) for g in np.flatnonzero(counts > np.array(cap, np.int64))}
        return found

    def propagate(self, state: np.ndarray) -> bool:
        """Exclude elements of full lines; False if a line has too many already."""
        for group, cap in self.systems:
            lines = np.array(group, np.int64)
            used = np.bincount(lines[state == 1], minlength=len(cap))
            limit = np.array(cap, np.int64)
            if (used > limit).any():
                return False
            state[(state == 0) & (used >= limit)[lines]] = -1
        return True

    def keep(self, basis: Sequence[int]) -> None:
        """Keep a basis if it is feasible and the cheapest so far."""
        cost = sum(self.costs[e] for e in basis)
        if len(basis) == self.size and (self.cost is None or cost < self.cost):
            if not self.is_feasible(basis):
                return
            self.best, self.cost = tuple(sorted(basis)), cost

    def complete(self, state: np.ndarray, values: Sequence[int]) -> None:
        """Keep a basis of elements that fit, those of largest value first."""
        want = sorted(range(len(values)), key=lambda e: (-state[e], -values[e], self.costs[e]))
        order = [e for e in want if state[e] >= 0]
        # First independent elements, then caps: elements over a cap are excluded, and again.
        banned: set[int] = set()
        for _ in range(len(order)):
            basis = self.matroid.greedy([e for e in order if e not in banned], self.size)
            if len(basis) < self.size:
                return
            left = [list(cap) for _, cap in self.systems]
            spilt = []
            for e in basis:
                places = [(s, self.systems[s][0][e]) for s in range(len(self.systems))]
                if all(left[s][g] > 0 for s, g in places):
                    for s, g in places:
                        left[s][g] -= 1
                else:
                    spilt.append(e)
            if not spilt:
                self.keep(basis)
                return
            banned.update(spilt)

    def _subgradient(self, state: np.ndarray, best: int | None) -> Hint:
        """Multipliers by subgradient steps in integers; values by averaging the bases."""
        lines = [[0] * len(cap) for _, cap in self.systems]
        inside = tuple(int(e) for e in np.flatnonzero(state == 1))
        outside = tuple(int(e) for e in np.flatnonzero(state == -1))
        top, top_lines = None, tuple(map(tuple, lines))
        votes = np.zeros(len(self.costs), np.int64)
        reach = 4
        for step in range(_STEPS):
            now = tuple(map(tuple, lines))
            found = self.bound(LagrangianLeaf(inside, outside, now))
            if found is None:
                return Hint(now, tuple(votes.tolist()))
            value, basis = found
            self.keep(basis)
            # Late bases, near the best multipliers, have more weight.
            votes[basis] += step + 1
            if top is None or value > top:
                top, top_lines = value, now
            elif step % 5 == 4:
                reach = max(1, reach // 2)
            slopes = []
            for group, cap in self.systems:
                counts = np.bincount([group[e] for e in basis], minlength=len(cap))
                slopes.append((counts - np.array(cap, np.int64)).tolist())
            norm = sum(s * s for part in slopes for s in part if s > 0)
            if not norm:
                break
            aim = best if best is not None else value + max(2, abs(value) // 10)
            size = max(SCALE // 4, reach * SCALE * max(1, aim - value) // (2 * norm))
            lines = [
                [max(0, v + size * s) for v, s in zip(values, part, strict=True)]
                for values, part in zip(lines, slopes, strict=True)
            ]
        most = max(1, int(votes.max(initial=1)))
        return Hint(top_lines, tuple((votes * SCALE // most).tolist()))
