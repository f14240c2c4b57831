"""Decision files of ReLU instances: what is accepted and what is not."""

import numpy as np
import pytest

from algebra.errors import InputError
from algebra.relu.decision import covers, verify_decision
from numeric.instances import draw_instance
from numeric.relu.decide import MATCH, NONE, decide, decide_pairs
from tests.numeric.relu.cases import problem

MASK = [[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0]]


def _files() -> dict[str, dict]:
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


FILES = _files()


@pytest.mark.parametrize("name", [MATCH, NONE, "tree", "pairs"])
def test_files_verify(name):
    """Witnesses, hull refutations and Farkas vectors in u and v all hold."""
    assert verify_decision(FILES[name]).holds


@pytest.mark.parametrize("name", ["tree", "pairs"])
def test_missing_leaf_fails(name):
    """Leaves that do not hold every pattern prove nothing."""
    assert not verify_decision({**FILES[name], "leaves": FILES[name]["leaves"][1:]}).holds


@pytest.mark.parametrize("name", ["tree", "pairs"])
def test_changed_vector_fails(name):
    """A refutation with its sign turned is none."""
    leaves = [dict(leaf) for leaf in FILES[name]["leaves"]]
    leaves[0]["mu"] = [[_negative(v) for v in row] for row in leaves[0]["mu"]]
    assert not verify_decision({**FILES[name], "leaves": leaves}).holds


def _negative(text: str) -> str:
    return text[1:] if text.startswith("-") else f"-{text}"


def test_changed_labels_fail():
    """A witness of other labels is none."""
    data = FILES[MATCH]
    labels = [list(row) for row in data["Y"]]
    labels[0][0] = "12345/7"
    assert not verify_decision({**data, "Y": labels}).holds


def test_single_cell_is_solved_again():
    """A leaf without a vector must be one cell whose equations have no solution in it."""
    data = FILES[MATCH]
    system_leaf = {"fixed": [[2] * 3] * 3}
    found = verify_decision(
        {
            **{k: v for k, v in data.items() if k != "witness"},
            "verdict": NONE,
            "leaves": [system_leaf],
        }
    )
    assert not found.holds


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"version": 99},
        {"verdict": "perhaps"},
        {"witness": ["x"]},
        {"network": {"kind": "lrnn", "q": 3, "n": 4, "d": 2, "m": 3}},
        {"X": [["1"]]},
        {"cells": [["W1", 99, 0]]},
        {"Y": None},
    ],
)
def test_damage_is_told_in_words(change):
    """A file that is no decision is refused, not half read."""
    with pytest.raises(InputError):
        verify_decision({**FILES[MATCH], **change})


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
    """Leaves hold every pattern once, or they do not."""
    assert covers([np.array(leaf) for leaf in leaves]) is whole
