"""Large matrices in sparse form: they are read as written, and false ones are refused."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.checker import compact as writing
from algebra.checker import sparse
from algebra.checker.checks import CheckFailed
from algebra.checker.compact import compact
from algebra.checker.fields import whole
from algebra.checker.sparse import entries
from algebra.linalg.sparse import SparseMatrix
from tests.samples import many


def number(value, place):
    return whole(value, place, -9, 1 << 70)


@st.composite
def matrices(draw):
    """Matrices of a few different values, mostly one, wide and narrow."""
    rows, columns = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    values = draw(st.lists(st.integers(-9, 9) | st.just(1 << 65), min_size=1, max_size=4))
    return [
        [draw(st.sampled_from([values[0], *values])) for _ in range(columns)] for _ in range(rows)
    ]


@settings(max_examples=many(200))
@given(matrices())
def test_what_is_read_is_what_was_written(rows):
    """In both forms, through JSON; the sparse form is chosen if it has fewer numbers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing, "MOST_ENTRIES", 0)
        written = compact({"of": {"W": rows}})["of"]["W"]
    read = json.loads(json.dumps(written))
    shape = len(rows), len(rows[0])
    assert entries(read, "W", shape, number).tolist() == rows
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse, "LARGE", 0)
        held = entries(read, "W", shape, number, sparse=True)
    assert np.asarray(held).tolist() == rows
    if isinstance(held, SparseMatrix):
        assert held.values.all()
    assert entries(rows, "W", shape, number).tolist() == rows
    # The sparse form has fewer numbers, but its names and two pairs of brackets for each row.
    assert len(json.dumps(written)) < len(json.dumps(rows)) + 80 + 8 * len(rows)


def test_only_large_matrices_are_sparse():
    """10,000 entries are written as rows, 10,100 are not; other lists are not changed."""
    small, large = np.eye(100, dtype=int).tolist(), np.eye(101, 100, dtype=int).tolist()
    assert compact(small) == small
    assert compact(large)["columns"][:3] == [[0], [1], [2]]
    assert compact([[0, 1], [1]]) == [[0, 1], [1]]


GOOD = {"shape": [2, 3], "rest": 0, "value": 1, "columns": [[0, 2], []]}


def bit(value, place):
    return whole(value, place, 0, 1)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"shape": [3, 2]}, "W.shape"),
        ({"shape": [2, 3.0]}, "W.shape[1]"),
        ({"rest": 2}, "W.rest"),
        ({"rest": False}, "W.rest"),
        ({"value": True}, "W.value"),
        ({"value": "1"}, "W.value"),
        ({"columns": [[0, 2]]}, "W.columns"),
        ({"columns": [[0, 3], []]}, "W.columns[0]"),
        ({"columns": [[-1], []]}, "W.columns[0]"),
        ({"columns": [[2, 0], []]}, "W.columns[0]"),
        ({"columns": [[1, 1], []]}, "W.columns[0]"),
        ({"columns": [[True], []]}, "W.columns[0]"),
        ({"columns": [[0], None]}, "W.columns[1]"),
        ({"columns": 7}, "W.columns"),
        ({"values": [[1, 1], []]}, "W.value"),
        ({"more": 0}, "W.more"),
    ],
)
def test_what_is_not_of_the_form_is_refused(change, place):
    """They are refused with their place; a truth value is not a number."""
    assert entries(GOOD, "W", (2, 3), bit).tolist() == [[1, 0, 1], [0, 0, 0]]
    with pytest.raises(CheckFailed) as refused:
        entries({**GOOD, **change}, "W", (2, 3), bit)
    assert refused.value.place == place


@pytest.mark.parametrize(
    "values", [[[1], []], [[1, 1]], [[1, 2], []], [[1, 1], [1]], [[1, None], []], 3]
)
def test_values_stand_beside_their_columns(values):
    """As many as columns, each checked."""
    several = {"shape": [2, 3], "rest": 0, "columns": [[0, 2], []]}
    good = entries({**several, "values": [[1, 0], []]}, "W", (2, 3), bit)
    assert good.tolist() == [[1, 0, 0], [0, 0, 0]]
    with pytest.raises(CheckFailed) as refused:
        entries({**several, "values": values}, "W", (2, 3), bit)
    assert refused.value.place.startswith("W.values")
