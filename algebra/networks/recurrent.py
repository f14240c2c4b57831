"""Linear recurrent networks: kind ``lrnn``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from algebra.networks.base import Factors, Matrix
from algebra.networks.chain import Chain, ChainNetwork
from algebra.networks.readings import LABELS, TRACES, Reading
from algebra.networks.sequence import SequenceRNN


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

    @property
    def read_at_every_step(self) -> SequenceRNN:
        """The same network with the outputs of all steps for labels."""
        return SequenceRNN(n=self.n, T=self.T, b=self.b, d=self.d, m=self.m)

    def readings(self, what: str) -> tuple[Reading, ...]:
        if what == TRACES:
            return self.read_at_every_step.readings(LABELS)
        return super().readings(what)

    def modular_readings(
        self,
        what: str,
        weights: Mapping[str, np.ndarray],
        X: np.ndarray,
        names: Sequence[str] | None,
        p: int,
        seed: int,
    ) -> list[Factors]:
        if what == TRACES:
            return self.read_at_every_step.modular_readings(LABELS, weights, X, names, p, seed)
        return super().modular_readings(what, weights, X, names, p, seed)

    def modular_values(
        self, what: str, weights: Mapping[str, Any], X: Any, p: int, seed: int
    ) -> list[Matrix]:
        if what == TRACES:
            return self.read_at_every_step.modular_values(LABELS, weights, X, p, seed)
        return super().modular_values(what, weights, X, p, seed)

    def roles(self) -> dict[str, tuple[str, ...]]:
        return {"decoder": ("D",), "recurrent": ("W",), "encoder": ("B",)}
