"""Error bounds of root counts: on small cases, and too small a prime."""

from fractions import Fraction

import pytest

from algebra.linalg.primes import PRIME_COUNT
from algebra.polynomials.msolve.solver import quotient_degree
from algebra.ranks.parametrized import by_parameters
from algebra.ranks.root_count_error import (
    NUMERICAL,
    PROBABLE,
    PROVED,
    UNBOUNDED,
    by_primes,
    by_rank,
    by_trace,
    label_degree,
)
from algebra.systems.instances import modular_core
from algebra.systems.root_count import generic_root_count
from matchprob import Allocation, LinearFeedForward, LinearRNN, Problem
from tests.samples import NET

DIAGONAL = Allocation.from_cells(NET, [("W", 0, 0), ("W", 1, 1)])


def test_a_row_is_proved():
    """A whole row gives linear equations without elimination: N = 1 needs no bound."""
    found = generic_root_count(Allocation.rows(NET, "W", [0])).certainty
    assert (found.kind, found.bound) == (PROVED, 0)
    assert found.to_dict()["error_bound"] == 0


def test_the_diagonal_has_a_number():
    """N = 2 modulo two primes has a bound far below 1, in the text too."""
    found = generic_root_count(DIAGONAL)
    assert found.value == 2
    assert found.certainty.kind == PROBABLE
    assert 0 < found.certainty.bound < Fraction(1, 10**9)
    assert "at most" in found.certainty.text
    assert found.certainty == by_primes(NET, ("W",), 2, 2, 2)


def test_more_primes_are_surer():
    """One prime more multiplies the bound, down to the chance that it is the same prime."""
    one, two, three = (by_primes(NET, ("W",), 2, 2, k).bound for k in (1, 2, 3))
    assert two == one * (one + Fraction(1, PRIME_COUNT))
    assert three == two * (one + Fraction(2, PRIME_COUNT))


@pytest.mark.parametrize(
    ("network", "unknowns"),
    [(LinearRNN(n=12, T=6, b=2, d=4, m=9), 36), (LinearRNN(n=2, T=2, b=1, d=3, m=3), 8)],
)
def test_no_bound_is_no_number(network, unknowns):
    """If no bound below 1 is proved, or the labels depend on each other, there is none."""
    found = by_primes(network, ("W",), unknowns, 5, 2)
    assert (found.kind, found.bound) == (UNBOUNDED, None)
    assert found.to_dict()["error_bound"] is None
    assert "no bound below 1" in found.text


def test_updates_have_a_number():
    """Parameters that change several weights: the same argument, with their degree."""
    problem = Problem(NET, {"W": {"tied": [[1, 0], [0, 2]]}})
    found = generic_root_count(by_parameters(problem).allocation)
    assert found.certainty.kind == PROBABLE
    assert found.certainty.bound >= by_primes(NET, ("W",), 2, 2, 2).bound


def test_degrees_of_labels():
    """W occurs T times in the labels, D and B once; low ranks count twice."""
    net = LinearRNN(n=3, T=4, b=1, d=2, m=2)
    assert label_degree(net, ("W",)) == 4
    assert label_degree(net, ("B", "W", "D")) == 6
    low = by_parameters(Problem(net, {"W": {"lora": 1}})).network
    assert label_degree(low, ("U_W", "V_W")) == 8
    deep = LinearFeedForward(q=2, widths=(3, 3), d=2, m=2)
    assert label_degree(deep, ("W1", "W3")) == 2


def test_numerical_and_ranks():
    """A trace test has no probability; a deficit of rank has its own bound."""
    found = by_trace("1e-14", "1e-9", "0.1")
    assert (found.kind, found.bound) == (NUMERICAL, None)
    assert "1e-14" in found.text
    assert by_rank(Fraction(0)).kind == PROVED
    assert by_rank(Fraction(1, 2**61)).bound == Fraction(1, 2**61)


@pytest.mark.parametrize("p", [5, 7, 11])
def test_a_count_is_never_too_large(p):
    """Modulo small primes, where errors are frequent, finite fibres have N points or fewer."""
    degrees = []
    for seed in range(12):
        core, _ = modular_core(DIAGONAL, p, seed, "B")
        if core.is_linear or not core.equations:
            degrees.append(1)
            continue
        degree = quotient_degree(core.equations).degree
        if degree is not None:
            degrees.append(degree)
    assert degrees
    assert max(degrees) <= 2


def test_numbers_enlarge_the_bound():
    """Coefficients are as large as the measured weights make them; long ones leave no bound."""
    sizes = (0, 60, 10**9)
    found = [by_primes(DIAGONAL.network, ("W",), 2, 2, 2, more_bits=bits) for bits in sizes]
    assert 0 < found[0].bound < found[1].bound < Fraction(1, 10**9)
    assert (found[2].kind, found[2].bound) == (UNBOUNDED, None)
