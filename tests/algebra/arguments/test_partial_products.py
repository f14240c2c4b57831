"""Students with fixed entries of products of matrices: an odd number makes MP = 1."""

import random

import numpy as np
import pytest
from scipy.optimize import least_squares

from algebra.arguments.partial_products import (
    ARGUMENT,
    FixedProducts,
    _Instance,
    fixed_products,
)
from algebra.checker.checks import CheckFailed
from algebra.families.verify import verify
from algebra.linalg.primes import random_prime
from algebra.problems.allocation import Allocation
from algebra.systems.root_count import generic_root_count
from matchprob import LinearFeedForward, LinearRNN, Problem, draw_instance
from tests.arguments import checked
from tests.plain_data import changed, data_of
from tests.samples import LONG

ALL = {"W": [[1, 1], [1, 1]]}
# All sub-allocations of three weights have an even number of solutions.
PROBLEM = Problem(LinearRNN(n=2, T=3, b=2, d=1, m=3), ALL)
# The same, with one student once an entry of D W is fixed.
ONE = Problem(LinearRNN(n=2, T=3, b=1, d=1, m=4), ALL)
# Factor 0 is B, 1 to 3 are W, 4 is D.
DW = (3, 4, 0, 0)


@pytest.fixture(scope="module")
def found(msolve):
    fixed = fixed_products(PROBLEM, 3, 0, 20.0)
    assert fixed is not None
    return fixed


def instance(problem, seed=1):
    rng = random.Random(seed)
    return _Instance(problem, random_prime(rng), rng)


@pytest.mark.parametrize("problem", [PROBLEM, ONE])
def test_parts_do_not_decide(msolve, problem):
    """All sub-allocations have even N."""
    cells = problem.allocation.cells
    for k in range(4):
        part = Allocation.from_cells(problem.network, [*cells[:k], *cells[k + 1 :]])
        assert generic_root_count(part).value % 2 == 0


@pytest.mark.parametrize("problem", [PROBLEM, ONE])
def test_they_decide_and_verify(msolve, problem):
    """The certificate names entries, counts an odd number, and verifies."""
    data = data_of(problem)
    assert data["verdict"] == "maximal"
    assert data["evidence"]["partial_products"]["solutions"] % 2 == 1
    assert "root_count" not in data["evidence"]
    checked = verify(data)
    assert checked.holds
    assert [c.status for c in checked.checks if c.place == "verdict"] == ["probable"]


def test_counts_do_not_depend_on_the_instance(msolve):
    """M of each entry is the same at two instances modulo different primes."""
    one, other = instance(PROBLEM, 1), instance(PROBLEM, 2)
    counts = {entries: one.count(entries, 10) for entries in one.choices(1, random.Random(0))}
    assert counts[(DW,)] == 5
    assert len(counts) > 8
    assert all(other.count(entries, 10) == number for entries, number in counts.items())


def test_products_are_those_of_the_factors():
    """W B, W², D W, and the labels' equations, at the student that gives the labels."""
    own = instance(ONE)
    assert [len(own.factors), own.learning] == [5, [False, True, True, True, False]]
    B, W, D = own.factors[0], own.factors[1], own.factors[4]
    assert (own.product(0, 1) == W @ B).all()
    assert (own.product(1, 2) == W @ W).all()
    assert (own.product(2, 4) == D @ W @ W).all()
    assert all(equation(*own.root) == 0 for equation in own.labels)


def test_layers_have_products_too(msolve):
    """A deep linear network: factors are the layers, and one matrix alone is no product."""
    net = LinearFeedForward(q=3, widths=(2, 2), d=2, m=2)
    cells = [("W1", 0, 0), ("W1", 1, 2), ("W2", 0, 1), ("W2", 1, 0), ("W3", 0, 0)]
    own = instance(Problem.of(Allocation.from_cells(net, cells)))
    assert len(own.factors) == 3
    assert own.has((0, 1, 1, 2))
    assert own.has((1, 2, 1, 1))
    for entry in (
        (0, 0, 0, 0),
        (0, 2, 0, 0),
        (0, 1, 2, 0),
        (0, 1, 0, 3),
        (2, 1, 0, 0),
        (1, 3, 0, 0),
    ):
        assert not own.has(entry)
    # Four labels, five weights.
    assert fixed_products(Problem.of(Allocation.from_cells(net, cells)), 4, 0, 20.0) is not None


def test_two_surplus_weights_fix_two_entries(msolve):
    """r − ρ = 2: pairs of different entries."""
    net = LinearRNN(n=2, T=2, b=2, d=1, m=2)
    problem = Problem(net, ALL)
    fixed = fixed_products(problem, 2, 0, 20.0)
    assert fixed is not None
    assert len(set(fixed.entries)) == 2
    status, said = checked(ARGUMENT, problem, fixed, equations=2, seed=3)
    assert status == "probable"
    assert said


@pytest.mark.parametrize("problem", [PROBLEM, ONE])
def test_instances_have_matches(problem):
    """Least squares finds a match in every random instance."""
    rng, network = np.random.default_rng(5), problem.network
    for index in range(60 if LONG else 3):
        drawn = draw_instance(problem, 3, index)

        def gap(w, drawn=drawn):
            weights = {**drawn.weights, "W": w.reshape(2, 2)}
            return (network.forward(weights, drawn.X) - drawn.labels).ravel()

        assert any(
            np.abs(
                least_squares(gap, rng.standard_normal(4) * scale, xtol=1e-15, ftol=1e-15,
                              gtol=1e-15, max_nfev=2000).fun
            ).max() < 1e-7
            for scale in (1, 4, 0.3, 16) * 25
        ), index  # fmt: skip


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"entries": ()}, "0 entries are fixed"),
        ({"entries": (DW, DW)}, "2 entries are fixed"),
        ({"entries": ((0, 0, 0, 0),)}, "no entry of a partial product"),
        ({"entries": ((0, 4, 0, 0),)}, "no entry of a partial product"),
        ({"entries": ((3, 4, 1, 0),)}, "no entry of a partial product"),
        ({"entries": ((0, 1, 0, 0),), "solutions": 5}, "counted again"),
        ({"solutions": 4}, "even"),
        ({"solutions": 3}, "counted again"),
    ],
)
def test_forged_entries_are_refused(msolve, change, complaint):
    """Other entries and numbers prove nothing, and the complaint says why."""
    own = {"entries": (DW,), "solutions": 5, "primes": ()} | change
    with pytest.raises(CheckFailed, match=complaint):
        checked(ARGUMENT, PROBLEM, FixedProducts(**own), equations=3, seed=4)


def test_equal_entries_are_no_two_conditions(msolve):
    """Twice the same entry leaves infinitely many students."""
    net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    claimed = FixedProducts(((0, 1, 0, 0),) * 2, 1, ())
    with pytest.raises(CheckFailed, match="infinitely many"):
        checked(ARGUMENT, Problem(net, ALL), claimed, equations=2, seed=4)


def test_it_stands_alone(msolve):
    """A file with another argument beside it, or for another verdict, is refused."""
    data = data_of(ONE)
    with_count = changed(data, ("evidence", "whole_column"), 0)
    assert not verify(with_count).holds
    assert not verify(changed(data, ("verdict",), "intermediate")).holds
    assert not verify(changed(data, ("verdict",), "undecided")).holds
