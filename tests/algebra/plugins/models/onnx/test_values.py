"""Values of graphs: exact numbers, and the position of the batch axis."""

import math
from fractions import Fraction

import numpy as np
import pytest

from algebra.plugins.models.onnx.values import (
    BATCH,
    ExactNumbers,
    Item,
    Moves,
    constant_of,
    over_denominator,
)
from algebra.programs.program import Builder
from tests.refusals import refuses


@pytest.mark.parametrize("number", [0.0, 1.0, -0.1, 1e-300, 1e300, 2.0**-1074, 3.0])
def test_doubles_are_exact(number):
    """A double is read as its exact rational number, beside one of another size."""
    table, denominator = over_denominator(np.array([number, 0.75]), "x")
    assert [Fraction(int(v), denominator) for v in table] == [Fraction(number), Fraction(3, 4)]


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("wide", [3, 40, 300])
def test_arrays_are_exact_and_in_lowest_terms(kind, wide):
    """Numbers of very different sizes: as 64-bit integers where these suffice."""
    rng = np.random.default_rng(wide)
    for _ in range(20):
        with np.errstate(all="ignore"):
            array = (rng.standard_normal(5) * 2.0 ** rng.integers(-wide, wide, 5)).astype(kind)
        array[~np.isfinite(array)] = 0
        table, denominator = over_denominator(array, "x")
        found = [int(v) for v in table]
        assert [Fraction(v, denominator) for v in found] == [Fraction(float(v)) for v in array]
        assert math.gcd(denominator, *found) == 1
        assert table.dtype == (np.int64 if all(abs(v) < 2**61 for v in found) else object)


def test_numbers_that_are_none_are_refused():
    """Infinity and NaN are not rational numbers."""
    for number in (np.inf, np.nan):
        refuses("x holds entries that are infinite", over_denominator, np.array([number]), "x")


def test_the_batch_axis_is_followed_through_reshapes():
    """Merged with the next axis and separated again it is unchanged; it is never split."""
    build = Builder()
    moves = Moves(build, BATCH)
    item = Item(build.reshaped(build.sample("x", (3, 4)), (1, 3, 4)), 0)
    merged = moves.reshaped(item, (-1, 4))
    assert (merged.batch, merged.shape, moves.shape(merged)) == (0, (3, 4), (3 * BATCH, 4))
    again = moves.reshaped(merged, (BATCH, 2, 6))
    assert (again.batch, again.shape) == (0, (1, 2, 6))
    moved = moves.transposed(again, [2, 0, 1])
    assert moves.shape(moved) == (6, BATCH, 2)
    refuses("splits the batch axis", moves.reshaped, moved, (2, -1))


@pytest.mark.parametrize(
    "array",
    [
        np.random.default_rng(0).standard_normal((30, 7)) * 10.0 ** np.arange(-30, 40, 10),
        np.array([0.0, -0.0, 5e-324, -1.5e308, 0.1]),
        np.float32([0, 0.1, -3e-40, 3e38]),
        np.float16([0.1, -6e-8, 65504]),
        np.array([[-3, 2**62], [0, -(2**63)]]),
        np.array([True, False]),
    ],
)
@pytest.mark.parametrize("p", [8388593, 2**61 - 1])
def test_exact_values_modulo_a_prime(array, p):
    """Residues without integers over one denominator are those of the fractions."""
    found = ExactNumbers()
    found.add("a", array)
    residues = found.residues("a", p)
    assert residues.shape == array.shape
    exact = [Fraction(value) for value in array.ravel().tolist()]
    assert residues.ravel().tolist() == [
        one.numerator * pow(one.denominator, -1, p) % p for one in exact
    ]
    some = found.only(["a"], {"a": np.ones(2)})
    assert some["a"][0].tolist() == [1, 1]
    assert found["a"][0].shape == array.shape


def test_exact_values_are_made_when_they_are_asked_for():
    """Names are known at once, and entries that are no numbers refused; values follow exactly."""
    found = ExactNumbers()
    found.add("a", np.array([0.5, -0.75]))
    refuses("`b` holds entries that are infinite", found.add, "b", np.array([1.0, np.inf]))
    assert (list(found), len(found), "a" in found, "b" in found) == (["a"], 1, True, False)
    table, below = found["a"]
    assert (table.tolist(), below) == ([2, -3], 4)
    assert found["a"][0] is table


def test_constants_of_a_fixed_number_of_samples():
    """Equal for all of them they are those of one; others are refused with what to export."""
    build = Builder()
    moves = Moves(build, 3)
    item = Item(build.reshaped(build.sample("x", (2,)), (1, 2)), 0)
    same, other = (
        build.constant(np.array(rows)) for rows in ([[1, 2]] * 3, np.eye(3, 2, dtype=int))
    )
    _, second = moves.broadcast(item, Item(same))
    assert (second.batch, second.shape) == (0, (1, 2))
    assert constant_of(build, second.value)[0].tolist() == [[1, 2]]
    refuses("export with an example of one sample", moves.broadcast, item, Item(other))


def test_constants_repeated_to_the_batch_axis():
    """One sample's constants and their axis; sizes that do not fit are refused."""
    moves = Moves(Builder(), BATCH)
    found = moves.repeated(np.array([[True, False]]), (BATCH, 1, 2))
    assert (found.array.shape, found.batch, found.array.dtype) == ((1, 1, 2), 0, bool)
    assert found.first(3).shape == (3, 1, 2)
    refuses("cannot become", moves.repeated, np.zeros((1, 3)), (BATCH, 2))
