"""What many tests share: the number of samples for a law, and the papers' example network."""

from __future__ import annotations

import os

from algebra.networks.recurrent import LinearRNN
from algebra.problems.problem import Problem

# As in `make test LONG=1`.
LONG = bool(os.environ.get("LONG"))
# Section B.1.1 of the first paper: the diagonal of W is intermediate, a row is maximal.
NET = LinearRNN(n=2, T=2, b=1, d=1, m=2)
DIAGONAL = Problem(NET, {"W": [[1, 0], [0, 1]]})
ROW = Problem(NET, {"W": [[1, 1], [0, 0]]})
# Minimal, by rank 7 of 8, though no theorem of the papers says so.
SEVEN = Problem(
    LinearRNN(n=4, T=2, b=2, d=2, m=4),
    {"W": [[1, 0, 0, 0], [1, 0, 0, 1], [1, 0, 0, 0], [1, 1, 1, 1]]},
)


def many(number: int) -> int:
    """This number in a long run, two fifths otherwise; hypothesis draws others each time."""
    return number if LONG else max(1, 2 * number // 5)
