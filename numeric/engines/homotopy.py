"""Complete counts of real solutions by parameter homotopy.

The N roots of one random complex instance are known (`numeric.tracking.monodromy`).  For every
instance N paths are tracked from there; each endpoint is certified
(`numeric.certification.krawczyk`).
N certified distinct roots are all roots, so the number of real ones is exact.  If some
are missing, paths are tracked again: on detours around the point where they were lost, in high
precision from there, along other lines (`HomotopyEngine._retry`).  If roots are still missing then,
the count is "undetermined", never "none".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from flint import acb

from algebra.errors import InputError
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.problems.reduction import AsLinear, lowered
from algebra.time_limits import check_time
from numeric.certification.krawczyk import (
    FAILED,
    Certified,
    RootPool,
    Target,
    certify_instances,
    certify_roots,
    make_target,
    make_targets,
    mirror,
    partners,
)
from numeric.certification.krawczyk_balls import certify_exact
from numeric.certification.krawczyk_pairs import InputsTarget
from numeric.engines.base import Assignment, InstanceEngine
from numeric.engines.exact import ExactEngine, engine_of_dependent_labels
from numeric.engines.newton import NewtonEngine
from numeric.engines.search import SearchEngine
from numeric.equations.chain import Chain
from numeric.equations.inputs import InputsForm
from numeric.equations.program_system import make_system
from numeric.equations.system import ParameterSystem
from numeric.tracking.inputs.paired import StuckPath, finish_in_pairs
from numeric.tracking.inputs.precise import finish_inputs_path, weights_of_pairs
from numeric.tracking.monodromy import (
    GIVEN,
    INCOMPLETE,
    STABILISED,
    TRACE,
    StartSystem,
    find_start,
)
from numeric.tracking.monodromy_group import MonodromyGroup, monodromy_group, trivial_group
from numeric.tracking.precise import finish_chain_path
from numeric.tracking.start_cache import load_start, save_start
from numeric.tracking.tracker import DONE, Tracked, TrackerSettings, track
from numeric.trials.counts import COMPLETE, UNDETERMINED, InstanceCount, Reason, Solutions
from numeric.trials.instances import Instance

# Stuck paths that reached at least this t are finished in high precision, and at most this number
# of them in one attempt.
_NEAR_END = 0.9
_MOST_FINISHED = 12
# In the free inputs: the largest share of an instance's paths that is finished this way.
_MOST_MISSING = 0.2
# Attempts with unchanged settings: detours and other lines.
_CHEAP = 4
# The attempt before which stuck paths are finished in balls.  Other lines would be cheaper, but
# a root that is lost in pairs has a large condition at the instance itself.
_IN_BALLS = 2
# Radius of detours, relative to the distance to the nearer end.
_RADIUS = 0.4
# Paths in one batch: enough to fill the lanes, few enough for memory.
_BATCH_PATHS = 40_000
# Endpoints that are certified in one call, which cannot be ended.
_CERTIFIED = 512
_NO_PATHS = np.zeros(0, bool)


class HomotopyEngine:
    """Counts of all instances of one allocation.

    Parameters
    ----------
    problem : Problem
    allocation : Allocation, optional
        The allocation to count for, if the problem draws a new one for each trial.
    root_count : int or None
        The generic root count N, if it is known (exactly, from algebra).
    seed : int, optional
        Seed of the start system.
    cache : bool, optional
        Whether start systems are kept on disk.
    retries : int, optional
        Further attempts at an instance whose roots were not all found: detours, other lines,
        then higher precision.
    system : ParameterSystem, optional
        The equations, if they are not the labels' own; its first unknowns are the weights.
    enough : int, optional
        Number of real solutions from which missing ones are not searched further.

    Attributes
    ----------
    system : ParameterSystem
    start : StartSystem

    Raises
    ------
    InputError
        If the system is not square or generically singular, or `root_count` is too small.
    """

    def __init__(
        self,
        problem: Problem,
        allocation: Allocation | None = None,
        *,
        root_count: int | None,
        seed: int = 0,
        cache: bool = True,
        retries: int = 6,
        system: ParameterSystem | None = None,
        enough: int | None = None,
    ) -> None:
        self.problem = problem
        self.allocation = allocation or problem.allocation
        self.settings = TrackerSettings()
        self.seed = seed
        self.retries = retries
        self.enough = np.inf if enough is None else enough
        self.system = system or make_system(self.allocation, problem.support)
        self._inputs = self.system.free_inputs()
        start = load_start(self.system, seed, root_count) if cache else None
        if start is None:
            start = find_start(self.system, root_count, seed)
            if cache and start.source != INCOMPLETE:
                save_start(self.system, seed, start)
        self.start: StartSystem = start
        self.root_count = root_count if root_count is not None else start.root_count

    @property
    def chain(self) -> Chain:
        """The system of a linear network."""
        assert isinstance(self.system, Chain)
        return self.system

    def count_many(self, instances: Sequence[Instance]) -> list[InstanceCount]:
        """Real and complex solutions of instances.

        Parameters
        ----------
        instances : sequence of Instance
            All with this engine's allocation.

        Returns
        -------
        list of InstanceCount
            In the order of the instances.
        """
        for instance in instances:
            if instance.allocation != self.allocation:
                raise InputError(
                    f"instance {instance.index} has the allocation `{instance.allocation}`, "
                    f"this engine counts for `{self.allocation}`"
                )
        size = max(1, _BATCH_PATHS // max(1, self.start.root_count))
        out: list[InstanceCount] = []
        for at in range(0, len(instances), size):
            out += self._count(instances[at : at + size])
        return out

    def all_roots(self, instances: Sequence[Instance]) -> list[RootPool | None]:
        """All complex solutions of instances, certified; None if some were not found."""
        found: list[RootPool | None] = [None] * len(instances)
        for job in self._solve(instances)[0]:
            if self._result(job).status == COMPLETE:
                found[job.number] = job.pool
        return found

    def _count(self, instances: Sequence[Instance]) -> list[InstanceCount]:
        jobs, notes = self._solve(instances)
        done = {job.number: self._result(job) for job in jobs}
        for k, note in notes.items():
            done[k] = InstanceCount(instances[k].index, None, None, UNDETERMINED, note)
        return [done[k] for k in range(len(instances))]

    def _solve(self, instances: Sequence[Instance]) -> tuple[list[_InstanceRun], dict[int, str]]:
        """The runs of the instances, and the reason for each that was not begun, by its number."""
        jobs, notes = self._runs(instances)
        if not jobs:
            return jobs, notes
        everything = [np.arange(self.start.root_count)] * len(jobs)
        # N certified roots are all, so a path that jumps is noticed.  In the free inputs, which are
        # used near infinity, basins are too small for long steps.
        quick = self._inputs is None and self.start.source == GIVEN
        self._attempt(jobs, everything, self.settings.quick() if quick else self.settings)
        # With a form in free inputs the expensive attempts find nothing more.
        attempts = self.retries if self._inputs is None else min(self.retries, _CHEAP)
        for attempt in range(attempts):
            if attempt:
                self._finish_in_pairs(jobs)
            if attempt >= _IN_BALLS:
                self._finish_in_balls(jobs)
            jobs_left = [
                job
                for job in jobs
                if len(job.pool) < self.root_count and job.pool.real < self.enough
            ]
            if not jobs_left:
                break
            self._retry(jobs_left, attempt)
        return jobs, notes

    def _runs(self, instances: Sequence[Instance]) -> tuple[list[_InstanceRun], dict[int, str]]:
        """As `_solve`, before any path is tracked."""
        numbers = range(len(instances))
        try:
            return self._begun(instances, numbers), {}
        except (InputError, np.linalg.LinAlgError):
            # One of them: each alone.
            pass
        jobs: list[_InstanceRun] = []
        notes: dict[int, str] = {}
        for k in numbers:
            try:
                jobs += self._begun([instances[k]], [k])
            except InputError as error:
                notes[k] = str(error)
        return jobs, notes

    def _begun(self, instances: Sequence[Instance], numbers: Sequence[int]) -> list[_InstanceRun]:
        system = self.system
        chosen = system.independent_samples_of(instances)
        parameters = system.parameters_of(instances, chosen)
        known = zip(instances, chosen, parameters, numbers, strict=True)
        return [_InstanceRun(system, self._inputs, *own) for own in known]

    def _retry(self, jobs: Sequence[_InstanceRun], attempt: int) -> None:
        """Another attempt at instances with missing roots, the cheap ones first.

        First detours on either side for paths that were lost, then all paths along other lines,
        then the suspect paths with the states as unknowns and their ends in high precision.  In
        the free inputs, where stuck paths are finished in pairs before every attempt but the first
        and in balls before the third, the last two attempts are omitted.
        """
        careful = self.settings.careful()
        suspects = [np.flatnonzero(job.suspect) for job in jobs]
        everything = [np.arange(self.start.root_count)] * len(jobs)
        match attempt:
            case 0 | 1:
                self._attempt(jobs, suspects, self.settings, side=1 - 2 * attempt)
            case 2 | 3:
                self._attempt(jobs, everything, self.settings, turn=attempt)
            case 4:
                self._attempt(jobs, suspects, careful)
            case _:
                self._attempt(jobs, everything, careful, turn=attempt)

    def _attempt(
        self,
        jobs: Sequence[_InstanceRun],
        picks: Sequence[np.ndarray],
        settings: TrackerSettings,
        *,
        side: int = 0,
        turn: int = 0,
    ) -> None:
        """Track from the start system to all of these instances and certify the endpoints.

        Parameters
        ----------
        picks : sequence of ndarray of int
            For each instance the roots to start from.
        side : int, optional
            1 or −1 for a detour on that side of the point where each path was lost.
        turn : int, optional
            Seed of equivalent targets.
        """
        check_time()
        began = time.process_time()
        which = np.repeat(np.arange(len(jobs)), [len(pick) for pick in picks])
        roots = np.concatenate(picks)
        if not len(which):
            return
        via = None
        if side:
            lost = np.concatenate([job.lost[pick] for job, pick in zip(jobs, picks, strict=True)])
            via = detour(lost, _RADIUS * np.minimum(lost, 1 - lost), side)
        tracked = track(
            self.system,
            self.start.parameters[None],
            np.array([job.parameters for job in jobs]),
            np.zeros_like(which),
            which,
            self.start.roots[roots],
            settings,
            second_turn=np.full(len(jobs), turn),
            via=via,
        )
        if self._inputs is None and not any(job.paths for job in jobs):
            self._take_together(jobs, tracked, which)
        shared = (time.process_time() - began) / len(jobs)
        # A clock of CPU time is a call of the system: one for all, shared by the wall times.
        began, spent = time.process_time(), [time.perf_counter()]
        for k, job in enumerate(jobs):
            check_time()
            if len(job.pool) == self.root_count:
                spent.append(time.perf_counter())
                continue
            mine = which == k
            if job.paths:
                job.retried += int(mine.sum())
            else:
                job.paths = int(mine.sum())
            job.take(
                tracked.roots[mine], tracked.status[mine], self.root_count, tracked.reached[mine],
                None if self._inputs is None or settings.lifted else tracked.lifts[mine],
            )  # fmt: skip
            if settings.lifted:
                self._finish(job, turn, tracked, mine)
            elif self._inputs is not None and not side and not turn:
                job.stuck = {
                    int(roots[path]): StuckPath(float(tracked.reached[path]), tracked.lifts[path])
                    for path in np.flatnonzero(mine & (tracked.status != DONE))
                }
            elif side:
                job.detoured |= set(roots[mine & (tracked.status == DONE)].tolist())
            spent.append(time.perf_counter())
        factor = (time.process_time() - began) / max(spent[-1] - spent[0], 1e-9)
        for job, before, after in zip(jobs, spent, spent[1:], strict=False):
            job.seconds += shared + factor * (after - before)

    def _take_together(
        self, jobs: Sequence[_InstanceRun], tracked: Tracked, which: np.ndarray
    ) -> None:
        """Certify the first endpoints of instances all of whose paths arrived, in one call.

        Instances with fewer certified roots than N are left as they are.
        """
        first = np.searchsorted(which, np.arange(len(jobs) + 1))
        arrived = np.logical_and.reduceat(tracked.status == DONE, first[:-1])
        left = np.flatnonzero(arrived).tolist()
        size = max(1, _CERTIFIED // self.start.root_count)
        for at in range(0, len(left), size):
            check_time()
            some = left[at : at + size]
            targets = make_targets(
                self.system, [jobs[k].instance for k in some], [jobs[k].chosen for k in some]
            )
            ends = [tracked.roots[first[k] : first[k + 1]] for k in some]
            pools = certify_instances(self.system, targets, ends)
            for k, roots, pool in zip(some, ends, pools, strict=True):
                if pool is not None and len(pool) == self.root_count:
                    jobs[k].paths, jobs[k].pool = len(roots), pool

    def _finish(self, job: _InstanceRun, turn: int, tracked: Tracked, mine: np.ndarray) -> None:
        """Finish paths that are stuck near the end in high precision."""
        target = job.parameters
        if turn:
            target = self.system.turned(target, np.random.default_rng(turn))
        stuck = np.flatnonzero(mine & (tracked.status != DONE) & (tracked.reached > _NEAR_END))
        for path in stuck[np.argsort(-tracked.reached[stuck])][:_MOST_FINISHED]:
            if len(job.pool) >= self.root_count:
                break
            root = finish_chain_path(
                self.system,
                self.start.parameters,
                target,
                tracked.reached[path],
                tracked.roots[path],
                tracked.lifts[path],
            )
            if root is not None:
                job.take(root[None], np.array([DONE]), self.root_count, np.ones(1))

    def _left_to_finish(self, job: _InstanceRun) -> list[int]:
        """Stuck paths of the first attempt to finish, those that lead to missing roots first."""
        missing = self.root_count - len(job.pool)
        # If many are missing on a bad line, other attempts are cheaper.
        if not 0 < missing <= _MOST_MISSING * self.root_count:
            return []
        # First those that no detour finished, and among them those that were stuck early.
        left = sorted(job.stuck, key=lambda path: (path in job.detoured, job.stuck[path].t))
        return left[: 2 * missing]

    def _finish_in_pairs(self, jobs: Sequence[_InstanceRun]) -> None:
        """Finish stuck paths of all instances in pairs of doubles, each path once."""
        form = self._inputs
        if form is None:
            return
        chosen = [
            (job, path)
            for job in jobs
            for path in self._left_to_finish(job)
            if path not in job.tried
        ]
        if not chosen:
            return
        check_time()
        then = time.process_time()
        first = form.reduce(self.start.parameters).vector
        reached, high, low = finish_in_pairs(
            form, first, [(job.inputs_target.parameters, job.stuck[path]) for job, path in chosen]
        )
        shared = (time.process_time() - then) / len(chosen)
        for k, (job, path) in enumerate(chosen):
            job.retried += 1
            job.seconds += shared
            job.tried.add(path)
            if reached[k] == 1.0:
                if job.take_pairs(high[k], low[k], path):
                    del job.stuck[path]
            elif reached[k] > 0.0 and np.isfinite(high[k]).all():
                before = job.stuck[path]
                job.stuck[path] = StuckPath(
                    float(reached[k]), high[k], True, low[k], before.t, before
                )

    def _finish_in_balls(self, jobs: Sequence[_InstanceRun]) -> None:
        """Finish stuck paths one by one in balls, from the points where they were stuck."""
        form = self._inputs
        if form is None:
            return
        first = form.reduce(self.start.parameters).vector
        for job in jobs:
            for path in self._left_to_finish(job):
                check_time()
                if len(job.pool) >= self.root_count:
                    break
                then = time.process_time()
                point: StuckPath | None = job.stuck.pop(path)
                root = None
                # A point at the limit of pairs may be lost.
                while root is None and point is not None:
                    root = finish_inputs_path(
                        form, job.instance, first, job.inputs_target.at, *point[:5]
                    )
                    point = point.before
                job.retried += 1
                if root is not None:
                    job.take_exact(root, path)
                job.seconds += time.process_time() - then

    def _result(self, job: _InstanceRun) -> InstanceCount:
        pool = job.pool
        found = len(pool)
        if found > self.root_count:
            raise InputError(
                f"`root_count` ({self.root_count}) is too small: instance "
                f"{job.instance.index} has {found} certified distinct solutions"
            )
        proved = self.start.source in (GIVEN, TRACE)
        complete = proved and found == self.root_count
        weights = pool.roots[pool.is_real, : self.allocation.size]
        real = sorted(map(tuple, weights.real.tolist()))
        if complete and (found - len(real)) % 2:
            raise ArithmeticError("an odd number of non-real solutions: certification is wrong")
        note = "" if complete else f"{found} of {self.root_count} solutions found"
        if self.start.source == TRACE:
            note = "; ".join(part for part in (note, f"N by {TRACE}") if part)
        elif self.start.source == STABILISED:
            note = f"{found} solutions found; N is not known ({STABILISED} at {self.root_count})"
        elif self.start.source == INCOMPLETE:
            note += f"; the start system has {self.start.root_count}"
        return InstanceCount(
            index=job.instance.index,
            real=len(real),
            complex=found,
            status=COMPLETE if complete else UNDETERMINED,
            note=note,
            solutions=Solutions(real, self.allocation.cells),
            paths=job.paths,
            retried=job.retried,
            certified=found,
            seconds=job.seconds,
            reason=Reason.COUNTED_BY_TRACE if complete and self.start.source == TRACE else None,
        )


class _InstanceRun:
    """The state of the computation for one instance."""

    def __init__(
        self, system: ParameterSystem, form: InputsForm | None, instance: Instance,
        chosen: np.ndarray, parameters: np.ndarray, number: int,
    ) -> None:  # fmt: skip
        self.system = system
        self.form = form
        self.instance = instance
        self.number = number
        self.parameters = parameters
        self.chosen = chosen
        self.pool = RootPool(system)
        self.paths = self.retried = 0
        self.seconds = 0.0
        # Of the first attempt's paths: which may be wrong, and at which t in (0, 1) they were lost.
        self.suspect: np.ndarray = _NO_PATHS
        self.lost: np.ndarray = _NO_PATHS
        # The first attempt's stuck paths, by their roots of the start system.
        self.stuck: dict[int, StuckPath] = {}
        # Those that were followed in pairs of doubles.
        self.tried: set[int] = set()
        # Those among them that a detour finished.
        self.detoured: set[int] = set()

    @cached_property
    def target(self) -> Target:
        """The instance in its weights, in discs."""
        return make_target(self.system, self.instance, self.chosen)

    @cached_property
    def inputs_target(self) -> InputsTarget:
        """The instance in its free inputs, in pairs."""
        assert self.form is not None
        return InputsTarget(self.form, self.instance, self.form.reduce(self.parameters))

    def take(
        self, roots: np.ndarray, status: np.ndarray, wanted: int, reached: np.ndarray,
        unknowns: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        """Certify endpoints and pool the new ones; the first call records the suspect paths.

        Parameters
        ----------
        unknowns : ndarray of complex, shape (·, q), optional
            The endpoints in the free inputs.
        """
        arrived = status == DONE
        found = np.where(arrived[:, None], roots, np.nan)
        if unknowns is None or self.form is None:
            certified = _certify(
                found, lambda at: certify_roots(self.system, self.target, found[at])
            )
        else:
            inputs, target = unknowns[:, len(self.form.numbers) :], self.inputs_target
            certified = _certify(found, lambda at: target.certify(found[at], inputs[at]))
        new = self.pool.add(certified)
        uncertain = arrived & (certified.kind == FAILED)
        if len(self.pool) < wanted and uncertain.any():
            # Higher precision for roots that double precision could not decide.
            exact = certify_exact(self.system, self.instance, certified.roots[uncertain])
            new[uncertain] = self.pool.add(exact)
            for name in ("kind", "roots", "radii"):
                getattr(certified, name)[uncertain] = getattr(exact, name)
        if not len(self.suspect):
            # Two paths with one endpoint met at an unknown t: detours go around t = 0.5.
            self.lost = np.clip(np.where(arrived, 0.5, reached), 0.01, 0.999)
            suspect = ~arrived | (certified.kind == FAILED)
            # One of two paths that met is wrong.  Both are tracked again: it is unknown which.
            owners = self.pool.owners(certified)
            for path in np.flatnonzero(~new & (certified.kind != FAILED)):
                suspect |= owners == owners[path]
            self.suspect = suspect

    def take_pairs(self, high: np.ndarray, low: np.ndarray, path: int) -> bool:
        """Certify the endpoint of a path, given as pairs in the free inputs; whether it is."""
        assert self.form is not None
        found = self.inputs_target.certify_pairs(high[None], low[None])
        if found.kind[0] == FAILED:
            at = self.inputs_target.at
            weights = weights_of_pairs(self.form, self.instance, at, high, low)
            return weights is not None and self.take_exact(weights, path)
        self.pool.add(found)
        self.suspect[path] = False
        return True

    def take_exact(self, root: list[acb], path: int) -> bool:
        """Certify the endpoint, given in balls, of the path from a root of the start system."""
        found = certify_exact(self.system, self.instance, [root])
        if found.kind[0] != FAILED:
            self.pool.add(found)
            self.suspect[path] = False
        return bool(found.kind[0] != FAILED)


def group_of_solutions(problem: Problem, root_count: int, source: str, seed: int) -> MonodromyGroup:
    """The monodromy group of a problem's N solutions.

    Parameters
    ----------
    problem : Problem
        A problem of a linear network, with as many learnable weights as equations.
    root_count : int
        N.
    source : str
        The source of N.
    seed : int
        Seed of the start system and of the loops.

    Raises
    ------
    InputError
        If the network is not linear, or if some of the N solutions were not found.
    """
    reduction, network = lowered(problem), problem.network
    if isinstance(reduction, AsLinear):
        problem = reduction.problem
    if problem.network.chain() is None:
        # The data of other networks form a subset of the space in which paths are tracked.
        raise InputError(
            f"`problem` (a {network.title} network) must be a linear network for a monodromy group"
        )
    if root_count == 1:
        return trivial_group(source)
    solver = HomotopyEngine(problem, root_count=root_count, seed=seed)
    start = solver.start
    if start.source == INCOMPLETE:
        raise InputError(
            f"only {start.root_count} of {root_count} solutions of a random instance were found: "
            "no monodromy group; try another `seed`"
        )
    return monodromy_group(solver.system, start, source, seed=seed)


def _certify(roots: np.ndarray, certify: Callable[[np.ndarray], Certified]) -> Certified:
    """Certify endpoints, one of each conjugate pair: the other is its mirror image.

    `certify` tests those with the given indices.
    """
    partner = partners(roots, np.array([0, len(roots)]))
    alone = partner < 0
    tested = certify(np.flatnonzero(alone))
    out = Certified(np.full(len(roots), FAILED), roots.copy(), np.full(roots.shape, np.inf))
    out.kind[alone], out.roots[alone], out.radii[alone] = tested.kind, tested.roots, tested.radii
    mirror(out, partner)
    return out


def engine_with_roots(task: Assignment) -> InstanceEngine:
    """The tracker of all N solutions; another engine where N is 1 or not known."""
    plan, network = task.plan, task.problem.network
    is_chain = network.chain() is not None
    exact = engine_of_dependent_labels(task)
    if exact is not None:
        return exact
    if plan.root_count is None and plan.allocation.size == plan.equations:
        # Neither a Gröbner basis nor monodromy finished: there are too many paths to track.
        # Only a lower bound is possible; every count says so.
        reason = (
            f"N could not be computed ({plan.source}); the engine multistart gives lower bounds "
            "without N"
        )
        if not is_chain:
            return NewtonEngine(task.problem, None, enough=task.enough, timeout=task.timeout)
        return SearchEngine(task.problem, enough=task.enough, timeout=task.timeout, reason=reason)
    # If N = 1 was found numerically msolve may be missing; the tracker does not need it.
    if plan.root_count == 1 and not plan.is_numerical:
        # Exact arithmetic: a single solution is rational in the data.
        return ExactEngine(task.problem, plan.root_count)
    return HomotopyEngine(task.problem, root_count=plan.root_count)


def detour(at: np.ndarray, radius: np.ndarray, side: int) -> np.ndarray:
    """Corners of polygons from t = 0 to 1 that pass the real values `at` at a distance.

    Near a singular instance (a double root, roots near infinity) a line is replaced by a small
    half circle of complex t.  A loop around the singular point permutes the roots that are singular
    there among themselves, and fixes all others; so paths that all pass it on the same side arrive
    at the same *set* of roots as on the straight line.

    Parameters
    ----------
    at : ndarray of float, shape (·,)
        Singular values of t, in (0, 1).
    radius : ndarray of float, shape (·,)
        Distances to keep, less than both `at` and 1 − `at`.
    side : int
        1 or −1: on which side of the line.

    Returns
    -------
    ndarray of complex, shape (4, ·)
        Half a hexagon around each value.
    """
    turns = np.exp(1j * np.pi * np.array([3, 2, 1, 0]) / 3)
    return at + np.multiply.outer(turns if side > 0 else turns.conj(), radius)
