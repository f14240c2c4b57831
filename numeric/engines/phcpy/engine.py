"""Real solutions counted by phcpy: the reference engine.

Where a net has more than a few solutions and a form whose coefficients are free, PHCpack's path
tracker follows all of them from known ones (`numeric.engines.phcpy.paths`).  Else the core of each
instance (after exact elimination) is solved by PHCpack's blackbox solver in
a worker process.  If there are more equations than unknowns (labels that are not independent) it
solves random combinations of them, and roots that violate an equation are removed.  Its answer is
used only if it is complete: exactly as many distinct regular roots as the generic root count, each
clearly real or clearly non-real, and each real one confirmed by an evaluation of the network with
its weights.  Otherwise the system is solved again with other random numbers and in higher
precision and, if that fails too, the count is undetermined.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from flint import fmpq

from algebra.problems.problem import Problem
from algebra.systems.core import CoreSystem
from algebra.time_limits import check_time, time_left
from algebra.workers import ChildError
from numeric.engines.base import SequentialEngine
from numeric.engines.exact import exact_core, settled_by_elimination
from numeric.engines.phcpy.floating_core import FloatingCore
from numeric.engines.phcpy.paths import PhcpyPaths
from numeric.engines.phcpy.process import PhcpyCrashed, PhcpyError, PhcpyProcess
from numeric.engines.phcpy.solutions import PhcpyResult
from numeric.engines.phcpy.systems import Terms, backward_errors
from numeric.trials.counts import COMPLETE, UNDETERMINED, InstanceCount, Reason
from numeric.trials.instances import Instance

# Relative size of imaginary parts: real below the first bound, non-real above the second.
REAL_BELOW = 1e-9
NONREAL_ABOVE = 1e-6
# Largest root count for which the blackbox solver is preferred: it needs no start system.
_FEW = 6
# A lost root is found more often by other random numbers than by higher precision.
_ATTEMPTS = ("d", "d", "d", "dd")
# Largest number of workers that may crash on the same system.
_MOST_CRASHES = 3
# Backward error in equations that PHCpack did not solve: a solution below the first bound, none
# above the second.
SOLVES_BELOW = 1e-9
MISSES_ABOVE = 1e-5
# Residual of a real solution in the network, relative to the largest label.
RESIDUAL = 1e-6


class PhcpyEngine(SequentialEngine):
    """Counts the real solutions of instances with PHCpack.

    Parameters
    ----------
    problem : Problem
    root_count : int or None
        The generic root count.  If it is None, a count is complete only if it equals
        the core's Bézout bound.
    timeout : float, optional
        Seconds for one call of PHCpack.
    process : PhcpyProcess, optional
        A worker to share.

    Notes
    -----
    A context manager: the worker ends with it.
    """

    def __init__(
        self,
        problem: Problem,
        root_count: int | None,
        *,
        timeout: float = 600.0,
        process: PhcpyProcess | None = None,
    ) -> None:
        self.problem = problem
        self.root_count = root_count
        self.timeout = timeout
        self._process = process or PhcpyProcess()

    @cached_property
    def _paths(self) -> PhcpyPaths | None:
        """The path tracker, if it is used."""
        if self.root_count is None or self.root_count <= _FEW:
            return None
        return PhcpyPaths.of(self.problem, self.root_count, self._process, self.timeout)

    def __enter__(self) -> PhcpyEngine:
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.close()

    def prepare(self) -> None:
        """Start the worker, so that a missing phcpy is reported before any work is done."""
        self._process.start()

    def count(self, instance: Instance) -> InstanceCount:
        """All solutions of one instance."""
        start = time.perf_counter()
        if self._paths is not None:
            try:
                found = self._paths.count(instance)
            except PhcpyError as error:
                found = _not_solved(instance, error)
            return replace(found, seconds=time.perf_counter() - start)
        core = exact_core(instance)
        settled = settled_by_elimination(core, instance.index)
        if settled is not None:
            return replace(settled, seconds=time.perf_counter() - start)
        if not core.equations:
            note = "a linear block is singular in this instance (use the engine exact)"
            return InstanceCount(instance.index, None, None, UNDETERMINED, note)
        extra = len(core.equations) - len(core.unknowns)
        if extra < 0 or (extra > 0 and not self.root_count):
            note = f"{len(core.equations)} equations in {len(core.unknowns)} unknowns: not square"
            return InstanceCount(instance.index, None, None, UNDETERMINED, note)
        expected = self.root_count if self.root_count is not None else core.bezout
        rounded = FloatingCore(core)
        square = FloatingCore(squared_up(core, instance.index)) if extra else rounded
        best = InstanceCount(instance.index, None, None, UNDETERMINED)
        for attempt, precision in enumerate(_ATTEMPTS):
            found = self._attempt(instance, square, expected, precision, attempt, rounded.terms)
            found = replace(found, retried=attempt, seconds=time.perf_counter() - start)
            if found.status == COMPLETE:
                return found
            if (found.complex or 0) >= (best.complex or 0):
                best = found
            if found.complex is None:
                break  # the worker crashed or its time was over: more precision takes longer
        return best

    def _attempt(
        self,
        instance: Instance,
        core: FloatingCore,
        expected: int,
        precision: str,
        seed: int,
        equations: Sequence[Terms],
    ) -> InstanceCount:
        for crashes in range(1, _MOST_CRASHES + 1):
            check_time()
            try:
                result = self._process.solve(
                    core.terms,
                    list(core.core.unknowns),
                    timeout=time_left(self.timeout) or 1e-3,
                    seed=instance.index + 7919 * seed,
                    precision=precision,
                )
                break
            except PhcpyError as error:
                # The next call starts a new worker, which gives the same answer to the digit.
                if isinstance(error, PhcpyCrashed) and crashes < _MOST_CRASHES:
                    continue
                return _not_solved(instance, error, crashes)
        what = "generic root count" if self.root_count is not None else "Bézout bound"
        return audited_count(instance, result, core.weights, expected, what, equations)


def _not_solved(instance: Instance, error: ChildError, crashes: int = 1) -> InstanceCount:
    """The count of an instance that a worker did not solve."""
    note = f"phcpy: {error}"
    if isinstance(error, PhcpyCrashed):
        note += f", {crashes} times" * (crashes > 1)
        return InstanceCount(instance.index, None, None, UNDETERMINED, note, reason=Reason.LOST)
    check_time()  # raises if the whole call's time is over, not only this instance's
    return InstanceCount(instance.index, None, None, UNDETERMINED, note)


def squared_up(core: CoreSystem, seed: int) -> CoreSystem:
    """A core with as many equations as unknowns: random combinations of the given equations.

    Random multiples of the surplus equations are added to the others.  Simple solutions of all
    equations are simple roots of generic combinations [1]_; the combinations have further roots,
    which violate the surplus equations.

    References
    ----------
    .. [1] A. J. Sommese, C. W. Wampler, "The Numerical Solution of Systems of Polynomials", World
       Scientific 2005, section 13.5.
    """
    # The equations of least degree are kept unchanged, as far as possible.
    order = sorted(range(len(core.equations)), key=lambda k: core.degrees[k])
    scaled = []
    for k in order:
        largest = max(abs(c) for c in core.equations[k].to_dict().values())
        scaled.append(core.equations[k] * (1 / largest))
    size, rng = len(core.unknowns), random.Random(f"squared/{seed}")
    mixed = []
    for e in scaled[:size]:
        for other in scaled[size:]:
            e = e + other * fmpq(rng.choice((-1, 1)) * rng.randint(64, 255), 128)
        mixed.append(e)
    return replace(core, equations=tuple(mixed))


def audited_count(
    instance: Instance,
    result: PhcpyResult,
    weights_of: Callable[[np.ndarray], np.ndarray | None],
    expected: int,
    what: str = "generic root count",
    equations: Sequence[Terms] = (),
) -> InstanceCount:
    """A count from PHCpack's answer; complete only if nothing is doubtful.

    Parameters
    ----------
    instance : Instance
    result : PhcpyResult
    weights_of : callable
        From a root's real part to the learnable weights, or None if there are none.
    expected : int
        The required number of distinct roots.
    what : str, optional
        The source of that number.
    equations : sequence of terms, optional
        All equations, of which PHCpack may have solved combinations: roots that clearly violate one
        are dropped.
    """
    index, roots = instance.index, result.roots
    real, unclear = [], 0
    if len(equations) > roots.shape[1]:
        missed = backward_errors(equations, roots)
        unclear = int(((missed > SOLVES_BELOW) & (missed <= MISSES_ABOVE)).sum())
        roots = roots[missed <= MISSES_ABOVE]
    for root in roots:
        size = max(1.0, float(np.abs(root).max()))
        imaginary = float(np.abs(root.imag).max()) / size
        if imaginary > NONREAL_ABOVE:
            continue
        weights = weights_of(root.real)
        if imaginary > REAL_BELOW or weights is None or not _confirmed(instance, weights):
            unclear += 1
            continue
        real.append(tuple(float(w) for w in weights.real))
    found = InstanceCount(
        index,
        len(real),
        len(roots),
        UNDETERMINED,
        solutions=tuple(real),
        paths=len(result.solutions),
    )
    if len(roots) != expected:
        return replace(found, note=f"{len(roots)} of {expected} roots ({what})")
    if unclear:
        return replace(
            found, note=f"{unclear} roots that are neither clearly real solutions nor clearly not"
        )
    if (expected - len(real)) % 2:
        return replace(found, note="an odd number of non-real roots: some are classified wrongly")
    return replace(found, status=COMPLETE)


def _confirmed(instance: Instance, weights: np.ndarray) -> bool:
    """Whether real weights reproduce the labels."""
    return instance.residual(instance.with_weights(weights.real)) < RESIDUAL
