"""Damped Newton from many starts at once: compared with scipy, and each way in which a run ends."""

import numpy as np
from scipy.optimize import least_squares

from matchprob import LinearEstimator, Problem, draw_instance
from numeric.engines.multistart import damped_newton
from numeric.equations.chain import make_chain
from numeric.linalg.levenberg_marquardt import Damping, levenberg_marquardt
from tests.numeric.equations.cases import chains, residual_at


def test_linear_systems_are_solved_from_anywhere():
    """A linear estimator's only solution is found from every start."""
    problem = Problem(LinearEstimator(q=3, d=2, m=2), {"W": [[1, 1, 0], [0, 1, 1]]})
    chain = make_chain(problem.allocation)
    instance = draw_instance(problem, 0, 0)
    starts = np.random.default_rng(0).standard_normal((10, 4)) * 10
    ends, good = damped_newton(chain, chain.parameters(instance), starts)
    assert good.all()
    assert np.allclose(ends, ends[0])
    assert instance.residual(instance.with_weights(ends[0])) < 1e-9


def test_converged_points_are_those_of_scipy():
    """If a run converges, scipy's least squares from its end stays there at cost 0."""
    chain = next(c for c in chains() if c.unknowns >= 3 and c.steps > 0)
    parameters = chain.parameters(draw_instance(Problem.of(chain.allocation), 0, 1))
    starts = np.random.default_rng(1).standard_normal((40, chain.unknowns))
    ends, good = damped_newton(chain, parameters, starts)
    assert good.any()
    for w in ends[good]:
        found = least_squares(lambda v: residual_at(chain, parameters, v), w, xtol=1e-15)
        assert found.cost < 1e-18
        assert np.abs(found.x - w).max() < 1e-6 * (1 + np.abs(w).max())


def circle(w, which=None):
    """x² + y² = 1 and x = y, for each point."""
    x, y = w.T
    f = np.stack([x * x + y * y - 1, x - y], axis=1)
    J = np.stack([np.stack([2 * x, 2 * y], 1), np.broadcast_to([1.0, -1.0], w.shape)], 1)
    return f, J.copy()


def test_first_ends_the_search_of_all():
    """Each start reaches one of two points; if the first suffices, the others are not finished."""
    starts = np.array([[0.7, 0.7], [-50.0, -49.0], [3.0, -1.0]])
    runs = levenberg_marquardt(circle, starts, 100, enough=1e-24, damping=Damping())
    assert (runs.cost <= 1e-24).all()
    assert np.allclose(np.abs(runs.ends), 0.5**0.5)
    runs = levenberg_marquardt(circle, starts, 100, enough=1e-24, damping=Damping(), first=True)
    assert (runs.cost <= 1e-24).tolist() == [True, False, False]


def test_singular_normal_equations_have_a_least_step():
    """A variable without effect makes them singular: the step of least length is taken."""

    def function(w, which):
        return w[:, :1] - 2.0, np.tile([[[1.0, 0.0]]], (len(w), 1, 1))

    damping = Damping(floor=0.0)
    runs = levenberg_marquardt(function, np.array([[5.0, 7.0]]), 50, enough=1e-20, damping=damping)
    assert runs.cost[0] <= 1e-20
    assert np.allclose(runs.ends, [[2.0, 7.0]])


def test_a_start_that_is_not_finite_is_stopped():
    """The start is stopped at once, the others continue."""
    starts = np.array([[np.nan, 0.0], [0.7, 0.6]])
    runs = levenberg_marquardt(circle, starts, 50, enough=1e-24, damping=Damping())
    assert np.isnan(runs.ends[0, 0])
    assert runs.cost[1] <= 1e-24
    assert runs.steps[0] == 0 < runs.steps[1]


def test_each_start_may_have_its_own_system():
    """Starts of different systems in one batch end as they do one by one, in any order."""
    sizes = np.array([1.0, 4.0, 9.0])

    def function(w, which):
        return w * w - sizes[which, None], 2 * w[:, None]

    starts = np.array([[1.0], [3.0], [-2.0]])
    runs = levenberg_marquardt(function, starts, 60, enough=1e-20 * sizes, damping=Damping())
    assert np.allclose(runs.ends[:, 0], [1.0, 2.0, -3.0])
    assert runs.steps.tolist()[0] == 1
    for k in range(3):
        alone = levenberg_marquardt(
            lambda w, _, k=k: function(w, np.array([k])), starts[k : k + 1], 60,
            enough=1e-20 * sizes[k], damping=Damping(),
        )  # fmt: skip
        assert alone.ends[0] == runs.ends[k]
        assert alone.steps[0] == runs.steps[k]
