"""Streams of many trials, seeded together, are those that NumPy seeds one by one."""

import numpy as np
import pytest

from algebra.problems.laws.distribution import Distribution
from algebra.problems.random_cells import RandomCells
from matchprob import Problem, draw_instance
from numeric.trials.instances import draw_instances
from numeric.trials.streams import stream, streams_of
from tests.samples import DIAGONAL, NET

PARTS = ("weights", "teacher", "inputs", "allocation", "labels", "new samples")


@pytest.mark.parametrize(
    "seed", [0, 1, 2**32 - 1, 2**32, 2**64 + 5, 2**127, 2**128 + 3, 10**50], ids=str
)
def test_states_are_those_of_numpy(seed):
    """Of small and large numbers, in any order, each part more than once."""
    indices = [0, 1, 2**32 - 1, 5, 999_999]
    of = streams_of(seed, indices)
    for index in (*indices, *reversed(indices)):
        for part in PARTS:
            alone = stream(seed, index, part)
            assert of(index, part).bit_generator.state == alone.bit_generator.state
            assert (of(index, part).random(3) == alone.random(3)).all()


@pytest.mark.parametrize(
    "problem",
    [
        DIAGONAL,
        Problem(NET, {"W": RandomCells(budget=2, rows=2)}),
        Problem(NET, {"W": "all"}, distribution=Distribution(labels="normal", weights="uniform")),
        Problem(
            NET, {"W": "all"}, distribution=Distribution(inputs="rademacher"), teacher=DIAGONAL
        ),
    ],
    ids=["plain", "cells", "labels", "teacher"],
)
def test_instances_are_drawn_together_as_each_alone(problem):
    """Everything random of an instance is the same."""
    for drawn in draw_instances(problem, 3, [4, 0, 17]):
        alone = draw_instance(problem, 3, drawn.index)
        assert drawn.allocation == alone.allocation
        assert (drawn.seed, drawn.X.tolist()) == (3, alone.X.tolist())
        for name in ("weights", "teacher"):
            one, other = getattr(drawn, name), getattr(alone, name)
            assert one.keys() == other.keys()
            assert all((one[k] == other[k]).all() for k in one)
        assert np.array_equal(drawn.labels, alone.labels)
