"""The span of the rows of a Jacobian, from as few samples as its rank can need.

A circuit of 45,000 neurons with 500 parameters has 40 outputs at 20 steps for each sample: the rows
of one or two samples have the rank of all.

**Theorem.**  Let S_k be the span of the rows of k generic samples at fixed generic weights.  If
S_j = S_k for some j > k, then S_i = S_k for all i ≥ k (the argument is that of
`algebra.ranks.jacobian.enough_samples`: V(x) ⊆ S_k for a generic sample x).  So samples are added,
each time as many as there are, until the rank is full or does not grow.  If it stops too early at
a point, the rank of the rows considered there is below its generic value, with a probability that
`algebra.ranks.deficits.deficit_error` bounds as it does for all rows together.

The rows are computed a few at a time: adjoints of all steps are in memory at once
(`algebra.ranks.readings`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from algebra.matroids.groups import Span
from algebra.networks.base import LABELS, Cell, Network, Point
from algebra.ranks.jacobian import base_of
from algebra.ranks.readings import reading_tables
from algebra.time_limits import check_time


def span_of_labels(network: Network, point: Point, cells: Sequence[Cell], bound: int) -> Span:
    """The span of the rows of the labels' Jacobian.

    Parameters
    ----------
    network : Network
        One for which `algebra.ranks.jacobian.is_in_parts`.
    point : Point
    cells : sequence of cells
    bound : int
        An upper bound of its dimension.
    """
    span, readings = Span.empty(len(cells)), network.readings(LABELS)
    units = [np.arange(reading.size) for reading in readings]
    each = sum(reading.size for reading in readings)
    # Given samples may be special.
    is_generic = base_of(network).own_point is None
    start, count = 0, min(network.m, -(-bound // each))
    while start < network.m and span.rank < bound:
        check_time()
        some = slice(start, min(start + count, network.m))
        few = point.of_samples(some)
        own = network.with_samples(some.stop - some.start)
        before = span.rank
        for table in reading_tables(own, LABELS, few, cells, units):
            span = span.extended(table, point.p)
            if span.rank == bound:
                return span
        if start and span.rank == before and is_generic:
            break
        start = count = some.stop
    return span
