"""Duals and leaves are read from files as written; checks over points; refusals with a place."""

import json
from dataclasses import dataclass

import pytest

from algebra.checker.checks import CheckFailed
from algebra.checker.duals import DualInFile, Leaves
from algebra.checker.fields import RefusedAt
from algebra.checker.records import Record, read_form, write_form
from algebra.errors import DualError, InputError
from algebra.matroids.branch_and_bound import Tree
from algebra.matroids.groups import GroupLeaf
from algebra.matroids.intersection import Shortage, Splitting
from algebra.matroids.lagrangian import LagrangianLeaf
from tests.refusals import refuses

DUALS = [
    Splitting((3, -2, 10**30), 8),
    Shortage(0, (1, 4), 0, 0),
    Tree((LagrangianLeaf((0,), (), ((1, 2),)), LagrangianLeaf((), (0,), ((0, 5),)))),
]


@dataclass(frozen=True)
class Both(Record):
    """A dual and leaves."""

    by: DualInFile
    leaves: Leaves


@pytest.mark.parametrize("dual", DUALS, ids=lambda dual: type(dual).__name__)
def test_through_a_file_and_back(dual):
    """Equal after JSON, alone and as a field of evidence."""
    data = json.loads(json.dumps(write_form(DualInFile, dual)))
    assert read_form(DualInFile, data, "evidence") == dual
    whole = Both(dual, (GroupLeaf((0, 2), (1,)), GroupLeaf((), (0,), dual)))
    data = json.loads(json.dumps(whole.to_dict()))
    assert list(data) == ["by", "leaves"]
    assert Both.from_dict(data) == whole


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"by": None}, "evidence.by"),
        ({"by": {"kind": "guess"}}, "evidence.by.kind"),
        ({"by": {"kind": "splitting", "first": [1.0], "scale": 1}}, "evidence.by.first[0]"),
        ({"by": {"kind": "splitting", "first": [1], "scale": 0}}, "evidence.by.scale"),
        ({"by": {"kind": "tree", "leaves": [[[], []]]}}, "evidence.by.leaves[0]"),
        ({"leaves": [[[0], [], None], [[-1], [], None]]}, "evidence.leaves[1][0][0]"),
        ({"more": 1}, "evidence.more"),
    ],
)
def test_what_is_not_of_the_form_is_refused(change, place):
    """CheckFailed names the place."""
    data = Both(DUALS[0], ()).to_dict() | change
    assert refuses("", Both.from_dict, data, error=CheckFailed).place == place


def test_refusals_inside_get_the_place():
    """Bad input and duals that prove nothing become failed checks; other errors are not caught."""
    for error in (InputError("no"), DualError("no")):
        with pytest.raises(CheckFailed, match="no") as failed, RefusedAt("here"):
            raise error
        assert failed.value.place == "here"
    with pytest.raises(KeyError), RefusedAt("here"):
        raise KeyError
