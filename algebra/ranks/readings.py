"""Derivatives of the numbers that can be recorded, by some weights or parameters, at a point.

The readings of a network with an activation function are differentiated in one backward pass
(`algebra.networks.activated.ActivatedNetwork.joint_readings`), a few samples at a time: no
operation mixes samples, and the adjoints of all steps are in memory at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from algebra.linalg.modular import Residues
from algebra.networks.activated import ActivatedNetwork
from algebra.networks.base import STATES, Cell, Factors, Network, Point
from algebra.networks.protocols import jacobian_of
from algebra.ranks.jacobian import jacobian
from algebra.ranks.parametrized import Parametrized
from algebra.time_limits import check_time

# Entries of adjoints that are in memory at once.
_AT_ONCE = 1 << 24


def reading_tables(
    network: Network,
    what: str,
    point: Point,
    cells: Sequence[Cell],
    units: Sequence[np.ndarray],
) -> list[Residues]:
    """The derivatives of some units of each reading: one row for each unit and sample.

    Parameters
    ----------
    network : Network
    what : str
        See `Network.readings`.
    point : Point
    cells : sequence of cells
    units : sequence of ndarray of int
        For each reading.
    """
    names, p = sorted({cell[0] for cell in cells}), point.p
    base = network.base if isinstance(network, Parametrized) else network
    if what != STATES or not isinstance(base, ActivatedNetwork):
        factors = jacobian_of(network).modular_readings(what, point, names, units)
        return [
            _table(part, cells, len(some) * network.m, p)
            for part, some in zip(factors, units, strict=True)
        ]
    counts = [len(some) for some in units]
    steps, width = len(base.stages()), base.shapes[base.output][1]
    step = max(1, _AT_ONCE // max(1, sum(counts) * steps * width))
    parts = []
    for start in range(0, network.m, step):
        check_time()
        some = slice(start, min(start + step, network.m))
        few = replace(point, X=point.X[:, some])
        own = network.with_samples(some.stop - start)
        joint = own.joint_readings(what, few, names, units)  # type: ignore[attr-defined]
        table = _table(joint, cells, sum(counts) * own.m, p)
        parts.append(table.reshape(sum(counts), own.m, len(cells)))
    whole = np.concatenate(parts, axis=1)
    ends = np.cumsum(counts)
    return [
        whole[end - count : end].reshape(count * network.m, len(cells))
        for end, count in zip(ends, counts, strict=True)
    ]


def _table(factors: Factors, cells: Sequence[Cell], rows: int, p: int) -> Residues:
    """Columns of cells; those of a matrix that the reading does not depend on are zero."""
    table = np.zeros((rows, len(cells)), np.int64)
    known = [k for k, cell in enumerate(cells) if cell[0] in factors]
    if known and rows:
        table[:, known] = jacobian(factors, [cells[k] for k in known], p)
    return table
