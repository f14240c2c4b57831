"""What a verb is asked about: a problem, or the file of one."""

from __future__ import annotations

from pathlib import Path

from algebra.errors import InputError, shown
from algebra.networks.base import Network
from algebra.problems.files import load_problem
from algebra.problems.problem import Problem

Question = Problem | str | Path


def as_problem(question: Question) -> Problem:
    """A problem, or the one in a problem file.

    Raises
    ------
    InputError
        Where it is neither, or the file is none.
    """
    if isinstance(question, Problem):
        return question
    if isinstance(question, (str, Path)):
        return load_problem(question)
    hint = ": say what learns, Problem(network, {...})" if isinstance(question, Network) else ""
    raise InputError(
        f"`question` ({shown(question)}) must be a Problem or the name of a problem file{hint}"
    )
