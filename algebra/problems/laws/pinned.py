"""Fixed weights of a student that are exact numbers, at points and instances.

What follows for verdicts is proved in `algebra.problems.laws.values`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np
from flint import fmpq

from algebra.errors import InputError
from algebra.linalg.primes import PRIME_SIZES, ChosenNumbers
from algebra.linalg.sparse import SparseMatrix
from algebra.networks.base import Cell, Support
from algebra.networks.masks import Masks


class StudentSupport(dict[str, np.ndarray]):
    """Structural zeros, and fixed weights of the student that are exact numbers.

    It replaces the structural zeros wherever a point or an instance of the *student* is drawn; a
    teacher's is drawn with the masks alone (`masks_of`).

    Parameters
    ----------
    masks : mapping of str to mask
    pinned : mapping of cell to Fraction
    """

    def __init__(self, masks: Support, pinned: Mapping[Cell, Fraction]) -> None:
        super().__init__(masks)
        self.pinned = dict(pinned)

    @property
    def bits(self) -> int:
        """Bit length of the numbers, written as integers over one denominator."""
        below = lcm(*(value.denominator for value in self.pinned.values()))
        above = max((abs(value) for value in self.pinned.values()), default=Fraction(0))
        return max(below, int(above * below)).bit_length()

    @cached_property
    def given(self) -> ChosenNumbers:
        """See `given_numbers`."""
        return ChosenNumbers.of(self.pinned)


def prime_for(support: Support | None, rng: random.Random, bits: int = PRIME_SIZES.usual) -> int:
    """A random prime modulo which the exact numbers of a student may be reduced, if it has any."""
    return given_numbers(support).prime(rng, bits)


def prime_not_in(used: Sequence[int], rng: random.Random, support: Support | None = None) -> int:
    """A random prime that was not used before, for the exact numbers of a student, if any."""
    while True:
        p = prime_for(support, rng)
        if p not in used:
            return p


def given_numbers(support: Support | None) -> ChosenNumbers:
    """The exact numbers of a student, and primes modulo which they may be reduced."""
    return support.given if isinstance(support, StudentSupport) else ChosenNumbers()


def pins(support: Support | None) -> Mapping[Cell, Fraction]:
    """The exact numbers of a student's fixed weights; none if all weights are drawn."""
    return support.pinned if isinstance(support, StudentSupport) else {}


def pinned_bits(support: Support | None) -> int:
    """`StudentSupport.bits`; 0 if no number is fixed."""
    return support.bits if isinstance(support, StudentSupport) else 0


def masks_of(support: Support | None) -> Support:
    """The structural zeros without exact numbers, as for a teacher."""
    return support if isinstance(support, Masks) else dict(support or {})


def restrict(
    matrices: dict[str, np.ndarray], support: Support | None, entry: Callable[[fmpq], Any]
) -> None:
    """Set structural zeros, and the student's exact numbers, in place.

    Matrices by their entries have no others.

    Parameters
    ----------
    matrices : dict of str to ndarray
    support : mapping of str to mask, or StudentSupport
    entry : callable
        Converts a rational to an entry.
    """
    masks = support or {}
    for name in masks:
        if not isinstance(matrices[name], SparseMatrix):
            matrices[name][np.asarray(masks[name]) == 0] = entry(fmpq(0))
    for (name, i, j), value in pins(support).items():
        matrices[name][i, j] = entry(fmpq(value.numerator, value.denominator))


def residue(p: int) -> Callable[[fmpq], int]:
    """Rationals modulo a prime.

    Raises
    ------
    InputError
        If the prime divides a denominator.
    """

    def entry(value: fmpq) -> int:
        below = int(value.denominator) % p
        if not below:
            raise InputError(f"[values]: the denominator of {value} is divisible by the prime {p}")
        return int(value.numerator) % p * pow(below, -1, p) % p

    return entry
