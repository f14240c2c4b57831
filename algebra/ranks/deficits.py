r"""What a rank deficit at random points is worth: bounds of the error, and sizes of primes.

Over GF(p) at one random point a rank can only be smaller than the generic rank over Q.  A deficit
may be bad luck: a ρ×ρ minor that is not the zero polynomial vanishes at the random point with
probability at most (its degree)/p (Schwartz–Zippel [1]_), or p may divide all its coefficients.
The minor has degree at most ρ·e, e the degree of the entries, and its coefficients are bounded by
ρ! ℓ^ρ, ℓ the sum of the absolute coefficients of an entry; so at most log2(ρ! ℓ^ρ)/30 primes of 31
bits divide them, out of 5·10^7 from which p is drawn.  Independent points and primes multiply these
bounds.

References
----------
.. [1] J. T. Schwartz, "Fast probabilistic algorithms for verification of polynomial
   identities", J. ACM 27 (1980).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Protocol

from algebra.errors import InputError, shown
from algebra.linalg.primes import PRIME_SIZES, EntryBound, deficit_probability
from algebra.time_limits import check_time

# A probabilistic answer is repeated until its error bound is below this.
TARGET_ERROR = Fraction(1, 2**60)

# A point whose error bound is not below this does not prove a deficit.
_USEFUL = Fraction(1, 4)

# If all work is repeated at each point, few points are better: one of 61 bits instead of three
# of 31 bits whose error is above this.
RARE = Fraction(1, 1 << 16)


class HasEntryBound(Protocol):
    """A network whose Jacobian has entries that are bounded."""

    @property
    def entry_bound(self) -> EntryBound:
        """Degree and bits of an entry as a polynomial in all random quantities of a point."""

    @property
    def title(self) -> str:
        """The kind's name in a sentence."""


def _deficit_error(
    network: HasEntryBound, rank_bound: int, more_degree: int, more_bits: int, prime: int
) -> Fraction:
    """`deficit_error` for primes of so many bits; combinations are those of `rank_at`."""
    degree, bits, meetings = network.entry_bound
    return deficit_probability(rank_bound, degree + more_degree, bits + more_bits, meetings, prime)


def prime_bits(
    network: HasEntryBound,
    rank_bound: int,
    more_degree: int = 0,
    more_bits: int = 0,
    *,
    below: Fraction = _USEFUL,
) -> int:
    """Bits of the primes that bound a deficit at a point: 31 if they suffice, otherwise 61.

    Parameters
    ----------
    below : Fraction, optional
        The error that is small enough for primes of 31 bits.
    network, rank_bound, more_degree, more_bits
        As for `deficit_error`.
    """
    small = _deficit_error(network, rank_bound, more_degree, more_bits, PRIME_SIZES.usual)
    return PRIME_SIZES.usual if small < below else PRIME_SIZES.long


def deficit_error(
    network: HasEntryBound,
    rank_bound: int,
    more_degree: int = 0,
    more_bits: int = 0,
    *,
    bits: int | None = None,
) -> Fraction:
    """Probability bound that one random prime and point show too small a rank.

    The prime is of as many bits as `prime_bits` says, if `bits` does not.

    Parameters
    ----------
    network : Network
    rank_bound : int
        Upper bound on the true generic rank.
    more_degree, more_bits : int, optional
        Excess of degree and bits of an entry over those of the network's own Jacobian.

    Raises
    ------
    InputError
        Where primes of 61 bits do not bound it.
    """
    bits = bits or prime_bits(network, rank_bound, more_degree, more_bits)
    error = _deficit_error(network, rank_bound, more_degree, more_bits, bits)
    if error >= _USEFUL:
        raise InputError(
            f"a rank deficit of a {network.title} of this depth and degree cannot be bounded "
            "modulo primes below 2^61 (a deficit at one point would be wrong with probability up "
            "to "
            f"{shown(error)}); choose fewer steps, or an activation of lower degree"
        )
    return error


def rank_by_odds(
    network: HasEntryBound, bound: int, more_bits: int, rank_at: Callable[[int], int]
) -> tuple[int, Fraction]:
    """The largest rank at random points, and the bound of its error.

    Points are added until a rank meets the bound, or a larger rank is improbable (`TARGET_ERROR`).

    Parameters
    ----------
    network : Network
    bound : int
        Upper bound on the true generic rank.
    more_bits : int
        As for `deficit_error`.
    rank_at : callable
        The rank at a new point modulo a random prime of so many bits.
    """
    bits = prime_bits(network, bound, 0, more_bits, below=RARE)
    best, error = -1, Fraction(1)
    while error >= TARGET_ERROR:
        check_time()
        rank = rank_at(bits)
        if rank >= bound:
            return rank, Fraction(0)
        if rank > best:
            best, error = rank, Fraction(1)
        error *= deficit_error(network, bound, 0, more_bits, bits=bits)
    return best, error
