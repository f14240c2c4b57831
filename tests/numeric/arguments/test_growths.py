"""Growths at the ends of paths to infinity, and verdicts that follow from them."""

import json
import random
from itertools import islice
from math import gcd

import numpy as np
import pytest
from flint import ctx

import matchprob as mp
from algebra.arguments.at_infinity import (
    ARGUMENT,
    AtInfinity,
    _LabelSystem,
    solution_at_infinity,
)
from algebra.checker.checks import CheckFailed
from algebra.linalg.primes import random_prime
from algebra.networks.feedforward import LinearFeedForward
from algebra.networks.recurrent import LinearRNN
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from numeric.arguments.growths import tracked_growths
from numeric.trials.instances import draw_instance
from tests.arguments import checked
from tests.doubles import smallest_error
from tests.plain_data import changed


def recurrent(cells, **sizes):
    return Problem.of(Allocation.from_cells(LinearRNN(**sizes), [("W", *cell) for cell in cells]))


# Recurrent nets 9 and 82 of `benchmarks/bench_undecided.py`, with ten and six equations: parts have
# hundreds of solutions, or more than can be counted.
LARGE = recurrent(
    [(0, 1), (0, 2), (0, 5), (1, 4), (1, 6), (2, 4), (3, 1), (5, 1), (5, 5), (5, 7), (6, 3)],
    n=8, T=4, b=2, d=2, m=5,
)  # fmt: skip
SMALL = recurrent(
    [(0, 3), (0, 7), (1, 7), (2, 3), (3, 2), (4, 3), (5, 1), (7, 4)], n=8, T=5, b=2, d=3, m=2
)


@pytest.fixture(scope="module")
def genuine(msolve):
    with pytest.MonkeyPatch.context() as patch:
        # As if no part could be counted.
        patch.setattr("algebra.arguments.sub_allocation._counted", lambda *_: None)
        found = mp.certify(SMALL, timeout=60, seed=4)
    assert found.verdict == "maximal"
    data = json.loads(found.to_json())
    assert "at_infinity" in data["evidence"]
    return data


def test_factors_of_one_product_grow_in_opposite_ways():
    """Of W2 W1 x = y one factor grows, and the other one decreases as fast."""
    net = LinearFeedForward(q=1, widths=[1], d=1, m=1)
    problem = Problem(net, {"W1": [[1]], "W2": [[1]]})
    assert set(tracked_growths(problem, 1, 0)) == {(1, -1), (-1, 1)}


def test_leading_parts_at_the_ends_have_solutions():
    """Modulo a prime, at another instance, no leading part is a single term."""
    rng = random.Random(3)
    system = _LabelSystem(SMALL, random_prime(rng), rng)
    found = list(islice(tracked_growths(SMALL, 6, 1), 3))
    assert len(set(found)) == 3
    for growth in found:
        assert len(growth) == len(SMALL.allocation.cells)
        assert gcd(*growth) == 1
        assert min(map(len, system.leading(growth))) > 1


def test_the_seed_determines_them():
    """Growths of a seed are the same every time; the precision of numbers is left as it was."""
    bits = ctx.prec
    first, again = (next(tracked_growths(SMALL, 6, 4)) for _ in range(2))
    assert first == again
    assert ctx.prec == bits


def test_they_decide_where_no_part_is_counted(genuine):
    """The verdict is maximal by an odd number of solutions at infinity, and verifies."""
    assert genuine["evidence"]["at_infinity"]["solutions"] % 2 == 1
    assert mp.verify(genuine).holds


@pytest.mark.long
def test_a_part_of_which_n_is_counted_says_the_same():
    """The verdict is maximal without growths too."""
    assert mp.certify(SMALL, timeout=60).verdict == "maximal"


def test_random_instances_have_matches():
    """Least squares finds a match in every random instance."""
    network, rng = SMALL.network, np.random.default_rng(2)
    places = tuple(np.array([cell[1:] for cell in SMALL.allocation.cells]).T)
    for index in range(20):
        instance = draw_instance(SMALL, 3, index)

        def errors(w, instance=instance):
            W = np.broadcast_to(instance.weights["W"], (len(w), 8, 8)).astype(w.dtype)
            W[:, *places] = w
            weights = {**instance.weights, "W": W}
            X = np.broadcast_to(instance.X, (len(w), *instance.X.shape))
            states = 0
            for t in range(network.T):
                states = W @ states if t else states
                states = states + weights["B"] @ X[:, 2 * t : 2 * t + 2]
            return (weights["D"] @ W @ states - instance.labels).reshape(len(w), -1)

        scales = np.repeat([1, 4, 16], 40)[:, None]
        starts = scales * rng.standard_normal((120, len(places[0])))
        assert smallest_error(errors, starts) < 1e-7 * np.abs(instance.labels).max()


def test_growths_of_several_sizes_are_checked(msolve):
    """Three solutions where the weights grow like powers from 1 to 4; other claims are refused."""
    growth = (2, 4, 2, 3, 3, 2, 1, 2, 2, 4, 3)
    found = solution_at_infinity(LARGE, 10, 0, 60.0, [growth])
    assert (found.growth, found.solutions) == (growth, 3)
    said = checked(ARGUMENT, LARGE, found, equations=10, seed=5)[1]
    assert [status for _, status, _ in said] == ["probable"]
    for change in (
        {"solutions": 1},
        {"solutions": 5},
        # A weight of growth 4 counts each solution four times, one of growth 3 three times.
        {"fixed": (1,)},
        {"fixed": (3,)},
        {"growth": (2, 4, 2, 3, 3, 2, 1, 2, 2, 4, 4)},
        {"growth": (*growth[:-1], 1)},
    ):
        claimed = {"growth": growth, "fixed": (6,), "solutions": 3, "primes": ()} | change
        with pytest.raises(CheckFailed, match="counted again"):
            checked(ARGUMENT, LARGE, AtInfinity(**claimed), equations=10, seed=5)


def test_growths_that_a_file_may_not_have_are_not_counted():
    """Growths above the largest one of certificates, and no growths at all, decide nothing."""
    assert solution_at_infinity(SMALL, 6, 0, 10.0, [(17, *(1,) * 7)]) is None
    assert solution_at_infinity(SMALL, 6, 0, 10.0, []) is None


def test_forged_growths_are_refused(genuine):
    """Changed growths and numbers of a certificate that paths made: no such file is accepted."""
    place = genuine["evidence"]["at_infinity"]
    for key, value in (
        ("growth", [v + 1 for v in place["growth"]]),
        ("growth", [17 * v for v in place["growth"]]),
        ("growth", [-v for v in place["growth"]]),
        ("solutions", place["solutions"] + 2),
        ("fixed", place["fixed"][:1]),
        ("fixed", [*place["fixed"], 2]),
    ):
        assert not mp.verify(changed(genuine, ("evidence", "at_infinity", key), value)).holds
