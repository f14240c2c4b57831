"""Recurrent networks with an activation function: kind ``rnn``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from algebra.networks.activated import ActivatedNetwork, Stage
from algebra.networks.recurrent import LinearRNN


@dataclass(frozen=True)
class RNN(ActivatedNetwork):
    """Recurrent network ``h_t = φ(W (h_{t-1} + B x_t) + c)``, ``Y = D h_T + e``, h_0 = 0.

    With the linear activation and without biases it is the linear RNN: h_t here is W h_t there.

    Parameters
    ----------
    n, T, b, d, m : int
        Hidden units, time steps, inputs a step, outputs, samples.
    activation : str or mapping
        See `algebra.networks.activation.Activation.read`.
    biases : bool, optional
        Whether c and e stand there: columns of weights like all others.

    Examples
    --------
    >>> RNN(n=2, T=3, b=1, d=1, m=2, activation="tanh").shapes
    {'D': (1, 2), 'W': (2, 2), 'B': (2, 1)}
    """

    kind: ClassVar[str] = "rnn"
    title: ClassVar[str] = "recurrent"
    encoder: ClassVar[str | None] = "B"

    n: int
    T: int
    b: int
    d: int
    m: int
    activation: Any = "tanh"
    biases: bool = False

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        found = {"D": (self.d, self.n), "W": (self.n, self.n), "B": (self.n, self.b)}
        if self.biases:
            found |= {"c": (self.n, 1), "e": (self.d, 1)}
        return found

    @property
    def input_shape(self) -> tuple[int, int]:
        return (self.T * self.b, self.m)

    def stages(self) -> tuple[Stage, ...]:
        bias = "c" if self.biases else None
        return tuple(Stage("W", bias, (t * self.b, (t + 1) * self.b), 1) for t in range(self.T))

    def linear_kind(self) -> LinearRNN:
        return LinearRNN(n=self.n, T=self.T, b=self.b, d=self.d, m=self.m)

    def population(self, name: str, line: str) -> str:
        """ "input", "hidden" or "output"."""
        if line == "row":
            return "output" if name in ("D", "e") else "hidden"
        return "input" if name in ("B", "c", "e") else "hidden"
