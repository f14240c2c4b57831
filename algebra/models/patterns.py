r"""Programs that choose by signs (ReLU, maxima), or by tokens: a piece at a time.

The labels are analytic on each *piece*: the weights and samples with one activation pattern, and
one choice of tokens.  A pattern is that of a rational point, shown by ball arithmetic; since no
value that decides is 0 there the piece holds a neighbourhood of it, so it is drawn with positive
probability.

**Not minimal.**  Let the Jacobian of what learns have, on some piece, the generic rank that the
whole network's has there.  Then MP > 0: the proof of `algebra.ranks.jacobian` is about teachers
near the student, with the student's samples, which stay on its piece.

**Minimal** would be a statement about all pairs of pieces, the teacher's and those that students
reach: it is not made.  (Where all units can be silent at once, for instance, teacher and student
may both be.)
"""

from __future__ import annotations

from dataclasses import replace

from flint import ctx

from algebra.activations.minors import rational_point
from algebra.networks.program import ProgramNetwork
from algebra.problems.problem import Problem
from algebra.programs.balls import SignUnknown

# Patterns that are tried, and precisions that signs are looked for with.
MOST_PATTERNS = 4
_PRECISIONS = (64, 256, 1024)


def on_pattern(problem: Problem, number: int) -> Problem:
    """The problem on the activation pattern of the rational point of this number.

    Raises
    ------
    SignUnknown
        Where the point has no pattern: a value that decides is 0, or too near to it.
    """
    network = problem.network
    assert isinstance(network, ProgramNetwork)
    weights, X = rational_point(network, number, problem.support)
    before = ctx.prec
    try:
        for bits in _PRECISIONS:
            ctx.prec = bits
            try:
                signs = network.signs_at(weights, X, number)
            except SignUnknown:
                if bits == _PRECISIONS[-1]:
                    raise
                continue
            return replace(problem, network=network.on_piece(number, signs))
    finally:
        ctx.prec = before
    raise AssertionError("no precision")
