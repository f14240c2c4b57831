"""One ReLU instance decided: floating point searches, exact arithmetic answers.

A match is reported only with a rational witness that reproduces the labels through the whole
network.  "No match" comes from a complete tree; a leaf that rounding leaves in doubt is
refuted over Q, and where evidence is asked for, every leaf is.
Whatever fails there is "undetermined".
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from algebra.errors import InputError
from algebra.networks.relu import ShallowReLU
from algebra.relu.arrangement import Refuter
from algebra.relu.decision import decision_data
from algebra.relu.equations import ReluSystem, relu_system
from algebra.relu.leaves import Leaf, covers, is_refuted, refutes
from algebra.results import Result
from numeric.instances import Instance, to_rational
from numeric.relu.boxed import is_bounded, search_boxed
from numeric.relu.cells import CellTree
from numeric.relu.cells_kernel import KEEP
from numeric.relu.hull import hull_fits, learning_units
from numeric.relu.pairs_kernel import search, start_tableau
from numeric.relu.patience import in_time
from numeric.relu.simplex import CANDIDATE, LIMIT, NO_MATCH

MATCH, NONE, UNDETERMINED = "match", "no match", "undetermined"
MOST_NODES = 2_000_000
# Nodes of the first tree.  One costs 6 to 60 µs there and 100 µs in the second, which needs far
# fewer but begins with 10 ms for the units' vertices.
FIRST_NODES, FIRST_NODES_WIDE = 200, 1_000
# Doubtful leaves that are looked at over Q without being asked.
_DOUBTFUL = 64


@dataclass(frozen=True, repr=False)
class ReluDecision(Result):
    """The answer for one instance.

    Attributes
    ----------
    verdict : str
        "match", "no match" or "undetermined".
    witness : tuple of fmpq or None
        Values of the learnable cells in the allocation's order, verified over Q.
    leaves : tuple of Leaf or None
        The verified refutation, where it was asked for.
    system : ReluSystem or None
        The exact equations, where they were needed.
    nodes, leaf_count, doubtful : int
        Size of the tree, and leaves that rounding left in doubt.
    note : str
    seconds : float
    teacher : mapping of str to ndarray, or None
        The teacher of the instance, whose labels are to be matched.
    """

    verdict: str
    witness: tuple[Any, ...] | None = None
    leaves: tuple[Leaf, ...] | None = None
    system: ReluSystem | None = None
    nodes: int = 0
    leaf_count: int = 0
    doubtful: int = 0
    note: str = ""
    seconds: float = 0.0
    teacher: Mapping[str, np.ndarray] | None = field(default=None, compare=False, repr=False)

    picture = "witness"

    @property
    def is_certified(self) -> bool:
        """Whether a witness or a verified refutation is there."""
        return self.witness is not None or self.leaves is not None

    def facts(self) -> dict[str, Any]:
        """The answer and the size of the tree it was found by."""
        return {
            "verdict": self.verdict,
            "certified": self.is_certified,
            "nodes": self.nodes,
            "leaves": self.leaf_count,
            "note": self.note or None,
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain data for ``--json``."""
        return {
            "verdict": self.verdict,
            "witness": None if self.witness is None else [str(v) for v in self.witness],
            "certified": self.is_certified,
            "nodes": self.nodes,
            "leaves": self.leaf_count,
            "note": self.note,
            "seconds": self.seconds,
        }

    def certificate(self) -> dict[str, Any]:
        """The content of a decision file, which ``matchprob verify`` re-checks.

        Raises
        ------
        InputError
            Where there is no evidence: undetermined, or decided without asking for it.
        """
        if self.system is None or (self.witness is None and self.leaves is None):
            raise InputError(f"there is no certificate of this decision ({self.verdict})")
        witness = None if self.witness is None else list(self.witness)
        teacher = self.teacher and {n: to_rational(value) for n, value in self.teacher.items()}
        return decision_data(self.system, witness, self.leaves, teacher)

    def __str__(self) -> str:
        evidence = "certified over Q" if self.witness or self.leaves else "not certified"
        return f"{self.verdict} ({evidence}; nodes: {self.nodes}, leaves: {self.leaf_count})"


def decide(
    instance: Instance, *, certify: bool = False, most_nodes: int = MOST_NODES
) -> ReluDecision:
    """Decide whether an instance of a shallow ReLU net has a match.

    Parameters
    ----------
    instance : Instance
    certify : bool, optional
        Whether "no match" comes with verified refutations of all leaves.
    most_nodes : int, optional
        Nodes after which the instance is given up as undetermined.

    Returns
    -------
    ReluDecision

    Raises
    ------
    InputError
        For another network, or where both W1 and W2 learn.

    Notes
    -----
    A first, cheap tree branches on the pairs (u, v) of `numeric.relu.pairs_kernel`; where it grows
    large, or evidence is asked for, a second one branches on cells with the tighter programs of
    `numeric.relu.hull`, unless its columns are too many.  Under constraints the first tree alone is
    searched, with rows for the intervals (`numeric.relu.boxed`).
    """
    began = time.perf_counter()
    if is_bounded(instance):
        found = _decide_boxed(instance, certify=certify, most_nodes=most_nodes)
        return replace(found, seconds=time.perf_counter() - began, teacher=instance.teacher)
    learns = set(instance.allocation.matrices)
    if not isinstance(instance.problem.network, ShallowReLU) or {"W1", "W2"} <= learns:
        relu_system(instance.allocation, *instance.exact)
    if "W1" not in learns or not len(learning_units(instance)):
        found = _decide_linear(instance)
    elif not hull_fits(instance):
        found = decide_pairs(instance, certify=certify, most_nodes=most_nodes)
    else:
        found = ReluDecision(UNDETERMINED)
        if not certify:
            wide = instance.allocation.size >= 3 * len(learning_units(instance))
            first = FIRST_NODES_WIDE if wide else FIRST_NODES
            found = decide_pairs(instance, most_nodes=min(first, most_nodes))
        if found.verdict == UNDETERMINED:
            found = decide_cells(instance, certify=certify, most_nodes=most_nodes)
    return replace(found, seconds=time.perf_counter() - began, teacher=instance.given_by)


def _decide_boxed(instance: Instance, *, certify: bool, most_nodes: int) -> ReluDecision:
    """Decide under constraints; see `decide` for the parameters."""
    found = search_boxed(instance, certify=certify, most_nodes=most_nodes)
    verdict = MATCH if found.witness is not None else NONE if found.is_refuted else UNDETERMINED
    witness = None if found.witness is None else tuple(found.witness)
    return ReluDecision(
        verdict, witness, found.leaves, found.system, found.nodes, found.leaf_count,
        found.doubtful, found.note,
    )  # fmt: skip


def decide_cells(
    instance: Instance, *, certify: bool = False, most_nodes: int = MOST_NODES
) -> ReluDecision:
    """Decide by branching on activation cells; see `decide` for the parameters."""
    tree = CellTree(instance)
    found = tree.search(every=certify, most_nodes=most_nodes)
    if found.status == LIMIT:
        note = f"given up after {found.nodes} nodes"
        return ReluDecision(UNDETERMINED, nodes=found.nodes, note=note)
    nodes = found.nodes
    if found.status == CANDIDATE:
        witness = tree.system.solve_pattern(*tree.pattern(found))
        if witness is not None:
            return _matched(tree, witness, nodes)
        # A solution within rounding only: go on, and look at all such leaves exactly.
        found = tree.search(mode=KEEP, every=certify, most_nodes=most_nodes)
        nodes += found.nodes
        if found.status == LIMIT:
            note = f"given up after {nodes} nodes"
            return ReluDecision(UNDETERMINED, nodes=nodes, note=note)
    settled = tree.settle(found)
    blank = ReluDecision(
        UNDETERMINED, nodes=nodes, leaf_count=found.leaves, doubtful=settled.doubtful
    )
    if settled.witnesses:
        return _matched(tree, settled.witnesses[0], nodes)
    if settled.open:
        return replace(blank, note=f"leaves not refuted over Q: {settled.open}")
    if not certify:
        note = f"leaves refuted in floating point: {found.leaves}"
        if settled.doubtful:
            note += f", of these over Q: {settled.doubtful}"
        return replace(blank, verdict=NONE, note=note)
    if not covers([leaf.fixed for leaf in settled.leaves]):
        return replace(blank, note="the leaves do not cover every pattern")
    note = f"leaves refuted over Q: {len(settled.leaves)}"
    return replace(blank, verdict=NONE, leaves=tuple(settled.leaves), system=tree.system, note=note)


def _matched(tree: CellTree, witness: list[Any], nodes: int) -> ReluDecision:
    return ReluDecision(MATCH, tuple(witness), system=tree.system, nodes=nodes)


def decide_pairs(
    instance: Instance,
    *,
    certify: bool = False,
    most_nodes: int = MOST_NODES,
) -> ReluDecision:
    """Decide by branching on complementary pairs.

    Parameters
    ----------
    instance, certify, most_nodes
        As of `decide`.
    """
    A, b, pairs = _equations(instance)
    T, beta, basic, other, rest = start_tableau(A, b)
    scale = max(1.0, float(np.abs(b).max(initial=0.0)))
    m = instance.problem.network.m
    shape = (pairs // m, m)
    if rest > 1e-9 * scale:
        return ReluDecision(UNDETERMINED, note="the equations are dependent and seem inconsistent")

    def run(room: int, every: bool) -> Any:
        return in_time(partial(run_once, room, every), lambda out: out[0] == LIMIT, most_nodes)

    def run_once(room: int, every: bool, most_nodes: int) -> Any:
        fixes = np.zeros((room, pairs), np.int8)
        bases = np.zeros((room, len(basic)), np.int64)
        rows = np.zeros(room, np.int64)
        cost = _costs(pairs)
        out = search(
            T, beta, basic, other, pairs, cost, most_nodes, every, False, fixes, bases, rows
        )
        return (*out, fixes, bases, rows)

    status, nodes, leaf_count, doubtful, last, values, fixes, bases, rows = run(_DOUBTFUL, False)
    blank = ReluDecision(UNDETERMINED, nodes=nodes, leaf_count=leaf_count, doubtful=doubtful)
    if status == CANDIDATE:
        system = relu_system(instance.allocation, *instance.exact)
        witness = system.solve_pattern(*_pattern(last, values, shape))
        if witness is None:
            return replace(blank, note="no exact witness near the solution found")
        return replace(blank, verdict=MATCH, witness=tuple(witness), system=system)
    if status != NO_MATCH:
        return replace(blank, note=f"given up after {nodes} nodes")
    if not certify and not doubtful:
        note = f"leaves refuted in floating point: {leaf_count}"
        return replace(blank, verdict=NONE, note=note)
    if certify:
        *_, fixes, bases, rows = run(leaf_count, True)
    elif doubtful > _DOUBTFUL:
        return replace(blank, note=f"leaves that rounding keeps in doubt: {doubtful}")
    system = relu_system(instance.allocation, *instance.exact)
    refuter = Refuter(system)
    leaves = []
    asked = leaf_count if certify else doubtful
    for fix, basis, row in zip(fixes[:asked], bases[:asked], rows[:asked], strict=True):
        leaf = _leaf(system, fix.reshape(shape), basis, int(row))
        if leaf is None or not is_refuted(refuter, leaf):
            return replace(blank, note="a leaf could not be refuted over Q")
        leaves.append(leaf)
    if not certify:
        note = f"leaves refuted in floating point: {leaf_count}, of these over Q: {doubtful}"
        return replace(blank, verdict=NONE, note=note)
    if not covers([leaf.fixed for leaf in leaves]):
        return replace(blank, note="the leaves do not cover every pattern")
    note = f"leaves refuted over Q: {len(leaves)}"
    return replace(blank, verdict=NONE, leaves=tuple(leaves), system=system, note=note)


def _decide_linear(instance: Instance) -> ReluDecision:
    """No learnable weight in W1 reaches an output: linear equations over Q, decided exactly."""
    system = relu_system(instance.allocation, *instance.exact)
    empty = np.zeros((0, system.X.shape[1]), bool)
    one = ReluDecision(UNDETERMINED, system=system, nodes=1, note="linear")
    witness = system.solve_pattern(empty, empty)
    if witness is not None:
        return replace(one, verdict=MATCH, witness=tuple(witness))
    mu = system.linear_farkas()
    if mu is not None:
        leaf = Leaf(np.zeros(empty.shape, int), mu, np.empty(empty.shape, dtype=object))
        if refutes(system, (leaf,)):
            return replace(one, verdict=NONE, leaves=(leaf,), leaf_count=1)
    return one


@lru_cache(maxsize=32)
def _costs(pairs: int) -> np.ndarray:
    # Slightly different costs: no two reduced costs tie, so the simplex does not cycle.
    return 1.0 + 0.1 * np.random.default_rng(12345).random(2 * pairs)


def _equations(instance: Instance) -> tuple[np.ndarray, np.ndarray, int]:
    """A z = b with z = (u, v), the weights eliminated; rows of about unit size."""
    network = instance.problem.network
    W1, W2, X, Y = instance.weights["W1"], instance.weights["W2"], instance.X, instance.labels
    mask = np.asarray(instance.allocation.masks["W1"]) != 0
    units = learning_units(instance)
    m, pairs = network.m, len(units) * network.m
    fixed = [i for i in range(len(mask)) if not mask[i].any()]
    G = Y - W2[:, fixed] @ np.maximum(W1[fixed] @ X, 0.0)
    rows: list[np.ndarray] = []
    right: list[float] = []
    for t, i in enumerate(units):
        own = X[mask[i]]
        _, sizes, V = np.linalg.svd(own)
        null = V[int((sizes > 1e-10 * max(sizes.max(initial=0.0), 1e-300)).sum()) :]
        c = (W1[i] * ~mask[i]) @ X
        for vector in null:
            row = np.zeros(2 * pairs)
            row[t * m : (t + 1) * m] = vector
            row[pairs + t * m : pairs + (t + 1) * m] = -vector
            rows.append(row)
            right.append(float(vector @ c))
    for s in range(m):
        for o in range(network.d):
            row = np.zeros(2 * pairs)
            row[s:pairs:m] = W2[o, units]
            size = float(np.abs(row).max()) or 1.0
            rows.append(row / size)
            right.append(float(G[o, s]) / size)
    return np.array(rows), np.array(right), pairs


def _flags(basis: np.ndarray, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    pairs = shape[0] * shape[1]
    flags = np.zeros(2 * pairs, bool)
    flags[basis] = True
    return flags[:pairs].reshape(shape), flags[pairs:].reshape(shape)


def _pattern(
    basis: np.ndarray, values: np.ndarray, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """The activation pattern of a vertex, and the pairs whose input is 0 there."""
    pairs = shape[0] * shape[1]
    z = np.zeros(2 * pairs)
    z[basis] = values
    u_basic, v_basic = _flags(basis, shape)
    u, v = z[:pairs].reshape(shape), z[pairs:].reshape(shape)
    return u_basic & (~v_basic | (u >= v)), ~(u_basic | v_basic)


def _leaf(system: ReluSystem, fixed: np.ndarray, basis: np.ndarray, row: int) -> Leaf | None:
    pairs = fixed.size
    leaving = int(basis[abs(row) - 1])
    kind = "u" if leaving < pairs else "v"
    i, s = divmod(leaving % pairs, fixed.shape[1])
    u_basic, v_basic = _flags(basis, fixed.shape)
    vector = system.farkas(u_basic, v_basic, (i, s, kind, 1 if row > 0 else -1))
    if vector is None:
        return None
    lam, mu = vector
    return Leaf(fixed.astype(int), mu, lam)
