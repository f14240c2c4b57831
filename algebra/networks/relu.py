"""Shallow networks of rectified linear units: kind ``relu``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from algebra.networks.base import Axis, Network, Support
from algebra.networks.limits import NEVER, MatrixLimits, least
from algebra.networks.protocols import HasLimits, HasUnits
from algebra.programs.generic import Model
from algebra.programs.program import Builder, Program


@dataclass(frozen=True)
class ShallowReLU(HasUnits, HasLimits, Network):
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

    def build(self) -> Program:
        build = Builder()
        x = build.sample("X", (self.q,))
        blocks = {name: build.weight(name, shape) for name, shape in self.shapes.items()}
        hidden = build.rectified(build.contract("ij,j->i", blocks["W1"], x))
        return build.program(build.contract("ij,j->i", blocks["W2"], hidden))

    def drawn_model(self, support: Support) -> tuple[Model, int | None]:
        """The functions are piecewise linear: no finite ambient dimension."""
        return Model(self.program(), support=support), None

    def roles(self) -> dict[str, tuple[str, ...]]:
        return {"rectified layer": ("W1",)}

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
