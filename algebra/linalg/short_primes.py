r"""Residues modulo a prime of 23 bits: one product of doubles for each product of residues.

A full rank modulo any prime proves the rank over Q, so the prime may be short; a deficit modulo a
short prime says little, and is found again modulo a longer one.

Exactness
---------
Residues are stored with their sign: integers of at most p/2 (1 + 2^-19) < 2^22 + 8 in absolute
value (`reduced`), which 32-bit floating-point numbers hold.  A sum of `WIDTH` = 448 products and
one more residue is below 448 (2^22 + 8)² + 2^23 < 2^53, so doubles hold all partial sums, in any
order of addition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from algebra.linalg.primes import PRIME_SIZES

# Bits of a short prime, and the largest inner dimension of a product.
BITS = PRIME_SIZES.short
WIDTH = 448
# Entries handled at a time.
_BLOCK = 1 << 15
# The type of signed residues in large matrices.
STORED = np.float32


def signed(values: np.ndarray, p: int, dtype: Any = STORED) -> np.ndarray:
    """Residues 0, …, p − 1 with their sign, as floating-point numbers."""
    out = np.empty(values.shape, dtype)
    if values.ndim > 2:
        for k in range(len(values)):
            out[k] = signed(values[k], p, dtype)
        return out
    # Few rows at a time, so that intermediate arrays stay in the processor's cache.
    step = max(1, _BLOCK * len(values) // max(1, values.size))
    for start in range(0, len(values), step):
        part = values[start : start + step]
        np.subtract(part, (part > p >> 1) * p, out=out[start : start + step], casting="unsafe")
    return out


def as_doubles(values: np.ndarray, p: int) -> np.ndarray:
    """Residues 0, …, p − 1 with their sign, in 64 bits; such doubles as they are."""
    return values if values.dtype == np.float64 else signed(values, p, np.float64)


def unsigned(values: np.ndarray, p: int) -> np.ndarray:
    """Residues 0, …, p − 1 as integers, also from signed ones."""
    return values.astype(np.int64) % p if values.dtype.kind == "f" else values


def reduced(values: np.ndarray, p: int) -> np.ndarray:
    """Remainders in ± p/2 (1 + 2^-19) of integers below 2^53, in place.

    Quotients are below 2^31 and estimated to 2^-20 or better.
    """
    if not values.flags.c_contiguous:
        values[...] = reduced(np.ascontiguousarray(values), p)
        return values
    flat, quotients = values.reshape(-1), np.empty(min(values.size, _BLOCK))
    for start in range(0, values.size, _BLOCK):
        part = flat[start : start + _BLOCK]
        own = np.multiply(part, 1.0 / p, out=quotients[: part.size])
        np.rint(own, out=own)
        own *= p
        part -= own
    return values


def product(a: np.ndarray, b: np.ndarray, p: int) -> np.ndarray:
    """Product of (stacks of) matrices of residues 0, …, p − 1, or of `as_doubles`."""
    left, right = (as_doubles(part, p) for part in (a, b))
    total = reduced(left[..., :WIDTH] @ right[..., :WIDTH, :], p)
    for start in range(WIDTH, a.shape[-1], WIDTH):
        part = slice(start, start + WIDTH)
        total += left[..., part] @ right[..., part, :]
        reduced(total, p)
    found = total.astype(np.int64)
    found += (found >> 63) & p
    found -= (found >= p) * p
    return found


@dataclass(frozen=True)
class ShortRing:
    """Signed residues modulo a short prime: 32 bits in a matrix, doubles in blocks."""

    p: int
    width: int = WIDTH
    dtype: Any = np.float64

    def product(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return reduced(a @ b, self.p)

    def minus_product(self, c: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        found = a @ b
        return reduced(np.subtract(c, found, out=found), self.p)

    def of_residues(self, values: np.ndarray) -> np.ndarray:
        return signed(values, self.p, np.float64)
