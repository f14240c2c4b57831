r"""The map of a linear network in FLINT's matrices: labels, derivatives, ranks at points.

This is the check's own: the search has its numbers from other code (`algebra.networks.chain`,
`algebra.ranks.generic_rank`), in arrays.

**Jacobian.**  The derivative of the labels by the cell (i, j) of a matrix is the sum of
L[:, i] ⊗ R[j, :] over the places at which the matrix acts; R is what it is applied to, L the
product of all that follows (`LinearMap.factors`).  If every step is read, earlier labels are those
of a network that is read at the last step and whose inputs begin later (`_late`).  The Jacobian is
compared with its definition: along random directions the labels are evaluated over matrices of dual
numbers value + ε·tangent, ε² = 0, step by step (`LinearMap.labels`).  A wrong one passes at one
direction with probability 1/p at most.

**Bounds.**  The labels are Y = A U, A a d×k matrix, through layers of widths w_1, w_2, ….  With κ
the rank of U and w the least of d, κ and all widths, they are matrices of rank w, a variety of
dimension w (d + κ − w).  So the rank of the Jacobian is at most that and the number of weights; of
recurrent networks it is at most n (d + b), since a change of basis of the n hidden units changes no
label (`LinearMap.most`).  If K matrices act between inputs and read-out, an entry of the Jacobian
is a polynomial of degree K + 1 in weights and samples (K + 2 if the inputs enter by a matrix).  Its
coefficients add up to at most the number of paths through the hidden units, times the number of
places at which a weight acts (`LinearMap.entry_bound`).
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Any

from flint import nmod_mat

from algebra.checker.checks import CheckFailed
from algebra.checker.points import RankClaim, Rows
from algebra.checker.rank_claims import JacobianColumns, enough_columns
from algebra.linalg.primes import EntryBound, random_prime
from algebra.ranks.deficits import rank_by_odds
from algebra.time_limits import check_time

Cell = tuple[str, int, int]

# Random directions along which a Jacobian is compared with forward-mode derivatives.
_DIRECTIONS = 3


@dataclass(frozen=True)
class DualPair:
    """A matrix value + ε·tangent over GF(p), ε² = 0; no tangent is 0."""

    value: nmod_mat
    tangent: nmod_mat | None = None

    def __matmul__(self, other: DualPair) -> DualPair:
        left = None if self.tangent is None else self.tangent * other.value
        right = None if other.tangent is None else self.value * other.tangent
        return DualPair(self.value * other.value, _sum(left, right))

    def __add__(self, other: DualPair) -> DualPair:
        return DualPair(self.value + other.value, _sum(self.tangent, other.tangent))


def _sum(a: nmod_mat | None, b: nmod_mat | None) -> nmod_mat | None:
    return b if a is None else a if b is None else a + b


@dataclass(frozen=True)
class LinearMap:
    """A linear network without weights.

    Attributes
    ----------
    title : str
        The kind's name in a sentence.
    shapes : mapping of str to (int, int)
        The matrices, the last to act first: D, W and B of a recurrent network.
    steps : int
        Those of a recurrent network; 0 for layers.
    samples : int
    is_read_often : bool
        Whether every step is read.
    """

    title: str
    shapes: Mapping[str, tuple[int, int]]
    steps: int
    samples: int
    is_read_often: bool = False

    @property
    def inputs(self) -> int:
        """Those of one step."""
        return [*self.shapes.values()][-1][1]

    @property
    def input_shape(self) -> tuple[int, int]:
        """Of the samples, one in each column; the inputs of all steps are stacked."""
        return self.inputs * max(1, self.steps), self.samples

    @property
    def outputs(self) -> int:
        """The number of labels."""
        read = self.steps if self.is_read_often else 1
        return self.labels_of_one * self.samples * read

    @property
    def labels_of_one(self) -> int:
        """The number d of outputs."""
        return next(iter(self.shapes.values()))[0]

    @property
    def parameters(self) -> int:
        """The number of weights."""
        return sum(rows * columns for rows, columns in self.shapes.values())

    @property
    def widths(self) -> list[int]:
        """Those of the hidden layers; of a recurrent network n, twice."""
        return [rows for rows, _ in self.shapes.values()][1:]

    def acts_once(self, name: str) -> bool:
        """Whether a matrix acts at one place, so that the labels are affine in its weights."""
        return not self.steps or name != "W"

    @property
    def most(self) -> int:
        """A bound of the rank of the Jacobian: see the module."""
        d, b, m = self.labels_of_one, self.inputs, self.samples
        kappa = self.steps * min(b, m) if self.is_read_often else min(m, self.input_shape[0])
        w = min(*self.widths, d, kappa)
        bounds = [d * kappa, self.parameters, w * (d + kappa - w)]
        return min(*bounds, *([self.widths[0] * (d + b)] if self.steps else []))

    @property
    def entry_bound(self) -> EntryBound:
        """Degree and bits of an entry of the Jacobian: see the module."""
        if self.steps:
            paths = self.inputs * self.widths[0] ** (self.steps + 1)
            return EntryBound(self.steps + 2, (self.steps**2 * paths).bit_length())
        paths = prod(self.widths, start=self.inputs) if self.widths else 1
        return EntryBound(len(self.widths) + 1, paths.bit_length())

    def labels(self, weights: Mapping[str, DualPair], X: Sequence[nmod_mat]) -> list[DualPair]:
        """The labels, those of each step that is read.

        Parameters
        ----------
        weights : mapping of str to DualPair
        X : sequence of nmod_mat
            The inputs of each step, or of the network.
        """
        if not self.steps:
            state = DualPair(X[0])
            for name in reversed([*self.shapes]):
                state = weights[name] @ state
            return [state]
        D, W, B = (weights[name] for name in self.shapes)
        states: list[DualPair] = []
        for x in X:
            driven = B @ DualPair(x)
            states.append(W @ states[-1] + driven if states else driven)
        return [D @ (W @ state) for state in (states if self.is_read_often else states[-1:])]

    def factors(
        self, weights: Mapping[str, nmod_mat], X: Sequence[nmod_mat], one: nmod_mat
    ) -> dict[str, list[tuple[nmod_mat, nmod_mat]]]:
        """The factors L and R at each place where a matrix acts, for the labels of the last step.

        Parameters
        ----------
        weights : mapping of str to nmod_mat
        X : sequence of nmod_mat
        one : nmod_mat
            The identity of d rows.
        """
        found: dict[str, list[tuple[nmod_mat, nmod_mat]]] = {name: [] for name in self.shapes}
        if not self.steps:
            states, left = [X[0]], one
            for name in [*self.shapes][:0:-1]:
                states.append(weights[name] * states[-1])
            for name, state in zip(self.shapes, reversed(states), strict=True):
                found[name].append((left, state))
                left = left * weights[name]
            return found
        D, W, B = (weights[name] for name in self.shapes)
        states = []
        for x in X:
            states.append(W * states[-1] + B * x if states else B * x)
        found["D"].append((one, W * states[-1]))
        left = D
        for t in reversed(range(self.steps)):
            # Here L is D W^(T - 1 - t).
            found["W"].append((left, states[t]))
            left = left * W
            found["B"].append((left, X[t]))
        return found


def _late(X: Sequence[Rows]) -> list[Rows]:
    """The inputs of which the last labels are those of all steps, side by side."""
    T, silent = len(X), [0] * len(X[0][0])
    return [
        [
            [x for t in range(T) for x in (X[s - T + 1 + t][i] if s - T + 1 + t >= 0 else silent)]
            for i in range(len(X[0]))
        ]
        for s in range(T)
    ]


def _matrix(rows: Sequence[Sequence[Any]], p: int) -> nmod_mat:
    return nmod_mat(len(rows), len(rows[0]), [entry for row in rows for entry in row], p)


@dataclass(frozen=True)
class MapPoint:
    """Weights and samples over GF(p), by rows."""

    p: int
    number: int
    weights: Mapping[str, Rows]
    X: Rows


def random_map_point(network: LinearMap, p: int, number: int, absent: Collection[Cell]) -> MapPoint:
    """The random point of a number, uniform; weights that do not exist are 0.

    A file without the numbers of its point means this one, which the search drew too
    (`algebra.ranks.jacobian.random_point`): 64 bits for each residue, in the order of the matrices.
    """
    rng = random.Random(f"{p}/{number}")

    def drawn(shape: tuple[int, int]) -> Rows:
        rows, columns = shape
        bits = rng.randbytes(8 * rows * columns)
        found = [int.from_bytes(bits[k : k + 8], "little") % p for k in range(0, len(bits), 8)]
        return [found[i * columns : (i + 1) * columns] for i in range(rows)]

    weights = {name: drawn(shape) for name, shape in network.shapes.items()}
    for name, i, j in absent:
        weights[name][i][j] = 0
    return MapPoint(p, number, weights, drawn(network.input_shape))


@dataclass(frozen=True)
class LinearColumns(JacobianColumns):
    """Columns of the Jacobian of a linear network.

    Attributes
    ----------
    network : LinearMap
    cells : sequence of cells
    absent : frozenset of cells
        Weights that do not exist.
    """

    network: LinearMap
    cells: Sequence[Cell]
    absent: frozenset[Cell]

    @property
    def size(self) -> int:
        return len(self.cells)

    @property
    def most(self) -> int:
        return self.network.most

    def rank_at(self, claim: RankClaim, seed: int) -> int:
        (p, number), given = claim.witness, claim.witness_point
        if given is None:
            point = random_map_point(self.network, p, number, self.absent)
        else:
            point = MapPoint(p, number, given.weights, given.X)
        for name, i, j in self.absent:
            if point.weights[name][i][j]:
                place = f"{claim.place}.witness_point.weights.{name}"
                raise CheckFailed(place, f"is not 0 outside support.{name}")
        chosen = enough_columns(self.cells, claim.rank, seed)
        found = replace(self, cells=chosen)._rank(point)
        if found < claim.rank and len(chosen) < self.size:
            found = self._rank(point)
        return found

    def rank_again(self, upper: int | None, seed: int) -> tuple[int, Fraction]:
        rng = random.Random(f"again/{seed}")
        bound = min(self.size, self.most, *([] if upper is None else [upper]))

        def rank_at(bits: int) -> int:
            p, number = random_prime(rng, bits), rng.randrange(1 << 32)
            return self._rank(random_map_point(self.network, p, number, self.absent))

        return rank_by_odds(self.network, bound, 0, rank_at)

    def _rank(self, point: MapPoint) -> int:
        """The rank at a point, with as many samples as columns.

        More samples change no generic rank (`algebra.ranks.jacobian.enough_samples`), and the rank
        with fewer rows is not larger.
        """
        check_time()
        if not self.cells:
            return 0
        p, network, m = point.p, self.network, min(self.network.samples, self.size)
        b = network.inputs
        X = [[row[:m] for row in point.X[k : k + b]] for k in range(0, len(point.X), b)]
        weights = {name: _matrix(rows, p) for name, rows in point.weights.items()}
        J = self._jacobian(weights, X, p)
        rng = random.Random(f"directions/{p}/{point.number}")
        for _ in range(_DIRECTIONS):
            step = [rng.randrange(p) for _ in self.cells]
            if nmod_mat(1, len(step), step, p) * J != self._along(step, weights, X, p):
                raise CheckFailed("evidence", "the Jacobian differs from forward-mode derivatives")
        return int(J.rank())

    def _jacobian(self, weights: Mapping[str, nmod_mat], X: Sequence[Rows], p: int) -> nmod_mat:
        """The derivatives of the labels: a row for each cell, by outputs and columns of labels."""
        network, d = self.network, self.network.labels_of_one
        inputs = _late(X) if network.is_read_often else X
        one = _matrix([[int(i == k) for k in range(d)] for i in range(d)], p)
        factors = network.factors(weights, [_matrix(rows, p) for rows in inputs], one)
        tables = {}
        for name in {cell[0] for cell in self.cells}:
            # All sums over places in one product: rows (i, k) by places, places by (j, c).
            L = [left.tolist() for left, _ in factors[name]]
            R = [right.entries() for _, right in factors[name]]
            by_rows = [
                [left[k][i] for left in L] for i in range(network.shapes[name][0]) for k in range(d)
            ]
            tables[name] = (_matrix(by_rows, p) * _matrix(R, p)).tolist()
        columns = len(inputs[0][0])
        found = [
            [entry for row in table[i * d : (i + 1) * d] for entry in row[j * columns :][:columns]]
            for name, i, j in self.cells
            for table in (tables[name],)
        ]
        return _matrix(found, p)

    def _along(
        self, step: Sequence[int], weights: Mapping[str, nmod_mat], X: Sequence[Rows], p: int
    ) -> nmod_mat:
        """The derivative of the labels along a direction, in the order of `_jacobian`."""
        tangents = {name: nmod_mat(*shape, p) for name, shape in self.network.shapes.items()}
        for (name, i, j), size in zip(self.cells, step, strict=True):
            tangents[name][i, j] = size
        duals = {name: DualPair(weights[name], tangents[name]) for name in weights}
        labels = self.network.labels(duals, [_matrix(rows, p) for rows in X])
        of_steps = [own.tangent.tolist() for own in labels if own.tangent is not None]
        return _matrix(
            [[y for rows in zip(*of_steps, strict=True) for row in rows for y in row]], p
        )
