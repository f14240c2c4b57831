r"""Given parameters and samples of a network, at which its ranks are computed.

With ReLU a network is a polynomial map on each activation pattern, and ranks differ between them.
At given rational parameters the pattern is that of the network's own activity, computed exactly.

**Ranks.**  If no pre-activation that moves is 0, the map is polynomial near these parameters, and
its Jacobian J there is a rational matrix.  Modulo a prime p that divides no denominator its rank is
at most that over Q: a full rank is proved.  A minor of J that is not 0 is divided by few primes, so
a deficit is wrong with a probability that the bits of the entries bound
(`algebra.ranks.deficits.deficit_error`), for primes that are drawn at random.

**What follows.**  If J has as many independent columns as parameters, no other values nearby give
the same numbers.  Otherwise the kernel of J says which parameters are free *to first order* only:
given parameters are not generic, J may have a larger rank at others nearby, and the matches then
form a family of smaller dimension than the kernel has.  (With h = x + c for two units, the labels
D h vanish at D = 0 and c = (1, 1); for two samples the kernel has dimension 3, and the matches
nearby, D = 0 or D_1 = −D_2 with c_1 = c_2, have dimension 2.)  Nothing is said about other
parameters or samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np

from algebra.documents import Document, Paragraph
from algebra.linalg.primes import ChosenNumbers
from algebra.linalg.sparse import SparseMatrix
from algebra.networks.base import Point


@dataclass(frozen=True, eq=False)
class OwnPoint:
    """Parameters, samples and their activation pattern.

    Attributes
    ----------
    weights : mapping of str to ndarray or SparseMatrix of fmpq
        A matrix is sparse where its mask is (`algebra.networks.masks`).
    X : ndarray of fmpq
        Those of the network, and perhaps new ones behind them.
    signs : tuple of ndarray of bool
        For each value of the activation the units and samples with a positive pre-activation.
    """

    weights: Mapping[str, Any]
    X: np.ndarray
    signs: tuple[np.ndarray, ...]

    @cached_property
    def bits(self) -> int:
        """Bits of the numbers, as integers over one denominator."""
        every = [v for table in (*self.weights.values(), self.X) for v in _entries(table)]
        below = lcm(*(int(v.denominator) for v in every))
        above = max(abs(int(v.numerator)) * (below // int(v.denominator)) for v in every)
        return max(below, above).bit_length()

    @cached_property
    def given(self) -> ChosenNumbers:
        """The numbers, and primes modulo which they may be reduced."""
        tables = {**self.weights, "X": self.X}
        return ChosenNumbers.of(
            {(name, k): v for name, t in tables.items() for k, v in enumerate(_entries(t))}
        )

    def first(self, m: int) -> OwnPoint:
        """The same parameters with the first samples."""
        return replace(self, X=self.X[:, :m], signs=tuple(own[:, :m] for own in self.signs))

    def at(
        self, p: int, seed: int, shapes: Mapping[str, tuple[int, int]],
        entry: Callable[[Any], int],
    ) -> Point:  # fmt: skip
        """The point over GF(p); parameters of updates are 0, as at every point.

        Parameters
        ----------
        p, seed : int
            As in `Point`.
        shapes : mapping of str to (int, int)
            Of all matrices.
        entry : callable
            The residue of a rational.
        """

        def residues(table: Any) -> Any:
            found = np.array([entry(v) for v in _entries(table)], np.int64)
            if isinstance(table, SparseMatrix):
                return table.with_values(found)
            return found.reshape(table.shape)

        weights = {
            name: np.zeros(shape, np.int64)
            for name, shape in shapes.items()
            if name not in self.weights
        }
        weights |= {name: residues(table) for name, table in self.weights.items()}
        return Point(p, seed, weights, residues(self.X), self.signs)


def _entries(table: Any) -> Any:
    """The numbers of a matrix; of a sparse one those that exist."""
    return table.values if isinstance(table, SparseMatrix) else table.flat


def about_parameters(exactly: bool, new: bool = False) -> str:
    """What a statement at given parameters, and perhaps for given new samples, is about.

    Parameters
    ----------
    exactly : bool
        Whether it holds for all parameters nearby, not only to first order.
    new : bool, optional
        Whether it is about given new samples.

    Examples
    --------
    >>> about_parameters(False, True)
    'to first order at these parameters and these new inputs'
    """
    where = "at these parameters" + (" and these new inputs" if new else "")
    return where if exactly else f"to first order {where}"


def at_these_parameters(found: Document, about: str) -> Document:
    """The document of a result with what each of its statements is about.

    Parameters
    ----------
    found : Document
    about : str
        As `about_parameters` says it.
    """

    def stated(text: str) -> str:
        bare = text.lstrip()
        if not bare:
            return text
        indent = text[: len(text) - len(bare)]
        if not bare.endswith("."):
            return f"{indent}{about}: {bare}"
        # A sentence; "A" and words of small letters are no names.
        word = bare.partition(" ")[0]
        small = word == "A" or word[1:].strip(",").islower()
        first = bare[0].lower() if small else bare[0]
        return f"{indent}{about[0].upper()}{about[1:]} {first}{bare[1:]}"

    parts = [
        replace(part, text=stated(part.text)) if isinstance(part, Paragraph) else part
        for part in found.parts
    ]
    why = replace(found.why, known=tuple(map(stated, found.why.known)), open=stated(found.why.open))
    return replace(found, title=stated(found.title), parts=tuple(parts), why=why)
