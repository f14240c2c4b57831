"""The engine `complementarity`: networks of ReLU layers, decided or counted."""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from algebra.linalg.numbers import nearest_double
from algebra.networks.rectified import HasRectifiedLayers
from algebra.plugins.relu.equations import ProductOfUnknowns, relu_system
from algebra.time_limits import check_time
from numeric.engines.base import SequentialEngine
from numeric.plugins.relu.cells import CellTree
from numeric.plugins.relu.decide import decide
from numeric.plugins.relu.decision import MATCH, NONE, ReluDecision
from numeric.plugins.relu.hull import hull_fits
from numeric.plugins.relu.pairs import has_bounds
from numeric.plugins.relu.products import decide_products
from numeric.plugins.relu.simplex import DIVIDE, NO_MATCH
from numeric.trials.counts import COMPLETE, UNDETERMINED, InstanceCount
from numeric.trials.instances import Instance

# Nodes after which a count is abandoned.
_MOST_NODES = 400_000


class ComplementarityEngine(SequentialEngine):
    """Decides instances of networks of ReLU layers, or counts their solutions.

    Parameters
    ----------
    complete : bool, optional
        Count all solutions, if the units' arrangements are small enough; otherwise decide.

    Notes
    -----
    A decision that finds a match proves at least one real solution (status "undetermined", as
    others may exist); a proof that there is no match is a complete count.

    A count is the ReLU counterpart of a complete real-root count: every solution is an exact
    witness and the only one of its cell; one on the border of cells counts once.  With more
    weights than equations the matches form a polyhedron: then the count is a lower bound.

    Networks with several hidden layers are decided, not counted.

    Constraints are part of the programs of a decision.  A count keeps the solutions that satisfy
    them, over Q; if it is not complete, a decision shows whether there is any.
    """

    def __init__(self, *, complete: bool = False) -> None:
        self.complete = complete

    def count(self, instance: Instance) -> InstanceCount:
        """The proved part of the count of one instance."""
        check_time()
        began = time.perf_counter()
        network = instance.problem.network
        assert isinstance(network, HasRectifiedLayers)
        shallow = network.is_shallow
        # Of deeper nets whole cells may match: all outputs are often silent.
        reads = set(instance.allocation.matrices) <= set(network.rectified_layers[-1])
        counted = self.complete and (reads or hull_fits(instance))
        if counted:
            real, status, note, solutions = self._solutions(instance)
        if not counted or (status != COMPLETE and not real and has_bounds(instance)):
            # In deeper nets "no match" is proved leaf by leaf.
            try:
                found = decide(instance, certify=not shallow)
            except ProductOfUnknowns:
                return self._products(instance, began)
            solutions = (found.witness,) if found.witness else ()
            real = {MATCH: 1, NONE: 0}.get(found.verdict)
            status = COMPLETE if found.verdict == NONE else UNDETERMINED
            note = found.note
            if found.verdict == MATCH:
                note = "a rational witness, verified; other solutions not counted"
        return InstanceCount(
            instance.index,
            real,
            None,
            status,
            note,
            solutions=tuple(_doubles(values) for values in solutions),
            boxes=tuple(tuple((_exact(v),) * 2 for v in values) for values in solutions),
            seconds=time.perf_counter() - began,
        )

    def _products(self, instance: Instance, began: float) -> InstanceCount:
        """The count where learnable weights of several layers are multiplied."""
        found = decide_products(instance)
        solutions = (tuple(map(float, found.witness)),) if found.witness else ()
        if isinstance(found, ReluDecision):
            # The weights of one layer; the others have values of their own.
            solutions = ()
        return InstanceCount(
            instance.index, {MATCH: 1, NONE: 0}.get(found.verdict), None,
            COMPLETE if found.verdict == NONE else UNDETERMINED, found.note, solutions=solutions,
            seconds=time.perf_counter() - began,
        )  # fmt: skip

    def _solutions(self, instance: Instance) -> tuple[int | None, str, str, tuple[Any, ...]]:
        system = relu_system(instance.allocation, *instance.exact, instance.box)
        bounded = has_bounds(instance)
        if not system.units:
            decided = decide(instance)
            if decided.verdict == NONE:
                return 0, COMPLETE, decided.note, ()
            unique = decided.verdict == MATCH and system.has_one_solution(
                np.zeros(system.pairs, bool)
            )
            values = [decided.witness] if decided.witness is not None else []
            note = "linear" if unique else "linear equations that leave weights free"
            return len(values), COMPLETE if unique else UNDETERMINED, note, tuple(values)
        tree = CellTree(instance)
        found = tree.search(mode=DIVIDE, most_nodes=_MOST_NODES)
        if found.status != NO_MATCH:
            return None, UNDETERMINED, f"given up after {found.nodes} nodes", ()
        settled = tree.settle(found, all_cells=True)
        kept = [values for values in settled.witnesses if system.is_witness(values)]
        solutions: tuple[Any, ...] = tuple(kept)
        if settled.open:
            note = f"a lower bound: {settled.open} cells are open or contain a continuum"
            return len(solutions), UNDETERMINED, note, solutions
        note = f"leaves: {found.leaves}; solutions exact"
        if bounded:
            note = f"{len(kept)} of {len(settled.witnesses)} real solutions obey; {note}"
        return len(solutions), COMPLETE, note, solutions


def _exact(value: Any) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def _doubles(values: Sequence[Any]) -> tuple[float, ...]:
    return tuple(nearest_double(v) for v in values)
