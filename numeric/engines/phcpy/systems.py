"""Polynomial systems in PHCpack's format.

A system is normalised before it is sent: the unknowns are renamed ``x0, x1, …`` (PHCpack
reserves ``i``, ``I``, ``e`` and ``E``), like monomials are collected, each equation is
divided by a power of two near its largest coefficient, trivial equations are handled
here, and the order of the unknowns is fixed by a prefix ``x0-x0+x1-x1+…`` of the first
polynomial.  Without that prefix PHCpack uses the order in which unknowns appear, which
may differ between the start and the target of a homotopy: it then silently exchanges
coordinates.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal

import numpy as np

from algebra.errors import InputError

Terms = Mapping[tuple[int, ...], complex]
"""A polynomial: exponents of the unknowns to coefficient."""

PRECISIONS = {"d": 17, "dd": 35, "qd": 68}
"""Precisions of PHCpack, with the number of decimals in which a double is written for them."""

RESERVED = frozenset({"i", "I", "j", "J", "e", "E"})
MAX_EXPONENT = 1000


@dataclass(frozen=True)
class PhcSystem:
    """A normalised square system, or the answer if none is needed.

    Created by `PhcSystem.read`.

    Attributes
    ----------
    variables : tuple of str
        The unknowns under their own names.
    exponents : tuple of ndarray
        For each equation its monomials, (terms)×(unknowns), int64.
    coefficients : tuple of ndarray
        For each equation its coefficients; scaled, the largest is of modulus in [1/2, √2).
    status : str
        "square": to be solved. "inconsistent": an equation reads c = 0 with c ≠ 0.
        "underdetermined": fewer equations than unknowns are left without those that read
        0 = 0, or an unknown does not occur; solutions, if any, are not isolated.
    """

    variables: tuple[str, ...]
    exponents: tuple[np.ndarray, ...]
    coefficients: tuple[np.ndarray, ...]
    status: str

    @classmethod
    def read(
        cls,
        polynomials: Sequence[Terms],
        variables: Sequence[str] | None = None,
        *,
        scale: bool = True,
    ) -> PhcSystem:
        """Normalise polynomials.

        Parameters
        ----------
        polynomials : sequence of mapping
            Each equated to 0: exponents of the unknowns to coefficients.
        variables : sequence of str, optional
            Names of the unknowns; by default ``x0, x1, …``.
        scale : bool, optional
            Whether each equation is divided by a power of two.

        Raises
        ------
        InputError
            If the number of exponents is wrong or one is negative, a coefficient is not finite, a
            name is reserved or given twice, or there are more equations than unknowns.
        """
        names = cls.names(polynomials) if variables is None else tuple(variables)
        if len(set(names)) != len(names):
            raise InputError(f"`variables` ({', '.join(names)}) names an unknown twice")
        if taken := RESERVED.intersection(names):
            raise InputError(
                f"`variables`: {sorted(taken)[0]!r} is reserved (√-1 or a power of ten); "
                "use x0, x1, …"
            )
        equations = [_checked(p, len(names)) for p in polynomials]
        for k, terms in enumerate(equations):
            if not all(cmath.isfinite(value) for value in terms.values()):
                raise InputError(f"`polynomials`[{k}] has a coefficient that is not finite")
        equations = [terms for terms in equations if terms]
        status = "square"
        if any(not any(any(a) for a in terms) for terms in equations):
            status, equations = "inconsistent", []
        elif len(equations) > len(names):
            raise InputError(
                f"`polynomials`: {len(equations)} equations in {len(names)} unknowns; "
                "PHCpack's solver takes as many equations as unknowns"
            )
        else:
            used = {k for terms in equations for a in terms for k, e in enumerate(a) if e}
            if len(equations) < len(names) or len(used) < len(names):
                status, equations = "underdetermined", []
        rows = [_arrays(terms, scale) for terms in equations]
        return cls(names, tuple(r[0] for r in rows), tuple(r[1] for r in rows), status)

    @staticmethod
    def names(polynomials: Sequence[Terms]) -> tuple[str, ...]:
        """The unknowns of some polynomials if they are not given."""
        width = max((len(e) for p in polynomials for e in p), default=0)
        return tuple(f"x{k}" for k in range(width))

    def lines(self, precision: str = "d") -> list[str]:
        """The polynomials in PHCpack's format."""
        digits = PRECISIONS[precision]
        lines = []
        for exponents, coefficients in zip(self.exponents, self.coefficients, strict=True):
            parts = []
            for row, value in zip(exponents.tolist(), coefficients.tolist(), strict=True):
                factors = [_number(value, digits)]
                factors += [f"x{k}" if a == 1 else f"x{k}^{a}" for k, a in enumerate(row) if a]
                parts.append("*".join(factors))
            lines.append("".join(parts) + ";")
        if lines:
            order = "+".join(f"x{k}-x{k}" for k in range(len(self.variables)))
            lines[0] = order + lines[0]
        return lines

    def backward_errors(self, points: np.ndarray) -> np.ndarray:
        """Backward errors of points, on a scale where rounding is about 1e-16.

        Parameters
        ----------
        points : ndarray
            Complex, (points)×(unknowns).

        Returns
        -------
        ndarray
            For each point the largest ``|f(x)| / Σ |c_a x^a|`` over the equations f: the
            smallest relative change of the coefficients that makes x an exact root (Oettli
            and Prager). ``inf`` where a point or a value is not finite.

        References
        ----------
        W. Oettli and W. Prager, "Compatibility of approximate solution of linear equations
        with given error bounds for coefficients and right-hand sides", Numer. Math. 6 (1964).
        """
        return _backward_errors(zip(self.exponents, self.coefficients, strict=True), points)


def backward_errors(polynomials: Sequence[Terms], points: np.ndarray) -> np.ndarray:
    """`PhcSystem.backward_errors` for any polynomials, for instance more than unknowns."""
    points = np.asarray(points, complex)
    rows = [_arrays(_checked(p, points.shape[1]), True) for p in polynomials]
    return _backward_errors(rows, points)


def _backward_errors(
    polynomials: Iterable[tuple[np.ndarray, np.ndarray]], points: np.ndarray
) -> np.ndarray:
    worst = np.zeros(len(points))
    with np.errstate(all="ignore"):
        for exponents, coefficients in polynomials:
            powers = np.prod(points[:, None, :] ** exponents[None, :, :], axis=2)
            terms = powers * coefficients
            size = np.abs(terms).sum(axis=1)
            ratio = np.abs(terms.sum(axis=1)) / np.where(size == 0, 1, size)
            worst = np.maximum(worst, np.where(np.isfinite(ratio), ratio, np.inf))
    return worst


def _checked(terms: Terms, size: int) -> dict[tuple[int, ...], complex]:
    for monomial in terms:
        if len(monomial) != size or any(a < 0 or a > MAX_EXPONENT for a in monomial):
            raise InputError(
                f"`polynomials`: {monomial!r} must be {size} exponents from 0 to {MAX_EXPONENT}, "
                "one for each unknown"
            )
    return {tuple(map(int, a)): complex(c) for a, c in terms.items() if c != 0}


def _arrays(terms: Mapping[tuple[int, ...], complex], scale: bool) -> tuple[np.ndarray, np.ndarray]:
    """Exponents and coefficients, scaled by a power of two, which causes no rounding."""
    order = sorted(terms, reverse=True)
    values = [complex(terms[a]) for a in order]
    largest = max(max(abs(v.real), abs(v.imag)) for v in values)
    shift = -math.frexp(largest)[1] if scale else 0
    scaled = [complex(math.ldexp(v.real, shift), math.ldexp(v.imag, shift)) for v in values]
    kept = [k for k, v in enumerate(scaled) if v != 0]  # 1e-320 next to 1e300 is lost
    return np.array(order, dtype=np.int64)[kept], np.array(scaled)[kept]


def _number(value: complex, digits: int) -> str:
    if value.imag == 0:
        return _real(value.real, digits)
    return f"+({_real(value.real, digits)}{_real(value.imag, digits)}*i)"


def _real(value: float, digits: int) -> str:
    """A double with sign in `digits` decimals; beyond 17 they are its exact expansion."""
    if digits <= 17:
        return f"{value:+.17e}"
    return f"{Context(prec=digits).plus(Decimal(value)):+.{digits}e}"
