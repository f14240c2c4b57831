r"""Measured weights: fixed weights of the student that are given numbers instead of drawn ones.

``[values]`` gives, for some weights of some matrices, exact rationals.  If such a weight is fixed,
the student has this number in every trial; if it learns, the number is its value before learning,
which only constraints use.  All weights of the teacher are drawn: a teacher with the student's
fixed weights would itself be a student, and MP would always be 1.

**With jitter** a weight is c + j z, or c (1 + j z), z of the law of fixed weights.  Its law has a
density around c, so statements on generic weights hold for almost every draw.  (Relative jitter
does not change a measured 0.)

**Without jitter** let c₀ be these numbers; "generic" then refers to the others: the drawn fixed
weights c', the samples X, the teacher t.  The verdicts hold with ranks and N computed *at* c₀.  Let
ρ be the generic rank of the whole network's Jacobian, ρ_A that of the allocation's at c₀, for
generic (c', w, X).

* ρ_A < ρ: for almost every c', X the students' labels lie in an image of dimension ρ_A, but the
  teacher's have a density on one of dimension ρ.  MP = 0.
* ρ_A = ρ: at a generic (c', w, X) with c₀ the whole Jacobian has rank at least ρ_A = ρ, the largest
  possible, and so nearby.  By the constant rank theorem the labels of all networks nearby are a
  manifold of dimension ρ, and the students' are an open part of it; labels of teachers near the
  student (c₀, c', w) lie in this part.  If every weight of the teacher can be drawn, MP > 0.
* N at c₀ is the degree of the dominant map (c', X, w) ↦ (c', X, labels) of irreducible varieties:
  a generic instance with c₀ has N solutions, all simple, and where N is odd a real one.
* A witness for MP < 1 has c₀ at its fixed weights: then solutions move continuously with (c', X, t)
  as in `algebra.arguments.no_real_root`.
* Values of an activation at sums that contain given numbers need not be independent: ranks with
  formal values are upper bounds (enough for MP = 0), and lower bounds are proved by minors in balls
  at c₀.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import lcm
from numbers import Real
from typing import Any

import numpy as np
from flint import fmpq

from algebra.errors import ErrorsAt, InputError, given_rows, one_line, shown
from algebra.linalg.numbers import exact_number
from algebra.linalg.primes import PRIME_SIZES, ChosenNumbers
from algebra.linalg.sparse import SparseMatrix
from algebra.networks.base import Cell, Network, Support
from algebra.networks.masks import Masks

JITTER, RELATIVE = "jitter", "relative"


@dataclass(frozen=True)
class Values:
    """Measured weights, and the deviation of a draw from them.

    Parameters
    ----------
    numbers : mapping of cell to Fraction
    jitter : Fraction, optional
        Standard deviation around the numbers; 0: the weights equal the numbers.
    relative : bool, optional
        Whether the jitter is a share of the number.
    """

    numbers: Mapping[Cell, Fraction] = field(default_factory=dict)
    jitter: Fraction = Fraction(0)
    relative: bool = False

    def __bool__(self) -> bool:
        return bool(self.numbers)

    def __hash__(self) -> int:
        return hash((frozenset(self.numbers.items()), self.jitter, self.relative))

    @classmethod
    def read(cls, data: Any, network: Network) -> Values:
        """Measured weights from the table of a problem file.

        Parameters
        ----------
        data : mapping or Values
            Rows of numbers for some matrices, with None or NaN for weights that were not measured,
            and "jitter": a number, or {"relative": number}.
        network : Network

        Raises
        ------
        InputError
            If an entry is wrong; the message names it.

        Examples
        --------
        >>> from algebra.networks.feedforward import LinearEstimator
        >>> net = LinearEstimator(q=2, d=1, m=1)
        >>> Values.read({"W": [["1/2", None]], "jitter": 0.25}, net)
        Values(numbers={('W', 0, 0): Fraction(1, 2)}, jitter=Fraction(1, 4), relative=False)
        """
        if isinstance(data, Values):
            return data
        if data == {}:
            return cls()
        if not isinstance(data, Mapping):
            raise InputError(
                f"`values` ({shown(data)}) must map the names of matrices to their numbers, such "
                'as {"W": [["1/2", -1], [0.25, 3]]}'
            )
        jitter, relative = data.get(JITTER, 0), False
        if isinstance(jitter, Mapping):
            if set(jitter) != {RELATIVE}:
                raise InputError(
                    f"`values.jitter` ({shown(dict(jitter))}) must be a number, or "
                    "{ relative = number }"
                )
            jitter, relative = jitter[RELATIVE], True
        size = _number(jitter, "`values.jitter`")
        if size is None or size < 0:
            raise InputError(f"`values.jitter` ({shown(jitter)}) must be a number, at least 0")
        numbers: dict[Cell, Fraction] = {}
        for name, rows in data.items():
            if name == JITTER:
                continue
            if name not in network.shapes:
                raise InputError(
                    f"[values] names `{one_line(name)}`, but a {network.title} has "
                    + ", ".join(network.shapes)
                )
            numbers |= _matrix(rows, name, network.shapes[name])
        return cls(numbers, size, relative and size != 0)

    def pinned(self, learning: Collection[Cell]) -> dict[Cell, Fraction]:
        """Fixed weights that have the same number in every trial.

        Parameters
        ----------
        learning : collection of cells
            The learnable cells.
        """
        if self.jitter and not self.relative:
            return {}
        return {
            cell: value
            for cell, value in self.numbers.items()
            if cell not in learning and not (self.jitter and value)
        }

    def to_dict(self, network: Network) -> dict[str, Any]:
        """The table of a problem file, with exact numbers as texts."""
        data: dict[str, Any] = {}
        measured = {name for name, _, _ in self.numbers}
        for name, (rows, columns) in network.shapes.items():
            if name in measured:
                data[name] = [
                    [_text(self.numbers.get((name, i, j))) for j in range(columns)]
                    for i in range(rows)
                ]
        if self.jitter:
            text = str(self.jitter)
            data[JITTER] = {RELATIVE: text} if self.relative else text
        return data


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


def _matrix(rows: Any, name: str, shape: tuple[int, int]) -> dict[Cell, Fraction]:
    where, found = f"values.{name}", {}
    for i, row in enumerate(given_rows(rows, where, "rows of numbers, or an edge list", shape)):
        for j, entry in enumerate(row):
            value = _number(entry, f"`{where}[{i}][{j}]`")
            if value is not None:
                found[name, i, j] = value
    return found


def _number(entry: Any, where: str) -> Fraction | None:
    """An exact number; None for a missing entry."""
    if entry is None or (isinstance(entry, str) and entry.strip().lower() in ("", "nan")):
        return None
    # NaN differs from itself.
    if isinstance(entry, Real) and entry != entry:
        return None
    entry = str(entry) if isinstance(entry, Decimal) else entry
    with ErrorsAt(where):
        return exact_number(entry)


def _text(value: Fraction | None) -> str:
    return "" if value is None else str(value)
