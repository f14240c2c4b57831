"""The linear estimator, one matrix: kind ``linear``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from algebra.networks.chain import ChainLayout, ChainNetwork


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
        return ChainLayout(None, (), "W", "last")
