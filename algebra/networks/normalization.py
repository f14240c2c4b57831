r"""Networks whose normalization layers learn: frozen matrices, tunable scales and shifts.

The kind ``normnet`` of a problem file (second paper, Theorem 1).  The *target* has l layers of
widths n_0, n_1, …, n_l; the *frozen* network realizes each of its layers by two, with a hidden
width w_k in between:

.. math:: h_0 = X, \quad h_j = σ(g_j ∘ (W_j h_{j-1}) + b_j), \quad j = 1, …, 2l,

g_j a column of scales, b_j of shifts, no σ after the last.  σ is ReLU or the identity
(``activation = "linear"``, a linear net).  Every matrix may learn, so that scales can be held
against ordinary weights; matrices are called ``W1``, ``g1``, ``b1``, ``W2``, ….

The teacher is the target, not a network of the student's architecture:
``Y = T_l σ(… σ(T_1 X + t_1) …) + t_l`` (its scales are part of its matrices), with the same σ.
Its labels are those of a student whose blocks happen to be equal to its layers, where no
w_k is below min(n_{k-1}, n_k).
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from algebra.errors import InputError, shown
from algebra.networks.augmented import Augmented
from algebra.networks.base import Matmul, Matrix, Network, Support
from algebra.networks.feedforward import LinearFeedForward

ACTIVATIONS = ("relu", "linear")


@dataclass(frozen=True)
class NormNet(Network):
    """A frozen network of depth 2l and its target of depth l.

    Parameters
    ----------
    widths : sequence of int
        Of the target: inputs n_0, layers n_1, …, n_{l-1}, outputs n_l.
    hidden : sequence of int
        Hidden widths w_1, …, w_l of the frozen network, one for each target layer.
    m : int
        Samples.
    activation : {"relu", "linear"}, optional

    Examples
    --------
    >>> net = NormNet.square(d=2, depth=1, width=4, m=3)
    >>> net.shapes
    {'b2': (2, 1), 'g2': (2, 1), 'W2': (2, 4), 'b1': (4, 1), 'g1': (4, 1), 'W1': (4, 2)}
    """

    kind: ClassVar[str] = "normnet"
    title: ClassVar[str] = "normalization-layer"
    only_verbs: ClassVar[str] = "inspect, certify, count, estimate, compare and construct"
    words: ClassVar[Mapping[str, tuple[str, ...]]] = {"activation": ACTIVATIONS}

    widths: tuple[int, ...]
    hidden: tuple[int, ...]
    m: int
    activation: str = "relu"

    def __post_init__(self) -> None:
        if not isinstance(self.activation, str) or self.activation not in ACTIVATIONS:
            raise InputError(
                f"`activation` ({shown(self.activation)}) must be one of " + ", ".join(ACTIVATIONS)
            )
        widths, hidden = self.widths, self.hidden
        if isinstance(widths, (list, tuple)) and isinstance(hidden, (list, tuple)):
            if len(widths) < 2:
                raise InputError(
                    f"`widths` ({shown(list(widths))}) must name inputs and outputs: at least two"
                )
            if len(hidden) != len(widths) - 1:
                raise InputError(
                    f"`hidden` ({shown(list(hidden))}) must have one width for each of the "
                    f"target's {len(widths) - 1} layers"
                )
        super().__post_init__()

    @classmethod
    def square(cls, d: int, depth: int, width: int, m: int, activation: str = "relu") -> NormNet:
        """The paper's setting: a target of one width d, one hidden width."""
        return cls((d,) * (depth + 1), (width,) * depth, m, activation)

    @property
    def d(self) -> int:  # type: ignore[override]
        """Outputs n_l."""
        return self.widths[-1]

    @property
    def q(self) -> int:
        """Inputs n_0."""
        return self.widths[0]

    @property
    def depth(self) -> int:
        """Layers l of the target."""
        return len(self.hidden)

    @property
    def is_linear(self) -> bool:  # type: ignore[override]
        """Whether σ is the identity."""
        return self.activation == "linear"

    @property
    def layer_sizes(self) -> tuple[int, ...]:
        """Sizes of h_0, …, h_2l: n_0, w_1, n_1, w_2, …, n_l."""
        sizes = [self.widths[0]]
        for w, n in zip(self.hidden, self.widths[1:], strict=True):
            sizes += [w, n]
        return tuple(sizes)

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        sizes = self.layer_sizes
        out: dict[str, tuple[int, int]] = {}
        for j in range(len(sizes) - 1, 0, -1):
            out |= {
                f"b{j}": (sizes[j], 1),
                f"g{j}": (sizes[j], 1),
                f"W{j}": (sizes[j], sizes[j - 1]),
            }
        return out

    @property
    def teacher_shapes(self) -> dict[str, tuple[int, int]]:
        out: dict[str, tuple[int, int]] = {}
        for k in range(self.depth, 0, -1):
            out |= {f"t{k}": (self.widths[k], 1), f"T{k}": (self.widths[k], self.widths[k - 1])}
        return out

    @property
    def input_shape(self) -> tuple[int, int]:
        return (self.q, self.m)

    def forward(
        self, weights: Mapping[str, Matrix], X: Matrix, matmul: Matmul = operator.matmul
    ) -> Matrix:
        last = 2 * self.depth
        for j in range(1, last + 1):
            X = weights[f"g{j}"] * matmul(weights[f"W{j}"], X) + weights[f"b{j}"]
            if j < last and not self.is_linear:
                X = X * (X > 0)
        return X

    def teach(
        self, teacher: Mapping[str, Matrix], X: Matrix, matmul: Matmul = operator.matmul
    ) -> Matrix:
        for k in range(1, self.depth + 1):
            X = matmul(teacher[f"T{k}"], X) + teacher[f"t{k}"]
            if k < self.depth and not self.is_linear:
                X = X * (X > 0)
        return X

    def lower(self) -> Augmented | None:
        """Augmented matrices where σ is the identity; ReLU units are polynomial by pieces only."""
        return Augmented(self) if self.is_linear else None

    def target(self) -> tuple[LinearFeedForward, Support]:
        """A linear network whose labels are the target's, all its hidden units active.

        Layers and shifts are one matrix each, in homogeneous coordinates, with structural zeros.
        """
        widths = [n + 1 for n in self.widths]
        dense = LinearFeedForward(q=widths[0], widths=tuple(widths[1:-1]), d=self.d, m=self.m)
        support = {name: np.ones(shape, np.int8) for name, shape in dense.shapes.items()}
        for k in range(1, self.depth):
            support[f"W{k}"][-1, :-1] = 0
        return dense, support
