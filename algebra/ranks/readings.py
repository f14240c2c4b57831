"""Derivatives of the numbers that can be recorded, by some weights or parameters, at a point.

All readings are differentiated in one backward pass (`HasJacobian.modular_readings`); where the
factors differ between samples, a few samples at a time: no operation mixes samples, and the
adjoints of all steps are in memory at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from algebra.linalg.residues import Residues
from algebra.networks.base import LABELS, Cell, Factors, Network, Point
from algebra.networks.protocols import jacobian_of
from algebra.ranks.jacobian import jacobian
from algebra.time_limits import check_time

# Entries of adjoints that are in memory at once.
_AT_ONCE = 1 << 24


def entries_at_once(network: Network) -> float:
    """Entries of factors of `reading_tables` that are in memory at once, with their copies."""
    return 4 * _AT_ONCE if jacobian_of(network).factor_entries(LABELS) else math.inf


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
    network, counts = jacobian_of(network), [len(some) for some in units]
    # The entries of a row's adjoints, where these differ between samples.
    wide = network.factor_entries(LABELS) // network.outputs
    rows = max(1, _AT_ONCE // max(1, wide))
    step = max(1, rows // max(1, sum(counts))) if wide else network.m
    whole = np.empty((sum(counts), network.m, len(cells)), np.int64)
    # All units of several samples at a time, or some units of one sample.
    owner = np.repeat(np.arange(len(units)), counts)
    every = np.concatenate([np.asarray(some, np.int64) for some in units])
    for start in range(0, network.m, step):
        some = slice(start, min(start + step, network.m))
        few = point.of_samples(some)
        own = network if step >= network.m else network.with_samples(some.stop - start)
        for first in range(0, len(every), max(rows, 1) if step == 1 else len(every)):
            check_time()
            part = slice(first, first + rows if step == 1 else None)
            chosen = [every[part][owner[part] == k] for k in range(len(units))]
            joint = own.modular_readings(what, few, names, chosen)
            table = _table(joint, cells, len(every[part]) * own.m, p)
            whole[part, some] = table.reshape(len(every[part]), own.m, len(cells))
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
