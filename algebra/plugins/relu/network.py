"""Shallow networks of rectified linear units: kind ``relu``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from algebra.networks.base import Axis, Support
from algebra.networks.feedforward import LinearFeedForward
from algebra.networks.limits import NEVER, MatrixLimits, least
from algebra.networks.protocols import (
    HasLimits,
    HasPatternCost,
    HasUnits,
)
from algebra.networks.rectified import HasRectifiedLayers
from algebra.programs.generic import Model
from algebra.programs.program import Builder, Program


@dataclass(frozen=True)
class ShallowReLU(HasUnits, HasLimits, HasPatternCost, HasRectifiedLayers):
    """Shallow network ``Y = W2 relu(W1 X)`` (paper 1, section 5).

    Parameters
    ----------
    q, n, d, m : int
        Inputs, hidden units, outputs, samples.

    Examples
    --------
    >>> ShallowReLU(q=6, n=8, d=4, m=6).shapes
    {'W2': (4, 8), 'W1': (8, 6)}
    """

    kind: ClassVar[str] = "relu"
    family: ClassVar[str] = "relu"
    title: ClassVar[str] = "shallow ReLU"
    is_linear: ClassVar[bool] = False

    q: int
    n: int
    d: int
    m: int

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        return {"W2": (self.d, self.n), "W1": (self.n, self.q)}

    @property
    def input_shape(self) -> tuple[int, int]:
        return (self.q, self.m)

    @property
    def rectified_layers(self) -> tuple[tuple[str, str | None], ...]:
        return ("W1", None), ("W2", None)

    def build(self) -> Program:
        build = Builder()
        x = build.sample("X", (self.q,))
        blocks = {name: build.weight(name, shape) for name, shape in self.shapes.items()}
        hidden = build.rectified(build.contract("ij,j->i", blocks["W1"], x))
        return build.program(build.contract("ij,j->i", blocks["W2"], hidden))

    def all_active(self) -> LinearFeedForward:
        return LinearFeedForward(q=self.q, widths=(self.n,), d=self.d, m=self.m)

    def drawn_model(self, support: Support) -> Model:
        return Model(self.program(), support=support)

    def pattern_milliseconds(self, masks: Mapping[str, np.ndarray]) -> int:
        """By the pairs of a unit that learns and a sample, whose sign is open.

        Up to 300 of them 1/300 ms for each two (24: 2 ms, 200: 0.2 s, 288: 0.7 s).  With many
        surplus weights this holds up to 1000 (720: 0.8 s, 800: 1.3 s), since a match is soon found;
        otherwise the time grows with the eighth power (500: 15 s).
        """
        own = masks["W1"]
        pairs = int(np.any(own, axis=1).sum()) * self.m
        steep = pairs > 1000 or (pairs > 300 and own.sum() < 4 * self.outputs)
        return max(1, pairs**8 // (300 * 300**6) if steep else pairs**2 // 300)

    def axes(self) -> tuple[Axis, ...]:
        return (
            Axis("outputs", self.d, (("W2", 0),)),
            Axis("hidden layer 1", self.n, (("W2", 1), ("W1", 0))),
            Axis("inputs", self.q, (("W1", 1),)),
        )

    def limits(self) -> dict[str, MatrixLimits]:
        d, n, m = self.d, self.n, self.m
        return {
            "W2": MatrixLimits(least(("m", m)), least(("d", d)), 1, 1, d, min(n, m)),
            # Activation patterns of units differ, so columns have no limit of their own.
            "W1": MatrixLimits(least(("m", m)), None, 1, NEVER, min(n, d), m),
        }
