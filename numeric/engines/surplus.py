"""More weights than equations: whether an instance has a real student at all.

The students of an instance form a variety of positive dimension.  Two steps decide:

* **A search.**  Damped Gauss–Newton steps in all weights lead from a few starts to a student w near
  which a real one is certified: of the equations of `numeric.equations.critical` with the point
  a = w, (w, 0) is an approximate solution, and Krawczyk's test proves a real one near it.
* **All critical points** of the distance from the drawn weights, C in number, by paths from those
  of a complex instance (`numeric.engines.homotopy`).  If one is real the instance has a
  student, and the nearest of them is the student nearest to the drawn weights; if all C are
  certified and none is real there is no student.

If C is odd every instance has a student.  C is counted modulo primes
(`algebra.arguments.critical_points`), or else by monodromy and a trace test.  If it
is not known, or some critical points were not found, an instance without a found student is
undetermined.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from algebra.arguments.critical_points import number_of_critical_points
from algebra.problems.problem import Problem
from algebra.systems.root_count import RootCountError
from algebra.time_limits import check_time
from algebra.words import plural
from numeric.certification.krawczyk import certify_instances, make_targets
from numeric.engines.base import Assignment
from numeric.engines.homotopy import HomotopyEngine
from numeric.equations.chain import Chain
from numeric.equations.critical import CriticalSystem, make_critical_system
from numeric.linalg.levenberg_marquardt import Damping, levenberg_marquardt
from numeric.tracking.root_count import complete_solutions
from numeric.trials.counts import COMPLETE, UNDETERMINED, InstanceCount, Reason
from numeric.trials.instances import Instance
from numeric.trials.streams import stream

# With at most this number of critical points their paths are followed at once.
_FEW = 12
# Starts of each round of the search; the first start is at the drawn weights.
_ROUNDS = (1, 3, 12)
# Half of the random starts, on average, are larger by this factor.
_REACH = 4.0
_STEPS = 60
# Sum of squares of the relative errors at which a start is done.
_ENOUGH = 1e-24
# Starts in one batch.
_BATCH = 2_000
# With more critical points their paths take minutes for one instance.
MOST_POINTS = 3_000
# Seconds for a count modulo one prime, which a trace test may follow.
_BASIS_SECONDS = 10.0


class SurplusEngine:
    """Whether instances of a linear network with more weights than equations have a student.

    Parameters
    ----------
    task : Assignment
        Its problem has the whole allocation.

    Attributes
    ----------
    system : CriticalSystem
    points : int or None
        The number C of critical points; None if it is not known.
    """

    def __init__(self, task: Assignment) -> None:
        self.problem: Problem = task.problem
        self._certify, self._timeout = task.certify, task.timeout
        self.system: CriticalSystem = make_critical_system(
            task.problem.allocation, task.problem.support
        )
        self._root_timeout = task.root_timeout
        seconds = min(_BASIS_SECONDS, self._root_timeout)
        plain = Problem(task.problem.network, task.problem.learnable, task.problem.support)
        found = number_of_critical_points(plain, task.plan.equations, 0, seconds)
        self.points = None if found is None else found.number
        self._by_trace, self._why = False, ""
        self._paths: HomotopyEngine | None = None

    def count_many(self, instances: Sequence[Instance]) -> list[InstanceCount]:
        """Whether the instances have a student, in their order."""
        if self._certify and self.points is not None and self.points % 2:
            note = (
                f"certified maximal: {self.points} critical points of the distance, an odd number"
            )
            return [
                InstanceCount(i.index, 1, None, UNDETERMINED, note, reason=Reason.SETTLED_MAXIMAL)
                for i in instances
            ]
        found: dict[int, InstanceCount] = {}
        if self.points is None or self.points > _FEW:
            found = self._searched(instances)
        left = [k for k in range(len(instances)) if k not in found]
        if left:
            counts = self._followed([instances[k] for k in left])
            found.update(zip(left, counts, strict=True))
        return [found[k] for k in range(len(instances))]

    # -- the search ------------------------------------------------------------------------------

    def _searched(self, instances: Sequence[Instance]) -> dict[int, InstanceCount]:
        """The instances, by their numbers, of which a student was found."""
        began, base = time.process_time(), self.system.base
        found: dict[int, tuple[float, ...]] = {}
        chosen = self.system.independent_samples_of(instances)
        parameters = base.parameters_of(instances, chosen)
        first = 0
        for starts in _ROUNDS:
            left = [k for k in range(len(instances)) if k not in found]
            most = max(1, _BATCH // starts)
            for at in range(0, len(left), most):
                check_time()
                some = left[at : at + most]
                tried = [instances[k] for k in some]
                ends = _ends(base, parameters[some], tried, first, starts)
                own = [chosen[k] for k in some]
                for k, w in zip(some, self._certified(tried, own, ends), strict=True):
                    if w is not None:
                        found[k] = w
            first += starts
        seconds = (time.process_time() - began) / len(instances)
        return {
            k: InstanceCount(
                instances[k].index, 1, None, UNDETERMINED, "a certified student", (w,),
                certified=1, seconds=seconds, reason=Reason.FOUND_ONE,
            )
            for k, w in found.items()
        }  # fmt: skip

    def _certified(
        self, instances: Sequence[Instance], chosen: Sequence[np.ndarray], ends: np.ndarray
    ) -> list[tuple[float, ...] | None]:
        """For each instance a certified real student near one of its ends (·, starts, r)."""
        out: list[tuple[float, ...] | None] = [None] * len(instances)
        nothing = np.zeros(self.system.labels)
        for turn in range(ends.shape[1]):
            open_ = [k for k, w in enumerate(out) if w is None and np.isfinite(ends[k, turn]).all()]
            if not open_:
                continue
            moved = [
                replace(instances[k], weights=instances[k].with_weights(ends[k, turn]))
                for k in open_
            ]
            targets = make_targets(self.system, moved, [chosen[k] for k in open_])
            roots = [np.concatenate([ends[k, turn], nothing])[None] for k in open_]
            pools = certify_instances(self.system, targets, roots)
            for k, pool in zip(open_, pools, strict=True):
                if pool is not None and pool.real:
                    weights = pool.roots[0, : self.system.allocation.size]
                    out[k] = tuple(weights.real.tolist())
        return out

    # -- all critical points ---------------------------------------------------------------------

    def _followed(self, instances: Sequence[Instance]) -> list[InstanceCount]:
        """The instances decided by all critical points, as far as these are found."""
        engine = self._engine()
        if engine is None:
            note = f"no student found, which proves nothing; {self._why}"
            return [
                InstanceCount(i.index, None, None, UNDETERMINED, note, reason=Reason.SEARCHED)
                for i in instances
            ]
        counts = engine.count_many(instances)
        return [self._decided(*pair) for pair in zip(counts, instances, strict=True)]

    def _engine(self) -> HomotopyEngine | None:
        """The tracker of all critical points; None if their number is not known or too large."""
        if self._paths is None and not self._why:
            if self.points is None:
                try:
                    counted = complete_solutions(
                        self.system,
                        timeout=self._root_timeout,
                        most_roots=MOST_POINTS,
                        most_points=2 * MOST_POINTS,
                    )
                    self.points, self._by_trace = counted.root_count, True
                except RootCountError as error:
                    self._why = f"the critical points of the distance were not counted: {error}"
            elif self.points > MOST_POINTS:
                self._why = f"{self.points} critical points of the distance are too many to follow"
            if not self._why:
                self._paths = HomotopyEngine(
                    self.problem, root_count=self.points, system=self.system, enough=1
                )
        return self._paths

    def _decided(self, count: InstanceCount, instance: Instance) -> InstanceCount:
        """The count of an instance from that of its critical points."""
        number = plural(self.points or 0, f"{self.points} critical point")
        if count.real:
            # Students form families: their number has no meaning.
            note = "a real critical point of the distance, certified"
            change = np.linalg.norm(np.array(count.solutions) - instance.before, axis=1)
            return replace(
                count, real=1, complex=None, status=UNDETERMINED, note=note,
                solutions=(count.solutions[int(np.argmin(change))],), reason=Reason.FOUND_ONE,
            )  # fmt: skip
        if count.status == COMPLETE:
            note = f"{number} of the distance, certified, none of them real"
            reason = Reason.COUNTED_BY_TRACE if self._by_trace else Reason.COUNTED
            return replace(count, note=note, complex=None, reason=reason)
        found = f"{count.complex or 0} of {number} of the distance found, none of them real"
        return replace(count, real=None, complex=None, note=found, reason=Reason.FAILED)


def _ends(
    base: Chain, parameters: np.ndarray, instances: Sequence[Instance], first: int, starts: int
) -> np.ndarray:
    """Ends (·, starts, r) of damped steps of each instance, the smallest first; NaN for none."""
    points = np.concatenate([_starts(instance)[first : first + starts] for instance in instances])
    which = np.repeat(np.arange(len(instances)), starts)
    size = np.abs(parameters[:, base.y_at :]).max(axis=1)[which]
    runs = levenberg_marquardt(
        lambda w, at: base.residuals(parameters[which[at]], w), points, _STEPS,
        enough=_ENOUGH * size**2, damping=Damping(),
    )  # fmt: skip
    done = runs.cost <= 1e4 * _ENOUGH * size**2
    ends = np.where(done[:, None], runs.ends, np.nan).reshape(len(instances), starts, -1)
    sizes = np.linalg.norm(ends, axis=2)
    order = np.argsort(np.where(np.isfinite(sizes), sizes, np.inf), axis=1, kind="stable")
    return np.take_along_axis(ends, order[:, :, None], axis=1)


def _starts(instance: Instance) -> np.ndarray:
    """The starts of all rounds: the drawn weights, then normal ones."""
    rng, number = stream(instance.seed, instance.index, "search"), sum(_ROUNDS)
    starts = rng.standard_normal((number, len(instance.before))) * instance.spread
    starts *= rng.choice([1.0, _REACH], (number, 1))
    starts[0] = instance.before
    return starts
