"""Counts of larger ideals repeated: another prime, labels in the weights alone."""

import random

import pytest

from algebra.arguments.large_recount import (
    count_by_labels,
    counted_modulo,
    label_equations,
)
from algebra.checker.checks import CheckFailed
from algebra.networks.feedforward import LinearFeedForward
from algebra.networks.recurrent import LinearRNN
from algebra.polynomials.msolve.process import MsolveTimeout
from algebra.polynomials.msolve.solver import quotient_degree
from algebra.problems.allocation import Allocation
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.ranks.jacobian import all_cells
from algebra.systems.forms import preferred_forms
from algebra.systems.instances import modular_core, modular_instance
from tests.samples import P, many


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
