"""The discriminant of a small core: where the number of real solutions changes.

A core in one unknown is a polynomial of degree N, its coefficients polynomials in the data; two
solutions coincide where its discriminant Δ vanishes, and only there does the number of real
solutions change.  A core of two equations in two unknowns is reduced to such a polynomial by a
resultant, which is accepted only if its degree is the number of generic solutions: otherwise it has
extraneous factors.

The sign of Δ gives the number of pairs of non-real solutions modulo 2 (Stickelberger): even for Δ >
0, odd for Δ < 0.  So for N = 2 a match exists if and only if Δ ≥ 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy
from flint import fmpz_mpoly_ctx

from algebra.documents import Document, Paragraph, Table
from algebra.errors import InputError, one_line
from algebra.polynomials.rational_functions import expression_of
from algebra.results import Result, named
from algebra.systems.symbolic import Elimination
from algebra.words import plural

# With more terms of the polynomial in one unknown, SymPy does not finish.
_MOST_TERMS = 4000
# Longest text of a discriminant that is printed whole, and of a factor in a table.
_SHORT = 200
_SHORT_FACTOR = 60


@dataclass(frozen=True, repr=False)
class Discriminant(Result):
    """The discriminant of a core.

    Attributes
    ----------
    elimination : Elimination
        The elimination whose core this is about.
    unknown : str
        The unknown of the polynomial.
    polynomial : sympy.Poly
        A polynomial in that unknown: its roots are the solutions.
    constant : int
    factors : tuple of (sympy.Expr, int)
        Δ is the constant times the powers of these polynomials, which are irreducible over Q, with
        integer coefficients without a common divisor.
    """

    elimination: Elimination
    unknown: str
    polynomial: sympy.Poly
    constant: int
    factors: tuple[tuple[sympy.Expr, int], ...]

    @cached_property
    def value(self) -> sympy.Expr:
        """Δ up to factors that are positive wherever Δ is not 0.

        Squares and positive numbers are omitted, so that the sign is that of Δ.
        """
        odd = (factor for factor, power in self.factors if power % 2)
        return sympy.Mul(sympy.sign(self.constant), *odd)

    @cached_property
    def factored(self) -> str:
        """Δ itself, as the product of its factors, in SymPy's notation."""
        parts = [f"({f})" + (f"**{power}" if power > 1 else "") for f, power in self.factors]
        number = [] if self.constant == 1 and parts else [str(self.constant)]
        return "*".join([*number, *parts])

    @property
    def degree(self) -> int:
        """The number N of complex solutions."""
        return int(self.polynomial.degree())

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The data that it depends on."""
        return tuple(sorted(map(str, self.value.free_symbols)))

    def sign(self, **data: Any) -> int:
        """The sign of Δ for given data: -1, 0 or 1.

        Parameters
        ----------
        **data
            Rational values of all of `symbols`, by name.

        Raises
        ------
        InputError
            If a value is missing.
        """
        missing = [name for name in self.symbols if name not in data]
        if missing:
            raise InputError("there are no values of " + ", ".join(missing))
        given = {sympy.Symbol(k): sympy.Rational(v) for k, v in data.items() if k in self.symbols}
        return int(sympy.sign(self.value.subs(given)))

    def document(self) -> Document:
        """The polynomial's degree and the discriminant's size."""
        facts = {
            **named(self, "unknown", "degree"),
            "factors": len(self.factors),
            "symbols": len(self.symbols),
        }
        if len(self.factored) <= _SHORT:
            return Document(self.factored, facts)
        terms = [len(sympy.Add.make_args(factor)) for factor, _ in self.factors]
        table = Table(
            {
                "factor": [_in_short(factor) for factor, _ in self.factors],
                "power": [power for _, power in self.factors],
                "terms": terms,
            }
        )
        title = (
            f"Δ of the N = {self.degree} solutions, in {len(self.symbols)} symbols: "
            f"{plural(len(terms), f'{len(terms)} factor')}, the longest of {max(terms)} terms"
        )
        where = Paragraph("  in full: `factored`, `value` (its sign), `factors`; or --json")
        return Document(title, facts, (table, where))

    def to_dict(self) -> dict[str, Any]:
        """Plain data; polynomials as texts in SymPy's notation."""
        return {
            **named(self, "unknown", "degree"),
            "polynomial": str(self.polynomial.as_expr()),
            "discriminant": str(self.value),
            "constant": str(self.constant),
            "factors": [{"factor": str(f), "power": power} for f, power in self.factors],
            **named(self, "factored", "symbols"),
        }


def discriminant_of(found: Elimination, root_count: int | None = None) -> Discriminant:
    """The discriminant of a small core.

    Parameters
    ----------
    found : Elimination
        Its core has one unknown, or two.
    root_count : int, optional
        The number N of complex solutions of a generic instance; required for two unknowns.

    Raises
    ------
    InputError
        If the core is empty or too large, or the resultant has additional roots.
    """
    names = found.unknowns
    if not found.consistent:
        raise InputError("the core is 1 = 0: there are no solutions, and no discriminant")
    if not names:
        raise InputError("elimination leaves nothing: there is one solution, and no discriminant")
    if len(found.equations) != len(names):
        raise InputError(
            f"the core has {plural(len(found.equations), f'{len(found.equations)} equation')} in "
            f"{plural(len(names), f'{len(names)} unknown')}: solutions are not isolated"
        )
    if len(names) > 2:
        raise InputError(
            f"the core has {len(names)} unknowns; discriminants are computed for one or two: "
            "choose rows with fewer learnable weights"
        )
    unknowns = [sympy.Symbol(name) for name in names]
    if len(names) == 1:
        polynomial = sympy.Poly(found.equations[0], unknowns[0])
    else:
        if root_count is None:
            raise InputError("`root_count` must be known for a core in two unknowns")
        first, second = found.equations
        resultant = sympy.resultant(first, second, unknowns[1])
        polynomial = sympy.Poly(resultant, unknowns[0])
        if polynomial.degree() != root_count:
            raise InputError(
                f"the resultant in {names[0]} has degree {polynomial.degree()}, but there are "
                f"{root_count} solutions: it has additional roots"
            )
    if len(polynomial.as_expr().expand().args) > _MOST_TERMS:
        raise InputError("the polynomial has too many terms: use fewer symbols")
    if polynomial.degree() < 2:
        raise InputError(
            f"the polynomial in {names[0]} has degree {polynomial.degree()}: there is no "
            "discriminant"
        )
    try:
        delta = sympy.discriminant(polynomial)
    except (sympy.PolynomialError, NotImplementedError) as error:
        raise InputError(f"the discriminant was not computed: {one_line(error)}") from None
    return Discriminant(found, names[0], polynomial, *_factors(delta))


def _in_short(factor: sympy.Expr) -> str:
    """A factor, or the beginning of a long one."""
    text = str(factor)
    return text if len(text) <= _SHORT_FACTOR else f"{text[: _SHORT_FACTOR - 2]} …"


def _factors(delta: sympy.Expr) -> tuple[int, tuple[tuple[sympy.Expr, int], ...]]:
    """Δ, a polynomial with integer coefficients, in irreducible factors over Z, by FLINT."""
    symbols = sorted(delta.free_symbols, key=str)
    # At least one symbol, since a ring of polynomials needs one.
    ring = fmpz_mpoly_ctx.get(tuple(map(str, symbols)) or ("_",), "lex")
    whole = sympy.Poly(delta, *symbols or [sympy.Symbol("_")], domain="ZZ")
    constant, factors = ring.from_dict({m: int(c) for m, c in whole.terms() if c}).factor()
    found = [(expression_of(factor), int(power)) for factor, power in factors]
    return int(constant), tuple(sorted(found, key=lambda pair: (pair[1], str(pair[0]))))
