"""The counts of many instances: numbers of real solutions, and the instances that are open.

An instance is open if its count is undetermined.  Its `Reason` says why; the note is text for
readers only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from algebra.certificates.trial_costs import estimate_steps
from algebra.documents import Document, Explanation, Part, Step, Table, step
from algebra.errors import InputError
from algebra.networks.base import Network
from algebra.problems.premises import GIVEN_DATA
from algebra.problems.problem import Problem
from algebra.ranks.root_count_error import CountCertainty
from algebra.results import Result, done_of
from algebra.words import plural
from numeric.trials.counts import (
    COMPLETE,
    InstanceCount,
    Reason,
    count_columns,
    real_root_histogram,
)
from numeric.trials.instances import GivenInstance, Instance, draw_instance

# Largest number of instances for which the table has a row for each.
_MOST_ROWS = 40
# Characters of the longest bar of a histogram.
_BAR = 40
# Reasons why a count does not decide an instance, as clauses about the engine.
_WHY = {
    Reason.SEARCHED: "a search found no real solution, which does not show that there is none",
    Reason.FAILED: "fewer solutions were found than exist, or the method did not finish",
    Reason.LOST: "the time limit was reached or a process ended, so nothing is known about them",
    Reason.FOUND_ONE: "some real solutions are certified, and others may be missing",
}
EVERY_SOLUTION = "every complex solution"
NO_COUNT = "no count: analytic equations have no finite number of complex solutions"


@dataclass(frozen=True, repr=False)
class CountResult(Result):
    """Counts of many instances of one problem.

    Attributes
    ----------
    engine : str
    seed : int
    generic_root_count : int or None
    instances : tuple of InstanceCount
    root_count_source : str
        Where the generic root count comes from.
    root_count_certainty : CountCertainty or None
        Its certainty: proved, a bound on the probability that it is wrong, or numerical.
    seconds : float
        Wall time of the whole call.
    requested : int
        Instances requested; more than counted if the work was interrupted.
    problem : Problem or None
    given : GivenInstance or None
        The instance that was counted, if the user gave it.
    trouble : str
        Why the work ended early, other than by an interrupt.
    """

    engine: str
    seed: int
    generic_root_count: int | None
    instances: tuple[InstanceCount, ...]
    root_count_source: str = ""
    root_count_certainty: CountCertainty | None = None
    seconds: float = 0.0
    requested: int = 0
    problem: Problem | None = field(default=None, repr=False, compare=False)
    given: GivenInstance | None = field(default=None, repr=False, compare=False)
    trouble: str = ""

    @property
    def is_partial(self) -> bool:
        """Whether the work ended before all requested instances were counted."""
        return len(self.instances) < self.requested

    def columns(self) -> dict[str, list[Any]]:
        """One row for each instance."""
        return count_columns(self.instances)

    def __iter__(self) -> Iterator[InstanceCount]:
        return iter(self.instances)

    def __len__(self) -> int:
        return len(self.instances)

    @property
    def histogram(self) -> dict[int, int]:
        """Number of complete instances by number of real solutions."""
        return real_root_histogram(self.instances)

    @property
    def undetermined(self) -> int:
        """Number of instances without a complete count."""
        return sum(c.status != COMPLETE for c in self.instances)

    def instance(self, count: InstanceCount) -> Instance:
        """The instance of a count: the given one, or the one drawn again.

        Raises
        ------
        InputError
            If the result does not hold its problem.
        """
        if self.given is not None:
            return self.given
        if self.problem is None:
            raise InputError("this result does not contain its problem: use a result of `count`")
        return draw_instance(self.problem, self.seed, count.index)

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of ``matchprob count``."""
        own = {}
        if self.given is not None:
            own["labels"] = "the teacher's" if self.given.numbers.has_teacher else "given"
        return {
            **own,
            "generic_root_count": self.generic_root_count,
            "generic_root_count_source": self.root_count_source,
            "generic_root_count_certainty": self.root_count_certainty
            and self.root_count_certainty.to_dict(),
            "engine": self.engine,
            "seed": self.seed,
            "instances": [c.to_dict() for c in self.instances],
        }

    def document(self) -> Document:
        """Number of instances for each number of real solutions, and its certainty."""
        return _document(self)


@dataclass(frozen=True)
class AnotherEngine:
    """The option ``engine`` of a step: another engine that can account for every solution.

    It is named by the registry of engines, `numeric.engines.base`.

    Attributes
    ----------
    network : Network
    used : str
        The engine that was used.
    """

    network: Network
    used: str

    def __str__(self) -> str:
        return f"other than {self.used}"


def open_reasons(counts: Sequence[InstanceCount]) -> str:
    """Why instances are open, most frequent first."""
    tally = Counter(count.reason for count in counts if count.reason is not None)
    if len(tally) == 1:
        return _WHY.get(next(iter(tally)), "nothing is known of them")
    return "; ".join(
        f"of {number} {_WHY.get(reason, 'nothing is known')}"
        for reason, number in tally.most_common()
    )


def real_solutions(problem: Problem | None) -> str:
    """The solutions that are counted, in words: with constraints only those that obey them."""
    obeying = problem is not None and problem.constraints
    return "real solutions within the constraints" if obeying else "real solutions"


def histogram_table(tally: Mapping[int, int], of: str, problem: Problem | None) -> Table:
    """How many instances or trials have each number of real solutions, with bars."""
    largest = max(tally.values(), default=1)
    bars = ["█" * max(1, round(_BAR * number / largest)) for number in tally.values()]
    return Table({real_solutions(problem): list(tally), of: list(tally.values()), "": bars})


def surplus_of(problem: Problem | None) -> int:
    """The dimension of what learns minus the number of labels.

    0 if it is negative, if each trial draws its allocation, or if the network is not linear.
    """
    if problem is None or problem.is_random or not problem.network.is_linear:
        return 0
    return max(problem.learning.dimension - problem.network.outputs, 0)


def surplus_steps(verb: str, problem: Problem, used: str, **again: Any) -> tuple[str, list[Step]]:
    """What would decide open instances with more weights than equations, and suggested steps."""
    steps = [step("certify", "a verdict on the allocation", timeout=600)]
    updated = problem.updates or problem.network.parameters_of
    if problem.constraints or updated:
        return "a verdict on the allocation", steps
    if used != "homotopy":
        purpose = "all critical points of a distance"
        steps.insert(0, step(verb, purpose, engine="homotopy", **again))
    return "all critical points of a distance, or a verdict on the allocation", steps


def complete_counts(
    verb: str, problem: Problem, counts: Sequence[InstanceCount], used: str, **again: Any
) -> tuple[str, list[Step]]:
    """The computation that would decide open instances, and suggested steps.

    Parameters
    ----------
    verb : str
        The verb of the steps.
    problem : Problem
    counts : sequence of InstanceCount
        The open instances.
    used : str
        Name of the engine that was used.
    **again
        Options of the verb in every step.

    Returns
    -------
    decided_by : str
    steps : list of Step
    """
    if problem.network.equations_are == "analytic":
        return NO_COUNT, []
    reasons = {count.reason for count in counts}
    other = AnotherEngine(problem.network, used)
    steps = [step(verb, "an engine that can account for every solution", engine=other, **again)]
    if reasons & {Reason.FAILED, Reason.LOST}:
        steps.append(step(verb, "more time for each", trial_timeout=3600, **again))
    return "a complete count of each, of all N complex solutions", steps


def _document(found: CountResult) -> Document:
    """The document of counts."""
    total = len(found)
    roots = "unknown" if found.generic_root_count is None else str(found.generic_root_count)
    source = f" ({found.root_count_source})" if found.root_count_source else ""
    tally = ", ".join(f"{k}: {v}" for k, v in found.histogram.items())
    sure = found.root_count_certainty
    facts = {
        "instances": done_of(total, found.requested),
        real_solutions(found.problem).replace(" ", "_"): f"{{{tally}}}",
        "complete": total - found.undetermined,
        "undetermined": found.undetermined,
        "generic_root_count": f"{roots}{source}",
        "certainty": None if sure is None else sure.text,
        "paths": sum(c.paths for c in found) or None,
        "retried": sum(c.retried for c in found) or None,
        "certified": sum(c.certified for c in found) or None,
        "engine": found.engine,
        "seed": found.seed,
    }
    title = (
        f"{plural(total, f'{total} instance')} counted by {found.engine}, seed {found.seed}, "
        f"{found.seconds:.2f} s"
        if found.given is None
        else f"given instance counted by {found.engine}, {found.seconds:.2f} s"
    )
    parts: tuple[Part, ...] = (histogram_table(found.histogram, "instances", found.problem),)
    if total <= _MOST_ROWS:
        columns: dict[str, Sequence[Any]] = {
            "instance": [c.index for c in found],
            "real": [c.real for c in found],
            "complex": [c.complex for c in found],
            "status": [c.status for c in found],
            "note": [c.note for c in found],
        }
        parts = (*parts, Table(columns))
    why = _why(found) if found.given is None else _why_given(found)
    return Document(title, facts, parts, why, tone="strong")


def _why(found: CountResult) -> Explanation:
    """The explanation of the counts of drawn instances."""
    known = []
    roots, total = found.generic_root_count, len(found)
    complete = total - found.undetermined
    if roots is not None and found.problem is not None and found.problem.features & GIVEN_DATA:
        known.append("N is that of generic samples and labels; the given ones may have another.")
    elif roots == 0:
        known.append("The allocation is minimal: a generic instance has no solution (MP = 0).")
    elif roots is not None:
        parity = "odd, so at least one is real" if roots % 2 else "even: all may be non-real"
        if roots % 2 and found.problem is not None and found.problem.constraints:
            parity += ", but it need not obey the constraints"
        known.append(
            f"Almost every instance has N = {roots} complex "
            f"{'solution' if roots == 1 else 'solutions'}; N is {parity}."
        )
    if complete:
        analytic = found.problem is not None and found.problem.network.equations_are == "analytic"
        every = "every part of the real weights" if analytic and roots is None else EVERY_SOLUTION
        known.append(
            f"{complete} of {total}: {every} is accounted for, so the number of "
            f"{real_solutions(found.problem)} is exact."
        )
        if found.histogram.get(0) and roots != 0:
            known.append(
                f"{found.histogram[0]} of them {'has' if found.histogram[0] == 1 else 'have'} no "
                + _without_match(found.problem)
            )
    open_ = [c for c in found.instances if c.status != COMPLETE]
    words, decided_by, steps = "", "", list[Step]()
    again: dict[str, Any] = {"instances": found.requested or total, "seed": found.seed}
    surplus = surplus_of(found.problem)
    if open_:
        words = f"{len(open_)} of {total}: {open_reasons(open_)}"
        if surplus:
            words += (
                f"; with {surplus} more weights than equations solutions form families, whose "
                "number is infinite: one real solution is a match"
            )
            assert found.problem is not None
            decided_by, steps = surplus_steps("count", found.problem, found.engine, **again)
        elif found.problem is not None:
            decided_by, steps = complete_counts(
                "count", found.problem, open_, found.engine, **again
            )
    elif found.is_partial:
        words = f"{found.requested - total} of {found.requested} instances, not begun"
        steps.append(
            step("count", "all instances; instance i of a seed is always the same", **again)
        )
    if (
        found.problem is not None
        and found.problem.network.is_linear
        and any(c.solutions for c in found.instances)
    ):
        purpose = "the real solutions themselves, enclosed"
        steps.append(step("count", purpose, **again, solutions=True))
    if found.problem is not None:
        steps += estimate_steps(found.problem, found.generic_root_count, seed=found.seed)
    return Explanation(tuple(known), words, decided_by, tuple(steps))


def _without_match(problem: Problem | None) -> str:
    """What follows from a complete count of 0."""
    if problem is not None and problem.constraints:
        return (
            "real solution that obeys the constraints: no value of the learnable weights within "
            "them reproduces their labels."
        )
    return "real solution: no value of the learnable weights reproduces their labels."


def _why_given(found: CountResult) -> Explanation:
    """The explanation of the count of an instance that the user gave."""
    assert found.given is not None
    (count,) = found.instances
    known = []
    if count.status == COMPLETE:
        number = count.complex
        known.append(
            "The system has no solution, not even complex."
            if number == 0
            else f"Counted over Q: {plural(count.real or 0, f'{count.real} real solution')}"
            + ("." if number is None else f" among {number} complex ones.")
        )
        if not count.real:
            known.append("No value of the learnable weights reproduces these labels.")
    elif count.real:
        known.append("There are real solutions; their number is not known.")
    known.append(
        "The labels come from a teacher, so this is one of the trials that MP is a probability "
        "over."
        if found.given.numbers.has_teacher
        else "The labels are given without a teacher. MP is about labels of a teacher of this "
        "architecture, so this count of the system's solutions is not about MP."
    )
    words = decided_by = ""
    if count.status != COMPLETE:
        words = f"how many there are: {_WHY.get(count.reason or Reason.FAILED, count.note)}"
        words += f" ({count.note})" if count.note else ""
        decided_by = "more time, or an instance without families of solutions"
    steps = (step("certify", "the verdict, which is about almost every instance"),)
    return Explanation(tuple(known), words, decided_by, steps)
