"""Estimated match probability: counts of trials and a valid interval.

A trial is *matched* if a real solution is certified, *unmatched* if a complete count
shows that there is none, *undetermined* otherwise; undetermined trials widen the interval on both
sides and are never dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from algebra.documents import Document
from algebra.errors import InputError
from algebra.problems.problem import Problem
from algebra.ranks.generalization import matches_generalize, some_match_differs
from algebra.results import Result, named
from algebra.time_limits import OutOfTime
from numeric.statistics.approximate import ApproximateShare
from numeric.statistics.intervals import ConfidenceInterval, proportion_interval, share_text
from numeric.trials.counts import (
    COMPLETE,
    UNDETERMINED,
    InstanceCount,
    Reason,
    count_columns,
    real_root_histogram,
)


@dataclass(frozen=True, repr=False)
class Estimate(Result):
    """An estimated match probability.

    Attributes
    ----------
    problem : Problem
    engine : str
    seed : int
    counts : tuple of InstanceCount
        One for each finished trial, in order.
    requested : int
        Trials requested; more than finished if the work was interrupted.
    confidence : float
    running : ConfidenceInterval or None
        If the number of trials depended on the outcomes: the confidence sequence that was
        used, the only interval that is then valid.
    trouble : str
        Why the work ended early, other than by an interrupt.
    approximate : ApproximateShare or None
        The share of instances with a loss below a bound, if one was given.
    functions : tuple of InstanceCount
        The same trials with as many samples as inputs, where ranks do not decide whether matches
        are the teacher's function (`algebra.ranks.generalization`); some may be missing.
    systems : tuple of Problem
        The systems of equations of which one must have a real solution, if they are not those of
        `problem` alone (`any_of`).
    """

    problem: Problem
    engine: str
    seed: int
    counts: tuple[InstanceCount, ...]
    requested: int
    confidence: float = 0.95
    running: ConfidenceInterval | None = None
    trouble: str = ""
    approximate: ApproximateShare | None = None
    functions: tuple[InstanceCount, ...] = field(default=(), repr=False)
    systems: tuple[Problem, ...] = field(default=(), repr=False)

    @property
    def trials(self) -> int:
        """Trials done."""
        return len(self.counts)

    @cached_property
    def _tally(self) -> Counter[str]:
        return Counter(count.outcome for count in self.counts)

    @property
    def matched(self) -> int:
        """Trials with a certified real solution."""
        return self._tally["matched"]

    @property
    def unmatched(self) -> int:
        """Trials with a complete count of no real solution."""
        return self._tally["unmatched"]

    @property
    def undetermined(self) -> int:
        """Number of undecided trials."""
        return self._tally["undetermined"]

    @property
    def estimate(self) -> float | None:
        """Matched share of the decided trials; None if none is decided.

        Also None if it is only a lower bound (`is_lower_bound`).
        """
        if self.certified is not None:
            return self.certified
        if self.is_lower_bound:
            return None
        decided = self.matched + self.unmatched
        return self.matched / decided if decided else None

    @cached_property
    def certified(self) -> float | None:
        """1 or 0 if a verdict on the allocation settles every trial; else None.

        An allocation that is drawn anew for each trial has no verdict: the share of draws that
        are certified maximal is a share in a sample.
        """
        if self.problem.is_random or not self.counts:
            return None
        values = {settled_outcome(count) for count in self.counts}
        if len(values) != 1:
            return None
        (value,) = values
        return None if value is None else float(value)

    @property
    def is_lower_bound(self) -> bool:
        """Whether the matched share of the decided trials would be biased upwards.

        This holds if trials are undecided and some matches were decided by one solution instead of
        a complete count: such a trial might be undecided if it had no solution, so undecided
        trials have a match less often than decided ones.  It also holds if undecided trials come
        from a search that cannot prove "no match".  `at_least` is then the known bound.
        """
        if not self.undetermined:
            return False
        return any(
            (count.outcome == "matched" and count.status != COMPLETE)
            or count.reason is Reason.SEARCHED
            for count in self.counts
        )

    @property
    def at_least(self) -> float | None:
        """Matched share of all trials, with the undecided ones counted as unmatched."""
        return self.matched / self.trials if self.trials else None

    @property
    def value_text(self) -> str:
        """The match probability as text: certified, estimated, at least, or undecided."""
        if self.certified is not None:
            return f"{self.certified:.0f}, certified"
        if self.estimate is not None:
            return share_text(self.estimate)
        return f"at least {share_text(self.at_least)}" if self.matched else "undecided"

    @property
    def by_trace_test(self) -> int:
        """Unmatched trials that depend on a root count by a trace test (a match does not)."""
        return sum(
            c.reason is Reason.COUNTED_BY_TRACE and c.outcome == "unmatched" for c in self.counts
        )

    @property
    def method(self) -> str:
        """Name of the valid interval: Clopper–Pearson for a fixed number of trials."""
        if self.certified is not None:
            return "certified"
        return "clopper-pearson" if self.running is None else "confidence sequence"

    def interval(self, method: str | None = None) -> ConfidenceInterval:
        """Confidence interval of the match probability.

        Undetermined trials count as unmatched for the lower limit, matched for the upper.
        A certified value is its own interval.

        Parameters
        ----------
        method : {"clopper-pearson", "wilson"}, optional
            Default: the interval of `method`.
        """
        if method is None:
            if self.certified is not None:
                return ConfidenceInterval(self.certified, self.certified)
            if self.running is not None:
                return self.running
            method = "clopper-pearson"
        return proportion_interval(
            self.matched,
            self.unmatched,
            self.undetermined,
            confidence=self.confidence,
            method=method,
        )

    @property
    def histogram(self) -> dict[int, int]:
        """Complete trials by number of real solutions."""
        return real_root_histogram(self.counts)

    @cached_property
    def generalizes(self) -> bool | None:
        """Whether every match, or none, is the teacher's function; None if not known."""
        # A rank may be too large, or its error without a bound: then nothing is said.
        with suppress(InputError, OutOfTime):
            return matches_generalize(self.problem)
        return None

    def teachers_function(self) -> dict[str, dict[str, Any]]:
        """Trials in which some match, and in which every match, is the teacher's function.

        A trial without a match is in neither.  By ranks, or else by the counts of `functions`:
        trials that neither decides are undetermined.
        """
        if self.generalizes is None:
            with_basis = {count.index: count for count in self.functions}
            pairs = [(count, with_basis.get(count.index)) for count in self.counts]
            some = [_some_is(count, other) for count, other in pairs]
            every = [_every_is(count, other, self._some_differ) for count, other in pairs]
        elif self.generalizes:
            some = every = [count.outcome for count in self.counts]
        else:
            some = every = ["unmatched"] * self.trials
        return {"some": self._shares(some), "every": self._shares(every)}

    @cached_property
    def _some_differ(self) -> bool:
        with suppress(InputError, OutOfTime):
            return some_match_differs(self.problem)
        return False

    def _shares(self, outcomes: Sequence[str]) -> dict[str, Any]:
        names = ("matched", "unmatched", "undetermined")
        tally = {name: sum(one == name for one in outcomes) for name in names}
        ends = proportion_interval(
            *tally.values(), confidence=self.confidence, method="clopper-pearson"
        )
        return {**tally, "low": ends.low, "high": ends.high}

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of ``matchprob estimate``."""
        exact = self.interval()
        wilson = exact if self.certified is not None else self.interval("wilson")
        return {
            **named(self, "trials", "requested", "matched", "unmatched", "undetermined"),
            **named(self, "estimate", "at_least"),
            "certified": self.certified is not None,
            "low": exact.low,
            "high": exact.high,
            "confidence": self.confidence,
            "interval": self.method,
            "wilson": {"low": wilson.low, "high": wilson.high},
            "engine": self.engine,
            "seed": self.seed,
            "real_roots": {str(k): v for k, v in self.histogram.items()},
            "by_trace_test": self.by_trace_test,
            "teachers_function": self.teachers_function(),
            **({} if self.approximate is None else {"approximate": self.approximate.to_dict()}),
            **({"systems": [own.to_dict() for own in self.systems]} if self.systems else {}),
        }

    @property
    def is_partial(self) -> bool:
        """Whether the work ended before all requested trials and before the requested precision."""
        return self.trials < self.requested

    def columns(self) -> dict[str, list[Any]]:
        """One row for each trial."""
        return count_columns(self.counts)

    def document(self) -> Document:
        """The match probability, its interval, and its evidence."""
        from numeric.statistics.document import estimate_document

        return estimate_document(self)


def any_of(found: Sequence[Estimate]) -> Estimate:
    """The estimate that one of several systems has a real solution, on the same instances.

    Parameters
    ----------
    found : sequence of Estimate
        With the same seed, engine and number of trials; solutions of different systems count as
        different.

    Returns
    -------
    Estimate
        Of the trials that all of them have.
    """
    first, systems = found[0], tuple(own.problem for own in found)
    counts = first.counts if len(found) == 1 else tuple(map(_together, *(o.counts for o in found)))
    trouble = next((own.trouble for own in found if own.trouble), "")
    return replace(first, counts=counts, systems=systems, trouble=trouble)


def _together(*counts: InstanceCount) -> InstanceCount:
    """The count of the solutions of several systems of one instance."""
    status = COMPLETE if all(c.status == COMPLETE for c in counts) else UNDETERMINED
    return InstanceCount(
        counts[0].index, sum(c.real or 0 for c in counts), sum(c.complex or 0 for c in counts),
        status, "; ".join(dict.fromkeys(c.note for c in counts if c.note)),
        seconds=sum(c.seconds for c in counts),
    )  # fmt: skip


def settled_outcome(count: InstanceCount) -> bool | None:
    """The outcome that a verdict on the allocation gives: matched, unmatched, or None."""
    if count.reason is Reason.SETTLED_MAXIMAL:
        return True
    return False if count.reason is Reason.SETTLED_MINIMAL else None


def _some_is(count: InstanceCount, function: InstanceCount | None) -> str:
    """Whether some match of a trial is the teacher's function, given its count with a basis."""
    if count.outcome == "unmatched":
        return "unmatched"
    return "undetermined" if function is None else function.outcome


def _every_is(count: InstanceCount, function: InstanceCount | None, some_differs: bool) -> str:
    """Whether a trial has matches, all of them the teacher's function.

    The function's matches are among the trial's, so that equal numbers mean equal sets.
    """
    some = _some_is(count, function)
    if some == "unmatched" or some_differs:
        return "unmatched"
    if function is None or function.status != COMPLETE:
        return "undetermined"
    assert function.real is not None
    if (count.real or 0) > function.real:
        return "unmatched"
    return some if count.status == COMPLETE else "undetermined"
