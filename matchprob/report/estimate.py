"""Counts, estimates, comparisons, and stored studies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from algebra.networks.limits import plural
from algebra.problems.files import problem_from_dict
from algebra.problems.problem import Problem
from matchprob.report.tables import learns, table
from numeric.counts import CountResult
from numeric.solutions import FORMATS, SolutionCost
from numeric.statistics.comparison import Comparison
from numeric.statistics.estimate import Estimate
from numeric.studies.apart import apart
from numeric.studies.store import StudyInfo

if TYPE_CHECKING:
    from numeric.tracking.monodromy_group import MonodromyGroup


def percent(found: Estimate) -> str:
    """Estimate and interval in one line."""
    if found.certified is not None:
        return found.value_text
    interval = found.interval()
    return f"{found.value_text} [{interval.low:.4f}, {interval.high:.4f}]"


def _all(trials: int) -> str:
    return "the trial" if trials == 1 else f"all {trials} trials"


def print_counts(out: Console, found: CountResult) -> None:
    """A summary of counts, and each instance if there are few."""
    out.print(str(found), markup=False)
    if len(found) <= 40:
        grid = table(
            "instance", "real", "complex", "status", "note", right=("instance", "real", "complex")
        )
        for c in found:
            shown = ["–" if v is None else str(v) for v in (c.real, c.complex)]
            grid.add_row(str(c.index), *shown, c.status, Text(c.note))
        out.print(grid)


def print_group(out: Console, found: MonodromyGroup) -> None:
    """The monodromy group and what it means for solving."""
    out.print(f"monodromy group of the {found.degree} solutions", markup=False)
    for line in found.statements():
        out.print(Padding(Text(line), (0, 0, 0, 2)))


def print_solutions(
    out: Console, found: CountResult, costs: Sequence[Sequence[SolutionCost]]
) -> None:
    """One line for each real solution with its cost."""
    if not any(costs):
        return
    numbers = (
        "instance",
        "largest |w|",
        "largest change",
        "distance",
        "signs kept",
        "condition",
        *FORMATS,
    )
    grid = table(*numbers, right=numbers)
    for count, own in zip(found.instances, costs, strict=True):
        for c in own:
            grid.add_row(
                str(count.index), f"{c.size:.4g}", f"{c.change:.4g}", f"{c.distance:.4g}",
                f"{c.signs_kept}/{len(c.weights)}",
                "∞" if c.condition is None else f"{c.condition.high:.3g}",
                *(f"{c.residuals[name]:.1e}" for name in FORMATS),
            )  # fmt: skip
    out.print("real solutions; the last columns are the relative errors of labels after rounding")
    out.print(grid)


def print_estimate(out: Console, found: Estimate) -> None:
    """An estimate with both intervals, the histogram of real solutions and approximate matches."""
    _print_exact(out, found)
    if found.approximate is not None:
        out.print(Text(str(found.approximate)))


def _print_exact(out: Console, found: Estimate) -> None:
    if not found.trials:
        out.print("no trial was finished")
        return
    if found.certified is not None:
        out.print(Text(f"MP = {found.value_text}", style="bold"))
        out.print(f"  {found.counts[0].note}", markup=False)
        out.print(
            f"  a verdict on the allocation settles {_all(found.trials)}; none was computed "
            f"({found.engine}, seed {found.seed})"
        )
        return
    out.print(Text(f"MP {percent(found)}", style="bold"))
    if found.is_lower_bound:
        out.print(
            f"  a lower bound: {plural(found.undetermined, f'{found.undetermined} trial')} "
            f"{'is' if found.undetermined == 1 else 'are'} open, where neither a match was found "
            "nor the lack of one shown"
        )
    if found.running is None:
        exact, wilson = found.interval(), found.interval("wilson")
        text = (
            f"Clopper–Pearson [{exact.low:.4f}, {exact.high:.4f}]"
            f"  Wilson [{wilson.low:.4f}, {wilson.high:.4f}]"
        )
    else:
        text = (
            f"[{found.running.low:.4f}, {found.running.high:.4f}] from a confidence sequence: "
            "it holds although the number of trials followed the outcomes"
        )
    out.print(f"  {found.confidence:.0%} interval  {text}")
    out.print(
        f"  {plural(found.trials, f'{found.trials} trial')} by {found.engine}, seed {found.seed}: "
        f"{found.matched} matched, "
        f"{found.unmatched} unmatched, {found.undetermined} undetermined"
    )
    notes = Counter(c.note for c in found.counts if c.status != "complete" or c.is_settled)
    for note, number in notes.most_common(3):
        if note:
            out.print(Text(f"  {number:6d}  {note}", style="dim"))
    if found.by_trace_test:
        out.print(
            f"  {found.by_trace_test} of the unmatched rest on a root count by a trace test "
            "(numerical, no proof)"
        )
    largest = max(found.histogram.values(), default=0)
    for real, number in found.histogram.items():
        bar = "█" * max(1, round(40 * number / largest))
        out.print(f"  {real:3d} real  {number:6d}  {bar}")


def print_comparison(out: Console, found: Comparison) -> None:
    """Both estimates, and the interval of their difference."""
    for name, estimate in (("first", found.first), ("second", found.second)):
        out.print(f"{name:<7} MP {percent(estimate)}  {learns(estimate.problem)}", markup=False)
    out.print(Text(found.summary, style="bold"))
    table_ = found.table
    out.print(
        f"  of {found.trials} common instances: {table_[0, 0]} matched by both, "
        f"{table_[0, 1]} by the first only, {table_[1, 0]} by the second only, {table_[1, 1]} "
        f"by neither, {found.trials - int(table_[:2, :2].sum())} undecided"
    )


def look_alike(problem: Problem) -> tuple[str, str]:
    """The properties of a problem shown in every list of studies."""
    return str(problem.network), learns(problem)


def print_studies(out: Console, studies: Sequence[StudyInfo]) -> None:
    """One line per study, with its differences from those that look alike."""
    numbers = ("id", "seed", "trials", "matched", "not", "?")
    grid = table("id", "name", "key", "what", "engine", *numbers[1:], right=numbers)
    for s, own in zip(studies, apart(studies, look_alike), strict=True):
        problem = problem_from_dict(s.work["problem"])
        what = f"{problem.network}; {learns(problem)}" + (f": {own}" if own else "")
        grid.add_row(
            str(s.id), Text(s.name), s.key[:8], Text(what),
            s.work["settings"]["engine"], str(s.work["seed"]), str(s.trials), str(s.matched),
            str(s.unmatched), str(s.undetermined),
        )  # fmt: skip
    out.print(grid)
