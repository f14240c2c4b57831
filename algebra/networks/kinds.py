"""The registry of kinds of networks, by their names in problem files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from algebra.declarations import read_declared
from algebra.errors import InputError, shown

if TYPE_CHECKING:
    from algebra.networks.base import Network


class Kinds(MutableMapping[str, "type[Network]"]):
    """Kinds by their names in a problem file; every subclass with a `kind` registers itself.

    Parameters
    ----------
    own : mapping of str to str
        The project's kinds and their modules, which are imported when a kind is asked for.
    """

    def __init__(self, own: Mapping[str, str]) -> None:
        self._own = own
        self._classes: dict[str, type[Network]] = {}

    def __getitem__(self, kind: str) -> type[Network]:
        if kind in self._own and kind not in self._classes:
            import_module(self._own[kind])
        return self._classes[kind]

    def __setitem__(self, kind: str, cls: type[Network]) -> None:
        other = self._classes.setdefault(kind, cls)
        if (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
            raise TypeError(f"two classes of kind {kind!r}: {other} and {cls}")
        if cls.__module__ != self._own.get(kind, cls.__module__):
            raise TypeError(f"two classes of kind {kind!r}: {cls}, and one in {self._own[kind]}")

    def __delitem__(self, kind: str) -> None:
        del self._classes[kind]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._own, **self._classes})

    def __len__(self) -> int:
        return len({**self._own, **self._classes})

    def __contains__(self, kind: object) -> bool:
        return kind in self._own or kind in self._classes

    @property
    def registered(self) -> dict[str, type[Network]]:
        """Kinds that are not the project's own."""
        return {kind: cls for kind, cls in self._classes.items() if kind not in self._own}


KINDS = Kinds(
    {
        "linear": "algebra.networks.feedforward",
        "lffn": "algebra.networks.feedforward",
        "limit": "algebra.networks.large",
        "ffn": "algebra.networks.ffn",
        "normnet": "algebra.plugins.normalization.network",
        "program": "algebra.plugins.models.network",
        "lrnn": "algebra.networks.recurrent",
        "lrnn-sequence": "algebra.networks.recurrent",
        "relu": "algebra.plugins.relu.network",
        "rnn": "algebra.networks.rnn",
    }
)

# Keys of [network] that several kinds have; a kind may have others (`Network.meanings`).
MEANINGS = {
    "n": "hidden units",
    "T": "time steps",
    "b": "inputs a time step",
    "q": "inputs",
    "d": "outputs",
    "m": "samples",
    "widths": "widths of the hidden layers; of a normalization net all of its target's layers",
    "hidden": "hidden widths of the frozen network for each layer of the target: one, or a list of "
    "v if v + 1 frozen layers realize it",
    "activation": "the activation of hidden units",
    "leak": "α of h = (1 − α) h + α φ(…): a number, one for each unit, or learnable",
    "read": "which outputs are labels: those of the last step, or of all",
    "state": "what h is: rates φ(…), or the currents to which φ is applied",
    "initial": "currents before the first step: 0, or weights that may learn",
    "gain": "weights that multiply the rates of currents: before W, or also where they are read",
    "biases": "whether units have biases; they learn where [learnable] names them",
}


def network_from_dict(data: Mapping[str, Any], folder: Path | None = None) -> Network:
    """A network from the ``[network]`` table; file names in it are relative to `folder`."""
    if "kind" not in data:
        raise InputError("[network] has no `kind`; choose one of " + ", ".join(KINDS))
    kind = data["kind"]
    if not isinstance(kind, str) or kind not in KINDS:
        raise InputError(f"network.kind ({shown(kind)}) must be one of " + ", ".join(KINDS))
    cls = KINDS[kind]
    meanings = {**MEANINGS, **cls.meanings}
    sizes = read_declared(
        cls, data, f"[network] of kind {kind!r}", meanings=meanings, more=["kind"]
    )
    del sizes["kind"]
    return cls(**cls.located(sizes, folder))
