"""Complete counts compared with closed forms and with each other."""

from fractions import Fraction

import numpy as np
import pytest

from matchprob import Allocation, LinearFeedForward, LinearRNN, Problem, draw_instance
from numeric.engines.homotopy import HomotopyEngine, detour
from numeric.equations.chain import make_chain
from tests.numeric.equations.cases import cases, residual_at
from tests.refusals import refuses
from tests.samples import NET

DIAGONAL = Problem.of(Allocation.from_cells(NET, [("W", 0, 0), ("W", 1, 1)]))
CASES = cases()


def diagonal_discriminant(instance) -> Fraction:
    """Discriminant of the quadratic of the B.1.1 net with a learnable diagonal, exactly.

    With X regular, Y X⁻¹ = (D W² B, D W B) =: (s, f).  Write W = [[x, p], [q, y]],
    B = (b0, b1), D = (d0, d1).  The first equation d0(x b0 + p b1) + d1(q b0 + y b1) = f
    gives y linearly in x; the second is then quadratic in x.
    """
    weights, X, Y = instance.exact
    frac = np.vectorize(lambda z: Fraction(int(z.p), int(z.q)), otypes=[object])
    W, B, D, X, Y = (frac(v) for v in (weights["W"], weights["B"], weights["D"], X, Y))
    det = X[0, 0] * X[1, 1] - X[0, 1] * X[1, 0]
    s = (Y[0, 0] * X[1, 1] - Y[0, 1] * X[1, 0]) / det
    f = (Y[0, 1] * X[0, 0] - Y[0, 0] * X[0, 1]) / det
    p, q, (b0, b1), (d0, d1) = W[0, 1], W[1, 0], B[:, 0], D[0]
    # y = u + v x
    v = -(d0 * b0) / (d1 * b1)
    u = (f - d0 * p * b1 - d1 * q * b0) / (d1 * b1)
    # h = W B = (x b0 + p b1, q b0 + y b1); s = d0 (x h0 + p h1) + d1 (q h0 + y h1).
    h0, h1 = (p * b1, b0), (q * b0 + u * b1, v * b1)
    a2 = d0 * h0[1] + d1 * v * h1[1]
    a1 = d0 * h0[0] + d0 * p * h1[1] + d1 * q * h0[1] + d1 * (u * h1[1] + v * h1[0])
    a0 = d0 * p * h1[0] + d1 * q * h0[0] + d1 * u * h1[0] - s
    return a1 * a1 - 4 * a2 * a0


def test_diagonal_of_b11_agrees_with_its_discriminant():
    """On 300 instances the count is 2 where the exact discriminant is positive, else 0."""
    engine = HomotopyEngine(DIAGONAL, root_count=2, cache=False)
    instances = [draw_instance(DIAGONAL, 0, k) for k in range(300)]
    counts = engine.count_many(instances)
    assert {c.status for c in counts} == {"complete"}
    for instance, count in zip(instances, counts, strict=True):
        assert count.real == (2 if diagonal_discriminant(instance) > 0 else 0)


@pytest.mark.parametrize(("allocation", "roots"), CASES, ids=lambda x: str(x))
def test_counts_are_complete_and_solutions_solve(allocation, roots):
    """Every count is complete, its real solutions have the parity of N and fit the labels."""
    problem = Problem.of(allocation)
    engine = HomotopyEngine(problem, root_count=roots, cache=False)
    instances = [draw_instance(problem, 1, k) for k in range(12)]
    for instance, count in zip(instances, engine.count_many(instances), strict=True):
        assert (count.status, count.complex) == ("complete", roots)
        assert (roots - count.real) % 2 == 0
        assert len(count.solutions) == count.real
        for solution in count.solutions:
            size = max(1.0, np.abs(solution).max()) ** 3
            assert instance.residual(instance.with_weights(solution)) < 1e-9 * size


def test_counts_do_not_depend_on_the_start_system():
    """Two seeds, hence two start systems, give the same real counts."""
    allocation, roots = CASES[7]
    problem = Problem.of(allocation)
    instances = [draw_instance(problem, 2, k) for k in range(40)]
    counts = [
        [
            c.real
            for c in HomotopyEngine(problem, root_count=roots, seed=seed, cache=False).count_many(
                instances
            )
        ]
        for seed in (0, 1)
    ]
    assert counts[0] == counts[1]


def test_counts_without_a_given_n_are_complete_only_by_a_trace_test():
    """If N is only the number at which the loops stopped finding roots, counts are bounds."""
    engine = HomotopyEngine(DIAGONAL, root_count=None, cache=False)
    (count,) = engine.count_many([draw_instance(DIAGONAL, 0, 0)])
    assert engine.start.root_count == 2
    assert (count.status == "complete") == (engine.start.source == "trace test")
    assert "N" in count.note


def test_wrong_root_count_is_undetermined():
    """With N too large no count is complete, and the note gives the number found."""
    engine = HomotopyEngine(DIAGONAL, root_count=4, cache=False)
    (count,) = engine.count_many([draw_instance(DIAGONAL, 0, 0)])
    assert count.status == "undetermined"
    assert "2 of 4" in count.note


def test_foreign_instance_is_refused():
    """An instance of another allocation is an error, not a count."""
    engine = HomotopyEngine(DIAGONAL, root_count=2, cache=False)
    other = Problem.of(Allocation.from_cells(NET, [("W", 0, 1), ("W", 1, 0)]))
    refuses("allocation", engine.count_many, [draw_instance(other, 0, 0)])


def test_degenerate_instance_is_undetermined():
    """Rademacher samples may be dependent: that instance is undetermined, the others counted."""
    from algebra.problems.laws.distribution import Distribution

    problem = DIAGONAL.with_allocation(DIAGONAL.allocation)
    problem = Problem(problem.network, problem.learnable, {}, Distribution(inputs="rademacher"))
    engine = HomotopyEngine(problem, root_count=2, cache=False)
    instances = [draw_instance(problem, 0, k) for k in range(12)]
    singular = [abs(np.linalg.det(i.X)) < 1e-9 for i in instances]
    assert any(singular)
    for flag, count in zip(singular, engine.count_many(instances), strict=True):
        assert (count.status == "undetermined") == flag
        if flag:
            assert "rank" in count.note


@pytest.mark.parametrize(("allocation", "_"), cases(), ids=lambda x: str(x))
def test_a_turned_instance_has_the_same_roots(allocation, _):
    """The residual of the transformed instance is zero at the root and not beside it."""
    chain = make_chain(allocation)
    rng = np.random.default_rng(0)
    parameters, root = chain.random(rng)
    other = chain.turned(parameters, rng)
    assert np.abs(residual_at(chain, other, root)).max() < 1e-12
    assert np.abs(residual_at(chain, other, root + 0.1)).max() > 1e-3


@pytest.mark.parametrize(
    ("network", "cells"),
    [
        (LinearRNN(n=2, T=2, b=1, d=1, m=2), [("W", 0, 0), ("W", 1, 1)]),
        (LinearRNN(n=2, T=2, b=1, d=1, m=2), [("W", 0, 0), ("D", 0, 1)]),
        (LinearFeedForward(q=2, widths=(2,), d=1, m=2), [("W1", 0, 0), ("W2", 0, 1)]),
    ],
)
def test_a_turned_instance_has_other_parameters(network, cells):
    """The transformed parameters differ, also if D learns (S_0 is transformed in its span)."""
    chain = make_chain(Allocation.from_cells(network, cells))
    rng = np.random.default_rng(0)
    parameters = chain.random(rng)[0]
    assert np.abs(chain.turned(parameters, rng) - parameters).max() > 0.1


@pytest.mark.parametrize("side", [1, -1])
def test_a_detour_keeps_its_distance(side):
    """The detour passes the singular point on the given side, at √3/2 of the radius or more."""
    inner = detour(np.array([0.6]), np.array([0.1]), side)[:, 0]
    assert (side * inner[1:3].imag > 0.05).all()
    corners = np.array([0, *inner, 1])
    u = np.linspace(0, 1, 101)[:, None]
    legs = corners[:-1] + u * np.diff(corners)
    assert np.abs(legs - 0.6).min() > 0.1 * np.sqrt(3) / 2 - 1e-9
