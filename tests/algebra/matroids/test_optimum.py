"""Least-cost bases under caps against all subsets; and over several points."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.matroids.capped import CappedProblem
from algebra.matroids.optimum import optimum, optimum_over_points
from tests.algebra.matroids.by_force import cost_of, least_cost
from tests.samples import P, many


def problem(seed, caps):
    """Seven columns of rank at most three, under one kind of cap for each list of caps."""
    rng = np.random.default_rng(seed)
    systems = [(rng.integers(0, len(cap), 7).tolist(), cap) for cap in caps]
    costs = rng.integers(-3, 9, 7).tolist()
    return CappedProblem(rng.integers(0, 3, (3, 7)), P, systems, costs, 3)


@given(
    st.integers(0, 9999),
    st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=3), min_size=1, max_size=2),
)
@settings(max_examples=many(60), deadline=None)
def test_optima_are_those_of_brute_force(seed, caps):
    """By intersection for one kind of cap and by branches for two; the dual proves the bound."""
    asked = problem(seed, caps)
    found, best = optimum(asked), least_cost(asked)
    assert found.cost == found.bound == best
    assert found.is_infeasible == (best is None)
    assert found.dual.bound(asked) == best
    if best is not None:
        assert asked.keeps_caps(found.elements)
        assert cost_of(asked, found.elements) == best


class Unlucky:
    """The first point shows a false dependence: there the cheapest column is 0."""

    point_error = Fraction(1, 1000)

    def points(self):
        return iter([(P, 0), (P, 1), (P, 2)])

    def problem_at(self, p, number):
        columns = np.array([[1, 0, 1], [0, 1, 1]])
        if number == 0:
            columns[:, 0] = 0
        return CappedProblem(columns, p, [([0, 0, 0], [2])], [1, 2, 5], 2)


@pytest.mark.parametrize(("target", "used"), [(Fraction(1, 2), 1), (Fraction(1, 10**5), 2)])
def test_a_later_point_corrects_an_unlucky_one(target, used):
    """As many points as the error requires; a bound that fails at one of them is dropped."""
    best, points, error = optimum_over_points(Unlucky(), target)
    assert (len(points), error) == (used, Fraction(1, 1000) ** used)
    assert (best.cost, best.bound) == ((7, 7) if used == 1 else (3, 3))
