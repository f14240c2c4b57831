"""Repairs against all allocations of small nets."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from algebra.families.certify import certify
from algebra.questions.design import maximal
from algebra.questions.design.demand import checked_demand
from algebra.questions.design.repair import MAXIMAL, NOT_MINIMAL, repair
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.ranks.jacobian import all_cells
from matchprob import Allocation, InputError, LinearEstimator, LinearRNN, Problem

RNN = LinearRNN(n=3, T=2, b=1, d=1, m=2)
CELLS = [c for c in all_cells(RNN) if c[0] == "W"]


@pytest.mark.parametrize("network", [RNN, LinearEstimator(q=3, d=2, m=2)], ids=str)
def test_every_minimal_allocation_is_repaired_with_the_fewest_moves(network):
    """The number of moves is the brute-force distance, rho minus the rank; prices break ties."""
    cells = [c for c in all_cells(network) if c[0] == "W"]
    whole = network_rank(network).rank
    rng = np.random.default_rng(0)
    costs = {cell: Fraction(int(rng.integers(1, 9))) for cell in cells}
    sets = [set(c) for c in combinations(cells, whole)]
    rank = [allocation_rank(Allocation.from_cells(network, sorted(s))).rank for s in sets]
    bases = [s for s, k in zip(sets, rank, strict=True) if k == whole]
    demand = checked_demand(network, allowed=cells, costs=costs)
    for s, k in zip(sets, rank, strict=True):
        if k == whole:
            continue
        found = repair(Allocation.from_cells(network, sorted(s)), demand, NOT_MINIMAL)
        best = min((len(b - s), sum(costs[c] for c in b)) for b in bases)
        assert (found.moves, found.cost) == best
        assert found.moves == found.bound == whole - k
        assert len(found.removed) == len(found.added) == found.moves
        assert f"{k} of {whole} independent equations" in found.reason


def test_the_nearest_certified_maximal_allocation():
    """From every allocation that is not maximal, as few moves as brute force finds."""
    sets = [set(c) for c in combinations(CELLS, 2)]
    verdict = [
        certify(Problem.of(Allocation.from_cells(RNN, sorted(s))), search=0.0).verdict for s in sets
    ]
    good = [s for s, v in zip(sets, verdict, strict=True) if v == "maximal"]
    demand = checked_demand(RNN, allowed=CELLS)
    for s, v in zip(sets, verdict, strict=True):
        found = repair(Allocation.from_cells(RNN, sorted(s)), demand, MAXIMAL)
        assert found.moves == min(len(s - g) for g in good)
        assert found.is_optimal
        assert (found.moves == 0) == (v == "maximal")


def test_what_was_not_counted_is_not_claimed(monkeypatch):
    """Without time the reason says that nearer allocations were not counted."""
    net = LinearRNN(n=3, T=3, b=1, d=1, m=3)
    cells = [c for c in all_cells(net) if c[0] == "W"]
    diagonal = Allocation.from_cells(net, [("W", i, i) for i in range(3)])
    # The full row is found at once; no count is made in the order of moves.
    monkeypatch.setattr(maximal, "_late", lambda parity, ends: ends == began[0])
    began = [None]
    real = maximal._in_order

    def late(demand, parity, best, p, number, ends):
        began[0] = ends
        return real(demand, parity, best, p, number, ends)

    monkeypatch.setattr(maximal, "_in_order", late)
    cut = repair(diagonal, checked_demand(net, allowed=cells), MAXIMAL)
    monkeypatch.undo()
    assert cut.bound < cut.moves
    assert "not decided" in cut.reason
    assert "not all of them" in cut.proof
    done = repair(diagonal, checked_demand(net, allowed=cells), MAXIMAL)
    assert done.moves == done.bound == 1
    assert done.reason == "its own root count is not odd"
    assert "even root counts" in done.proof


def test_too_few_weights_get_more():
    """Fewer weights than equations: the missing ones are added, none is removed."""
    found = repair(
        Allocation.from_cells(RNN, CELLS[:1]), checked_demand(RNN, allowed=CELLS), NOT_MINIMAL
    )
    assert found.removed == ()
    assert (len(found.added), found.after.size) == (1, 2)


def test_caps_may_ask_for_more_moves():
    """An allocation that exceeds a cap needs more moves than its rank alone; a reason says so."""
    net = LinearRNN(n=4, T=4, b=1, d=1, m=4)
    cells = [c for c in all_cells(net) if c[0] == "W"]
    before = Allocation.rows(net, "W", [0])
    assert repair(before, checked_demand(net, allowed=cells), NOT_MINIMAL).moves == 0
    found = repair(before, checked_demand(net, allowed=cells, caps={"row": 2}), NOT_MINIMAL)
    assert found.moves == found.bound == 2
    assert "2 are needed to satisfy the demands" in found.reason


def test_more_weights_than_equations_keep_their_number():
    """An over-complete minimal allocation keeps its size."""
    net = LinearEstimator(q=5, d=2, m=2)
    before = Allocation.rows(net, "W", [0])
    found = repair(before, checked_demand(net, budget=5), NOT_MINIMAL)
    assert (found.moves, found.after.size) == (2, 5)
    with pytest.raises(InputError, match="is less than the 5 weights"):
        repair(before, checked_demand(net), NOT_MINIMAL)
    with pytest.raises(InputError, match="must be 'not minimal' or 'maximal'"):
        repair(before, checked_demand(net, budget=5), "better")
