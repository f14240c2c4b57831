"""One ReLU instance decided by branching on complementary pairs, also with weights in intervals.

The tree is that of `numeric.plugins.relu.pairs_kernel`.  Under constraints it has more unknowns
and rows: a bounded weight is the end of its interval plus or minus a distance p ≥ 0; if both ends
are finite, p + q is the length of the interval.  The search is otherwise the same: a solution must
have an exact witness inside the intervals, and a leaf is refuted by a Farkas vector over Q
(`algebra.plugins.relu.equations`), found from the leaf's basis.

Under constraints leaves without such a vector are decided over Q; without them the instance is left
to the second tree, that of `numeric.plugins.relu.cells`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from algebra.linalg.numbers import nearest_double
from algebra.networks.rectified import HasRectifiedLayers
from algebra.plugins.relu.box_program import BoxProgram, empty_leaf
from algebra.plugins.relu.equations import ReluSystem, Term, relu_system
from algebra.plugins.relu.leaves import Leaf
from algebra.problems.allocation import Cell
from numeric.kernels import call
from numeric.linalg.float_simplex import guesses
from numeric.plugins.relu.decision import MATCH, MOST_NODES, NONE, UNDETERMINED, ReluDecision
from numeric.plugins.relu.pairs_kernel import search_pairs, start_tableau
from numeric.plugins.relu.simplex import KEEP, NO_MATCH
from numeric.plugins.relu.tree import Found, PatternTree
from numeric.trials.instances import Instance

# Larger ends are omitted from the program in doubles, which relaxes it: rounding would dominate.
_FAR = 10_000
# Leaves recorded at first, and doubtful ones decided over Q: without constraints, and with them.
_CAPACITY = 64
_CAPACITY_BOXED = 256
_DOUBTFUL = 64
_DOUBTFUL_BOXED = 2_000


@dataclass(frozen=True)
class _Program:
    """A z = b, z ≥ 0: u, v, then for bounded weights their distances from an end.

    Attributes
    ----------
    A, b : ndarray
    pairs : int
    ends : list of (cell, 1 or -1)
        For each column after u and v: distance from the lower (1) or the upper end (-1).
    pinned : set of cell
        Weights whose interval is a point.
    """

    A: np.ndarray
    b: np.ndarray
    pairs: int
    ends: list[tuple[Cell, int]]
    pinned: set[Cell]


def has_bounds(instance: Instance) -> bool:
    """Whether some learnable weight has a bound."""
    return any(interval.is_bounded for interval in instance.box.values())


def decide_pairs(
    instance: Instance, *, certify: bool = False, most_nodes: int = MOST_NODES
) -> ReluDecision:
    """Decide by branching on complementary pairs; some unit must move.

    Parameters
    ----------
    instance, certify, most_nodes
        As for `numeric.plugins.relu.decide.decide`.
    """
    return PairTree(instance, certify=certify).decide(certify=certify, most_nodes=most_nodes)


def decide_boxed(
    instance: Instance, *, certify: bool = False, most_nodes: int = MOST_NODES
) -> ReluDecision:
    """Decide an instance under its constraints; see `decide_pairs` for the parameters."""
    system = relu_system(instance.allocation, *instance.exact, instance.box)
    if system.units and not system.is_empty:
        return decide_pairs(instance, certify=certify, most_nodes=most_nodes)
    root = np.zeros(system.pairs, int)
    if system.is_empty:
        note = "an interval of the constraints is empty"
        leaves = (empty_leaf(system, root),)
        return ReluDecision(NONE, leaves=leaves, system=system, leaf_count=1, note=note)
    found = BoxProgram(system, guesses).decide(root)
    blank = ReluDecision(
        UNDETERMINED, system=system, nodes=found.nodes, leaf_count=1, note="linear"
    )
    if found.is_open:
        return replace(blank, note="a linear program did not finish")
    if found.witness is None:
        return replace(blank, verdict=NONE, leaves=found.leaves)
    return replace(blank, verdict=MATCH, witness=tuple(found.witness))


def active_at(instance: Instance, values: np.ndarray, system: ReluSystem) -> np.ndarray:
    """The pattern of the moving units (k×m) at learnable weights, given in doubles."""
    network = instance.problem.network
    assert isinstance(network, HasRectifiedLayers)
    student, z, found = instance.with_weights(values), instance.X, list[np.ndarray]()
    for matrix, bias in network.rectified_layers[:-1]:
        h = student[matrix] @ z
        h = h if bias is None else h + student[bias]
        found.append(h > 0)
        z = np.maximum(h, 0.0)
    return np.array([found[layer - 1][i] for layer, i in system.units]).reshape(system.pairs)


def obeying_witnesses(instance: Instance, solutions: np.ndarray) -> list[bool] | None:
    """Whether each solution, given in doubles, satisfies the constraints: decided over Q.

    Parameters
    ----------
    instance : Instance
    solutions : ndarray of float, shape (·, r)

    Returns
    -------
    list of bool or None
        None if a solution is not the only one of its cell, or lies on the border of cells.
    """
    system = relu_system(instance.allocation, *instance.exact)
    bounds = replace(system, box=instance.box)
    found = []
    for solution in solutions:
        active = active_at(instance, solution, system)
        witness = system.solve_pattern(active, np.zeros(active.shape, bool))
        if witness is None or not system.has_one_solution(active):
            return None
        found.append(bounds.is_witness(witness))
    return found


class PairTree(PatternTree):
    """The tree of pairs of an instance in which some unit moves.

    Parameters
    ----------
    instance : Instance
    certify : bool, optional
        Whether every leaf is to be refuted over Q.
    """

    def __init__(self, instance: Instance, *, certify: bool = False) -> None:
        bounded = has_bounds(instance)
        doubles = relu_system(
            instance.allocation, instance.weights, instance.X, instance.labels, instance.box
        )
        most = _DOUBTFUL_BOXED if bounded else np.inf if certify else _DOUBTFUL
        super().__init__(
            instance, search_pairs, instance.box, is_last=bounded or not doubles.is_shallow,
            most_doubtful=most, capacity=_CAPACITY_BOXED if bounded else _CAPACITY,
        )  # fmt: skip
        self.shape, self.program = doubles.pairs, _floating(doubles)
        p = self.program
        self.start = call(start_tableau, p.A, p.b)
        noise = np.random.default_rng(12345).random(p.A.shape[1])
        # u and v are to vanish; the position of a weight in its interval matters little.
        size = np.where(np.arange(p.A.shape[1]) < 2 * p.pairs, 1.0, 1e-3)
        self.costs = size * (1.0 + 0.1 * noise)

    def run(self, most_nodes: np.ndarray, mode: int, every: bool, capacity: int) -> Found:
        """Search once."""
        T, beta, basic, other, rest = self.start
        if rest > 1e-9 * max(1.0, float(np.abs(self.program.b).max(initial=0.0))):
            # Dependent equations that seem inconsistent: this is decided over Q only.
            root = np.zeros((1, *self.shape), np.int8)
            return Found(NO_MATCH, 1, 1, 1, 1, root, [None], basic, beta)
        pairs = self.program.pairs
        fixes = np.zeros((capacity, pairs), np.int8)
        bases = np.zeros((capacity, len(basic)), np.int64)
        rows = np.zeros(capacity, np.int64)
        status, nodes, ended, doubtful, last, values = call(
            search_pairs,
            T, beta, basic, other, pairs, self.costs, most_nodes, every, mode == KEEP, fixes,
            bases, rows,
        )  # fmt: skip
        recorded = ended if every else doubtful
        kept = min(recorded, capacity)
        hints = list(zip(bases[:kept], rows[:kept], strict=True))
        sides = fixes[:kept].reshape(kept, *self.shape)
        return Found(status, nodes, ended, doubtful, recorded, sides, hints, last, values)

    def _basic(self, basis: np.ndarray) -> tuple[np.ndarray, np.ndarray, dict[Cell, set[int]]]:
        """Which u and v are basic, and which distances of each bounded weight."""
        p = self.program
        flags = np.zeros(p.A.shape[1], bool)
        flags[basis] = True
        ends: dict[Cell, set[int]] = {cell: set() for cell, _ in p.ends}
        for column, (cell, side) in enumerate(p.ends, 2 * p.pairs):
            if flags[column]:
                ends[cell].add(side)
        shape = self.shape
        u, v = flags[: p.pairs].reshape(shape), flags[p.pairs : 2 * p.pairs].reshape(shape)
        return u, v, ends

    def witness(self, found: Found) -> list[Any] | None:
        """The exact solution at a vertex, if it is a match."""
        basis, values = found.basic, found.beta
        p = self.program
        z = np.zeros(p.A.shape[1])
        z[basis] = values
        shape = self.shape
        u, v = z[: p.pairs].reshape(shape), z[p.pairs : 2 * p.pairs].reshape(shape)
        u_basic, v_basic, basic = self._basic(basis)
        held: dict[Cell, Any] = {}
        for cell, side in p.ends:
            if side not in basic[cell]:
                interval = self.system.interval(cell)
                held[cell] = interval.low if side > 0 else interval.high
        held |= {cell: self.system.interval(cell).low for cell in p.pinned}
        active = u_basic & (~v_basic | (u >= v))
        return self.system.solve_pattern(active, ~(u_basic | v_basic), held)

    def refuted(self, sides: np.ndarray, hint: Any) -> Leaf | None:
        """The Farkas vector of a basis whose row shows infeasibility, if it is one over Q."""
        if hint is None or not hint[1]:
            return None
        basis, row = hint
        p = self.program
        u_basic, v_basic, basic = self._basic(basis)
        leaving, sign = int(basis[abs(row) - 1]), 1 if row > 0 else -1
        place: tuple[int, int, str, int] | None = None
        own: tuple[Cell, int] | None = None
        if leaving < 2 * p.pairs:
            i, s = divmod(leaving % p.pairs, sides.shape[1])
            place = i, s, "u" if leaving < p.pairs else "v", sign
        else:
            own = p.ends[leaving - 2 * p.pairs]
        known: dict[Cell, set[int]] = {}
        for cell, side in p.ends:
            known.setdefault(cell, set()).add(side)
        kappa: dict[Cell, int | None] = dict.fromkeys(p.pinned, None)
        for cell, ends in known.items():
            # The vector's product with the column of p is −κ and with that of q it is κ, each minus
            # the multiplier of the row p + q = length.  The product is the row's sign for the
            # leaving unknown, and 0 for the other basic unknowns.
            if basic[cell] != ends:
                kappa[cell] = None
            else:
                kappa[cell] = -own[1] * sign if own is not None and own[0] == cell else 0
        vector = self.system.farkas(u_basic, v_basic, place, kappa)
        if vector is None or not self.system.is_farkas(sides, *vector):
            return None
        return Leaf(sides, vector[1], vector[0])


def _floating(system: ReluSystem) -> _Program:
    """The program of equations in doubles; weights without a relevant end are eliminated.

    A learnable weight is in the rows of one unit or of one output, so each of these groups of rows
    is multiplied by vectors that vanish on its eliminated weights.
    """
    k, m = system.pairs
    pairs = k * m
    ends: list[tuple[Cell, int]] = []
    pinned: set[Cell] = set()
    ranges: list[tuple[int, float]] = []
    blocks: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def eliminated(terms: Iterable[Term], c: np.ndarray, sign: int) -> None:
        """Rows "... = c + sign Σ w z", for the samples, without some of the w."""
        free: list[np.ndarray] = []
        bounded: list[tuple[int, np.ndarray]] = []
        for cell, values in terms:
            values = sign * values
            interval = system.interval(cell)
            low, high = (_relevant(end) for end in (interval.low, interval.high))
            if low is None and high is None:
                free.append(values)
            elif low is not None and high is not None:
                if interval.low == interval.high:
                    pinned.add(cell)
                    c = c + low * values
                    continue
                # Distances in short intervals are scaled by their length.
                unit = min(1.0, high - low) or 1.0
                c = c + low * values
                bounded.append((len(ends), unit * values))
                ranges.append((len(ends), (high - low) / unit))
                ends.extend([(cell, 1), (cell, -1)])
            else:
                end, side = (low, 1) if low is not None else (high, -1)
                assert end is not None
                c = c + end * values
                bounded.append((len(ends), side * values))
                ends.append((cell, side))
        null = np.eye(m)
        if free:
            _, sizes, V = np.linalg.svd(np.array(free))
            null = V[int((sizes > 1e-10 * max(sizes.max(initial=0.0), 1e-300)).sum()) :]
        blocks.append((null, null @ c, _columns(bounded, null)))

    for own, constants in zip(system.terms, system.c, strict=True):
        eliminated(own, constants, 1)
    for o, constants in enumerate(system.G):
        eliminated([(cell, v) for o2, cell, v in system.read if o2 == o], constants, -1)
    # Factors of the u of each row's group, and of the v.
    factors = np.zeros((k + len(system.G), 2, k))
    factors[range(k), 0, range(k)], factors[range(k), 1, range(k)] = 1.0, -1.0
    for (to, source), weight in system.inner.items():
        factors[to, 0, source] = -weight
    factors[k:, 0] = system.outer
    width = 2 * pairs + len(ends)
    rows: list[np.ndarray] = []
    right: list[float] = []
    for factor, (null, constants, table) in zip(factors, blocks, strict=True):
        for r, vector in enumerate(null):
            row = np.zeros(width)
            row[: 2 * pairs] = np.multiply.outer(factor, vector).ravel()
            for at, value in zip(table[0].astype(int), table[1 + r], strict=True):
                row[2 * pairs + at] = -value
            size = float(np.abs(row).max()) or 1.0
            rows.append(row / size)
            right.append(float(constants[r]) / size)
    for at, length in ranges:
        row = np.zeros(width)
        row[2 * pairs + at] = row[2 * pairs + at + 1] = 1.0
        rows.append(row)
        right.append(length)
    return _Program(np.array(rows).reshape(-1, width), np.array(right), pairs, ends, pinned)


def _columns(bounded: list[tuple[int, np.ndarray]], null: np.ndarray) -> np.ndarray:
    """A table: in its first row the indices of distances, then their entries in each row."""
    numbers = np.array([[float(at) for at, _ in bounded]])
    entries = np.array([null @ x for _, x in bounded]).reshape(len(bounded), len(null)).T
    return np.concatenate([numbers.reshape(1, -1), entries])


def _relevant(end: Any) -> float | None:
    """An end as a double; None if it is infinite, or so large that rounding would dominate."""
    if end is None or abs(end) > _FAR:
        return None
    return nearest_double(end)
