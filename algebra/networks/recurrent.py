"""Linear recurrent networks: kind ``lrnn``."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from algebra.networks.base import Matmul, Matrix
from algebra.networks.chain import Chain, ChainNetwork


@dataclass(frozen=True)
class LinearRNN(ChainNetwork):
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

    n: int
    T: int
    b: int
    d: int
    m: int

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        return {"D": (self.d, self.n), "W": (self.n, self.n), "B": (self.n, self.b)}

    def chain(self) -> Chain:
        return Chain("B", ("W",) * self.T, "D", "all")

    def states(
        self, weights: Mapping[str, Matrix], X: Matrix, matmul: Matmul = operator.matmul
    ) -> list[Matrix]:
        """Hidden states h_1, …, h_T and the state ``W h_T`` that D reads, each n×m."""
        W, B = weights["W"], weights["B"]
        states: list[Matrix] = []
        for t in range(self.T):
            h = matmul(B, X[t * self.b : (t + 1) * self.b])
            if states:
                h = h + matmul(W, states[-1])
            states.append(h)
        states.append(matmul(W, states[-1]))
        return states

    def roles(self) -> dict[str, tuple[str, ...]]:
        return {"decoder": ("D",), "recurrent": ("W",), "encoder": ("B",)}
