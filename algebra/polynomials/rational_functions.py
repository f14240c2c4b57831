"""Polynomials whose coefficients are rational functions of parameters, for systems with symbols.

They have the same small interface as those of `algebra.polynomials.rings.RationalField`, so that
exact elimination runs with symbols for the data: coefficients are fractions of FLINT's integer
polynomials, polynomials in the unknowns are mappings from exponents to them.  For small systems
only, since fractions grow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy
from flint import fmpq, fmpz, fmpz_mpoly, fmpz_mpoly_ctx

from algebra.time_limits import check_time

Monomial = tuple[int, ...]


class RationalFunction:
    """A fraction of two integer polynomials in the parameters, in lowest terms.

    Attributes
    ----------
    top, bottom : fmpz_mpoly
        The leading coefficient of `bottom` is positive.
    """

    __slots__ = ("bottom", "top")

    def __init__(self, top: Any, bottom: Any) -> None:
        common = top.gcd(bottom) if top != 0 else bottom
        if common != 1:
            top, bottom = top // common, bottom // common
        if bottom.leading_coefficient() < 0:
            top, bottom = -top, -bottom
        self.top = top
        self.bottom = bottom

    def _other(self, other: Any) -> RationalFunction | None:
        if isinstance(other, RationalFunction):
            return other
        one = self.bottom.context().constant(1)
        if isinstance(other, (int, fmpz)):
            return RationalFunction(one * other, one)
        if isinstance(other, fmpq):
            return RationalFunction(one * other.p, one * other.q)
        return None

    def __add__(self, other: Any) -> RationalFunction:
        b = self._other(other)
        if b is None:
            return NotImplemented
        if self.bottom == b.bottom:
            return RationalFunction(self.top + b.top, self.bottom)
        return RationalFunction(self.top * b.bottom + b.top * self.bottom, self.bottom * b.bottom)

    __radd__ = __add__

    def __neg__(self) -> RationalFunction:
        return RationalFunction(-self.top, self.bottom)

    def __sub__(self, other: Any) -> RationalFunction:
        b = self._other(other)
        return NotImplemented if b is None else self + (-b)

    def __rsub__(self, other: Any) -> RationalFunction:
        return -self + other

    def __mul__(self, other: Any) -> RationalFunction:
        b = self._other(other)
        if b is None:
            return NotImplemented
        return RationalFunction(self.top * b.top, self.bottom * b.bottom)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> RationalFunction:
        b = self._other(other)
        if b is None:
            return NotImplemented
        if b.top == 0:
            raise ZeroDivisionError("division by the zero function")
        return RationalFunction(self.top * b.bottom, self.bottom * b.top)

    def __rtruediv__(self, other: Any) -> RationalFunction:
        b = self._other(other)
        return NotImplemented if b is None else b / self

    def __pow__(self, exponent: int) -> RationalFunction:
        return RationalFunction(self.top**exponent, self.bottom**exponent)

    def __eq__(self, other: object) -> bool:
        b = self._other(other)
        if b is None:
            return NotImplemented
        return bool(self.top == b.top and self.bottom == b.bottom)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return bool(self.top != 0)

    def as_expr(self) -> sympy.Expr:
        """As a SymPy expression."""
        expression: sympy.Expr = expression_of(self.top) / expression_of(self.bottom)
        return expression

    def __repr__(self) -> str:
        return str(self.as_expr())


def expression_of(polynomial: fmpz_mpoly) -> sympy.Expr:
    """An integer polynomial as a SymPy expression.

    Examples
    --------
    >>> x, y = fmpz_mpoly_ctx.get(("x", "y"), "lex").gens()
    >>> expression_of(2 * x * y - 1)
    2*x*y - 1
    """
    symbols = [sympy.Symbol(name) for name in polynomial.context().names()]
    terms = []
    for monomial, coefficient in polynomial.to_dict().items():
        powers = [x**e for x, e in zip(symbols, monomial, strict=True) if e]
        terms.append(sympy.Mul(sympy.Integer(int(coefficient)), *powers))
    return sympy.Add(*terms)


def _factored(polynomial: fmpz_mpoly) -> sympy.Expr:
    """The same in factors, for printing."""
    constant, factors = polynomial.factor()
    powers = [expression_of(factor) ** power for factor, power in factors]
    return sympy.Mul(sympy.Integer(int(constant)), *powers)


class RationalFunctions:
    """The field Q(parameters), which notes by what eliminations divide.

    Parameters
    ----------
    parameters : sequence of str

    Attributes
    ----------
    divisors : frozenset of str
        Irreducible polynomials in the parameters that were divided by, in SymPy's notation: where
        none of them is 0 the results hold at the values of the parameters.

    Examples
    --------
    >>> field = RationalFunctions(["a", "b"])
    >>> a, b = field.parameters
    >>> field.rref([[a, b], [a * a, a * b]], 2)
    [[1, b/a]]
    >>> field.divisors
    frozenset({'a'})
    """

    characteristic = 0

    def __init__(self, parameters: Sequence[str]) -> None:
        self.names = tuple(parameters)
        # At least one parameter, since a ring of polynomials needs one.
        self._ring = fmpz_mpoly_ctx.get(self.names or ("_",), "degrevlex")
        self._one = self._ring.constant(1)
        self.divisors: frozenset[str] = frozenset()
        gens = self._ring.gens()[: len(self.names)]
        self.parameters: tuple[RationalFunction, ...] = tuple(
            RationalFunction(x, self._one) for x in gens
        )

    def constant(self, value: Any) -> RationalFunction:
        """The value as an element of the field."""
        if isinstance(value, RationalFunction):
            return value
        if isinstance(value, (int, fmpz)):
            return RationalFunction(self._one * int(value), self._one)
        top, bottom = (
            (value.p, value.q) if isinstance(value, fmpq) else (value.numerator, value.denominator)
        )
        return RationalFunction(self._one * int(top), self._one * int(bottom))

    def context(self, names: Sequence[str]) -> PolynomialRing:
        """The polynomial ring in these unknowns."""
        return PolynomialRing(self, tuple(names))

    def generators(self, names: Sequence[str]) -> list[Any]:
        """The generators of the ring."""
        return list(self.context(names).gens())

    def note(self, divisor: fmpz_mpoly) -> None:
        """Note that something is divided by a polynomial in the parameters."""
        self.divisors |= {str(expression_of(factor)) for factor, _ in divisor.factor()[1]}

    def rref(self, rows: Sequence[Sequence[Any]], columns: int) -> list[list[Any]]:
        """Reduced row echelon form, without its zero rows.

        The product of the pivots is the minor of their rows and columns, up to its sign.  Where it
        is not 0 the unknowns of these columns are the same functions of the others, so it alone is
        noted, and not each pivot.
        """
        left = [[self.constant(entry) for entry in row] for row in rows]
        done: list[list[Any]] = []
        minor = self.constant(1)
        for column in range(columns):
            check_time()
            # The shortest pivot keeps fractions short.
            choices = [row for row in left if row[column] != 0]
            if not choices:
                continue
            pivot = min(choices, key=lambda row: _length(row[column]))
            left = [row for row in left if row is not pivot]
            minor = minor * pivot[column]
            inverse = 1 / pivot[column]
            pivot = [entry * inverse for entry in pivot]
            for group in (left, done):
                for k, row in enumerate(group):
                    factor = row[column]
                    if factor != 0:
                        group[k] = [x - factor * y for x, y in zip(row, pivot, strict=True)]
            done.append(pivot)
        self.note(minor.top)
        return done

    def __repr__(self) -> str:
        return f"RationalFunctions({list(self.names)})"


def _length(value: RationalFunction) -> int:
    return len(value.top) + len(value.bottom)


class PolynomialRing:
    """Polynomials in some unknowns over `RationalFunctions`."""

    def __init__(self, field: RationalFunctions, names: tuple[str, ...]) -> None:
        self.field = field
        self.names = names

    def gens(self) -> tuple[Polynomial, ...]:
        """The unknowns."""
        n = len(self.names)
        one = self.field.constant(1)
        return tuple(
            Polynomial(self, {tuple(int(i == k) for i in range(n)): one}) for k in range(n)
        )

    def constant(self, value: Any) -> Polynomial:
        """A constant polynomial."""
        return self.from_dict({(0,) * len(self.names): self.field.constant(value)})

    def from_dict(self, terms: Mapping[Monomial, Any]) -> Polynomial:
        """The polynomial with these terms; zero terms are omitted."""
        return Polynomial(self, {m: c for m, c in terms.items() if c != 0})


class Polynomial:
    """A sparse polynomial; see `PolynomialRing.from_dict`."""

    __slots__ = ("ring", "terms")

    def __init__(self, ring: PolynomialRing, terms: dict[Monomial, Any]) -> None:
        self.ring = ring
        self.terms = terms

    def __len__(self) -> int:
        return len(self.terms)

    def to_dict(self) -> dict[Monomial, Any]:
        """Exponents to coefficients."""
        return self.terms

    def monoms(self) -> list[Monomial]:
        """Exponents of the terms, highest degree first."""
        return sorted(self.terms, key=lambda m: (sum(m), m), reverse=True)

    def total_degree(self) -> int:
        """The total degree; -1 for 0."""
        return max((sum(m) for m in self.terms), default=-1)

    def degrees(self) -> tuple[int, ...]:
        """The degree in each unknown."""
        n = len(self.ring.names)
        return tuple(max((m[k] for m in self.terms), default=0) for k in range(n))

    def is_constant(self) -> bool:
        """Whether no unknown occurs."""
        return self.total_degree() <= 0

    def leading_coefficient(self) -> Any:
        """The coefficient of the first of `monoms`."""
        return self.terms[self.monoms()[0]]

    def _other(self, other: Any) -> Polynomial:
        return other if isinstance(other, Polynomial) else self.ring.constant(other)

    def __add__(self, other: Any) -> Polynomial:
        total = dict(self.terms)
        for monomial, coefficient in self._other(other).terms.items():
            total[monomial] = total[monomial] + coefficient if monomial in total else coefficient
        return self.ring.from_dict(total)

    __radd__ = __add__

    def __neg__(self) -> Polynomial:
        return Polynomial(self.ring, {m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Any) -> Polynomial:
        return self + (-self._other(other))

    def __rsub__(self, other: Any) -> Polynomial:
        return self._other(other) - self

    def __mul__(self, other: Any) -> Polynomial:
        if not isinstance(other, Polynomial):
            factor = self.ring.field.constant(other)
            return self.ring.from_dict({m: c * factor for m, c in self.terms.items()})
        total: dict[Monomial, Any] = {}
        for m, c in self.terms.items():
            for n, d in other.terms.items():
                key = tuple(x + y for x, y in zip(m, n, strict=True))
                total[key] = total[key] + c * d if key in total else c * d
        return self.ring.from_dict(total)

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Polynomial):
            return self.terms == other.terms
        if isinstance(other, (int, fmpz, fmpq, RationalFunction)):
            return self.terms == self._other(other).terms
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return bool(self.terms)

    def _at(self, values: Sequence[Any], one: Any) -> Any:
        total: Any = one * 0
        for monomial, coefficient in self.terms.items():
            term = one * coefficient
            for exponent, value in zip(monomial, values, strict=True):
                for _ in range(exponent):
                    term = term * value
            total = total + term
        return total

    def compose(self, *images: Polynomial, ctx: PolynomialRing) -> Polynomial:
        """The polynomial with the unknowns replaced by polynomials of another ring."""
        check_time()
        composed: Polynomial = self._at(images, ctx.constant(1))
        return composed

    def __call__(self, *point: Any) -> Any:
        """The value at elements of the field."""
        return self._at(point, self.ring.field.constant(1))

    def cleared(self) -> sympy.Expr:
        """The polynomial without denominators and common factors, as a SymPy expression."""
        common = None
        for c in self.terms.values():
            # The least common multiple of the denominators.
            common = c.bottom if common is None else common * (c.bottom // common.gcd(c.bottom))
        tops = {m: c.top * (common // c.bottom) for m, c in self.terms.items()}
        factor = None
        for top in tops.values():
            factor = top if factor is None else factor.gcd(top)
        ring = self.ring
        if factor is not None:
            ring.field.note(factor)
        unknowns = [sympy.Symbol(name) for name in ring.names]
        terms = []
        for monomial in self.monoms():
            powers = [x**e for x, e in zip(unknowns, monomial, strict=True) if e]
            terms.append(sympy.Mul(_factored(tops[monomial] // factor), *powers))
        return sympy.Add(*terms)

    def as_expr(self) -> sympy.Expr:
        """As a SymPy expression."""
        unknowns = [sympy.Symbol(name) for name in self.ring.names]
        total = sympy.Integer(0)
        for monomial in self.monoms():
            term = self.terms[monomial].as_expr()
            for unknown, exponent in zip(unknowns, monomial, strict=True):
                term *= unknown**exponent
            total += term
        return total

    def __repr__(self) -> str:
        return str(self.as_expr())
