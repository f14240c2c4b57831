"""Exact matching of ReLU normalization networks compared with verdicts and enumeration."""

import time
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from flint import fmpq
from scipy.optimize import linprog

from algebra.plugins.normalization import matching
from algebra.plugins.normalization.matching import applies_to, match_instance
from algebra.problems.intervals import Interval
from algebra.problems.random_cells import RandomCells
from matchprob import Constraints, NormNet, Problem, draw_instance
from tests.refusals import refuses
from tests.samples import many

EVERYTHING = ("g1", "g2", "b1", "b2")


def problem(net, names):
    """All weights of some matrices learn."""
    return Problem(net, dict.fromkeys(names, "all"))


def answers(case, count=10, **limits):
    """Statuses of the first instances."""
    out = []
    for k in range(count):
        weights, X, Y = draw_instance(case, 0, k).exact
        out.append(match_instance(case.allocation, weights, X, Y, **limits))
    return out


def by_enumeration(case, index, seed=0):
    """Scales of the hidden units only: every pattern's linear program, by HiGHS."""
    instance = draw_instance(case, seed, index)
    bounds = (None, None)
    if instance.box:
        ends = [(i.low, i.high) for i in instance.box.values()]
        if any(i.is_empty for i in instance.box.values()):
            return "unmatched"
        bounds = [[None if e is None else float(e.p) / float(e.q) for e in pair] for pair in ends]
    W, X, Y = instance.weights, instance.X, instance.labels
    a, b = W["W1"] @ X, W["b1"]
    w, m = a.shape
    goal = (Y - W["b2"]) / W["g2"]
    for pattern in product((0, 1), repeat=w * m):
        P = np.array(pattern).reshape(w, m)
        A, c = [], []
        for k, j in product(range(len(Y)), range(m)):
            A.append(W["W2"][k] * P[:, j] * a[:, j])
            c.append(goal[k, j] - (W["W2"][k] * P[:, j] * b[:, 0]).sum())
        G, h = [], []
        for i, j in product(range(w), range(m)):
            sign = 1 if P[i, j] else -1
            row = np.zeros(w)
            row[i] = -sign * a[i, j]
            G.append(row)
            h.append(sign * b[i, 0])
        found = linprog(np.zeros(w), A_ub=G, b_ub=h, A_eq=A, b_eq=c, bounds=bounds)
        if found.status == 0:
            return "matched"
    return "unmatched"


@pytest.mark.parametrize(("d", "w", "m"), [(1, 2, 2), (2, 4, 2), (1, 3, 3)])
def test_agrees_with_enumeration(d, w, m):
    """Scales of hidden units alone: branch and bound agrees with all patterns together."""
    case = problem(NormNet((d, d), (w,), m), ("g1",))
    count = many(5 if w * m > 6 else 10)
    found = [match.status for match in answers(case, count)]
    assert found == [by_enumeration(case, k) for k in range(count)]


@pytest.mark.parametrize(("d", "w", "m"), [(1, 3, 2), (2, 4, 1)])
def test_constraints_agree_with_enumeration(d, w, m):
    """Hidden scales in intervals: it agrees with all patterns' programs with these bounds."""
    seen = set()
    rules = [{"max_abs": 1.5}, {"max_abs": 5.0, "sign": "keep"}, {"max_change": 1.0}, {"sign": "-"}]
    for rule in rules:
        case = problem(NormNet((d, d), (w,), m), ("g1",))
        case = replace(case, constraints=Constraints(**rule))
        for k in range(many(20 if w * m > 4 else 24, 5)):
            instance = draw_instance(case, 1, k)
            weights, X, Y = instance.exact
            found = match_instance(case.allocation, weights, X, Y, box=instance.box)
            assert found.status == by_enumeration(case, k, 1)
            seen.add(found.status)
    assert seen == {"matched", "unmatched"}


@pytest.mark.parametrize("names", [("g1", "b1"), ("g2", "b2"), EVERYTHING, ("g1", "g2", "b2")])
def test_matches_that_are_planted_are_found_in_their_boxes(names):
    """Labels of a student inside its box are matched, and the match lies in the box.

    Boxes about another student rarely contain matches; those found lie in them too.
    """
    rng = np.random.default_rng(5)
    missed = 0
    for k in range(many(20)):
        # Many samples: few other students give the same labels.
        case = problem(NormNet((1, 1), (2,), 4 if k % 2 else 2), names)
        weights, X, _ = draw_instance(case, 3, k).exact
        student = {name: value.copy() for name, value in weights.items()}
        for name, i, j in case.allocation.cells:
            student[name][i, j] = fmpq(int(rng.integers(-12, 13)) * 2 + 1, 8)
        Y = case.network.forward(student, X)
        if len({str(y) for y in Y[0]}) == 1:
            continue
        for width, shift in ((fmpq(1, 100), 0), (fmpq(1), 0), (fmpq(1, 4), 1)):
            box = {
                (n, i, j): Interval(student[n][i, j] + shift, student[n][i, j] + shift + width)
                for n, i, j in case.allocation.cells
            }
            found = match_instance(case.allocation, weights, X, Y, box=box)
            if shift:
                missed += found.status == "unmatched"
            else:
                assert found.status == "matched"
            if found.status == "matched":
                assert all(found.weights[n][i, j] in box[n, i, j] for n, i, j in box)
                assert (case.network.forward(found.weights, X) == Y).all()
    assert missed


def test_an_output_scale_of_one_sign():
    """Signs of output scales are those in the intervals; a scale fixed at 0 gives no match."""
    case = problem(NormNet((1, 1), (2,), 3), ("g1", "g2", "b1", "b2"))
    weights, X, Y = draw_instance(case, 0, 0).exact
    for low, high in ((None, fmpq(-1, 10)), (fmpq(1, 10), None), (fmpq(2), fmpq(2))):
        box = {("g2", 0, 0): Interval(low, high)}
        found = match_instance(case.allocation, weights, X, Y, box=box)
        assert found.status == "matched"
        assert found.weights["g2"][0, 0] in box["g2", 0, 0]
    pinned = {("g2", 0, 0): Interval(fmpq(0), fmpq(0))}
    assert match_instance(case.allocation, weights, X, Y, box=pinned).status == "unmatched"
    empty = {("b1", 0, 0): Interval(fmpq(1), fmpq(0))}
    assert match_instance(case.allocation, weights, X, Y, box=empty).status == "unmatched"


@pytest.mark.parametrize(
    ("net", "names", "status"),
    [
        (NormNet.square(2, 1, 3, 3), EVERYTHING, "matched"),
        (NormNet.square(2, 1, 4, 3), ("g1", "b1", "b2"), "matched"),
        (NormNet.square(2, 1, 1, 2), ("g1", "g2"), "unmatched"),
        (NormNet.square(2, 1, 3, 3), ("g1", "b2"), "unmatched"),
    ],
)
def test_agrees_with_verdicts(net, names, status):
    """All instances of maximal allocations are matched, and none of minimal ones."""
    assert {match.status for match in answers(problem(net, names), many(8))} == {status}


def test_matches_give_the_labels():
    """Intermediate allocations have both kinds of instances; the network checks each match."""
    case = problem(NormNet.square(2, 1, 3, 2), ("g1", "g2"))
    found = answers(case, 12)
    assert {match.status for match in found} == {"matched", "unmatched"}
    for k, match in enumerate(found):
        if match.weights is not None:
            instance = draw_instance(case, 0, k)
            floats = {
                name: np.array([[float(v.p) / float(v.q) for v in row] for row in value])
                for name, value in match.weights.items()
            }
            assert instance.residual(floats) < 1e-8
            assert np.array_equal(floats["W1"], instance.weights["W1"])


def test_ordinary_weights():
    """Cells of W1, or of W2, instead of scales; both at a unit are refused."""
    net = NormNet.square(2, 1, 3, 2)
    assert {m.status for m in answers(problem(net, ("W2",)), 6)} == {"matched", "unmatched"}
    assert {m.status for m in answers(problem(net, ("W1", "b2")), 6)} <= {"matched", "unmatched"}
    assert not applies_to(problem(net, ("W1", "g1")).allocation)
    assert not applies_to(problem(net, ("W2", "g1")).allocation)
    assert not applies_to(problem(NormNet.square(2, 2, 3, 2), ("g1",)).allocation)
    assert not applies_to(problem(NormNet.square(2, 1, 3, 2, "linear"), ("g1",)).allocation)
    mixed = Problem(net, {"W2": [[1, 0, 0], [1, 0, 0]], "g1": [[0], [1], [1]], "b2": "all"})
    assert applies_to(mixed.allocation)
    assert {m.status for m in answers(mixed, 4)} <= {"matched", "unmatched"}


@pytest.mark.parametrize(
    "names", [("g1", "g2"), ("g1", "b1", "b2"), ("W1", "g2"), ("b1", "g2"), ("W2", "b2")]
)
def test_units_by_their_ends_and_by_unknowns_decide_alike(monkeypatch, names):
    """Combinations of vertices and rays of a unit are the (u, v) of its parameters."""
    learn = {name: RandomCells(3) if name[0] == "W" else "all" for name in names}
    case = Problem(NormNet.square(2, 1, 2, 2), learn)
    drawn = [draw_instance(case, 0, k) for k in range(5)]

    def found():
        return [match_instance(i.allocation, *i.exact).status for i in drawn]

    by_ends = found()
    monkeypatch.setattr(matching, "_MOST_ENDS", 0)
    assert found() == by_ends


def test_constant_labels_are_left_open():
    """An output of constant labels could be matched by scale 0: then "unmatched" is not claimed."""
    case = problem(NormNet((1, 1), (1,), 2), ("g2",))
    weights, X, _ = draw_instance(case, 0, 0).exact
    weights["W1"][0, 0], weights["g1"][0, 0], weights["b1"][0, 0] = fmpq(1), fmpq(1), fmpq(9)
    Y = np.array([[weights["b2"][0, 0]] * 2], dtype=object)
    assert match_instance(case.allocation, weights, X, Y).status == "undetermined"


def test_frozen_output_scale_zero():
    """With a frozen scale 0 only constant labels are matched."""
    case = problem(NormNet((1, 1), (2,), 2), ("g1", "b2"))
    weights, X, Y = draw_instance(case, 0, 0).exact
    weights["g2"][0, 0] = fmpq(0)
    assert match_instance(case.allocation, weights, X, Y).status == "unmatched"
    same = np.array([[fmpq(3)] * 2], dtype=object)
    found = match_instance(case.allocation, weights, X, same)
    assert found.status == "matched"
    assert found.weights["b2"][0, 0] == 3


def test_limits_and_refusals():
    """A node limit leaves the instance undecided; other problems are refused."""
    case = problem(NormNet.square(2, 1, 3, 2), ("g1", "g2"))
    assert {m.status for m in answers(case, 6, most_nodes=1)} == {"undetermined"}
    deep = problem(NormNet.square(2, 2, 3, 2), ("g1",))
    weights, X, Y = draw_instance(deep, 0, 0).exact
    refuses("depth 1", match_instance, deep.allocation, weights, X, Y)


def test_the_time_limit_holds_inside_a_linear_program():
    """A program of hundreds of exact pivots ends at the limit, and decides nothing."""
    case = problem(NormNet.square(d=4, depth=1, width=16, m=8), ("g1", "g2"))
    start = time.monotonic()
    assert [match.status for match in answers(case, 1, seconds=1.0)] == ["undetermined"]
    assert time.monotonic() - start < 30
