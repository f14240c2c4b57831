"""Root counts without msolve, compared with the table that was made with msolve."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.ranks.jacobian import all_cells
from algebra.systems.root_count import RootCountError, generic_root_count
from matchprob import Allocation, LinearFeedForward, LinearRNN, ShallowReLU
from numeric.tracking.root_count import monodromy_root_count
from tests.refusals import refuses

TABLE = json.loads((Path(__file__).parents[2] / "data" / "rnn_root_counts.json").read_text())


def table_cases(number):
    """Entries of the table with N > 1, of as many nets and values of N as possible."""
    rng = random.Random(5)
    every = [
        (net, cells, count)
        for net, found in sorted(TABLE.items())
        for cells, count in sorted(found.items())
        if 1 < count <= 16
    ]
    rng.shuffle(every)
    seen: dict[tuple[str, int], tuple] = {}
    for net, cells, count in every:
        seen.setdefault((net, count), (net, cells, count))
    return sorted(list(seen.values())[:number])


def read(net, cells):
    sizes = {k: int(v) for k, v in (part.split("=") for part in net.split())}
    chosen = []
    for text in cells.split():
        name, indices = text.rstrip("]").split("[")
        chosen.append((name, *map(int, indices.split(","))))
    return Allocation.from_cells(LinearRNN(**sizes), chosen)


def some_long(found, short):
    """The cases, of which those after the first `short` are marked long."""
    return [
        case if k < short else pytest.param(*case, marks=pytest.mark.long)
        for k, case in enumerate(found)
    ]


@pytest.mark.parametrize(("net", "cells", "count"), some_long(table_cases(16), 6))
@pytest.mark.usefixtures("no_msolve")
def test_counts_of_the_table(net, cells, count):
    """Without msolve the trace test gives the N that two primes gave, marked as numerical."""
    found = generic_root_count(read(net, cells), fallback=monodromy_root_count)
    assert found.value == count
    if found.is_numerical:
        assert (found.rule, found.primes, found.blocks) == ("trace test", (), ())
        assert "numerical, not a proof" in found.how
        assert "msolve is not installed" in found.because
        assert float(found.trace.residual) <= float(found.trace.tolerance)
        assert found.trace.points > found.value


def test_layers_and_structural_zeros():
    """For multi-layer nets with a narrow layer and a support the trace test gives msolve's N."""
    net = LinearFeedForward(q=3, widths=(2,), d=3, m=3)
    support = {"W1": np.array([[1, 1, 0], [1, 1, 1]])}
    rank = network_rank(net, support).rank
    rng = random.Random(1)
    there = all_cells(net, support)
    checked = 0
    while checked < 2:
        allocation = Allocation.from_cells(net, rng.sample(there, rank))
        if allocation_rank(allocation, support, rank).rank < rank:
            continue
        checked += 1
        exact = generic_root_count(allocation, support)
        assert monodromy_root_count(allocation, support).value == exact.value


def test_the_seed_does_not_change_the_count():
    """With other seeds, hence other random instances, N is the same."""
    allocation = read("n=3 T=2 b=1 d=2 m=2", "W[0,0] W[1,1] W[2,2] W[0,1]")
    assert {monodromy_root_count(allocation, None, seed).value for seed in range(2)} == {2}


def test_allocations_without_a_count_are_errors():
    """Minimal allocations, ReLU nets and too many points raise an error with the reason."""
    minimal = read("n=2 T=2 b=1 d=1 m=2", "W[0,0] W[0,1]")
    assert monodromy_root_count(minimal).value == 1
    flat = Allocation.from_cells(
        LinearFeedForward(q=3, widths=(3,), d=2, m=2),
        [("W1", 0, 1), ("W1", 0, 2), ("W1", 1, 0), ("W1", 2, 0)],
    )
    refuses("minimal", monodromy_root_count, flat, error=RootCountError)
    relu = Allocation.from_cells(ShallowReLU(q=2, n=2, d=1, m=1), [("W1", 0, 0)])
    refuses("linear network", monodromy_root_count, relu, error=RootCountError)
    diagonal = read("n=2 T=2 b=1 d=1 m=2", "W[0,0] W[1,1]")
    with pytest.raises(RootCountError, match="more than 1 points"):
        monodromy_root_count(diagonal, most_points=1)
