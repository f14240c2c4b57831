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

from algebra.certificates.certificate import DISCRETE, INTERMEDIATE, VERDICTS
from algebra.certificates.checks import UNCHECKED, CheckFailed, Checklist, Say, Verification
from algebra.certificates.fields import Fields, RefusedAt, whole, within
from algebra.certificates.reach_of_laws import is_beyond, why_refused
from algebra.certificates.records import Context, Converted, Record
from algebra.certificates.sparse import entries, has_sparse_form
from algebra.declarations import Count, Keyword, Size
from algebra.errors import InputError, one_line, shown
from algebra.linalg.rational import nearest_double
from algebra.networks.base import KINDS, Network
from algebra.problems.files import network_from_dict
from algebra.problems.laws.distribution import PARTS, Distribution
from algebra.problems.laws.values import JITTER, RELATIVE
from algebra.problems.problem import Problem
from algebra.problems.updates import GROUPS, UPDATES, LowRank, Tied, Update, read_update

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


@dataclass(frozen=True, kw_only=True)
class Claim(Record):
    """The content of ``cert.json``: see `algebra.certificates.certificate.Certificate`.

    The family reads `evidence`.  The last three are only in the output of ``certify --json``.
    """

    format: Literal["matchprob-certificate"]
    version: Literal[1]
    problem: Annotated[Problem, Converted(Mapping[str, Any], _problem, Problem.to_dict)]
    verdict: Annotated[str, Keyword("enum", VERDICTS)]
    rule: str
    equations: Count
    rank: Count
    learnable: int
    prime: Count
    error_bound: Annotated[Fraction, Converted(_Bound, _read_bound, nearest_double)]
    generic_root_count: Size | None
    theorems: Mapping[str, str]
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    tried: tuple[str, ...]
    seed: int
    evidence: Mapping[str, Any]
    names: Any = None
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

    def check_law(self) -> None:
        """Check that the verdict is known for laws like the problem's.

        Raises
        ------
        CheckFailed
        """
        refusal = why_refused(self.problem)
        if refusal:
            raise CheckFailed("problem", refusal)
        if self.verdict == INTERMEDIATE and is_beyond(self.problem):
            text = "'intermediate' is not supported with measured weights or bounded laws"
            raise CheckFailed("verdict", text)

    def check_words(self, theorems: Mapping[str, str], say: Say) -> None:
        """Check the law and the theorems; list the fields that are only words.

        Parameters
        ----------
        theorems : mapping of str to str
            The conclusion of each theorem as stated, recomputed.
        say : callable

        Raises
        ------
        CheckFailed
        """
        discrete = not self.problem.distribution.is_continuous
        if discrete != (DISCRETE in self.notes):
            what = "is missing" if discrete else "does not fit"
            raise CheckFailed("notes", f"the law is {self._law}: the note “{DISCRETE}” {what}")
        for name, claimed in self.theorems.items():
            if theorems.get(name) != claimed:
                right = theorems.get(name, "no such theorem here")
                raise CheckFailed(
                    f"theorems.{one_line(name)}", f"{shown(claimed)}; it is {right!r}"
                )
        words = ("rule", "reasons", "notes", "tried")
        used = [name for name in (*words, *_PRINTED) if getattr(self, name)]
        text = f"informative only: {', '.join(used)}; seeds, points tried, trace, index"
        say("words", UNCHECKED, text)

    @property
    def _law(self) -> str:
        law = self.problem.distribution
        return ", ".join(sorted({law.weights, law.inputs, law.teacher}))


def verified(data: object, check: Callable[[Claim, Checklist], Mapping[str, str]]) -> Verification:
    """The frame of every family's verification: the shared fields, the family's checks, the words.

    Parameters
    ----------
    data : object
        The content of ``cert.json``.
    check : callable
        Checks the evidence and the verdict; returns the conclusion of each theorem, recomputed.
    """
    checklist = Checklist()

    def run() -> None:
        claim = Claim.from_dict(data, "")
        claim.check_law()
        claim.check_words(check(claim, checklist), checklist.say)

    verdict = data.get("verdict") if isinstance(data, Mapping) else None
    return checklist.run(str(verdict), run)


def _problem(value: Any, place: str, context: Context) -> Problem:
    return read_problem(value, place)


def read_problem(data: object, place: str = "problem") -> Problem:
    """The problem of a certificate: integers for sizes, matrices of 0 and 1 for masks.

    Raises
    ------
    CheckFailed
    """
    fields = Fields(data, place)
    network = read_network(fields.raw("network"), fields.at("network"))
    learnable = read_masks(fields, "learnable", network)
    support = read_masks(fields, "support", network) if fields.has("support") else {}
    laws = _laws(fields.table("distribution"), network) if fields.has("distribution") else {}
    values = _values(fields.table("values"), network) if fields.has("values") else {}
    fields.finish()
    try:
        distribution = Distribution(**laws)
        return Problem(network, learnable, support, distribution, values=values)
    except (InputError, TypeError) as error:
        raise CheckFailed(place, one_line(error)) from None


def read_network(data: object, place: str) -> Network:
    """The network of a certificate; its sizes are integers or lists of integers.

    Raises
    ------
    CheckFailed
    """
    fields = Fields(data, place)
    sizes: dict[str, Any] = {}
    assert isinstance(data, Mapping)
    kind = KINDS.get(data["kind"]) if isinstance(data.get("kind"), str) else None
    # The kind of network checks the values that are not sizes.
    own = kind.choices() if kind is not None else frozenset()
    for name in data:
        value = fields.raw(name)
        if isinstance(value, list) and name not in own:
            value = list(fields.wholes(name, 1))
        elif not (isinstance(value, str) or name in own):
            value = whole(value, fields.at(name), 1)
        sizes[name] = value
    with RefusedAt(place):
        return network_from_dict(sizes)


def _laws(fields: Fields, network: Network) -> dict[str, Any]:
    """The laws, and the matrices of signs: integers −1, 0 and 1."""
    laws: dict[str, Any] = {part: fields.text(part) for part in PARTS if fields.has(part)}
    if fields.has("signs"):
        signs = fields.table("signs")
        laws["signs"] = {
            name: entries(
                signs.raw(name), signs.at(name), network.shapes[name],
                lambda v, place: whole(v, place, -1, 1),
            )
            for name in network.shapes
            if signs.has(name)
        }  # fmt: skip
        signs.finish()
    fields.finish()
    return laws


def _values(fields: Fields, network: Network) -> dict[str, Any]:
    """Measured weights: exact numbers as texts, "" for weights that were not measured."""
    found: dict[str, Any] = {
        name: entries(fields.raw(name), fields.at(name), network.shapes[name], _exact)
        for name in network.shapes
        if fields.has(name)
    }
    if fields.has(JITTER):
        jitter = fields.raw(JITTER)
        if isinstance(jitter, Mapping):
            share = fields.table(JITTER)
            found[JITTER] = {RELATIVE: share.text(RELATIVE)}
            share.finish()
        else:
            found[JITTER] = fields.text(JITTER)
    fields.finish()
    return found


def _exact(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise CheckFailed(place, f"must be exact numbers as texts, not {shown(value)}")
    return value


def read_masks(fields: Fields, key: str, network: Network) -> dict[str, Any]:
    """Masks by matrix, and under "learnable" updates.

    Raises
    ------
    CheckFailed
    """
    tables = fields.table(key)
    masks: dict[str, Any] = {}
    for name in fields.raw(key):
        place = tables.at(one_line(name))
        if name not in network.shapes:
            raise CheckFailed(place, f"a {network.title} has no such matrix")
        value, shape = tables.raw(name), network.shapes[name]
        if key == "learnable" and isinstance(value, Mapping) and not has_sparse_form(value):
            masks[name] = _update(tables.table(name), shape)
        else:
            masks[name] = entries(value, place, shape, lambda v, at: whole(v, at, 0, 1))
    return masks


def _group(value: Any, place: str) -> int:
    return whole(value, place, 0)


def _update(fields: Fields, shape: tuple[int, int]) -> Update:
    """An update; its numbers must be of type int."""
    keys = [key for key in fields if key in UPDATES]
    if len(keys) != 1:
        raise CheckFailed(fields.place, "must have one of the keys " + ", ".join(UPDATES))
    [key] = keys
    value, place = fields.raw(key), fields.at(key)
    grouping: dict[str, Any] = {}
    if key == Tied.keyword:
        value = entries(value, place, shape, _group)
    elif key == LowRank.keyword:
        value = whole(value, place, 1)
    else:
        value = fields.text(key)
        if fields.has(GROUPS):
            numbers, at = fields.raw(GROUPS), fields.at(GROUPS)
            grouping[GROUPS] = (
                entries(numbers, at, shape, _group)
                if value == "cells"
                else list(fields.wholes(GROUPS, 0))
            )
    fields.finish()
    with RefusedAt(place):
        return read_update({key: value, **grouping}, place)
