"""The parameters that learn: single cells and matrices with updates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from algebra.networks.base import Cell, Network
from algebra.networks.masks import held
from algebra.problems.allocation import Allocation

if TYPE_CHECKING:
    from algebra.problems.updates import Update


@dataclass(frozen=True)
class Learning:
    """The parameters that learn: single cells and matrices with updates.

    Parameters are numbered: first the cells in their order, then those of the updates in the order
    of the network's matrices.

    Attributes
    ----------
    network : Network
    cells : tuple of cells
    updates : mapping of str to Update
    support : mapping of str to mask
    """

    network: Network
    cells: tuple[Cell, ...]
    updates: Mapping[str, Update]
    support: Mapping[str, np.ndarray]

    @property
    def size(self) -> int:
        """Number r of parameters that learn."""
        shapes = self.network.shapes
        return len(self.cells) + sum(u.size(shapes[name]) for name, u in self.updates.items())

    @property
    def dimension(self) -> int:
        """Dimension of the set of students: r minus the dimension of the gauge."""
        shapes = self.network.shapes
        own = sum(u.dimension(shapes[name]) for name, u in self.updates.items())
        return len(self.cells) + own

    @property
    def names(self) -> list[str]:
        """The name of each parameter."""
        found = [f"{name}[{i},{j}]" for name, i, j in self.cells]
        for name, update in self.updates.items():
            found += update.names(name, self.network.shapes[name])
        return found

    @property
    def matrices(self) -> tuple[str, ...]:
        """Names of the matrices with parameters that learn."""
        used = {cell[0] for cell in self.cells} | set(self.updates)
        return tuple(name for name in self.network.shapes if name in used)

    @cached_property
    def moving(self) -> Allocation:
        """The cells that can change, singly or together with others."""
        masks = {
            name: update.cells(self.network.shapes[name], held(self.support, name))
            for name, update in self.updates.items()
        }
        for name in {cell[0] for cell in self.cells}:
            masks.setdefault(name, np.zeros(self.network.shapes[name], np.int8))
        for name, i, j in self.cells:
            masks[name][i, j] = 1
        return Allocation.from_masks(self.network, masks)

    @property
    def is_affine(self) -> bool:
        """Whether the labels are an affine function of all parameters jointly."""
        linear = all(update.is_linear for update in self.updates.values())
        return linear and self.network.affine_in(self.matrices)
