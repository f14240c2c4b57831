r"""Orders and scales of a deep ReLU target's hidden units that a frozen network can realize.

Every order π_k of the target's hidden units, with positive scales, gives the same function
(`DenseNet.with_hidden_units`).  Block k depends on the orders π_{k-1} of its inputs and π_k of its
outputs; its scales follow from `algebra.plugins.normalization.hidden_scales`.  The search
enumerates the orders block by block, the target's own first, and caches the result for each pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import Any

import numpy as np
from flint import fmpq

from algebra.errors import Unrealized
from algebra.plugins.normalization.dense import DenseNet, HiddenUnits, rational_array
from algebra.plugins.normalization.hidden_scales import (
    IMPOSSIBLE,
    IRRATIONAL,
    NOT_FOUND,
    RATIONAL,
    HiddenScales,
    find_hidden_scales,
)
from algebra.plugins.normalization.scales import Unreachable, solve_both_scales
from algebra.time_limits import check_time

Order = tuple[int, ...]
# Number of blocks, each with its orders, after which the search is given up.
_MOST_BLOCKS = 72


class NotRealized(Unrealized):
    """A target of two or more layers is not realized layer by layer; this proves nothing else.

    Attributes
    ----------
    layer : int
        The target's layer, from 1, at which the search failed.
    status : str
        Status of `algebra.plugins.normalization.hidden_scales`: "irrational" if scales exist, but
        none over Q; "no real solution", "no positive solution" or "impossible" if it is proved that
        no order and positive scales of the hidden units suffice; otherwise "not found".
    """

    def __init__(self, layer: int, status: str, text: str) -> None:
        super().__init__(text)
        self.layer, self.status = layer, status


@dataclass(frozen=True)
class Alignment:
    """Orders and scales of the hidden units with which every block is realized.

    Attributes
    ----------
    units : tuple of HiddenUnits
        One for each hidden layer; approximate if a block's scales are irrational.
    blocks : tuple of HiddenScales
        One for each layer of the target, its rows and columns in these orders.
    """

    units: tuple[HiddenUnits, ...]
    blocks: tuple[HiddenScales, ...]


def align(
    target: DenseNet, frozen: Sequence[Any], *, rational: bool = True, seed: int = 0
) -> Alignment:
    """An order and a scale of the hidden units that a frozen network realizes layer by layer.

    All scales of the frozen network are tuned.

    Parameters
    ----------
    target : DenseNet
        Of two or more layers.
    frozen : sequence of matrices
        W_1, …, W_2l.
    rational : bool, optional
        Whether only rational scales are accepted.
    seed : int, optional

    Returns
    -------
    Alignment

    Raises
    ------
    NotRealized
        Its status tells whether this is proved.
    """
    weights = [rational_array(W, f"W{k}") for k, W in enumerate(frozen, 1)]
    search = _OrderSearch(target, weights, seed)
    accepted = (RATIONAL,) if rational else (RATIONAL, IRRATIONAL)
    identity = tuple(range(target.weights[0].shape[1]))
    path = search.path(0, identity, accepted)
    if path is None:
        raise search.failure(accepted)
    units = []
    for (order, _), (_, following) in pairwise(path):
        units.append(HiddenUnits(order, tuple(1 / value for value in following.epsilon)))
    return Alignment(tuple(units), tuple(block for _, block in path))


class _OrderSearch:
    """Depth-first search through the orders, with cached results for each block."""

    def __init__(self, target: DenseNet, weights: Sequence[np.ndarray], seed: int) -> None:
        self.target, self.weights, self.seed = target, weights, seed
        self.known: dict[tuple[int, Order, Order], HiddenScales] = {}
        self.given_up = False

    def path(
        self, k: int, before: Order, accepted: Sequence[str]
    ) -> list[tuple[Order, HiddenScales]] | None:
        """Orders and scales for the blocks from k on, for a given order of their inputs."""
        if k == len(self.target.weights):
            return []
        own = tuple(range(len(self.target.weights[k])))
        last = k == len(self.target.weights) - 1
        for order in [own] if last else permutations(own):
            block = self._block(k, before, order)
            if block is None:
                return None
            if block.status in accepted:
                rest = self.path(k + 1, order, accepted)
                if rest is not None:
                    return [(order, block), *rest]
        return None

    def _block(self, k: int, before: Order, order: Order) -> HiddenScales | None:
        key = (k, before, order)
        if key not in self.known:
            if len(self.known) >= _MOST_BLOCKS:
                self.given_up = True
                return None
            check_time()
            goal = self.target.weights[k][list(order)][:, list(before)]
            W1, W2 = self.weights[2 * k], self.weights[2 * k + 1]
            if k:
                self.known[key] = find_hidden_scales(W2, W1, goal, seed=self.seed)
            else:
                self.known[key] = _first_block(W2, W1, goal)
        return self.known[key]

    def failure(self, accepted: Sequence[str]) -> NotRealized:
        """The outcome of the search at the last layer that it reached."""
        at = max(k for k, _, _ in self.known)
        found = [block for (k, _, _), block in self.known.items() if k == at]
        if IRRATIONAL not in accepted:
            inputs = tuple(range(self.target.weights[0].shape[1]))
            if self.path(0, inputs, (RATIONAL, IRRATIONAL)) is not None:
                text = (
                    f"layer {at + 1}: scales that realize the target exist (proved), but no "
                    "rational ones were found; in doubles they come with a proved error bound: "
                    "do not use exact"
                )
                return NotRealized(at + 1, IRRATIONAL, text)
        layer, width = at + 1, len(self.weights[2 * at])
        failed = [block for block in self.known.values() if not block.is_realized]
        notes = "; ".join(dict.fromkeys(block.note for block in found if not block.is_realized))
        head = f"layer {layer}, {width} hidden units: {notes}"
        if self.given_up or not all(block.is_refuted for block in failed):
            text = f"{head}. No order and scale of the target's hidden units was found; no claim"
            return NotRealized(layer, NOT_FOUND, text)
        statuses = {block.status for block in found if not block.is_realized}
        status = statuses.pop() if len(statuses) == 1 else IMPOSSIBLE
        text = (
            f"{head}. Proved: no order and no positive scales of the target's hidden units make "
            "the blocks equal to its layers (that the network equals the target in another way "
            "is not excluded)"
        )
        return NotRealized(layer, status, text)


def _first_block(W2: np.ndarray, W1: np.ndarray, goal: np.ndarray) -> HiddenScales:
    """The first block: its inputs are given, ε = 1."""
    try:
        output = solve_both_scales(W2, W1, goal)[1]
    except Unreachable as failure:
        return HiddenScales(IMPOSSIBLE, note=str(failure).removeprefix("layer 1: "))
    delta = tuple(1 / entry if entry != 0 else fmpq(1) for entry in output)
    return HiddenScales(RATIONAL, delta, (fmpq(1),) * goal.shape[1], note="linear equations")
