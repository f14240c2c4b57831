"""Critical points of the distance of students from a point."""

import copy
import json
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq

import matchprob as mp
from algebra.arguments.critical_points import (
    ARGUMENT,
    CriticalPoints,
    critical_equations,
    instance_without_real_points,
    number_of_critical_points,
    stationary_equations,
)
from algebra.checker.checks import CheckFailed
from algebra.families.verify import verify
from algebra.polynomials.msolve.solver import real_roots
from algebra.polynomials.rings import RationalField
from algebra.problems.allocation import Allocation
from algebra.systems.instances import rational_instance
from matchprob import LinearRNN, Problem
from tests.arguments import checked
from tests.plain_data import changed, data_of
from tests.samples import many

# 27 critical points, an odd number.
ODD = Problem(LinearRNN(n=2, T=3, b=2, d=1, m=3), {"W": [[1, 1], [1, 1]]})
# Two critical points: D and W have a hyperbola in common, or none.
CELLS = [("W", 0, 2), ("D", 0, 2), ("D", 0, 1)]
EVEN = Problem.of(Allocation.from_cells(LinearRNN(n=3, T=4, b=1, d=2, m=1), CELLS))


@pytest.fixture(scope="module")
def found(msolve):
    return number_of_critical_points(EVEN, 2, 0, 10.0)


@pytest.fixture(scope="module")
def genuine(msolve):
    return data_of(EVEN)


def test_an_odd_number_is_an_argument_for_the_maximum(msolve):
    """It is counted again, and each rational instance has a real critical point."""
    counted = number_of_critical_points(ODD, 3, 0, 10.0)
    assert (counted.number, counted.verdict, len(counted.primes)) == (27, "maximal", 2)
    assert checked(ARGUMENT, ODD, counted, equations=3)[0] == "probable"
    for index in range(many(8)):
        student, teacher, X = rational_instance(ODD, 0, index)
        Y = ODD.network.forward(teacher, X)
        system = critical_equations(ODD.allocation, student, X, Y, RationalField())
        solved = real_roots(system, timeout=20)
        assert solved.complex == 27
        assert solved.roots


def test_the_nearest_student_is_one_of_them(msolve):
    """For w² = c the critical points of the distance from a are ± √c, whatever a is."""
    net = LinearRNN(n=1, T=2, b=1, d=1, m=1)
    one = np.array([[fmpq(1)]], dtype=object)
    X = np.array([[fmpq(1)], [fmpq(0)]], dtype=object)
    chosen = Allocation.from_cells(net, [("W", 0, 0)])
    weights = {"W": 5 * one, "B": one, "D": one}
    for square, real in ((9, 2), (-9, 0)):
        system = critical_equations(chosen, weights, X, square * one, RationalField())
        solved = real_roots(system)
        assert (solved.complex, len(solved.roots)) == (2, real)


def test_an_instance_without_real_ones(genuine):
    """Its certificate verifies, and its numbers are what they are said to be."""
    assert genuine["verdict"] == "intermediate"
    evidence = genuine["evidence"]["critical_points"]
    assert evidence["number"] == 2
    checked = verify(genuine)
    assert checked.holds
    assert [c.status for c in checked.checks if c.place == "verdict"] == ["probable"]
    instance = evidence["instance"]

    def values(name):
        rows = instance[name]
        return {n: np.array([[float(Fraction(x)) for x in r] for r in m]) for n, m in rows.items()}

    weights, teacher = values("weights"), values("teacher")
    X = np.array([[float(Fraction(x)) for x in row] for row in instance["X"]])
    Y = EVEN.network.forward(teacher, X)
    rng, least = np.random.default_rng(0), np.inf
    from scipy.optimize import least_squares

    def gap(w):
        own = {name: value.copy() for name, value in weights.items()}
        for (name, i, j), value in zip(CELLS, w, strict=True):
            own[name][i, j] = value
        return (EVEN.network.forward(own, X) - Y).ravel()

    for scale in (0.1, 1, 10, 100) * 10:
        least = min(least, np.abs(least_squares(gap, scale * rng.standard_normal(3)).fun).max())
    assert least > 1e-3


def test_the_number_does_not_depend_on_samples(msolve):
    """Samples beyond those that determine all labels change nothing."""
    numbers = {
        number_of_critical_points(
            Problem(LinearRNN(n=2, T=3, b=1, d=1, m=m), {"W": [[1, 1], [1, 1]]}), 3, 0, 10.0
        ).number
        for m in (3, 4, 6)
    }
    assert numbers == {4}


def test_where_the_theorem_does_not_apply(msolve):
    """Labels that are not free, too many unknowns, and exact numbers."""
    narrow = mp.LinearFeedForward(q=3, widths=(1,), d=3, m=3)
    every = {"W1": [[1, 1, 1]], "W2": [[1], [1], [1]]}
    assert number_of_critical_points(Problem(narrow, every), 5, 0, 5.0) is None
    large = Problem(LinearRNN(n=6, T=2, b=2, d=3, m=4), {"W": np.ones((6, 6), int)})
    assert number_of_critical_points(large, 12, 0, 5.0) is None
    assert number_of_critical_points(ODD, 3, 0, 0.0) is None
    with pytest.raises(CheckFailed, match="does not apply"):
        checked(ARGUMENT, large, CriticalPoints(1, ()), equations=12)


def test_too_many_points_are_not_solved(msolve, found):
    """The attempts say how many there are."""
    many = CriticalPoints(100, found.primes)
    assert instance_without_real_points(EVEN, many, 0, 5.0) == (
        None, "100 critical points of the distance",
    )  # fmt: skip
    nothing, text = instance_without_real_points(EVEN, found, 0, 0.0)
    assert nothing is None
    assert "each of 0 instances" in text


def _forgeries(data):
    """Files that are false or prove nothing, by name."""
    inside = ("evidence", "critical_points")
    instance = (*inside, "instance")
    rational = copy.deepcopy(data["evidence"]["critical_points"]["instance"])
    w = rational["parametrization"]["w"]
    yield "another number", changed(data, (*inside, "number"), 4)
    yield "an odd number", changed(data, (*inside, "number"), 3)
    yield "no instance", changed(data, instance, None)
    yield "maximal", changed(data, ("verdict",), "maximal")
    yield (
        "other points",
        changed(data, (*instance, "parametrization", "w"), [str(-int(w[0])), *w[1:]]),
    )
    yield (
        "too few coordinates",
        changed(
            data,
            (*instance, "parametrization", "numerators"),
            rational["parametrization"]["numerators"][:-1],
        ),
    )
    yield "another point", changed(data, (*instance, "weights", "W", 0, 2), "7/8")
    yield "another fixed weight", changed(data, (*instance, "weights", "B", 0, 0), "29/8")
    yield "another teacher", changed(data, (*instance, "teacher", "D", 0, 0), "29/8")
    yield "other samples", changed(data, (*instance, "X", 3, 0), "29/8")
    yield "a count beside it", changed(data, ("evidence", "definite_form"), {"form": [["1"]]})


def test_forged_files_are_refused(genuine):
    """None is accepted, whatever is changed."""
    accepted = [name for name, forged in _forgeries(genuine) if verify(forged).holds]
    assert not accepted
    assert json.dumps(genuine)


def test_words_are_for_people(genuine):
    """The certificate explains what the instance shows."""
    found = mp.certify(EVEN, timeout=30)
    assert found.verdict == "intermediate"
    assert "nearest to a given point" in str(found.explain())


@pytest.mark.parametrize("problem", [ODD, EVEN])
def test_search_and_check_write_the_same_equations(problem):
    """Labels and forces by elimination's system, and as derivatives of one function."""
    student, teacher, X = rational_instance(problem, 0, 0)
    Y = problem.network.forward(teacher, X)
    one = critical_equations(problem.allocation, student, X, Y, RationalField())
    other = stationary_equations(problem.allocation, student, X, Y, RationalField())
    assert len(one) == len(other) == problem.allocation.size + Y.size
    assert [f.to_dict() for f in one] == [f.to_dict() for f in other]
