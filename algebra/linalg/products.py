"""Products of larger matrices of residues: in parts, by limbs in doubles, of sparse factors.

Residues are cut into *limbs*, integers of at most 21 bits with their sign, and matrices of limbs
are multiplied.  All partial sums are integers below 2^53 (for the bounds see `_INNER`), which
doubles hold without rounding, in any order of addition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from algebra.linalg.residues import ENTRIES, SMALL, Residues, is_sparse, shifted, small_product
from algebra.linalg.short_primes import BITS, product

# Doubles that hold integers: see the module's docstring.
_INTEGERS = np.float64
# Bits of a limb and number of limbs, of primes below 2^31 and of larger ones.
_LIMBS = {True: (16, 2), False: (21, 3)}
# Inner dimensions up to which sums of products are exact.  Limbs lie in [−2^(k−1), 2^(k−1)], sums
# of two of them in [−2^k, 2^k]; so partial sums are below K·2^(2k), and below 2^52 for K = 2^20
# with k = 16 and for K = 2^10 with k = 21.
_INNER = {True: 1 << 20, False: 1 << 10}
# Columns of the other factor of a sparse matrix that are multiplied at a time.
_COLUMNS = 64


def large_product(a: Residues, b: Residues, p: int) -> Residues:
    """`algebra.linalg.modular.matmul` where it is no sum of products of small integers."""
    parts = _parts_of_product(a, b)
    if parts is not None:
        return _matmul_in_parts(a, b, p, *parts)
    inner, small = a.shape[-1], p <= SMALL
    if any(part.dtype == np.float64 for part in (a, b)):
        return product(a, b, p)
    is_short = p < 1 << BITS
    limit = _INNER[small]
    if inner > limit and not is_short:
        total = _product(a[..., :limit], b[..., :limit, :], p)
        return (total + _product(a[..., limit:], b[..., limit:, :], p)) % p
    if is_short:
        return product(a, b, p)
    if not small:
        if is_sparse(a):
            return _sparse_matmul(a, b, p)
        if a.ndim == 2 and is_sparse(b):
            return _sparse_matmul(b.T, a.T, p).T
    return limb_product(with_sums(limbs(a, p)), b, p)


def _product(a: Residues, b: Residues, p: int) -> Residues:
    found = small_product(a, b, p)
    return large_product(a, b, p) if found is None else found


def limb_product(a: Sequence[Any], b: Residues, p: int) -> Residues:
    """A product by products of matrices of limbs (Karatsuba), combined by Horner's scheme.

    Of the first factor `with_sums` is given, as arrays or sparse arrays.
    """
    if len(a) > 3:
        return _long_matmul(a, b, p)
    b0, b1 = limbs(b, p)
    low, high = a[0] @ b0, a[1] @ b1
    b0 += b1
    mixed = a[2] @ b0
    mixed -= low
    mixed -= high
    total = high.astype(np.int64) % p
    for part in (mixed, low):
        total <<= 16
        total += part.astype(np.int64)
        total %= p
    return total  # type: ignore[no-any-return]


def with_sums(a: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Limbs, and the sums of pairs of them."""
    return [*a, *(a[i] + a[k] for k in range(len(a)) for i in range(k))]


def inner_limit(p: int) -> int:
    """Number of products of limbs whose sums doubles hold."""
    return _INNER[p <= SMALL]


def limbs(a: Residues, p: int) -> list[np.ndarray]:
    """Integers of few bits, the lowest first, whose sum in that base is congruent to a."""
    bits, count = _LIMBS[p <= SMALL]
    rest, half = np.where(a > p >> 1, a - p, a), 1 << (bits - 1)
    found = []
    for _ in range(count - 1):
        limb = ((rest + half) & ((1 << bits) - 1)) - half
        found.append(limb.astype(_INTEGERS))
        rest = (rest - limb) >> bits
    return [*found, rest.astype(_INTEGERS)]


def _sparse_matmul(a: Residues, b: Residues, p: int) -> Residues:
    """Product of two matrices of large residues, of which the first has few nonzero entries."""
    from scipy.sparse import csr_array

    whole, out = csr_array(a), np.empty((len(a), b.shape[1]), np.int64)
    place = whole.indices, whole.indptr
    tables = with_sums(limbs(whole.data, p))
    parts = [csr_array((table, *place), shape=a.shape) for table in tables]
    for start in range(0, b.shape[1], _COLUMNS):
        columns = slice(start, start + _COLUMNS)
        out[:, columns] = _long_matmul(parts, np.ascontiguousarray(b[:, columns]), p)
    return out


def _long_matmul(a: Sequence[Any], b: Residues, p: int) -> Residues:
    """`limb_product` of three limbs: six products."""
    a0, a1, a2, first_two, outer, last_two = a
    b0, b1, b2 = limbs(b, p)
    low, middle, high = a0 @ b0, a1 @ b1, a2 @ b2
    first = first_two @ (b0 + b1) - low - middle
    second = outer @ (b0 + b2) - low - high + middle
    third = last_two @ (b1 + b2) - middle - high
    total = high.astype(np.int64)
    for part in (third, second, first, low):
        total = shifted(total, 21, p) + part.astype(np.int64)
    return total % p


def _parts_of_product(a: Residues, b: Residues) -> tuple[int, int] | None:
    """Of a product of large factors: the axis of the result that is cut, and the length of parts.

    Limbs and remainders of a part take little memory.
    """
    most = max(a.size, b.size)
    if most <= ENTRIES:
        return None
    if a.ndim == b.ndim > 2 and len(a) == len(b) > 1:
        return 0, max(1, len(a) * ENTRIES // most)
    if a.size > ENTRIES and a.shape[-2] > 1:
        return -2, max(1, a.shape[-2] * ENTRIES // a.size)
    if b.size > ENTRIES and b.shape[-1] > 1:
        return -1, max(1, b.shape[-1] * ENTRIES // b.size)
    return None


def _matmul_in_parts(a: Residues, b: Residues, p: int, axis: int, step: int) -> Residues:
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    out = np.empty((*stack, a.shape[-2], b.shape[-1]), np.int64)
    for start in range(0, out.shape[axis], step):
        part = slice(start, start + step)
        if axis == 0:
            out[part] = _product(a[part], b[part], p)
        elif axis == -2:
            out[..., part, :] = _product(a[..., part, :], b, p)
        else:
            out[..., part] = _product(a, b[..., part], p)
    return out
