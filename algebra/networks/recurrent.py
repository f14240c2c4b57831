"""Linear recurrent networks: kind ``lrnn``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from algebra.networks.chain import RecurrentChain
from algebra.networks.sequence import SequenceRNN


@dataclass(frozen=True)
class LinearRNN(RecurrentChain):
    """Linear recurrent network ``h_t = W h_{t-1} + B x_t``, ``Y = D W h_T`` (Eq. 3.3).

    The samples X are (Tb)×m: the inputs X_1, …, X_T of the T steps, stacked.

    Parameters
    ----------
    n, T, b, d, m : int
        Hidden units, time steps, inputs a step, outputs, samples.

    Examples
    --------
    >>> LinearRNN(n=2, T=2, b=1, d=1, m=2).shapes
    {'D': (1, 2), 'W': (2, 2), 'B': (2, 1)}
    """

    kind: ClassVar[str] = "lrnn"
    title: ClassVar[str] = "linear RNN"

    @property
    def read_at_every_step(self) -> SequenceRNN:
        return SequenceRNN(n=self.n, T=self.T, b=self.b, d=self.d, m=self.m)

    def roles(self) -> dict[str, tuple[str, ...]]:
        return {"decoder": ("D",), "recurrent": ("W",), "encoder": ("B",)}
