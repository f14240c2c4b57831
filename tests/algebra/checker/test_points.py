"""Ranks given with a prime and a point: correct ones pass, others fail with a place."""

import pytest

from algebra.checker.checks import CheckFailed
from algebra.checker.rank_data import RankData
from algebra.networks.feedforward import LinearEstimator
from algebra.ranks.generic_rank import network_rank
from algebra.ranks.jacobian import all_cells
from tests.refusals import refuses

NET = LinearEstimator(q=3, d=2, m=2)
CELLS = all_cells(NET, {})
DATA = RankData.of(network_rank(NET, {}, 5)).to_dict()


def check(**changes):
    data = {key: value for key, value in (DATA | changes).items() if value is not None}
    return RankData.from_dict(data, "here").checked(NET, {}, CELLS, network_rank(NET, {}, 6))


def test_what_is_written_is_accepted():
    """The prime of the witness comes back; the bound may be missing."""
    assert check() == DATA["witness"][0]
    assert check(upper=None) == DATA["witness"][0]


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"rank": 3}, "here.rank"),
        ({"upper": 5}, "here.upper"),
        ({"witness": [4, 0]}, "here.witness"),
        ({"witness": [2**31 - 1]}, "here.witness"),
        ({"more": 1}, "here.more"),
        ({"rank": None}, "here.rank"),
    ],
)
def test_what_is_wrong_is_named(changes, place):
    """A false rank, bound, prime or field."""
    assert refuses("", check, **changes, error=CheckFailed).place == place
