"""Products and sums along axes, and entries put at places, against NumPy."""

import numpy as np
import pytest

from algebra.plugins.models.aten import ATEN
from algebra.plugins.models.aten.call import AtenCall
from algebra.plugins.models.onnx.values import BATCH, Item, Moves
from algebra.plugins.models.onnx.weights import Weights
from algebra.programs.program import Builder
from tests.doubles import labels
from tests.refusals import refuses

GIVEN = np.random.default_rng(1).uniform(0.5, 2, (5, 3, 4))


def computed(name, **arguments):
    """The value of an operator at samples of the shape (5, 3), or what it refuses."""
    moves = Moves(Builder(), BATCH)
    item = Item(moves.build.reshaped(moves.build.sample("x", (5, 3)), (1, 5, 3)), 0)
    call = AtenCall(moves, {"self": item, **arguments}, Weights(moves), {}, set())
    found = ATEN[name](call)
    found = found[0] if isinstance(found, tuple) else found
    return labels(moves.build.program(found.value), {}, {"x": GIVEN}).reshape(-1, 4)


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("prod", {"dim": 1}, GIVEN.prod(0)),
        ("prod", {"dim": [1, 2], "keepdim": True}, GIVEN.prod((0, 1))),
        ("cumprod", {"dim": 1}, GIVEN.cumprod(0)),
        ("cummax", {"dim": 1}, np.maximum.accumulate(GIVEN)),
        ("logcumsumexp", {"dim": 2}, np.logaddexp.accumulate(GIVEN, 1)),
        ("median", {"dim": 1}, np.median(GIVEN, 0)),
        ("kthvalue", {"dim": 1, "k": 2, "keepdim": True}, np.sort(GIVEN, 0)[1]),
        ("sort", {"dim": 2, "descending": True}, -np.sort(-GIVEN, 1)),
        ("gather", {"dim": 1, "index": np.full((1, 2, 3), 4)}, GIVEN[[4, 4]]),
    ],
)
def test_values_are_numpys(name, arguments, expected):
    """Along one axis, or several; the samples are along another."""
    assert np.allclose(computed(name, **arguments), expected.reshape(-1, 4))


def test_what_is_refused():
    """Orders of samples, places among all entries, places of running maxima."""
    refuses("multiplies along the batch axis", computed, "prod", dim=0)
    refuses("has no `dim`", computed, "argmax")
    moves = Moves(Builder(), BATCH)
    every = AtenCall(moves, {"self": Item(moves.build.sample("x", (2,))), "dim": 0},
                     Weights(moves), {})  # fmt: skip
    refuses("its places depend", ATEN["cummax"], every)
