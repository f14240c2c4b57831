"""Weights that move together: an odd number of such solutions makes an allocation maximal."""

import copy
import json

import numpy as np
import pytest

from algebra.certificates.checks import CheckFailed
from algebra.families.linear.surplus.tied import check_tied, tied_problems
from algebra.families.registry import certify, verify
from algebra.ranks.parametrized import learning_rank
from algebra.systems.update_roots import update_root_count
from matchprob import Allocation, LinearRNN, Problem
from tests.plain_data import changed, without

# All sub-allocations of three weights have an even number of solutions.
ASKED = Problem.of(
    Allocation.from_cells(
        LinearRNN(n=5, T=4, b=2, d=3, m=1),
        [("W", 0, 4), ("W", 3, 1), ("W", 3, 3), ("W", 4, 0), ("W", 4, 4)],
    )
)
# One that solutions at infinity do not decide.
GROUPS = Problem.of(
    Allocation.from_cells(
        LinearRNN(n=8, T=4, b=1, d=1, m=4),
        [("W", 0, 0), ("W", 0, 6), ("W", 2, 2), ("W", 6, 1), ("W", 6, 5)],
    )
)


@pytest.fixture(scope="module")
def genuine(msolve):
    found = certify(GROUPS)
    assert found.verdict == "maximal"
    return json.loads(found.to_json())


def test_groups_decide_where_no_part_does(genuine):
    """The certificate names the groups, their N is odd, and it verifies."""
    assert "tied" in genuine["evidence"]
    assert "sub_allocation" not in genuine["evidence"]
    assert genuine["evidence"]["root_count"]["value"] % 2 == 1
    assert genuine["generic_root_count"] is None
    assert verify(genuine).holds


def test_groups_are_of_full_rank():
    """As many groups as equations, of the allocation's cells, of full rank, all different."""
    cells = set(ASKED.allocation.cells)
    seen = []
    for tied in tied_problems(ASKED, 3, 0, 12):
        check_tied(ASKED, tied, 3, 1, lambda *said: None)
        numbers = np.array(tied.updates["W"].numbers)
        assert {("W", i, j) for i, j in np.argwhere(numbers).tolist()} <= cells
        assert len(np.unique(numbers[numbers > 0])) == 3
        assert (np.bincount(numbers[numbers > 0]) > 1).any()
        assert learning_rank(tied.learning, 3, 5).rank == 3
        groups = {frozenset(map(tuple, np.argwhere(numbers == k))) for k in (1, 2, 3)}
        assert groups not in seen
        seen.append(groups)
    assert seen


def test_groups_of_one_are_a_sub_allocation(msolve):
    """If no cells are tied, N is that of the cells, counted by another method."""
    from algebra.systems.root_count import generic_root_count

    part = Allocation.from_cells(ASKED.network, ASKED.allocation.cells[:3])
    numbers = np.zeros((5, 5), int)
    for k, (_, i, j) in enumerate(part.cells):
        numbers[i, j] = k + 1
    tied = Problem(ASKED.network, {"W": {"tied": numbers.tolist()}})
    assert update_root_count(tied).value == generic_root_count(part).value


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda rows: rows[1].__setitem__(1, 1), "do not learn"),
        (lambda rows: rows[2].__setitem__(2, 9), "equations"),
        (lambda rows: [row.__setitem__(slice(None), [0] * 8) for row in rows[1:]], "equations"),
    ],
)
def test_forged_groups_are_refused(genuine, change, complaint):
    """Cells that do not learn, too many groups and too few: such evidence is refused."""
    data = copy.deepcopy(genuine)
    change(data["evidence"]["tied"]["W"]["tied"])
    found = verify(data)
    assert not found.holds
    assert complaint in str(found) or "N = " in str(found)


def test_forged_numbers_are_refused(genuine):
    """Another odd number, an even one, none at all, and a part besides the groups are rejected."""
    value = genuine["evidence"]["root_count"]["value"]
    count = genuine["evidence"]["root_count"]
    cells = [list(c) for c in GROUPS.allocation.cells[:4]]
    for data in (
        *(
            changed(genuine, ("evidence", "root_count"), count | {"value": n, "blocks": [n]})
            for n in (value + 2, value - 2, value + 1)
        ),
        without(genuine, ("evidence", "root_count")),
        changed(genuine, ("evidence", "sub_allocation"), cells),
        changed(genuine, ("generic_root_count",), value),
    ):
        assert not verify(data).holds


def test_groups_must_learn():
    """Tied cells outside the allocation are named."""
    numbers = np.zeros((5, 5), int)
    numbers[1, :3] = 1, 2, 3
    tied = Problem(ASKED.network, {"W": {"tied": numbers.tolist()}})
    with pytest.raises(CheckFailed, match="do not learn"):
        check_tied(ASKED, tied, 3, 1, lambda *said: None)
