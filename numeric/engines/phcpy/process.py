"""phcpy in a worker process: the blackbox solver and the path tracker of PHCpack.

PHCpack is GPL, prints, leaks memory, is not thread-safe and sometimes ends the process that
calls it; Debian's phcpy can be imported by the system's Python only.  So it runs in a
separate process (`numeric.engines.phcpy.worker`), which is started when first needed, killed
if it does not answer in time, and replaced when it has ended.
"""

from __future__ import annotations

import cmath
import itertools
import math
import os
import random
import threading
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from algebra.errors import InputError
from algebra.given import known_name
from algebra.workers import Child, ChildCrashed, ChildError, ChildTimeout
from numeric.engines.phcpy.install import (
    PhcpyInstallation,
    find_phcpy,
    start_worker,
    wait_until_ready,
)
from numeric.engines.phcpy.solutions import (
    PhcpyResult,
    PhcpySolution,
    read_solutions,
    write_solution,
)
from numeric.engines.phcpy.systems import PRECISIONS, PhcSystem, Terms

__all__ = ["PhcpyCrashed", "PhcpyError", "PhcpyInstallation", "PhcpyProcess", "PhcpyTimeout"]

PhcpyError, PhcpyCrashed, PhcpyTimeout = ChildError, ChildCrashed, ChildTimeout
MAX_SEED = 2**31 - 2  # with 2^31 - 1 PHCpack's random numbers are nan


class PhcpyProcess:
    """A worker process that runs phcpy; a context manager.

    Parameters
    ----------
    installation : PhcpyInstallation, optional
        By default that of `find_phcpy`.
    memory_limit : int, optional
        MiB. PHCpack leaks about 10 KB per system, in higher precision more; a worker that
        uses more than this is replaced after its call.
    start_timeout : float, optional
        Seconds in which the worker must import phcpy.

    Notes
    -----
    Calls from several threads wait for each other; for parallel work use one object for
    each worker.  After a fork the child starts its own worker.

    A call with the same system, precision and seed gives the same result, digit for digit,
    independently of earlier calls: PHCpack's random numbers (start systems, gamma
    constants, liftings) are seeded again in each.

    PHCpack sometimes loses a root without indication: on 2,000 lifted systems of the
    smallest linear RNN one in precision "d" and six in "dd".  Compare the number of
    `PhcpyResult.accepted` with the generic root count, and try another seed if they
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
        self._child: Child | None = None
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
            ones are handled here.
        variables : sequence of str, optional
            Names of the unknowns; by default ``x0, x1, …``.
        timeout : float
            Seconds; then the worker is killed.
        seed : int, optional
            Seed of PHCpack's random choices.
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
        system = PhcSystem.read(polynomials, variables)
        for name, value in (("seed", seed), ("newton", newton)):
            if value < 0:
                raise InputError(f"`{name}` ({value}) must be at least 0")
        known_name(precision, "precision", PRECISIONS)
        request = {
            "operation": "solve",
            "polynomials": system.lines(precision),
            "precision": precision,
            # phcpy 1.1.2 returns empty texts from this step in "qd", or raises.
            "newton": 0 if precision == "qd" else newton,
        }
        return self._exchange(system, request, seed, timeout)

    def track(
        self,
        target: Sequence[Terms],
        start: Sequence[Terms],
        start_solutions: ArrayLike,
        variables: Sequence[str] | None = None,
        *,
        timeout: float,
        seed: int = 0,
        scale: bool = True,
    ) -> PhcpyResult:
        """Track paths from known solutions of one system to those of another, in doubles.

        The homotopy is ``γ (1 - t)² start + t² target``, t from 0 to 1, with a random γ of
        modulus 1 from the seed.

        Parameters
        ----------
        target, start : sequence of mapping
            Square systems in the same unknowns, as for `solve`.
        start_solutions : array_like
            (paths)×(unknowns), complex.
        variables, timeout, seed
            As for `solve`; by default the unknowns are those of both systems.
        scale : bool, optional
            Whether each equation of each system is divided by a power of two of its own.
            Not if equations share coefficients that must move together.

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
        Coefficients move on straight lines.  If those of a family depend on its
        parameters in another way, the line leaves the family: a start system with the
        family's generic number of solutions then need not lead to all of the target's.
        """
        if variables is None:
            variables = PhcSystem.names([*target, *start])
        goal = PhcSystem.read(target, variables, scale=scale)
        begin = PhcSystem.read(start, variables, scale=scale)
        if seed < 0:
            raise InputError(f"`seed` ({seed}) must be at least 0")
        if begin.status != "square":
            raise InputError(f"`start` is {begin.status}: it has no isolated solutions")
        points = np.asarray(start_solutions, dtype=complex)
        size = len(begin.variables)
        if points.ndim != 2 or points.shape[1] != size or not np.isfinite(points).all():
            raise InputError(
                f"`start_solutions` has shape {points.shape}; it must be (points)×{size}, "
                "finite numbers"
            )
        gamma = cmath.exp(2j * math.pi * random.Random(seed).random())
        request = {
            "operation": "track",
            "target": goal.lines("d"),
            "start": begin.lines("d"),
            "solutions": [write_solution(point) for point in points.tolist()],
            "gamma": [gamma.real, gamma.imag],
            "precision": "d",
            "newton": 2,
        }
        return self._exchange(goal, request, seed, timeout)

    def start(self) -> PhcpyInstallation:
        """Start the worker if none is running; returns its installation.

        Raises
        ------
        InputError
            If phcpy is not installed.
        PhcpyCrashed, PhcpyTimeout
            If the worker does not start.
        """
        with self._lock:
            self._running()
            assert self._installation is not None
            return self._installation

    @property
    def pid(self) -> int | None:
        """Process id of the worker, None if none is running."""
        return self._child.pid if self._child else None

    def close(self) -> None:
        """End the worker. The object can be used again; it then starts a new one."""
        with self._lock:
            self._discard(grace=2.0)

    def __enter__(self) -> PhcpyProcess:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _running(self) -> Child:
        if self._child is not None and self._child.alive:
            return self._child
        self._discard()
        interpreter = (self._installation or find_phcpy()).interpreter
        child = self._child = start_worker(interpreter)
        self._finalizer = weakref.finalize(self, child.close)
        try:
            self._installation = wait_until_ready(child, interpreter, self._start_timeout)
        except BaseException:
            self._discard()
            raise
        return child

    def _discard(self, grace: float = 0.0) -> None:
        child, self._child = self._child, None
        if child is not None:
            if self._finalizer is not None:
                self._finalizer.detach()
            child.close(grace)

    def _exchange(
        self, system: PhcSystem, request: dict[str, Any], seed: int, timeout: float
    ) -> PhcpyResult:
        """The result of one request; a worker that does not answer is replaced.

        `system` is the one whose solutions the answer contains.
        """
        if not timeout > 0:
            raise InputError(f"`timeout` ({timeout}) must be a positive number of seconds")

        def result(
            status: str, solutions: tuple[PhcpySolution, ...], seconds: float = 0.0
        ) -> PhcpyResult:
            precision = request["precision"]
            return PhcpyResult(system.variables, solutions, status, seed, precision, seconds)

        if self._child is not None and self._child.owner != os.getpid():
            self._lock = threading.RLock()  # a thread of the parent may have locked the old one
            self._discard()
        if system.status != "square":
            return result(system.status, ())
        if not system.variables:  # no unknowns: the solution is the empty point
            return result("solved", (PhcpySolution((), 1, 0.0, 1.0, 0.0, 1, 0.0),))
        with self._lock:
            child = self._running()
            number = next(self._numbers)
            try:
                # A seed beyond 2^31 - 1 ends the process; 0 would mean "no seed".
                child.post({"id": number, "seed": 1 + seed % MAX_SEED, **request})
                answer = child.receive(timeout)
                if answer.get("id") != number:
                    raise PhcpyCrashed(f"the phcpy process answered {str(answer)[:200]}")
            except BaseException:  # a late answer could be taken for the next one
                self._discard()
                raise
            if answer.get("memory", 0) > 1024 * self._memory_limit:
                self._discard()
        if "error" in answer:
            raise PhcpyError(f"phcpy: {answer['error']}")
        try:
            tracked = request["operation"] == "track"
            solutions = read_solutions(answer["solutions"], system, tracked)
            return result("solved", solutions, float(answer["seconds"]))
        except (KeyError, TypeError, ValueError) as error:
            raise PhcpyError(f"an answer of the phcpy process cannot be read: {error}") from None
