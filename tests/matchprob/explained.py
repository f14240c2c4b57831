"""Explanations with their steps as command lines."""

from dataclasses import dataclass

from algebra.documents import Explanation
from matchprob.report.steps import commands


@dataclass(frozen=True)
class Explained:
    """The parts of an explanation; commands and their purposes for its steps."""

    known: tuple[str, ...]
    open: str
    decided_by: str
    commands: list[tuple[str, str]]


def explained(found, file="P.toml", own=None) -> Explained:
    """The parts of an explanation, which is that of a result or is given itself."""
    why = found if isinstance(found, Explanation) else found.explain()
    return Explained(why.known, why.open, why.decided_by, commands(why, file, own))
