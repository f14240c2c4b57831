"""Is the teacher itself a student?  Compared with known cases, and exact students made of it."""

import json
import random

import numpy as np
import pytest

from algebra.arguments.teacher_reached import (
    ARGUMENT,
    PLACE,
    Reached,
    reachable_blocks,
)
from algebra.checker.checks import PROVED, CheckFailed
from algebra.families.verify import verify
from matchprob import LinearEstimator, LinearFeedForward, LinearRNN, NormNet, Problem
from tests.arguments import checked
from tests.plain_data import data_of
from tests.refusals import refuses

EYE = [[1, 0], [0, 1]]
ONES = [[1, 1], [1, 1]]


def holds(problem, blocks):
    try:
        checked(ARGUMENT, problem, Reached(blocks))
    except CheckFailed:
        return False
    return True


@pytest.mark.parametrize(
    ("network", "learnable", "support", "expected"),
    [
        # D learns, W is diagonal and learns; one fixed weight in each row of B.
        (LinearRNN(2, 3, 1, 2, 3), {"D": ONES, "W": EYE}, {"W": EYE}, True),
        # Two fixed weights in a row of B determine the same scale twice.
        (LinearRNN(2, 3, 2, 2, 3), {"D": ONES, "W": EYE}, {"W": EYE}, False),
        (LinearRNN(2, 3, 2, 2, 3), {"D": ONES, "W": EYE, "B": EYE}, {"W": EYE}, True),
        (
            LinearRNN(2, 3, 2, 2, 3), {"D": ONES, "W": EYE},
            {"W": EYE, "B": EYE}, True,
        ),
        # W off the diagonal fixed: W[0,1] relates the scales of both units, B[:,0] fixes each to 1.
        (LinearRNN(2, 3, 1, 2, 3), {"D": ONES, "W": EYE}, {}, False),
        (LinearRNN(2, 3, 1, 2, 3), {"D": ONES, "W": [[1, 0], [1, 1]], "B": [[1], [0]]}, {}, True),
        # A fixed diagonal weight of W is an eigenvalue of a diagonal W: it cannot change.
        (LinearRNN(2, 3, 1, 2, 3), {"D": ONES, "B": [[1], [1]], "W": [[1, 0], [0, 0]]},
         {"W": EYE}, False),
        # All of D and W: P B_t = B for up to n columns.
        (LinearRNN(2, 2, 2, 1, 3), {"D": [[1, 1]], "W": ONES}, {}, True),
        (LinearRNN(2, 2, 3, 1, 3), {"D": [[1, 1]], "W": ONES}, {}, False),
        (LinearRNN(2, 2, 3, 1, 3), {"D": [[1, 1]], "W": ONES, "B": [[1, 0, 0], [0, 1, 0]]}, {},
         True),
        # P B_t = B and D P = D_t together imply D B = D_t B_t.
        (LinearRNN(2, 2, 1, 1, 3), {"W": ONES}, {}, False),
        # One row of D and no column of B: linear in P as well.
        (LinearRNN(2, 2, 1, 2, 3), {"W": ONES, "B": [[1], [1]], "D": [[0, 0], [1, 1]]}, {}, True),
        # The decoder learns; rows of the encoder have at most n fixed weights.
        (LinearFeedForward(3, (2,), 2, 3), {"W2": ONES, "W1": [[1, 0, 0], [0, 0, 1]]}, {}, True),
        (LinearFeedForward(3, (2,), 2, 3), {"W2": ONES, "W1": [[1, 0, 0], [0, 0, 0]]}, {}, False),
        (LinearEstimator(2, 2, 2), {"W": ONES}, {}, True),
        (LinearEstimator(2, 2, 2), {"W": EYE}, {}, False),
    ],
)  # fmt: skip
def test_known_cases(network, learnable, support, expected):
    """Found exactly in the expected cases, and then the independent check agrees."""
    problem = Problem(network, learnable, support=support)
    blocks = reachable_blocks(problem)
    assert (blocks is not None) == expected
    if blocks is not None:
        assert holds(problem, blocks)


def test_both_sides_agree_on_random_problems():
    """The check proves each claim of the certifier; it refuses the others, with single units and
    with all together."""
    found = 0
    for seed in range(120):
        rng = random.Random(f"reach/{seed}")
        network = rng.choice(
            [
                LinearRNN(rng.randint(1, 3), 2, rng.randint(1, 2), rng.randint(1, 2), 2),
                LinearFeedForward(rng.randint(1, 3), (rng.randint(1, 3),), rng.randint(1, 3), 2),
            ]
        )
        support, learnable = {}, {}
        for name, shape in network.shapes.items():
            exists = np.array(
                [[rng.random() < 0.7 for _ in range(shape[1])] for _ in range(shape[0])]
            )
            support[name] = exists.astype(int)
            learnable[name] = (exists & (rng.random() < 0.7)).astype(int)
        problem = Problem(network, learnable, support=support)
        blocks = reachable_blocks(problem, seed)
        width = network.inner_widths[0]
        if blocks is not None:
            found += 1
            assert holds(problem, blocks)
            continue
        assert not holds(problem, (tuple((k,) for k in range(width)),))
        assert not holds(problem, ((tuple(range(width)),),))
    assert 10 < found < 110


def test_the_verdict_is_maximal_and_proved(msolve):
    """With an even N, and with more weights than equations; the certificate verifies."""
    even = Problem(LinearRNN(1, 2, 2, 1, 3), {"D": [[1]], "W": [[1]], "B": [[1, 0]]})
    over = Problem(LinearRNN(2, 3, 1, 2, 3), {"D": ONES, "W": EYE}, support={"W": EYE})
    for problem in (even, over):
        data = data_of(problem)
        assert data["verdict"] == "maximal"
        result = verify(data)
        assert result.holds, str(result)
        if "teacher_reached" in data["evidence"]:
            assert [c.status for c in result.checks if c.place == "verdict"] == [PROVED]
    assert "teacher_reached" in data["evidence"]


def test_lowered_problems_have_another_teacher():
    """The target of a normalization net is not a lowered net: the evidence proves nothing there."""
    network = NormNet(widths=(1, 1), hidden=(2,), m=2, activation="linear")
    learnable = {name: np.ones(shape, int) for name, shape in network.shapes.items()}
    data = data_of(Problem(network, learnable))
    assert verify(data).holds
    assert "teacher_reached" not in json.dumps(data)


FULL = [[1, 1], [1, 1]]
WHOLE, SINGLES = (((0, 1),),), (((0,), (1,)),)


def of_inputs(b, D):
    """All of W learns, and the cells of D that are given."""
    return Problem(LinearRNN(2, 2, b, 1, 3), {"D": D, "W": FULL})


# Learnable D and W permit a change of basis P with P B_t = B.
RIGHT = of_inputs(2, [[1, 1]])


def said(problem, blocks, seed=1):
    return checked(ARGUMENT, problem, Reached(blocks), seed=seed)[1]


@pytest.mark.parametrize("seed", range(3))
def test_a_right_claim_is_proved(seed):
    """At any point; the decoder and a layer of a feed-forward net as well."""
    assert [line[:2] for line in said(RIGHT, WHOLE, seed)] == [(PLACE, PROVED)]
    layers = Problem(LinearFeedForward(2, (2,), 2, 3), {"W2": FULL})
    assert said(layers, WHOLE, seed)


@pytest.mark.parametrize(
    ("problem", "blocks", "place", "words"),
    [
        # Scales alone do not take B_t to B.
        (RIGHT, SINGLES, PLACE, "4 equations of 2 unknowns"),
        # Three columns of B have more conditions than P has entries.
        (of_inputs(3, [[1, 1]]), WHOLE, PLACE, "equations"),
        (
            of_inputs(2, [[1, 0]]),
            WHOLE,
            PLACE,
            "some do not",
        ),
        # Divisions of the units that are not valid.
        (RIGHT, (((0,),),), f"{PLACE}.blocks", "do not divide"),
        (RIGHT, (((0, 1), (1,)),), f"{PLACE}.blocks", "do not divide"),
        (RIGHT, (((0, 1),), ((0,),)), f"{PLACE}.blocks", "do not divide"),
        (RIGHT, (), f"{PLACE}.blocks", "do not divide"),
    ],
)
def test_a_wrong_claim_is_refused(problem, blocks, place, words):
    """They are refused with place and reason."""
    assert refuses(words, said, problem, blocks, error=CheckFailed).place == place
