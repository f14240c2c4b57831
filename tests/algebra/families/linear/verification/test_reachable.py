"""The check that the teacher is a student: valid, false and malformed claims."""

import pytest

from algebra.certificates.checks import PROVED, CheckFailed
from algebra.families.linear.evidence import Reached
from algebra.families.linear.verification.reachable import PLACE, check_reached
from matchprob import LinearFeedForward, LinearRNN, Problem
from tests.refusals import refuses

ONES = [[1, 1], [1, 1]]
WHOLE, SINGLES = (((0, 1),),), (((0,), (1,)),)


def of_inputs(b, D):
    """All of W learns, and the cells of D that are given."""
    return Problem(LinearRNN(2, 2, b, 1, 3), {"D": D, "W": ONES})


# Learnable D and W permit a change of basis P with P B_t = B.
RIGHT = of_inputs(2, [[1, 1]])


def said(problem, blocks, seed=1):
    lines = []
    check_reached(problem, Reached(blocks), seed, lambda *line: lines.append(line))
    return lines


@pytest.mark.parametrize("seed", range(3))
def test_a_right_claim_is_proved(seed):
    """At any point; the decoder and a layer of a feed-forward net as well."""
    assert [line[:2] for line in said(RIGHT, WHOLE, seed)] == [(PLACE, PROVED)]
    layers = Problem(LinearFeedForward(2, (2,), 2, 3), {"W2": ONES})
    assert said(layers, WHOLE, seed)


@pytest.mark.parametrize(
    ("problem", "blocks", "place", "words"),
    [
        # Scales alone do not take B_t to B.
        (RIGHT, SINGLES, PLACE, "equations for 2 entries"),
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
