"""Local worker processes that compute chunks of trials.

Each worker is a new interpreter (``python -m numeric.studies.worker``) with one BLAS thread,
which receives chunks and sends records over its standard streams.  It shares no state with this
process.  A worker that ends unexpectedly is replaced and its chunk is computed again.  A chunk at
which three workers ended is abandoned with an error that names its trials: then the cause is these
trials or this machine.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import selectors
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from algebra.children import POLL_SECONDS, end_child, start_child
from algebra.errors import InputError, Unfinished
from algebra.time_limits import check_time, time_left
from numeric.counts import InstanceCount
from numeric.studies.trials import TrialSeries

_MOST_CRASHES = 3
# Returns the next chunk, or None if there is none now.
NextChunk = Callable[[], list[int] | None]


class WorkerFailed(Unfinished):
    """Trials that could not be computed: their workers ended, or raised an unexpected error."""

    def __str__(self) -> str:
        return f"{super().__str__()}; finished trials are kept if they are stored"


def send(stream: IO[bytes], message: Any) -> None:
    """Write one message: its length, then its pickle."""
    data = pickle.dumps(message)
    stream.write(struct.pack("<Q", len(data)) + data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read one message; EOFError if the other end is closed."""
    head = stream.read(8)
    if len(head) < 8:
        raise EOFError
    (size,) = struct.unpack("<Q", head)
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return pickle.loads(data)


@dataclass
class _LocalWorker:
    process: subprocess.Popen[bytes]
    chunk: list[int] | None = None


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
        self._workers: list[_LocalWorker] = []
        self._crashes: dict[tuple[int, ...], int] = {}

    def __enter__(self) -> LocalWorkers:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End all workers now; their present chunks are lost."""
        for worker in self._workers:
            worker.process.kill()
        for worker in list(self._workers):
            self._remove(worker)

    def _start(self) -> _LocalWorker:
        # The packages may be importable only because of the current folder.
        paths = [str(Path(__file__).resolve().parents[2]), os.environ.get("PYTHONPATH", "")]
        # A worker ends when its standard input is closed.
        process = start_child(
            [sys.executable, "-m", "numeric.studies.worker"],
            {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in paths if p)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        return _LocalWorker(process)

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

        def assign(worker: _LocalWorker, chunk: list[int] | None = None) -> bool:
            chunk = chunk or (again.pop() if again else take())
            if not chunk:
                return False
            worker.chunk = chunk
            assert worker.process.stdin is not None
            # If the worker has ended, reading from it will fail.
            with contextlib.suppress(OSError):
                send(worker.process.stdin, (data, key, chunk))
            return True

        def start_worker() -> bool:
            # Start no process without a chunk for it.
            chunk = again.pop() if again else take()
            if not chunk:
                return False
            worker = self._start()
            self._workers.append(worker)
            assign(worker, chunk)
            selector.register(worker.process.stdout, selectors.EVENT_READ, worker)  # type: ignore[arg-type]
            return True

        # Workers of an earlier run are kept: they have the plans of these trials already.
        for worker in list(self._workers):
            if assign(worker):
                selector.register(worker.process.stdout, selectors.EVENT_READ, worker)  # type: ignore[arg-type]
        busy = len(selector.get_map())
        for _ in range(self.count - max(busy, len(self._workers))):
            if not start_worker():
                break
        try:
            while selector.get_map():
                check_time()
                for event, _ in selector.select(time_left(POLL_SECONDS)):
                    worker = event.data
                    chunk = worker.chunk or []
                    try:
                        counts, error = receive(worker.process.stdout)
                    except (EOFError, pickle.UnpicklingError):
                        selector.unregister(worker.process.stdout)
                        self._remove(worker)
                        self._count_crash(chunk)
                        again.append(chunk)
                        start_worker()
                        continue
                    worker.chunk = None
                    if error is not None:
                        raise error
                    yield counts
                    if not assign(worker):
                        selector.unregister(worker.process.stdout)
        finally:
            selector.close()
            # A busy worker would send the records of this run as those of the next.
            for worker in [w for w in self._workers if w.chunk is not None]:
                self._remove(worker)

    def _remove(self, worker: _LocalWorker) -> None:
        if worker in self._workers:
            self._workers.remove(worker)
        end_child(worker.process)

    def _count_crash(self, chunk: list[int]) -> None:
        name = tuple(chunk)
        self._crashes[name] = self._crashes.get(name, 0) + 1
        if self._crashes[name] >= _MOST_CRASHES:
            trials = f"trial {chunk[0]}" if len(chunk) == 1 else f"trials {chunk[0]}–{chunk[-1]}"
            raise WorkerFailed(
                f"{trials}: {_MOST_CRASHES} workers ended unexpectedly (out of memory?); with "
                "`workers` 1 the trials are computed in this process"
            )
