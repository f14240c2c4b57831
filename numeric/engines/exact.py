"""Real solutions counted exactly: msolve over Q on the rational instance.

A drawn instance consists of doubles, which are rationals, and its labels are computed
without rounding; so the count is that of the same instance that every other engine counts.
The core (after exact elimination) is solved by msolve; its answer is proved and isolated in boxes
(`algebra.polynomials.msolve.solver`).  A single unknown needs no msolve.

This is also the engine for discrete laws and for overdetermined or special instances:
nothing generic is assumed.  If the number of complex solutions differs from the generic
one, the system is solved again without deferring blocks, so that no solution is missed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from flint import fmpz_poly

from algebra.arguments.minimal_polynomials import minimal_polynomials
from algebra.linalg.numbers import nearest_double
from algebra.polynomials.msolve.process import MsolveDied, MsolveFailed, MsolveTimeout
from algebra.polynomials.msolve.solver import real_roots
from algebra.polynomials.parametrization import Box, are_disjoint
from algebra.polynomials.real_roots import RealRoots, elementary_roots
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.systems.core import CoreSystem
from algebra.systems.enclosure import weight_boxes
from algebra.systems.instances import rational_core
from algebra.time_limits import check_time
from numeric.engines.base import Assignment, SequentialEngine
from numeric.engines.phcpy.floating_core import FloatingCore
from numeric.trials.count_result import CountResult
from numeric.trials.counts import COMPLETE, UNDETERMINED, InstanceCount, Reason
from numeric.trials.instances import Instance, lowered_instance

_NAME = "exact"
# Number of complex solutions beyond which a core is not solved again for minimal polynomials.
_MOST_COMPLEX = 40


def exact_core(instance: Instance, *, defer: bool = True) -> CoreSystem:
    """The core of an instance over the rationals, in the form with the smaller core."""
    allocation, samples = instance.allocation, instance.spanning_samples
    if samples is not None:
        fewer = allocation.network.with_samples(len(samples))
        allocation = Allocation(fewer, allocation.cells)
    weights, X, Y = instance.exact_on(samples)
    return rational_core(allocation, weights, X, Y, defer=defer)


def engine_of_dependent_labels(task: Assignment) -> ExactEngine | None:
    """The exact engine, if more labels are dependent than those that narrow layers leave out.

    Structural zeros do so.  Other engines follow paths, or certify solutions, of as many equations
    as unknowns; a solution of these might violate the others, which no enclosure excludes.
    """
    plan, network = task.plan, task.problem.network
    labels = network.d * network.columns
    if network.chain() is not None:
        # Loaded here: it needs compiled kernels.
        from numeric.equations.chain import laid_out

        labels = len(laid_out(plan.allocation).equations)
    if plan.equations >= labels:
        return None
    return ExactEngine(task.problem, plan.root_count, timeout=task.timeout)


def settled_by_elimination(core: CoreSystem, index: int) -> InstanceCount | None:
    """The count if exact elimination alone decides it; else None."""
    if not core.consistent:
        return InstanceCount(index, 0, 0, COMPLETE, "the linear equations contradict each other")
    if core.equations:
        return None
    if core.unknowns:
        if core.deferred:
            return None
        # An affine space of solutions over Q has real points.
        note = f"infinitely many solutions: {len(core.unknowns)} unknowns are free"
        return InstanceCount(index, 1, None, UNDETERMINED, note, certified=1)
    weights = core.back_substitute(())
    if weights is None:
        return None
    solution = tuple(nearest_double(w) for w in weights)
    box = tuple((x, x) for x in (Fraction(int(w.p), int(w.q)) for w in weights))
    return InstanceCount(
        index, 1, 1, COMPLETE, "linear, solved exactly", (solution,), (box,), certified=1
    )


class ExactEngine(SequentialEngine):
    """Counts real solutions exactly.

    Parameters
    ----------
    problem : Problem
    root_count : int or None
        The generic root count.  An instance with another number of complex solutions is not
        an error; it is solved again without generic assumptions.
    timeout : float, optional
        Seconds for one instance.
    """

    def __init__(
        self, problem: Problem, root_count: int | None = None, *, timeout: float = 600.0
    ) -> None:
        self.problem = problem
        self.root_count = root_count
        self.timeout = timeout

    def count(self, instance: Instance) -> InstanceCount:
        """All solutions of one instance."""
        start = time.perf_counter()
        check_time()
        core = exact_core(instance)
        found = settled_by_elimination(core, instance.index)
        if found is None:
            found = self._solve(instance, core)
        if found is None:
            core = exact_core(instance, defer=False)
            found = settled_by_elimination(core, instance.index)
            found = found or self._solve(instance, core, special=True)
        assert found is not None
        return replace(found, seconds=time.perf_counter() - start)

    def _solve(
        self, instance: Instance, core: CoreSystem, special: bool = False
    ) -> InstanceCount | None:
        """The count of a core; None if the core must be computed without deferred blocks."""
        index = instance.index
        generic = self.root_count
        if not core.equations and core.deferred:
            # The instance is special: a block is singular that is regular in generic instances.
            return None
        try:
            roots = real_roots(core.equations, timeout=max(1, round(self.timeout)))
        except (MsolveTimeout, MsolveFailed) as error:
            reason = Reason.LOST if isinstance(error, MsolveDied) else Reason.FAILED
            note = f"msolve: {error}"
            return InstanceCount(index, None, None, UNDETERMINED, note, reason=reason)
        if roots.status == "positive-dimensional" or (core.unknowns and not core.equations):
            note = "infinitely many complex solutions"
            return InstanceCount(index, None, None, UNDETERMINED, note) if special else None
        if core.deferred and roots.complex != generic:
            return None
        solutions = _weights(core, roots)
        if solutions is None:
            if core.deferred:
                return None
            solutions = ()
        doubt = count_contradiction(roots, generic, core.is_square)
        note = "" if roots.complex == generic or generic is None else "a special instance"
        return InstanceCount(
            index,
            len(roots.roots),
            roots.complex,
            UNDETERMINED if doubt else COMPLETE,
            doubt or note,
            solutions,
            weight_boxes(core, roots) or (),
            certified=roots.complex or 0,
        )


def weight_polynomials(found: CountResult) -> list[list[tuple[fmpz_poly, ...] | None]]:
    """For each count, the minimal polynomials over Q of the weights of each of its solutions.

    The core is solved again.  Its solutions are those of the count if each box of one set meets
    exactly one box of the other: boxes of one instance are disjoint, and each holds one solution.

    Parameters
    ----------
    found : CountResult
        A count that holds its instances or its problem.

    Returns
    -------
    list of list of tuple of fmpz_poly or None
        For each solution one polynomial for each learnable weight, in the allocation's order.  None
        if the count is not from this engine, or if its numbers are too long.
    """
    out: list[list[tuple[fmpz_poly, ...] | None]] = []
    for count in found.instances:
        own = None
        is_small = count.complex is not None and count.complex <= _MOST_COMPLEX
        if found.engine == _NAME and is_small and len(count.boxes) == len(count.solutions) > 0:
            own = _polynomials(found.instance(count), count.boxes)
        out.append([None] * len(count.solutions) if own is None else list(own))
    return out


def _polynomials(
    instance: Instance, boxes: Sequence[Box]
) -> tuple[tuple[fmpz_poly, ...], ...] | None:
    """Polynomials in the order of the boxes; None if they cannot be computed."""
    solved = lowered_instance(instance)
    for defer in (True, False):
        check_time()
        core = exact_core(solved, defer=defer)
        if not core.consistent:
            return None
        try:
            roots = real_roots(core.equations) if core.equations else elementary_roots([], (), 1)
        except (MsolveTimeout, MsolveFailed):
            return None
        if roots is None or len(core.unknowns) != len(roots.variables):
            continue
        again = weight_boxes(core, roots)
        if again is None:
            continue
        place = [
            [k for k, b in enumerate(map(solved.restored, again)) if not are_disjoint([a, b])]
            for a in boxes
        ]
        if sorted(place) != [[k] for k in range(len(again))]:
            continue
        polynomials = minimal_polynomials(core, roots)
        if polynomials is not None:
            return tuple(solved.restored(polynomials[k]) for [k] in place)
    return None


def count_contradiction(roots: RealRoots, generic: int | None, square: bool) -> str:
    """The contradiction in a count of finitely many solutions, or "".

    Non-real solutions of a system with real coefficients come in pairs, so the number of real
    solutions has the parity of the number of all distinct solutions.  And if generic instances
    have N solutions, an instance with finitely many solutions has at most N: near each of its
    distinct solutions there is a solution of every nearby instance.  (The second statement holds
    for square systems only: if there are more equations than unknowns, a special instance may have
    solutions although a generic one has none.)

    Parameters
    ----------
    roots : RealRoots
        Its status must not be "positive-dimensional".
    generic : int or None
        The generic root count N.
    square : bool
        Whether there are as many equations as unknowns.
    """
    count, real = roots.complex or 0, len(roots.roots)
    if real > count or (count - real) % 2:
        return f"msolve: {real} real of {count} complex solutions: an odd number is left"
    if square and generic and count > generic:
        return f"{count} complex solutions, more than the generic root count {generic}"
    return ""


def _weights(core: CoreSystem, roots: RealRoots) -> tuple[tuple[float, ...], ...] | None:
    """The learnable weights at the middle of each box, rounded."""
    rounded = FloatingCore(core)
    solutions = []
    for box in roots.roots:
        middle = np.array([nearest_double((low + high) / 2) for low, high in box])
        weights = rounded.weights(middle)
        if weights is None:
            return None
        solutions.append(tuple(float(w) for w in weights.real))
    return tuple(solutions)
