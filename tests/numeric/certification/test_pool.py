"""Endpoints become solutions only by a proof, each once."""

import numpy as np

from matchprob import LinearRNN, Problem, draw_instance
from numeric.certification.pool import RealPool, distinct_endpoints
from numeric.engines.exact import ExactEngine
from numeric.engines.multistart import damped_newton
from numeric.equations.chain import make_chain
from tests.samples import LONG

DIAGONAL = Problem(LinearRNN(n=3, T=3, b=1, d=1, m=2), {"W": [[1, 0, 0], [0, 0, 0], [0, 0, 1]]})


def test_exact_solutions_are_taken_once_each_and_other_points_never():
    """Rounded exact solutions, changed a little and repeated, give exactly themselves."""
    chain = make_chain(DIAGONAL.allocation)
    rng = np.random.default_rng(0)
    for k in range(5 if LONG else 2):
        instance = draw_instance(DIAGONAL, 1, k)
        known = ExactEngine(DIAGONAL, 6).count(instance).solutions
        pool = RealPool(chain, instance)
        pool.take(np.zeros((0, 2)))
        assert len(pool) == 0
        pool.take(np.full((3, 2), np.nan))
        assert pool.solutions == ()
        if not known:
            pool.take(rng.standard_normal((20, 2)))
            assert len(pool) == 0
            continue
        ends = np.repeat(np.array(known), 3, axis=0)
        pool.take(ends * (1 + 1e-9 * rng.standard_normal(ends.shape)))
        pool.take(ends)
        assert len(pool) == len(known)
        order = sorted(known)
        assert np.allclose(pool.solutions, order, rtol=1e-8)


def test_one_solution_of_a_large_net_is_proved_in_balls(monkeypatch):
    """Of endpoints the first solution is taken and no other tested; no tape is written."""
    mask = np.zeros((16, 16), int)
    mask[[1, 1, 4, 4], [3, 4, 3, 4]] = 1
    problem = Problem(LinearRNN(n=16, T=7, b=1, d=1, m=4), {"W": mask.tolist()})
    instance, chain = draw_instance(problem, 0, 0), make_chain(problem.allocation)
    assert chain.is_large
    monkeypatch.setattr(type(chain), "equations_as_tapes", None)
    starts = np.random.default_rng(0).standard_normal((64, 4)) / 4
    ends, good = damped_newton(chain, chain.parameters(instance), starts, first=True)
    assert good.any()
    pool = RealPool(chain, instance, 1)
    pool.take(starts[:2])
    assert not pool.is_enough
    root = ends[good][0]
    pool.take(np.array([root, -root, root]))
    assert pool.is_enough
    [solution] = pool.solutions
    assert np.allclose(solution, root)
    assert instance.residual(instance.with_weights(solution)) < 1e-12


def test_clusters_are_thinned_and_scales_are_the_laws():
    """Equal endpoints count once; a weight's scale is one over the root of its columns."""
    points = np.array([[1.0, 2.0], [1.0 + 1e-12, 2.0], [3.0, -1.0]])
    assert distinct_endpoints(points).tolist() == [[1.0, 2.0], [3.0, -1.0]]
    assert np.allclose(draw_instance(DIAGONAL, 0, 0).spread, 3**-0.5)
