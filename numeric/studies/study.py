"""Studies: trials computed by this or other processes, and their estimate.

A study is a problem, a seed and settings.  Its trials are read from a store if they are there;
the others are computed by this process, by local workers or by a cluster, and
stored as they are finished.  Since a trial's record depends only on the study and its number,
the results do not depend on the workers or on interruptions.

An estimate is always based on trials 0 … n - 1.  Later trials that are finished early stay
in the store until then: counting whichever trials are finished would favour quick ones.
"""

from __future__ import annotations

import errno
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from algebra.errors import InputError, shown, whole_number
from algebra.problems.problem import Problem
from algebra.systems.equivalent_cells import in_parameters
from algebra.time_limits import OutOfTime, check_time, positive_seconds, unlimited, within
from numeric.engines.plans import Plan
from numeric.statistics.confidence_sequences import RunningInterval
from numeric.statistics.estimate import Estimate
from numeric.statistics.intervals import tail_of
from numeric.studies.store import Store, StoreFull
from numeric.studies.trials import (
    TrialSeries,
    close_kept_counters,
    compute_trials,
    kept_counter,
    says_more,
)
from numeric.studies.workers import LocalWorkers, NextChunk
from numeric.trials.counts import UNDETERMINED, InstanceCount, Reason

# Sizes of the first chunk, small so that progress is shown early, and of the largest one.
FIRST_CHUNK = 8
LARGEST_CHUNK = 256
# The running interval is computed after this number of trials, and after each further tenth.
_FIRST_LOOK = 50
_LOOKS = 0.1
MOST_TRIALS = 1_000_000


def check_trials(trials: int) -> None:
    """Check the number of trials of a study.

    Parameters
    ----------
    trials : int

    Raises
    ------
    InputError
        If it is not a whole number from 1 to `MOST_TRIALS`.
    """
    whole_number(trials, "trials", 1)
    if trials > MOST_TRIALS:
        raise InputError(f"`trials` ({trials}) must not be greater than {MOST_TRIALS}")


_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)

Advance = Callable[[InstanceCount], None]


class Workers(Protocol):
    """An object that computes chunks of trials."""

    @property
    def count(self) -> int:
        """Number of chunks computed at a time."""
        ...

    def run(self, work: TrialSeries, take: NextChunk) -> Iterator[list[InstanceCount]]:
        """Records of chunks as they are finished, in any order."""
        ...

    def close(self) -> None:
        """End the workers, or the connection to them."""
        ...


class InProcessWorker:
    """This process as the only worker."""

    count = 1

    def run(self, work: TrialSeries, take: NextChunk) -> Iterator[list[InstanceCount]]:
        """Records of chunks, in order."""
        while chunk := take():
            check_time()
            yield compute_trials(work, chunk)

    def close(self) -> None:
        """Close the counters that this thread keeps."""
        close_kept_counters()


def make_workers(count: int, scheduler: str | None = None) -> Workers:
    """A cluster if a scheduler is given, else this process for one worker, or local processes."""
    if scheduler is not None:
        from numeric.studies.cluster import DaskWorkers

        return DaskWorkers(scheduler)
    return InProcessWorker() if count == 1 and not isinstance(count, bool) else LocalWorkers(count)


@contextmanager
def shared(
    store: str | Path | Store | None, workers: int = 1, scheduler: str | None = None
) -> Iterator[tuple[Store | None, Workers]]:
    """The store and the workers of several studies; objects opened here are closed at the end."""
    with ExitStack() as stack:
        kept = (
            stack.enter_context(Store(store, create=True))
            if isinstance(store, str | Path)
            else store
        )
        yield kept, stack.enter_context(closing(make_workers(workers, scheduler)))


class Study:
    """Trials of a problem, computed here or elsewhere, and possibly stored.

    Parameters
    ----------
    problem : Problem
    seed : int, optional
    engine : str, optional
        The network's default engine if not given.
    store : str, Path or Store, optional
        Where trials are stored; only in memory by default.
    workers : int or Workers, optional
        Number of local processes; 1 computes in this process.  Given `Workers`, which several
        studies may share, are not closed.
    scheduler : str, optional
        Address of a Dask scheduler, instead of local workers.
    confidence : float, optional
    name : str, optional
        Name for the study in its store, if it has none yet; see `rename`.
    **settings
        ``timeout`` (of one trial), ``certify``, ``complete``, ``root_timeout``: see
        `numeric.studies.trials.TrialSettings`.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> problem = Problem(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 1], [0, 0]]})
    >>> with Study(problem) as study:
    ...     print(study.run(100).matched)
    100
    """

    def __init__(
        self,
        problem: Problem,
        *,
        seed: int = 0,
        engine: str | None = None,
        store: str | Path | Store | None = None,
        workers: int | Workers = 1,
        scheduler: str | None = None,
        confidence: float = 0.95,
        name: str = "",
        **settings: Any,
    ) -> None:
        tail_of(confidence)
        whole_number(seed, "seed", 0)
        self.work = TrialSeries.of(problem, seed, engine, **settings)
        self.confidence = confidence
        # Raises early if the engine or a package that it requires is missing.
        counter = self.work.counter()
        counter.prepare()
        counter.close()
        self.workers: Workers
        if isinstance(workers, int):
            self.workers = make_workers(workers, scheduler)
        elif hasattr(workers, "run"):
            self.workers = workers
        else:
            raise InputError(f"`workers` ({workers!r}) must be a whole number, at least 1")
        self._own_workers = isinstance(workers, int)
        self._own_store = not isinstance(store, Store)
        if store is not None and not isinstance(store, (str, Path, Store)):
            raise InputError(f"`store` ({shown(store)}) must be the name of a file, or a Store")
        self.store = Store(store, create=True) if isinstance(store, str | Path) else store
        self._id = self.store.study(self.work, _version(), name) if self.store else 0
        self._records: dict[int, InstanceCount] = {}
        self._free: dict[int, InstanceCount] = {}
        self._broken_off = False

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the workers and the store, as far as they were opened here."""
        if self._own_workers:
            self.workers.close()
        if self.store and self._own_store:
            self.store.close()

    def __repr__(self) -> str:
        kept = f", store={str(self.store.path)!r}" if self.store else ""
        s = self.work.settings
        return (
            f"Study({self.work.problem.network}, seed={self.work.seed}, engine={s.engine!r}{kept})"
        )

    def rename(self, name: str) -> None:
        """Give the study a name in its store."""
        if self.store:
            self.store.rename(self._id, name)

    def add_unconstrained(self, counts: Sequence[InstanceCount]) -> None:
        """Use trials of the same problem without constraints, counted before (see `reuse`)."""
        self._free.update((count.index, count) for count in counts)

    @property
    def is_broken_off(self) -> bool:
        """Whether an interrupt, the time limit or a full disk ended the last run."""
        return self._broken_off

    @property
    def records(self) -> dict[int, InstanceCount]:
        """All finished trials, by number."""
        if self.store:
            self._records.update(self.store.records(self._id))
        return dict(sorted(self._records.items()))

    def run(
        self,
        trials: int = 1000,
        *,
        half_width: float | None = None,
        timeout: float = math.inf,
        advance: Advance | None = None,
    ) -> Estimate:
        """Estimate from trials 0 … `trials` - 1, computing those that are missing.

        An interrupt (Ctrl-C) or a full disk ends the run; finished trials are kept.

        Parameters
        ----------
        trials : int, optional
            With `half_width`: the largest number.
        half_width : float, optional
            Stop as soon as a confidence sequence, valid at all times, is this narrow.  It
            is evaluated after fixed numbers of trials, so that the number of trials does not
            depend on the workers.
        timeout : float, optional
            Seconds for the whole call, which then ends as by an interrupt; the first missing
            trial counts as undetermined, since it may be hard.
        advance : callable, optional
            Called with each trial, new or stored, in any order.

        Returns
        -------
        Estimate
            Of the first n trials without a gap.
        """
        check_trials(trials)
        is_number = isinstance(half_width, (int, float)) and not isinstance(half_width, bool)
        if half_width is not None and not (is_number and 0 < half_width < 0.5):
            raise InputError(f"`half_width` ({half_width!r}) must lie between 0 and 0.5")
        positive_seconds(timeout, "timeout")
        stops = list(_looks(trials)) if half_width else [trials]
        running = RunningInterval(self.confidence)
        interrupted, trouble = False, ""
        began = time.monotonic()
        reported: set[int] = set()
        for stop in stops:
            try:
                with within(timeout - (time.monotonic() - began)):
                    self._fill(stop, reported, advance)
            except KeyboardInterrupt:
                interrupted = True
            except OutOfTime as over:
                interrupted, trouble = True, str(over)
                self._give_up(stop)
            except StoreFull as error:
                interrupted, trouble = True, str(error)
            except OSError as error:
                if error.errno not in _NO_SPACE:
                    raise
                interrupted, trouble = True, str(error)
            found = self._estimate(stop if half_width else trials, trouble)
            if interrupted:
                break
            if half_width:
                running.update(found.matched, found.unmatched, found.undetermined)
                if running.interval.half_width <= half_width:
                    break
        self._broken_off = interrupted
        if half_width:
            return Estimate(
                self.work.problem, self.work.settings.engine, self.work.seed, found.counts,
                trials if interrupted else found.trials, self.confidence, running.interval,
                trouble,
            )  # fmt: skip
        return found

    def plan(self) -> Plan:
        """The plan of the problem's allocation (ranks, root count), before any trial."""
        return kept_counter(self.work).plan(in_parameters(self.work.problem).allocation)

    def _give_up(self, trials: int) -> None:
        """Record the first missing trial, during which the time limit was reached."""
        missing = next((k for k in range(trials) if k not in self._records), None)
        if missing is not None:
            note = "the time limit was reached at this trial"
            self._records[missing] = InstanceCount(
                missing, None, None, UNDETERMINED, note, reason=Reason.LOST
            )

    def _estimate(self, requested: int, trouble: str = "") -> Estimate:
        records = self._records
        done = next((k for k in range(requested) if k not in records), requested)
        return Estimate(
            self.work.problem,
            self.work.settings.engine,
            self.work.seed,
            tuple(self._named(records[k]) for k in range(done)),
            requested,
            self.confidence,
            trouble=trouble,
        )

    def _named(self, count: InstanceCount) -> InstanceCount:
        """The count with the cells of its solutions' columns, which a store does not keep."""
        problem = self.work.problem
        if problem.is_random:
            return count
        return count.with_cells(in_parameters(problem).allocation.cells)

    def _fill(self, trials: int, reported: set[int], advance: Advance | None) -> None:
        """Compute the missing trials among 0 … `trials` - 1."""

        def report(counts: Sequence[InstanceCount]) -> None:
            self._records.update((count.index, count) for count in counts)
            for count in counts:
                if count.index not in reported:
                    reported.add(count.index)
                    if advance is not None:
                        advance(count)

        # Trials that failed the last time are tried again.
        self._records = {k: c for k, c in self._records.items() if not c.is_transient}
        if self.store:
            self._records.update(self.store.records(self._id, trials))
        report([self._records[k] for k in sorted(self._records) if k < trials])
        self._reuse(trials, report)
        queue = _Queue(
            [k for k in range(trials) if k not in self._records], self.store, self._id, self.workers
        )
        try:
            for counts in self.workers.run(self.work, queue.take):
                # They are kept in memory first, so that the estimate includes trials that do not
                # fit on a full disk, and reported last, so that reported trials are in the store.
                self._records.update((count.index, count) for count in counts)
                if self.store:
                    self.store.add(self._id, counts)
                queue.done(len(counts))
                report(counts)
        finally:
            if self.store:
                # Claims only avoid double work.
                with unlimited(), suppress(StoreFull):
                    self.store.release()
        if self.store:
            # Trials that other processes finished meanwhile.
            theirs = self.store.records(self._id, trials)
            report([c for k, c in theirs.items() if k not in reported])
            self._records.update(theirs)

    def _reuse(self, trials: int, report: Callable[[Sequence[InstanceCount]], None]) -> None:
        """Use the records that counts of the same trials without constraints decide."""
        missing = {k for k in range(trials) if k not in self._records}
        if not missing or not self.work.problem.constraints:
            return
        if self.store is None and not self._free:
            return
        # Loaded here: it needs the kernels for certification.
        from numeric.studies.reuse import Reuse

        reuse = Reuse(self.work)
        known = dict(self._free)
        if self.store:
            for study in reuse.studies(self.store):
                for k, count in self.store.records(study, trials).items():
                    if k not in known or says_more(count, known[k]) or not known[k].solutions:
                        known[k] = count
        waiting = [known[k] for k in sorted(missing & known.keys())]
        for at in range(0, len(waiting), LARGEST_CHUNK):
            counts = reuse.records(waiting[at : at + LARGEST_CHUNK])
            self._records.update((count.index, count) for count in counts)
            if self.store:
                self.store.add(self._id, counts)
            report(counts)


class _Queue:
    """Divides trials into chunks of about a second."""

    def __init__(
        self, missing: list[int], store: Store | None, study: int, workers: Workers
    ) -> None:
        self.missing = missing
        self.store = store
        self.study = study
        self.workers = workers
        self.size = FIRST_CHUNK
        self.began = time.perf_counter()
        self.finished = 0
        self.passed: list[int] = []

    def take(self) -> list[int] | None:
        """The next chunk; None if no trials are left."""
        while self.missing:
            # The last trials are divided among all workers.
            share = -(-len(self.missing) // (2 * self.workers.count))
            size = max(1, min(self.size, share))
            chunk, self.missing = self.missing[:size], self.missing[size:]
            if self.store is None:
                return chunk
            free = self.store.claim(self.study, chunk)
            self.passed += [k for k in chunk if k not in free]
            if free:
                return free
        if self.passed and self.store is not None:
            # Other processes claimed these: read the finished ones, compute the others.
            done = self.store.records(self.study)
            left = [k for k in self.passed if k not in done]
            self.passed = []
            if left:
                self.missing = left[self.size :]
                return left[: self.size]
        return None

    def done(self, count: int) -> None:
        """Record that `count` more trials are finished; the size of chunks follows the rate."""
        self.finished += count
        rate = self.finished / max(time.perf_counter() - self.began, 1e-6) / self.workers.count
        self.size = int(min(max(rate, 1), 2 * self.size, LARGEST_CHUNK))


def _looks(trials: int) -> Iterator[int]:
    look = _FIRST_LOOK
    while look < trials:
        yield look
        look += max(1, int(look * _LOOKS))
    yield trials


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("matchprob")
    except PackageNotFoundError:
        return "not installed"
