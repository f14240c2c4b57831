"""Stored studies as text."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from algebra.problems.files import problem_from_dict
from algebra.problems.problem import Problem
from matchprob.report.tables import table
from numeric.studies.differences import study_differences
from numeric.studies.store import StudyInfo


def look_alike(problem: Problem) -> tuple[str, str]:
    """The properties of a problem shown in every list of studies."""
    return str(problem.network), problem.learns


def print_studies(out: Console, studies: Sequence[StudyInfo]) -> None:
    """One line per study, with its differences from those that look alike."""
    numbers = ("id", "seed", "trials", "matched", "not", "?")
    grid = table("id", "name", "key", "what", "engine", *numbers[1:], right=numbers)
    for s, own in zip(studies, study_differences(studies, look_alike), strict=True):
        problem = problem_from_dict(s.work["problem"])
        what = f"{problem.network}; {problem.learns}" + (f": {own}" if own else "")
        grid.add_row(
            str(s.id), Text(s.name), s.key[:8], Text(what),
            s.work["settings"]["engine"], str(s.work["seed"]), str(s.trials), str(s.matched),
            str(s.unmatched), str(s.undetermined),
        )  # fmt: skip
    out.print(grid)
