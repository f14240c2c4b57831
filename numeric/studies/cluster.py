"""Chunks of trials on a Dask cluster.

Dask is optional.  The cluster's workers need matchprob installed, and should run one thread
each with the numerical libraries pinned to one (``OMP_NUM_THREADS=1 dask worker --nthreads 1``).
If a worker dies, Dask runs its chunks on another one; a chunk that Dask abandons
is submitted again, up to three times.  If no worker is left for five minutes the work ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from algebra.errors import InputError
from algebra.installing import missing
from algebra.time_limits import check_time, time_left
from numeric.studies.trials import TrialSeries, compute_described
from numeric.studies.workers import NextChunk, WorkerFailed
from numeric.trials.counts import InstanceCount

_MOST_FAILURES = 3
# Submitted chunks for each thread of the cluster: one running and one waiting.
_AHEAD = 2
# Seconds between two requests for the number of workers; longest time without any worker.
_BETWEEN = 5.0
_PATIENCE = 300.0
# Seconds to wait for a finished chunk, and for its result, in one attempt.
_READY = 0.05
_RESULT = 1.0


class DaskWorkers:
    """A cluster, given by its scheduler's address.

    Parameters
    ----------
    address : str
        For instance ``tcp://host:8786``.
    timeout : float, optional
        Seconds to wait for the scheduler.

    Notes
    -----
    A context manager: leaving it closes the connection; the cluster keeps running.
    """

    def __init__(self, address: str, *, timeout: float = 5.0) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise InputError(missing("`scheduler` needs", "Dask", "cluster")) from None
        self.address = address
        _check_address(address)
        try:
            self.client = Client(address, timeout=timeout, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise InputError(f"no Dask scheduler at {address}: {error}") from None
        self._wait_for_workers(timeout)

    def __enter__(self) -> DaskWorkers:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _wait_for_workers(self, timeout: float) -> None:
        """Raise InputError if the cluster has no workers."""
        end = time.monotonic() + timeout
        while not self.client.nthreads():
            if time.monotonic() > end:
                self.close()
                raise InputError(
                    f"the Dask scheduler at {self.address} has no workers after {timeout:g} s: "
                    f"start some (OMP_NUM_THREADS=1 dask worker --nthreads 1 {self.address})"
                )
            check_time()
            time.sleep(0.1)

    def close(self) -> None:
        """Close the connection."""
        self.client.close()

    @property
    def count(self) -> int:
        """Present number of threads of the cluster."""
        return max(1, sum(self.client.nthreads().values()))

    def _has_workers(self) -> bool:
        try:
            return bool(self.client.nthreads())
        except (OSError, TimeoutError):  # the scheduler does not answer
            return False

    def _wait(self, attempt: Callable[[float], Any], seconds: float) -> Any:
        """Repeat an attempt until it returns a result.

        It is called with `seconds`, and raises TimeoutError if they do not suffice.  A result may
        be lost with its worker after it was computed; so WorkerFailed is raised if the cluster has
        had no workers for too long.
        """
        seen = requested = time.monotonic()
        while True:
            check_time()
            try:
                return attempt(min(seconds, time_left()))
            except TimeoutError:
                now = time.monotonic()
            if now - requested > _BETWEEN:
                requested = now
                if self._has_workers():
                    seen = now
                elif now - seen > _PATIENCE:
                    raise WorkerFailed(
                        f"the Dask cluster at {self.address} has had no workers for "
                        f"{_PATIENCE:g} s: start some, and run the same again"
                    )

    def run(self, work: TrialSeries, take: NextChunk) -> Iterator[list[InstanceCount]]:
        """Records of chunks as they are finished, in any order; see `LocalWorkers.run`."""
        from distributed import as_completed
        from distributed.scheduler import KilledWorker

        data, key = work.to_dict(), work.key
        ahead: Any = as_completed(loop=self.client.loop)
        chunks: dict[Any, list[int]] = {}
        failures: dict[tuple[int, ...], int] = {}

        def submit(chunk: list[int]) -> None:
            future = self.client.submit(compute_described, data, key, chunk, pure=False)
            chunks[future.key] = chunk
            ahead.add(future)

        def fill() -> None:
            while len(chunks) < _AHEAD * self.count:
                chunk = take()
                if not chunk:
                    return
                submit(chunk)

        def finished(seconds: float) -> Any:
            if ahead.has_ready() or ahead.is_empty():
                return next(ahead)
            time.sleep(seconds)
            raise TimeoutError

        try:
            fill()
            while chunks:
                future = self._wait(finished, _READY)
                chunk = chunks.pop(future.key)
                try:
                    counts = self._wait(future.result, _RESULT)
                except (InputError, WorkerFailed):
                    raise
                except KilledWorker as error:
                    name = tuple(chunk)
                    failures[name] = failures.get(name, 0) + 1
                    if failures[name] >= _MOST_FAILURES:
                        raise WorkerFailed(f"trials {chunk[0]}–{chunk[-1]}: {error}") from None
                    submit(chunk)
                    continue
                except Exception as bug:
                    raise WorkerFailed(
                        f"trials {chunk[0]}–{chunk[-1]}: {type(bug).__name__}: {bug}"
                    ) from None
                yield counts
                fill()
        finally:
            self.client.cancel([f for f in ahead.futures if not f.done()])


def _check_address(address: str) -> None:
    """Reject addresses with which Dask would fail later, after a part of the client was made."""
    scheme, separator, rest = address.rpartition("://")
    if separator and not scheme:
        raise InputError(f"`scheduler` ({address!r}) names no protocol: give tcp://host:port")
    if scheme in ("", "tcp", "tls", "ucx", "ws", "wss"):
        host, colon, port = rest.rpartition(":")
        if not (colon and host and port.isdecimal() and int(port) < 1 << 16):
            raise InputError(f"`scheduler` ({address!r}) must be an address as in tcp://host:8786")
    elif scheme != "inproc":
        raise InputError(
            f"`scheduler` ({address!r}): there is no protocol {scheme!r}; give tcp://host:port"
        )
