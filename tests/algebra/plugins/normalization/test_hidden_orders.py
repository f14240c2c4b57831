"""Orders and scales of hidden units: found if a target is made of them, otherwise refused."""

import random

import numpy as np
import pytest
from flint import fmpq

from algebra.plugins.normalization.dense import DenseNet, HiddenUnits
from algebra.plugins.normalization.hidden_orders import NotRealized, align
from tests.refusals import refuses
from tests.samples import LONG


def draw(rng, rows, columns):
    """A matrix of small random rationals without a 0."""
    return np.array(
        [[fmpq(rng.choice((-1, 1)) * rng.randint(1, 9), rng.randint(1, 4))
          for _ in range(columns)] for _ in range(rows)],
        dtype=object,
    )  # fmt: skip


def planted(seed, d=3):
    """A deep target of which one order and scale of hidden units is realized at the least width."""
    rng = random.Random(seed)
    w, wide = (d - 1) ** 2 + 1, d * d - d + 1
    W1, W2, W3, W4 = draw(rng, wide, d), draw(rng, d, wide), draw(rng, w, d), draw(rng, d, w)
    layer = W4 @ (draw(rng, w, 1) * W3)
    order = list(range(d))
    rng.shuffle(order)
    units = HiddenUnits(tuple(order), tuple(fmpq(k + 1, 2) for k in range(d)))
    net = DenseNet.of([draw(rng, d, d), layer], [draw(rng, d, 1)[:, 0], draw(rng, d, 1)[:, 0]])
    return net.with_hidden_units([units]), [W1, W2, W3, W4]


@pytest.mark.parametrize("seed", range(4 if LONG else 2))
def test_planted_orders_are_found(seed):
    """Shuffled and rescaled hidden units are restored, over Q."""
    target, frozen = planted(seed)
    found = align(target, frozen)
    again = target.with_hidden_units(found.units)
    assert [block.status for block in found.blocks] == ["rational"] * 2
    X = draw(random.Random(seed), 3, 12)
    assert (again(X) == target(X)).all()


def test_irrational_scales_are_real_but_not_rational():
    """They are rejected if rationals are requested, with their own status."""
    rng = random.Random(1)
    while True:
        target = DenseNet.of([draw(rng, 2, 2), draw(rng, 2, 2)], [[0, 0], [0, 0]])
        frozen = [draw(rng, 3, 2), draw(rng, 2, 3), draw(rng, 2, 2), draw(rng, 2, 2)]
        try:
            found = align(target, frozen, rational=False)
        except NotRealized:
            continue
        if found.blocks[1].status == "irrational":
            break
    failure = refuses("exist", align, target, frozen, error=NotRealized)
    assert failure.status == "irrational"
    assert failure.layer == 2


def test_too_narrow_is_proved_for_every_order():
    """One inner unit: for both orders of the hidden units there is no complex solution."""
    rng = random.Random(3)
    target = DenseNet.of([draw(rng, 2, 2), draw(rng, 2, 2)], [[0, 0], [0, 0]])
    frozen = [draw(rng, 3, 2), draw(rng, 2, 3), draw(rng, 1, 2), draw(rng, 2, 1)]
    failure = refuses("Proved", align, target, frozen, error=NotRealized)
    assert (failure.layer, failure.status) == (2, "impossible")
