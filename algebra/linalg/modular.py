"""Products of matrices of residues modulo a prime p < 2^61, and calls into FLINT.

Sums of many products of residues below 2^31 do not fit in 63 bits, and neither do single products
of larger residues: small matrices are multiplied in two halves (`small_product`), others by
`algebra.linalg.products`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from algebra.linalg.residues import Residues, small_product

# Multiplications of one elimination that take FLINT about a second.
_LONG = 1e9


def matmul(a: Residues, b: Residues, p: int) -> Residues:
    """Product of (stacks of) matrices of residues, modulo p.

    Modulo a short prime factors may be signed doubles (`algebra.linalg.short_primes.as_doubles`).
    """
    found = small_product(a, b, p)
    if found is not None:
        return found
    # Loaded here: the check of a proof for a small network multiplies small matrices.
    from algebra.linalg.products import large_product

    return large_product(a, b, p)


def by_flint(function: Callable[..., Any], matrix: Residues, *more: int) -> Any:
    """One call into FLINT; in a child if it may last for a second or more: no check of the time."""
    if matrix.size * min(matrix.shape) <= _LONG:
        return function(matrix, *more)
    from algebra.workers import call_apart

    return call_apart(function, matrix, *more)
