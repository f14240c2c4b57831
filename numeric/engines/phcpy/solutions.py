"""Solutions in PHCpack's format, and which of them to accept.

PHCpack returns the endpoint of every path, including failed paths, so a solution string alone does
not show that there is a root.  Its numbers do: ``t`` (position on the path), ``err`` (last Newton
update), ``rco`` (estimated inverse condition number) and ``res`` (residual).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from numeric.engines.phcpy.systems import PhcSystem

# Accepted roots within this distance, relative to their size, are one root found twice.
SAME_ROOT = 1e-9

_PAIR = re.compile(r"^ *(\S+) *: *(\S+) +(\S+) *$", re.MULTILINE)
_COUNT = re.compile(r"^ *m *: *(-?\d+)", re.MULTILINE)
_QUALITY = re.compile(r"==\s*err\s*:\s*(\S+)\s*=\s*rco\s*:\s*(\S+)\s*=\s*res\s*:\s*(\S+)\s*=")


@dataclass(frozen=True)
class PhcpySolution:
    """The end of one path.

    Attributes
    ----------
    values : tuple of complex
        In the order of the requested unknowns.
    t : complex
        Where the path stopped; 1 is its end.  Solvers that track no path (one unknown,
        triangular and linear systems) leave 0.
    err : float
        Size of the last Newton update (sum of moduli, absolute).
    rco : float
        Estimate of the inverse condition number of the Jacobian; for one unknown the
        modulus of the derivative.
    res : float
        Residual as PHCpack reports it, of the scaled equations (absolute).
    multiplicity : int
        As PHCpack reports it. Often 0 at regular roots of size 100 and more, so it is no
        reason to reject one.
    backward : float
        Backward error computed here (`PhcSystem.backward_errors`), independently of
        PHCpack's numbers.
    tracked : bool
        Whether it is the end of a path from a given start; then only t = 1 is an end.
    """

    values: tuple[complex, ...]
    t: complex
    err: float
    rco: float
    res: float
    multiplicity: int
    backward: float
    tracked: bool = False

    @property
    def size(self) -> float:
        """Largest modulus among the coordinates, at least 1."""
        return max(1.0, *(abs(v) for v in self.values)) if self.values else 1.0

    def is_real(self) -> bool:
        """Whether every imaginary part is below 1e-8 times `size`."""
        return all(abs(v.imag) <= 1e-8 * self.size for v in self.values)


def accepted(solution: PhcpySolution) -> bool:
    """Whether the end of a path is a regular root.

    The conditions: t = 1 (or exactly 0 where PHCpack may have tracked no path, see
    `PhcpySolution`); the last Newton update is small relative to the largest coordinate; so is
    the backward error, the residual relative to its terms; and the inverse
    condition number is not so small that the root is multiple, not isolated or at infinity.

    Notes
    -----
    Absolute bounds on ``err`` and ``res`` would fail in both directions: at a good root of
    size 10^4 PHCpack reports residuals of 1e-8, and at a false one of size 1e-300 none.
    """
    return (
        all(math.isfinite(v.real) and math.isfinite(v.imag) for v in solution.values)
        and (abs(solution.t - 1) <= 1e-8 or (solution.t == 0 and not solution.tracked))
        and solution.err <= 1e-8 * solution.size
        and solution.rco >= 1e-14
        and solution.backward <= 1e-9
    )


@dataclass(frozen=True)
class PhcpyResult:
    """The result of one call.

    Attributes
    ----------
    variables : tuple of str
        Order of the coordinates.
    solutions : tuple of PhcpySolution
        One for each path, accepted or not.
    status : str
        "solved": PHCpack finished; whether it found every root is not known.
        "inconsistent": an equation reads c = 0, there is no root (proved).
        "underdetermined": fewer equations than unknowns, no root is isolated.
    seed : int
        The seed that reproduces this result.
    precision : str
        "d", "dd" or "qd".
    seconds : float
        Time inside phcpy.
    """

    variables: tuple[str, ...]
    solutions: tuple[PhcpySolution, ...]
    status: str
    seed: int
    precision: str
    seconds: float

    @cached_property
    def accepted(self) -> tuple[PhcpySolution, ...]:
        """The distinct regular roots: those that pass `accepted`, each counted once.

        If two paths end in the same root another root was missed.  Compare the
        number with the generic root count.
        """
        kept: list[PhcpySolution] = []
        for solution in filter(accepted, self.solutions):
            if all(_distance(solution, other) > SAME_ROOT for other in kept):
                kept.append(solution)
        return tuple(kept)

    @property
    def failed(self) -> int:
        """Number of path ends that are not roots, or roots found before."""
        return len(self.solutions) - len(self.accepted)

    @cached_property
    def roots(self) -> np.ndarray:
        """The accepted roots as a complex array, (roots)×(unknowns)."""
        values = [solution.values for solution in self.accepted]
        return np.array(values, dtype=complex).reshape(len(values), len(self.variables))

    def __str__(self) -> str:
        real = sum(solution.is_real() for solution in self.accepted)
        return (
            f"{self.status}: {len(self.solutions)} paths, {len(self.accepted)} roots "
            f"({real} real), {self.failed} failed; precision {self.precision}, "
            f"seed {self.seed}, {self.seconds:.3g} s"
        )


def _distance(a: PhcpySolution, b: PhcpySolution) -> float:
    """Largest difference of two points, relative to their size."""
    return max((abs(u - v) for u, v in zip(a.values, b.values, strict=True)), default=0.0) / max(
        a.size, b.size
    )


def write_solution(values: Sequence[complex]) -> str:
    """A point as a PHCpack solution string over ``x0, x1, …``, at t = 0."""
    lines = ["t : 0.0 0.0", "m : 1", "the solution for t :"]
    lines += [f" x{k} : {z.real:.17E}  {z.imag:.17E}" for k, z in enumerate(map(complex, values))]
    return "\n".join(lines) + "\n== err : 0.0 = rco : 1.0 = res : 0.0 ="


def read_solutions(
    texts: Iterable[str], system: PhcSystem, tracked: bool = False
) -> tuple[PhcpySolution, ...]:
    """Solution strings as solutions of a system, its unknowns in order.

    If several paths end in one point phcpy writes all but one of them as "X": such a
    text is a failed path, its numbers are nan.

    Raises
    ------
    ValueError
        If a text is not a solution string in the system's unknowns.
    """
    parsed = [_parse(text, len(system.variables)) for text in texts]
    points = np.array([values for values, *_ in parsed], dtype=complex)
    backward = system.backward_errors(points.reshape(len(parsed), len(system.variables)))
    return tuple(
        PhcpySolution(values, t, err, rco, res, multiplicity, float(error), tracked)
        for (values, t, multiplicity, err, rco, res), error in zip(parsed, backward, strict=True)
    )


def _parse(text: str, size: int) -> tuple[tuple[complex, ...], complex, int, float, float, float]:
    if len(text) <= 1 or text.isspace():
        return (complex(math.nan, math.nan),) * size, 0j, 0, math.nan, math.nan, math.nan
    numbers = {name: complex(_float(re_), _float(im)) for name, re_, im in _PAIR.findall(text)}
    quality, count = _QUALITY.search(text), _COUNT.search(text)
    try:
        values = tuple(numbers[f"x{k}"] for k in range(size))
        t = numbers["t"]
    except KeyError as error:
        raise ValueError(f"no value of {error} in the solution {text[:200]!r}") from None
    if quality is None or count is None:
        raise ValueError(f"no err, rco, res or m in the solution {text[:200]!r}")
    err, rco, res = map(_float, quality.groups())
    return values, t, int(count[1]), err, rco, res


def _float(text: str) -> float:
    """A number as Ada prints it; ``NaN****``, ``+Inf***`` and overflowing fields are nan."""
    try:
        return float(text)
    except ValueError:
        return math.nan
