"""A batch of students at their starts: the input of a loss, one row per run.

All weights of a student are one flat vector, its matrices concatenated; its learnable
weights are entries of it.  Thus students of several instances, with different allocations
if these are drawn, fit into one array.  Run number k is start k % starts of instance
k // starts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from algebra.networks.base import Network
from algebra.programs.patches import consecutive
from numeric.trials.instances import Instance, draw_entries

# Part of the seed of the starts.
_STARTS = 0x7124


@dataclass(frozen=True)
class Students:
    """Runs of a batch.

    Attributes
    ----------
    network : Network
    learning : frozenset of str
        Matrices in which some student learns.
    fixed : ndarray, shape (runs, parameters)
        All weights; those of learnable cells are ignored.
    cells : ndarray of int, shape (runs, r)
        Positions of the learnable weights in a row.
    X : ndarray, shape (runs, inputs, columns)
        Inputs of the networks' programs.
    Y : ndarray, shape (runs, d, columns)
        Labels.
    """

    network: Network
    learning: frozenset[str]
    fixed: np.ndarray
    cells: np.ndarray
    X: np.ndarray
    Y: np.ndarray

    @classmethod
    def of(cls, instances: Sequence[Instance], starts: int = 1) -> Students:
        """Students of some instances of one problem, `starts` runs each."""
        network = instances[0].problem.network
        offsets = matrix_offsets(network)
        shapes = network.shapes
        fixed, cells = [], []
        for instance in instances:
            fixed.append(np.concatenate([instance.weights[name].ravel() for name in shapes]))
            cells.append(
                [
                    offsets[name] + i * shapes[name][1] + j
                    for name, i, j in instance.allocation.cells
                ]
            )
        learning = frozenset(name for one in instances for name in one.allocation.matrices)

        def repeated(arrays: Sequence[np.ndarray]) -> np.ndarray:
            return np.repeat(np.array(arrays), starts, axis=0)

        return cls(
            network,
            learning,
            repeated(fixed),
            repeated([np.array(own, np.int64) for own in cells]),
            repeated([network.drive(instance.X) for instance in instances]),
            repeated([instance.labels for instance in instances]),
        )

    def __len__(self) -> int:
        return len(self.fixed)

    def take(self, rows: np.ndarray) -> Students:
        """Some of the runs."""
        return replace(
            self, fixed=self.fixed[rows], cells=self.cells[rows], X=self.X[rows], Y=self.Y[rows]
        )

    def matrices(self, w: np.ndarray) -> dict[str, np.ndarray]:
        """All matrices (runs, rows, columns) with the learnable weights w (runs, r)."""
        whole = self.fixed.copy()
        whole[self._runs, self.cells] = w
        shapes = self.network.shapes
        return {
            name: whole[:, at : at + shapes[name][0] * shapes[name][1]].reshape(-1, *shapes[name])
            for name, at in matrix_offsets(self.network).items()
        }

    @cached_property
    def _runs(self) -> np.ndarray:
        return np.arange(len(self))[:, None]

    @cached_property
    def _own(self) -> dict[str, tuple[np.ndarray | slice, np.ndarray | None, np.ndarray]]:
        """For each matrix the learnable weights that are cells of it in some run.

        The numbers (c,) of these weights; whether they are cells of the matrix in each run
        (runs, c), None if all are; the numbers of the cells, row by row (runs or 1, c).
        """
        out = {}
        for name, at in matrix_offsets(self.network).items():
            rows, columns = self.network.shapes[name]
            cells = self.cells - at
            inside = (cells >= 0) & (cells < rows * columns)
            some = np.flatnonzero(inside.any(axis=0))
            if len(some):
                inside, cells = inside[:, some], np.where(inside, cells, 0)[:, some]
                if (cells == cells[0]).all():
                    cells = cells[:1]
                out[name] = consecutive(some), None if inside.all() else inside, cells
        return out

    @property
    def places(self) -> dict[str, np.ndarray]:
        """Numbers (runs or 1, c) of learnable cells in each matrix, row by row: for derivatives."""
        return {name: cells for name, (*_, cells) in self._own.items()}

    def gather(self, parts: Mapping[str, np.ndarray], axes: tuple[int, ...]) -> np.ndarray:
        """Derivatives by the learnable weights, (runs, *axes, r), from those by `places`.

        Parameters
        ----------
        parts : mapping of str to ndarray
            For each matrix an array of shape (runs, *axes, c), which may be broadcast.
        axes : tuple of int
        """
        out = np.zeros((len(self), *axes, self.cells.shape[1]))
        for name, part in parts.items():
            some, inside, _ = self._own[name]
            if inside is not None:
                part = part * inside.reshape(len(self), *(1 for _ in axes), -1)
            out[..., some] += part
        return out


def matrix_offsets(network: Network) -> dict[str, int]:
    """Offset of each matrix of a network in a vector of all weights."""
    out, at = {}, 0
    for name, (rows, columns) in network.shapes.items():
        out[name] = at
        at += rows * columns
    return out


def starts_of(instance: Instance, starts: int) -> np.ndarray:
    """Start points of the runs of an instance.

    Parameters
    ----------
    instance : Instance
    starts : int
        The first is the student as drawn; for the others its learnable weights are drawn again
        from the same law, with the same signs.

    Returns
    -------
    ndarray, shape (starts, r)
        The first k starts do not depend on their number.
    """
    key = (instance.index, _STARTS)
    rng = np.random.default_rng(np.random.SeedSequence(instance.seed, spawn_key=key))
    law, size = instance.problem.distribution.weights, instance.allocation.size
    again = draw_entries(rng, law, (starts - 1, size)) * instance.spread
    masks = instance.problem.distribution.masks
    if masks:
        cells = instance.allocation.cells
        signs = np.array([masks[n][i, j] if n in masks else 0 for n, i, j in cells])
        again = np.where(signs == 0, again, abs(again) * signs)
    return np.vstack([instance.before[None], again])
