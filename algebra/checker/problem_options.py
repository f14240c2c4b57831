"""Options of problems in proof files: updates, measured weights, another teacher."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from algebra.checker.checks import CheckFailed
from algebra.checker.fields import RefusedAt, within
from algebra.checker.records import Context, Converted, Counts, Record, read_form
from algebra.checker.sparse import SparseTable
from algebra.checker.tables import (
    LawsTable,
    Mask,
    Masks,
    NetworkInFile,
    Numbers,
    Texts,
    by_matrix,
)
from algebra.declarations import Size
from algebra.problems.laws.distribution import Distribution
from algebra.problems.laws.values import JITTER
from algebra.problems.problem import Problem


@dataclass(frozen=True)
class LowRankUpdate(Record):
    """See `algebra.problems.updates.LowRank`."""

    lora: Size


@dataclass(frozen=True)
class GainUpdate(Record):
    """See `algebra.problems.updates.Gain`."""

    gain: Literal["rows", "columns", "cells"]
    groups: Annotated[Any, Converted(Counts | Numbers, _read_groups, list)] | None = None


@dataclass(frozen=True)
class TiedUpdate(Record):
    """See `algebra.problems.updates.Tied`."""

    tied: Numbers


def _read_groups(value: Any, place: str, context: Context) -> Any:
    form = Numbers if context["gain"] == "cells" else Counts
    found = read_form(form, value, place, context)
    return list(found) if form is Counts else found


def read_values(value: Any, place: str, context: Context) -> dict[str, Any]:
    """Measured weights: exact numbers as texts, "" for weights that were not measured."""
    given = read_form(Mapping[str, Any], value, place)
    found: dict[str, Any] = {}
    if JITTER in given:
        jitter, at = given.pop(JITTER), within(place, JITTER)
        if isinstance(jitter, Mapping):
            found[JITTER] = vars(RelativeShare.from_dict(jitter, at))
        else:
            found[JITTER] = read_form(str, jitter, at)
    return found | by_matrix(Texts).read(given, place, context)


@dataclass(frozen=True)
class RelativeShare(Record):
    """A jitter that is a share of each measured weight."""

    relative: str


@dataclass(frozen=True)
class ValuesInFile:
    """Measured weights, and their jitter; the other keys are matrices."""

    jitter: str | RelativeShare | None = None

    others: ClassVar[Any] = tuple[tuple[str, ...], ...] | SparseTable


UPDATES: dict[str, type[Record]] = {"lora": LowRankUpdate, "gain": GainUpdate, "tied": TiedUpdate}


@dataclass(frozen=True)
class TeacherInFile(Record):
    """Another network that gives the labels."""

    network: NetworkInFile
    support: Masks | None = None
    distribution: LawsTable | None = None


def read_teacher(value: Any, place: str, context: Context) -> Problem:
    given = TeacherInFile.from_dict(value, place)
    laws = {} if given.distribution is None else given.distribution.given()
    with RefusedAt(place):
        return Problem(given.network, {}, given.support or {}, Distribution(**laws))


def read_update_table(value: Mapping[str, Any], place: str, context: Context) -> Any:
    """An update, from its table."""
    keys = [key for key in value if key in UPDATES]
    if len(keys) != 1:
        raise CheckFailed(place, "must have one of the keys " + ", ".join(UPDATES))
    [key] = keys
    given = UPDATES[key].from_dict(value, place, context)
    from algebra.problems.updates import read_update

    with RefusedAt(at := within(place, key)):
        return read_update({k: v for k, v in vars(given).items() if v is not None}, at)


LearningForm = Mask | LowRankUpdate | GainUpdate | TiedUpdate
