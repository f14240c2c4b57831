"""A verdict on an allocation and its evidence: the object, its field names and its plain data.

The families of networks reach verdicts (`algebra.families.registry`); the evidence of each verdict
is described in ``docs/verification.md``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from algebra.certificates.explanation import explanation
from algebra.checker.compact import compact
from algebra.checker.verdicts import (
    FORMAT,
    MINIMAL,
    VERSION,
)
from algebra.documents import Document, Explanation, Paragraph
from algebra.linalg.numbers import nearest_double
from algebra.problems.premises import Premises
from algebra.problems.problem import Problem
from algebra.ranks.root_count_error import CountCertainty
from algebra.results import Result, named
from algebra.work import Limits


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
    limits : Limits
        The limits of the call that made it; not in the file.
    why : str
        The argument for MP = 1, or for MP < 1, in a sentence; not in the file.
    explained : Explanation or None
        A family's own explanation; by default it is made of `why` and the numbers.  Not in the
        file.
    theorem : Premises or None
        What the verdict follows from; not in the file, where it would be no evidence.
    is_plain : bool
        Whether the ranks are those of this problem, with its teacher's labels: then repairs and
        losses of its cells can be computed; not in the file.
    bounds_only : bool
        Whether the ranks are only upper bounds of the generic ones.
    on_piece : bool
        Whether the ranks are those on one activation pattern or choice of tokens; not in the file.
    constrained : bool
        Whether the user's problem has constraints, which this verdict leaves out; not in the file.
    """

    problem: Problem
    verdict: str
    rule: str
    equations: int
    rank: int
    prime: int
    error_bound: Fraction
    generic_root_count: int | None = None
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict, repr=False)
    seed: int = 0
    seconds: float = 0.0
    root_count_at_least: int | None = field(default=None, compare=False)
    root_count_certainty: CountCertainty | None = field(default=None, compare=False)
    out_of_time: bool = field(default=False, compare=False)
    limits: Limits = field(default=Limits(), compare=False)
    why: str = field(default="", repr=False, compare=False)
    explained: Explanation | None = field(default=None, repr=False, compare=False)
    theorem: Premises | None = field(default=None, repr=False, compare=False)
    is_plain: bool = field(default=False, repr=False, compare=False)
    bounds_only: bool = field(default=False, repr=False, compare=False)
    on_piece: bool = field(default=False, repr=False, compare=False)
    constrained: bool = field(default=False, compare=False)

    @property
    def is_without_constraints(self) -> bool:
        """Whether the verdict need not hold with the constraints; a minimal one does."""
        return self.constrained and self.verdict != MINIMAL

    def __hash__(self) -> int:
        return hash((self.problem, self.verdict, self.rule))

    @property
    def learnable(self) -> int:
        """Number r of learnable weights."""
        return self.problem.learning.size

    def to_dict(self) -> dict[str, Any]:
        """The certificate as plain data (the content of ``cert.json``)."""
        names = ("verdict", "rule", "equations", "rank", "learnable", "prime")
        more = ("generic_root_count", "reasons", "notes", "tried", "seed", "evidence")
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

    def document(self) -> Document:
        """The verdict and its evidence."""
        return _document(self)


def _document(found: Certificate) -> Document:
    """The document of a certificate."""
    facts = {
        "equations": found.equations,
        "rank": found.rank,
        "learnable": found.learnable,
        "generic_root_count": found.generic_root_count,
        "certainty": certainty(found),
    }
    # Reasons and notes that the explanation has are not repeated.
    why = explanation(found)
    texts = [
        text
        for text in (*found.reasons, *found.notes, *found.tried)
        if text not in [known.strip() for known in why.known]
    ]
    without = " without the constraints" if found.is_without_constraints else ""
    document = Document(
        f"{found.verdict}{without}: {found.rule}",
        {"verdict": found.verdict, "rule": found.rule, **facts},
        tuple(Paragraph(f"  {text}") for text in texts),
        why,
        tone=found.verdict,
    )
    names = found.problem.names
    return document.mapped(names.annotate) if names else document


def certainty(found: Certificate) -> str:
    """The certainty of the ranks, and of the number N of solutions."""
    bound = found.error_bound
    if bound:
        text = f"rank: error at most {bound.numerator / bound.denominator:.1e}"
    elif not found.prime:
        return "proved"
    else:
        text = f"rank proved modulo {found.prime}"
    if found.root_count_certainty is not None:
        text += f"; N {found.root_count_certainty.text}"
    return text
