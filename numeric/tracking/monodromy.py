"""Start systems: all roots of one random complex instance, found by monodromy.

A random complex instance whose labels are the student's own has one known root.  A few such
instances are the nodes of a graph; its edges are lines of parameters, several between the same
two nodes (`ParameterSystem.turned`).  Each known root is tracked along every edge once, in
one direction, and the endpoint may be a new root.  With e edges between two nodes at most e N
paths are tracked, and as random permutations connect N points very quickly, three edges are nearly
always enough.  The variety of (root, parameters) is a graph over the root and all parameters
except the labels, hence irreducible, and monodromy acts transitively on the N roots: every root is
reached eventually, and a root that is missing is an error of the tracker.

If N is not known the search stops on the trace test (`numeric.tracking.trace_test`) or, failing
that, after many edges without a new root; `StartSystem.source` says which.

References
----------
.. [1] T. Duff et al., "Solving polynomial systems via homotopy continuation and monodromy",
   IMA J. Numer. Anal. 39 (2019).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np

from algebra.errors import InputError
from algebra.work import end_of_part, has_passed
from numeric.equations.system import ParameterSystem
from numeric.tracking.trace_test import trace_test
from numeric.tracking.tracker import DONE, track

GIVEN, TRACE, STABILISED, INCOMPLETE = "given", "trace test", "stabilised", "incomplete"
# Without N: consecutive edges without a new root before a trace test is tried.
_QUIET = 2
# Roots within this relative distance are equal.
_SAME = 1e-6
# Edges between the first two nodes.
_EDGES = 3
# Smallest number of paths tracked at once.
_BATCH = 16


@dataclass(frozen=True)
class StartSystem:
    """All known roots of one random complex instance.

    Attributes
    ----------
    parameters : ndarray of complex
    roots : ndarray of complex, shape (N, r)
    source : str
        The source of N: "given", "trace test", "stabilised" (many edges gave no new root:
        N is likely, not proved) or "incomplete" (fewer roots than the given N were found).
    loops : int
        Number of edges of the graph.
    """

    parameters: np.ndarray = field(repr=False)
    roots: np.ndarray = field(repr=False)
    source: str
    loops: int

    @property
    def root_count(self) -> int:
        """Number of roots."""
        return len(self.roots)


def match(roots: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Index of the known root that equals each root within 1e-6 of its size, or -1."""
    out = np.full(len(roots), -1)
    if not len(known):
        return out
    # A random complex functional sorts the roots, so that few pairs are compared in full.
    rng = np.random.default_rng(12345)
    v = rng.standard_normal(known.shape[1]) + 1j * rng.standard_normal(known.shape[1])
    size = np.abs(known).max(axis=1) + 0.1
    values, marks = known @ v, roots @ v
    scale = np.abs(v).sum()
    for k, root in enumerate(roots):
        if not np.isfinite(root).all():
            continue
        near = np.flatnonzero(np.abs(values - marks[k]) <= _SAME * scale * size)
        if len(near):
            gap = np.abs(known[near] - root).max(axis=1) / size[near]
            best = int(np.argmin(gap))
            if gap[best] <= _SAME:
                out[k] = near[best]
    return out


def find_start(
    of: ParameterSystem,
    root_count: int | None = None,
    seed: int = 0,
    *,
    most_edges: int = 120,
    patience: int = 12,
    most_roots: int = 20_000,
    trace_seconds: float = 60.0,
    timeout: float = np.inf,
) -> StartSystem:
    """All roots of a random complex instance.

    Parameters
    ----------
    of : ParameterSystem
    root_count : int, optional
        The generic root count N, if it is known.
    seed : int, optional
    most_edges : int, optional
        The search stops after this number of edges.
    patience : int, optional
        Without N: consecutive edges without a new root before the search stops.
    most_roots : int, optional
        The search stops beyond this number of roots.
    trace_seconds : float, optional
        Without N: seconds for one trace test; 0 for no test.
    timeout : float, optional
        Seconds after which no further batch is started; the start system is then incomplete.

    Returns
    -------
    StartSystem

    Raises
    ------
    InputError
        If more than `root_count` roots are found.
    """
    if root_count is not None and root_count < 1:
        raise InputError(f"`root_count` ({root_count}) must be at least 1, or None if unknown")
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0x5357,)))
    graph = _Graph(of, rng)
    quiet = tested = 0
    wanted = root_count  # or the number that a trace test finds
    end = end_of_part(timeout)
    while graph.found <= most_roots and not has_passed(end):
        if wanted is not None and graph.found >= wanted:
            break
        if graph.is_saturated:
            quiet += 1
            if wanted is None and quiet > patience:
                break
            if wanted is None and trace_seconds and quiet > _QUIET and tested < graph.found:
                # The test may find further roots; its result refers to those it returns.
                node = graph.best
                test = trace_test(of, node.parameters, node.roots, seed=seed, timeout=trace_seconds)
                if node.add(test.roots):
                    quiet = 0
                wanted = test.root_count if test.passed else None
                if test.root_count < graph.found:
                    wanted = None
                tested = graph.found
                continue
            if len(graph.edges) >= most_edges:
                break
            graph.grow()
        before = graph.found
        graph.advance(wanted)
        if graph.found > before:
            quiet = 0
        if root_count is not None and graph.found > root_count:
            raise InputError(
                f"`root_count` ({root_count}) is too small: monodromy found {graph.found} "
                "distinct roots of a random instance"
            )
        if wanted is not None and graph.found > wanted:
            # The trace test was wrong: its number is not used.
            wanted, trace_seconds = None, 0
    if root_count is None:
        stopped = STABILISED if quiet > patience else INCOMPLETE
        source = TRACE if wanted == graph.found else stopped
    else:
        source = GIVEN if graph.found == root_count else INCOMPLETE
    best = graph.best
    return StartSystem(
        parameters=best.parameters,
        roots=best.roots,
        source=source,
        loops=len(graph.edges),
    )


_OPEN, _LOST = -1, -2


class _InstanceNode:
    """A random complex instance and its known roots."""

    def __init__(self, parameters: np.ndarray, roots: np.ndarray) -> None:
        self.parameters = parameters
        self.roots = roots

    def add(self, ends: np.ndarray) -> int:
        """Add the roots that are new; returns their number."""
        before = len(self.roots)
        fresh = ends[np.isfinite(ends).all(axis=1)]
        for new in fresh[match(fresh, self.roots) < 0]:
            if len(self.roots) == before or match(new[None], self.roots[before:])[0] < 0:
                self.roots = np.vstack([self.roots, new])
        return len(self.roots) - before


class _Edge:
    """A line from one node to another.

    `images` holds, for each root at the first and at the second node, the index of the root at
    the other end, `_OPEN` if it is not known and `_LOST` if tracking failed.
    """

    def __init__(self, first: int, second: int, turn: int) -> None:
        self.nodes = (first, second)
        self.turn = turn
        self.images = (np.zeros(0, np.int64), np.zeros(0, np.int64))


class _Graph:
    """Random instances joined by lines, and the roots found by tracking along them."""

    def __init__(self, of: ParameterSystem, rng: np.random.Generator) -> None:
        self.of, self.rng = of, rng
        parameters, root = of.random(rng)
        self.nodes = [_InstanceNode(parameters, root[None])]
        self.edges: list[_Edge] = []
        self._stalls = 0
        self._new_node()
        for _ in range(_EDGES):
            self._join(0, 1)

    @property
    def best(self) -> _InstanceNode:
        """The first node with the largest number of roots."""
        return max(self.nodes, key=lambda node: len(node.roots))

    @property
    def found(self) -> int:
        """Number of roots of the best node."""
        return len(self.best.roots)

    @property
    def is_saturated(self) -> bool:
        """Whether all known roots were tracked along all edges."""
        return not any(len(self._open(edge, way)) for edge in self.edges for way in (0, 1))

    def grow(self) -> None:
        """Add an edge; every fourth time a new node with an edge to each other node."""
        self._stalls += 1
        if self._stalls % 4 == 0:
            self._new_node()
            for other in range(len(self.nodes) - 1):
                self._join(other, len(self.nodes) - 1)
        else:
            first, second = sorted(self.rng.choice(len(self.nodes), 2, replace=False).tolist())
            self._join(first, second)

    def advance(self, wanted: int | None) -> None:
        """Track a batch of roots along edges where they have not been tracked yet."""
        jobs: list[tuple[_Edge, int, np.ndarray]] = []
        # Nodes with the fewest roots first; a batch at most doubles the known roots.
        most = max(_BATCH, self.found)
        for edge, way in sorted(
            itertools.product(self.edges, (0, 1)),
            key=lambda pair: len(self.nodes[pair[0].nodes[1 - pair[1]]].roots),
        ):
            pick = self._open(edge, way)[:most]
            if wanted is not None and len(self.nodes[edge.nodes[1 - way]].roots) >= wanted:
                continue
            if len(pick):
                jobs.append((edge, way, pick))
                most -= len(pick)
            if most <= 0:
                break
        if not jobs:
            return
        which = np.repeat(np.arange(len(jobs)), [len(pick) for _, _, pick in jobs])
        # A turn belongs to the second node of an edge, in either direction.
        turns = np.array([[edge.turn * way, edge.turn * (1 - way)] for edge, way, _ in jobs])
        places = [(edge.nodes[way], edge.nodes[1 - way]) for edge, way, _ in jobs]
        starts = [self.nodes[edge.nodes[way]].roots[pick] for edge, way, pick in jobs]
        tracked = track(
            self.of,
            np.array([self.nodes[a].parameters for a, _ in places]),
            np.array([self.nodes[b].parameters for _, b in places]),
            which, which, np.concatenate(starts),
            first_turn=turns[:, 0], second_turn=turns[:, 1],
        )  # fmt: skip
        for k, (edge, way, pick) in enumerate(jobs):
            roots = np.where((tracked.status == DONE)[:, None], tracked.roots, np.nan)[which == k]
            target = self.nodes[edge.nodes[1 - way]]
            target.add(roots)
            found = match(roots, target.roots)
            there, back = self._images(edge, way), self._images(edge, 1 - way)
            there[pick] = np.where(found < 0, _LOST, found)
            good = found >= 0
            back[found[good]] = pick[good]

    def _new_node(self) -> None:
        parameters, root = self.of.random(self.rng)
        self.nodes.append(_InstanceNode(parameters, root[None]))

    def _join(self, first: int, second: int) -> None:
        self.edges.append(_Edge(first, second, int(self.rng.integers(1, 2**31))))

    def _images(self, edge: _Edge, way: int) -> np.ndarray:
        """Known images of the roots of one end."""
        known = len(self.nodes[edge.nodes[way]].roots)
        old = edge.images[way]
        if len(old) < known:
            new = np.concatenate([old, np.full(known - len(old), _OPEN)])
            edge.images = (new, edge.images[1]) if way == 0 else (edge.images[0], new)
        return edge.images[way]

    def _open(self, edge: _Edge, way: int) -> np.ndarray:
        return np.flatnonzero(self._images(edge, way) == _OPEN)
