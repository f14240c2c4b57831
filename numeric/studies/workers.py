"""Local worker processes that compute chunks of trials.

Each worker is a new interpreter with one BLAS thread (`algebra.workers`), and shares no state with
this process.  A worker that ends unexpectedly is replaced and its chunk is computed again.  A chunk
at which three workers ended is abandoned with an error that names its trials: then the cause is
these trials or this machine.
"""

from __future__ import annotations

import selectors
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from algebra.children import POLL_SECONDS
from algebra.errors import InputError, Unfinished
from algebra.time_limits import check_time, time_left
from algebra.workers import ChildCrashed, ChildError, Worker
from numeric.studies.trials import TrialSeries, compute_described
from numeric.trials.counts import InstanceCount

_MOST_CRASHES = 3
# Returns the next chunk, or None if there is none now.
NextChunk = Callable[[], list[int] | None]


class WorkerFailed(Unfinished):
    """Trials that could not be computed: their workers ended, or raised an unexpected error."""

    def __str__(self) -> str:
        return f"{super().__str__()}; finished trials are kept if they are stored"


@dataclass
class _LocalWorker:
    worker: Worker = field(default_factory=Worker)
    # Its present chunk; empty if it has none.
    chunk: list[int] = field(default_factory=list)


class LocalWorkers:
    """Worker processes on this machine.

    Parameters
    ----------
    count : int

    Notes
    -----
    A context manager: the processes end with it.
    """

    def __init__(self, count: int) -> None:
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise InputError(f"`workers` ({count!r}) must be a whole number, at least 1")
        self.count = count
        # A process starts with its first chunk.
        self._workers = [_LocalWorker() for _ in range(count)]
        self._crashes: dict[tuple[int, ...], int] = {}

    def __enter__(self) -> LocalWorkers:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End all workers now; their present chunks are lost."""
        for one in self._workers:
            one.worker.close()

    def run(self, work: TrialSeries, take: NextChunk) -> Iterator[list[InstanceCount]]:
        """Records of chunks as they are finished, in any order.

        Parameters
        ----------
        work : TrialSeries
        take : callable
            Returns the next chunk; called whenever a worker is idle, until it returns None and
            no worker is busy.
        """
        data, key = work.to_dict(), work.key
        again: list[list[int]] = []
        selector = selectors.DefaultSelector()

        def assign(one: _LocalWorker) -> bool:
            one.chunk = again.pop() if again else take() or []
            if one.chunk:
                # A process of an earlier run is kept: it has the plans of these trials already.
                try:
                    child = one.worker.post(compute_described, data, key, one.chunk)
                except ChildError as error:
                    raise WorkerFailed(f"{_named(one.chunk)}: {error}") from None
                selector.register(child, selectors.EVENT_READ, one)
            return bool(one.chunk)

        try:
            for one in self._workers:
                if not assign(one):
                    break
            while selector.get_map():
                check_time()
                for event, _ in selector.select(time_left(POLL_SECONDS)):
                    one = event.data
                    selector.unregister(event.fileobj)
                    try:
                        counts: list[InstanceCount] = one.worker.receive()
                    except ChildCrashed as how:
                        self._count_crash(one.chunk, how)
                        again.append(one.chunk)
                    except (ChildError, MemoryError) as error:
                        text = str(error) or "the memory is not enough"
                        raise WorkerFailed(f"{_named(one.chunk)}: {text}") from None
                    else:
                        yield counts
                    assign(one)
        finally:
            selector.close()
            # A busy worker would send the records of this run as those of the next.
            for one in self._workers:
                if one.chunk:
                    one.worker.close()

    def _count_crash(self, chunk: list[int], how: ChildCrashed) -> None:
        name = tuple(chunk)
        self._crashes[name] = self._crashes.get(name, 0) + 1
        if self._crashes[name] >= _MOST_CRASHES:
            raise WorkerFailed(
                f"{_named(chunk)}: {_MOST_CRASHES} workers ended unexpectedly (the last: {how}); "
                "with `workers` 1 the trials are computed in this process"
            )


def _named(chunk: list[int]) -> str:
    return f"trial {chunk[0]}" if len(chunk) == 1 else f"trials {chunk[0]}–{chunk[-1]}"
