"""What a verb is asked about: a problem, or the file of one."""

from __future__ import annotations

from pathlib import Path

from algebra.problems.files import load_problem
from algebra.problems.problem import Problem

Question = Problem | str | Path


def as_problem(question: Question) -> Problem:
    """A problem, or the one in a problem file."""
    return question if isinstance(question, Problem) else load_problem(question)
