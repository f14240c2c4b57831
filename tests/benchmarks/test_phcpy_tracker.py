"""phcpy's tracker as an engine: its lifted systems, and counts compared with our tracker."""

import sys
from pathlib import Path

import numpy as np
import pytest

from matchprob import LinearFeedForward, LinearRNN, Problem, draw_instance
from numeric.engines.base import unregister
from numeric.engines.counter import InstanceCounter
from numeric.equations.chain import make_chain
from tests.numeric.engines.phcpy.test_engine import need_phcpy
from tests.numeric.equations.cases import chains, residual_at
from tests.refusals import refuses

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from phcpy_tracker import ENGINES, LiftedSystems, PhcpyTracker, register_trackers

WIDE = Problem(LinearRNN(n=3, T=3, b=1, d=1, m=2), {"W": [[1, 0, 0], [0, 0, 0], [0, 0, 1]]})
LAYERS = Problem(
    LinearFeedForward(q=2, widths=(2,), d=2, m=2), {"W1": [[1, 0], [0, 1]], "W2": [[1, 0], [0, 1]]}
)


@pytest.fixture
def registered():
    """The two engines are registered during a test."""
    register_trackers()
    yield
    for name in ENGINES:
        unregister(name)


def values(system, point):
    """The values of the polynomials at a point."""
    return np.array(
        [sum(c * np.prod(point ** np.array(e)) for e, c in terms.items()) for terms in system]
    )


@pytest.mark.parametrize("chain", chains(), ids=lambda c: str(c.allocation))
def test_lifted_systems_are_the_network_s_equations(chain):
    """Square; zero at lifted roots; elsewhere its last equations are the labels' errors."""
    systems = LiftedSystems(chain)
    rng = np.random.default_rng(0)
    parameters, root = chain.random(rng)
    system = systems.system(parameters)
    assert len(system) == systems.size
    point = systems.lift(parameters, root[None])[0]
    assert np.abs(values(system, point)).max() < 1e-10 * (1 + np.abs(point).max())
    w = root + rng.standard_normal(len(root))
    other = values(system, systems.lift(parameters, w[None])[0])
    assert np.allclose(other[-chain.unknowns :], residual_at(chain, parameters, w))
    assert np.abs(other[: -chain.unknowns]).max() < 1e-10 * (1 + np.abs(other).max())


@pytest.mark.parametrize("chain", chains()[:6], ids=lambda c: str(c.allocation))
def test_lines_of_lifted_coefficients_stay_in_the_family(chain):
    """The middle of two lifted systems is the lifted system of the parameters' middle."""
    systems = LiftedSystems(chain)
    rng = np.random.default_rng(1)
    p, q = chain.random(rng)[0], chain.random(rng)[0]
    halves = systems.system((p + q) / 2)
    for one, two, middle in zip(systems.system(p), systems.system(q), halves, strict=True):
        for key in middle:
            assert np.isclose((one.get(key, 0) + two.get(key, 0)) / 2, middle[key])


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("form", ENGINES)
@pytest.mark.parametrize("problem", [pytest.param(WIDE, marks=pytest.mark.long), LAYERS])
def test_complete_counts_agree_with_the_path_tracker(problem, form):
    """Complete counts equal the homotopy engine's; nearly all lifted ones are complete."""
    need_phcpy()
    instances = [draw_instance(problem, 1, k) for k in range(10)]
    with InstanceCounter(problem, form) as one, InstanceCounter(problem, "homotopy") as other:
        counts, truth = one.count_many(instances), other.count_many(instances)
    complete = [c.status == "complete" for c in counts]
    assert [c.real for c in counts if c.status == "complete"] == [
        t.real for t, done in zip(truth, complete, strict=True) if done
    ]
    assert sum(complete) >= (9 if form == "phcpy-track" else 1)


def test_bad_arguments_are_named():
    """Unknown forms and unknown root counts are bad input."""
    refuses("`form` \\('dense'\\)", PhcpyTracker, WIDE, 6, form="dense")
    refuses(r"`root_count` \(None\).*multistart", PhcpyTracker, WIDE, None)


def test_minimal_allocations_have_no_chain():
    """`make_chain` refuses a minimal allocation: it has no path to track."""
    minimal = Problem(WIDE.network, {"W": [[1, 0, 0], [0, 0, 0], [0, 0, 0]]})
    refuses("", make_chain, minimal.allocation)
