"""The claims in the file of a certificate, with exact types: the fields that all families share.

A certificate is self-contained: its masks are matrices of 0 and 1, never names of files.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal

from algebra.checker.checks import UNCHECKED, Checked, CheckFailed, Checklist, Say
from algebra.checker.fields import within
from algebra.checker.premises import need_covered
from algebra.checker.records import Context, Converted, Record
from algebra.checker.verdicts import DISCRETE, UNDECIDED, VERDICTS
from algebra.declarations import Count, Keyword, Size
from algebra.errors import shown
from algebra.problems.premises import Feature, Features, Premises

# Keys of ``certify --json`` that are not in the certificate.
_PRINTED = ("names", "explanation", "generic_root_count_certainty")
# A given error bound must be below this: see `algebra.ranks.generic_rank`.
_LARGEST_ERROR = Fraction(1, 2**50)


def _read_bound(value: Any, place: str, context: Context) -> Fraction:
    # A file gives a Decimal; a certificate object gives a double, which is exact too.
    known = type(value) is int or (type(value) in (float, Decimal) and math.isfinite(value))
    if not known:
        raise CheckFailed(place, f"must be a number, not {shown(value)}")
    bound = Fraction(value)
    if not 0 <= bound <= _LARGEST_ERROR:
        raise CheckFailed(place, f"{shown(value)} is not a bound of at most 2^-50")
    return bound


_Bound = Annotated[float, Keyword("minimum", 0), Keyword("maximum", float(_LARGEST_ERROR))]


def _read_problem(value: Any, place: str, context: Context) -> Any:
    """The problem; one that is known already (`algebra.checker.linear`) is not read again."""
    if "known" in context:
        return context["known"]
    from algebra.checker.problem_tables import read_problem

    return read_problem(value, place)


def _write_bound(bound: Fraction) -> Any:
    from algebra.linalg.numbers import nearest_double

    return nearest_double(bound)


_PROBLEM = Converted(
    "algebra.checker.problem_tables:ProblemTable", _read_problem, lambda problem: problem.to_dict()
)


@dataclass(frozen=True, kw_only=True)
class Claim(Record):
    """The content of ``cert.json``: see `algebra.certificates.certificate.Certificate`.

    `problem` is a `Problem`, or a `LinearProblem` of `algebra.checker.linear`; the family reads
    `evidence`.  The last four are only in the output of ``certify --json``.
    """

    format: Literal["matchprob-certificate"]
    version: Literal[1]
    problem: Annotated[Any, _PROBLEM]
    verdict: Annotated[str, Keyword("enum", VERDICTS)]
    rule: str
    equations: Count
    rank: Count
    learnable: int
    prime: Count
    error_bound: Annotated[Fraction, Converted(_Bound, _read_bound, _write_bound)]
    generic_root_count: Size | None
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    tried: tuple[str, ...]
    seed: int
    evidence: Mapping[str, Any]
    names: Any = None
    theorems: Any = None
    explanation: Any = None
    generic_root_count_certainty: Any = None

    def check(self, place: str, context: Context) -> None:
        """The number of learnable weights is that of the masks; a part has no printed fields."""
        size = self.problem.learning.size
        if self.learnable != size:
            text = f"says {shown(self.learnable)}, the masks hold {size}"
            raise CheckFailed(within(place, "learnable"), text)
        for name in _PRINTED:
            if place and getattr(self, name) is not None:
                raise CheckFailed(within(place, name), "is no field of this format")

    def check_numbers(self, **right: int) -> None:
        """Check fields that follow from the problem and its ranks.

        Raises
        ------
        CheckFailed
        """
        for name, value in right.items():
            if getattr(self, name) != value:
                raise CheckFailed(name, f"says {getattr(self, name)}; it is {value}")

    def check_words(self, say: Say) -> None:
        """Check the note on the law; list the fields that are only words.

        Parameters
        ----------
        say : callable

        Raises
        ------
        CheckFailed
        """
        discrete = Feature.DISCRETE in self.problem.features
        if discrete != (DISCRETE in self.notes):
            what = "is missing" if discrete else "does not fit"
            raise CheckFailed("notes", f"the law is {self._law}: the note “{DISCRETE}” {what}")
        words = ("rule", "reasons", "notes", "tried")
        used = [name for name in (*words, "theorems", *_PRINTED) if getattr(self, name)]
        text = f"informative only: {', '.join(used)}; seeds, points tried, trace, index"
        say("words", UNCHECKED, text)

    @property
    def _law(self) -> str:
        law = self.problem.distribution
        return ", ".join(sorted({law.weights, law.inputs, law.teacher}))


@dataclass(frozen=True)
class Conclusion:
    """What the checks of a claim showed.

    Attributes
    ----------
    status : str
        Of the verdict.
    theorem : Premises or None
        What the verdict follows from; None for "undecided".
    """

    status: str
    theorem: Premises | None = None


def verified(
    data: object,
    check: Callable[[Claim, Checklist], Conclusion],
    covered: Features | None = None,
    problem: Any = None,
) -> Checked:
    """The frame of every verification: the shared fields, the checks, the premises, the words.

    The verdict holds only if the theorem that the checks arrived at is proved for every feature of
    the problem in the file.

    Parameters
    ----------
    data : object
        The content of ``cert.json``.
    check : callable
        Checks the evidence and the verdict.
    covered : frozenset of Feature, optional
        The features with which anything is known, "undecided" too; by default all.
    problem : LinearProblem, optional
        That of the file, if it was read before.
    """
    checklist = Checklist()

    def run() -> None:
        known = {} if problem is None else {"known": problem}
        claim = Claim.from_dict(data, "", known)
        unknown = () if covered is None else sorted(claim.problem.features - covered)
        if unknown:
            raise CheckFailed("problem", f"nothing is known with {' and '.join(unknown)}")
        shown = check(claim, checklist)
        if claim.verdict != UNDECIDED:
            need_covered(claim.verdict, shown.theorem, claim.problem.features)
        claim.check_words(checklist.say)

    verdict = data.get("verdict") if isinstance(data, Mapping) else None
    return checklist.run(str(verdict), run)
