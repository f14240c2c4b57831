"""Renamed hidden units: one allocation for an orbit, the same solutions."""

import random
from itertools import permutations

import numpy as np
import pytest

from algebra.problems.renaming import renamed
from matchprob import LinearFeedForward, LinearRNN, Problem, RandomCells, draw_instance
from numeric.engines.counter import InstanceCounter
from numeric.trials.instances import reduced
from tests.samples import many

RNN = LinearRNN(n=4, T=3, b=1, d=1, m=3)
RANDOM = Problem(RNN, {"W": RandomCells(3)})
LAYERS = Problem(LinearFeedForward(2, (3, 3), 2, 2), {"W2": RandomCells(4)})


def drawn(problem, k):
    """A drawn allocation."""
    return problem.draw(random.Random(f"renaming/{k}"))


def test_allocations_of_one_orbit_have_one_image():
    """All 24 renamings of an allocation have the image that brute force finds for none other."""
    orbits = {}
    for k in range(many(40)):
        mask = drawn(RANDOM, k).masks["W"]
        images = {mask[np.ix_(order, order)].tobytes() for order in permutations(range(4))}
        own = set()
        for order in permutations(range(4)):
            moved = Problem(RNN, {"W": mask[np.ix_(order, order)]})
            own.add(renamed(RANDOM, moved.allocation).allocation(moved.allocation).cells)
        [image] = own
        assert orbits.setdefault(image, images) == images


@pytest.mark.parametrize("problem", [RANDOM, LAYERS])
def test_renamed_instances_have_the_same_labels(problem):
    """Labels of student and teacher are unchanged, and solutions are restored to their cells."""
    for k in range(8):
        instance = draw_instance(problem, 0, k)
        way = renamed(problem, instance.allocation)
        inner = reduced(instance, way)
        forward = problem.network.forward
        assert np.allclose(forward(inner.weights, inner.X), forward(instance.weights, instance.X))
        assert np.allclose(forward(inner.teacher, inner.X), instance.labels)
        values = np.arange(1.0, 1 + instance.allocation.size)
        own = instance.with_weights(inner.restored(values))
        assert np.allclose(forward(inner.with_weights(values), inner.X), forward(own, instance.X))


def test_trials_of_an_orbit_share_plans_and_their_outcomes_are_unchanged():
    """Trials of drawn allocations have the outcomes of these allocations alone."""
    instances = [draw_instance(RANDOM, 0, k) for k in range(many(12))]
    with InstanceCounter(RANDOM, complete=False) as counter:
        found = counter.count_many(instances)
        images = {renamed(RANDOM, i.allocation).allocation(i.allocation) for i in instances}
        assert set(counter._plans) == images
    for instance, count in zip(instances, found, strict=True):
        alone = Problem(RNN, instance.allocation.masks)
        with InstanceCounter(alone, complete=True) as counter:
            other = counter.count(draw_instance(alone, 0, instance.index))
        assert count.outcome == other.outcome
        for solution in count.solutions:
            assert instance.residual(instance.with_weights(solution)) < 1e-8


def test_records_do_not_depend_on_what_was_counted_before():
    """All trials at once, in the reverse order, and each by a counter of its own."""
    instances = [draw_instance(RANDOM, 1, k) for k in range(many(10))]
    with InstanceCounter(RANDOM, complete=False) as counter:
        together = counter.count_many(instances)
    with InstanceCounter(RANDOM, complete=False) as counter:
        reverse = [counter.count(own) for own in reversed(instances)][::-1]
    alone = []
    for own in instances:
        with InstanceCounter(RANDOM, complete=False) as counter:
            alone.append(counter.count(own))
    kept = [(count.real, count.outcome, count.reason, count.note) for count in together]
    assert [(c.real, c.outcome, c.reason, c.note) for c in reverse] == kept
    assert [(c.real, c.outcome, c.reason, c.note) for c in alone] == kept
