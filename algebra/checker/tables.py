"""Tables of proof files about networks: sizes, masks by matrix, laws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from algebra.checker.checks import CheckFailed
from algebra.checker.fields import RefusedAt, within
from algebra.checker.records import Context, Converted, Record, read_form, write_form
from algebra.checker.sparse import entries_of
from algebra.declarations import Count, Keyword, Size
from algebra.errors import one_line
from algebra.networks.base import Network
from algebra.networks.kinds import KINDS, network_from_dict


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


Numbers = Annotated[Any, entries_of(Count, sparse=True)]

Texts = Annotated[Any, entries_of(str)]

_Bit = Annotated[int, Keyword("minimum", 0), Keyword("maximum", 1)]

Mask = Annotated[Any, entries_of(_Bit, sparse=True)]

_Signs = Annotated[Any, entries_of(Annotated[int, Keyword("minimum", -1), Keyword("maximum", 1)])]

Masks = Annotated[dict[str, Any], by_matrix(Mask)]

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
