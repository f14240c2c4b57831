"""One allocation whose verdict is searched, and what is known of it so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from algebra.arguments.argument import Argument, FoundEvidence
from algebra.arguments.order import Attempt
from algebra.certificates.certificate import Certificate
from algebra.certificates.on_ranks import rank_evidence
from algebra.certificates.tools import Effort
from algebra.checker.minors import MinorInFile
from algebra.checker.network_ranks import why_generic
from algebra.checker.records import write_form
from algebra.checker.root_evidence import RootEvidence
from algebra.checker.verdicts import UNDECIDED
from algebra.problems.allocation import Cell
from algebra.problems.premises import Feature, Features
from algebra.problems.problem import Problem
from algebra.ranks.generic_rank import GenericRank
from algebra.ranks.jacobian import all_cells, base_of
from algebra.ranks.minors import Minor, minor_in_time, none_found
from algebra.ranks.root_count_error import CountCertainty
from algebra.systems.root_count import NUMERICAL, RootCount
from algebra.time_limits import is_over
from algebra.work import SHARES

MINOR = "regular_minor"
# Labels that questions about ranks are not about.
_OTHER_TARGETS = frozenset((Feature.ARBITRARY_LABELS, Feature.RESTING_TEACHER))
_State = TypeVar("_State")
_NOT_AFFINE = "parameters in which the labels are affine: none of full rank"
# What was tried where no number of complex solutions is finite.
_ANALYTIC = {
    "analytic": (
        _NOT_AFFINE,
        "a number of complex solutions: it is infinite for an analytic network",
    ),
    "by pieces": (_NOT_AFFINE,),
}


class Case:
    """Certifies one allocation, given its ranks: collects the evidence, then concludes.

    Parameters
    ----------
    problem : Problem
    effort : Effort
    ranks : (GenericRank, GenericRank)
        The network's and the allocation's.
    features : frozenset of Feature
        The features of the problem, and of one that is reduced to it.
    piece : int, optional
        The number of the rational point on whose piece the labels are (`algebra.ranks.pieces`).

    Attributes
    ----------
    evidence : dict of str to object
        Plain data.
    why_exact : str
        Why the ranks are the generic ones; "" if a regular minor has to show it.
    roots : RootCount or None
        N of the whole allocation, once it is counted.
    at_least : int or None
        The number of solutions that were found, if N is not known.
    tried : dict of str to str
        What the searches tried, in words, by argument.
    left_out : bool
        Whether a time limit ended a count that might have decided it.
    covered : frozenset of str
        The verdicts for which the present argument's theorem is proved for these features.
    attempt : int
        Number of searches for the present argument before this one.
    seconds : float
        For a Gröbner basis of the present search.
    """

    def __init__(
        self,
        problem: Problem,
        effort: Effort,
        ranks: tuple[GenericRank, GenericRank],
        features: Features,
        piece: int | None = None,
    ) -> None:
        self.problem, self.effort = problem, effort
        self.whole, self.own = ranks
        self.evidence: dict[str, Any] = {}
        if Feature.ARBITRARY_LABELS not in problem.features:
            self.evidence["network_rank"] = rank_evidence(problem, self.whole)
        self.evidence["allocation_rank"] = rank_evidence(problem, self.own, problem.student())
        self.certainty: CountCertainty | None = None
        self.notes: list[str] = []
        self.piece = piece
        if piece is not None:
            self.evidence["pattern"] = piece
        self.why_exact = self._why_exact()
        self._minors: dict[tuple[Cell, ...], Minor | None] = {}
        self.features = features
        self.covered: frozenset[str] = frozenset()
        self.roots: RootCount | None = None
        self.at_least: int | None = None
        self.tried: dict[str, str] = {}
        self.left_out = False
        self.attempt, self.seconds = 0, effort.limits.basis
        self._attempts: Counter[str] = Counter()
        self._states: dict[str, Any] = {}

    @property
    def equations(self) -> int:
        """ρ, the generic rank of the whole network."""
        return self.whole.rank

    @property
    def has_surplus(self) -> bool:
        """Whether more weights learn than there are equations."""
        return self.problem.allocation.size > self.equations

    @property
    def is_counted_first(self) -> bool:
        """Whether N of a linear network is soon counted, and says more than what needs no N."""
        network = self.problem.network
        # With updates the equations are polynomials in the parameters.
        is_linear = network.is_linear and base_of(network) is network
        return is_linear and not self.has_surplus

    @property
    def how(self) -> str:
        """What is said of N if it was counted numerically."""
        return f" ({NUMERICAL})" if self.roots is not None and self.roots.is_numerical else ""

    def _why_exact(self) -> str:
        """Why the ranks are the generic ones; "" if they may be upper bounds."""
        problem = self.problem
        is_minimal = self.own.rank < self.whole.rank
        if is_minimal and Feature.ARBITRARY_LABELS in problem.features:
            return "an upper bound of the rank of what learns is enough"
        return why_generic(problem, is_minimal, self.effort.seed)

    def has_rank(self, cells: Sequence[Cell]) -> bool:
        """Whether the ranks are proved to be the generic ones; adds a regular minor if needed.

        Parameters
        ----------
        cells : sequence of cells
            What learns, or a part of it of full rank.
        """
        if self.why_exact or not self.whole.rank:
            return True
        key = tuple(cells)
        if key not in self._minors:
            self._minors[key] = self._regular_minor(key)
        minor = self._minors[key]
        self.evidence.pop(MINOR, None)
        if minor is not None:
            self.evidence[MINOR] = write_form(MinorInFile, minor)
        return minor is not None

    def _regular_minor(self, part: Sequence[Cell]) -> Minor | None:
        """A regular minor of these weights; of all of the network's if what learns lacks rank."""
        problem, rank = self.problem, self.whole.rank
        cells, support = part, problem.student()
        if self.own.rank < rank:
            support = problem.support
            cells = all_cells(base_of(problem.network), support)
        seed = self.effort.seed
        return minor_in_time(problem.network, cells, rank, support, seed, self.piece)

    def begin(self, attempt: Attempt, present: Argument) -> bool:
        """Before a search: its number and its time; whether a theorem covers the problem."""
        theorems = [present.theorem(verdict) for verdict in present.why]
        self.covered = frozenset(t.claim for t in theorems if t.applies(self.features))
        self.attempt = self._attempts[attempt.argument]
        self._attempts[attempt.argument] += 1
        self.seconds = self.effort.limits.part(getattr(SHARES, attempt.share))
        return bool(self.covered)

    def state(self, name: str, make: Callable[[], _State]) -> _State:
        """What an argument keeps from one of its searches to the next."""
        if name not in self._states:
            self._states[name] = make()
        found: _State = self._states[name]
        return found

    def by(self, argument: Argument, found: FoundEvidence) -> Certificate:
        """The certificate by an argument."""
        if found.evidence is not None:
            self.evidence[argument.key] = write_form(argument.form, found.evidence)
        if found.roots is not None:
            self.counted(found.roots)
        if found.note:
            self.notes.append(found.note)
        number = None if self.roots is None else self.roots.value
        why = argument.sentence(found.verdict, self.equations, number, found.evidence)
        return self.conclude(
            found.verdict, found.rule, found.error, why=why, generic_root_count=number,
            theorem=argument.theorem(found.verdict),
        )  # fmt: skip

    def undecided(self) -> Certificate:
        """The certificate if no argument was found."""
        if self.piece is not None or self.problem.network.equations_are == "analytic":
            what = "analytic" if self.piece is None else "by pieces"
            return self.conclude(UNDECIDED, f"not minimal, {what}", tried=_ANALYTIC[what])
        rule, number = "not minimal, root count out of reach", None
        if self.has_surplus:
            rule = "not minimal, more weights than equations"
        elif self.roots is not None:
            number = self.roots.value
            rule = f"not minimal, {number} complex solutions{self.how}"
        tried = [*self.tried.values(), *["the time limit was reached"] * is_over()]
        return self.conclude(
            UNDECIDED, rule, tried=tuple(tried), generic_root_count=number,
            root_count_at_least=self.at_least, out_of_time=self.left_out or is_over(),
        )  # fmt: skip

    def counted(self, roots: RootCount) -> None:
        """Add a generic root count to the evidence."""
        self.evidence["root_count"] = RootEvidence.of(roots).to_dict()
        self.certainty = roots.certainty

    def unproved(self) -> Certificate:
        """Undecided: ranks with formal values are only upper bounds, and no minor was found."""
        rule = f"rank {self.own.rank} of {self.whole.rank} with formal values, not proved"
        self.evidence["upper_bounds"] = True
        tried = (none_found(self.whole.rank),)
        return self.conclude(UNDECIDED, rule, tried=tried, bounds_only=True)

    def conclude(
        self, verdict: str, rule: str, error: Fraction | None = None, **more: Any
    ) -> Certificate:
        """The certificate.

        "Not minimal" is proved, except that the whole network's rank may be larger with some
        probability, which is the error if none is given.
        """
        return Certificate(
            problem=self.problem,
            verdict=verdict,
            rule=rule,
            equations=self.whole.rank,
            rank=self.own.rank,
            prime=self.own.p,
            error_bound=self.whole.error if error is None else error,
            notes=tuple(self.notes),
            evidence=self.evidence,
            seed=self.effort.seed,
            root_count_certainty=self.certainty,
            is_plain=not _OTHER_TARGETS & self.problem.features,
            on_piece=self.piece is not None,
            **more,
        )
