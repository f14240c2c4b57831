"""Charts of all real weights, and the equations in them."""

from fractions import Fraction
from math import tanh

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import matchprob as mp
from algebra.families.activations.charts import (
    ChartEquations,
    ChartRing,
    charts,
    first_box,
    linear_groups,
)
from algebra.programs.homogeneous import limit_of

GROUPS = ((0, 2), (1,))


def _coordinates(weights, groups, chart):
    """Coordinates of weights in a chart, and τ of each group; None if they are not in it."""
    values, taus = list(weights), [None] * len(groups)
    for g, (group, largest) in enumerate(zip(groups, chart, strict=True)):
        if largest is None:
            continue
        q, sign = largest
        if weights[q] * sign <= 0:
            return None
        taus[g] = 1 / abs(weights[q])
        for k in group:
            values[k] = weights[k] * taus[g]
    box = first_box(groups, chart)
    for k, (low, high) in enumerate(box):
        g = next(i for i, group in enumerate(groups) if k in group)
        at = taus[g] if chart[g] is not None and chart[g][0] == k else values[k]
        if not low <= at <= high:
            return None
    return values, taus


@given(st.lists(st.fractions(-100, 100), min_size=3, max_size=3))
def test_every_weight_is_in_a_chart(weights):
    """All of R^r is covered; charts overlap on their boundaries only."""
    inside = [c for c in charts(GROUPS) if _coordinates(weights, GROUPS, c) is not None]
    assert inside
    sizes = [max(abs(weights[k]) for k in group) for group in GROUPS]
    distinct = all(abs(a) != abs(b) for a, b in ((weights[0], weights[2]),))
    if distinct and Fraction(4) not in sizes:
        assert len(inside) == 1


class _Tanh:
    def values(self, a):
        return np.frompyfunc(lambda x: tanh(limit_of(x)), 1, 1)(a)

    def slopes(self, a, z):
        return np.frompyfunc(lambda y: 1 - y * y, 1, 1)(z)


RING = ChartRing(lambda a, b: a / b, {"tanh": _Tanh()})


@pytest.mark.parametrize("cells", [
    [("W", 0, 0), ("W", 0, 1), ("c", 0, 0)],
    [("W", 0, 0), ("W", 1, 1), ("B", 0, 0)],
    [("D", 0, 0), ("W", 1, 0), ("e", 0, 0)],
])  # fmt: skip
def test_equations_in_charts_are_those_of_the_weights(cells):
    """Residuals agree with the network in every chart, derivatives with differences."""
    net = mp.RNN(n=2, T=2, b=1, d=1, m=3, activation="tanh", biases=True)
    rng = np.random.default_rng(3)
    plain = {name: rng.normal(size=shape) for name, shape in net.shapes.items()}
    X = rng.normal(size=net.input_shape)
    equations = ChartEquations(
        net, cells, {n: w.astype(object) for n, w in plain.items()}, X.astype(object), RING
    )
    zero, seen = [0.0] * 3, 0
    for chart in charts(equations.groups):
        weights = rng.uniform(-3, 3, 3)
        for group, largest in zip(equations.groups, chart, strict=True):
            if largest is not None:
                weights[list(group)] *= 2
                weights[largest[0]] = largest[1] * 7.0
        values, taus = _coordinates(weights.tolist(), equations.groups, chart)
        student = {name: value.copy() for name, value in plain.items()}
        for (name, i, j), w in zip(cells, weights, strict=True):
            student[name][i, j] = w
        found = [limit_of(f) for f in equations.residuals(equations.unknowns(values, taus), zero)]
        assert found == pytest.approx(net.forward(student, X).ravel(), rel=1e-9, abs=1e-12)
        by_weight, by_scale = equations.derivatives(equations.unknowns(values, taus), taus)
        for k in range(3):
            g = next(i for i, group in enumerate(equations.groups) if k in group)
            is_scale = chart[g] is not None and chart[g][0] == k
            ends = []
            for step in (1e-6, -1e-6):
                v, t = list(values), list(taus)
                if is_scale:
                    t[g] += step
                else:
                    v[k] += step
                moved = equations.residuals(equations.unknowns(v, t), zero)
                ends.append([limit_of(f) for f in moved])
            slopes = (np.array(ends[0]) - ends[1]) / 2e-6
            own = [row[g] for row in by_scale] if is_scale else [row[k] for row in by_weight]
            assert np.array(own, float) == pytest.approx(slopes, rel=1e-4, abs=1e-5)
        seen += 1
    assert seen == np.prod([1 + 2 * len(group) for group in equations.groups])


def test_groups_meet_in_arguments():
    """Weights of a row belong together, rows do not; inputs of a row with the encoder do."""
    net = mp.FeedForward(3, (3,), 1, 3, activation="tanh")
    assert linear_groups(net, [("W1", 0, 0), ("W1", 1, 1), ("W1", 0, 2)]) == ((0, 2), (1,))
    net = mp.RNN(n=2, T=2, b=1, d=1, m=2, activation="tanh")
    assert linear_groups(net, [("B", 0, 0), ("B", 1, 0)]) == ((0, 1),)
