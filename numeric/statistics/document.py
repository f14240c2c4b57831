"""The documents of estimates and comparisons: results of the trials, open trials and reasons."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from algebra.documents import Document, Explanation, Paragraph, Part, Step, Table, step
from algebra.results import done_of
from algebra.words import plural
from numeric.trials.count_result import (
    AnotherEngine,
    complete_counts,
    histogram_table,
    open_reasons,
    surplus_of,
    surplus_steps,
)

if TYPE_CHECKING:
    from algebra.problems.problem import Problem
    from numeric.statistics.comparison import Comparison
    from numeric.statistics.estimate import Estimate

# A half-width that suffices for most questions; largest number of trials of a suggested call.
_FINE = 0.02
_MOST_TRIALS = 1_000_000
# Notes of trials that are listed.
_MOST_NOTES = 3


def _trials(number: int) -> str:
    return plural(number, f"{number} trial")


def _round_up(number: int) -> int:
    """To two digits.

    >>> _round_up(4321)
    4400
    """
    unit = 10 ** max(len(str(number)) - 2, 0)
    return -(-number // unit) * unit


def interval_text(found: Estimate) -> str:
    """The match probability and its interval, on one line."""
    if found.certified is not None:
        return found.value_text
    return f"{found.value_text} {found.interval().text()}"


def estimate_document(found: Estimate) -> Document:
    """The document of an estimate."""
    facts: dict[str, Any] = {
        "match_probability": found.value_text,
        "interval": f"{found.confidence:.0%} {found.interval().text()}",
        "method": found.method,
        "trials": done_of(found.trials, found.requested),
        "matched": found.matched,
        "unmatched": found.unmatched,
        "undetermined": found.undetermined,
        "by_trace_test": found.by_trace_test or None,
        "engine": found.engine,
        "seed": found.seed,
        "systems": "; ".join(str(own.network) for own in found.systems) or None,
    }
    if not found.trials:
        return Document("no trial was finished", facts, (), _why(found))
    parts: list[Part] = []
    if found.certified is not None:
        title = f"MP = {found.value_text}: {found.counts[0].note}"
    else:
        title = f"MP {interval_text(found)}"
        if found.running is None:
            facts["wilson"] = found.interval("wilson").text()
        notes = Counter(c.note for c in found.counts if c.status != "complete" or c.is_settled)
        parts += [
            Paragraph(f"  {number:6d}  {note}", "quiet")
            for note, number in notes.most_common(_MOST_NOTES)
            if note
        ]
        if found.histogram:
            parts.append(histogram_table(found.histogram, "trials", found.problem))
    if found.approximate is not None:
        parts.append(Paragraph(str(found.approximate)))
    return Document(title, facts, tuple(parts), _why(found), tone="strong")


def _why(found: Estimate) -> Explanation:
    """The explanation of an estimate: its evidence, and steps that would improve it."""
    again: dict[str, Any] = {"seed": found.seed, "trials": found.requested}
    if not found.trials:
        same = step("estimate", "the same call with more time", **again)
        return Explanation((), "the match probability: no trial was finished", "", (same,))
    near = _approximate(found)
    if found.certified is not None:
        return _why_certified(found, near)
    interval = found.interval()
    known = [*_outcomes(found)]
    sequence = ""
    if found.running is not None:
        sequence = " (a confidence sequence, since the number of trials depended on the outcomes)"
    known.append(f"With {found.confidence:.0%} confidence MP lies {interval.words}{sequence}.")
    if found.by_trace_test:
        known.append(
            f"{found.by_trace_test} of the unmatched trials depend on a root count by a trace test "
            "(numerical, not a proof)."
        )
    known += [*near, *_functions(found)]
    if not found.undetermined and found.trials in (found.matched, found.unmatched):
        side = "1" if found.matched else "0"
        known.append(f"That all trials have the same outcome does not show that MP = {side}.")
    decided_by, steps = "", list[Step]()
    open_ = [c for c in found.counts if c.outcome == "undetermined"]
    if open_:
        number, surplus = len(open_), surplus_of(found.problem)
        bound = ""
        if found.is_lower_bound:
            bound = (
                "the share among the others is no estimate of MP; "
                if found.unmatched
                else "MP is bounded from below only; "
            )
        words = (
            f"{number} of {_trials(found.trials)}: {open_reasons(open_)}; {bound}they count as "
            "unmatched in the lower end of the interval and as matched in the upper"
        )
        if surplus:
            words += f". With {surplus} more weights than labels solutions form families"
            decided_by, steps = surplus_steps("estimate", found.problem, found.engine, **again)
        else:
            decided_by, steps = complete_counts(
                "estimate", found.problem, open_, found.engine, **again
            )
    else:
        words = "the value within that interval"
    if found.is_partial:
        steps.append(step("estimate", "all requested trials", **again))
    elif not open_ and interval.half_width > 0.005:
        # The half-width of a share falls as one over the root of the number of trials.
        half = interval.half_width
        wanted = min(_FINE, half / 2)
        most = min(int(found.trials * (half / wanted) ** 2) + 1, _MOST_TRIALS)
        purpose = f"an interval of about ± {wanted:.2g}"
        steps.append(step("estimate", purpose, trials=_round_up(most), seed=found.seed))
    # Of a limit the file has the networks, and no verdict of theirs is one of the limit.
    if not (found.problem.is_random or found.systems):
        steps.append(step("certify", "whether MP is 0, 1 or strictly between"))
    return Explanation(tuple(known), words, decided_by, tuple(steps))


def _why_certified(found: Estimate, near: list[str]) -> Explanation:
    why = (
        "every generic instance has a real solution"
        if found.certified
        else "the learnable weights change the labels in too few directions, except for teachers "
        "of probability 0"
    )
    text = f"MP = {found.certified:.0f} by a verdict on the allocation, not by trials: {why}."
    steps = [] if found.systems else [step("certify", "the evidence, for verify", out="cert.json")]
    if not (found.certified or found.problem.network.untaught):
        steps.append(step("repair", "the fewest moves that make MP > 0"))
    return Explanation((text, *near, *_functions(found)), steps=tuple(steps))


def _functions(found: Estimate) -> list[str]:
    """Whether matches are the teacher's function, if there are any and it is known."""
    if not found.matched or (found.generalizes is None and not found.functions):
        return []
    if found.generalizes:
        return ["Every match is the teacher's function: the samples determine it."]
    if found.generalizes is False:
        return [
            "No match is the teacher's function (with probability 1): it would also match on more "
            "samples, for which these weights are too few."
        ]
    said = [
        f"in {share['matched']} trials {word} match is"
        + (f" ({share['undetermined']} undetermined)" if share["undetermined"] else "")
        for word, share in found.teachers_function().items()
    ]
    return [f"The teacher's function, on all samples: {', '.join(said)}."]


def _fails(problem: Problem) -> str:
    """What the solutions of an instance without a match fail to do."""
    return "is real and obeys the constraints" if problem.constraints else "is real"


def _outcomes(found: Estimate) -> list[str]:
    """The numbers of trials with a match and without one."""
    out = []
    if found.problem.is_random:
        out.append("Each trial has an allocation of its own: MP is the mean over allocations.")
    parts = []
    if found.matched:
        has = "has" if found.matched == 1 else "have"
        obeys = ", and obeys the constraints" if found.problem.constraints else ""
        parts.append(f"{found.matched} {has} a match, a real solution that is certain{obeys}")
    if found.unmatched:
        how = (
            f"every solution is accounted for, and none {_fails(found.problem)}"
            if found.problem.network.is_linear
            else "that is shown, case by case"
        )
        has = "has" if found.unmatched == 1 else "have"
        parts.append(f"{found.unmatched} {has} none: {how}")
    if parts:
        out.append(f"Of {_trials(found.trials)} " + "; ".join(parts) + ".")
    return out


def _approximate(found: Estimate) -> list[str]:
    """The share of approximate matches, if it was requested."""
    share = found.approximate
    if share is None or not share.trials:
        return []
    text = (
        f"{share.reached} of {_trials(share.trials)} reach a mean squared error below "
        f"{share.epsilon:g}, {share.exact} of them by an exact match: with {found.confidence:.0%} "
        f"confidence the share is {share.interval.words}."
    )
    if share.open:
        text += (
            f" In {share.open} the search did not reach it, which does not show that no weights "
            "do: they count as not reaching it in the lower end of the interval and as reaching it "
            "in the upper."
        )
    return [text]


def comparison_document(found: Comparison) -> Document:
    """The document of a comparison."""
    interval, table = found.interval(), found.table
    both = (("first", found.first), ("second", found.second))
    facts = {
        "first": found.first.value_text,
        "second": found.second.value_text,
        "difference": "undecided" if found.difference is None else f"{found.difference:+.4f}",
        "interval": f"{found.first.confidence:.0%} [{interval.low:+.4f}, {interval.high:+.4f}]",
        "common_trials": f"{found.trials}, partial" if found.is_partial else found.trials,
        "matched_by_both": int(table[0, 0]),
        "by_the_first_only": int(table[0, 1]),
        "by_the_second_only": int(table[1, 0]),
        "by_neither": int(table[1, 1]),
        "undecided": found.trials - int(table[:2, :2].sum()),
        "seed": found.first.seed,
    }
    columns = {
        "": [name for name, _ in both],
        "MP": [interval_text(e) for _, e in both],
        "learnable": [e.problem.learns for _, e in both],
    }
    return Document(found.summary, facts, (Table(columns),), _why_compared(found), tone="strong")


def _why_compared(found: Comparison) -> Explanation:
    """The explanation of a comparison."""
    interval = found.interval()
    again: dict[str, Any] = {"seed": found.first.seed}
    both = (("first", found.first), ("second", found.second))
    known = [
        f"The {name}: MP = {e.certified:.0f}, by a verdict on the allocation."
        for name, e in both
        if e.certified is not None
    ]
    if len(known) == 2:
        return Explanation((*known, "So the difference is exact."))
    if not known:
        table = found.table
        known.append(
            f"Both were computed on the same {_trials(found.trials)}; the difference comes from "
            f"those with different outcomes: {table[0, 1]} matched by the first alone, "
            f"{table[1, 0]} by the second alone."
        )
    steps: list[Step] = []
    words = decided_by = ""
    if found.difference is None:
        names = " and ".join(name for name, e in both if e.estimate is None)
        words = (
            f"the difference: for the {names} only a lower bound is known, because trials are "
            "open, and from lower bounds no bound of a difference follows"
        )
        decided_by = "complete counts of the open trials"
        other = AnotherEngine(found.first.problem.network, found.first.engine)
        purpose = "an engine that can account for every solution"
        trials = found.first.requested
        steps.append(step("compare", purpose, trials=trials, engine=other, **again))
    elif interval.low <= 0 <= interval.high:
        words = (
            f"which of the two matches more often: the interval [{interval.low:+.4f}, "
            f"{interval.high:+.4f}] of the difference contains 0"
        )
        decided_by = "more common trials: the width of the interval is proportional to 1/√trials"
        trials = _round_up(4 * found.trials)
        steps.append(step("compare", "half the width", trials=trials, **again))
    else:
        better = "first" if interval.low > 0 else "second"
        known.append(
            f"The {better} matches more often: at the level of {found.first.confidence:.0%} the "
            f"difference lies between {interval.low:+.4f} and {interval.high:+.4f}, without 0."
        )
    if found.is_partial:
        trials = max(found.first.requested, found.second.requested)
        steps.append(step("compare", "all requested trials", trials=trials, **again))
    return Explanation(tuple(known), words, decided_by, tuple(steps))
