"""The cheapest things to record that determine the weights as far as all things do.

Single entries are elements of a matroid: a least-cost basis is found by matroid intersection (a
greedy choice, where nothing is capped), and proved by a weight splitting
(`algebra.matroids.optimum`).  Whole outputs, samples, steps or units are groups of rows: a branch
and bound (`algebra.matroids.spanning`), proved by its leaves.

What is proved.  That the things recorded have the rank ρ follows from one point: a rank at a point
is a lower bound.  That nothing cheaper has: let B be a cheapest set of things generically, which
does not depend on the random point.  Unless B misses its rank there, which has a probability below
`Asked.point_error`, the bound found at the point is at most its cost.  Independent points multiply
these probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from algebra.errors import InputError, Unfinished
from algebra.identify.fibre import Fibre, fibre_of_rows
from algebra.linalg.modular import Residues
from algebra.matroids.capped import Dual
from algebra.matroids.groups import GroupLeaf
from algebra.matroids.optimum import RelaxationMaker, optimum_over_points
from algebra.matroids.spanning import cheapest_groups, spanning_bound
from algebra.networks.limits import plural
from algebra.phases import phase
from algebra.problems.allocation import Cell
from algebra.problems.problem import Problem
from algebra.ranks.generic_rank import GenericRank
from algebra.record.asked import Asked, ask
from algebra.record.things import Thing, title
from algebra.results import Result
from algebra.time_limits import OutOfTime, end_of_part, has_passed

# Points are added until the error bound of an optimum is below this.
TARGET = Fraction(1, 1 << 30)


class NoRecording(InputError):
    """Nothing that keeps the caps determines as much as everything does."""


@dataclass(frozen=True)
class GroupEvidence:
    """What proves the bound where things are groups of rows: the leaves of a search."""

    leaves: tuple[GroupLeaf, ...] = field(repr=False)


@dataclass(frozen=True)
class EntryEvidence:
    """What proves the bound where things are single rows."""

    dual: Dual = field(repr=False)


Evidence = GroupEvidence | EntryEvidence


@dataclass(frozen=True, repr=False)
class Recording(Result):
    """What to record.

    Attributes
    ----------
    asked : Asked
    recorded : tuple of Thing
    cost : Fraction
        Of all of them.
    bound : Fraction
        Nothing that determines as much costs less.
    rank : GenericRank
        ρ, of the rows of everything that may be recorded, and of what is.
    fibre : Fibre
        Which weights what is recorded (or everything that may be) determines.
    error : Fraction
        Bound on the probability that `bound` is wrong.
    points : tuple of (int, int)
        Prime and number of each random point used.
    proof : str
        Why nothing is cheaper, or how far that is known.
    evidence : Evidence
    interrupted : bool
        Whether somebody ended the search.
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

    picture = "recording"

    @property
    def problem(self) -> Problem:
        """What was asked of."""
        return self.asked.question

    @property
    def is_optimal(self) -> bool:
        """Whether cost and bound meet."""
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
        """Weights that even everything leaves undetermined."""
        return self.fibre.free

    @property
    def names(self) -> tuple[str, ...]:
        """Of what is recorded, with the names of units."""
        return tuple(title(thing, self.problem.names) for thing in self.recorded)

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of ``matchprob record``."""
        return {
            "what": list(self.asked.what),
            "recorded": [thing.name for thing in self.recorded],
            "cost": str(self.cost),
            "bound": str(self.bound),
            "optimal": self.is_optimal,
            "of": len(self.asked.allowed),
            "rank": self.rank.rank,
            "learnable": self.learnable,
            "locally_unique": self.is_unique,
            "free": [list(cell) for cell in self.free],
            "caps": dict(self.asked.caps),
            "proof": self.proof,
            "error_bound": bound_text(self.error),
            "rank_error_bound": bound_text(self.rank.error),
            "points": [list(point) for point in self.points],
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
        """One row for each thing."""
        asked, recorded = self.asked, set(self.recorded)
        return {
            "name": [title(thing, self.problem.names) for thing in asked.things],
            "recorded": [thing in recorded for thing in asked.things],
            "allowed": [k not in asked.forbidden for k in range(len(asked.things))],
            "cost": [str(price) for price in asked.prices],
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The answer in words."""
        of, names = len(self.asked.allowed), list(self.names)
        out = [f"record {len(names)} of {of} at cost {self.cost}: {', '.join(names) or 'nothing'}"]
        if self.is_unique:
            out.append(f"  the match is locally unique: rank {self.rank.rank} = r")
        else:
            free = ", ".join(f"{n}[{i},{j}]" for n, i, j in self.free)
            out.append(
                f"  rank {self.rank.rank} of r = {self.learnable}: all {of} together determine no "
                f"more; free: {free}"
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


def record(
    question: Problem,
    what: str | Sequence[str] = "outputs",
    *,
    seconds: float = 60.0,
    relaxation: RelaxationMaker | None = None,
    seed: int = 0,
    **options: Any,
) -> Recording:
    """The cheapest things to record that determine as much as all of them.

    Parameters
    ----------
    question : Problem
        With a fixed allocation.
    what : str or sequence of str
        Kinds of things.
    seconds : float, optional
        For the search; the bound of the result says what was reached.
    relaxation : callable, optional
        As for `algebra.matroids.optimum.optimum`.
    seed : int, optional
    **options
        Of `algebra.record.asked.ask`: costs, must, forbidden, caps.

    Raises
    ------
    NoRecording
        Where the caps leave too little.
    Unfinished
        Where nothing that keeps the caps was found in time, nor shown not to be there.

    Examples
    --------
    >>> from algebra.networks.feedforward import LinearFeedForward
    >>> net = LinearFeedForward(q=2, widths=(3,), d=3, m=2)
    >>> print(record(Problem(net, {"W1": [[1, 1], [1, 0], [0, 0]]})).lines()[0])
    record 2 of 3 at cost 2: output 0, output 1
    """
    asked = ask(question, what, seed=seed, **options)
    with phase("generic rank of all that may be recorded"):
        rank = asked.rank
    return _entries(asked, rank, seconds, relaxation) if asked.is_plain else _groups(
        asked, rank, seconds
    )  # fmt: skip


def fibre_of(asked: Asked, rank: GenericRank) -> Fibre:
    """What all things together, or things of the same rank, leave undetermined."""

    def rows_at(p: int, number: int) -> Residues:
        return asked.rows(asked.point(p, number))[0]

    network, cells = asked.question.network, asked.allocation.cells
    return fibre_of_rows(network, cells, rank, rows_at, asked.seed)


def _entries(
    asked: Asked, rank: GenericRank, seconds: float, relaxation: RelaxationMaker | None
) -> Recording:
    """Single rows: a least-cost basis."""
    best, points, error = optimum_over_points(asked, TARGET, relaxation, seconds)
    if best.elements is None:
        if best.bound is not None:
            raise Unfinished(_not_found(asked))
        raise NoRecording(_impossible(asked))
    assert best.bound is not None
    chosen = frozenset(asked.free[e] for e in best.elements) | asked.must
    bound = Fraction(best.bound, asked.unit) + asked.cost(asked.must)
    cost = asked.cost(chosen)
    proof = f"a weight splitting, or a tree of multipliers, checks at {len(points)} random points"
    if bound < cost:
        proof = "the search was stopped by its time limit"
    return _result(asked, rank, chosen, bound, error, points, proof, EntryEvidence(best.dual))


def _groups(asked: Asked, rank: GenericRank, seconds: float) -> Recording:
    """Groups of rows: a search."""
    ends = end_of_part(seconds)
    chosen: frozenset[int] | None = None
    leaves: tuple[GroupLeaf, ...] = ()
    proved: int | None = None
    points: list[tuple[int, int]] = []
    error, interrupt = Fraction(1), None
    try:
        for p, number in asked.points():
            if error < TARGET or interrupt or (points and has_passed(ends)):
                break
            with phase(f"search at random point {len(points) + 1}"):
                problem = asked.groups(p, number)
                if points:
                    now = spanning_bound(problem, leaves)
                    if now is None or (proved is not None and now >= proved):
                        points.append((p, number))
                        error *= asked.point_error
                        continue
                found = cheapest_groups(problem, chosen, ends)
            points.append((p, number))
            error *= asked.point_error
            interrupt = found.interrupt
            if found.chosen is not None:
                chosen = frozenset(found.chosen)
            if found.bound is not None and (proved is None or found.bound < proved):
                proved, leaves = found.bound, found.leaves
    except (KeyboardInterrupt, OutOfTime) as end:
        # What the points so far showed stands.
        if not points:
            raise
        interrupt = end
    if chosen is None:
        if interrupt or proved is not None:
            raise Unfinished(_not_found(asked))
        raise NoRecording(_impossible(asked))
    assert proved is not None
    things = frozenset(asked.allowed[k] for k in chosen)
    bound = Fraction(proved, asked.unit)
    proof = f"a search of {len(leaves)} leaves, checked at {plural(len(points), '1 random point')}"
    if len(points) > 1:
        proof = f"a search of {len(leaves)} leaves, checked at {len(points)} random points"
    if bound < asked.cost(things):
        stopped = "interrupted" if isinstance(interrupt, KeyboardInterrupt) else "out of time"
        proof = f"the search was {stopped} with {len(leaves)} parts left"
    return _result(
        asked, rank, things, bound, error, points, proof, GroupEvidence(leaves),
        isinstance(interrupt, KeyboardInterrupt),
    )  # fmt: skip


def _result(
    asked: Asked,
    rank: GenericRank,
    chosen: frozenset[int],
    bound: Fraction,
    error: Fraction,
    points: Sequence[tuple[int, int]],
    proof: str,
    evidence: Evidence,
    interrupted: bool = False,
) -> Recording:
    return Recording(
        asked, tuple(asked.things[k] for k in sorted(chosen)), asked.cost(chosen), bound, rank,
        fibre_of(asked, rank), min(error, Fraction(1)), tuple(points), proof, evidence,
        interrupted,
    )  # fmt: skip


def _caps_text(asked: Asked) -> str:
    one = {"row": "each output", "column": "each sample", "matrix": "each population"}
    return " and ".join(f"at most {number} of {one[kind]}" for kind, number in asked.caps)


def _not_found(asked: Asked) -> str:
    return (
        f"no recording with {_caps_text(asked) or 'these things'} was found in the time given, nor "
        "was it shown that there is none: allow more time, or loosen a cap"
    )


def _impossible(asked: Asked) -> str:
    return (
        f"no recording with {_caps_text(asked)} determines as much as everything that may be "
        f"recorded (rank {asked.rank.rank}): loosen a cap"
    )
