r"""Exact decision whether an instance of a one-hidden-layer normalization network has a match.

The network is the ReLU network ``Y = g_2 ∘ (W_2 σ(g_1 ∘ (W_1 X) + b_1)) + b_2``, any of whose
scales and shifts learn.  With a = W_1 X, hidden outputs u ≥ 0 and v = u minus the pre-activation, v
≥ 0,

.. math:: u_{ij} - v_{ij} = γ_i a_{ij} + β_i, \quad u_{ij} v_{ij} = 0, \quad
          W_2 u = δ Y - ε,

with δ_k = 1/(g_2)_k and ε_k = (b_2)_k/(g_2)_k; this is linear in all unknowns, γ, β, δ, ε, u, v,
except for the products u v.  Ordinary weights may learn too, as long as this holds: cells of W_1 in
rows whose scale is fixed, cells of W_2 in columns of hidden units without learnable parameters.
For given signs the pre-activations of a unit form a polyhedron, all of whose vertices and extreme
rays are among those of its arrangement (`algebra.linalg.arrangements`).  So (u, v) of a unit
are combinations of the positive and negative parts of these ends, and its parameters are no
unknowns: a scale alone has two rays, W_1 X and its negative.  Units with many ends, or with
constraints, keep their parameters, u and v as unknowns.

Each choice of "u = 0 or v = 0" gives a linear program, without the ends of the other sign.  Branch
and bound enumerates the choices: a node's program ignores the undecided products; if it is
infeasible, no choice below the node has a solution; a solution in which all products vanish is a
match, which is checked by evaluating the network.  If output scales learn, their signs are chosen
first and δ_k ≠ 0 is ensured by maximizing the smallest |δ_k|.

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
from algebra.linalg.arrangements import arrangement_size, vertices_and_rays
from algebra.linalg.rational import eliminate_free, rational_solution
from algebra.linalg.rational_lp import (
    OPTIMAL,
    GuessMaker,
    RationalProgram,
    complementary_vertex,
)
from algebra.plugins.normalization.network import NormNet
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.intervals import Interval
from algebra.time_limits import OutOfTime, within

MATCHED, UNMATCHED, OPEN = "matched", "unmatched", "undetermined"
_ZERO = fmpq(0)
_ONE = fmpq(1)
_ANYWHERE = Interval()
# Units with more vertices and rays are left to the programs.
_MOST_ENDS = 200


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
        Guesses of the final bases (`numeric.linalg.float_simplex.guesses`); they are checked
        exactly and only save time.

    Returns
    -------
    Match
    """
    if not applies_to(allocation):
        raise InputError(
            "exact matching needs a ReLU normnet of depth 1 and an allocation whose equations are "
            "linear but for the activation pattern: see algebra.plugins.normalization.matching"
        )
    box = box or {}
    if any(interval.is_empty for interval in box.values()):
        return Match(UNMATCHED, 0)
    with within(seconds):
        return _PatternSearch(allocation, weights, X, Y, box, most_nodes, guesses).run()


@dataclass(frozen=True)
class _Unit:
    """One hidden unit.

    Attributes
    ----------
    terms : dict of cell to list of fmpq
        Its learnable parameters, and their factors in the pre-activations.
    ends : ndarray of fmpq, ends × samples
        The pre-activations at vertices and along rays; ± 1 for each u and v as an unknown.
    vertices : int or None
        The number of vertices, of which there are none if the only one is 0; None where u and v are
        unknowns.
    """

    terms: dict[Cell, list[fmpq]]
    ends: np.ndarray
    vertices: int | None


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
            self._divide()
            for signs in product((1, -1), repeat=len(self.tuned)):
                if not self._write(signs):
                    continue
                x = complementary_vertex(self._solve, self.cells)
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

    def _divide(self) -> None:
        """The units, and the parts of u and v in each of their columns."""
        self.units = self._units()
        self.ends = np.concatenate([unit.ends for unit in self.units])
        owner = np.repeat(range(self.hidden), [len(unit.ends) for unit in self.units])
        self.parts = np.full((2, len(owner), self.hidden, self.samples), _ZERO)
        self.parts[0, range(len(owner)), owner] = self.ends * (self.ends > 0)
        self.parts[1, range(len(owner)), owner] = -self.ends * (self.ends < 0)

    def _units(self) -> list[_Unit]:
        """The hidden units, each with the columns of its (u, v)."""
        one, units = np.array([[_ONE]]), []
        own: list[dict[Cell, list[fmpq]]] = [{} for _ in range(self.hidden)]
        for cell in self.allocation.cells:
            name, i, j = cell
            if name == "W1":
                own[i][cell] = [self.fixed["g1"][i, 0] * x for x in self.X[j]]
            elif name in ("g1", "b1"):
                own[i][cell] = list(self.a[i]) if name == "g1" else [_ONE] * self.samples
        for i, terms in enumerate(own):
            is_small = arrangement_size(max(1, len(terms)), self.samples) <= _MOST_ENDS
            if not is_small or any(cell in self.box for cell in terms):
                unit = np.eye(self.samples, dtype=int) * one
                units.append(_Unit(terms, np.concatenate([unit, -unit]), None))
                continue
            vertices, rays, _ = vertices_and_rays(list(terms.values()), list(self.h[i]))
            # Nothing is added by a single vertex 0.
            vertices = vertices if vertices.any() else vertices[:0]
            units.append(_Unit(terms, np.concatenate([vertices, rays]), len(vertices)))
        return units

    def _interval(self, name: str, i: int, j: int = 0) -> Interval:
        return self.box.get((name, i, j), _ANYWHERE)

    def _write(self, signs: Sequence[int]) -> bool:
        """The equations: free unknowns first, then ends of units, the unknowns that bound |δ| from
        below, and slacks.

        False if an output scale may not have its sign.
        """
        written = {cell: unit for unit in self.units for cell in unit.terms}
        free = [
            cell for cell in self.allocation.cells
            if cell[0] != "g2" and (cell not in written or written[cell].vertices is None)
        ]  # fmt: skip
        self.free = {cell: c for c, cell in enumerate(free)}
        start = len(free)
        # δ_k = sign·(t + p_k), p_k ≥ 0, t + s = 1.
        self.delta = {k: start + len(self.ends) + q for q, k in enumerate(self.tuned)}
        self.t = start + len(self.ends) + len(self.tuned)
        columns = self.t + 2 if self.tuned else self.t
        ends = self._ends(signs)
        if ends is None:
            return False
        slack = columns
        columns += len(ends)
        fixed = self.fixed
        outputs = np.full((self.outputs, self.samples, columns), _ZERO)
        right = self.Y - fixed["b2"]
        # A scale 0 leaves the shift alone: only a constant output can be matched.
        scales = np.array([_ONE if k in self.delta else fixed["g2"][k, 0]
                           for k in range(self.outputs)])  # fmt: skip
        W2 = fixed["W2"] * (scales != 0)[:, None]
        outputs[:, :, start : start + len(self.ends)] = np.tensordot(
            W2, self.parts[0], (1, 1)
        ).transpose(0, 2, 1)
        for (name, i, j), c in self.free.items():
            if name == "W2":
                outputs[i, :, c] = self.known[j] * (scales[i] != 0)
            elif name == "b2":
                outputs[i, :, c] = _ONE
        for k, scale in enumerate(scales):
            if k in self.delta:
                label = -signs[self.tuned.index(k)] * right[k]
                outputs[k, :, self.delta[k]] = outputs[k, :, self.t] = label
                right[k] = _ZERO
            elif scale != 0:
                right[k] = right[k] / scale
        hidden, constants = self._of_units(columns)
        more = np.full((len(ends) + bool(self.tuned), columns), _ZERO)
        if self.tuned:
            more[-1, [self.t, self.t + 1]] = _ONE
        for new, (terms, _) in zip(more, ends, strict=False):
            # Σ terms ≥ constant.
            for at, factor in terms:
                new[at] += factor
            new[slack] = -_ONE
            slack += 1
        rows = [*hidden, *outputs.reshape(-1, columns).tolist(), *more.tolist()]
        constants += [*right.ravel(), *(constant for _, constant in ends), _ONE]
        constants = constants[: len(rows)]
        rows, constants, self.solved = eliminate_free(rows, constants, start)
        self.width = columns - start
        self.program = RationalProgram(rows, constants, self.guesses)
        return True

    def _of_units(self, columns: int) -> tuple[list[list[fmpq]], list[fmpq]]:
        """The equations of each unit: vertices have the sum 1, or u − v is the pre-activation."""
        rows, constants, at = list[list[fmpq]](), list[fmpq](), len(self.free)
        for unit, h in zip(self.units, self.h, strict=True):
            size = len(unit.ends)
            if unit.vertices is None:
                table = np.full((self.samples, columns), _ZERO)
                table[:, at : at + size] = unit.ends.T
                for cell, factors in unit.terms.items():
                    table[:, self.free[cell]] = [-factor for factor in factors]
                rows, constants = rows + table.tolist(), constants + list(h)
            elif unit.vertices:
                row = [_ZERO] * columns
                row[at : at + unit.vertices] = [_ONE] * unit.vertices
                rows, constants = [*rows, row], [*constants, _ONE]
            at += size
        return rows, constants

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
        """Values of u and v, with those in `gone` 0, then of all unknowns; None if there are none.

        The vertex minimizes Σ (u + v), which makes products near 0.
        """
        if self.nodes >= self.most:
            raise _OutOfReach
        self.nodes += 1
        size, parts = len(self.ends), self.parts.swapaxes(0, 1).reshape(len(self.ends), -1)
        out = {c for c in range(size) if (parts[c, list(gone)] != 0).any()}
        small = [-sum(row, _ZERO) for row in parts] + [_ZERO] * (self.width - size)
        t, half, b = self.t - len(self.free), _ZERO, None
        if self.tuned:
            largest = self.program.maximize([fmpq(int(c == t)) for c in range(self.width)], out)
            if largest.status != OPTIMAL or largest.value <= 0:
                return None
            # From here on t is constant: half of its largest value.
            half, out = largest.value / 2, out | {t}
            pairs = zip(self.program.rows, self.program.right, strict=True)
            b = [value - row[t] * half for row, value in pairs]
        found = self.program.maximize(small, out, b)
        if found.status != OPTIMAL:
            return None
        x = [half if self.tuned and c == t else x for c, x in enumerate(found.x)]
        return [*(np.array(x[:size], object) @ parts), *x]

    def _student(self, values: Sequence[fmpq], signs: Sequence[int]) -> dict[str, np.ndarray]:
        """The student's matrices at a solution; the network gives the labels with them."""
        x, parts = values[2 * self.cells :], np.array(values[: 2 * self.cells], object)
        u, v = parts.reshape(2, self.hidden, self.samples)
        student: dict[str, Any] = {name: np.array(v) for name, v in self.weights.items()}
        free = list(self.free)
        for name, i, j in free:
            student[name][i, j] = _ZERO
        for unknown, row, constant in self.solved:
            name, i, j = free[unknown]
            used = sum((r * y for r, y in zip(row, x, strict=True)), _ZERO)
            student[name][i, j] = constant - used
        for unit, h in zip(self.units, u - v - self.h, strict=True):
            if unit.vertices is not None and unit.terms:
                factors = list(zip(*unit.terms.values(), strict=True))
                found = rational_solution(factors, list(h), len(unit.terms))
                assert found is not None, "no parameters of a unit give its inputs: a bug"
                for (name, i, j), value in zip(unit.terms, found, strict=True):
                    student[name][i, j] = value
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
