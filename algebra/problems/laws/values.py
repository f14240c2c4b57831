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

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from algebra.networks.base import Cell, Network

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
        from algebra.problems.laws.measured import read_values

        return cls(*read_values(data, network))

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


def _text(value: Fraction | None) -> str:
    return "" if value is None else str(value)
