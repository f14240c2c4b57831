"""Complete counts of real solutions by parameter homotopy.

The N roots of one random complex instance are known (`numeric.monodromy`).  For every
instance N paths are followed from there; each endpoint is certified (`numeric.krawczyk`).
N certified distinct roots are all of them, so the number of real ones is exact.  Where some
are missing, paths are tracked again with more care and along other ways through parameter
space; what is then still missing makes the count "undetermined", never "none".
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from algebra.allocation import Allocation
from algebra.errors import InputError
from algebra.problem import Problem
from numeric.chain import Chain, make_chain
from numeric.counts import COMPLETE, UNDETERMINED, InstanceCount
from numeric.instances import Instance
from numeric.krawczyk import FAILED, Certified, RootPool, Target, certify, make_target
from numeric.krawczyk_exact import certify_exact
from numeric.monodromy import INCOMPLETE, StartSystem, find_start
from numeric.start_cache import load_start, save_start
from numeric.tracker import DONE, Settings, Tracked, track

_DETOURS = 3
# Instances in one batch: enough to fill the lanes, few enough for the memory of 10^5 paths.
_BATCH_PATHS = 40_000


class HomotopyEngine:
    """Counts of all instances of one allocation.

    Parameters
    ----------
    problem : Problem
    allocation : Allocation, optional
        Where the problem's is drawn anew for each trial: the one to count for.
    root_count : int or None
        The generic root count N, where it is known (exactly, from algebra).
    seed : int, optional
        Of the start system.
    cache : bool, optional
        Whether start systems are kept on disk.
    settings : Settings, optional
        Of the tracker.
    threads : int, optional
        Threads for the search of the start system.

    Attributes
    ----------
    chain : Chain
    start : StartSystem

    Raises
    ------
    InputError
        Where the system is not square or generically singular, or `root_count` too small.
    """

    def __init__(
        self,
        problem: Problem,
        allocation: Allocation | None = None,
        *,
        root_count: int | None,
        seed: int = 0,
        cache: bool = True,
        settings: Settings | None = None,
        threads: int = 1,
    ) -> None:
        self.problem = problem
        self.allocation = allocation or problem.allocation
        self.settings = settings or Settings(most_steps=400)
        self.seed = seed
        self.chain: Chain = make_chain(self.allocation, problem.support)
        start = load_start(self.chain, seed, root_count) if cache else None
        if start is None:
            start = find_start(self.chain, root_count, seed, threads=threads)
            if cache and start.source != INCOMPLETE:
                save_start(self.chain, seed, start)
        self.start: StartSystem = start
        self.root_count = root_count if root_count is not None else start.root_count

    def count(
        self, instances: Sequence[Instance], *, threads: int = 1
    ) -> list[InstanceCount]:
        """Real and complex solutions of instances.

        Parameters
        ----------
        instances : sequence of Instance
            All of this engine's allocation.
        threads : int, optional

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
            out += self._count(instances[at : at + size], threads)
        return out

    def _count(self, instances: Sequence[Instance], threads: int) -> list[InstanceCount]:
        began = time.process_time()
        N = self.start.root_count
        jobs: list[_Job] = []
        notes: dict[int, str] = {}
        for k, instance in enumerate(instances):
            try:
                jobs.append(_Job(self.chain, instance, k))
            except InputError as error:
                notes[k] = str(error)
        if jobs:
            ends = np.array([job.parameters for job in jobs])
            which = np.repeat(np.arange(len(jobs)), N)
            tracked = self._run(
                self.start.parameters[None], ends, 0 * which, which,
                np.tile(self.start.roots, (len(jobs), 1)), self.settings, threads,
            )  # fmt: skip
            shared = (time.process_time() - began) / len(jobs)
            for k, job in enumerate(jobs):
                job.seconds = shared
                job.paths = N
                job.take(tracked.roots[which == k], tracked.status[which == k])
        for job in jobs:
            if len(job.pool) < self.root_count:
                then = time.process_time()
                self._again(job)
                job.seconds += time.process_time() - then
        done = {job.number: self._result(job) for job in jobs}
        for k, note in notes.items():
            done[k] = InstanceCount(instances[k].index, None, None, UNDETERMINED, note)
        return [done[k] for k in range(len(instances))]

    def _run(
        self, first: np.ndarray, second: np.ndarray, first_of: np.ndarray, second_of: np.ndarray,
        starts: np.ndarray, settings: Settings, threads: int = 1,
    ) -> Tracked:  # fmt: skip
        return track(self.chain, first, second, first_of, second_of, starts, settings, threads)

    def _again(self, job: _Job) -> None:
        """Everything that may still find the missing roots, cheapest first."""
        roots, status = job.roots, job.status
        careful = self.settings.careful()
        # 1. Paths that failed, and whose endpoints are not certified or not new.
        suspects = np.flatnonzero(job.suspect)
        if len(suspects):
            zero = np.zeros(len(suspects), np.int64)
            tracked = self._run(
                self.start.parameters[None], job.parameters[None], zero, zero,
                self.start.roots[suspects], careful,
            )  # fmt: skip
            job.retried += len(suspects)
            job.take(tracked.roots, tracked.status)
            roots = np.vstack([roots, tracked.roots])
            status = np.append(status, tracked.status)
        # 2. Certify in higher precision what arrived but is not certified.
        if len(job.pool) < self.root_count:
            job.take_exact(roots[status == DONE])
        # 3. Other ways through parameter space.
        rng = np.random.default_rng(
            np.random.SeedSequence(self.seed, spawn_key=(job.instance.index, 0xD37))
        )
        for _ in range(_DETOURS):
            if len(job.pool) >= self.root_count:
                break
            middle = self.chain.random(rng)[0]
            zero = np.zeros(self.start.root_count, np.int64)
            first = self._run(
                self.start.parameters[None], middle[None], zero, zero, self.start.roots, careful
            )
            arrived = first.roots[first.status == DONE]
            zero = np.zeros(len(arrived), np.int64)
            second = self._run(
                middle[None], job.parameters[None], zero, zero, arrived, careful
            )
            job.retried += len(arrived)
            job.take(second.roots, second.status)
            if len(job.pool) < self.root_count:
                job.take_exact(second.roots[second.status == DONE])

    def _result(self, job: _Job) -> InstanceCount:
        pool = job.pool
        found = len(pool)
        if found > self.root_count:
            raise InputError(
                f"`root_count` ({self.root_count}) is too small: instance "
                f"{job.instance.index} has {found} certified distinct solutions"
            )
        complete = found == self.root_count
        if complete and (found - pool.real) % 2:
            raise ArithmeticError("an odd number of non-real solutions: certification is wrong")
        how = f"N {self.start.source}" if self.start.source != "given" else ""
        note = how if complete else f"{found} of {self.root_count} solutions found; {how}".rstrip("; ")
        order = np.lexsort(pool.roots[pool.is_real].real.T[::-1])
        return InstanceCount(
            index=job.instance.index,
            real=pool.real,
            complex=found,
            status=COMPLETE if complete else UNDETERMINED,
            note=note,
            solutions=tuple(
                tuple(float(x) for x in root.real) for root in pool.roots[pool.is_real][order]
            ),
            paths=job.paths,
            retried=job.retried,
            certified=found,
            seconds=job.seconds,
        )


class _Job:
    """One instance on its way to a count."""

    def __init__(self, chain: Chain, instance: Instance, number: int) -> None:
        self.chain = chain
        self.instance = instance
        self.number = number
        self.parameters = chain.parameters(instance)
        self.target: Target = make_target(chain, instance)
        self.pool = RootPool(chain)
        self.paths = self.retried = 0
        self.seconds = 0.0
        self.roots = np.zeros((0, chain.unknowns), complex)
        self.status = np.zeros(0, np.int64)
        self.suspect = np.zeros(0, bool)

    def take(self, roots: np.ndarray, status: np.ndarray) -> None:
        """Certify endpoints and pool what is new; the first call remembers the suspects."""
        certified = certify(self.chain, self.target, np.where((status == DONE)[:, None], roots, np.nan))
        new = self.pool.add(certified)
        if not len(self.roots):
            self.roots, self.status = roots, status
            self.suspect = (status != DONE) | (certified.kind == FAILED) | ~new
            # One of two paths that met is wrong, nobody knows which: both go again.
            again = self.pool.owners(certified)
            for path in np.flatnonzero(~new & (certified.kind != FAILED)):
                self.suspect |= again == again[path]

    def take_exact(self, roots: np.ndarray) -> None:
        """Certify in balls of higher precision what no disc in the pool accounts for."""
        quick = certify(self.chain, self.target, roots)
        left = np.flatnonzero(quick.kind == FAILED)
        self.pool.add(quick)
        if len(left):
            exact: Certified = certify_exact(self.chain, self.instance, roots[left])
            self.pool.add(exact)
