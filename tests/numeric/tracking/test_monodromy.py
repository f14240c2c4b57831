"""Start systems by monodromy, compared with root counts by elimination."""

import numpy as np
import pytest

from matchprob import Allocation, LinearRNN
from numeric.equations.chain import make_chain
from numeric.tracking.monodromy import GIVEN, INCOMPLETE, find_start, match
from tests.numeric.equations.cases import cases, residual_at
from tests.refusals import refuses

CASES = cases()
DIAGONAL = make_chain(CASES[0][0])


@pytest.mark.parametrize(("allocation", "roots"), CASES, ids=lambda x: str(x))
def test_all_roots_are_found(allocation, roots):
    """The loops reach exactly the number of roots that elimination counts."""
    chain = make_chain(allocation)
    start = find_start(chain, roots)
    assert (start.root_count, start.source) == (roots, GIVEN)
    for root in start.roots:
        assert np.abs(residual_at(chain, start.parameters, root)).max() < 1e-8


def test_too_small_a_count_is_refused():
    """A root count below the true one is an error that says so."""
    refuses("too small", find_start, make_chain(CASES[10][0]), 20)


def test_too_large_a_count_is_incomplete():
    """A root count above the true one is never reached, and the start system says so."""
    start = find_start(DIAGONAL, 3, most_edges=10)
    assert (start.root_count, start.source) == (2, INCOMPLETE)


def test_root_count_must_be_positive():
    """Zero roots means a minimal allocation, not a start system."""
    refuses("at least 1", find_start, DIAGONAL, 0)


def test_same_seed_same_start():
    """Equal seeds give equal start systems; another seed gives another."""
    a, b = find_start(DIAGONAL, 2, 5), find_start(DIAGONAL, 2, 5)
    assert np.array_equal(a.parameters, b.parameters)
    assert np.allclose(a.roots, b.roots)
    assert not np.allclose(a.parameters, find_start(DIAGONAL, 2, 6).parameters)


def test_match_distinguishes_roots():
    """A root matches itself up to rounding, not a near one, and NaN matches none."""
    known = np.array([[1.0, 2.0], [1.0, 2.001], [1e5, 0.0]], complex)
    seen = known[[2, 0]] * (1 + 1e-9)
    assert match(seen, known).tolist() == [2, 0]
    assert match(np.array([[np.nan, 1.0], [3.0, 3.0]]), known).tolist() == [-1, -1]


def test_the_limit_of_edges_stops_the_search():
    """With a limit of one edge the search stops after the three edges of the first two nodes."""
    network = LinearRNN(n=4, T=3, b=1, d=2, m=2)
    cells = [("W", i, i) for i in range(4)]
    start = find_start(make_chain(Allocation.from_cells(network, cells)), 37, most_edges=1)
    assert start.source == INCOMPLETE
    assert start.loops == 3
