"""Budgets compared with Jacobian ranks mod p, differentiated through `network.forward`."""

import random
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.ranks.budgets.cover import budget_violations, rank_bound
from algebra.ranks.budgets.crosses import violated_crosses
from algebra.ranks.budgets.lines import Violation, budgets
from algebra.ranks.generic_rank import allocation_rank
from matchprob import Allocation, LinearEstimator, LinearFeedForward, LinearRNN, ShallowReLU
from tests.algebra.ranks.budgets.cases import (
    Jacobian,
    all_cells,
    every_rank_is_within,
    layers,
    random_allocation,
    random_network,
)
from tests.samples import LONG, many


def test_no_rank_exceeds_a_budget():
    """On random allocations of all kinds each budget and each cover bounds the true rank."""
    rng = random.Random(2502)
    crosses = reached = deficient = 0
    kinds = set()
    for trial in range(many(800, 200)):
        network = random_network(rng)
        allocation = random_allocation(rng, network)
        rank, bound = every_rank_is_within(allocation, trial)
        kinds.add(network.kind)
        crosses += bool(violated_crosses(allocation).crosses)
        if rank < allocation.size and network.is_linear:
            deficient += 1
            reached += rank == bound
    assert kinds == {"linear", "lrnn", "lffn", "relu"}
    # The sample is large enough: it has deficits, crosses too, and nearly all are explained.
    assert deficient > many(80, 20)
    assert crosses > (10 if LONG else 2)
    assert reached > 0.8 * deficient


@given(st.randoms(use_true_random=False))
@settings(max_examples=many(60), deadline=None)
def test_no_rank_exceeds_a_budget_on_found_cases(rng):
    """The same for allocations that hypothesis generates and shrinks."""
    every_rank_is_within(random_allocation(rng, random_network(rng)), 1)


@pytest.mark.parametrize(
    ("network", "lines"),
    [
        (LinearRNN(n=9, T=2, b=2, d=4, m=4), {"W": (1, 1)}),
        (LinearRNN(n=10, T=3, b=2, d=3, m=6), {"W": (1, 1)}),
        (LinearRNN(n=10, T=3, b=2, d=3, m=6), {"W": (2, 1)}),
        (LinearRNN(n=9, T=2, b=9, d=4, m=4), {"B": (1, 1)}),
        (LinearRNN(n=8, T=2, b=2, d=3, m=4), {"W": (1, 0), "B": (0, 1)}),
        (LinearRNN(n=8, T=2, b=2, d=3, m=4), {"D": (1, 0), "W": (0, 1)}),
        (LinearFeedForward(q=6, widths=(7, 6), d=4, m=4), {"W2": (2, 1)}),
        (LinearFeedForward(q=6, widths=(7, 6), d=4, m=4), {"W1": (1, 0), "W3": (0, 2)}),
        (LinearFeedForward(q=6, widths=(7, 3, 6), d=4, m=4), {"W4": (1, 0), "W2": (0, 1)}),
        (LinearEstimator(q=9, d=4, m=4), {"W": (2, 0)}),
        (ShallowReLU(q=8, n=12, d=4, m=4), {"W2": (1, 2)}),
    ],
)
def test_bounds_of_full_crosses_are_attained(network, lines):
    """Full rows and columns together have exactly the rank that the cover gives."""
    cells = []
    for name, (a, b) in lines.items():
        cells += [c for c in all_cells(network, [name]) if c[1] < a or c[2] < b]
    allocation = Allocation.from_cells(network, cells)
    rank, bound = every_rank_is_within(allocation, 3)
    assert rank == bound < allocation.size


@dataclass(frozen=True)
class Case:
    """An allocation, its generic rank and the first sentence of its violations."""

    allocation: Allocation
    rank: int
    reason: str


LAYER = LinearFeedForward(q=3, widths=(3,), d=2, m=2)
ENCODER = LinearRNN(n=9, T=2, b=9, d=4, m=4)
MISSED = LinearRNN(n=4, T=2, b=2, d=2, m=4)
FEW_SAMPLES = LinearRNN(n=8, T=2, b=2, d=4, m=1)
CASES = {
    "theorem 4.1, smallest": Case(
        Allocation.from_cells(LAYER, [("W1", 0, 1), ("W1", 0, 2), ("W1", 1, 0), ("W1", 2, 0)]),
        3,
        "row 0 and column 0 of W1 hold 4 learnable weights but take part in only "
        "2 + 2 − 1 = 3 equations",
    ),
    "theorem 3.2 with T = 2": Case(
        Allocation.from_cells(
            ENCODER, [("B", 0, j) for j in range(1, 9)] + [("B", i, 0) for i in range(1, 9)]
        ),
        12,
        "row 0 and column 0 of B hold 16 learnable weights but take part in only "
        "8 + 8 − 4 = 12 equations",
    ),
    "theorem 3.5 with m < b": Case(
        Allocation.from_cells(FEW_SAMPLES, [("W", 3, j) for j in range(4)]),
        2,
        "row 3 of W has 4 learnable weights but takes part in only Tm = 2 equations",
    ),
    "theorem 3.4 is silent": Case(
        Allocation.from_masks(MISSED, W=[[1, 0, 0, 0], [1, 0, 0, 1], [1, 0, 0, 0], [1, 1, 1, 1]]),
        7,
        "row 3 and column 0 of W hold 7 learnable weights but take part in only "
        "4 + 4 − 2 = 6 equations",
    ),
    "theorem 3.4, row": Case(
        Allocation.from_cells(
            LinearRNN(n=6, T=2, b=2, d=2, m=3), [("W", 3, j) for j in range(5)] + [("W", 0, 0)]
        ),
        5,
        "row 3 of W has 5 learnable weights but takes part in only Tb = 4 equations",
    ),
    "theorem 3.1": Case(
        Allocation.from_cells(
            LinearRNN(n=4, T=2, b=2, d=2, m=2),
            [("D", 0, 0), ("D", 1, 0), ("D", 1, 1), ("D", 1, 2)],
        ),
        3,
        "row 1 of D has 3 learnable weights but takes part in only m = 2 equations",
    ),
    "two layers": Case(
        Allocation.from_cells(LAYER, [("W1", 0, 0), ("W1", 0, 1), ("W2", 0, 1), ("W2", 1, 1)]),
        3,
        "row 0 of W1 and column 1 of W2 hold 4 learnable weights but take part in only "
        "2 + 2 − 1 = 3 equations",
    ),
    "dependent samples": Case(
        Allocation.rows(LinearEstimator(q=2, d=2, m=3), "W", [0, 1]),
        4,
        "",
    ),
    "narrow layer": Case(
        Allocation.from_masks(
            LinearFeedForward(q=3, widths=(1,), d=2, m=3), W1=[[1, 1, 1]], W2=[[1], [1]]
        ),
        4,
        "the network has 5 learnable weights but takes part in only 4 independent equations "
        "(of dm = 6)",
    ),
    "change of basis": Case(
        Allocation.from_masks(
            LinearRNN(n=2, T=3, b=2, d=2, m=5), B=[[1, 1], [1, 1]], D=[[1, 1], [1, 1]]
        ),
        6,
        "the network has 8 learnable weights but takes part in only 6 independent equations "
        "(of dm = 10)",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_known_cases(name):
    """The theorems' regression cases and some more: true rank, bound and first sentence."""
    case = CASES[name]
    rank, bound = every_rank_is_within(case.allocation, 7)
    assert rank == bound == case.rank
    violations = budget_violations(case.allocation)
    assert [str(v) for v in violations[:1]] == [case.reason] * bool(case.reason)
    assert all(isinstance(v, Violation) and v.excess > 0 for v in violations)


def test_counting_is_not_enough():
    """Two disjoint 2×2 blocks and one more cell (d = m = 3) exceed no budget: rank 8 of 9."""
    network = LinearFeedForward(q=5, widths=(5,), d=3, m=3)
    mask = np.zeros((5, 5), int)
    mask[:2, :2] = mask[2:4, 2:4] = mask[4, 4] = 1
    allocation = Allocation.from_masks(network, W1=mask)
    assert budget_violations(allocation) == ()
    assert rank_bound(allocation) == 9
    assert Jacobian(network, 1).rank(allocation.cells) == 8


@given(layers(), st.randoms(use_true_random=False))
@settings(max_examples=many(100), deadline=None)
def test_bound_does_not_depend_on_the_order_of_units(allocation, rng):
    """Permuting rows and columns of a layer permutes the budgets and keeps the bound."""
    mask = allocation.masks["W2"]
    rows = rng.sample(range(mask.shape[0]), mask.shape[0])
    columns = rng.sample(range(mask.shape[1]), mask.shape[1])
    other = Allocation.from_masks(allocation.network, W2=mask[rows][:, columns])
    assert rank_bound(other) == rank_bound(allocation)
    counts = [
        sorted((b.kind, b.learnable, b.limit) for b in budgets(a)) for a in (allocation, other)
    ]
    assert counts[0] == counts[1]


def test_violations_come_shortest_then_strongest():
    """The total first, then lines by excess, then crosses; a single matrix is not repeated."""
    network = LinearFeedForward(q=4, widths=(4,), d=2, m=2)
    mask = [[1, 1, 1, 1], [1, 1, 1, 0], [1, 0, 0, 0], [1, 0, 0, 0]]
    found = budget_violations(Allocation.from_masks(network, W1=mask))
    assert [(v.kind, v.excess) for v in found[:4]] == [
        ("total", 5),
        ("row", 2),
        ("column", 2),
        ("row", 1),
    ]
    sizes = [len(v.rows + v.columns) for v in found]
    assert sizes == sorted(sizes)


@pytest.mark.parametrize("seed", range(12))
def test_covers_of_very_many_cells_bound_the_rank(seed, monkeypatch):
    """Without a search for crosses the bound is weaker, but valid, and tight if all learn."""
    rng = random.Random(seed)
    net = LinearRNN(n=4, T=2, b=2, d=2, m=3)
    density = 0.2 + 0.15 * (seed % 6)
    cells = [c for c in all_cells(net, ("D", "W", "B")) if rng.random() < density]
    allocation = Allocation.from_cells(net, cells)
    fine = rank_bound(allocation)
    for where in ("cover", "crosses"):
        monkeypatch.setattr(f"algebra.ranks.budgets.{where}.MOST_CELLS", 0)
    assert allocation_rank(allocation).rank <= rank_bound(allocation)
    assert fine <= rank_bound(allocation) <= allocation.size
    whole = Allocation.from_cells(net, all_cells(net, ("D", "W", "B")))
    assert rank_bound(whole) == allocation_rank(whole).rank == 6
