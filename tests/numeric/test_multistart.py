"""Lower bounds by many Newton runs, against complete counts."""

from __future__ import annotations

import numpy as np
import pytest

from algebra.allocation import Allocation
from algebra.errors import InputError
from algebra.networks import LinearRNN
from algebra.problem import Problem
from numeric.chain import jacobian
from numeric.homotopy import HomotopyEngine
from numeric.instances import draw_instance
from numeric.levenberg_marquardt import batched_jacobian
from numeric.multistart import multistart_newton
from tests.numeric.chains import cases, chains

CASES = cases()


@pytest.mark.parametrize("chain", chains(), ids=lambda c: str(c.allocation))
def test_batched_jacobian(chain):
    """Residuals and Jacobians of a batch are those of its members."""
    rng = np.random.default_rng(0)
    problem = Problem.of(chain.allocation)
    parameters = chain.parameters(draw_instance(problem, 0, 0))
    w = rng.standard_normal((3, chain.unknowns))
    f, J = batched_jacobian(chain, parameters, w)
    for k in range(3):
        assert np.allclose(f[k], chain.residual_at(parameters, w[k]))
        assert np.allclose(J[k], jacobian(chain, parameters, w[k]))


@pytest.mark.parametrize("case", [0, 7, 8, 15])
def test_solutions_are_among_those_of_the_complete_count(case):
    """Every solution found is one of the complete count's, and on small nets most are found."""
    allocation, roots = CASES[case]
    problem = Problem.of(allocation)
    engine = HomotopyEngine(problem, root_count=roots, cache=False)
    found = total = 0
    for k in range(6):
        instance = draw_instance(problem, 3, k)
        (complete,) = engine.count([instance])
        bound = multistart_newton(instance, 120, chain=engine.chain)
        assert bound.status == "undetermined"
        assert bound.real <= complete.real
        for solution in bound.solutions:
            gaps = [np.abs(np.subtract(solution, s)).max() for s in complete.solutions]
            assert min(gaps) <= 1e-6 * (1 + np.abs(solution).max())
        found, total = found + bound.real, total + complete.real
    assert found >= 0.5 * total


def test_large_net_has_its_match_found():
    """On a net of hundreds of roots at least one certified solution turns up somewhere."""
    network = LinearRNN(n=6, T=3, b=1, d=2, m=3)
    problem = Problem.of(Allocation.from_cells(network, [("W", i, (i + 1) % 6) for i in range(6)]))
    counts = [multistart_newton(draw_instance(problem, 0, k), 64, enough=1) for k in range(4)]
    assert any(c.real for c in counts)
    for count in counts:
        assert count.outcome == ("matched" if count.real else "undetermined")


def test_negative_starts_are_refused():
    """The number of starts is checked."""
    allocation, _ = CASES[0]
    with pytest.raises(InputError, match="starts"):
        multistart_newton(draw_instance(Problem.of(allocation), 0, 0), -1)
