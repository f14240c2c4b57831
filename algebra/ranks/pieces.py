r"""Programs that choose by signs (ReLU, maxima) or by tokens, piece by piece.

The labels are analytic on each *piece*: the weights and samples with one activation pattern and one
choice of tokens.  The pattern is that of a rational point, determined in ball arithmetic; since no
value with a decisive sign is 0 there, the piece contains a neighbourhood of the point, so it has
positive probability.

**Not minimal.**  If on some piece the Jacobian by the learnable weights has the generic rank that
the whole network's has there, then MP > 0: the proof of `algebra.ranks.jacobian` considers teachers
near the student, with the student's samples, which remain on its piece.

**Minimal** would be a statement about all pairs of pieces, the teacher's and those that students
reach, and is not decided here.  (If all units can be inactive at once, for instance, both teacher
and student may be.)
"""

from __future__ import annotations

from dataclasses import replace

from algebra.networks.protocols import HasPieces
from algebra.problems.problem import Problem
from algebra.ranks.minors import rational_point

# Patterns that are tried.
MOST_PATTERNS = 4


def patterns_of(network: HasPieces) -> range:
    """The numbers of the rational points that are tried; one if only tokens are chosen."""
    return range(MOST_PATTERNS if network.chooses else 1)


def on_pattern(problem: Problem, number: int) -> Problem:
    """The problem on the activation pattern of the rational point of this number.

    Raises
    ------
    SignUnknown
        If the point has no pattern: a value with a decisive sign is 0 or too near to it.
    """
    network = problem.network
    assert isinstance(network, HasPieces)
    weights, X = rational_point(network, number, problem.support)
    return replace(problem, network=network.on_piece(number, network.signs_at(weights, X, number)))
