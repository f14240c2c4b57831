"""Decision files of ReLU instances: which are accepted and which are not."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from algebra.checker.checks import FAILED, PROVED, UNCHECKED
from algebra.plugins.relu.decision import DECISION
from algebra.plugins.relu.leaves import leaves_cover
from matchprob import Constraints, draw_instance
from numeric.plugins.relu.decide import decide
from numeric.plugins.relu.decision import MATCH, NONE
from numeric.plugins.relu.pairs import decide_pairs
from tests.numeric.plugins.relu.cases import problem
from tests.refusals import refuses

MASK = [[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0]]


@cache
def files_of() -> dict[str, dict]:
    case = problem(3, 4, 2, 3, W1=MASK)
    files: dict[str, dict] = {}
    for index in range(40):
        instance = draw_instance(case, 2, index)
        found = decide(instance, certify=True)
        files.setdefault(found.verdict, found.certificate())
        if found.verdict == NONE and found.leaf_count > 3:
            files["tree"] = found.certificate()
            pairs = decide_pairs(instance, certify=True)
            if pairs.verdict == NONE:
                files["pairs"] = pairs.certificate()
    return files


@cache
def boxed_files() -> dict[str, dict]:
    case = problem(3, 4, 2, 3, W1=MASK)
    case = replace(case, constraints=Constraints(max_abs=2.0))
    files: dict[str, dict] = {}
    for index in range(60):
        found = decide(draw_instance(case, 2, index), certify=True)
        if found.verdict == MATCH or found.leaf_count > 2:
            files.setdefault(found.verdict, found.certificate())
    return files


@pytest.mark.parametrize("name", [MATCH, NONE, "tree", "pairs"])
def test_files_verify(name):
    """Witnesses, hull refutations and Farkas vectors in u and v all hold."""
    assert DECISION.verify(files_of()[name]).holds


@pytest.mark.parametrize("name", ["tree", "pairs"])
def test_missing_leaf_fails(name):
    """Leaves that do not contain every pattern prove nothing."""
    assert not DECISION.verify({**files_of()[name], "leaves": files_of()[name]["leaves"][1:]}).holds


@pytest.mark.parametrize("name", ["tree", "pairs"])
def test_changed_vector_fails(name):
    """A refutation with its sign changed is not one."""
    leaves = [dict(leaf) for leaf in files_of()[name]["leaves"]]
    leaves[0]["mu"] = [[_negative(v) for v in row] for row in leaves[0]["mu"]]
    assert not DECISION.verify({**files_of()[name], "leaves": leaves}).holds


def _negative(text: str) -> str:
    return text[1:] if text.startswith("-") else f"-{text}"


def test_changed_labels_fail():
    """A witness of other labels is not accepted."""
    data = files_of()[MATCH]
    labels = [list(row) for row in data["Y"]]
    labels[0][0] = "12345/7"
    assert not DECISION.verify({**data, "Y": labels}).holds


@pytest.mark.parametrize("name", [MATCH, NONE])
def test_boxes_are_part_of_the_question(name):
    """Files with a box hold in that box, and in no other box that excludes solutions."""
    data = json.loads(json.dumps(boxed_files()[name]))
    assert data["version"] == 1
    found = DECISION.verify(data)
    assert found.holds
    assert [c.status for c in found.checks if c.place == "box"] == [UNCHECKED]
    # The same evidence without the box: a match is still one, a refutation depends on it.
    free = {k: v for k, v in data.items() if k != "box"}
    assert DECISION.verify(free).holds == (name == MATCH)
    elsewhere = {**data, "box": [["1000", "1001"]] * len(data["box"])}
    if name == MATCH:
        assert not DECISION.verify(elsewhere).holds
    wide = {**data, "box": [[None, None]] * len(data["box"])}
    assert DECISION.verify(wide).holds == (name == MATCH)


@pytest.mark.parametrize(
    "box",
    [[], [["0", "1"]], [["0"]] * 6, [[0, 1]] * 6, [["a", "1"]] * 6, "x", [["1/0", "2"]] * 6],
    ids=str,
)
def test_damaged_boxes_fail(box):
    """A box that is too short or without numbers: the check fails, with its place."""
    found = DECISION.verify({**boxed_files()[NONE], "box": box})
    assert not found.holds
    assert any(c.status == FAILED and c.place.startswith("box") for c in found.checks)


def test_single_cell_is_solved_again():
    """A leaf without a vector must be one cell whose equations have no solution in it."""
    data = files_of()[MATCH]
    system_leaf = {"fixed": [[2] * 3] * 3}
    found = DECISION.verify(
        {
            **{k: v for k, v in data.items() if k != "witness"},
            "verdict": NONE,
            "leaves": [system_leaf],
        }
    )
    assert not found.holds


@pytest.mark.parametrize("change", [{"format": "other"}, {"version": 99}, {"version": 1.0}])
def test_other_files_are_bad_input(change):
    """A file that is not a decision file of this version is not read."""
    refuses("", DECISION.verify, {**files_of()[MATCH], **change})


LONG = "1" * 30_000


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"verdict": "perhaps"}, "verdict"),
        ({"witness": ["x"]}, "witness"),
        ({"witness": ["1e9"] * 6}, "witness[0]"),
        ({"witness": ["0.5"] * 6}, "witness[0]"),
        ({"witness": [1] * 6}, "witness[0]"),
        ({"witness": ["1/0"] * 6}, "witness[0]"),
        ({"witness": [LONG] * 6}, "witness[0]"),
        ({"network": {"kind": "lrnn", "q": 3, "n": 4, "d": 2, "m": 3}}, "network.kind"),
        ({"network": {"kind": "relu", "q": 3.0, "n": 4, "d": 2, "m": 3}}, "network.q"),
        ({"network": {"kind": "relu", "q": True, "n": 4, "d": 2, "m": 3}}, "network.q"),
        ({"network": {"kind": "relu", "q": 3, "n": 4, "d": 2, "m": 10**8}}, "network.m"),
        ({"X": [["1"]]}, "X"),
        ({"cells": [["W1", 99, 0]]}, "cells"),
        ({"cells": [["W1", 0, 0.0]]}, "cells[0]"),
        ({"cells": [["W1", 0, 0], ["W1", 0, 0]]}, "cells"),
        ({"Y": None}, "Y"),
        ({"seed": 3}, "seed"),
        ({"index": 3}, "index"),
        ({"leaves": []}, "leaves"),
    ],
)
def test_damage_is_told_with_its_place(change, place):
    """A field of another type, shape or name fails, and the check names it."""
    found = DECISION.verify({**files_of()[MATCH], **change})
    assert [(c.place, c.status) for c in found.checks] == [(place, FAILED)]


@pytest.mark.parametrize(
    "leaf",
    [
        {"fixed": [[0.5] * 3] * 3, "mu": [["0"] * 3] * 2},
        {"fixed": [[False] * 3] * 3, "mu": [["0"] * 3] * 2},
        {"fixed": [[0] * 9], "mu": [["0"] * 3] * 2},
        {"fixed": [[3] * 3] * 3},
        {"fixed": [[0] * 3] * 3, "lambda": [["0"] * 3] * 3},
        {"fixed": [[0] * 3] * 3, "mu": [["0"] * 2] * 2},
        {"fixed": [[0] * 3] * 3, "mu": [["0"] * 3] * 2, "gap": "1"},
    ],
)
def test_leaves_have_exact_types(leaf):
    """Fixings are 0, 1 or 2 in a k×m matrix, vectors rationals of the right shape."""
    found = DECISION.verify({**files_of()["tree"], "leaves": [leaf]})
    assert not found.holds
    assert found.checks[0].place.startswith("leaves[0]")


@pytest.mark.parametrize("name", ["tree", "pairs"])
def test_overlapping_leaves_fail(name):
    """A leaf twice, or two leaves that share patterns, are not a cover even if all are refuted."""
    leaves = files_of()[name]["leaves"]
    assert not DECISION.verify({**files_of()[name], "leaves": [*leaves, leaves[0]]}).holds
    freed = {**leaves[0], "fixed": [[0] * 3] * 3}
    assert not DECISION.verify({**files_of()[name], "leaves": [freed, *leaves[1:]]}).holds


def test_teachers_labels_are_computed_again():
    """A teacher with other labels fails; without one the statement is about the labels."""
    data = files_of()[MATCH]
    assert {c.status for c in DECISION.verify(data).checks} == {PROVED}
    alone = {key: value for key, value in data.items() if key != "teacher"}
    assert DECISION.verify(alone).checks[0].status == UNCHECKED
    student = {name: [list(row) for row in rows] for name, rows in data["weights"].items()}
    for (name, i, j), value in zip(data["cells"], data["witness"], strict=True):
        student[name][i][j] = value
    assert [c.status for c in DECISION.verify({**data, "teacher": student}).checks] == [PROVED] * 2
    student["W2"] = [["1"] * 4] * 2
    found = DECISION.verify({**data, "teacher": student})
    assert (found.checks[0].place, found.checks[0].status) == ("Y", FAILED)


def test_arrangements_too_large_to_check_are_told():
    """5 kB that require 10^11 vertices: the limit is named, nothing is computed."""
    zeros = [["0"] * 40]
    data = {
        "format": "matchprob relu decision",
        "version": 1,
        "network": {"kind": "relu", "q": 20, "n": 1, "d": 1, "m": 40},
        "cells": [["W1", 0, j] for j in range(20)],
        "weights": {"W1": [["0"] * 20], "W2": [["1"]]},
        "X": [["1"] * 40] * 20,
        "Y": zeros,
        "verdict": NONE,
        "leaves": [{"fixed": [[0] * 40], "mu": zeros}],
    }
    limit = DECISION.verify(data)
    assert limit.is_unfinished
    assert "vertices" in limit.checks[-1].text


@pytest.mark.parametrize(
    ("leaves", "whole"),
    [
        ([[[0, 0]]], True),
        ([[[1, 0]], [[2, 0]]], True),
        ([[[1, 0]], [[2, 1]], [[2, 2]]], True),
        ([[[1, 0]], [[2, 1]]], False),
        ([[[1, 0]], [[1, 0]]], False),
        ([[[3, 0]]], False),
        ([], False),
    ],
)
def test_cover_is_counted(leaves, whole):
    """Leaves contain every pattern exactly once, or they are refused."""
    assert leaves_cover([np.array(leaf) for leaf in leaves]) is whole
