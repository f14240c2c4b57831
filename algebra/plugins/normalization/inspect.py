"""Inspection of normalization networks: the linear system of Lemma 1, layer by layer.

The report has for each layer of the target the numbers of scales and equations, the generic rank of
the Khatri–Rao product, and the widths that would suffice; for a layer that more than two frozen
layers realize, the numbers of equations and scales of their product.  Linear nets are also
inspected in the lowered form (`algebra.plugins.normalization.network`), whose sizes are those of
the system that engines solve.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from algebra.errors import InputError, whole_number
from algebra.families.linear.inspect import inspect_linear
from algebra.networks.base import Support
from algebra.plugins.normalization.khatri_rao import khatri_rao_rank, width_needed
from algebra.plugins.normalization.network import NormNet
from algebra.polynomials.rings import SymbolicRing
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.problems.reduction import lowered
from algebra.ranks.generic_rank import GenericRank
from algebra.systems.forms import TooLong
from algebra.systems.inspection import Inspection
from algebra.systems.written import (
    MOST_IN_ONE,
    MOST_TERMS,
    SymbolicSystem,
    indexed_symbols,
)


@dataclass(frozen=True)
class LemmaSystem:
    """The system of Lemma 1 for one layer of the target.

    Attributes
    ----------
    layer : int
        k, from 1.
    rows, columns, width : int
        The target layer is rows×columns; hidden units.
    scales, output_scales : int
        Learnable entries of g_{2k-1} and of g_2k.
    rank : GenericRank
        Of W_2k ⊙ W_{2k-1}ᵀ, with the zeros of the support.
    block : range
        The two frozen layers.
    """

    layer: int
    rows: int
    columns: int
    width: int
    scales: int
    output_scales: int
    rank: GenericRank
    block: range

    @property
    def equations(self) -> int:
        """Number of equations, one for each entry of the target layer."""
        return self.rows * self.columns

    def __str__(self) -> str:
        odd, even = self.block
        known = "proved" if self.rank.is_proved else f"error at most {self.rank.error}"
        needed = width_needed(self.rows, self.columns)
        fewer = width_needed(self.rows, self.columns, second_scales=True)
        return (
            f"layer {self.layer}: (W{even} ⊙ W{odd}ᵀ) vecd(G{odd}) = vec(T{self.layer}): "
            f"{self.equations} equations in {self.width} scales, {self.scales} learnable; generic "
            f"rank {self.rank.rank} ({known}); every target needs width {needed}, {fewer} with "
            f"G{even} ({self.output_scales} of its scales learn)"
        )


@dataclass(frozen=True)
class ProductSystem:
    """The equations of a layer of the target that more than two frozen layers realize.

    Attributes
    ----------
    layer : int
        k, from 1.
    block : range
        The frozen layers.
    equations, hidden_scales : int
        Entries of the target layer; hidden units of the block.
    scales : tuple of int
        Learnable scales of each frozen layer of the block.
    """

    layer: int
    block: range
    equations: int
    hidden_scales: int
    scales: tuple[int, ...]

    def __str__(self) -> str:
        first, *hidden, last = reversed(self.block)
        product = "".join(f" G{j} W{j}" for j in (*hidden, last))
        return (
            f"layer {self.layer}: W{first}{product} = T{self.layer}: {self.equations} equations in "
            f"{self.hidden_scales} scales, {sum(self.scales[:-1])} learnable, linear in those of "
            f"each G; {self.scales[-1]} scales of G{first} learn"
        )


def lemma_systems(
    allocation: Allocation, support: Mapping[str, np.ndarray] | None = None, seed: int = 0
) -> tuple[LemmaSystem | ProductSystem, ...]:
    """The systems of all layers."""
    network, masks = allocation.network, allocation.masks
    assert isinstance(network, NormNet)
    out: list[LemmaSystem | ProductSystem] = []
    for k, (block, inner) in enumerate(zip(network.blocks, network.inner, strict=True), start=1):
        n, before, w = network.widths[k], network.widths[k - 1], inner[0]
        learn = [int(masks[f"g{j}"].sum()) for j in block]
        if len(inner) > 1:
            out.append(ProductSystem(k, block, n * before, sum(inner), tuple(learn)))
            continue
        odd, even = f"W{block[0]}", f"W{block[1]}"
        left = None if support is None else support.get(even)
        right = None if support is None else support.get(odd)
        rank = khatri_rao_rank(
            n, before, w, left=left, right=None if right is None else right.T, seed=seed
        )
        out.append(LemmaSystem(k, n, before, w, learn[0], learn[1], rank, block))
    return tuple(out)


def lemma_equations(network: NormNet, layer: int = 1) -> list[tuple[str, Any]]:
    """The equations of Lemma 1 for one layer, in SymPy: expressions that must be 0, with labels.

    Examples
    --------
    >>> net = NormNet.square(d=1, depth=1, width=2, m=1)
    >>> lemma_equations(net)[0][1]
    -T1_0_0 + W1_0_0*W2_0_0*g1_0 + W1_1_0*W2_0_1*g1_1
    """
    layer = whole_number(layer, "layer", 1, network.depth)
    first, *others = network.blocks[layer - 1]
    shapes = network.shapes | network.teacher_shapes
    made = indexed_symbols(f"W{first}", shapes[f"W{first}"])
    for j in others:
        scaled = indexed_symbols(f"g{j - 1}", (len(made),))[:, None] * made
        made = indexed_symbols(f"W{j}", shapes[f"W{j}"]) @ scaled
    T = indexed_symbols(f"T{layer}", shapes[f"T{layer}"])
    made = made - T
    return [(f"T{layer} [{i}, {j}]", made[i, j].expand()) for i, j in np.ndindex(*T.shape)]


def inspect_normnet(
    allocation: Allocation, support: Support, seed: int = 0, all_forms: bool = False
) -> Inspection:
    """Structure report of an allocation of a normalization network."""
    network = allocation.network
    if not isinstance(network, NormNet):
        raise InputError(f"`allocation` is of a {network.title}, not of a normnet")
    words = tuple(str(system) for system in lemma_systems(allocation, support, seed))
    reduction = lowered(Problem.of(allocation, support=support))
    if reduction is None:
        words += (
            f"ReLU: the equations of the labels hold for one activation pattern at a time, "
            f"2^{sum(network.layer_sizes[1:-1]) * network.m} patterns; with no unit silent they "
            "are those above",
        )
        return Inspection(allocation, 0, (), words, (), ())
    inner = reduction.problem
    found = inspect_linear(inner.allocation, inner.support, seed=seed, all_forms=all_forms)
    # Budgets would refer to matrices of the lowered network.
    return replace(
        found, allocation=allocation, skipped=words + found.skipped, budgets=(), violations=()
    )


def lemma_form(allocation: Allocation) -> SymbolicSystem:
    """The equations of Lemma 1 for all layers, in the scales of the hidden layers.

    Raises
    ------
    TooLong
    """
    network, masks = allocation.network, allocation.masks
    assert isinstance(network, NormNet)
    layers = range(1, network.depth + 1)
    most = max(1 + prod(inner) for inner in network.inner)
    size = sum(
        (1 + prod(inner)) * network.widths[k] * network.widths[k - 1]
        for k, inner in enumerate(network.inner, start=1)
    )
    if most > MOST_IN_ONE or size > MOST_TERMS:
        raise TooLong(
            f"lemma form: {most} terms in one equation, {size} in all, too many to be printed; "
            "`export` writes the equations of an instance for another program"
        )
    pairs = [pair for k in layers for pair in lemma_equations(network, k)]
    scales = {
        f"g{j}_{i}": bool(masks[f"g{j}"][i, 0])
        for block in network.blocks
        for j in block[:-1]
        for i in range(len(masks[f"g{j}"]))
    }
    return SymbolicSystem(
        form="lemma",
        ring=SymbolicRing(),
        unknowns=tuple(sorted(scales, key=lambda name: not scales[name])),
        weights=sum(scales.values()),
        equations=tuple(equation for _, equation in pairs),
        labels=tuple(label for label, _ in pairs),
        title="Equations of Lemma 1, no unit silent",
    )
