"""Optimizers of ReLU nets as engines: endpoints, witnesses and the paper's verdict."""

import numpy as np
import pytest

from numeric.plugins.relu.decide import decide
from numeric.plugins.relu.decision import MATCH
from numeric.plugins.training.optimizers import METHODS, OptimizerEngine, endpoints
from numeric.programs.losses import Loss
from numeric.programs.students import Students
from tests.numeric.plugins.relu.cases import instances, problem
from tests.refusals import refuses
from tests.samples import many

MASK = [[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0]]
CASE = problem(3, 4, 2, 3, W1=MASK)


@pytest.mark.parametrize("method", METHODS)
def test_optimizers_decrease_the_loss(method):
    """Of 95 % of the starts the loss does not increase; the least loss is halved at least."""
    loss = Loss(Students.of([instances(CASE, 3)[2]], 30))
    starts = np.random.default_rng(1).normal(size=(30, 6))
    before, after = loss.slope(starts)[0], loss.slope(endpoints(method, loss, starts))[0]
    assert (after <= before + 1e-9).mean() > 0.95
    assert after.min() < 0.5 * before.min()


@pytest.mark.parametrize("method", METHODS)
def test_matched_means_a_witness(method):
    """A trial that counts as matched is decided to have a match."""
    # Hessians take time.
    drawn = instances(CASE, many(8) if method == "adahessian" else many(16, 4))
    engine = OptimizerEngine(method, starts=20)
    found = 0
    for instance, count in zip(drawn, engine.count_many(drawn), strict=True):
        assert count.status == "undetermined"
        assert count.paper_match is not None
        if count.real:
            assert decide(instance).verdict == MATCH
            found += 1
    # The other two end near matches, and more rarely in the cell of one.
    assert found > 0 or method in ("sgd", "adahessian")


def test_same_seed_same_endpoints():
    """Two engines with the same seed have the same notes on the same instances."""
    one, two = (
        OptimizerEngine("levenberg-marquardt", starts=5).count_many(instances(CASE, 2))
        for _ in range(2)
    )
    assert [c.note for c in one] == [c.note for c in two]


def test_unknown_methods_are_refused():
    """The message lists the known names."""
    refuses("adam", OptimizerEngine, "newton")
