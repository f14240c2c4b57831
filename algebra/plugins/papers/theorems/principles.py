r"""The first paper's principles for allocations between minimal and maximal, as predicates.

The theorems (`algebra.plugins.papers.theorems.statements`) say MP = 0 or MP = 1, and nothing in
between.  For the rest the paper [1]_ has conjectures and intuitions: with more rows or columns,
with more quadratic equations, with more activation patterns left, a match is said to be more
probable.  None is proved.  Each `Principle` orders two allocations of the same number of weights in
one network, or is silent; `matchprob audit --principles` compares these orders with measured match
probabilities.

The paper derives its conjecture on quadratic equations from a result on random polynomials [2]_:
a square system of n independent Gaussian polynomials in n unknowns has a real solution with a
probability that tends to 1 as n grows.  The core of an allocation is such a system without the
independence, so the size of the core is a principle of its own.

References
----------
.. [1] O. Schlisselberg, R. Darshan, "The impact of allocation strategies in subset learning
   on the expressive power of neural networks", arXiv 2502.06300.
.. [2] E. Subag, "Concentration for the zero set of large random polynomial systems",
   arXiv 2303.11924.

Examples
--------
>>> from algebra.networks.recurrent import LinearRNN
>>> net = LinearRNN(n=3, T=2, b=1, d=1, m=2)
>>> one, two = (Allocation.from_cells(net, [("W", 0, 0), ("W", i, 1)]) for i in (0, 1))
>>> PRINCIPLES["rows"].order(used_lines(two), used_lines(one))
1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from algebra.networks.base import Network
from algebra.plugins.papers.theorems.roles import roles
from algebra.problems.allocation import Allocation

# Of an allocation: numbers by name; None for one that is not known or does not exist.
Structure = Mapping[str, int | None]


@dataclass(frozen=True)
class Principle:
    """A statement that of two allocations one matches more often.

    Attributes
    ----------
    name : str
        Also the number of a `Structure` that it compares: the larger it is, the higher the match
        probability is said to be.
    noun : str
        That number in words.
    statement : str
    where : str
        Where the paper states it.
    """

    name: str
    noun: str
    statement: str
    where: str
    _about: Callable[[Network], bool]

    def is_about(self, network: Network) -> bool:
        """Whether the paper applies it to networks of this kind."""
        return self._about(network)

    def order(self, first: Structure, second: Structure) -> int:
        """1 if the first is said to match more often, -1 if the second, 0 if it is silent.

        Parameters
        ----------
        first, second : mapping
            Of two allocations of one network with the same number of weights.
        """
        a, b = first.get(self.name), second.get(self.name)
        return 0 if a is None or b is None else (a > b) - (a < b)

    def words(self, found: Structure) -> str:
        """What it predicts of an allocation, as a sentence; empty if it is silent."""
        value = found.get(self.name)
        if value is None:
            return ""
        return f"{self.noun} {value}; the more, the more often a match ({self.where})"


def _is_linear(network: Network) -> bool:
    known = roles(network)
    return bool(known.get("recurrent") or known.get("hidden layers"))


def _is_rectified(network: Network) -> bool:
    return bool(roles(network).get("rectified layer"))


PRINCIPLES: dict[str, Principle] = {
    one.name: one
    for one in (
        Principle(
            "rows",
            "rows that learn:",
            "As an allocation uses more rows, its match probability increases.",
            "section 3.3 (conjecture), sections 4 and 5",
            lambda network: _is_linear(network) or _is_rectified(network),
        ),
        Principle(
            "columns",
            "columns that learn:",
            "As an allocation uses more columns, its match probability increases.",
            "sections 3.3 and B.1",
            _is_linear,
        ),
        Principle(
            "quadratic",
            "quadratic equations, auxiliary unknowns kept:",
            "The match probability increases with the number of quadratic equations.",
            "section 3.3 and the discussion",
            _is_linear,
        ),
        Principle(
            "core",
            "unknowns that are left after elimination:",
            "The match probability increases with the size of the system that is left.",
            "section 3.3, from random polynomials",
            _is_linear,
        ),
        Principle(
            "patterns D.3",
            "activation patterns that Lemma D.3 leaves:",
            "With more patterns that counting active units leaves, a match is more probable.",
            "section 5 and Lemma D.3",
            _is_rectified,
        ),
        Principle(
            "patterns D.4",
            "activation patterns that Lemma D.4 leaves:",
            "With more patterns that counting active samples leaves, a match is more probable.",
            "section 5 and Lemma D.4",
            _is_rectified,
        ),
    )
}


def principles_about(network: Network) -> tuple[Principle, ...]:
    """The principles that the paper applies to networks of this kind."""
    return tuple(p for p in PRINCIPLES.values() if p.is_about(network))


def used_lines(allocation: Allocation) -> dict[str, int | None]:
    """The numbers of rows and columns that learn, over all matrices, and those of the fullest."""
    rows = [c for name in allocation.matrices for c in allocation.row_counts(name) if c]
    columns = [c for name in allocation.matrices for c in allocation.column_counts(name) if c]
    return {
        "rows": len(rows),
        "columns": len(columns),
        "fullest row": max(rows, default=0),
        "fullest column": max(columns, default=0),
    }
