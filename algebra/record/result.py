"""The result of `record`: elements, cost, bound of the cost; its proof as plain data.

The proof file (format ``matchprob-recording``) contains the question, the recorded elements, the
claim, and the evidence from which `algebra.record.verify` proves the claim: the rows of the
recorded elements have the rank ρ of the rows of all allowed elements; and no elements that keep the
caps, include the required ones and have this rank cost less than `bound`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from algebra.certificates.duals import (
    LEAVES,
    Evidence,
    dual_from_dict,
    dual_to_dict,
    written,
)
from algebra.certificates.sparse import compact
from algebra.identify.fibre import Fibre
from algebra.matroids.capped import Dual
from algebra.matroids.groups import GroupLeaf
from algebra.networks.limits import plural, some
from algebra.problems.allocation import Cell, cells_data
from algebra.problems.problem import Problem
from algebra.ranks.generic_rank import GenericRank
from algebra.ranks.parametrized import by_updates
from algebra.record.asked import Asked
from algebra.record.things import Thing, title
from algebra.results import Result, named

FORMAT, VERSION = "matchprob-recording", 1
# Numbers of free weights and elements in a text, and of elements in its ranking.
_MOST, _RANKED = 24, 8


@dataclass(frozen=True)
class GroupEvidence(Evidence):
    """Evidence for the bound if elements are groups of rows: the leaves of a search."""

    leaves: tuple[GroupLeaf, ...] = field(repr=False, metadata=LEAVES)


@dataclass(frozen=True)
class EntryEvidence(Evidence):
    """Evidence for the bound if elements are single rows."""

    dual: Dual = field(repr=False, metadata=written("dual", dual_to_dict, dual_from_dict))


@dataclass(frozen=True)
class FirstChoice:
    """A greedy choice, before a search.

    Attributes
    ----------
    recorded : tuple of str
        Names.
    cost : Fraction
        Sum of their prices.
    bound : Fraction
        A lower bound of the cost of any elements that determine as much.
    """

    recorded: tuple[str, ...]
    cost: Fraction
    bound: Fraction

    def __str__(self) -> str:
        count = len(self.recorded)
        return (
            f"a greedy choice of {plural(count, f'{count} element')} costs {self.cost}, and "
            f"nothing costs less than {self.bound}"
        )


@dataclass(frozen=True, repr=False)
class Recording(Result):
    """The recorded elements, with their cost and its lower bound.

    Attributes
    ----------
    asked : Asked
    recorded : tuple of Thing
    cost : Fraction
        Sum of their prices.
    bound : Fraction
        A lower bound of the cost of any elements that determine as much.
    rank : GenericRank
        ρ, of the rows of all allowed elements, and of the recorded ones.
    fibre : Fibre
        The weights that the recorded elements (or all allowed ones) determine.
    error : Fraction
        Bound on the probability that `bound` is wrong.
    points : tuple of (int, int)
        Prime and number of each random point used.
    proof : str
        The reason why no elements are cheaper, or the state of the search.
    evidence : Evidence
    interrupted : bool
        Whether the user ended the search.
    order : tuple of (Thing, int)
        The recorded elements, each with its increase of the rank of those before it, the largest
        increase first; empty for single entries, which add 1 each, and if the search was stopped.
    alone : tuple of int
        The rank of each allowed element alone, or an upper bound of it if there are very many
        numbers.
    """

    asked: Asked = field(compare=False)
    recorded: tuple[Thing, ...]
    cost: Fraction
    bound: Fraction
    rank: GenericRank
    fibre: Fibre = field(repr=False)
    error: Fraction
    points: tuple[tuple[int, int], ...]
    proof: str
    evidence: Evidence = field(repr=False)
    interrupted: bool = False
    order: tuple[tuple[Thing, int], ...] = field(default=(), repr=False)
    alone: tuple[int, ...] = field(default=(), repr=False)

    picture = "recording"

    @property
    def problem(self) -> Problem:
        """What was asked of."""
        return self.asked.question

    @property
    def is_optimal(self) -> bool:
        """Whether the cost equals its lower bound."""
        return self.cost == self.bound

    @property
    def learnable(self) -> int:
        """r, the number of learnable weights."""
        return self.asked.allocation.size

    @property
    def is_unique(self) -> bool:
        """Whether the match is locally unique: all learnable weights are determined."""
        return self.rank.rank == self.learnable

    @property
    def free(self) -> tuple[Cell, ...]:
        """Weights that all allowed elements together leave undetermined."""
        return self.fibre.free

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the recorded elements, with the names of units."""
        return tuple(title(thing, self.problem.names) for thing in self.recorded)

    def table(self) -> str:
        """The recorded elements, a line each: name, cost (CSV)."""
        prices = dict(zip(self.asked.things, self.asked.prices, strict=True))
        lines = [
            f'"{name}",{prices[thing]}' if "," in name else f"{name},{prices[thing]}"
            for name, thing in zip(self.names, self.recorded, strict=True)
        ]
        return "\n".join(["name,cost", *lines]) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of ``matchprob record``."""
        return {
            "names": list(self.names),
            "what": list(self.asked.what),
            "recorded": [thing.name for thing in self.recorded],
            "adds": [[thing.name, gain] for thing, gain in self.order],
            **named(self, "cost", "bound"),
            "optimal": self.is_optimal,
            "of": len(self.asked.allowed),
            "rank": self.rank.rank,
            "learnable": self.learnable,
            "locally_unique": self.is_unique,
            **cells_data("free", self.problem.network, self.free),
            "caps": dict(self.asked.caps),
            "proof": self.proof,
            "error_bound": bound_text(self.error),
            "rank_error_bound": bound_text(self.rank.error),
            **named(self, "points"),
        }

    def proof_file(self) -> dict[str, Any]:
        """The content of a proof file, as `matchprob.verify` reads it.

        If the search was not finished, the file claims `bound` only.
        """
        asked, chosen = self.asked, set(self.recorded)
        problem = by_updates(Problem.of(asked.allocation, support=asked.question.support))
        return {
            "format": FORMAT,
            "version": VERSION,
            "problem": compact(problem.to_dict()),
            "what": list(asked.what),
            "prices": [str(price) for price in asked.prices],
            "must": sorted(asked.must),
            "forbidden": sorted(asked.forbidden),
            "caps": dict(asked.caps),
            "recorded": [k for k, thing in enumerate(asked.things) if thing in chosen],
            "rank": self.rank.rank,
            **named(self, "cost", "bound", "evidence"),
        }

    def facts(self) -> dict[str, Any]:
        """How much is recorded, and how sure it is the least."""
        return {
            "what": ", ".join(self.asked.what),
            "recorded": f"{len(self.recorded)} of {len(self.asked.allowed)}",
            "cost": self.cost,
            "bound": self.bound,
            "rank": self.rank.rank,
            "learnable": self.learnable,
            "things": ", ".join(self.names),
        }

    def columns(self) -> dict[str, list[Any]]:
        """One row for each element."""
        asked, recorded = self.asked, set(self.recorded)
        adds, alone = dict(self.order), dict(zip(self.asked.allowed, self.alone, strict=False))
        return {
            "name": [title(thing, self.problem.names) for thing in asked.things],
            "recorded": [thing in recorded for thing in asked.things],
            "allowed": [k not in asked.forbidden for k in range(len(asked.things))],
            "cost": [str(price) for price in asked.prices],
            "adds": [adds.get(thing, 0) for thing in asked.things],
            "alone_at_most": [alone.get(k, 0) for k in range(len(asked.things))],
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The answer in words."""
        of, names = len(self.asked.allowed), list(self.names)
        listed = some(names, _MOST) or "nothing"
        out = [f"record {len(names)} of {of} at cost {self.cost}: {listed}"]
        if len(self.order) > 1:
            adds = [f"{title(thing, self.problem.names)} {gain}" for thing, gain in self.order]
            out.append(f"  by what each adds to the rank: {some(adds, _RANKED)}")
        if self.is_unique:
            out.append(f"  the match is locally unique: rank {self.rank.rank} = r")
        else:
            free = some([self.problem.names.cell(cell) for cell in self.free], _MOST)
            out.append(
                f"  rank {self.rank.rank} of r = {self.learnable}, and nothing that may be "
                f"recorded adds to it; free all the same: {free}"
            )
        if not self.problem.network.ranks_are_exact(self.problem.support):
            out.append(
                "  for this activation, or with these leaks, the rank is an upper bound: that of "
                "functions whose values and slopes are independent"
            )
        if self.is_optimal:
            out.append(f"  optimal: {self.proof}; wrong with probability {bound_text(self.error)}")
        else:
            out.append(f"  cost {self.cost}, at least {self.bound} for any: {self.proof}")
        return out


def bound_text(error: Fraction) -> str:
    """An error bound as a short text, rounded up to a power of two.

    Examples
    --------
    >>> bound_text(Fraction(0)), bound_text(Fraction(3, 1 << 32))
    ('0', '2^-30')
    """
    if not error:
        return "0"
    return f"2^-{(error.denominator // error.numerator).bit_length() - 1}"
