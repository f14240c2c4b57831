"""A verdict on an allocation and its evidence: the object, its field names and its plain data.

The families of networks reach verdicts (`algebra.families`); the evidence of each verdict is
described in ``docs/verification.md``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from algebra.certificates.sparse import compact
from algebra.linalg.rational import nearest_double
from algebra.problems.problem import Problem
from algebra.ranks.root_count_error import CountCertainty
from algebra.results import Result, named

FORMAT, VERSION = "matchprob-certificate", 1

MINIMAL, MAXIMAL = "minimal", "maximal"
INTERMEDIATE, UNDECIDED = "intermediate", "undecided"
VERDICTS = (MINIMAL, MAXIMAL, INTERMEDIATE, UNDECIDED)

# For discrete weights or inputs.
DISCRETE = "the law is discrete: this is a statement about generic instances, not about MP"


@dataclass(frozen=True, repr=False)
class Certificate(Result):
    """A verdict and its evidence.

    Attributes
    ----------
    problem : Problem
    verdict : str
        "minimal", "maximal", "intermediate" or "undecided".
    rule : str
        The argument, in a few words.
    equations : int
        Generic rank ρ of the whole network's Jacobian.
    rank : int
        Generic rank of the allocation's Jacobian.
    prime : int
        Prime of the point at which `rank` was computed; 0 if none was needed.
    error_bound : Fraction
        Bound on the probability that the verdict is wrong because of an unlucky point; 0 if it is
        proved.
    generic_root_count : int or None
    theorems : mapping of str to str
        What the papers' theorems, as stated, say: "maximal", "minimal" or "silent".
    reasons : tuple of str
        For a minimal allocation the violated budgets, in words.
    notes : tuple of str
    tried : tuple of str
        For an undecided allocation, the attempts.
    evidence : mapping
        Plain data, see `Certificate.to_dict`.
    root_count_at_least : int or None
        Number of complex solutions found if their total is unknown: numerical, not evidence, and
        not in the file.
    root_count_certainty : CountCertainty or None
        Certainty of the generic root count on which the verdict depends; not in the file, where it
        would be no evidence.
    out_of_time : bool
        Whether a time limit ended a computation that might have decided it; not in the file.
    """

    problem: Problem
    verdict: str
    rule: str
    equations: int
    rank: int
    prime: int
    error_bound: Fraction
    generic_root_count: int | None = None
    theorems: Mapping[str, str] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict, repr=False)
    seed: int = 0
    seconds: float = 0.0
    root_count_at_least: int | None = field(default=None, compare=False)
    root_count_certainty: CountCertainty | None = field(default=None, compare=False)
    out_of_time: bool = field(default=False, compare=False)

    def __hash__(self) -> int:
        return hash((self.problem, self.verdict, self.rule))

    picture = "certificate"

    def facts(self) -> dict[str, Any]:
        """The verdict and its basis."""
        names = ("verdict", "rule", "rank", "equations", "learnable", "generic_root_count")
        return named(self, *names)

    @property
    def learnable(self) -> int:
        """Number r of learnable weights."""
        return self.problem.learning.size

    def to_dict(self) -> dict[str, Any]:
        """The certificate as plain data (the content of ``cert.json``)."""
        names = ("verdict", "rule", "equations", "rank", "learnable", "prime")
        more = ("generic_root_count", "theorems", "reasons", "notes", "tried", "seed", "evidence")
        return {
            "format": FORMAT,
            "version": VERSION,
            "problem": compact(self.problem.to_dict()),
            **named(self, *names),
            # The only inexact number here: the bound, rounded for other programs.
            "error_bound": nearest_double(self.error_bound),
            **named(self, *more),
        }

    def to_json(self) -> str:
        """The text of ``cert.json``."""
        return json.dumps(self.to_dict(), indent=1) + "\n"

    def __str__(self) -> str:
        lines = [f"{self.verdict}: {self.rule}"]
        lines += [f"  {text}" for text in (*self.reasons, *self.notes, *self.tried)]
        return "\n".join(lines)
