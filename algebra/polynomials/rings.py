"""The coefficient rings of systems, with one small interface.

A polynomial system is written once (`algebra.systems.system`) and instantiated over

* `RationalField`: exact rationals, polynomials of type `flint.fmpq_mpoly`;
* `PrimeField`: integers mod p, polynomials of type `flint.nmod_mpoly`;
* `SymbolicRing`: SymPy expressions, for printing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from flint import (
    fmpq,
    fmpq_mpoly_ctx,
    fmpz,
    nmod,
    nmod_mat,
    nmod_mpoly_ctx,
)

from algebra.linalg.rational import rational_echelon

if TYPE_CHECKING:
    import sympy

# The largest prime below 2^31: products of two residues fit in 64 bits, and msolve accepts it.
DEFAULT_PRIME = 2147483647


class CoefficientRing(Protocol):
    """The interface of rings that `algebra.systems.system` uses."""

    def constant(self, value: Any) -> Any:
        """The value as an element that multiplies generators."""
        ...

    def generators(self, names: Sequence[str]) -> list[Any]:
        """Polynomial generators with these names."""
        ...


class RationalField:
    """The rationals, through python-flint."""

    characteristic = 0
    # Numbers that are not 0 are no conditions; see `RationalFunctions`.
    divisors: frozenset[str] = frozenset()

    def constant(self, value: Any) -> Any:
        if isinstance(value, (fmpq, fmpz, int)):
            return fmpq(value)
        return fmpq(int(value.numerator), int(value.denominator))

    def context(self, names: Sequence[str]) -> Any:
        return fmpq_mpoly_ctx.get(tuple(names), "degrevlex")

    def generators(self, names: Sequence[str]) -> list[Any]:
        return list(self.context(names).gens())

    def rref(self, rows: Sequence[Sequence[Any]], columns: int) -> list[list[Any]]:
        reduced, pivots = rational_echelon(rows, columns)
        return reduced.tolist()[: len(pivots)] if pivots else []

    def __repr__(self) -> str:
        return "RationalField()"


class PrimeField:
    """The integers modulo a prime p < 2^31."""

    divisors: frozenset[str] = frozenset()

    def __init__(self, p: int = DEFAULT_PRIME) -> None:
        self.characteristic = p

    def constant(self, value: Any) -> Any:
        if isinstance(value, nmod):
            return value
        if isinstance(value, (int, np.integer)):
            return nmod(int(value), self.characteristic)
        numerator, denominator = int(value.numerator), int(value.denominator)
        return nmod(numerator, self.characteristic) / nmod(denominator, self.characteristic)

    def context(self, names: Sequence[str]) -> Any:
        return nmod_mpoly_ctx.get(tuple(names), modulus=self.characteristic, ordering="degrevlex")

    def generators(self, names: Sequence[str]) -> list[Any]:
        return list(self.context(names).gens())

    def rref(self, rows: Sequence[Sequence[Any]], columns: int) -> list[list[Any]]:
        entries = [int(entry) for row in rows for entry in row]
        reduced, rank = nmod_mat(len(rows), columns, entries, self.characteristic).rref()
        return reduced.tolist()[:rank] if rank else []

    def __repr__(self) -> str:
        return f"PrimeField({self.characteristic})"


class SymbolicRing:
    """SymPy expressions."""

    characteristic = 0

    def constant(self, value: Any) -> Any:
        # Imported here: the import takes longer than most commands.
        import sympy

        if isinstance(value, (fmpq, fmpz)):
            return sympy.Rational(int(value.numerator), int(value.denominator))
        return sympy.sympify(value)

    def generators(self, names: Sequence[str]) -> list[Any]:
        return [symbol(name) for name in names]

    def __repr__(self) -> str:
        return "SymbolicRing()"


@cache
def symbol(name: str) -> sympy.Symbol:
    """The SymPy symbol of an unknown or a parameter."""
    import sympy

    return sympy.Symbol(name)
