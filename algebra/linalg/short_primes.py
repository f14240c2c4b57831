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

from typing import Any

import numpy as np

from algebra.linalg.primes import PRIME_SIZES

# Bits of a short prime, and the largest inner dimension of a product.
BITS = PRIME_SIZES.short
WIDTH = 448
# Entries handled at a time.
_BLOCK = 1 << 15
# Rows of a product that are formed at a time, at least.
_ROWS = 16
# The types of signed residues in large matrices, and in blocks of them that are multiplied.
STORED, IN_BLOCKS = np.float32, np.float64


def signed(values: np.ndarray, p: int, dtype: Any = STORED) -> np.ndarray:
    """Residues 0, …, p − 1 with their sign, as floating-point numbers.

    A transposed matrix is read in the order of its memory, and stays transposed.
    """
    if values.ndim == 2 and values.flags.f_contiguous and not values.flags.c_contiguous:
        return signed(values.T, p, dtype).T
    if values.ndim > 2 and not values.flags.c_contiguous and values[0].size > _BLOCK:
        return np.stack([signed(part, p, dtype) for part in values])
    rows = values if values.ndim == 2 else values.reshape(1, -1)
    out = np.empty(rows.shape, dtype)
    # Few entries at a time, so that intermediate arrays stay in the processor's cache.
    step, wide = max(1, _BLOCK // max(1, rows.shape[1])), max(1, _BLOCK)
    for start in range(0, len(rows), step):
        for first in range(0, rows.shape[1], wide):
            at = np.s_[start : start + step, first : first + wide]
            part, own = rows[at], out[at]
            own[...] = part
            own -= (part > p >> 1) * dtype(p)
    return out.reshape(values.shape)


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


def residues(values: np.ndarray, p: int) -> np.ndarray:
    """Remainders 0, …, p − 1, in 64 bits, of integers below 2^53 that doubles hold.

    Quotients are below 2^31 and estimated to 2^-20 or better, so that what is left lies in
    [−2^-20 p, (1 + 2^-20) p]; as unsigned numbers negative ones are large.
    """
    out, flat = np.empty(values.size, np.int64), values.reshape(-1)
    quotients, step = np.empty(min(values.size, _BLOCK)), np.uint64(p)
    for start in range(0, flat.size, _BLOCK):
        part, own = flat[start : start + _BLOCK], out[start : start + _BLOCK]
        rest = np.multiply(part, 1.0 / p, out=quotients[: part.size])
        np.floor(rest, out=rest)
        rest *= p
        own[...] = np.subtract(part, rest, out=rest)
        words = own.view(np.uint64)
        np.minimum(words, words + step, out=words)
        np.minimum(words, words - step, out=words)
    return out.reshape(values.shape)


def product(a: np.ndarray, b: np.ndarray, p: int) -> np.ndarray:
    """Product of (stacks of) matrices of residues 0, …, p − 1, or of `as_doubles`."""
    left, right = (as_doubles(part, p) for part in (a, b))
    rows, columns = left.shape[-2], right.shape[-1]
    if left.ndim > 2 or right.ndim > 2 or rows * columns <= _ROWS * _BLOCK:
        return residues(_sum_of_products(left, right, p), p)
    # Few rows at a time, so that what is not reduced stays in the cache.
    out, step = np.empty((rows, columns), np.int64), max(_ROWS, _ROWS * _BLOCK // columns)
    for start in range(0, rows, step):
        part = slice(start, start + step)
        out[part] = residues(_sum_of_products(left[part], right, p), p)
    return out


def _sum_of_products(left: np.ndarray, right: np.ndarray, p: int) -> np.ndarray:
    """A product of `as_doubles`, not reduced."""
    total = left[..., :WIDTH] @ right[..., :WIDTH, :]
    for start in range(WIDTH, left.shape[-1], WIDTH):
        part = slice(start, start + WIDTH)
        reduced(total, p)
        total += left[..., part] @ right[..., part, :]
    return np.asarray(total)
