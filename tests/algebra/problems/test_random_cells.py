"""Random allocations: exactly uniform over the permitted ones, by enumeration."""

import itertools
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from algebra.errors import InputError
from algebra.problems import random_cells as sampling
from algebra.problems.random_cells import RandomCells
from tests.refusals import refuses
from tests.samples import many

SUPPORT = np.array([[1, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1]])
SPECS = {
    "any cells": (RandomCells(3), (3, 3), None),
    "rows used, row cap": (RandomCells(4, rows=2, max_per_row=3), (3, 4), None),
    "rows and columns": (RandomCells(4, rows=3, columns=2), (3, 4), None),
    "only columns": (RandomCells(4, columns=3), (3, 4), None),
    "only columns, caps": (
        RandomCells(5, columns=4, max_per_row=2, max_per_column=2),
        (3, 4),
        None,
    ),
    "column cap": (RandomCells(6, rows=3, columns=3, max_per_column=2), (3, 4), None),
    "column cap 1": (RandomCells(4, rows=2, max_per_column=1), (3, 4), None),
    "margins fixed": (RandomCells(8, max_per_row=2, max_per_column=2), (4, 4), None),
    "support": (RandomCells(5, rows=3, max_per_row=2, max_per_column=2), (3, 4), SUPPORT),
    "support, columns": (RandomCells(4, columns=3, max_per_row=2), (3, 4), SUPPORT),
    "empty": (RandomCells(0, max_per_column=0), (2, 2), None),
}


def every(spec, shape, support=None):
    """All 0/1 matrices that meet a specification, by looking at each."""
    found = []
    for bits in itertools.product((0, 1), repeat=shape[0] * shape[1]):
        mask = np.array(bits, np.int8).reshape(shape)
        rows, columns = mask.sum(axis=1), mask.sum(axis=0)
        by_columns = spec.rows is None and spec.columns is not None
        if (
            mask.sum() == spec.budget
            and (support is None or (mask <= support).all())
            and (spec.rows is None or (not mask[spec.rows :].any() and rows[: spec.rows].all()))
            and (spec.columns is None or not mask[:, spec.columns :].any())
            and (not by_columns or columns[: spec.columns].all())
            and (spec.max_per_row is None or rows.max() <= spec.max_per_row)
            and (spec.max_per_column is None or columns.max() <= spec.max_per_column)
        ):
            found.append(mask.tobytes())
    return found


def assert_uniform(spec, shape, support, seed=0):
    """A chi-square test against the enumeration, with a fixed seed."""
    support_set = every(spec, shape, support)
    rng = random.Random(seed)
    draws = many(30) * len(support_set)
    tally = Counter(spec.draw(shape, rng, support).tobytes() for _ in range(draws))
    assert set(tally) <= set(support_set)
    if len(support_set) > 1:
        assert chisquare([tally[mask] for mask in support_set]).pvalue > 1e-3


@pytest.mark.parametrize("name", SPECS)
def test_draws_are_uniform(name):
    """Each matrix that meets the caps is as likely as any other, and no other is drawn."""
    spec, shape, support = SPECS[name]
    assert_uniform(spec, shape, support)


@pytest.mark.parametrize("name", [k for k, v in SPECS.items() if v[0].max_per_column or "col" in k])
def test_counting_completions_is_uniform_too(name, monkeypatch):
    """The same holds if rejection is not tried."""
    monkeypatch.setattr(sampling, "_FEW", 0)
    spec, shape, support = SPECS[name]
    assert_uniform(spec, shape, support)


def test_rejection_alone_is_uniform_too(monkeypatch):
    """The same holds if there are too many states to count completions."""
    monkeypatch.setattr(sampling, "_FEW", 0)
    monkeypatch.setattr(sampling, "_STEPS", 0)
    sampling._completions.cache_clear()
    assert_uniform(*SPECS["column cap"])


def test_caps_that_neither_way_can_meet_are_an_input_error(monkeypatch):
    """If rejection finds no matrix and counting is too expensive, the message says so."""
    monkeypatch.setattr(sampling, "_STEPS", 0)
    monkeypatch.setattr(sampling, "_MANY", 1)
    sampling._completions.cache_clear()
    with pytest.raises(InputError, match="too few 12×12 allocations meet random"):
        RandomCells(12, max_per_row=1, max_per_column=1).draw((12, 12), random.Random(0))


SMALL = st.none() | st.integers(0, 3)


@given(st.integers(0, 7), SMALL, SMALL, SMALL, SMALL, st.randoms(), st.booleans())
@settings(max_examples=many(150))
def test_a_draw_exists_exactly_where_the_enumeration_finds_one(
    budget, rows, columns, row_cap, column_cap, rng, sparse
):
    """Impossible caps are an input error, possible ones give a matrix that meets them."""
    spec = RandomCells(budget, rows, columns, row_cap, column_cap)
    support = (
        np.array([[rng.randint(0, 1) for _ in range(3)] for _ in range(3)]) if sparse else None
    )
    allowed = every(spec, (3, 3), support)
    if allowed:
        drawn = spec.draw((3, 3), random.Random(rng.randint(0, 99)), support)
        assert drawn.dtype == np.int8
        assert drawn.tobytes() in allowed
    else:
        with pytest.raises(InputError, match=r"no 3×3 allocation meets random \{ budget = "):
            spec.draw((3, 3), random.Random(0), support)


@given(st.integers(1, 8), st.integers(1, 8), st.data())
def test_larger_draws_meet_their_caps(rows, columns, data):
    """Budget, rows used and both caps hold for shapes that cannot be enumerated."""
    row_cap = data.draw(st.integers(1, columns))
    column_cap = data.draw(st.integers(1, rows))
    budget = data.draw(st.integers(rows, rows * columns))
    assume(budget <= min(rows * row_cap, columns * column_cap))
    spec = RandomCells(budget, rows=rows, max_per_row=row_cap, max_per_column=column_cap)
    mask = spec.draw((rows + 1, columns), random.Random(0))
    assert mask.sum() == budget
    assert not mask[rows:].any()
    assert mask[:rows].sum(axis=1).min() >= 1
    assert mask.sum(axis=1).max() <= row_cap
    assert mask.sum(axis=0).max() <= column_cap


@pytest.mark.parametrize("rows", range(4, 17))
def test_the_papers_settings(rows):
    """Budget 32 in the first k rows of 16×16, at most 8 a row and 32 a column (n=16, T=8)."""
    spec = RandomCells(32, rows=rows, max_per_row=8, max_per_column=32)
    for seed in range(5):
        mask = spec.draw((16, 16), random.Random(seed))
        assert mask.sum() == 32
        assert mask[:rows].any(axis=1).all()
        assert not mask[rows:].any()
        assert mask.sum(axis=1).max() <= 8


@pytest.mark.parametrize("size", [8, 24, 40])
def test_caps_that_bind_hard(size):
    """All row and column sums 2: rejection rarely succeeds, counting always does."""
    spec = RandomCells(2 * size, max_per_row=2, max_per_column=2)
    mask = spec.draw((size, size), random.Random(0))
    assert (mask.sum(axis=0) == 2).all()
    assert (mask.sum(axis=1) == 2).all()


def test_a_cap_of_one_gives_uniform_permutations():
    """With one cell a row and a column all 24 permutations of 4 are equally likely."""
    spec = RandomCells(4, max_per_row=1, max_per_column=1)
    rng = random.Random(5)
    tally = Counter(spec.draw((4, 4), rng).tobytes() for _ in range(many(2400)))
    assert len(tally) == 24
    assert chisquare(list(tally.values())).pvalue > 1e-3


def test_the_same_stream_gives_the_same_matrix():
    """Draws are a function of the random stream, not of earlier draws."""
    spec = RandomCells(16, max_per_row=2, max_per_column=2)
    first = spec.draw((8, 8), random.Random(3))
    for seed in range(3):
        spec.draw((8, 8), random.Random(seed))
    assert (spec.draw((8, 8), random.Random(3)) == first).all()


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"budget": -1}, "random.budget"),
        ({"budget": True}, "random.budget"),
        ({"budget": 2.0}, "random.budget"),
        ({"budget": None}, "random.budget"),
        ({"budget": 1, "rows": "1"}, "random.rows"),
        ({"budget": 1, "columns": -1}, "random.columns"),
        ({"budget": 1, "max_per_row": 1.5}, "random.max_per_row"),
        ({"budget": 1, "max_per_column": [1]}, "random.max_per_column"),
    ],
)
def test_wrong_numbers_are_named(fields, named):
    """Each number of the specification must be a whole one, at least 0."""
    refuses(named, RandomCells, **fields)


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        (RandomCells(1, rows=4), r"random.rows \(4\) exceeds the matrix's 3 rows"),
        (RandomCells(1, columns=5), r"random.columns \(5\) exceeds the matrix's 4 columns"),
        (RandomCells(13), "no 3×4 allocation"),
        (RandomCells(10**12), "no 3×4 allocation"),
        (RandomCells(10**5000), "no 3×4 allocation"),
        (RandomCells(2, rows=3), "no 3×4 allocation"),
        (RandomCells(1, max_per_row=0), "no 3×4 allocation"),
        (RandomCells(5, max_per_column=1), "no 3×4 allocation"),
        (RandomCells(3, rows=0), "no 3×4 allocation"),
    ],
    ids=lambda v: None if isinstance(v, RandomCells) else v[:20],
)
def test_impossible_specifications(spec, word):
    """Specifications that no matrix can meet are an input error, at once, for all numbers."""
    refuses(word, spec.draw, (3, 4), random.Random(0))


def test_a_row_outside_the_support_cannot_be_used():
    """Every row must get a cell; a row without allowed cells makes it impossible."""
    support = np.array([[1, 1], [0, 0]])
    refuses("no 2×2 allocation", RandomCells(2, rows=2).draw, (2, 2), random.Random(0), support)
    assert RandomCells(2).draw((2, 2), random.Random(0), support).tolist() == [[1, 1], [0, 0]]


def test_how_it_prints():
    """As in a problem file, without missing entries."""
    assert str(RandomCells(4, rows=2, max_per_column=3)) == (
        "random { budget = 4, rows = 2, max_per_column = 3 }"
    )
