"""Masks and cells in all their forms, valid and invalid."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from algebra.problems.allocation import Allocation, as_mask
from matchprob import InputError, LinearFeedForward, LinearRNN
from tests.algebra.problems.refusals import refused

NET = LinearRNN(n=3, T=2, b=1, d=2, m=2)
ALL_CELLS = [(k, i, j) for k, (r, c) in NET.shapes.items() for i in range(r) for j in range(c)]


GOOD = [[1, 0, 0], [0, 1, 1], [0, 0, 0]]


@pytest.mark.parametrize(
    "mask",
    [
        GOOD,
        [tuple(row) for row in GOOD],
        [[bool(v) for v in row] for row in GOOD],
        [[float(v) for v in row] for row in GOOD],
        [[Fraction(v) for v in row] for row in GOOD],
        [np.array(row) for row in GOOD],
        np.array(GOOD),
        np.array(GOOD, dtype=bool),
        np.array(GOOD, dtype=np.uint64),
        np.array(GOOD, dtype=np.float32),
        np.asfortranarray(GOOD),
        np.array(GOOD, dtype=object),
    ],
    ids=lambda m: f"{type(m).__name__}-{getattr(m, 'dtype', type(m[0][0]).__name__)}",
)
def test_every_form_of_a_mask_means_the_same(mask):
    """Lists, tuples, bools, floats and arrays of any type give one int8 matrix, a new one."""
    made = as_mask(mask, (3, 3), "W")
    assert made.dtype == np.int8
    assert made.tolist() == GOOD
    assert made is not mask
    cells = (("W", 0, 0), ("W", 1, 1), ("W", 1, 2))
    assert Allocation.from_masks(NET, W=mask).cells == cells


@pytest.mark.parametrize(
    ("entry", "echo"),
    [
        (2, "2"),
        (-1, "-1"),
        (0.5, "0.5"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        ("1", "'1'"),
        (b"1", "b'1'"),
        (None, "None"),
        (1j, "1j"),
        (1 + 0j, "(1+0j)"),
        (Decimal(1), "Decimal('1')"),
        ({}, "{}"),
        (pytest.param(10**5000, "too large", id="huge")),
        (np.timedelta64(1, "s"), "timedelta64"),
    ],
)
def test_an_entry_that_is_not_0_or_1_is_echoed(entry, echo):
    """The message names the cell and shows the entry."""
    rows = [[1, 0, 0], [0, 0, entry], [0, 0, 0]]
    refused(lambda: as_mask(rows, (3, 3), "learnable.W"), "`learnable.W[1][2]`", echo)


@pytest.mark.parametrize(
    "array",
    [
        np.full((3, 3), 2),
        np.full((3, 3), np.nan),
        np.ones((3, 3), complex),
        np.array([["1"] * 3] * 3),
        np.zeros((3, 3), "m8[ns]"),
        np.zeros((3, 3), "M8[s]"),
        np.zeros((3, 3), "V4"),
        np.zeros((3, 3), [("a", int), ("b", int)]),
    ],
    ids=lambda a: str(a.dtype),
)
def test_arrays_of_other_types_are_refused(array):
    """Complex, text, time and record arrays are no masks, even where they look like 0 or 1."""
    refused(lambda: as_mask(array, (3, 3), "W"), "`W[0][0]`")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([[1, 0], [0, 1]], ["2×2", "3×3"]),
        ([[1, 0, 0]] * 4, ["4×3", "3×3"]),
        ([[1, 0, 0], [0, 1], [0]], ["lengths [3, 2, 1]"]),
        ([[1, 0, 0], [0, 1, 0], 1], ["3×3", "1 dimension"]),
        ([1, 0, 0], ["1 dimension"]),
        ([], ["3×3"]),
        ([[]], ["1×0"]),
        ([[[1]]], ["3 dimensions"]),
        (1, ["0 dimensions"]),
        (None, ["0 dimensions"]),
        ({}, ["0 dimensions"]),
        ("110", ["'110'"]),
        (np.zeros((2, 3, 3)), ["3 dimensions"]),
        (np.array(1), ["0 dimensions"]),
        ([np.zeros((2, 2)), np.zeros((2, 3))], ["not a matrix"]),
        ([[1, [2]], [0]], ["lengths"]),
    ],
)
def test_wrong_shapes_are_named(value, words):
    """The message contains the given shape and the required one."""
    refused(lambda: as_mask(value, (3, 3), "learnable.W"), "`learnable.W`", *words)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.floats() | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=1), inner),
    max_leaves=12,
)


@given(ANYTHING)
def test_whatever_is_given_only_input_errors_come_out(value):
    """A value is either a mask or an input error of one line."""
    message = ""
    try:
        mask = as_mask(value, (2, 2), "W")
    except InputError as error:
        message, mask = str(error), None
    if mask is None:
        assert "`W" in message
        assert "\n" not in message
    else:
        assert mask.tolist() == [[int(v) for v in row] for row in value]


@given(st.sets(st.sampled_from(ALL_CELLS)), st.randoms())
def test_cells_and_masks_are_two_views_of_one_thing(cells, rng):
    """Any order of cells gives the same allocation, and its masks give it back."""
    shuffled = list(cells)
    rng.shuffle(shuffled)
    allocation = Allocation.from_cells(NET, shuffled)
    assert allocation == Allocation.from_masks(NET, allocation.masks)
    assert hash(allocation) == hash(Allocation.from_cells(NET, reversed(shuffled)))
    assert allocation.cells == tuple(c for c in ALL_CELLS if c in cells)
    assert allocation.size == len(allocation) == len(cells)
    assert allocation.matrices == tuple(k for k in NET.shapes if any(c[0] == k for c in cells))
    for name, (rows, columns) in NET.shapes.items():
        inside = [(i, j) for k, i, j in cells if k == name]
        assert allocation.row_counts(name) == [sum(i == r for i, _ in inside) for r in range(rows)]
        assert allocation.column_counts(name) == [
            sum(j == c for _, j in inside) for c in range(columns)
        ]
        assert int(allocation.masks[name].sum()) == len(inside)


def test_rows_and_columns():
    """Whole rows and columns of one matrix."""
    assert Allocation.rows(NET, "D", [1]).cells == (("D", 1, 0), ("D", 1, 1), ("D", 1, 2))
    assert Allocation.columns(NET, "B", range(1)).cells == tuple(("B", i, 0) for i in range(3))
    assert Allocation.rows(NET, "W", []).cells == ()


def test_matrices_stand_in_the_networks_order():
    """Cells of the last layer come first, as in `Network.shapes`."""
    net = LinearFeedForward(q=1, widths=(1,), d=1, m=1)
    assert Allocation.from_cells(net, [("W1", 0, 0), ("W2", 0, 0)]).matrices == ("W2", "W1")


def test_without_takes_cells_away():
    """The rest is an allocation; cells that are not learnable do not matter."""
    allocation = Allocation.rows(NET, "W", [0])
    assert allocation.without([("W", 0, 1), ("D", 0, 0)]).cells == (("W", 0, 0), ("W", 0, 2))


def test_how_it_prints():
    """Cells are listed; an empty list is "nothing"."""
    assert str(Allocation.from_cells(NET, [("W", 1, 2), ("D", 0, 1)])) == "D[0,1] W[1,2]"
    assert repr(Allocation.from_cells(NET, [])) == "Allocation((nothing))"


@pytest.mark.parametrize(
    ("cells", "word"),
    [
        ([("W", 3, 0)], "cell W[3, 0] is outside W (3×3"),
        ([("W", 0, -1)], "cell W[0, -1] is outside"),
        ([("W", 0, 0), ("W", 0, 0)], "cell W[0, 0] is given twice"),
        ([("V", 0, 0)], "no matrix `V`"),
        ([("a\nb", 0, 0)], r"no matrix `a\nb`"),
        ([(["W"], 0, 0)], "no matrix"),
        ([("W", 0)], "('W', 0) is not a cell"),
        ([("W", 0.5, 0)], "('W', 0.5, 0) is not a cell"),
        ([("W", "0", 0)], "is not a cell"),
        (["W00"], "'W00' is not a cell"),
        ([7], "7 is not a cell"),
        (7, "`cells` (7) must be a list"),
        ("W00", "`cells` ('W00') must be a list"),
    ],
)
def test_cells_that_do_not_exist_are_refused(cells, word):
    """Each is an input error that shows the cell; nothing is rounded silently."""
    refused(lambda: Allocation.from_cells(NET, cells), word)


def test_indices_of_numpy_are_cells():
    """Indices from NumPy arrays become Python integers."""
    allocation = Allocation.from_cells(NET, [("W", np.int64(1), np.uint8(2))])
    assert allocation.cells == (("W", 1, 2),)
    assert type(allocation.cells[0][1]) is int


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: Allocation.rows(NET, "V", [0]), "no matrix `V`"),
        (lambda: Allocation.rows(NET, "W", 0), "`rows` (0) must be a list"),
        (lambda: Allocation.columns(NET, "W", "0"), "`columns` ('0') must be a list"),
        (lambda: Allocation.columns(NET, "W", [3]), "cell W[0, 3] is outside"),
        (lambda: Allocation.rows(NET, "W", [1, 1]), "given twice"),
        (lambda: Allocation.from_masks(NET, V=[[1]]), "no matrix `V`"),
        (lambda: Allocation.from_masks(NET, GOOD), "`masks`"),
        (lambda: Allocation.from_masks(NET, W="W.csv"), "'W.csv'"),
    ],
)
def test_wrong_calls_are_input_errors(make, word):
    """Names and lines that do not exist are named."""
    refused(make, word)


@given(st.integers(0, 10**6))
def test_blocks_are_the_cells(seed):
    """The rectangles cover each learnable weight once and no other; whole rows are one."""
    rng = np.random.default_rng(seed)
    net = LinearRNN(n=int(rng.integers(1, 7)), T=2, b=1, d=1, m=1)
    mask = rng.random((net.n, net.n)) < rng.choice([0, 0.3, 0.7, 1])
    covered = np.zeros((net.n, net.n), int)
    blocks = Allocation.from_masks(net, W=mask).blocks("W")
    for top, bottom, left, right in blocks:
        covered[top : bottom + 1, left : right + 1] += 1
    assert (covered == mask).all()
    assert not mask.all() or blocks == [(0, net.n - 1, 0, net.n - 1)]
