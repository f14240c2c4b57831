"""Activation patterns at rational points."""

from fractions import Fraction

import numpy as np

from algebra.plugins.models.onnx import Read
from algebra.programs.balls import SignUnknown
from algebra.programs.program import Builder
from algebra.ranks.minors import rational_point
from algebra.ranks.pieces import on_pattern
from matchprob import Problem, ProgramNetwork
from numeric.trials.instances import to_double
from tests.onnx_models import save
from tests.refusals import refuses


def test_the_piece_is_that_of_the_point(tmp_path):
    """Its signs, in doubles: a hidden unit is active where its sum is positive."""
    net = ProgramNetwork(str(save("mlp_relu", tmp_path)), 5)
    piece = on_pattern(Problem(net, {"*": "all"}), 3).network
    assert piece.has_pattern
    weights, X = rational_point(net, 3, {})
    first, bias = (to_double(weights[f"l1.{part}"]) for part in ("weight", "bias"))
    sums = first.T @ to_double(X) + bias
    signs = piece.__dict__["_signs"]
    assert any(np.array_equal(s.reshape(-1, 5), sums > 0) for s in signs.values() if s.size == 20)
    other = on_pattern(Problem(net, {"*": "all"}), 4).network.__dict__["_signs"]
    assert any((signs[k] != other[k]).any() for k in signs)


def test_a_value_that_is_always_zero_has_no_sign():
    """(w/3) x − (w x)/3 decides nothing: a ball around 0, at every precision."""
    build = Builder()
    x, w = build.sample("X", (1,)), build.weight("w", (1,))
    third = Fraction(1, 3)
    first = build.multiply(build.scale(w, third), x)
    same = build.add(first, build.scale(build.multiply(w, x), -third))
    program = build.program(build.choose(same, x, w))
    net = ProgramNetwork.of(Read(program, {}, frozenset(), {}, {}), 2)
    refuses("sign", on_pattern, Problem(net, {"w": "all"}), 0, error=SignUnknown)
