"""Solutions at infinity: an odd number of them makes an allocation maximal."""

import math
import random

import numpy as np
import pytest
from scipy.optimize import least_squares

from algebra.arguments.at_infinity import (
    ARGUMENT,
    AtInfinity,
    _LabelSystem,
    _Search,
    leading_parts,
    solution_at_infinity,
)
from algebra.checker.checks import CheckFailed
from algebra.families.verify import verify
from algebra.linalg.primes import random_prime
from algebra.linalg.ranks import modular_rank
from algebra.polynomials.msolve.process import MsolveTimeout
from algebra.systems.root_count import generic_root_count
from matchprob import Allocation, LinearRNN, Problem, draw_instance
from tests.arguments import checked
from tests.plain_data import changed, data_of
from tests.samples import many

CELLS = [("W", 0, 4), ("W", 3, 1), ("W", 3, 3), ("W", 4, 0), ("W", 4, 4)]
# All sub-allocations of three weights have an even number of solutions.
PROBLEM = Problem.of(Allocation.from_cells(LinearRNN(n=5, T=4, b=2, d=3, m=1), CELLS))


@pytest.fixture(scope="module")
def found(msolve):
    place = solution_at_infinity(PROBLEM, 3, 0, 20.0)
    assert place is not None
    return place


@pytest.fixture(scope="module")
def genuine(msolve):
    data = data_of(PROBLEM)
    assert data["verdict"] == "maximal"
    assert "at_infinity" in data["evidence"]
    return data


def system(seed=1):
    rng = random.Random(seed)
    return _LabelSystem(PROBLEM, random_prime(rng), rng)


def test_parts_of_highest_degree_are_independent():
    """For any growths at least as many leading parts have degree e or more as their rank there."""
    labels = system()
    rng = random.Random(7)
    for _ in range(20):
        growth = [rng.randint(-2, 3) for _ in CELLS]
        degrees = labels.monomials @ np.array(growth)
        forms = labels.leading(growth)
        assert len(forms) == labels.rank == 3
        own = []
        for form in forms:
            [degree] = {sum(v * e for v, e in zip(growth, m, strict=True)) for m, _ in form}
            own.append(degree)
        for least in set(degrees.tolist()):
            above = labels.rows[:, degrees >= least]
            assert sum(e >= least for e in own) == modular_rank(above, labels.p)


def test_without_growth_they_are_the_solutions_of_a_part(msolve):
    """Growths of 0 do not change the equations: N of the part that is not fixed."""
    for fixed in ((0, 1), (2, 4)):
        part = Allocation.from_cells(
            PROBLEM.network, [c for k, c in enumerate(CELLS) if k not in fixed]
        )
        assert system().count((0,) * 5, fixed, 10) == generic_root_count(part).value


def test_multiple_solutions_are_not_simple(monkeypatch):
    """Of x² − 2x + 1 and y − 3 both solutions coincide: two with multiplicity, and none that are
    simple."""
    labels = system()
    p = labels.p
    forms = [
        [((2, 0, 0), 1), ((1, 0, 0), p - 2), ((0, 0, 1), 1)],
        [((0, 1, 0), 1), ((0, 0, 1), p - 3)],
    ]
    monkeypatch.setattr(labels, "leading", lambda growth: forms)
    monkeypatch.setattr(labels.rng, "randrange", lambda *ends: 1)
    assert labels.count((0, 0, 1), (2,), 10, distinct=False) == 2
    assert labels.count((0, 0, 1), (2,), 10) is None


class Counts:
    """A label system whose counts take the seconds that are given for each vector."""

    p = 65521

    def __init__(self, seconds):
        self.seconds, self.asked = seconds, []

    def leading(self, growth):
        return [[((k, 0), 1) for k in range(2 + growth[0])]]

    def slices(self, growth, forms):
        return [(0,)]

    def count(self, growth, fixed, seconds, distinct=True):
        self.asked.append((growth[0], seconds))
        if self.seconds[growth[0]] > seconds:
            raise MsolveTimeout
        return 4 if growth[0] < 3 else 7


def test_small_limits_come_first():
    """All vectors are counted with a small limit before one of them is with a larger one."""
    labels = Counts({1: 1.0, 2: 0.1, 3: 1.5, 4: 60.0})
    found = _Search(labels, labels, math.inf).at_ends([(4, 1), (3, 1), (2, 1), (1, 1)])
    assert (found.growth, found.solutions) == ((3, 1), 7)
    first = [k for k, seconds in labels.asked if seconds == 0.25]
    assert sorted(first) == [1, 2, 3, 4]
    # Then those that were not finished, the fewest terms first.
    assert labels.asked[4:] == [(1, 2.0), (3, 2.0), (3, 4.0)]


def test_they_decide_where_no_part_does(genuine):
    """The certificate names growths, counts an odd number, and verifies."""
    assert genuine["evidence"]["at_infinity"]["solutions"] % 2 == 1
    assert "root_count" not in genuine["evidence"]
    assert genuine["generic_root_count"] is None
    checked = verify(genuine)
    assert checked.holds
    assert [c.status for c in checked.checks if c.place == "verdict"] == ["probable"]


def test_instances_have_matches_with_large_weights(found):
    """Least squares finds a match in every random instance."""
    rng = np.random.default_rng(5)
    network = PROBLEM.network
    for index in range(many(48)):
        instance = draw_instance(PROBLEM, 3, index)

        def gap(w, instance=instance):
            weights = {name: np.array(value) for name, value in instance.weights.items()}
            for (name, i, j), value in zip(CELLS, w, strict=True):
                weights[name][i, j] = value
            return (network.forward(weights, instance.X) - instance.labels).ravel()

        size = np.array(found.growth, float)
        assert any(
            np.abs(least_squares(gap, rng.standard_normal(5) * rng.choice([1, 4, 16]) ** size,
                                 xtol=1e-15, ftol=1e-15, gtol=1e-15).fun).max() < 1e-7
            for _ in range(60)
        )  # fmt: skip


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"growth": (1, 1, 1)}, "numbers for"),
        ({"fixed": (0,)}, "fixed"),
        ({"solutions": 2}, "even"),
        ({"growth": (0, 0, 0, 0, 0)}, "counted again"),
        ({"growth": (1, 1, 1, 1, 1)}, "counted again"),
    ],
)
def test_what_is_no_such_place_is_refused(found, change, complaint):
    """Other growths, too few fixed weights, even numbers: none proves anything."""
    own = {"growth": found.growth, "fixed": found.fixed, "solutions": found.solutions, "primes": ()}
    own |= change
    with pytest.raises(CheckFailed, match=complaint):
        checked(ARGUMENT, PROBLEM, AtInfinity(**own), equations=3, seed=4)


def test_forged_certificates_are_refused(genuine):
    """Changed numbers, additional evidence, another network: no such file is accepted."""
    place = genuine["evidence"]["at_infinity"]
    changes = [
        {"solutions": place["solutions"] + 2},
        {"solutions": place["solutions"] + 1},
        {"fixed": [place["fixed"][0]] * 2},
        {"fixed": [0, 9]},
        {"growth": [0] * 5},
        {"growth": [True, *place["growth"][1:]]},
        {"growth": [10**6, *place["growth"][1:]]},
        {"primes": "none"},
    ]
    forged = [
        (("evidence", "whole_column"), 0),
        (("verdict",), "intermediate"),
        (("problem", "learnable", "W", 0, 4), 0),
        *((("evidence", "at_infinity"), place | change) for change in changes),
    ]
    for change in forged:
        assert not verify(changed(genuine, *change)).holds, change


def test_leading_parts_span_the_same_by_both_eliminations(msolve):
    """The search's echelon form and the check's pivots give the same space of leading parts."""
    p = 65521
    system = _LabelSystem(PROBLEM, p, random.Random(2))
    monomials = [tuple(m) for m in system.monomials.tolist()]
    rows = [{m: int(c) for m, c in zip(monomials, row, strict=True) if c} for row in system.rows]
    for growth in ((-1, 2, 0, 2, 0), (1, 0, 0, 1, 0), (0, 0, 1, 2, -1)):
        parts = [leading_parts(rows, growth, p), [dict(f) for f in system.leading(growth)]]
        tables = [
            np.array([[part.get(m, 0) for m in monomials] for part in own], np.int64)
            for own in parts
        ]
        ranks = [modular_rank(table, p) for table in (*tables, np.vstack(tables))]
        assert ranks == [system.rank] * 3
