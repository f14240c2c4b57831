"""Elements that may be recorded: outputs, entries, samples, steps, hidden units.

All numbers of an element are recorded, or none.  Users and files refer to it by its name: "output
0", "entry 0,3" (of output 0 for sample 3), "sample 3", "step 1", "unit 5", "layer 2 unit 5".
Indices start at 0; if the units of a network have names, these may replace the indices.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from algebra.errors import InputError, shown
from algebra.given import given_list, known_name
from algebra.networks.base import LABELS, STATES, TRACES, Network, Reading
from algebra.networks.protocols import HasUnits, not_known
from algebra.problems.names import Names, printed_name


@dataclass(frozen=True)
class ElementKind:
    """A kind of element.

    Attributes
    ----------
    help : str
    source : str
        The numbers that are recorded: see `Network.readings`.
    by : tuple of str
        The indices that distinguish its elements: "unit", "sample", "step".
    """

    help: str
    source: str
    by: tuple[str, ...]


ELEMENT_KINDS: dict[str, ElementKind] = {
    "outputs": ElementKind("outputs, each for all samples", LABELS, ("unit",)),
    "entries": ElementKind(
        "single labels: one output for one sample", LABELS, ("unit", "sample", "step")
    ),
    "samples": ElementKind("samples, each with all its outputs", LABELS, ("sample",)),
    "times": ElementKind("steps, the outputs read at each", TRACES, ("step",)),
    "units": ElementKind("hidden units, each at all steps for all samples", STATES, ("unit",)),
}


# Units that are driven in further samples: `algebra.plugins.circuits.stimulation`.
STIMULATIONS = "stimulations"


@dataclass(frozen=True)
class Recordable:
    """An element that may be recorded, or the stimulation of a unit.

    Attributes
    ----------
    kind : str
        One of `ELEMENT_KINDS`, or `STIMULATIONS`.
    axis : str
        The population of its units; "" if it consists of all units.
    unit, sample, step : int or None
        None if the element consists of all of them.
    """

    kind: str
    axis: str
    unit: int | None = None
    sample: int | None = None
    step: int | None = None

    @property
    def name(self) -> str:
        """Its name, with indices."""
        return self.title("" if self.unit is None else str(self.unit))

    def title(self, unit: str) -> str:
        """Its name, with the given name or index of the unit."""
        if self.kind == STIMULATIONS:
            return f"stimulation of unit {unit}"
        if self.kind == "times":
            return f"step {self.step}"
        if self.kind == "samples":
            return f"sample {self.sample}"
        if self.kind == "entries":
            step = "" if self.step is None else f" step {self.step}"
            return f"entry {unit},{self.sample}{step}"
        return f"{_WORDS.get(self.axis) or self.axis.removeprefix('hidden ') + ' unit'} {unit}"


_WORDS = {"outputs": "output", "hidden units": "unit"}


def elements_of(
    network: Network, what: Sequence[str]
) -> tuple[tuple[Recordable, ...], list[tuple[str, list[np.ndarray]]]]:
    """All elements of some kinds, and the element that each number belongs to.

    Parameters
    ----------
    network : Network
    what : sequence of str
        Of `ELEMENT_KINDS`.

    Returns
    -------
    elements : tuple of Recordable
    owners : list of (str, list of ndarray of int)
        For each kind its source, and for each reading of the source an array (units × samples).

    Raises
    ------
    InputError
        If the network has no such elements.
    """
    numbers: dict[Recordable, int] = {}
    owners = []
    for kind in check_kinds(what):
        read = ELEMENT_KINDS[kind]
        readings = known_readings(network, read.source)
        inside = []
        for reading in readings:
            with_step = "step" in read.by and (read.source != LABELS or len(readings) > 1)
            step = reading.step if with_step else None
            axis = reading.axis if "unit" in read.by else ""
            units = range(reading.size) if "unit" in read.by else (None,)
            samples = range(network.m) if "sample" in read.by else (None,)
            owner = [
                [
                    numbers.setdefault(Recordable(kind, axis, unit, sample, step), len(numbers))
                    for sample in samples
                ]
                for unit in units
            ]
            inside.append(np.broadcast_to(np.array(owner), (reading.size, network.m)))
        owners.append((read.source, inside))
    return tuple(numbers), owners


def known_readings(network: Network, what: str) -> tuple[Reading, ...]:
    """The network's readings of this source (`Network.readings`); refused if it has none.

    Raises
    ------
    InputError
    """
    found = network.readings(what)
    if not found:
        subject = "derivatives of the states of hidden units"
        if what == TRACES:
            subject = "steps at which outputs could be read"
        raise not_known(network, subject, "record outputs, entries or samples")
    return found


def available_kinds(network: Network) -> tuple[str, ...]:
    """The kinds of elements that a network has."""
    return tuple(name for name, kind in ELEMENT_KINDS.items() if network.readings(kind.source))


def check_kinds(what: str | Sequence[str]) -> tuple[str, ...]:
    """Check names of kinds of elements.

    Raises
    ------
    InputError
    """
    given = (what,) if isinstance(what, str) else given_list(what, "what", '["outputs"]')
    kinds = tuple(map(kind_name, given))
    for kind in kinds:
        known_name(kind, "what", ELEMENT_KINDS)
    if not kinds or len(set(kinds)) < len(kinds):
        raise InputError(f"`what` ({shown(what)}) must name kinds of elements, each once")
    return kinds


def kind_name(word: Any) -> Any:
    """The kind that a word means: "neurons" are "units"; other words as they are."""
    return "units" if word == "neurons" else word


def is_relay(element: Recordable, relays: Collection[int]) -> bool:
    """Whether an element is the activity of a hidden unit that only passes on an input."""
    return element.kind == "units" and element.axis == "hidden units" and element.unit in relays


def title(element: Recordable, names: Names) -> str:
    """An element's name, with the names of units."""
    if element.unit is None:
        return element.name
    units = unit_names(element.axis, names)
    return element.title(printed_name(units, element.unit) if units else str(element.unit))


def unit_names(axis: str, names: Names) -> tuple[str, ...] | None:
    """The names of a population's units; None if they have none."""
    if not names or not isinstance(names.network, HasUnits):
        return None
    for known in names.network.axes():
        if known.name == axis:
            matrix, side = known.places[0]
            return names.rows(matrix) if side == 0 else names.columns(matrix)
    return None


def fitting(text: object, known: Mapping[str, int]) -> list[int]:
    """The numbers of the element with a name, or of all whose names fit a pattern.

    Parameters
    ----------
    text : str
        A name, or a pattern such as "unit *".
    known : mapping of str to int
        As of `numbers_of`.

    Examples
    --------
    >>> fitting("unit *", {"unit 0": 0, "unit 1": 1, "output 0": 2})
    [0, 1]
    """
    if not isinstance(text, str):
        return []
    if text in known:
        return [known[text]]
    return sorted({k for name, k in known.items() if fnmatchcase(name, text)})


def numbers_of(elements: Sequence[Recordable], names: Names) -> dict[str, int]:
    """The number of each element by its names: with indices, and last with names of units.

    A hidden unit may also be called a neuron: "neuron 5".
    """
    own = [{element.name: k for k, element in enumerate(elements)}]
    if names:
        own.append({title(element, names): k for k, element in enumerate(elements)})
    hidden = {k for k, element in enumerate(elements) if element.kind in ("units", STIMULATIONS)}
    others = [
        {name.replace("unit ", "neuron ", 1): k for name, k in one.items() if k in hidden}
        for one in own
    ]
    return {name: k for one in (*others, *own) for name, k in one.items()}
