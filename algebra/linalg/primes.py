"""Random primes, and what a rank modulo one is worth: the bound on the probability of a deficit."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from flint import fmpz


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

    short: int = 23
    usual: int = 31
    long: int = 61
    least_read: int = 21


PRIME_SIZES = PrimeSizes()

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
