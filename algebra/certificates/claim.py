"""The claims in the file of a certificate, with exact types: the fields that all families share.

A certificate is self-contained: its masks are matrices of 0 and 1, never names of files.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

from algebra.certificates.checks import UNCHECKED, Checked, CheckFailed, Checklist, Say
from algebra.certificates.fields import RefusedAt, within
from algebra.certificates.premises import need_covered
from algebra.certificates.records import Context, Converted, Counts, Record, read_form, write_form
from algebra.certificates.sparse import SparseTable, entries_of, has_sparse_form
from algebra.certificates.verdicts import DISCRETE, UNDECIDED, VERDICTS
from algebra.declarations import Count, Keyword, Size
from algebra.errors import InputError, one_line, shown
from algebra.linalg.numbers import nearest_double
from algebra.networks.base import Network
from algebra.networks.kinds import KINDS, network_from_dict
from algebra.problems.features import Feature, Features, Premises
from algebra.problems.laws.distribution import Distribution
from algebra.problems.laws.values import JITTER
from algebra.problems.problem import Problem

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


def by_matrix(form: Any) -> Converted:
    """A table with a value of a form for some of the network's matrices."""

    def read(value: Any, place: str, context: Context) -> dict[str, Any]:
        found, network = {}, context["network"]
        for name, own in read_form(Mapping[str, Any], value, place).items():
            at = within(place, one_line(name))
            if name not in network.shapes:
                raise CheckFailed(at, f"a {network.title} has no such matrix")
            found[name] = read_form(form, own, at, {"shape": network.shapes[name]})
        return found

    return Converted(
        Mapping[str, form],
        read,
        lambda found: {name: write_form(form, own) for name, own in found.items()},
    )


@dataclass(frozen=True)
class LowRankUpdate(Record):
    """See `algebra.problems.updates.LowRank`."""

    lora: Size


@dataclass(frozen=True)
class GainUpdate(Record):
    """See `algebra.problems.updates.Gain`."""

    gain: Literal["rows", "columns", "cells"]
    groups: Annotated[Any, Converted(Counts | _Numbers, _read_groups, list)] | None = None


@dataclass(frozen=True)
class TiedUpdate(Record):
    """See `algebra.problems.updates.Tied`."""

    tied: _Numbers


def _read_groups(value: Any, place: str, context: Context) -> Any:
    form = _Numbers if context["gain"] == "cells" else Counts
    found = read_form(form, value, place, context)
    return list(found) if form is Counts else found


def _read_learning(value: Any, place: str, context: Context) -> Any:
    """A mask or an update."""
    if not isinstance(value, Mapping) or has_sparse_form(value):
        return read_form(_Mask, value, place, context)
    keys = [key for key in value if key in _UPDATES]
    if len(keys) != 1:
        raise CheckFailed(place, "must have one of the keys " + ", ".join(_UPDATES))
    [key] = keys
    given = _UPDATES[key].from_dict(value, place, context)
    from algebra.problems.updates import read_update

    with RefusedAt(at := within(place, key)):
        return read_update({k: v for k, v in vars(given).items() if v is not None}, at)


def _read_network(value: Any, place: str, context: Context) -> Network:
    """A network; its sizes are integers, lists of integers, or lists in which some are lists."""
    given = read_form(Mapping[str, Any], value, place)
    kind = KINDS.get(given["kind"]) if isinstance(given.get("kind"), str) else None
    # The kind of network checks the values that are not sizes.
    own = kind.choices() if kind is not None else frozenset()
    sizes: dict[str, Any] = {}
    for name, size in given.items():
        at = within(place, one_line(name))
        if isinstance(size, list) and name not in own:
            size = [_read_width(width, f"{at}[{k}]") for k, width in enumerate(size)]
        elif not (isinstance(size, str) or name in own):
            size = read_form(Size, size, at)
        sizes[name] = size
    with RefusedAt(place):
        return network_from_dict(sizes)


def _read_width(value: Any, place: str) -> int | tuple[int, ...]:
    form: Any = tuple[Size, ...] if isinstance(value, list) else Size
    found: int | tuple[int, ...] = read_form(form, value, place)
    return found


def _read_values(value: Any, place: str, context: Context) -> dict[str, Any]:
    """Measured weights: exact numbers as texts, "" for weights that were not measured."""
    given = read_form(Mapping[str, Any], value, place)
    found: dict[str, Any] = {}
    if JITTER in given:
        jitter, at = given.pop(JITTER), within(place, JITTER)
        if isinstance(jitter, Mapping):
            found[JITTER] = vars(RelativeShare.from_dict(jitter, at))
        else:
            found[JITTER] = read_form(str, jitter, at)
    return found | by_matrix(_Texts).read(given, place, context)


@dataclass(frozen=True)
class RelativeShare(Record):
    """A jitter that is a share of each measured weight."""

    relative: str


@dataclass(frozen=True)
class ValuesInFile:
    """Measured weights, and their jitter; the other keys are matrices."""

    jitter: str | RelativeShare | None = None

    others: ClassVar[Any] = tuple[tuple[str, ...], ...] | SparseTable


_Numbers = Annotated[Any, entries_of(Count, sparse=True)]
_Texts = Annotated[Any, entries_of(str)]
_Bit = Annotated[int, Keyword("minimum", 0), Keyword("maximum", 1)]
_Mask = Annotated[Any, entries_of(_Bit, sparse=True)]
_Signs = Annotated[Any, entries_of(Annotated[int, Keyword("minimum", -1), Keyword("maximum", 1)])]
_UPDATES: dict[str, type[Record]] = {"lora": LowRankUpdate, "gain": GainUpdate, "tied": TiedUpdate}
_Learning = Annotated[
    Any,
    Converted(_Mask | LowRankUpdate | GainUpdate | TiedUpdate, _read_learning, lambda own: own),
]
Masks = Annotated[dict[str, Any], by_matrix(_Mask)]
_KINDS = Keyword("properties", lambda: {"kind": {"enum": sorted(KINDS)}})
_NetworkTable = Annotated[Mapping[str, Any], Keyword("required", ("kind",)), _KINDS]
NetworkInFile = Annotated[Network, Converted(_NetworkTable, _read_network, Network.to_dict)]


@dataclass(frozen=True)
class LawsTable(Record):
    """See `algebra.problems.laws.distribution.Distribution`."""

    weights: str | None = None
    inputs: str | None = None
    teacher: str | None = None
    labels: str | None = None
    noise: str | None = None
    scale: Mapping[str, str] | None = None
    signs: (
        Annotated[dict[str, Any], by_matrix(Annotated[Any, entries_of(Literal[-1, 0, 1])])] | None
    ) = None

    def given(self) -> dict[str, Any]:
        """What is there."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class TeacherInFile(Record):
    """Another network that gives the labels."""

    network: NetworkInFile
    support: Masks | None = None
    distribution: LawsTable | None = None


def _read_teacher(value: Any, place: str, context: Context) -> Problem:
    given = TeacherInFile.from_dict(value, place)
    laws = {} if given.distribution is None else given.distribution.given()
    with RefusedAt(place):
        return Problem(given.network, {}, given.support or {}, Distribution(**laws))


@dataclass(frozen=True)
class ProblemTable(Record):
    """A problem without names of files; see `algebra.problems.problem.Problem`."""

    network: NetworkInFile
    learnable: Annotated[dict[str, Any], by_matrix(_Learning)]
    support: Masks | None = None
    distribution: LawsTable | None = None
    values: Annotated[dict[str, Any], Converted(ValuesInFile, _read_values, dict)] | None = None
    teacher: (
        Annotated[Problem, Converted(TeacherInFile, _read_teacher, Problem.as_teacher)] | None
    ) = None


def read_problem(data: object, place: str = "problem") -> Problem:
    """The problem of a certificate: integers for sizes, matrices of 0 and 1 for masks.

    Raises
    ------
    CheckFailed
    """
    given = ProblemTable.from_dict(data, place)
    laws = {} if given.distribution is None else given.distribution.given()
    try:
        return Problem(
            given.network, given.learnable, given.support or {}, Distribution(**laws),
            values=given.values or {}, teacher=given.teacher,
        )  # fmt: skip
    except (InputError, TypeError) as error:
        raise CheckFailed(place, one_line(error)) from None


_PROBLEM = Converted(
    ProblemTable, lambda value, place, context: read_problem(value, place), Problem.to_dict
)


@dataclass(frozen=True, kw_only=True)
class Claim(Record):
    """The content of ``cert.json``: see `algebra.certificates.certificate.Certificate`.

    The family reads `evidence`.  The last four are only in the output of ``certify --json``.
    """

    format: Literal["matchprob-certificate"]
    version: Literal[1]
    problem: Annotated[Problem, _PROBLEM]
    verdict: Annotated[str, Keyword("enum", VERDICTS)]
    rule: str
    equations: Count
    rank: Count
    learnable: int
    prime: Count
    error_bound: Annotated[Fraction, Converted(_Bound, _read_bound, nearest_double)]
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
    """
    checklist = Checklist()

    def run() -> None:
        claim = Claim.from_dict(data, "")
        unknown = () if covered is None else sorted(claim.problem.features - covered)
        if unknown:
            raise CheckFailed("problem", f"nothing is known with {' and '.join(unknown)}")
        shown = check(claim, checklist)
        if claim.verdict != UNDECIDED:
            need_covered(claim.verdict, shown.theorem, claim.problem.features)
        claim.check_words(checklist.say)

    verdict = data.get("verdict") if isinstance(data, Mapping) else None
    return checklist.run(str(verdict), run)
