r"""Networks whose normalization layers learn: frozen matrices, tunable scales and shifts.

The kind ``normnet`` of a problem file (second paper, Theorem 1).  The *target* has l layers of
widths n_0, n_1, …, n_l; the *frozen* network realizes each of its layers by a *block* of two, with
a hidden width w_k in between, or of more, with several hidden widths:

.. math:: h_0 = X, \quad h_j = σ(g_j ∘ (W_j h_{j-1}) + b_j), \quad j = 1, …, L,

L = 2l if each layer has two.  g_j is a column of scales, b_j of shifts, and there is no σ after the
last layer.  σ is ReLU or the identity (``activation = "linear"``, a linear net).  Every matrix may
learn, so that scales can be compared with ordinary weights; matrices are called ``W1``, ``g1``,
``b1``, ``W2``, ….

The teacher is the target, not a network of the student's architecture:
``Y = T_l σ(… σ(T_1 X + t_1) …) + t_l`` (its scales are part of its matrices), with the same σ.
Its labels are those of a student whose blocks equal its layers, if no hidden width of block k is
below min(n_{k-1}, n_k).

A linear net is solved as a product of matrices: `algebra.plugins.normalization.augmented`.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Annotated, ClassVar

import numpy as np

from algebra.declarations import Keyword, Size
from algebra.errors import InputError, shown
from algebra.given import known_name
from algebra.networks.activation import LINEAR
from algebra.networks.base import Matmul, Matrix, Network, Support
from algebra.networks.feedforward import LinearFeedForward
from algebra.networks.protocols import HasPatternCost
from algebra.programs.generic import Model
from algebra.programs.program import Builder, Program

ACTIVATIONS = ("relu", "linear")


@dataclass(frozen=True)
class NormNet(HasPatternCost, Network):
    """A frozen network of depth 2l or more and its target of depth l.

    Parameters
    ----------
    widths : sequence of int
        Of the target: inputs n_0, layers n_1, …, n_{l-1}, outputs n_l.
    hidden : sequence of (int or sequence of int)
        Hidden widths of the frozen network for each target layer: w_k if it is realized by two
        frozen layers, a list of v widths if by v + 1.
    m : int
        Samples.
    activation : {"relu", "linear"}, optional

    Examples
    --------
    >>> net = NormNet.square(d=2, depth=1, width=4, m=3)
    >>> net.shapes
    {'b2': (2, 1), 'g2': (2, 1), 'W2': (2, 4), 'b1': (4, 1), 'g1': (4, 1), 'W1': (4, 2)}
    >>> NormNet(widths=(2, 2, 1), hidden=((3, 3, 3), 4), m=3).blocks
    (range(1, 5), range(5, 7))
    """

    kind: ClassVar[str] = "normnet"
    family: ClassVar[str] = "normalization"
    title: ClassVar[str] = "normalization-layer"
    only_verbs: ClassVar[str] = "inspect, certify, count, estimate, compare and construct"
    words: ClassVar[Mapping[str, tuple[str, ...]]] = {"activation": ACTIVATIONS}
    nested: ClassVar[frozenset[str]] = frozenset({"hidden"})
    reduction: ClassVar[str] = "algebra.plugins.normalization.augmented:Augmented"

    widths: tuple[int, ...]
    hidden: tuple[Size | Annotated[tuple[Size, ...], Keyword("minItems", 1)], ...]
    m: int
    activation: Annotated[str, Keyword("enum", ("relu", LINEAR))] = "relu"

    def __post_init__(self) -> None:
        known_name(self.activation, "activation", ACTIVATIONS)
        widths, hidden = self.widths, self.hidden
        if isinstance(widths, (list, tuple)) and isinstance(hidden, (list, tuple)):
            if len(widths) < 2:
                raise InputError(
                    f"`widths` ({shown(list(widths))}) must name inputs and outputs: at least two"
                )
            if len(hidden) != len(widths) - 1:
                raise InputError(
                    f"`hidden` ({shown(list(hidden))}) must have one width, or a list of them, "
                    f"for each of the target's {len(widths) - 1} layers"
                )
        super().__post_init__()

    @classmethod
    def square(cls, d: int, depth: int, width: int, m: int, activation: str = "relu") -> NormNet:
        """The paper's setting: all target widths equal d, all hidden widths equal."""
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
    def inner(self) -> tuple[tuple[int, ...], ...]:
        """The hidden widths of each block."""
        return tuple((w,) if isinstance(w, int) else w for w in self.hidden)

    @property
    def blocks(self) -> tuple[range, ...]:
        """The numbers of the frozen layers of each block, from 1."""
        ends = [0, *accumulate(len(widths) + 1 for widths in self.inner)]
        return tuple(range(a + 1, b + 1) for a, b in pairwise(ends))

    @property
    def layers(self) -> int:
        """The number L of frozen layers."""
        return self.blocks[-1][-1]

    @property
    def layer_sizes(self) -> tuple[int, ...]:
        """Sizes of h_0, …, h_L: n_0, w_1, n_1, w_2, …, n_l."""
        sizes = [self.widths[0]]
        for widths, n in zip(self.inner, self.widths[1:], strict=True):
            sizes += [*widths, n]
        return tuple(sizes)

    def pattern_milliseconds(self, masks: Mapping[str, np.ndarray]) -> int | None:
        """By the pairs of a hidden unit that learns and a sample; one layer, over the rationals.

        The fourth power of their number: 18 pairs take 0.2 s, 32 pairs 2.5 s, 48 more than 11 s;
        a tenth of that if there are twice as many weights as labels.
        """
        if self.is_linear or self.layers > 2:
            return None
        learns = np.any([np.any(masks[n], axis=1) for n in ("W1", "g1", "b1")], axis=0)
        size = sum(int(mask.sum()) for mask in masks.values())
        pairs = int(learns.sum()) * self.m
        return max(1, pairs**4 // (400 if size < 2 * self.outputs else 4000))

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

    def build(self) -> Program:
        build = Builder()
        x = build.sample("X", (self.q,))
        blocks = {name: build.weight(name, shape) for name, shape in self.shapes.items()}
        last = self.layers
        for j in range(1, last + 1):
            x = build.contract("ij,j->i", blocks[f"W{j}"], x)
            scale, shift = (build.reshaped(blocks[f"{k}{j}"], x.shape) for k in "gb")
            x = build.add(build.multiply(scale, x), shift)
            if j < last and not self.is_linear:
                x = build.rectified(x)
        return build.program(x)

    def drawn_model(self, support: Support) -> Model:
        return Model(self.program(), support=support)

    def teach(
        self, teacher: Mapping[str, Matrix], X: Matrix, matmul: Matmul = operator.matmul
    ) -> Matrix:
        for k in range(1, self.depth + 1):
            X = matmul(teacher[f"T{k}"], X) + teacher[f"t{k}"]
            if k < self.depth and not self.is_linear:
                X = X * (X > 0)
        return X

    @property
    def determining_samples(self) -> int:
        """The number of entries of a sample plus one in a linear network, else all samples.

        The labels of a linear network are affine in the samples.
        """
        return min(self.m, self.q + 1) if self.is_linear else self.m

    def lower(self) -> LinearFeedForward | None:
        """That of the augmented matrices if σ is the identity; ReLU networks have none."""
        if not self.is_linear:
            return None
        inner = [size + 1 for size in self.layer_sizes[1:] for _ in range(2)]
        return LinearFeedForward(q=self.q + 1, widths=tuple(inner[:-1]), d=self.d, m=self.m)

    def target(self) -> tuple[LinearFeedForward, Support]:
        """A linear network whose labels are the target's when all its hidden units are active.

        Each layer with its shifts is one matrix in homogeneous coordinates, with structural zeros.
        """
        widths = [n + 1 for n in self.widths]
        dense = LinearFeedForward(q=widths[0], widths=tuple(widths[1:-1]), d=self.d, m=self.m)
        support = {name: np.ones(shape, np.int8) for name, shape in dense.shapes.items()}
        for k in range(1, self.depth):
            support[f"W{k}"][-1, :-1] = 0
        return dense, support
