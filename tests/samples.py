"""What many tests share: the number of samples for a law, and the papers' example network."""

import os

import numpy as np
import pytest

from matchprob import LinearRNN, Problem

# As in `make test LONG=1`.
LONG = bool(os.environ.get("LONG"))
# A prime for computations modulo one; the largest below 2^31 is 2147483647.
P = 2147483629
# Section B.1.1 of the first paper: the diagonal of W is intermediate, a row is maximal.
NET = LinearRNN(n=2, T=2, b=1, d=1, m=2)
DIAGONAL = Problem(NET, {"W": [[1, 0], [0, 1]]})
ROW = Problem(NET, {"W": [[1, 1], [0, 0]]})
# Minimal, by rank 7 of 8, though no theorem of the papers says so.
SEVEN = Problem(
    LinearRNN(n=4, T=2, b=2, d=2, m=4),
    {"W": [[1, 0, 0, 0], [1, 0, 0, 1], [1, 0, 0, 0], [1, 1, 1, 1]]},
)


def filled(shape, entry):
    """An array of objects, each the result of a call."""
    made = np.empty(shape, dtype=object)
    for place in np.ndindex(shape):
        made[place] = entry()
    return made


def more(few, lots):
    """The parameters of a law on samples: a few, and many in a long run."""
    values = lots if isinstance(lots, tuple) else (lots,)
    return [few, pytest.param(*values, marks=pytest.mark.long)]


def many(number: int, least: int = 1) -> int:
    """This number in a long run, else an eighth or `least`; hypothesis draws others each time."""
    return number if LONG else max(least, number // 8)
