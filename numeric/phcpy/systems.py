"""Polynomial systems as PHCpack reads them.

A system is normalised before it is sent: the unknowns are renamed ``x0, x1, …`` (PHCpack
reserves ``i``, ``I``, ``e`` and ``E``), like monomials are collected, each equation is
divided by a power of two near its largest coefficient, trivial equations are settled
here, and the order of the unknowns is fixed by a prefix ``x0-x0+x1-x1+…`` of the first
polynomial.  Without that prefix PHCpack takes the order in which unknowns appear, which
may differ between the start and the target of a homotopy: it then exchanges coordinates
silently.
"""

from __future__ import annotations

import cmath
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal

import numpy as np

from algebra.errors import InputError

Terms = Mapping[tuple[int, ...], complex]
"""A polynomial: exponents of the unknowns to coefficient."""

PRECISIONS = {"d": 17, "dd": 35, "qd": 68}
"""Precisions of PHCpack, with the decimals in which a double is written for them."""

RESERVED = frozenset({"i", "I", "j", "J", "e", "E"})
MAX_EXPONENT = 1000

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_]\w*(?:\[\d+(?:, ?\d+)*\])?)"
    r"|(?P<sign>\*\*|[-+*/^()]))"
)


def _tokens(text: str) -> list[tuple[str, str]]:
    """Pairs (kind, token); a trailing ``;`` is dropped."""
    body = text.strip().removesuffix(";").rstrip()
    tokens, place = [], 0
    while place < len(body):
        match = _TOKEN.match(body, place)
        if match is None:
            raise InputError(
                f"polynomial {_short(text)}: cannot read {body[place:].strip()[:12]!r}; "
                "write sums of products such as 2*x0^2 - 3.5*x0*x1 + 1"
            )
        tokens.append((str(match.lastgroup), match[match.lastgroup or 0]))
        place = match.end()
    return tokens


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")


def unknowns(polynomials: Iterable[str]) -> tuple[str, ...]:
    """Names in some polynomials, in natural order (x2 before x10)."""
    names = {
        token
        for text in polynomials
        for kind, token in _tokens(text)
        if kind == "name" and token not in RESERVED
    }
    return tuple(sorted(names, key=_natural))


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


class _Parser:
    """Recursive descent over ``+ - * / ^`` and brackets, collecting monomials."""

    def __init__(self, text: str, variables: Sequence[str]) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.place = 0
        self.size = len(variables)
        self.index = {name: k for k, name in enumerate(variables)}

    def fail(self, why: str) -> InputError:
        return InputError(f"polynomial {_short(self.text)}: {why}")

    def peek(self) -> str:
        if self.place == len(self.tokens):
            return ""
        kind, token = self.tokens[self.place]
        return token if kind == "sign" else kind

    def read(self) -> dict[tuple[int, ...], complex]:
        value = self.sum()
        if self.place != len(self.tokens):
            raise self.fail(f"{self.tokens[self.place][1]!r} is out of place")
        return value

    def sum(self) -> dict[tuple[int, ...], complex]:
        total = self.product()
        while self.peek() in ("+", "-"):
            sign = 1 if self.peek() == "+" else -1
            self.place += 1
            for monomial, value in self.product().items():
                total[monomial] = total.get(monomial, 0) + sign * value
        return total

    def product(self) -> dict[tuple[int, ...], complex]:
        total = self.power()
        while self.peek() in ("*", "/"):
            divide = self.peek() == "/"
            self.place += 1
            factor = self.power()
            if divide:
                value = factor.get((0,) * self.size, 0)
                if len(factor) != 1 or value == 0:
                    raise self.fail("only division by a constant that is not 0 is allowed")
                total = {monomial: c / value for monomial, c in total.items()}
            else:
                total = _times(total, factor)
        return total

    def power(self) -> dict[tuple[int, ...], complex]:
        if self.peek() in ("+", "-"):
            sign = 1 if self.peek() == "+" else -1
            self.place += 1
            return {monomial: sign * value for monomial, value in self.power().items()}
        base = self.atom()
        if self.peek() not in ("^", "**"):
            return base
        self.place += 1
        token = self.tokens[self.place][1] if self.peek() == "number" else ""
        if not token.isdigit() or int(token) > MAX_EXPONENT:
            raise self.fail(f"an exponent must be a whole number from 0 to {MAX_EXPONENT}")
        self.place += 1
        exponent = int(token)
        if len(base) == 1:
            ((monomial, value),) = base.items()
            return {tuple(a * exponent for a in monomial): value**exponent}
        result: dict[tuple[int, ...], complex] = {(0,) * self.size: 1.0}
        for _ in range(exponent):
            result = _times(result, base)
        return result

    def atom(self) -> dict[tuple[int, ...], complex]:
        kind = self.peek()
        if kind not in ("number", "name", "("):
            what = repr(kind) if kind else "the end"
            raise self.fail(f"a number, an unknown or a bracket must stand before {what}")
        token = self.tokens[self.place][1]
        self.place += 1
        if kind == "number":
            return {(0,) * self.size: float(token)}
        if kind == "(":
            value = self.sum()
            if self.peek() != ")":
                raise self.fail("a bracket is not closed")
            self.place += 1
            return value
        if token in ("i", "I"):
            return {(0,) * self.size: 1j}
        if token not in self.index:
            known = ", ".join(self.index) or "none"
            raise self.fail(f"{token!r} is not among the unknowns ({known})")
        exponents = [0] * self.size
        exponents[self.index[token]] = 1
        return {tuple(exponents): 1.0}


def _times(
    first: Mapping[tuple[int, ...], complex], second: Mapping[tuple[int, ...], complex]
) -> dict[tuple[int, ...], complex]:
    product: dict[tuple[int, ...], complex] = {}
    for a, c in first.items():
        for b, d in second.items():
            monomial = tuple(map(sum, zip(a, b, strict=True)))
            product[monomial] = product.get(monomial, 0) + c * d
    return product


def parse_polynomial(text: str, variables: Sequence[str]) -> dict[tuple[int, ...], complex]:
    """Read a polynomial such as ``2*x0^2 - (1/3)*x0*x1 + (0.5+2*i)*x1 - 3.0e+05``.

    Parameters
    ----------
    text : str
        Both ``^`` and ``**`` are powers; ``i`` and ``I`` are √-1; a final ``;`` is allowed.
    variables : sequence of str
        The unknowns, in the order of the exponents returned.

    Returns
    -------
    dict of tuple of int to complex
        Coefficients that are not 0 after like monomials are collected.

    Raises
    ------
    InputError
        Where the text is not a polynomial in these unknowns.

    Examples
    --------
    >>> parse_polynomial("(x - 1)*(x + 1) - 1e-20*y", ["x", "y"])
    {(2, 0): 1.0, (0, 0): -1.0, (0, 1): -1e-20}
    """
    terms = _Parser(text, variables).read()
    return {monomial: value for monomial, value in terms.items() if value != 0}


@dataclass(frozen=True)
class PhcSystem:
    """A normalised square system, or the answer where none is needed.

    Make one with `PhcSystem.read`.

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
        0 = 0, or an unknown occurs nowhere; any solutions are not isolated.
    """

    variables: tuple[str, ...]
    exponents: tuple[np.ndarray, ...]
    coefficients: tuple[np.ndarray, ...]
    status: str

    @classmethod
    def read(
        cls,
        polynomials: Sequence[str | Terms],
        variables: Sequence[str] | None = None,
        *,
        scale: bool = True,
    ) -> PhcSystem:
        """Normalise polynomials given as text or as exponents to coefficients.

        Parameters
        ----------
        polynomials : sequence of str or mapping
            Each equated to 0; a mapping goes from exponents of the unknowns to coefficients.
        variables : sequence of str, optional
            The unknowns. By default the names in the texts in natural order, or
            ``x0, x1, …`` where mappings are given.
        scale : bool, optional
            Whether each equation is divided by a power of two.

        Raises
        ------
        InputError
            Where a polynomial cannot be read, a coefficient is not finite, a name is
            reserved or given twice, or there are more equations than unknowns.
        """
        names = cls.names(polynomials) if variables is None else tuple(variables)
        if len(set(names)) != len(names):
            raise InputError(f"`variables` ({', '.join(names)}) names an unknown twice")
        if taken := RESERVED.intersection(names):
            raise InputError(
                f"`variables`: {sorted(taken)[0]!r} is reserved (√-1 or a power of ten); "
                "use x0, x1, …"
            )
        equations = [
            parse_polynomial(p, names) if isinstance(p, str) else _checked(p, len(names))
            for p in polynomials
        ]
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
    def names(polynomials: Sequence[str | Terms]) -> tuple[str, ...]:
        """The unknowns of some polynomials where they are not given."""
        texts = [p for p in polynomials if isinstance(p, str)]
        if texts:
            return unknowns(texts)
        width = max((len(e) for p in polynomials for e in p), default=0)
        return tuple(f"x{k}" for k in range(width))

    def lines(self, precision: str = "d") -> list[str]:
        """The polynomials as PHCpack reads them."""
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
        """How badly points miss the equations, on a scale where rounding is about 1e-16.

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
        worst = np.zeros(len(points))
        with np.errstate(all="ignore"):
            for exponents, coefficients in zip(self.exponents, self.coefficients, strict=True):
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
                "one an unknown"
            )
    return {tuple(map(int, a)): complex(c) for a, c in terms.items() if c != 0}


def _arrays(terms: Mapping[tuple[int, ...], complex], scale: bool) -> tuple[np.ndarray, np.ndarray]:
    """Exponents and coefficients; scaled by a power of two, which rounds nothing."""
    order = sorted(terms, reverse=True)
    values = [complex(terms[a]) for a in order]
    largest = max(max(abs(v.real), abs(v.imag)) for v in values)
    shift = -math.frexp(largest)[1] if scale else 0
    scaled = [complex(math.ldexp(v.real, shift), math.ldexp(v.imag, shift)) for v in values]
    kept = [k for k, v in enumerate(scaled) if v != 0]  # 1e-320 beside 1e300 is lost
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
