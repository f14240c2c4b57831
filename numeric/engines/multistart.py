"""Real solutions by many Newton runs: a rigorous lower bound where N is out of reach.

For large networks the generic root count, and hence a complete count, is out of reach.  Instead,
damped Newton (Levenberg-Marquardt, exact Jacobian) runs from many random real starts, one real path
is tracked from the teacher, and the endpoints are certified by Krawczyk's test.  Every
certified solution is real and distinct from the others, so the instance has at least
that many.  Finding none proves nothing.
The first paper's rule, "no new solution after so many starts", is a heuristic: the result
reports the number of starts and how many of them converged, and claims no completeness.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from algebra.errors import InputError
from algebra.problems.problem import Problem
from algebra.time_limits import check_time
from numeric.certification.pool import RealPool
from numeric.engines.base import PAPER_STARTS, SequentialEngine
from numeric.equations.arrays import residuals
from numeric.equations.chain import Chain, make_chain
from numeric.linalg.levenberg_marquardt import Damping, levenberg_marquardt
from numeric.tracking.tracker import DONE, TrackerSettings, track
from numeric.trials.counts import UNDETERMINED, InstanceCount, lower_bound
from numeric.trials.instances import Instance

_BATCH = 64
# Of the first batch these run alone if few solutions are enough: where many starts converge, the
# others would take most of the time.
_FIRST = 8
# Newton steps of a start.
_MOST_STEPS = 150
# Of large nets, where one solution is enough: the next batches, and after how many steps only so
# many starts, those of the smallest residuals, go on.  The first solution takes half of the work.
_RACING = 32
_RACE = ((20, 8), (60, 4), (300, 1))


def multistart_newton(
    instance: Instance,
    starts: int = PAPER_STARTS,
    *,
    chain: Chain | None = None,
    enough: int | None = None,
    seconds: float = float("inf"),
    pool: RealPool | None = None,
) -> InstanceCount:
    """Certified real solutions of one instance, from many starts.

    Parameters
    ----------
    instance : Instance
    starts : int, optional
        Random starts, Gaussian with the variance of the student's weights times a factor
        between 1/16 and 16 drawn for each start.
    chain : Chain, optional
        The allocation's chain, if it is already available.
    enough : int, optional
        Stop after this number of certified solutions (1 decides a match).
    seconds : float, optional
        No new batch of 64 starts begins after this processor time.
    pool : RealPool, optional
        Known solutions; new ones are added to it.

    Returns
    -------
    InstanceCount
        Status "undetermined": `real` is a lower bound, `paths` the number of starts and
        `certified` the number of solutions, all real.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> from algebra.problems.problem import Problem
    >>> from numeric.trials.instances import draw_instance
    >>> problem = Problem(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 1], [0, 0]]})
    >>> multistart_newton(draw_instance(problem, 0, 0), starts=20).real
    1
    """
    if starts < 0:
        raise InputError(f"`starts` ({starts}) must be at least 0")
    began = time.process_time()
    chain = chain or make_chain(instance.allocation, instance.problem.support)
    pool = RealPool(chain, instance, enough) if pool is None else pool
    parameters = chain.parameters(instance)
    from_teacher = 0

    def take_teacher() -> int:
        """Take the teacher's own weights, continued to the instance; the number of solutions."""
        before, end = len(pool), _from_teacher(chain, instance, parameters)
        if end is not None:
            pool.take(end[None])
        return len(pool) - before

    # The tapes of a path of a large net cost more than the first batch, which often suffices.
    some = 4 * _BATCH if chain.is_large else _BATCH
    teacher_at = 0 if enough is None or starts < some else some
    if not teacher_at:
        from_teacher = take_teacher()
    rng = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(instance.index, 0x3357)))
    scale = instance.spread
    done = converged = last_new = 0
    drawn = np.zeros((0, chain.unknowns))
    while done < starts and not pool.is_enough:
        check_time()
        if time.process_time() - began > seconds:
            break
        if done and done == teacher_at:
            from_teacher = take_teacher()
            if pool.is_enough:
                break
        if not len(drawn):
            size = min(_BATCH, starts - done)
            spread = 2.0 ** rng.uniform(-2.0, 2.0, (size, 1))
            drawn = rng.standard_normal((size, chain.unknowns)) * scale * spread
        if enough is not None and not done:
            size = _FIRST
        else:
            size = _RACING if enough == 1 and chain.is_large else len(drawn)
        first, drawn = drawn[:size], drawn[size:]
        size = len(first)
        ends, good = damped_newton(chain, parameters, first, first=enough == 1)
        converged += int(good.sum())
        before = len(pool)
        pool.take(ends[good])
        done += size
        if len(pool) > before:
            last_new = done
    note = _note(len(pool), from_teacher, converged, done, last_new)
    seconds = time.process_time() - began
    return lower_bound(instance.index, pool.solutions, note, paths=done, seconds=seconds)


def damped_newton(
    chain: Chain, parameters: np.ndarray, starts: np.ndarray, *, first: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Damped Newton from a batch of real starts.

    Parameters
    ----------
    chain : Chain
    parameters : ndarray of float
        A real parameter vector.
    starts : ndarray, shape (·, r)
    first : bool, optional
        Whether one solution is enough: the first start that has converged ends all others, and of
        large nets starts with large residuals are given up.

    Returns
    -------
    ends : ndarray, shape (·, r)
        Not those of starts that were given up.
    converged : ndarray of bool
        Whether the relative residual fell below 1e-10.
    """
    size = max(float(np.abs(parameters[chain.y_at :]).max()), 1e-300)
    for steps, kept in _RACE if first and chain.is_large else ((_MOST_STEPS, len(starts)),):
        runs = levenberg_marquardt(
            lambda w, _: residuals(chain, parameters, w), starts, steps,
            enough=(1e-15 * size) ** 2, damping=Damping(), first=first,
        )  # fmt: skip
        converged = np.sqrt(runs.cost) <= 1e-10 * size
        if converged.any():
            break
        starts = runs.ends[np.argsort(runs.cost)[:kept]]
    return runs.ends, converged


class LowerBoundEngine(SequentialEngine):
    """Lower bounds on the real solutions of instances; used if there is no root count.

    Parameters
    ----------
    problem : Problem
    enough : int, optional
        Stop after this number of certified solutions (1 decides a match); None for no limit.
    timeout : float, optional
        Seconds of processor time for one instance.
    reason : str, optional
        Why there is no root count, for the notes.

    Raises
    ------
    InputError
        If the system is not square or generically singular.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        enough: int | None = None,
        timeout: float = float("inf"),
        reason: str = "",
    ) -> None:
        self.chain = make_chain(problem.allocation, problem.support)
        self.enough = enough
        self.timeout = timeout
        self.reason = reason

    @abstractmethod
    def search(self, instance: Instance) -> InstanceCount:
        """The solutions found; raises InputError if the instance's samples are dependent."""

    def count(self, instance: Instance) -> InstanceCount:
        """A lower bound for one instance."""
        try:
            found = self.search(instance)
        except InputError as error:
            return InstanceCount(instance.index, None, None, UNDETERMINED, str(error))
        if self.reason:
            found = replace(found, note=f"{found.note}; {self.reason}")
        return found


class MultistartEngine(LowerBoundEngine):
    """Lower bounds by `multistart_newton`.

    Parameters
    ----------
    problem, **how
        As for `LowerBounds`.
    starts : int, optional
    """

    def __init__(self, problem: Problem, *, starts: int = PAPER_STARTS, **how: Any) -> None:
        super().__init__(problem, **how)
        self.starts = starts

    def search(self, instance: Instance) -> InstanceCount:
        """The solutions found by Newton runs."""
        return multistart_newton(
            instance, self.starts, chain=self.chain, enough=self.enough, seconds=self.timeout
        )


def _note(real: int, from_teacher: int, converged: int, done: int, last_new: int) -> str:
    """Text of the result; the paper's stopping rule is reported, but not used."""
    if not real:
        return f"no solution found, which proves nothing: {converged} of {done} starts converged"
    where = f"{converged} of {done} starts converged"
    if from_teacher and not last_new:
        return f"at least {real} real, from the teacher; {where}"
    since = f", no new one in the last {done - last_new}" if last_new < done else ""
    return f"at least {real} real: {where}{since}"


def _from_teacher(chain: Chain, instance: Instance, parameters: np.ndarray) -> np.ndarray | None:
    """Continue the teacher's own weights while the fixed ones move to the student's.

    The path is real; it may end early at a fold, which is not an error.
    """
    if instance.known_teacher is None:
        return None
    chosen = chain.independent_samples(instance.X)
    labels = chain.label_columns(instance.labels, chosen)
    first = chain.pack(instance.teacher, instance.X[:, chosen], labels)
    start = np.array([instance.teacher[name][i, j] for name, i, j in instance.allocation.cells])
    zero = np.zeros(1, np.int64)
    tracked = track(
        chain,
        first[None],
        parameters[None],
        zero,
        zero,
        start[None],
        TrackerSettings(most_steps=200),
    )
    return tracked.roots[0].real if tracked.status[0] == DONE else None
