"""phcpy in a worker process: the blackbox solver and the path tracker of PHCpack.

PHCpack is GPL, prints, leaks, is not thread-safe and sometimes ends the process that
calls it; Debian's phcpy can be imported by the system's Python only.  So it lives in a
process of its own (`numeric.phcpy.worker`), which is started when first needed, killed
when it does not answer in time, and replaced when it is gone.
"""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from algebra.errors import InputError
from numeric.phcpy.channel import (
    Channel,
    PhcpyCrashed,
    PhcpyError,
    PhcpyInstallation,
    PhcpyTimeout,
)
from numeric.phcpy.install import find_phcpy
from numeric.phcpy.requests import Job, solve_job, track_job
from numeric.phcpy.solutions import PhcpyResult, PhcpySolution
from numeric.phcpy.systems import PhcSystem, Terms

__all__ = [
    "PhcpyCrashed",
    "PhcpyError",
    "PhcpyInstallation",
    "PhcpyProcess",
    "PhcpyTimeout",
    "find_phcpy",
]


class PhcpyProcess:
    """A worker process that runs phcpy; a context manager.

    Parameters
    ----------
    installation : PhcpyInstallation, optional
        By default that of `find_phcpy`.
    memory_limit : int, optional
        MiB. PHCpack leaks some 10 KB a system, in higher precision more; a worker that
        holds more than this is replaced after its call.
    start_timeout : float, optional
        Seconds the worker has to import phcpy.

    Notes
    -----
    Calls from several threads wait for each other; for parallel work use one object for
    each worker.  After a fork the child starts a worker of its own.

    A call with the same system, precision and seed gives the same result, digit for digit,
    in whatever order calls are made: PHCpack's random numbers (start systems, gamma
    constants, liftings) are seeded anew in each.

    PHCpack loses a root now and then, without a sign: on 2,000 lifted systems of the
    smallest linear RNN one in precision "d" and six in "dd".  Compare the number of
    `PhcpyResult.accepted` with the generic root count, and try another seed where they
    differ.

    Examples
    --------
    >>> with PhcpyProcess() as phcpy:  # doctest: +SKIP
    ...     first, second = {(2, 0): 1, (0, 1): -1, (0, 0): -1}, {(1, 1): 1, (0, 0): -2}
    ...     print(phcpy.solve([first, second], timeout=10))  # x² - y - 1 and x y - 2
    solved: 3 paths, 3 roots (1 real), 0 failed; precision d, seed 0, 0.00134 s
    """

    def __init__(
        self,
        installation: PhcpyInstallation | None = None,
        *,
        memory_limit: int = 512,
        start_timeout: float = 60.0,
    ) -> None:
        self._installation = installation
        self._memory_limit = memory_limit
        self._start_timeout = start_timeout
        self._channel: Channel | None = None
        self._finalizer: weakref.finalize[..., Any] | None = None
        self._lock = threading.RLock()
        self._numbers = itertools.count(1)

    def solve(
        self,
        polynomials: Sequence[Terms],
        variables: Sequence[str] | None = None,
        *,
        timeout: float,
        seed: int = 0,
        precision: str = "d",
        newton: int = 2,
    ) -> PhcpyResult:
        """All isolated roots of a square system, by PHCpack's blackbox solver.

        Parameters
        ----------
        polynomials : sequence of mapping
            Exponents to coefficients; see `PhcSystem.read`. Equations are scaled; constant
            ones are settled here.
        variables : sequence of str, optional
            Names of the unknowns; by default ``x0, x1, …``.
        timeout : float
            Seconds; then the worker is killed.
        seed : int, optional
            Of PHCpack's random choices.
        precision : {"d", "dd", "qd"}, optional
            Double, double-double or quad-double arithmetic.
        newton : int, optional
            Newton steps after the solver, which leaves errors up to 1e-3 where the
            residual is small; none in precision "qd", where phcpy's step is unreliable.

        Returns
        -------
        PhcpyResult

        Raises
        ------
        InputError
            Bad arguments, or phcpy is not installed.
        PhcpyTimeout, PhcpyCrashed, PhcpyError
            No result; the object can be used again at once.
        """
        job = solve_job(PhcSystem.read(polynomials, variables), seed, precision, newton)
        return self._ask(job, timeout)

    def track(
        self,
        target: Sequence[Terms],
        start: Sequence[Terms],
        start_solutions: ArrayLike,
        variables: Sequence[str] | None = None,
        *,
        timeout: float,
        gamma: complex | None = None,
        power: int = 2,
        seed: int = 0,
        precision: str = "d",
        newton: int = 2,
        scale: bool = True,
    ) -> PhcpyResult:
        """Follow paths from known solutions of one system to those of another.

        The homotopy is ``gamma (1 - t)^power start + t^power target``, t from 0 to 1.

        Parameters
        ----------
        target, start : sequence of mapping
            Square systems in the same unknowns, as for `solve`.
        start_solutions : array_like
            (paths)×(unknowns), complex.
        variables, timeout, seed, precision, newton
            As for `solve`; by default the unknowns are those of both systems. The
            trackers of phcpy 1.1.2 follow paths in more than one unknown in precision "d"
            only; "dd" and "qd" raise `PhcpyError` there.
        gamma : complex, optional
            Not 0; by default a random number of modulus 1 from the seed.
        power : int, optional
            Relaxation, at least 1.
        scale : bool, optional
            Whether each equation of each system is divided by a power of two of its own.
            Not where equations share coefficients that must move alike.

        Returns
        -------
        PhcpyResult
            One solution for each path, in the order of `start_solutions`.

        Raises
        ------
        InputError, PhcpyTimeout, PhcpyCrashed, PhcpyError
            As for `solve`.

        Notes
        -----
        Coefficients move on straight lines.  Where those of a family depend on its
        parameters in another way, the line leaves the family: a start system with the
        family's generic number of solutions then need not lead to all of the target's.
        """
        if variables is None:
            variables = PhcSystem.names([*target, *start])
        goal = PhcSystem.read(target, variables, scale=scale)
        begin = PhcSystem.read(start, variables, scale=scale)
        job = track_job(goal, begin, start_solutions, gamma, power, seed, precision, newton)
        return self._ask(job, timeout)

    def start(self) -> PhcpyInstallation:
        """Start the worker if none is running, and say what it runs.

        Raises
        ------
        InputError
            Where phcpy is not installed.
        PhcpyCrashed, PhcpyTimeout
            Where the worker does not come up.
        """
        with self._lock:
            self._running()
            assert self._installation is not None
            return self._installation

    @property
    def pid(self) -> int | None:
        """Process number of the worker, None where none is running."""
        return self._channel.pid if self._channel else None

    def close(self) -> None:
        """End the worker. The object can be used again; it then starts a new one."""
        with self._lock:
            self._discard(grace=2.0)

    def __enter__(self) -> PhcpyProcess:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _running(self) -> Channel:
        if self._channel is not None and self._channel.alive:
            return self._channel
        self._discard()
        channel = self._channel = Channel((self._installation or find_phcpy()).interpreter)
        self._finalizer = weakref.finalize(self, channel.close)
        try:
            self._installation = channel.greeting(self._start_timeout)
        except BaseException:
            self._discard()
            raise
        return channel

    def _discard(self, grace: float = 0.0) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            if self._finalizer is not None:
                self._finalizer.detach()
            channel.close(grace)

    def _ask(self, job: Job, timeout: float) -> PhcpyResult:
        """The result of one job; the worker is replaced where it did not answer."""
        if not timeout > 0:
            raise InputError(f"`timeout` ({timeout}) must be a positive number of seconds")
        if self._channel is not None and self._channel.owner != os.getpid():
            self._lock = threading.RLock()  # a thread of the parent may have held the old one
            self._discard()
        if job.system.status != "square":
            return job.result(job.system.status, (), 0.0)
        if not job.system.variables:  # nothing asked of nothing: the empty point
            point = PhcpySolution((), 1, 0.0, 1.0, 0.0, 1, 0.0)
            return job.result("solved", (point,), 0.0)
        with self._lock:
            channel = self._running()
            number = next(self._numbers)
            try:
                channel.post({"id": number, **job.request})
                answer = channel.receive(timeout)
                if answer.get("id") != number:
                    raise PhcpyCrashed(f"the phcpy process answered {str(answer)[:200]}")
            except BaseException:  # a half-read answer must not be taken for the next
                self._discard()
                raise
            if answer.get("memory", 0) > 1024 * self._memory_limit:
                self._discard()
        return job.read(answer)
