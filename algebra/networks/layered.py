r"""Feed-forward networks in programs: models that come from a file or from a trace.

The labels of one sample are

.. math:: W_L φ(W_{L-1} φ(⋯ φ(W_1 x + c_1) ⋯) + c_{L-1}) + e

with one function φ, or none, and distinct matrices and biases, each stored by rows or by columns.
They are found by one pass over the program: a value is a matrix in some order of its entries, or
the units of a layer.  Any other operation ends it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from algebra.networks.activation import ANALYTIC, LINEAR, RELU
from algebra.programs.program import Node, Program, matrix_shape

# Entries of a matrix, whose places are looked at: 80 MB.  Of larger ones no trial is decided.
_MOST = 10_000_000


@dataclass(frozen=True)
class AffineLayer:
    """A matrix and a bias of a model.

    Attributes
    ----------
    matrix : str
    is_transposed : bool
        Whether the model has its columns as rows.
    size : int
        Number of units.
    bias : str or None
    """

    matrix: str
    is_transposed: bool
    size: int
    bias: str | None = None


@dataclass(frozen=True)
class _Entries:
    """Entries of a weight, by their places in it."""

    name: str
    places: np.ndarray


@dataclass(frozen=True)
class _Units:
    """The units of a layer, before its function is applied, or after that."""

    size: int
    layers: tuple[AffineLayer, ...] = ()
    functions: tuple[str, ...] = ()

    @property
    def is_sum(self) -> bool:
        """Whether the last function is not applied yet."""
        return len(self.layers) > len(self.functions)


@dataclass(frozen=True)
class _Zeros:
    """Zero times a value, by its number."""

    of: int


_Value = _Entries | _Units | _Zeros


def layers_of(program: Program) -> tuple[str, tuple[AffineLayer, ...]] | None:
    """The function and the layers of a feed-forward network, first to last; None if it is none.

    Examples
    --------
    >>> from algebra.programs.program import Builder
    >>> build = Builder()
    >>> hidden = build.contract("ij,j->i", build.weight("a", (3, 2)), build.sample("X", (2,)))
    >>> hidden = build.rectified(build.add(hidden, build.weight("b", (3,))))
    >>> out = build.contract("ji,j->i", build.weight("c", (3, 1)), hidden)
    >>> function, layers = layers_of(build.program(out))
    >>> function, layers[0].bias, layers[1].is_transposed
    ('relu', 'b', True)
    """
    if len(program.samples) != 1:
        return None
    values: dict[int, _Value] = {}
    for number in sorted(program.needed([program.output])):
        node = program.nodes[number]
        found = _value(program, node, [values[k] for k in node.inputs])
        if found is None:
            return None
        values[number] = found
    labels = values[program.output]
    if not isinstance(labels, _Units) or not labels.is_sum or not labels.functions:
        return None
    names = [name for own in labels.layers for name in (own.matrix, own.bias) if name]
    if len(set(labels.functions)) > 1 or sorted(names) != sorted(program.weights):
        return None
    return labels.functions[0], labels.layers


def _value(program: Program, node: Node, of: list[_Value]) -> _Value | None:
    match node.op, of:
        case "block", []:
            if node.batched:
                return _Units(node.size)
            if node.size <= _MOST:
                return _Entries(node.name, np.arange(node.size).reshape(node.shape))
        case "index", [_Entries() as own] if node.where is not None and (node.where >= 0).all():
            return replace(own, places=own.places.ravel()[node.where])
        case "index", [_Units() as own] if node.where is not None:
            return own if np.array_equal(node.where.ravel(), np.arange(own.size)) else None
        case "contract", [_, _]:
            return _product(program, node, of)
        case "add", [_Units() as own, _Entries() as bias] | [_Entries() as bias, _Units() as own]:
            return _with_bias(own, bias)
        case "scale", [_Units()] if node.number == 0:
            return _Zeros(node.inputs[0])
        case "choose", [_Units() as own, _Units(), _Zeros(k)] if node.inputs[:2] == (k, k):
            return _applied(own, RELU)
        case "apply", [_Units() as own] if node.name in ANALYTIC:
            return _applied(own, node.name)
    return None


def _applied(own: _Units, name: str) -> _Units | None:
    """The units after a function."""
    return replace(own, functions=(*own.functions, name)) if own.is_sum else None


def _with_bias(own: _Units, bias: _Entries) -> _Units | None:
    """A sum of a product and a vector."""
    places = bias.places.ravel()
    if not own.is_sum or own.layers[-1].bias or not np.array_equal(places, np.arange(own.size)):
        return None
    last = replace(own.layers[-1], bias=bias.name)
    return replace(own, layers=(*own.layers[:-1], last))


def _product(program: Program, node: Node, of: list[_Value]) -> _Units | None:
    """A matrix times the units of a layer, or of a layer without a function."""
    inputs, _, result = node.letters.partition("->")
    letters = inputs.split(",")
    if isinstance(of[0], _Entries):
        of, letters = of[::-1], letters[::-1]
    units, matrix = of
    if not isinstance(units, _Units) or not isinstance(matrix, _Entries):
        return None
    if units.is_sum:
        units = replace(units, functions=(*units.functions, LINEAR))
    left, right = letters
    summed = [letter for letter in left if letter in right and letter not in result]
    sizes = dict(zip(right, matrix.places.shape, strict=True))
    # Axes of the units besides the one that is summed over have one entry.
    if len(summed) != 1 or sizes[summed[0]] != units.size or len(set(right)) != len(right):
        return None
    kept = [letter for letter in result if letter in right]
    if {*kept, *summed} != set(right) or set(left) & set(kept):
        return None
    order = [right.index(letter) for letter in (*kept, *summed)]
    places = matrix.places.transpose(order).reshape(-1, units.size)
    rows, columns = places.shape
    every, shape = np.arange(places.size), matrix_shape(program.weights[matrix.name])
    if shape == (rows, columns) and np.array_equal(places, every.reshape(rows, columns)):
        is_transposed = False
    elif shape == (columns, rows) and np.array_equal(places, every.reshape(columns, rows).T):
        is_transposed = True
    else:
        return None
    layer = AffineLayer(matrix.name, is_transposed, rows)
    return replace(units, size=rows, layers=(*units.layers, layer))
