"""Orders along an axis: every list is sorted, and places are those of the entries."""

import itertools

import numpy as np
import pytest

from algebra.plugins.models.onnx.orders import exchanges, numbers_of, ordered, taken
from algebra.plugins.models.onnx.values import BATCH, Item, Moves
from algebra.programs.program import Builder
from tests.doubles import labels
from tests.refusals import refuses


@pytest.mark.parametrize("count", [1, 2, 3, 5, 6, 8])
def test_exchanges_sort(count):
    """All lists of 0 and 1, and so all lists (the zero-one principle); stages are disjoint."""
    stages = list(exchanges(count))
    assert all(len({k for pair in own for k in pair}) == 2 * len(own) for own in stages)
    for bits in itertools.product((0, 1), repeat=count):
        found = list(bits)
        for a, b in itertools.chain(*stages):
            found[a], found[b] = max(found[a], found[b]), min(found[a], found[b])
        assert found == sorted(bits, reverse=True)


def test_places_are_those_of_the_entries():
    """Of axis 1 of three; another value is taken at the same places, up to a limit of entries."""
    moves = Moves(Builder(), BATCH)
    x = moves.build.sample("x", (2, 5, 2))
    item = Item(moves.build.reshaped(x, (1, 2, 5, 2)), 0)
    values, places = ordered(moves, item, 2, False, 3, True)
    square = Item(moves.build.power(item.value, 2), 0)
    squares = taken(moves, square, places, 2)
    given = np.random.default_rng(0).standard_normal((2, 5, 2, 4))
    at = np.argsort(given, axis=1)[:, :3]
    least = np.take_along_axis(given, at, 1)
    for found, expected in ((values, least), (squares, least**2)):
        assert found.batch == 0
        program = moves.build.program(found.value)
        assert np.allclose(labels(program, {}, {"x": given})[0], expected)
    wide = Item(moves.build.sample("y", (300,)))
    refuses("places of the largest of 300 entries", ordered, moves, wide, 0, True, 2, True)
    refuses("takes 301 of 300", ordered, moves, wide, 0, True, 301, False)


def test_masked_entries_come_last():
    """Each line has its own mask; what takes more entries than it leaves is refused."""
    moves = Moves(Builder(), BATCH)
    x = moves.build.sample("x", (2, 4))
    absent = np.array([[False, True, False, False], [True, False, False, False]])
    item = Item(x, None, absent)
    values, places = ordered(moves, item, 1, True, 2, True)
    given = np.random.default_rng(0).standard_normal((2, 4, 5))
    masked = np.where(absent[..., None], -np.inf, given)
    at = np.argsort(-masked, axis=1)[:, :2]
    assert np.allclose(
        labels(moves.build.program(values.value), {}, {"x": given}),
        np.take_along_axis(masked, at, 1),
    )
    number = numbers_of(moves, places)
    assert np.allclose(labels(moves.build.program(number.value), {}, {"x": given}), at)
    refuses("a mask leaves 3 of 4", ordered, moves, item, 1, True, 4, True)
    refuses("a mask leaves 3 of 4", ordered, moves, item, 1, False, 1, True)
    absent = np.array([[False, True, False, False], [True, True, False, False]])
    refuses("different numbers", ordered, moves, Item(x, None, absent), 1, True, 2, True)
