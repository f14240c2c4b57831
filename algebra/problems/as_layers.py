"""Models that are feed-forward networks, as problems of the kinds of such networks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from algebra.networks.activation import LINEAR, RELU
from algebra.networks.base import Cell, Network
from algebra.networks.feedforward import LinearFeedForward
from algebra.networks.ffn import FeedForward
from algebra.networks.kinds import network_from_dict
from algebra.networks.layered import AffineLayer
from algebra.problems.premises import Feature, Features
from algebra.problems.problem import Problem
from algebra.problems.reduction import Matrices, Reduction, covering

# What says where cells are, how weights and samples are drawn, or what the labels are.
COVERED: Features = frozenset(
    (
        Feature.ZEROS,
        Feature.BOUNDED,
        Feature.DISCRETE,
        Feature.POLYNOMIAL,
        Feature.ANALYTIC,
        Feature.PIECES,
        Feature.ARBITRARY_LABELS,
        Feature.NOISE,
    )
)
_SAME = "the network is the same one, weight by weight"


@dataclass(frozen=True)
class AsLayers(Reduction):
    """The problem of the feed-forward network that a model is: see `algebra.networks.layered`.

    Its matrices are W1, W2, …, its biases c1, c2, … and e; a bias that the model does not have does
    not exist.
    """

    premises = covering("the same layers", COVERED, _SAME)
    keeps_teacher = True

    @classmethod
    def accepts(cls, problem: Problem) -> bool:
        return problem.network.affine_layers is not None and super().accepts(problem)

    @property
    def function(self) -> str:
        """The function between the layers: a name of an activation."""
        function: str = self.original.network.affine_layers[0]
        return function

    @property
    def layers(self) -> tuple[AffineLayer, ...]:
        """The layers of the model, first to last."""
        layers: tuple[AffineLayer, ...] = self.original.network.affine_layers[1]
        return layers

    @cached_property
    def names(self) -> dict[str, str]:
        """The matrix that each parameter of the model is."""
        found = {layer.matrix: f"W{k}" for k, layer in enumerate(self.layers, 1)}
        for k, layer in enumerate(self.layers, 1):
            if layer.bias:
                found[layer.bias] = "e" if k == len(self.layers) else f"c{k}"
        return found

    @cached_property
    def _turned(self) -> frozenset[str]:
        return frozenset(layer.matrix for layer in self.layers if layer.is_transposed)

    @cached_property
    def problem(self) -> Problem:
        original = self.original
        network = self._network()
        missing = network.shapes.keys() - self.names.values()
        support = self._moved(original.support)
        support |= {name: np.zeros(network.shapes[name], np.int8) for name in missing}
        learnable = self._moved(original.learnable)
        return Problem(network, learnable, support, original.distribution)

    def _network(self) -> Network:
        """The feed-forward network of its kind."""
        model, layers = self.original.network, self.layers
        q, m, d = model.input_shape[0], model.m, layers[-1].size
        widths = tuple(layer.size for layer in layers[:-1])
        biases = any(layer.bias for layer in layers)
        if self.function == LINEAR and not biases:
            return LinearFeedForward(q=q, widths=widths, d=d, m=m)
        if self.function == RELU and not biases and len(widths) == 1:
            return network_from_dict({"kind": "relu", "q": q, "n": widths[0], "d": d, "m": m})
        return FeedForward(q=q, widths=widths, d=d, m=m, activation=self.function, biases=biases)

    def cell(self, cell: Cell) -> Cell:
        name, i, j = cell
        return (self.names[name], j, i) if name in self._turned else (self.names[name], i, j)

    def weights(self, weights: Matrices, one: Any) -> Matrices:
        shapes = self.problem.network.shapes
        return {name: np.full(shape, one * 0) for name, shape in shapes.items()} | self._moved(
            weights
        )

    def _moved(self, tables: Matrices) -> dict[str, np.ndarray]:
        """Tables under the names of the layers, in their order of rows."""
        turned = self._turned
        return {
            self.names[name]: np.asarray(table).T if name in turned else table
            for name, table in tables.items()
        }


def decided_as_layers(problem: Problem) -> AsLayers | None:
    """The reduction to a network of which more is known than of programs: see the module.

    With ReLU, or with matrices only; arbitrary labels are decided by arguments about programs.
    """
    if Feature.ARBITRARY_LABELS in problem.features or not AsLayers.accepts(problem):
        return None
    found = AsLayers(problem)
    return found if found.function in (LINEAR, RELU) else None
