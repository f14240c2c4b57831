"""The linear estimator, one matrix, and multi-layer linear networks: kinds ``linear``, ``lffn``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from algebra.networks.chain import ChainNetwork
from algebra.networks.chain_layout import ChainLayout


@dataclass(frozen=True)
class LinearFeedForward(ChainNetwork):
    """Multi-layer linear network ``Y = W_L … W_1 X`` (paper 1, section 4).

    Parameters
    ----------
    q : int
        Inputs.
    widths : sequence of int
        Widths n_1, …, n_{L-1} of the hidden layers.
    d, m : int
        Outputs and samples.

    Examples
    --------
    >>> LinearFeedForward(q=4, widths=(5, 6), d=3, m=2).shapes
    {'W3': (3, 6), 'W2': (6, 5), 'W1': (5, 4)}
    """

    kind: ClassVar[str] = "lffn"
    title: ClassVar[str] = "multi-layer linear"

    q: int
    widths: tuple[int, ...]
    d: int
    m: int

    @property
    def layers(self) -> int:
        """Number L of weight matrices."""
        return len(self.widths) + 1

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        sizes = [self.q, *self.widths, self.d]
        return {
            f"W{layer}": (sizes[layer], sizes[layer - 1]) for layer in range(self.layers, 0, -1)
        }

    def chain(self) -> ChainLayout:
        return self._chain

    @cached_property
    def _chain(self) -> ChainLayout:
        steps = tuple(f"W{layer}" for layer in range(1, self.layers))
        return ChainLayout(None, steps, f"W{self.layers}", "last")


@dataclass(frozen=True)
class LinearEstimator(ChainNetwork):
    """Linear estimator ``Y = W X`` (paper 1, section 2.1).

    Parameters
    ----------
    q, d, m : int
        Inputs, outputs and samples.

    Examples
    --------
    >>> LinearEstimator(q=2, d=2, m=2).shapes
    {'W': (2, 2)}
    """

    kind: ClassVar[str] = "linear"
    title: ClassVar[str] = "linear estimator"

    q: int
    d: int
    m: int

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        return {"W": (self.d, self.q)}

    def chain(self) -> ChainLayout:
        return self._chain

    @cached_property
    def _chain(self) -> ChainLayout:
        return ChainLayout(None, (), "W", "last")
