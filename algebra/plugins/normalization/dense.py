"""Networks over the rationals: targets, and frozen ones with their scales and shifts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isqrt
from typing import Any

import numpy as np
from flint import fmpq

from algebra.errors import InputError, shown
from algebra.linalg.rational import Rationals

# Square roots are rounded up to multiples of 2^-20.
_ROOT_BITS = 20


def rational_array(value: Any, name: str, dimensions: int = 2) -> Rationals:
    """An array as exact rationals; doubles are converted exactly.

    Raises
    ------
    InputError
        If the shape or an entry is invalid.
    """
    array = np.asarray(value)
    if array.ndim != dimensions or not array.size:
        what = "matrix" if dimensions == 2 else "vector"
        raise InputError(f"`{name}` must be a {what} of numbers; it has shape {array.shape}")
    out = np.empty(array.shape, dtype=object)
    for index, entry in np.ndenumerate(array):
        if isinstance(entry, fmpq):
            out[index] = entry
            continue
        if isinstance(entry, np.generic):
            entry = entry.item()
        try:
            out[index] = fmpq(*entry.as_integer_ratio())
        except (AttributeError, TypeError, ValueError, OverflowError):
            raise InputError(f"`{name}`{list(index)} is {shown(entry)}: not a number") from None
    return out


@dataclass(frozen=True)
class HiddenUnits:
    """The order and positive factors in which another network has the ReLU units of a layer.

    Attributes
    ----------
    order : tuple of int
        Unit i of the other network is unit ``order[i]`` of this one.
    factors : tuple of fmpq
        Unit i of the other network is this multiple of that unit; positive.
    """

    order: tuple[int, ...]
    factors: tuple[fmpq, ...]


@dataclass(frozen=True)
class DenseNet:
    """A target: ``W_l σ(… σ(W_1 x + b_1) …) + b_l``.

    Attributes
    ----------
    weights : tuple of matrices
        W_1, …, W_l, each n_k × n_{k-1}.
    shifts : tuple of vectors
        b_1, …, b_l.
    """

    weights: tuple[Rationals, ...]
    shifts: tuple[Rationals, ...]

    @classmethod
    def of(cls, weights: Sequence[Any], shifts: Sequence[Any] | None = None) -> DenseNet:
        """A target from arrays; shifts are 0 by default."""
        if not len(weights):
            raise InputError("`weights` is empty: a target has at least one layer")
        matrices = tuple(rational_array(W, f"W{k}") for k, W in enumerate(weights, 1))
        for k in range(1, len(matrices)):
            if matrices[k].shape[1] != matrices[k - 1].shape[0]:
                raise InputError(
                    f"the target's W{k + 1} is {size_text(matrices[k])} but W{k} has "
                    f"{matrices[k - 1].shape[0]} rows"
                )
        if shifts is None:
            shifts = [np.array([fmpq(0)] * len(W), dtype=object) for W in matrices]
        if len(shifts) != len(matrices):
            raise InputError(f"the target has {len(matrices)} layers but {len(shifts)} shifts")
        vectors = tuple(rational_array(b, f"b{k}", 1) for k, b in enumerate(shifts, 1))
        for k, (W, b) in enumerate(zip(matrices, vectors, strict=True), 1):
            if len(W) != len(b):
                raise InputError(f"the target's W{k} has {len(W)} rows, b{k} {len(b)} entries")
        return cls(matrices, vectors)

    def with_hidden_units(self, units: Sequence[HiddenUnits]) -> DenseNet:
        """The same function with hidden units in other orders and scales: σ(D h) = D σ(h), D > 0.

        Raises
        ------
        InputError
            If an order is not a permutation or a factor is not positive.
        """
        sizes = [len(W) for W in self.weights[:-1]]
        if len(units) != len(sizes):
            raise InputError(f"`units` has {len(units)} layers; {len(sizes)} are hidden")
        for size, layer in zip(sizes, units, strict=True):
            if sorted(layer.order) != list(range(size)):
                raise InputError(f"`order` ({shown(list(layer.order))}) must permute {size} units")
            if len(layer.factors) != size or not all(factor > 0 for factor in layer.factors):
                raise InputError(f"`factors` must be {size} positive rationals")
        weights, shifts = list(self.weights), list(self.shifts)
        for k, layer in enumerate(units):
            order, factors = list(layer.order), np.array(layer.factors, dtype=object)
            weights[k] = factors[:, None] * weights[k][order]
            shifts[k] = factors * shifts[k][order]
            weights[k + 1] = weights[k + 1][:, order] / factors
        return DenseNet(tuple(weights), tuple(shifts))

    def __call__(self, X: Rationals) -> Rationals:
        """Outputs for samples X, one in each column."""
        return layered_outputs(self.weights, [None] * len(self.weights), self.shifts, X)


@dataclass(frozen=True)
class NormalizedNet:
    """A frozen network with its scales and shifts.

    Attributes
    ----------
    weights : tuple of matrices
        W_1, …, W_2l, frozen.
    scales, shifts : tuple of vectors
        The diagonals of Γ_1, …, Γ_2l, and β_1, …, β_2l.
    radius : fmpq
        The network equals its target for ‖x‖ ≤ radius.
    hidden : tuple of HiddenUnits
        The relation of its states after the blocks to the target's; empty if they are equal.
    """

    weights: tuple[Rationals, ...] = field(repr=False)
    scales: tuple[Rationals, ...]
    shifts: tuple[Rationals, ...]
    radius: fmpq
    hidden: tuple[HiddenUnits, ...] = ()

    def __call__(self, X: Rationals) -> Rationals:
        """Outputs for samples X, one in each column."""
        return layered_outputs(self.weights, self.scales, self.shifts, X)


def layered_outputs(
    weights: Sequence[np.ndarray],
    scales: Sequence[np.ndarray | None],
    shifts: Sequence[np.ndarray],
    X: np.ndarray,
) -> np.ndarray:
    """Outputs for samples X, one in each column, in the ring of the entries.

    A ReLU follows each layer except the last; a layer may have no scales.
    """
    last = len(weights) - 1
    for k, (W, scale, shift) in enumerate(zip(weights, scales, shifts, strict=True)):
        X = W @ X
        if scale is not None:
            X = scale[:, None] * X
        X = X + shift[:, None]
        if k < last:
            X = X * (X > 0)
    return X


def check_depth(frozen: int, target: int) -> None:
    """Refuse a frozen network that has not two layers for each of the target.

    Raises
    ------
    InputError
        With what there is for more layers.
    """
    if frozen != 2 * target:
        more = (
            "; `rank` realizes one layer by four, and for any number of frozen layers a problem "
            'file of kind "normnet" with hidden = [[w1, w2, …]] and `count --instance` give the '
            "scales"
        )
        raise InputError(
            f"the frozen network has {frozen} layers; a target of depth {target} needs "
            f"{2 * target}{more if frozen > 2 * target else ''}"
        )


def norm_bound(vector: Rationals) -> fmpq:
    """A rational upper bound of the Euclidean norm, with an error below 2^-19."""
    square = sum((entry * entry for entry in vector), fmpq(0))
    if square == 0:
        return fmpq(0)
    scaled = -((-square.p << (2 * _ROOT_BITS)) // square.q)
    return fmpq(isqrt(int(scaled) - 1) + 1, 1 << _ROOT_BITS)


def size_text(matrix: Rationals) -> str:
    """The shape in words, such as 2×3."""
    return "×".join(map(str, matrix.shape))
