"""Exact counts, compared with phcpy, closed forms and brute force over discrete laws."""

from fractions import Fraction

import numpy as np
import pytest
import sympy

from algebra.networks.feedforward import LinearEstimator, LinearFeedForward
from algebra.networks.recurrent import LinearRNN
from algebra.polynomials.real_roots import RealRoots
from algebra.problems.laws.distribution import Distribution
from algebra.problems.problem import Problem
from algebra.systems.root_count import generic_root_count
from numeric.engines.exact import ExactEngine, count_contradiction, exact_core
from numeric.engines.phcpy.engine import PhcpyEngine
from numeric.trials.instances import Instance, draw_instance
from tests.numeric.engines.phcpy.test_engine import need_phcpy
from tests.samples import many

NETS = [
    Problem(LinearRNN(n=3, T=2, b=1, d=2, m=2), {"W": [[1, 0, 1], [0, 1, 0], [0, 0, 1]]}),
    Problem(LinearRNN(n=3, T=3, b=1, d=1, m=3), {"W": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}),
    Problem(
        LinearFeedForward(q=2, widths=(2,), d=2, m=2),
        {"W1": [[1, 0], [0, 1]], "W2": [[1, 0], [0, 1]]},
    ),
]


@pytest.mark.parametrize("problem", NETS)
def test_agrees_with_phcpy(problem):
    """On each instance the exact count equals phcpy's, if that is complete."""
    need_phcpy()
    expected = generic_root_count(problem.allocation).value
    exact = ExactEngine(problem, expected)
    with PhcpyEngine(problem, expected) as phcpy:
        compared = 0
        for index in range(many(12)):
            instance = draw_instance(problem, 4, index)
            one, other = exact.count(instance), phcpy.count(instance)
            assert (one.status, one.complex) == ("complete", expected)
            for solution in one.solutions:
                assert instance.residual(instance.with_weights(solution)) < 1e-6
            if other.status == "complete":
                compared += 1
                assert one.real == other.real
    assert compared >= 0.8 * many(12)


def test_discrete_instances_match_as_least_squares_says():
    """A Rademacher linear estimator matches if and only if least squares has residual 0."""
    law = Distribution("rademacher", "rademacher", "rademacher")
    net = LinearEstimator(q=3, d=2, m=2)
    problem = Problem(net, {"W": [[1, 1, 1], [1, 0, 0]]}, distribution=law)
    engine = ExactEngine(problem, 0)
    outcomes = []
    for index in range(60):
        instance = draw_instance(problem, 0, index)
        goal = instance.labels - instance.with_weights(np.zeros(4))["W"] @ instance.X
        solvable = True
        for row, cells in ((0, [0, 1, 2]), (1, [0])):
            A = instance.X[cells].T
            best, *_ = np.linalg.lstsq(A, goal[row], rcond=None)
            solvable &= bool(np.allclose(A @ best, goal[row]))
        outcomes.append(engine.count(instance).outcome == "matched")
        assert outcomes[-1] == solvable
    assert set(outcomes) == {True, False}


def test_contradiction_is_exact():
    """No solution is an exact result if elimination finds 1 = 0."""
    problem = Problem(LinearEstimator(q=3, d=2, m=2), {"W": [[1, 1, 1], [1, 0, 0]]})
    found = ExactEngine(problem, 0).count(draw_instance(problem, 0, 0))
    assert (found.real, found.complex, found.status) == (0, 0, "complete")


@pytest.mark.parametrize(
    ("real", "count", "generic", "square", "doubtful"),
    [
        (2, 4, 4, True, False),
        (1, 4, 4, True, True),
        (5, 4, 4, True, True),
        (2, 6, 4, True, True),
        (2, 6, 0, False, False),
        (2, 2, 4, True, False),
        (0, 0, None, True, False),
    ],
)
def test_contradictory_counts_are_found(real, count, generic, square, doubtful):
    """A wrong parity, and more solutions than a generic instance has, are contradictions."""
    box = ((Fraction(0), Fraction(1)),)
    found = RealRoots("complete", ("x",), roots=(box,) * real, complex=count)
    assert bool(count_contradiction(found, generic, square)) is doubtful


def test_cores_of_one_unknown_agree_with_sympy():
    """The engine counts as many real roots of a core of one unknown as SymPy."""
    problem = Problem(LinearRNN(n=3, T=3, b=1, d=1, m=3), {"W": [[1, 1, 0], [0, 0, 0], [0, 1, 0]]})
    roots = generic_root_count(problem.allocation).value
    engine = ExactEngine(problem, roots)
    x = sympy.Symbol("x")
    seen = 0
    for k in range(20):
        instance = draw_instance(problem, 9, k)
        core = exact_core(instance)
        assert len(core.unknowns) == 1
        (equation,) = core.equations
        polynomial = sum(
            sympy.Rational(int(c.p), int(c.q)) * x ** int(e[0])
            for e, c in equation.to_dict().items()
        )
        truth = sympy.Poly(polynomial, x).count_roots()
        found = engine.count(instance)
        assert (found.real, found.complex, found.status) == (truth, roots, "complete")
        seen += truth
    assert seen


@pytest.mark.parametrize("law", ["normal", "rademacher"])
def test_more_samples_than_needed_change_nothing(law, monkeypatch):
    """Counts that use a basis of the samples equal those that use all samples."""
    network = LinearRNN(n=3, T=2, b=1, d=1, m=5)
    problem = Problem(
        network,
        {"W": [[1, 0, 0], [0, 1, 0], [0, 0, 0]]},
        distribution=Distribution(inputs=law),
    )
    engine = ExactEngine(problem)
    instances = [draw_instance(problem, 3, k) for k in range(4)]
    assert any(instance.spanning_samples is not None for instance in instances)
    few = [engine.count(instance) for instance in instances]
    monkeypatch.setattr(Instance, "spanning_samples", None)
    every = [engine.count(instance) for instance in instances]
    assert [(c.real, c.complex, c.status) for c in few] == [
        (c.real, c.complex, c.status) for c in every
    ]
    assert np.allclose([c.solutions for c in few if c.real], [c.solutions for c in every if c.real])
