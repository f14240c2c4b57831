r"""Exact decision whether an instance of a one-hidden-layer normalization network has a match.

The network is the ReLU network ``Y = g_2 ∘ (W_2 σ(g_1 ∘ (W_1 X) + b_1)) + b_2``, any of whose
scales and shifts learn.  With a = W_1 X, hidden outputs u ≥ 0 and v = u minus the pre-activation, v
≥ 0,

.. math:: u_{ij} - v_{ij} = γ_i a_{ij} + β_i, \quad u_{ij} v_{ij} = 0, \quad
          W_2 u = δ Y - ε,

with δ_k = 1/(g_2)_k and ε_k = (b_2)_k/(g_2)_k; this is linear in all unknowns, γ, β, δ, ε, u, v,
except for the products u v.  Ordinary weights may learn too, as long as this holds: cells of W_1 in
rows whose scale is fixed, cells of W_2 in columns of hidden units without learnable parameters.
Each choice of "u = 0 or v = 0" gives a linear program.  Branch and bound enumerates the choices: a
node's program ignores the undecided products; if it is infeasible, no choice below the node has a
solution; a solution in which all products vanish is a match, which is checked by evaluating the
network.  If output scales learn, their signs are chosen first and δ_k ≠ 0 is ensured by maximizing
the smallest |δ_k|.

Constraints are linear too: intervals of scales, shifts and weights directly, that of an output
scale as one of δ (whose sign is chosen), and that of its shift multiplied by |δ|,
``l |δ| ≤ ± ε ≤ h |δ|``.  Each bound is a row with a slack unknown.

All numbers are rational (`algebra.linalg.rational_lp`): both answers are proofs.  Output scales 0
are excluded: such a scale matches only an output whose labels are constant, and then the answer
"unmatched" is not given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from flint import fmpq

from algebra.errors import InputError
from algebra.linalg.rational import eliminate_free
from algebra.linalg.rational_lp import (
    OPTIMAL,
    GuessMaker,
    RationalProgram,
    complementary_vertex,
)
from algebra.networks.normalization import NormNet
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.intervals import Interval
from algebra.time_limits import OutOfTime, within

MATCHED, UNMATCHED, OPEN = "matched", "unmatched", "undetermined"
_ZERO = fmpq(0)
_ONE = fmpq(1)
_ANYWHERE = Interval()


@dataclass(frozen=True)
class Match:
    """Whether an instance has a match.

    Attributes
    ----------
    status : str
        "matched", "unmatched" or "undetermined" (too many nodes).
    nodes : int
        Linear programs solved.
    weights : dict or None
        The matching student's matrices, rational.
    """

    status: str
    nodes: int
    weights: dict[str, np.ndarray] | None = None


def applies_to(allocation: Allocation) -> bool:
    """Whether the equations are linear except for u v = 0; see the module's docstring."""
    network = allocation.network
    if not isinstance(network, NormNet) or network.layers != 2 or network.is_linear:
        return False
    masks = allocation.masks
    rows = masks["W1"].any(axis=1)
    scales, shifts = masks["g1"][:, 0] != 0, masks["b1"][:, 0] != 0
    moving = rows | scales | shifts
    return not (rows & scales).any() and not (masks["W2"].any(axis=0) & moving).any()


def match_instance(
    allocation: Allocation,
    weights: Mapping[str, np.ndarray],
    X: np.ndarray,
    Y: np.ndarray,
    *,
    box: Mapping[Cell, Interval] | None = None,
    most_nodes: int = 1000,
    seconds: float = 60.0,
    guesses: GuessMaker | None = None,
) -> Match:
    """Decide whether scales and shifts exist that give the labels.

    Parameters
    ----------
    allocation : Allocation
        Of a `NormNet` with one hidden layer; see `applies_to`.
    weights : mapping of str to ndarray
        The student's matrices, rational; those of learnable cells are ignored.
    X, Y : ndarray of fmpq
    box : mapping of cell to Interval, optional
        Intervals of learnable cells; unbounded by default.
    most_nodes : int, optional
        Number of linear programs after which the search is given up.
    seconds : float, optional
        Time after which the search is given up.
    guesses : callable, optional
        Guesses of the final bases (`numeric.float_simplex.guesses`); they are checked exactly and
        only save time.

    Returns
    -------
    Match
    """
    if not applies_to(allocation):
        raise InputError(
            "exact matching needs a ReLU normnet of depth 1 and an allocation whose equations are "
            "linear but for the activation pattern: see algebra.families.normalization.matching"
        )
    box = box or {}
    if any(interval.is_empty for interval in box.values()):
        return Match(UNMATCHED, 0)
    with within(seconds):
        return _PatternSearch(allocation, weights, X, Y, box, most_nodes, guesses).run()


class _OutOfReach(Exception):
    """The search is given up: too many programs."""


class _PatternSearch:
    """Branch and bound over signs of output scales and over u = 0 or v = 0."""

    def __init__(
        self,
        allocation: Allocation,
        weights: Mapping[str, np.ndarray],
        X: np.ndarray,
        Y: np.ndarray,
        box: Mapping[Cell, Interval],
        most_nodes: int,
        guesses: GuessMaker | None,
    ) -> None:
        self.guesses = guesses
        self.allocation, self.weights, self.X, self.Y = allocation, weights, X, Y
        self.box = box
        self.most, self.nodes = most_nodes, 0
        masks = allocation.masks
        self.learns = {name: masks[name][:, 0] != 0 for name in ("g2", "b2")}
        # Learnable weights are unknowns: their random values are replaced by 0.
        self.fixed = {name: weights[name] * (mask == 0) for name, mask in masks.items()}
        self.a = self.fixed["W1"] @ X
        self.h = self.fixed["g1"] * self.a + self.fixed["b1"]
        self.known = self.h * (self.h > 0)
        self.hidden, self.samples = self.a.shape
        self.cells = self.hidden * self.samples
        self.outputs = len(Y)
        self.tuned = [k for k in range(self.outputs) if self.learns["g2"][k]]

    def run(self) -> Match:
        closed = True
        try:
            for signs in product((1, -1), repeat=len(self.tuned)):
                x = complementary_vertex(self._solve, self.cells) if self._write(signs) else None
                if x is not None:
                    return Match(MATCHED, self.nodes, self._student(x, signs))
        except (_OutOfReach, OutOfTime):
            closed = False
        constant = any(
            all(y == (self.Y[k][0] if self.learns["b2"][k] else self.weights["b2"][k, 0])
                for y in self.Y[k])
            for k in self.tuned
            if _ZERO in self._interval("g2", k)
        )  # fmt: skip
        return Match(UNMATCHED if closed and not constant else OPEN, self.nodes)

    def _interval(self, name: str, i: int, j: int = 0) -> Interval:
        return self.box.get((name, i, j), _ANYWHERE)

    def _write(self, signs: Sequence[int]) -> bool:
        """The equations: free unknowns first, then u, v, the unknowns that bound |δ| from below,
        and slacks.

        False if an output scale may not have its sign.
        """
        free = [cell for cell in self.allocation.cells if cell[0] != "g2"]
        self.free = {cell: c for c, cell in enumerate(free)}
        start = len(free)
        # δ_k = sign·(t + p_k), p_k ≥ 0, t + s = 1.
        self.delta = {k: start + 2 * self.cells + q for q, k in enumerate(self.tuned)}
        self.t = start + 2 * self.cells + len(self.tuned)
        columns = self.t + 2 if self.tuned else self.t
        ends = self._ends(signs)
        if ends is None:
            return False
        slack = columns
        columns += len(ends)
        fixed, hidden = self.fixed, self.hidden
        table = np.full((hidden + self.outputs, self.samples, columns), _ZERO)
        right = np.concatenate([self.h, self.Y - fixed["b2"]])
        # A scale 0 leaves the shift alone: only a constant output can be matched.
        scales = np.array([_ONE if k in self.delta else fixed["g2"][k, 0]
                           for k in range(self.outputs)])  # fmt: skip
        outputs = table[hidden:]
        for j in range(self.samples):
            pairs = start + self.samples * np.arange(hidden) + j
            table[range(hidden), j, pairs], table[range(hidden), j, pairs + self.cells] = (
                _ONE,
                -_ONE,
            )
            outputs[:, j, pairs] = fixed["W2"] * (scales != 0)[:, None]
        for (name, i, j), c in self.free.items():
            if name == "W1":
                table[i, :, c] = -fixed["g1"][i, 0] * self.X[j]
            elif name == "W2":
                outputs[i, :, c] = self.known[j] * (scales[i] != 0)
            elif name == "b2":
                outputs[i, :, c] = _ONE
            else:
                table[i, :, c] = -self.a[i] if name == "g1" else -_ONE
        for k, scale in enumerate(scales):
            if k in self.delta:
                label = -signs[self.tuned.index(k)] * right[hidden + k]
                outputs[k, :, self.delta[k]] = outputs[k, :, self.t] = label
                right[hidden + k] = _ZERO
            elif scale != 0:
                right[hidden + k] = right[hidden + k] / scale
        more = np.full((len(ends) + bool(self.tuned), columns), _ZERO)
        if self.tuned:
            more[-1, [self.t, self.t + 1]] = _ONE
        for new, (terms, _) in zip(more, ends, strict=False):
            # Σ terms ≥ constant.
            for at, factor in terms:
                new[at] += factor
            new[slack] = -_ONE
            slack += 1
        rows = [*table.reshape(-1, columns).tolist(), *more.tolist()]
        constants = [*right.ravel(), *(constant for _, constant in ends), _ONE][: len(rows)]
        rows, constants, self.solved = eliminate_free(rows, constants, start)
        self.width = columns - start
        self.program = RationalProgram(rows, constants, self.guesses)
        return True

    def _ends(self, signs: Sequence[int]) -> list[tuple[list[tuple[int, fmpq]], fmpq]] | None:
        """The constraints as rows Σ factor·unknown ≥ constant; None if a sign is not allowed."""
        found: list[tuple[list[tuple[int, fmpq]], fmpq]] = []

        def between(terms: list[tuple[int, fmpq]], low: fmpq | None, high: fmpq | None) -> None:
            if low is not None:
                found.append((terms, low))
            if high is not None:
                found.append(([(at, -factor) for at, factor in terms], -high))

        for q, k in enumerate(self.tuned):
            # |δ| = t + p, and g = ± 1 / |δ|.
            interval = self._interval("g2", k)
            low, high = interval.low, interval.high
            if signs[q] < 0:
                low, high = None if high is None else -high, None if low is None else -low
            if high is not None and high <= 0:
                return None
            size = [(self.t, _ONE), (self.delta[k], _ONE)]
            least = None if high is None else 1 / high
            between(size, least, 1 / low if low is not None and low > 0 else None)
        for (name, i, j), at in self.free.items():
            low, high = (interval := self._interval(name, i, j)).low, interval.high
            if name != "b2":
                between([(at, _ONE)], low, high)
            elif i in self.delta:
                # The unknown is ε = b δ: ± ε lies between l |δ| and h |δ|.
                sign = fmpq(signs[self.tuned.index(i)])
                for end, side in ((low, 1), (high, -1)):
                    if end is not None:
                        size = [(self.t, -side * end), (self.delta[i], -side * end)]
                        found.append(([(at, side * sign), *size], _ZERO))
            else:
                scale = self.weights["g2"][i, 0] or _ONE
                low, high = (None if e is None else e / scale for e in (low, high))
                between([(at, _ONE)], *((low, high) if scale > 0 else (high, low)))
        return found

    def _solve(self, gone: frozenset[int]) -> Sequence[fmpq] | None:
        """Values of u, v, p, t, s with those in `gone` 0; None if there are none.

        The vertex minimizes Σ (u + v), which makes products near 0.
        """
        if self.nodes >= self.most:
            raise _OutOfReach
        self.nodes += 1
        small = [-_ONE if c < 2 * self.cells else _ZERO for c in range(self.width)]
        t, half, b = self.t - len(self.free), _ZERO, None
        if self.tuned:
            largest = self.program.maximize([fmpq(int(c == t)) for c in range(self.width)], gone)
            if largest.status != OPTIMAL or largest.value <= 0:
                return None
            # From here on t is constant: half of its largest value.
            half, gone = largest.value / 2, gone | {t}
            pairs = zip(self.program.rows, self.program.right, strict=True)
            b = [value - row[t] * half for row, value in pairs]
        found = self.program.maximize(small, gone, b)
        if found.status != OPTIMAL:
            return None
        return [half if self.tuned and c == t else x for c, x in enumerate(found.x)]

    def _student(self, x: Sequence[fmpq], signs: Sequence[int]) -> dict[str, np.ndarray]:
        """The student's matrices at a solution; the network gives the labels with them."""
        values = [_ZERO] * len(self.free)
        for unknown, row, constant in self.solved:
            values[unknown] = constant - sum((r * v for r, v in zip(row, x, strict=True)), _ZERO)
        student: dict[str, Any] = {name: np.array(v) for name, v in self.weights.items()}
        for (name, i, j), c in self.free.items():
            student[name][i, j] = values[c]
        offset = len(self.free)
        for q, k in enumerate(self.tuned):
            delta = signs[q] * (x[self.t - offset] + x[self.delta[k] - offset])
            student["g2"][k, 0] = 1 / delta
        for k in range(self.outputs):
            if self.learns["b2"][k] and student["g2"][k, 0] != 0:
                student["b2"][k, 0] = student["b2"][k, 0] * student["g2"][k, 0]
        network = self.allocation.network
        if any(student[n][i, j] not in box for (n, i, j), box in self.box.items()):
            raise AssertionError("a match breaks the constraints: a bug")
        if (network.forward(student, self.X) != self.Y).any():
            raise AssertionError("a match does not give the labels: a bug")
        return student
