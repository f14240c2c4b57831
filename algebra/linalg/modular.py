"""Vectorized linear algebra modulo a prime p < 2^31, on int64 arrays.

A product of two residues fits in 62 bits; sums of many products do not, so matrix
products split one factor into halves of 16 bits.  Ranks of single matrices go to FLINT;
ranks of many small ones are found side by side by elimination over the whole batch.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

import numpy as np
from flint import fmpz, nmod_mat

Residues = np.ndarray

# Inner dimension up to which the split product cannot overflow: 2^16 · 2^31 · 2^15 < 2^63.
_CHUNK = 1 << 15


def matmul(a: Residues, b: Residues, p: int) -> Residues:
    """Product of (stacks of) matrices of residues, modulo p."""
    inner = a.shape[-1]
    if inner > _CHUNK:
        total = matmul(a[..., :_CHUNK], b[..., :_CHUNK, :], p)
        return (total + matmul(a[..., _CHUNK:], b[..., _CHUNK:, :], p)) % p
    high, low = a >> 16, a & 0xFFFF
    return (((np.matmul(high, b) % p) << 16) + np.matmul(low, b)) % p


def rank(matrix: Residues, p: int) -> int:
    """Rank of one matrix modulo p."""
    rows, columns = matrix.shape
    if not rows or not columns:
        return 0
    return int(nmod_mat(rows, columns, matrix.ravel().tolist(), p).rank())


def echelon(matrix: Residues, p: int) -> tuple[Residues, list[int]]:
    """The rows that are not zero of the reduced echelon form modulo p, and their pivots."""
    rows, columns = matrix.shape
    if not rows or not columns:
        return np.zeros((0, columns), np.int64), []
    reduced, found = nmod_mat(rows, columns, matrix.ravel().tolist(), p).rref()
    kept = reduced.entries()[: int(found) * columns]
    table = np.array([int(v) for v in kept], np.int64).reshape(int(found), columns)
    return table, [int(k) for k in (table != 0).argmax(axis=1)]


def kernel(matrix: Residues, p: int) -> Residues:
    """A basis of the null space modulo p, a row each: a unit vector on the free columns."""
    table, pivots = echelon(matrix, p)
    free = np.setdiff1d(np.arange(matrix.shape[1]), pivots)
    out = np.zeros((len(free), matrix.shape[1]), np.int64)
    out[np.arange(len(free)), free] = 1
    out[:, pivots] = -table[:, free].T % p
    return out


def inverses(values: Residues, p: int) -> Residues:
    """Elementwise inverses modulo p (0 for 0), by Fermat's little theorem."""
    power, exponent = values % p, p - 2
    result = np.minimum(power, 1)
    while exponent:
        if exponent & 1:
            result = result * power % p
        power = power * power % p
        exponent >>= 1
    return result


def batched_rank(matrices: Residues, p: int) -> np.ndarray:
    """Ranks of many matrices at once.

    Parameters
    ----------
    matrices : ndarray of int64, shape (N, rows, columns)
        Residues modulo p.
    p : int
        A prime below 2^31.

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
    for column in range(columns):
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
        scaled = swap * inverses(swap[:, column], p)[:, None] % p
        work[index, target] = scaled
        factors = np.where(open_rows[index], work[index, :, column], 0)
        factors[np.arange(index.size), target] = 0
        work[index] = (work[index] - factors[:, :, None] * scaled[:, None, :]) % p
        ranks[index] += 1
    return ranks


def random_residues(shape: tuple[int, ...], p: int, rng: random.Random) -> Residues:
    """Independent residues, uniform in 0, …, p − 1."""
    count = 1
    for size in shape:
        count *= size
    # 64 fresh bits a residue: the bias is below p / 2^64.
    words = np.frombuffer(rng.randbytes(8 * count), dtype=np.uint64)
    return (words % np.uint64(p)).astype(np.int64).reshape(shape)


def drawn_residues(shape: tuple[int, ...], p: int, rng: random.Random) -> Residues:
    """The residues that ``rng.randrange(p)`` gives one after another, drawn all at once.

    Python draws as many bits as p has, again where they are not below p; bits are the upper ones
    of the generator's words of 32.

    Examples
    --------
    >>> drawn_residues((2, 2), 101, random.Random("a")).tolist()
    [[34, 64], [8, 77]]
    """
    count, shift = math.prod(shape), 32 - p.bit_length()
    parts: list[Residues] = []
    while count:
        words = rng.getrandbits(32 * count).to_bytes(4 * count, "little")
        values = np.frombuffer(words, "<u4").astype(np.int64) >> shift
        parts.append(values[values < p])
        count -= len(parts[-1])
    return np.concatenate(parts).reshape(shape) if parts else np.zeros(shape, np.int64)


# The number of primes in [2^30, 2^31): π(2^31) − π(2^30).
PRIME_COUNT = 105_097_565 - 54_400_028


def random_prime(rng: random.Random) -> int:
    """A random prime of 31 bits, uniform among the primes in [2^30, 2^31)."""
    while True:
        value = rng.randrange(1 << 30, 1 << 31) | 1
        if fmpz(value).is_prime():
            return value


def random_points(stream: str) -> Iterator[tuple[int, int]]:
    """Primes with the numbers of points, without end; they follow from the stream's name."""
    rng = random.Random(stream)
    while True:
        yield random_prime(rng), rng.randrange(1 << 32)
