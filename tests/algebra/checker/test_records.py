"""Declared tables: what is written is read back, and the schema accepts it; what is damaged is
refused with its place."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from algebra.checker.arrays import matrices, matrix
from algebra.checker.checks import CheckFailed
from algebra.checker.records import (
    Cells,
    Counts,
    Record,
    read_form,
    row,
    write_form,
)
from algebra.declarations import Count, Keyword, Size, named_key
from algebra.networks.feedforward import LinearEstimator
from algebra.schemas import table_schema
from tests.plain_data import changed, places, without

NET = LinearEstimator(q=2, d=1, m=3)
DIGIT = Annotated[int, Keyword("minimum", 0), Keyword("maximum", 9)]


@dataclass(frozen=True)
class Pair:
    """A dataclass that is no record."""

    first: int
    more: tuple[int, ...]


@dataclass(frozen=True)
class Circle(Record):
    """One of a union."""

    kind: Literal["circle"]
    radius: Size


@dataclass(frozen=True)
class Square(Record):
    """The other."""

    kind: Literal["square"]
    side: Size
    turned: bool


@dataclass(frozen=True)
class Everything(Record):
    """A field of each form."""

    size: Size
    word: str
    flag: bool
    way: Literal["up", "down", 3]
    numbers: tuple[int, ...]
    both: tuple[Count, str]
    shape: Circle | Square
    cells: Cells
    pairs: tuple[Annotated[Pair, row(Pair, int, Counts)], ...]
    null: int | None
    renamed: Circle = field(metadata=named_key("lambda"))
    as_many: Annotated[np.ndarray, matrix(lambda c: (1, c["size"]), DIGIT)]
    weights: Annotated[Mapping[str, np.ndarray], matrices(DIGIT)]
    missing: int | None = None
    place: str = field(default="", metadata=named_key(None))

    def check(self, place: str, context: Mapping[str, Any]) -> None:
        """A relation of two fields."""
        if self.missing == self.size:
            raise CheckFailed(f"{place}.missing", "equals size")


class Asked(NamedTuple):
    """A context."""

    network: LinearEstimator = NET


CONTEXT = Asked()._asdict()
COUNT, NUMBER = st.integers(0, 5), st.integers(-(10**30), 10**30)
CIRCLE = st.builds(Circle, st.just("circle"), st.integers(1))


@st.composite
def records(draw):
    """A random record."""
    size = draw(st.integers(1, 3))
    shapes = st.one_of(CIRCLE, st.builds(Square, st.just("square"), st.integers(1), st.booleans()))
    cell = st.tuples(st.text(), COUNT, COUNT)
    pair = st.builds(Pair, NUMBER, st.lists(COUNT, max_size=2).map(tuple))
    digits = st.integers(0, 9)
    return Everything(
        size, draw(st.text()), draw(st.booleans()), draw(st.sampled_from(["up", "down", 3])),
        draw(st.lists(NUMBER).map(tuple)), (draw(COUNT), draw(st.text())), draw(shapes),
        draw(st.lists(cell, unique=True, max_size=3).map(tuple)), (draw(pair), draw(pair)),
        draw(st.none() | NUMBER), draw(CIRCLE),
        np.array([[draw(digits) for _ in range(size)]], object),
        {"W": np.array([[draw(digits), draw(digits)]], object)},
        draw(st.none() | st.integers(max_value=0)),
    )  # fmt: skip


def same(one, other):
    """Whether two records have equal fields."""
    return all(
        np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b
        for a, b in zip(vars(one).values(), vars(other).values(), strict=True)
    )


@given(records())
def test_through_a_file_and_back(record):
    """A file has what was written; the schema accepts it; the place is where it was read."""
    data = json.loads(json.dumps(record.to_dict()))
    jsonschema.Draft202012Validator(table_schema(Everything)).validate(data)
    read = Everything.from_dict(data, "here", CONTEXT)
    assert read.place == "here"
    assert read.to_dict() == data
    assert ("missing" in data) == (record.missing is not None)
    assert [same(read.renamed, record.renamed), read.numbers] == [True, record.numbers]
    assert np.array_equal(read.weights["W"], record.weights["W"])


def text_of(path):
    """The place of a path in messages."""
    return "here" + "".join(f"[{k}]" if isinstance(k, int) else f".{k}" for k in path)


@given(records(), st.data())
def test_what_has_another_form_is_refused_by_both(record, more):
    """One value is replaced or one key is missing: the place is that of the value or around it."""
    data = json.loads(json.dumps(record.to_dict()))
    path = more.draw(st.sampled_from(list(places(data))[1:]))
    damage = more.draw(st.sampled_from([-1, 1.0, True, None, [], {}, [[]], "?", 10**40, "remove"]))
    wrong = without(data, path) if damage == "remove" else changed(data, path, damage)
    valid = jsonschema.Draft202012Validator(table_schema(Everything)).is_valid(wrong)
    try:
        read = Everything.from_dict(wrong, "here", CONTEXT)
    except CheckFailed as refusal:
        # The shapes of matrices, and that cells are distinct, are not in the schema; 1.0 is an
        # integer there.
        if valid:
            assert path[0] in ("as_many", "weights", "cells", "size", "missing") or damage == 1.0
        start = path[: path.index("shape") + 1] if "shape" in path else path
        related = ("here.as_many", "here.missing")
        around = [text_of(path[:k]) for k in range(len(path) + 1)]
        place = refusal.place
        assert place.startswith(text_of(start)) or place in around or place.startswith(related)
    else:
        assert valid
        assert read.to_dict() == wrong


@pytest.mark.parametrize(
    ("change", "place", "text"),
    [
        ({"size": 0}, "size", "less than 1"),
        ({"flag": 1}, "flag", "true or false"),
        ({"way": True}, "way", "not one of up, down, 3"),
        ({"both": [0]}, "both", "2 entries"),
        ({"shape": {"kind": "line"}}, "shape.kind", "none of circle, square"),
        ({"shape": {"kind": "square", "side": 1}}, "shape.turned", "missing"),
        ({"pairs": [[1, []], [1, [0, -1]]]}, "pairs[1][1][1]", "less than 0"),
        ({"cells": [["W", 0, 0], ["W", 0, 0]]}, "cells", "twice"),
        ({"size": 2}, "as_many", "matrix of 1×2"),
        ({"weights": {"W": [[1, 10]]}}, "weights.W[0][1]", "more than 9"),
        ({"weights": {"V": [[1]]}}, "weights.W", "missing"),
        ({"missing": 1}, "missing", "equals size"),
        ({"place": "there"}, "place", "no field"),
    ],
)
def test_refusals_name_the_innermost_place(change, place, text):
    """Also what is not in the schema: shapes by the context, and relations of fields."""
    circle = Circle("circle", 1)
    record = Everything(
        1, "", True, "up", (), (0, ""), circle, (), (), None, circle,
        np.array([[1]]), {"W": np.array([[1, 2]])},
    )  # fmt: skip
    with pytest.raises(CheckFailed, match=text) as refusal:
        Everything.from_dict(record.to_dict() | change, "here", CONTEXT)
    assert refusal.value.place == f"here.{place}"


def test_forms_without_a_table():
    """A list of integers alone."""
    assert read_form(Counts, [1, 2], "here") == (1, 2)
    assert write_form(Counts, (1, 2)) == [1, 2]


def test_what_reading_does_not_check_cannot_be_declared():
    """A keyword that only the schema knows is a mistake of the declaration."""
    with pytest.raises(AssertionError, match="not checked"):
        read_form(Annotated[str, Keyword("minLength", 1)], "", "here")
