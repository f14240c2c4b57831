"""Arrays of residues modulo a prime p < 2^61: entry by entry, random ones, small products.

A product of two residues below 2^31 fits in 62 bits; others do not.  `_long_times` and `shifted`
estimate quotients in doubles, and form remainders x − q p in integers modulo 2^64; these are below
2^63 and are never rounded.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

Residues = np.ndarray

# Residues below this have products of 62 bits.
SMALL = 1 << 31
# Inner dimension, and multiplications, from which limbs are faster (measured).
SHORT = 24
FEW = 30_000
# Primes of `algebra.linalg.short_primes`, and the multiplications from which that is faster.
_SHORT_PRIMES = 1 << 23
_FEW_SHORT = 8_000
# Entries of a factor above which products are formed in parts.
ENTRIES = 1 << 22
# Entries handled at a time, so that intermediate arrays stay in the processor's cache.
BLOCK = 1 << 15
# Odd constants of 64 bits that mix the bits of products (the generator splitmix64).
SPLITMIX = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
# A matrix with at least so many entries, of which at most one in `_SPARSE` is not zero, is
# multiplied as a sparse matrix (measured).
_MANY = 1 << 16
_SPARSE = 16
# Up to this number, inverses are computed one by one.
_FEW_INVERSES = 32
# Random bytes drawn in one call.
_BYTES_AT_ONCE = 1 << 27
# Bytes from which NumPy draws them; residues of which it draws the words by a generator of its own.
_MANY_BYTES = 1 << 16
_MANY_WORDS = 1 << 16


def times(a: Residues, b: Residues, p: int) -> Residues:
    """Entrywise product modulo p, of residues; shapes are broadcast."""
    if p <= SMALL:
        return a * b % p
    if a.shape != b.shape:
        a, b = np.broadcast_arrays(a, b)
    if not a.ndim:
        return times(a.reshape(1), b.reshape(1), p).reshape(())
    if a.size <= BLOCK:
        return _long_times(a, b, p)
    out = np.empty(a.shape, np.int64)
    if a.ndim > 1 and a[0].size > BLOCK // 4:
        for k in range(len(a)):
            out[k] = times(a[k], b[k], p)
        return out
    step = max(1, BLOCK // a[0].size)
    for start in range(0, len(a), step):
        part = slice(start, start + step)
        out[part] = _long_times(a[part], b[part], p)
    return out


def small_product(a: Residues, b: Residues, p: int) -> Residues | None:
    """Product of (stacks of) small matrices modulo p; None if another way is faster or needed."""
    if p > SMALL or max(a.size, b.size) > ENTRIES or not a.dtype == b.dtype == np.int64:
        return None
    work = a.size * b.shape[-1]
    if work >= _FEW_SHORT if p < _SHORT_PRIMES else a.shape[-1] > SHORT and work >= FEW:
        return None
    # The inner dimension is below 2^15, and 2^16 · 2^31 · 2^15 < 2^63.
    high, low = a >> 16, a & 0xFFFF
    return (((np.matmul(high, b) % p) << 16) + np.matmul(low, b)) % p


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
    return (shifted(rest, 31, p) + a * low - (share * low).astype(np.int64) * p) % p


def shifted(values: Residues, bits: int, p: int) -> Residues:
    """Times 2^bits modulo p, in ±(1/2 + 2^-20) p; values below 2^62, at most 31 bits."""
    quotient = np.rint(values * ((1 << bits) / p)).astype(np.int64)
    return values * np.int64(1 << bits) - quotient * p


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
    for start in range(0, words.size, ENTRIES):
        part = words[start : start + ENTRIES]
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
    # Of many, a generator whose words are drawn six times as fast gives them; its seed is drawn.
    words = np.random.PCG64(rng.getrandbits(128)).random_raw if count >= _MANY_WORDS else None
    for start in range(0, count, BLOCK):
        part = out[start : start + BLOCK]
        size = part.size
        own = words(size) if words else np.frombuffer(random_bytes(8 * size, rng), np.uint64)
        np.remainder(own, np.uint64(p), out=part)
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


def is_sparse(a: Residues) -> bool:
    """Whether an array is one large matrix with few entries that are not zero."""
    return a.ndim == 2 and a.size >= _MANY and int(np.count_nonzero(a)) * _SPARSE <= a.size
