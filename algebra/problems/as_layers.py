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
from algebra.problems.features import Feature, Features
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
        return _found(problem.network) is not None and super().accepts(problem)

    @cached_property
    def layers(self) -> tuple[AffineLayer, ...]:
        """The layers of the model, first to last."""
        found = _found(self.original.network)
        assert found is not None
        return found[1]

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
        network = _network(original.network)
        missing = network.shapes.keys() - self.names.values()
        support = self._moved(original.support)
        support |= {name: np.zeros(network.shapes[name], np.int8) for name in missing}
        learnable = self._moved(original.learnable)
        return Problem(network, learnable, support, original.distribution)

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


def _found(network: Network) -> tuple[str, tuple[AffineLayer, ...]] | None:
    """The function and the layers of a model; None for other networks."""
    found: tuple[str, tuple[AffineLayer, ...]] | None
    found = getattr(network, "affine_layers", None)
    return found


def _network(model: Network) -> Network:
    """The feed-forward network of its kind."""
    found = _found(model)
    assert found is not None
    function, layers = found
    q, m, d = model.input_shape[0], model.m, layers[-1].size
    widths = tuple(layer.size for layer in layers[:-1])
    biases = any(layer.bias for layer in layers)
    if function == LINEAR and not biases:
        return LinearFeedForward(q=q, widths=widths, d=d, m=m)
    if function == RELU and not biases and len(widths) == 1:
        return network_from_dict({"kind": "relu", "q": q, "n": widths[0], "d": d, "m": m})
    return FeedForward(q=q, widths=widths, d=d, m=m, activation=function, biases=biases)
