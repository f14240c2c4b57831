"""Paths of PHCpack in the free inputs."""

import numpy as np
import pytest

from matchprob import LinearRNN, Problem, draw_instance
from numeric.engines.homotopy import HomotopyEngine
from numeric.engines.phcpy.engine import PhcpyEngine
from numeric.engines.phcpy.paths import PhcpyPaths, has_free_coefficients, inputs_terms
from numeric.engines.phcpy.process import PhcpyProcess
from numeric.equations.chain import make_chain
from tests.numeric.equations.test_inputs import CASES, COUNTS, allocation, equations


@pytest.mark.parametrize("case", CASES, ids=str)
def test_terms_are_the_equations(case):
    """Values at random points are those of the equations of the form, and monomials are fixed."""
    chain = make_chain(case)
    form = chain.free_inputs()
    rng = np.random.default_rng(0)
    monomials = []
    for seed in range(2):
        vector = form.reduce(chain.random(np.random.default_rng(seed))[0]).vector
        terms = inputs_terms(form, vector)
        x = rng.standard_normal(form.unknowns) + 1j * rng.standard_normal(form.unknowns)
        found = [sum(c * np.prod(x ** np.array(m)) for m, c in e.items()) for e in terms]
        assert np.allclose(found, equations(form, vector, x))
        monomials.append([list(e) for e in terms])
    assert monomials[0] == monomials[1]


def test_a_row_without_a_free_column_has_no_free_coefficients():
    """If all columns of fixed weights are used, a row that is used itself is not free."""
    assert has_free_coefficients(make_chain(CASES[0]).free_inputs())
    bound = allocation("567", "0567", "05", "036", "1467")
    assert not has_free_coefficients(make_chain(bound).free_inputs())


def test_counts_are_those_of_the_tracker(phcpy):
    """Twelve solutions, more than the blackbox solver is used for: the same real ones."""
    problem = Problem.of(CASES[0])
    instance = draw_instance(problem, 3, 1)
    [wanted] = HomotopyEngine(problem, root_count=COUNTS[0]).count_many([instance])
    with PhcpyEngine(problem, COUNTS[0], process=phcpy) as engine:
        found = engine.count(instance)
    assert (found.status, found.complex, found.real) == ("complete", 12, wanted.real)
    assert found.paths >= 12
    gaps = np.abs(np.array(sorted(found.solutions)) - np.array(sorted(wanted.solutions)))
    assert gaps.max() <= 1e-6 * np.abs(np.array(wanted.solutions)).max()


def test_other_nets_have_no_paths():
    """A net without free inputs has none: the blackbox solver is used."""
    net = LinearRNN(n=8, T=4, b=1, d=2, m=4)
    problem = Problem(net, {"W": np.eye(8, dtype=int)})
    for case in (problem, Problem.of(allocation("1", "2"))):
        assert PhcpyPaths.of(case, 576, PhcpyProcess(), 1.0) is None
