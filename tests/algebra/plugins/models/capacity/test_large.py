"""Ranks beyond 1,200 rows, low-rank updates without columns, rows that are finished in time."""

import random
from itertools import pairwise, permutations

import numpy as np
import pytest

from algebra.errors import Unfinished
from algebra.linalg.residues import random_residues
from algebra.memory_limits import limited_memory
from algebra.plugins.models.capacity import (
    Piece,
    Subset,
    capacities,
    capacities_on,
    ranks,
    whole_rank,
)
from algebra.programs.generic import (
    Columns,
    Model,
    _products_of_columns,
    random_program_point,
    work_of_sample,
)
from algebra.programs.program import Builder
from algebra.time_limits import OutOfTime, within


def perceptron(*widths):
    """A tanh perceptron with biases."""
    build = Builder()
    value = build.sample("X", (widths[0],))
    for k, (q, n) in enumerate(pairwise(widths)):
        value = build.contract("ij,j->i", build.weight(f"W{k}", (n, q)), value)
        value = build.add(value, build.weight(f"b{k}", (n,)))
        if k < len(widths) - 2:
            value = build.apply("tanh", value)
    return Model(build.program(value))


def test_all_parameters_of_a_tanh_net_count():
    """2,433 parameters have rank 2,433 (Fefferman 1994, Sussmann 1992)."""
    model = perceptron(8, 32, 32, 32, 1)
    size = sum(a * b + b for a, b in ((8, 32), (32, 32), (32, 32), (32, 1)))
    found, _, is_whole = whole_rank(model, list(model.program.weights))
    assert (found, is_whole) == (size, True) == (2433, True)


@pytest.mark.parametrize("name", ["W0", "W1"])
def test_low_rank_updates_equal_products_of_columns(name):
    """Derivatives by U and V equal the columns of W times V and U."""
    model, rng = perceptron(5, 6, 4, 2), random.Random(3)
    point = random_program_point(model, 4, "low rank", bits=23)
    rows, inner = model.program.weights[name]
    U, V = (random_residues((n, 2), point.p, rng) for n in (rows, inner))
    [(_, sweep)] = Columns(model, point, 4, [name])._sweeps()
    expected = _products_of_columns(sweep, name, U, V, point.p)
    assert (sweep.low_rank(name, U, V) == expected).all()


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_low_rank_updates_of_weights_with_other_axes(order):
    """The same of a weight whose axes are exchanged, and again, and which is used twice; not where
    entries of a row are multiplied by several values."""
    build, rng, shape = Builder(), random.Random(7), (3, 2, 4)
    numbers = np.arange(24).reshape(shape)
    weight = build.index(numbers.transpose(order), build.weight("W", shape))
    again = build.index(np.arange(24).reshape(weight.shape).transpose(2, 1, 0), weight)
    first = build.contract("abc,bc->a", weight, build.sample("x", weight.shape[1:]))
    value = build.contract("cba,a->bc", again, build.multiply(first, first))
    model = Model(build.program(value))
    point = random_program_point(model, 3, "low rank", bits=23)
    U, V = (random_residues((n, 2), point.p, rng) for n in (3, 8))
    [(_, sweep)] = Columns(model, point, 3, ["W"])._sweeps()
    found = sweep.low_rank("W", U, V)
    if order[0]:
        assert found is None
    else:
        assert np.array_equal(found, _products_of_columns(sweep, "W", U, V, point.p))


def test_inputs_of_all_samples_count_as_memory():
    """100,000 inputs: 1 GB holds the samples of few hundred, though the matrix is small."""
    build = Builder()
    x, w = build.sample("X", (100_000,)), build.weight("w", (100_000,))
    model = Model(build.program(build.contract("i,i->", w, x)))
    with limited_memory(10**9):
        most = ranks._most_samples(model, Subset("w", ("w",)))
    assert 100 <= most <= 10**9 // (8 * 100_000)


def test_values_of_all_samples_count_as_work(monkeypatch):
    """A map of 20 × 20 numbers, multiplied 400 times a sample in a pass forward, as often back."""
    build = Builder()
    value = build.contract("ij,j->i", build.weight("W", (20, 20)), build.sample("x", (20,)))
    value = build.power(value, 2)
    model = Model(build.program(build.contract("ij,j->i", build.weight("V", (20, 20)), value)))
    monkeypatch.setattr(ranks, "MOST_PASSES", 1_000_000)
    sweep = work_of_sample(model.program, frozenset(["W"]), with_signs=False)
    assert 21 * 400 < sweep < 24 * 400
    assert ranks._most_samples(model, Subset("W", ("W",))) <= 1_000_000 // sweep


def test_finished_rows_are_kept(monkeypatch):
    """The smallest subsets come first; if a later one does not end, the others are returned."""
    model = perceptron(3, 4, 2)
    own = ranks._short_ranks

    def refused(model, subset, *more):
        if subset.name == "large":
            raise Unfinished("no memory")
        return own(model, subset, *more)

    monkeypatch.setattr(ranks, "_short_ranks", refused)
    subsets = [Subset("large", ("W0", "b0")), Subset("small", ("b0",))]
    seen = []
    found = capacities(model, subsets, progress=lambda *done: seen.append(done))
    assert [row.name for row in found.subsets] == ["small"]
    assert found.unfinished == ("large",)
    assert seen == [(0, 2), (1, 2)]
    with pytest.raises(Unfinished):
        capacities(model, subsets[:1])


@pytest.mark.parametrize(("most", "share"), [(20, 8), (3, 64)])
def test_samples_that_are_finished_in_time_are_lower_bounds(most, share, monkeypatch):
    """If the time is over at more samples, the ranks of a part of them are kept, as such."""
    model = perceptron(3, 12, 12, 2)
    subset = Subset("all", tuple(model.program.weights))
    own, asked = ranks._short_ranks, []

    def limited(model, subset, m, *more):
        asked.append(m)
        if m > most:
            raise OutOfTime("the time limit is over")
        return own(model, subset, m, *more)

    monkeypatch.setattr(ranks, "_short_ranks", limited)
    with within(600):
        found = capacities(model, [subset])
    [row] = found.subsets
    [all_samples] = {ranks.samples_of_all(model.program, subset) + 2}
    assert row.samples == all_samples // share
    assert asked[-1] > most >= asked[-2] == row.samples
    assert (row.rank, row.capacity) == (2 * row.samples, row.samples)
    assert (row.is_whole, found.unfinished) == (False, ("all",))
    with within(600):
        joined = capacities_on(model.program, lambda _: [Piece("training", model)], [subset])
    assert [(one.rank, one.exact) for one in joined.subsets] == [(row.rank, False)]
    assert joined.unfinished == ("all",)
    # Without a time limit nothing is computed twice.
    with pytest.raises(OutOfTime):
        capacities(model, [subset])
