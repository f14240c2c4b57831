"""Populations of units, by their names in problem files, and the names of their units, checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from algebra.errors import InputError, shown
from algebra.networks.base import Axis, Network
from algebra.networks.protocols import HasUnits

LONGEST = 60


def _key(axis: Axis) -> str:
    """The name of a population in a problem file: neurons, layer1, inputs, outputs."""
    if axis.name.startswith("hidden layer "):
        return "layer" + axis.name.removeprefix("hidden layer ")
    return "neurons" if axis.name == "hidden units" else axis.name


def populations(network: Network) -> dict[str, Axis]:
    """The populations of units of a network, by their names in problem files; outputs first.

    Raises
    ------
    InputError
        If units of this kind of network have no names.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> list(populations(LinearRNN(n=2, T=2, b=1, d=1, m=2)))
    ['outputs', 'neurons', 'inputs']
    """
    if not isinstance(network, HasUnits):
        raise InputError(f"the units of a {network.title} network cannot be named")
    known = {_key(axis): axis for axis in network.axes()}
    hidden = [key for key in known if key.startswith("layer")]
    if len(hidden) == 1:
        known = {("neurons" if key == hidden[0] else key): a for key, a in known.items()}
    return known


def by_population(given: Mapping[str, Any], table: str) -> dict[str, Any]:
    """A table of populations; "units" are "neurons", and a table of both is refused."""
    if "units" in given and "neurons" in given:
        raise InputError(f"{table}: units and neurons are the same population; give one of them")
    return {("neurons" if key == "units" else key): value for key, value in given.items()}


def checked_names(names: Any, where: str, size: int) -> tuple[str, ...]:
    if isinstance(names, (str, bytes)) or not isinstance(names, Sequence):
        raise InputError(f"{where} ({shown(names)}) must be a list of names")
    # Names in published tables are padded with blanks.
    names = [name.strip() if isinstance(name, str) else name for name in names]
    for k, name in enumerate(names):
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"{where}[{k}] ({shown(name)}) must be a word")
        if not name.isprintable() or len(name) > LONGEST:
            raise InputError(
                f"{where}[{k}] ({shown(name)}) must be printable, at most {LONGEST} characters"
            )
        if name.isdigit() and not name.isascii():
            raise InputError(f"{where}[{k}] ({shown(name)}): numbers have the digits 0 to 9")
    if len(names) != size:
        raise InputError(f"{where} has {len(names)} names for {size} units")
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise InputError(f"{where} has {shown(twice)} twice")
    return tuple(names)
