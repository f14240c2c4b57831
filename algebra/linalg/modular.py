"""Vectorized linear algebra modulo a prime p < 2^61, on int64 arrays.

A product of two residues below 2^31 fits in 62 bits; sums of many products do not, and neither do
products of larger residues.  `times` and `matmul` take care of both.  Ranks of single matrices go
to FLINT; ranks of many small ones are computed by elimination over the whole batch.

Exactness
---------
Processors multiply doubles faster than integers, so doubles are used where they hold integers:

- `matmul` cuts residues into *limbs*, integers of at most 21 bits with their sign, and multiplies
  matrices of limbs.  All partial sums are integers below 2^53 (for the bounds see
  `_INNER`), which doubles hold without rounding, in any order of addition.
- `_long_times` and `_shifted` estimate quotients in doubles, and form remainders x − q p in
  integers modulo 2^64; these are below 2^63 and are never rounded.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from flint import fmpz, nmod_mat

from algebra.linalg.short_primes import BITS, ShortRing, product, signed
from algebra.time_limits import check_time, checked

Residues = np.ndarray


@dataclass(frozen=True)
class PrimeSizes:
    """Sizes of random primes, in bits; `PRIME_COUNT` and `LONG_PRIME_COUNT` say how many there are.

    Attributes
    ----------
    short : int
        Of full ranks of large matrices, which are proofs modulo any prime.
    usual : int
        Products of residues have 62 bits.
    long : int
        Where the error of ranks modulo usual primes is too large.
    least_read : int
        Of the shortest usual prime in a proof file.
    """

    short: int = BITS
    usual: int = 31
    long: int = 61
    least_read: int = 21


PRIME_SIZES = PrimeSizes()
# Doubles that hold integers: see the module's docstring.
_INTEGERS = np.float64
# Residues below this have products of 62 bits.
SMALL = 1 << 31
# Bits of a limb and number of limbs, of primes below 2^31 and of larger ones.
_LIMBS = {True: (16, 2), False: (21, 3)}
# Inner dimensions up to which sums of products are exact.  Limbs lie in [−2^(k−1), 2^(k−1)], sums
# of two of them in [−2^k, 2^k]; so partial sums are below K·2^(2k), and below 2^52 for K = 2^20
# with k = 16 and for K = 2^10 with k = 21.
_INNER = {True: 1 << 20, False: 1 << 10}
# Matrices with at least `_MANY` entries, of which at most one in `_SPARSE` is not zero, are
# multiplied as sparse matrices (measured), with `_COLUMNS` columns of the other factor at a time.
_MANY = 1 << 16
_SPARSE = 16
_COLUMNS = 64
# Inner dimension of split products in integers: 2^16 · 2^31 · 2^15 < 2^63.
_CHUNK = 1 << 15
# Inner dimension, and multiplications, from which limbs are faster (measured).
_SHORT = 24
_FEW = 30_000
# Entries of a factor above which products are formed in parts.
_ENTRIES = 1 << 22
# Rows and columns from which blocks are faster than FLINT, and columns of an update (measured).
LARGE = 1200
_BLOCK_COLUMNS = 512
# Rows and columns, and entries, below which independent columns are found by FLINT (measured).
_SMALL_TABLE = 400
_LONG_TABLE = 1_000_000
# Rows and columns from which a short prime is faster (measured).
MEDIUM = 1000
# Reduced echelon forms by blocks of columns: rows and columns, or the columns of a wide matrix,
# from which they are faster than FLINT, and the width of a block (measured: twice as fast at
# 200 × 2,000, three to five times at 200 × 12,000).
_LARGE_FORM = 500
_WIDE = 400
_WIDTH = 128
# Multiplications of one elimination that take FLINT about a second.
_LONG = 1e9
# Entries handled at a time, so that intermediate arrays stay in the processor's cache.
_BLOCK = 1 << 15
# Odd constants of 64 bits that mix the bits of products (the generator splitmix64).
SPLITMIX = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
# Up to this number, inverses are computed one by one.
_FEW_INVERSES = 32


def times(a: Residues, b: Residues, p: int) -> Residues:
    """Entrywise product modulo p, of residues; shapes are broadcast."""
    if p <= SMALL:
        return a * b % p
    if a.shape != b.shape:
        a, b = np.broadcast_arrays(a, b)
    if not a.ndim:
        return times(a.reshape(1), b.reshape(1), p).reshape(())
    if a.size <= _BLOCK:
        return _long_times(a, b, p)
    out = np.empty(a.shape, np.int64)
    if a.ndim > 1 and a[0].size > _BLOCK // 4:
        for k in range(len(a)):
            out[k] = times(a[k], b[k], p)
        return out
    step = max(1, _BLOCK // a[0].size)
    for start in range(0, len(a), step):
        part = slice(start, start + step)
        out[part] = _long_times(a[part], b[part], p)
    return out


def _long_times(a: Residues, b: Residues, p: int) -> Residues:
    """a (b_1 2^31 + b_0): each of the three products leaves a remainder of at most p (1 + 2^-20).

    Quotients are below 2^31 and estimated to 2^-20 or better.  The first remainder lies in
    [−2^-20 p, (1 + 2^-20) p], the second (of that times 2^31, rounded) in ±(1/2 + 2^-20) p, the
    third where the first does; the sum of the last two is below 2 p < 2^62.
    """
    inverse = 1.0 / p
    share = a * inverse
    high, low = b >> 31, b & (SMALL - 1)
    rest = a * high - (share * high).astype(np.int64) * p
    return (_shifted(rest, 31, p) + a * low - (share * low).astype(np.int64) * p) % p


def _shifted(values: Residues, bits: int, p: int) -> Residues:
    """Times 2^bits modulo p, in ±(1/2 + 2^-20) p; values below 2^62, at most 31 bits."""
    quotient = np.rint(values * ((1 << bits) / p)).astype(np.int64)
    return values * np.int64(1 << bits) - quotient * p


def sum_of(a: Residues, b: Residues, p: int) -> Residues:
    """Entrywise sum modulo p, of residues; shapes are broadcast."""
    total = np.asarray(np.add(a, b, order="C"))
    # As unsigned numbers negative ones are large.
    words = total.reshape(-1).view(np.uint64)
    for start in range(0, words.size, _BLOCK):
        part = words[start : start + _BLOCK]
        np.minimum(part, part - np.uint64(p), out=part)
    return total


def added(a: Residues, axis: int | tuple[int, ...], p: int) -> Residues:
    """Sums along axes modulo p, of residues; at most 2^31 of them each."""
    if p <= SMALL:
        return np.asarray(a.sum(axis=axis) % p)
    high, low = (np.asarray(part.sum(axis=axis)) for part in (a >> 31, a & (SMALL - 1)))
    return _of_halves(high, low, p)


def added_groups(a: Residues, starts: np.ndarray, p: int) -> Residues:
    """Sums of neighbouring columns modulo p, of residues: the groups begin at `starts`."""
    if p <= SMALL:
        return np.add.reduceat(a, starts, axis=1) % p
    high, low = (np.add.reduceat(part, starts, axis=1) for part in (a >> 31, a & (SMALL - 1)))
    return _of_halves(high, low, p)


def _of_halves(high: np.ndarray, low: np.ndarray, p: int) -> Residues:
    rest = _shifted(high.reshape(-1) % p, 31, p) + low.reshape(-1)
    return (rest % p).reshape(high.shape)


# Random bytes drawn in one call.
_BYTES_AT_ONCE = 1 << 27
# Bytes from which NumPy draws them.
_MANY_BYTES = 1 << 16


def matmul(a: Residues, b: Residues, p: int) -> Residues:
    """Product of (stacks of) matrices of residues, modulo p.

    Modulo a short prime factors may be signed doubles (`algebra.linalg.short_primes.as_doubles`).
    """
    parts = _parts_of_product(a, b)
    if parts is not None:
        return _matmul_in_parts(a, b, p, *parts)
    inner, small = a.shape[-1], p <= SMALL
    limit = _INNER[small]
    if any(part.dtype == np.float64 for part in (a, b)):
        return product(a, b, p)
    few = inner <= _SHORT or a.size * b.shape[-1] < _FEW
    if small and few:
        limit = _CHUNK
    if inner > limit and not (p < 1 << BITS and not few):
        total = matmul(a[..., :limit], b[..., :limit, :], p)
        return (total + matmul(a[..., limit:], b[..., limit:, :], p)) % p
    if p < 1 << BITS and not few:
        return product(a, b, p)
    if not small:
        if is_sparse(a):
            return _sparse_matmul(a, b, p)
        if a.ndim == 2 and is_sparse(b):
            return _sparse_matmul(b.T, a.T, p).T
    if small and few:
        high, low = a >> 16, a & 0xFFFF
        return (((np.matmul(high, b) % p) << 16) + np.matmul(low, b)) % p
    return limb_product(with_sums(limbs(a, p)), b, p)


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


def _parts_of_product(a: Residues, b: Residues) -> tuple[int, int] | None:
    """Of a product of large factors: the axis of the result that is cut, and the length of parts.

    Limbs and remainders of a part take little memory.
    """
    most = max(a.size, b.size)
    if most <= _ENTRIES:
        return None
    if a.ndim == b.ndim > 2 and len(a) == len(b) > 1:
        return 0, max(1, len(a) * _ENTRIES // most)
    if a.size > _ENTRIES and a.shape[-2] > 1:
        return -2, max(1, a.shape[-2] * _ENTRIES // a.size)
    if b.size > _ENTRIES and b.shape[-1] > 1:
        return -1, max(1, b.shape[-1] * _ENTRIES // b.size)
    return None


def _matmul_in_parts(a: Residues, b: Residues, p: int, axis: int, step: int) -> Residues:
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    out = np.empty((*stack, a.shape[-2], b.shape[-1]), np.int64)
    for start in range(0, out.shape[axis], step):
        part = slice(start, start + step)
        if axis == 0:
            out[part] = matmul(a[part], b[part], p)
        elif axis == -2:
            out[..., part, :] = matmul(a[..., part, :], b, p)
        else:
            out[..., part] = matmul(a, b[..., part], p)
    return out


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


def is_sparse(a: Residues) -> bool:
    """Whether an array is one large matrix with few entries that are not zero."""
    return a.ndim == 2 and a.size >= _MANY and int(np.count_nonzero(a)) * _SPARSE <= a.size


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
        total = _shifted(total, 21, p) + part.astype(np.int64)
    return total % p


def modular_rank(matrix: Residues, p: int, *, overwrite: bool = False) -> int:
    """Rank of one matrix modulo p; a large one may be overwritten, which saves its copy."""
    if not matrix.size:
        return 0
    if min(matrix.shape) >= (MEDIUM if p < 1 << BITS else LARGE):
        return len(_independent(matrix, p, overwrite))
    return _by_flint(_rank, matrix, p)


@dataclass(frozen=True)
class _Residues:
    """The ring of residues 0, …, p − 1 in matrices of integers."""

    p: int
    width: int = 512
    dtype: Any = np.int64

    def product(self, a: Residues, b: Residues) -> Residues:
        return matmul(a, b, self.p)

    def minus_product(self, c: Residues, a: Residues, b: Residues) -> Residues:
        found = c - matmul(a, b, self.p)
        found += (found >> 63) & self.p
        return found

    def of_residues(self, values: Residues) -> Residues:
        return values


def independent_columns(matrix: Residues, p: int, *, overwrite: bool = False) -> list[int]:
    """The columns that are independent of the earlier ones.

    Parameters
    ----------
    matrix : ndarray
        Residues; `algebra.linalg.short_primes.signed` ones for a prime of 23 bits may be given in
        32 bits.
    p : int
    overwrite : bool, optional
        A large matrix may be overwritten, which saves its copy.
    """
    if min(matrix.shape) < _SMALL_TABLE and matrix.size <= _LONG_TABLE:
        table = matrix.astype(np.int64) % p if matrix.dtype == np.float32 else matrix
        return _by_flint(_echelon, table, p, False)[1] if table.size else []
    return _independent(matrix, p, overwrite)


def _independent(matrix: Residues, p: int, overwrite: bool) -> list[int]:
    # Only large matrices are eliminated by blocks.
    from algebra.linalg import elimination

    if p < 1 << BITS:
        own = np.array(matrix) if matrix.dtype == np.float32 and not overwrite else matrix
        short = own if own.dtype == np.float32 else signed(own, p)
        return elimination.independent_columns(short, ShortRing(p))
    work = matrix if overwrite and matrix.flags.writeable else np.array(matrix)
    return elimination.independent_columns(work, _Residues(p))


def _subtract(
    work: Residues, rows: np.ndarray, start: int, mix: Residues, others: np.ndarray, p: int
) -> None:
    """Subtract combinations of other rows from some rows, in the columns from `start` on."""
    for at in range(start, work.shape[1] if len(rows) else 0, _BLOCK_COLUMNS):
        check_time()
        columns = slice(at, at + _BLOCK_COLUMNS)
        part = work[rows, columns] - matmul(mix, work[others, columns], p)
        part += (part >> 63) & p
        work[rows, columns] = part


def _rank(matrix: Residues, p: int) -> int:
    rows, columns = matrix.shape
    return int(nmod_mat(rows, columns, matrix.ravel().tolist(), p).rank())


def _by_flint(function: Callable[..., Any], matrix: Residues, *more: int) -> Any:
    """One call into FLINT; in a child if it may last for a second or more: no check of the time."""
    if matrix.size * min(matrix.shape) <= _LONG:
        return function(matrix, *more)
    from algebra.children import call_apart

    return call_apart(function, matrix, *more)


def modular_echelon(matrix: Residues, p: int) -> tuple[Residues, list[int]]:
    """The non-zero rows of the reduced echelon form modulo p, and their pivots."""
    rows, columns = matrix.shape
    if not rows or not columns:
        return np.zeros((0, columns), np.int64), []
    if min(rows, columns) >= _LARGE_FORM or columns >= max(rows, _WIDE):
        return _echelon_in_blocks(np.array(matrix, order="C"), p)
    return _by_flint(_echelon, matrix, p)


def _echelon_in_blocks(work: Residues, p: int) -> tuple[Residues, list[int]]:
    """The reduced echelon form of a large matrix, which is overwritten, by blocks of columns.

    Rows without a pivot so far are zero in all blocks before the present one.  In the present block
    these rows are combinations of a few of them, which `_echelon` of the transpose determines.  Let
    S be these few rows in the block.  The reduced echelon form of [S | 1] is [E | C], where E is
    that of the block and C S = E.  Everything else is a product of matrices.
    """
    active, rows, pivots = np.arange(len(work)), np.zeros(0, np.int64), list[int]()
    for start in range(0, work.shape[1], _WIDTH):
        if not active.size:
            break
        block = slice(start, min(start + _WIDTH, work.shape[1]))
        combined, basis = _echelon(np.ascontiguousarray(work[active, block].T), p)
        others = np.ones(len(active), bool)
        others[basis] = False
        mix = np.ascontiguousarray(combined[:, others].T)
        new, active = active[basis], active[others]
        if not new.size:
            continue
        _subtract(work, active, block.stop, mix, new, p)
        work[active, block] = 0
        own = work[new, block]
        form, at = _echelon(np.hstack([own, np.eye(len(own), dtype=np.int64)]), p)
        work[new, block] = form[:, : own.shape[1]]
        change = np.ascontiguousarray(form[:, own.shape[1] :])
        work[new, block.stop :] = matmul(change, work[new, block.stop :], p)
        fresh = [start + k for k in at]
        _subtract(work, rows, start, work[rows][:, fresh], new, p)
        rows = np.concatenate([rows, new])
        pivots += fresh
    return work[rows], pivots


def _echelon(matrix: Residues, p: int, has_table: bool = True) -> tuple[Residues, list[int]]:
    """Reading an entry takes longer than computing it: only those that may not be 0 or 1 are."""
    rows, columns = matrix.shape
    reduced, found = nmod_mat(rows, columns, matrix.ravel().tolist(), p).rref()
    table, pivots = np.zeros((int(found), columns), np.int64), list[int]()
    for column in range(columns):
        count = len(pivots)
        if count < len(table) and int(reduced[count, column]):
            table[count, column] = 1
            pivots.append(column)
        elif has_table:
            table[:count, column] = [int(reduced[row, column]) for row in range(count)]
    return table, pivots


def modular_kernel(matrix: Residues, p: int) -> Residues:
    """A basis of the null space modulo p, one vector per row: a unit vector on the free columns."""
    table, pivots = modular_echelon(matrix, p)
    free = np.setdiff1d(np.arange(matrix.shape[1]), pivots)
    out = np.zeros((len(free), matrix.shape[1]), np.int64)
    out[np.arange(len(free)), free] = 1
    out[:, pivots] = -table[:, free].T % p
    return out


def inverses(values: Residues, p: int) -> Residues:
    """Elementwise inverses modulo p (0 for 0).

    Of products of pairs, and of pairs of these, so that few are computed by Python's integers:
    1/a = b · 1/(a b).
    """
    values = values % p
    if values.size <= _FEW_INVERSES:
        found = [pow(value, -1, p) if value else 0 for value in values.ravel().tolist()]
        return np.array(found, np.int64).reshape(values.shape)
    flat = values.ravel()
    units = np.where(flat == 0, 1, flat)
    if units.size % 2:
        units = np.append(units, 1)
    left, right = units[::2], units[1::2]
    both = inverses(times(left, right, p), p)
    out = np.empty_like(units)
    out[::2], out[1::2] = times(both, right, p), times(both, left, p)
    return np.where(flat == 0, 0, out[: flat.size]).reshape(values.shape)


def batched_rank(matrices: Residues, p: int) -> np.ndarray:
    """Ranks of many matrices at once.

    Parameters
    ----------
    matrices : ndarray of int64, shape (N, rows, columns)
        Residues modulo p.
    p : int
        A prime below 2^61.

    Returns
    -------
    ndarray of int64, shape (N,)

    Notes
    -----
    Gaussian elimination, one column at a time over the whole batch; each matrix keeps
    its own pivot row.
    """
    work = np.array(matrices, dtype=np.int64) % p
    count, rows, columns = work.shape
    ranks = np.zeros(count, np.int64)
    if not rows or not columns:
        return ranks
    every = np.arange(count)
    for column in checked(range(columns)):
        # Rows above the current rank hold finished pivots.
        open_rows = np.arange(rows)[None, :] >= ranks[:, None]
        candidates = (work[:, :, column] != 0) & open_rows
        has = candidates.any(axis=1)
        index = every[has]
        if not index.size:
            continue
        pivot, target = candidates[index].argmax(axis=1), ranks[index]
        swap = work[index, pivot].copy()
        work[index, pivot] = work[index, target]
        scaled = times(swap, inverses(swap[:, column], p)[:, None], p)
        work[index, target] = scaled
        factors = np.where(open_rows[index], work[index, :, column], 0)
        factors[np.arange(index.size), target] = 0
        # One remainder is enough where the difference fits in 63 bits.
        product = np.multiply if p <= SMALL else partial(times, p=p)
        work[index] = (work[index] - product(factors[:, :, None], scaled[:, None, :])) % p
        ranks[index] += 1
    return ranks


def random_bytes(count: int, rng: random.Random) -> bytes:
    """This number of bytes, a multiple of 4: those of ``rng.randbytes``, for any length.

    Python draws at most 2^31 bits at once.

    Examples
    --------
    >>> random_bytes(8, random.Random("a")) == random.Random("a").randbytes(8)
    True
    """
    if count < _MANY_BYTES or count % 4 or type(rng) is not random.Random:
        sizes = [min(_BYTES_AT_ONCE, count - at) for at in range(0, count, _BYTES_AT_ONCE)]
        return b"".join(rng.randbytes(size) for size in sizes)
    # The same generator of NumPy, from the same state, is four times as fast.
    version, (*key, position), gauss = rng.getstate()
    twister = np.random.MT19937()
    twister.state = {
        "bit_generator": "MT19937",
        "state": {"key": np.array(key, np.uint32), "pos": position},
    }
    words = np.empty(count // 4, "<u4")
    for start in range(0, words.size, _ENTRIES):
        part = words[start : start + _ENTRIES]
        part[...] = twister.random_raw(part.size)
    after: Any = twister.state["state"]
    rng.setstate((version, (*after["key"].tolist(), int(after["pos"])), gauss))
    return words.tobytes()


def random_residues(shape: tuple[int, ...], p: int, rng: random.Random) -> Residues:
    """Independent residues, uniform in 0, …, p − 1."""
    count = 1
    for size in shape:
        count *= size
    # 64 fresh bits a residue: none has a probability above (2^64/p + 1)/2^64, which is below 2^-30
    # (1 + 2^-30) for primes above 2^30 and at most 2^-60 for those above 2^60.
    out = np.empty(count, np.uint64)
    for start in range(0, count, _ENTRIES):
        part = out[start : start + _ENTRIES]
        words = np.frombuffer(random_bytes(8 * part.size, rng), np.uint64)
        np.remainder(words, np.uint64(p), out=part)
    return out.view(np.int64).reshape(shape)


def rational_residues(values: np.ndarray, p: int) -> Residues:
    """An array of rationals modulo a prime.

    Raises
    ------
    ZeroDivisionError
        If p divides a denominator.
    """
    out = np.empty(values.shape, np.int64)
    for at, value in np.ndenumerate(values):
        below = int(value.q) % p
        if not below:
            raise ZeroDivisionError(f"{p} divides the denominator of {value}")
        out[at] = int(value.p) % p * pow(below, -1, p) % p
    return out


# The number of primes in [2^30, 2^31): π(2^31) − π(2^30).
PRIME_COUNT = 105_097_565 - 54_400_028


# The same of 61 bits: π(2^61) − π(2^60), sequence A007053 of the OEIS.
LONG_PRIME_COUNT = 55_890_484_045_084_135 - 28_423_094_496_953_330


class EntryBound(NamedTuple):
    """A bound of the entries of a matrix as polynomials in all random quantities of a point.

    Attributes
    ----------
    degree : int
    bits : int
        Of the sum of the absolute coefficients.
    meetings : int
        Degrees of all differences of values that must not vanish.
    """

    degree: int
    bits: int
    meetings: int = 0


def deficit_probability(
    rank_bound: int,
    degree: int,
    bits: int,
    meetings: int,
    prime: int = PRIME_SIZES.long,
    share: int = 1,
) -> Fraction:
    """Bound on the probability that a random point modulo a random prime shows too small a rank.

    Possible causes: a minor vanishes at the point (Schwartz–Zippel), the prime divides all its
    coefficients, random combinations of columns, of degree 1, lose rank, or values that should
    be independent coincide.

    Parameters
    ----------
    rank_bound : int
        Upper bound on the true rank.
    degree, bits : int
        Of the entries: degree, and bits of the sum of absolute coefficients.
    meetings : int
        Degrees of all differences of values that must not vanish.
    prime : int, optional
        Bits of the prime: 31 or 61.
    share : int, optional
        The prime is one of these primes divided by this number.
    """
    of_minor = rank_bound * (rank_bound.bit_length() + bits)
    vanishing = Fraction(rank_bound * (degree + 1) + meetings, 1 << (prime - 1))
    count = (PRIME_COUNT if prime == PRIME_SIZES.usual else LONG_PRIME_COUNT) // share
    return vanishing + Fraction(of_minor // (prime - 1) + 1, count)


def random_prime(rng: random.Random, bits: int = PRIME_SIZES.usual) -> int:
    """A random prime, uniform among those of this length: with 31 bits in [2^30, 2^31)."""
    while True:
        value = rng.randrange(1 << (bits - 1), 1 << bits) | 1
        if fmpz(value).is_prime():
            return value


# Primes of one length that may divide a given number, before longer ones are drawn.
_DRAWS = 200


@dataclass(frozen=True)
class ChosenNumbers:
    """Exact numbers that somebody chose, and primes modulo which they may be reduced.

    A prime that divides a numerator makes 0 of a number, one that divides a denominator makes
    nothing of it: such primes are skipped.  Whoever knows a prime beforehand can also choose
    numbers whose difference, or another expression, vanishes modulo it.  So the stream of primes
    follows from a digest of the numbers: to change a number changes all primes.

    Attributes
    ----------
    factors : frozenset of int
        Odd parts of numerators and denominators that a prime of 23 bits could divide.
    digest : str
        Of all numbers with their places.
    """

    factors: frozenset[int] = frozenset()
    digest: str = ""

    @classmethod
    def of(cls, numbers: Mapping[Any, Any]) -> ChosenNumbers:
        """The numbers, as rationals of any type, by their places."""
        factors, digest = set[int](), hashlib.sha256()
        for place in sorted(numbers):
            value = numbers[place]
            parts = int(value.numerator), int(value.denominator)
            digest.update(f"{place} {parts[0]:x} {parts[1]:x} ".encode())
            for part in map(abs, parts):
                odd = part // (part & -part) if part else 0
                if odd >> (PRIME_SIZES.short - 1):
                    factors.add(odd)
        return cls(frozenset(factors), digest.hexdigest())

    def prime(self, rng: random.Random, bits: int = PRIME_SIZES.usual) -> int:
        """A random prime of this length, or a longer one, that divides none of the numbers.

        All primes of 31 bits together have 1.5·10^9 bits, more than any file: the search ends.
        """
        if not self.digest:
            return random_prime(rng, bits)
        own = random.Random(f"{self.digest}/{rng.getrandbits(64)}")
        for longer in sorted({bits, max(bits, PRIME_SIZES.usual)}):
            for _ in range(_DRAWS):
                p = random_prime(own, longer)
                if all(factor % p for factor in self.factors):
                    return p
        raise ArithmeticError(f"{_DRAWS} primes of {longer} bits divide given numbers")


def random_points(
    stream: str, bits: int = PRIME_SIZES.usual, given: ChosenNumbers = ChosenNumbers()
) -> Iterator[tuple[int, int]]:
    """Primes with the numbers of points, without end; determined by the stream's name."""
    rng = random.Random(stream)
    while True:
        yield given.prime(rng, bits), rng.randrange(1 << 32)
