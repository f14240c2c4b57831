"""Equivalent networks of another kind: the same weights and labels, perhaps other cells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from algebra.networks.base import Cell, Network, Support


class Lowering(ABC):
    """An equivalent network of another kind: the same weights and labels, perhaps other cells.

    Generic ranks and the numbers of complex and real solutions are the same; each lowering proves
    it.
    """

    @property
    @abstractmethod
    def network(self) -> Network:
        """The network of the other kind."""

    @property
    def labels(self) -> tuple[Network, Support]:
        """The network whose labels are the teacher's; it may differ from the student's kind."""
        return self.network, {}

    def cell(self, cell: Cell) -> Cell:
        """The cell of a weight in the other network."""
        return cell

    def weights(self, weights: Mapping[str, np.ndarray], one: Any) -> dict[str, np.ndarray]:
        """The other network's matrices; `one` is that of the entries' ring."""
        return dict(weights)

    def teacher(self, teacher: Mapping[str, np.ndarray], one: Any) -> dict[str, np.ndarray]:
        """Weights of the other network that give the teacher's labels, if there are any."""
        return dict(teacher)

    def samples(self, X: np.ndarray, one: Any) -> np.ndarray:
        """The other network's samples."""
        return X


@dataclass(frozen=True)
class Identical(Lowering):
    """The lowering of a network that is linear: the same weights, the same labels."""

    linear: Network

    @property
    def network(self) -> Network:
        """The linear network with the same matrices."""
        return self.linear
