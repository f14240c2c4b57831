"""Requests to a phcpy worker, checked, and how their answers are read."""

from __future__ import annotations

import cmath
import math
import random
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from algebra.errors import InputError
from numeric.phcpy.channel import PhcpyError
from numeric.phcpy.solutions import PhcpyResult, PhcpySolution, read_solutions, write_solution
from numeric.phcpy.systems import PRECISIONS, PhcSystem

MAX_SEED = 2**31 - 2  # with 2^31 - 1 PHCpack's random numbers are nan


@dataclass(frozen=True)
class Job:
    """One request and what is needed to read its answer.

    Make one with `solve_job` or `track_job`.

    Attributes
    ----------
    system : PhcSystem
        The one whose solutions the answer will hold.
    request : dict
        As the worker expects it, without its number.
    seed, precision
        As asked for.
    """

    system: PhcSystem
    request: dict[str, Any]
    seed: int
    precision: str

    def result(
        self, status: str, solutions: tuple[PhcpySolution, ...], seconds: float
    ) -> PhcpyResult:
        """A result of this job."""
        variables = self.system.variables
        return PhcpyResult(variables, solutions, status, self.seed, self.precision, seconds)

    def read(self, answer: dict[str, Any]) -> PhcpyResult:
        """The result in an answer of the worker.

        Raises
        ------
        PhcpyError
            Where the answer is an error or cannot be read.
        """
        if "error" in answer:
            raise PhcpyError(f"phcpy: {answer['error']}")
        try:
            tracked = self.request["operation"] == "track"
            solutions = read_solutions(answer["solutions"], self.system, tracked)
            return self.result("solved", solutions, float(answer["seconds"]))
        except (KeyError, TypeError, ValueError) as error:
            raise PhcpyError(f"an answer of the phcpy process cannot be read: {error}") from None


def solve_job(system: PhcSystem, seed: int, precision: str, newton: int) -> Job:
    """Request for all isolated roots of a system; see `PhcpyProcess.solve`."""
    common = _common(seed, precision, newton)
    request = {"operation": "solve", "polynomials": system.lines(precision), **common}
    return Job(system, request, seed, precision)


def track_job(
    target: PhcSystem,
    start: PhcSystem,
    start_solutions: ArrayLike,
    gamma: complex | None,
    power: int,
    seed: int,
    precision: str,
    newton: int,
) -> Job:
    """Request to follow paths from one system to another; see `PhcpyProcess.track`."""
    common = _common(seed, precision, newton)
    if start.status != "square":
        raise InputError(f"`start` is {start.status}: it has no isolated solutions")
    if gamma is None:
        gamma = cmath.exp(2j * math.pi * random.Random(seed).random())
    if not cmath.isfinite(gamma) or gamma == 0:
        raise InputError(f"`gamma` ({gamma}) must be a finite number that is not 0")
    if power < 1:
        raise InputError(f"`power` ({power}) must be at least 1")
    request = {
        "operation": "track",
        "target": target.lines(precision),
        "start": start.lines(precision),
        "solutions": _points(start_solutions, len(start.variables)),
        "gamma": [gamma.real, gamma.imag],
        "power": power,
        **common,
    }
    return Job(target, request, seed, precision)


def _common(seed: int, precision: str, newton: int) -> dict[str, Any]:
    for name, value in (("seed", seed), ("newton", newton)):
        if value < 0:
            raise InputError(f"`{name}` ({value}) must be at least 0")
    if precision not in PRECISIONS:
        raise InputError(f"`precision` ({precision!r}) must be one of {', '.join(PRECISIONS)}")
    if precision == "qd":  # phcpy 1.1.2 returns empty texts from this step, or raises
        newton = 0
    # A seed beyond 2^31 - 1 ends the process; 0 is kept out as "no seed".
    return {"seed": 1 + seed % MAX_SEED, "precision": precision, "newton": newton}


def _points(points: ArrayLike, size: int) -> list[str]:
    """Points as solution strings."""
    array = np.asarray(points, dtype=complex)
    if array.ndim != 2 or array.shape[1] != size or not np.isfinite(array).all():
        raise InputError(
            f"`start_solutions` has shape {array.shape}; it must be (points)×{size}, finite numbers"
        )
    return [write_solution(point) for point in array.tolist()]
