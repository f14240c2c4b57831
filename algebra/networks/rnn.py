"""Recurrent networks with an activation function: kind ``rnn``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from algebra.declarations import InFile, Keyword
from algebra.errors import known_name, whole_number
from algebra.networks.activated import ActivatedNetwork, Stage
from algebra.networks.activation import ActivationForm
from algebra.networks.base import MAX_CELLS, Support
from algebra.networks.chain import RecurrentChain
from algebra.networks.recurrent import LinearRNN, SequenceRNN
from algebra.programs.leaks import LEAK, LEARNABLE, NO_LEAK, plain_leak, read_leak

# The outputs that may be labels.
READ = ("last", "all")
# One rate, one for each unit, or a file of them.
_Rate = (
    Annotated[float, Keyword("exclusiveMinimum", 0), Keyword("maximum", 1)]
    | Annotated[str, Keyword("pattern", r"^[0-9]+/[0-9]+$|^[0-9]*\.?[0-9]+(e-?[0-9]+)?$")]
)
_Leak = (
    _Rate
    | list[_Rate]
    | Annotated[str, Keyword("const", LEARNABLE)]
    | Annotated[str, Keyword("pattern", r"\.(csv|npy)$"), "a file beside this one"]
)


@dataclass(frozen=True)
class RNN(ActivatedNetwork):
    """Recurrent network ``h_t = φ(W (h_{t-1} + B x_t) + c)``, ``Y = D h_T + e``, h_0 = 0.

    With a leak h_t = (1 − α) h_{t-1} + α φ(…).  With linear activation and without biases and leak
    it is the linear RNN: h_t here is W h_t there.

    Parameters
    ----------
    n, T, b, d, m : int
        Hidden units, time steps, inputs a step, outputs, samples.
    activation : str or mapping
        See `algebra.networks.activation.Activation.read`.
    biases : bool, optional
        Whether c and e exist: columns of weights that may learn like all others.
    leak : number, sequence of numbers or "learnable", optional
        α of all units, or one for each: above 0, at most 1.  "learnable": a column of weights that
        may learn, drawn between 0 and 1.
    read : {"last", "all"}, optional
        The outputs that are labels: that of the last step, or those of all steps (all samples at
        step 1, then at step 2, …).

    Examples
    --------
    >>> RNN(n=2, T=3, b=1, d=1, m=2, activation="tanh").shapes
    {'D': (1, 2), 'W': (2, 2), 'B': (2, 1)}
    """

    kind: ClassVar[str] = "rnn"
    title: ClassVar[str] = "recurrent"
    encoder: ClassVar[str | None] = "B"
    sparse: ClassVar[frozenset[str]] = frozenset({"W"})
    words: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **ActivatedNetwork.words, "read": READ
    }  # fmt: skip

    n: int
    T: int
    b: int
    d: int
    m: int
    activation: Annotated[Any, InFile(ActivationForm)] = "tanh"
    biases: bool = False
    leak: Annotated[Any, InFile(_Leak)] = NO_LEAK
    read: Annotated[str, Keyword("enum", READ)] = "last"

    @classmethod
    def choices(cls) -> frozenset[str]:
        return super().choices() | {"leak"}

    def __post_init__(self) -> None:
        known_name(self.read, "read", READ)
        object.__setattr__(self, "n", whole_number(self.n, "n", 1, MAX_CELLS))
        object.__setattr__(self, "leak", read_leak(self.leak, self.n))
        super().__post_init__()

    @property
    def reads_all(self) -> bool:
        return self.read == "all"

    @property
    def sizes(self) -> dict[str, Any]:
        plain = super().sizes
        plain["leak"] = plain_leak(self.leak)
        for name, usual in (("leak", NO_LEAK), ("read", "last")):
            if plain[name] == usual:
                del plain[name]
        return plain

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        found = {"D": (self.d, self.n), "W": (self.n, self.n), "B": (self.n, self.b)}
        if self.biases:
            found |= {"c": (self.n, 1), "e": (self.d, 1)}
        if self.leak == LEARNABLE:
            found[LEAK] = (self.n, 1)
        return found

    @property
    def input_shape(self) -> tuple[int, int]:
        return (self.T * self.b, self.m)

    def stages(self) -> tuple[Stage, ...]:
        bias = "c" if self.biases else None
        return tuple(Stage("W", bias, (t * self.b, (t + 1) * self.b), 1) for t in range(self.T))

    def relays(self, support: Support) -> list[int]:
        """The hidden units that no synapse and no bias reaches.

        h_t = φ(W (h_{t-1} + B x_t) + c) stays at φ(0) there: what W multiplies is their input.
        `matchprob.from_torch` makes one for each input of an ``nn.RNN``.
        """
        if "W" not in support:
            return []
        is_reached = support["W"].any(axis=1)
        if self.biases:
            is_reached |= support["c"].any(axis=1) if "c" in support else True
        return [int(unit) for unit in np.flatnonzero(~is_reached)]

    def linear_kind(self) -> RecurrentChain:
        kind = SequenceRNN if self.reads_all else LinearRNN
        return kind(n=self.n, T=self.T, b=self.b, d=self.d, m=self.m)

    def population(self, name: str, line: str) -> str:
        """ "input", "hidden" or "output"."""
        if line == "row":
            return "output" if name in ("D", "e") else "hidden"
        return "input" if name in ("B", "c", "e", LEAK) else "hidden"
