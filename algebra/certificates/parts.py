"""Fields that several kinds of proof files have: a problem, prices, caps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from algebra.certificates.checks import CheckFailed
from algebra.certificates.claim import read_problem
from algebra.certificates.fields import Fields, RefusedAt
from algebra.errors import InputError, shown
from algebra.linalg.rational import exact_number
from algebra.networks.limits import plural
from algebra.problems.problem import Problem


def read_version(data: object, name: str, versions: Sequence[int], what: str) -> int:
    """The version of a proof file.

    Parameters
    ----------
    data : object
    name : str
        Name of the format.
    versions : sequence of int
        The versions that can be read.
    what : str
        The kind of file, with its article.

    Raises
    ------
    InputError
        If it is not such a file, or has another version.
    """
    if not isinstance(data, Mapping) or data.get("format") != name:
        raise InputError(f"this is not {what}: `format` is not {name!r}")
    version = data.get("version")
    if type(version) is not int or version not in versions:
        known = plural(len(versions), "version") + " " + " and ".join(map(str, versions))
        raise InputError(f"{what} of version {shown(version)}; this program reads {known}")
    return version


def proof_fields(data: object) -> Fields:
    """The fields of a proof file after its format and version, which were read."""
    fields = Fields(data)
    for name in ("format", "version"):
        fields.raw(name)
    return fields


def read_prices(fields: Fields) -> tuple[Fraction, ...]:
    """The prices of a proof file."""
    return tuple(read_price(v, f"prices[{k}]") for k, v in enumerate(fields.items("prices")))


def fixed_problem(data: object, place: str = "problem") -> Problem:
    """The problem of a proof: cells and updates, without laws and values, which are not used."""
    problem = read_problem(data, place)
    for name in ("distribution", "values"):
        if Fields(data, place).has(name):
            raise CheckFailed(f"{place}.{name}", "is no field of this format")
    return problem


def read_caps(fields: Fields, kinds: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Caps of given kinds, in the order of the file."""
    caps = tuple((str(kind), fields.whole(kind, 0)) for kind in fields)
    for kind, _ in caps:
        if kind not in kinds:
            raise CheckFailed("caps", f"has {shown(kind)}, none of " + ", ".join(kinds))
    return caps


def read_price(value: object, place: str) -> Fraction:
    """An exact number as text."""
    if not isinstance(value, str):
        raise CheckFailed(place, f"must be an exact number as text, not {shown(value)}")
    with RefusedAt(place):
        return exact_number(value, "price")
