"""Claims on ranks: genuine evidence is read again, and each altered number is refused."""

import numpy as np
import pytest

from algebra.checker.checks import CheckFailed
from algebra.checker.network_ranks import context_of, point_of
from algebra.checker.rank_claims import EvidenceOnRanks
from algebra.families.verify import verify
from algebra.ranks.derivatives import dual_derivative
from algebra.ranks.jacobian import all_cells, jacobian, tangent_factors
from matchprob import Distribution, Problem
from tests.plain_data import changed, data_of, failures, without
from tests.samples import NET, ROW, SEVEN


@pytest.fixture(scope="module")
def minimal():
    return data_of(SEVEN)


def test_evidence_is_read_as_it_was_written(minimal):
    """With both points; the witness point has the claimed rank, by singular values of doubles."""
    context = context_of(SEVEN)
    found = EvidenceOnRanks.from_dict(minimal["evidence"], "evidence", context)
    assert (found.network_rank.rank, found.allocation_rank.rank) == (8, 7)
    again = EvidenceOnRanks.from_dict(found.to_dict(), "evidence", context)
    assert again.to_dict() == found.to_dict()
    point = point_of(found.network_rank, SEVEN, {})
    weights = {name: np.asarray(w, float) / point.p for name, w in point.weights.items()}
    factors = SEVEN.network.tangents(weights, np.asarray(point.X, float) / point.p)
    columns = [
        sum(np.outer(left[:, i], right[j]) for left, right in zip(*factors[name], strict=True))
        for name, i, j in all_cells(SEVEN.network)
    ]
    assert np.linalg.matrix_rank(np.array([c.ravel() for c in columns])) == 8


def test_the_jacobian_is_that_of_dual_numbers(minimal):
    """At the file's point, along each unit direction."""
    claim = EvidenceOnRanks.from_dict(minimal["evidence"], "evidence", context_of(SEVEN))
    point, cells = point_of(claim.network_rank, SEVEN, {}), all_cells(SEVEN.network)
    matrix = jacobian(tangent_factors(SEVEN.network, point), cells, point.p)
    for k in range(len(cells)):
        step = np.eye(len(cells), dtype=np.int64)[k]
        along = dual_derivative(SEVEN.network, point, cells, step).ravel() % point.p
        assert np.array_equal(matrix[:, k], along)


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        (("rank",), 6, "evidence.allocation_rank"),
        (("equations",), 7, "evidence.network_rank"),
        (("prime",), 2147483587, "prime"),
        (("generic_root_count",), 3, "generic_root_count"),
        (("error_bound",), 0, "error_bound"),
        (("evidence", "allocation_rank", "rank"), 8, "evidence.allocation_rank"),
        (("evidence", "network_rank", "upper_bound"), 9, "evidence.network_rank.upper_bound"),
        (("verdict",), "maximal", "verdict"),
        (("evidence", "labels_vanish"), True, "evidence.network_rank"),
    ],
)
def test_altered_claims_are_refused(minimal, path, value, place):
    """At the place of the field that does not fit."""
    assert failures(verify(changed(minimal, path, value)))[0].startswith(place)


def test_ranks_belong_to_their_labels(minimal):
    """Of arbitrary labels the network's rank is none; of a teacher's it must not be missing."""
    assert failures(verify(without(minimal, ("evidence", "network_rank")))) == [
        "evidence.network_rank"
    ]
    arbitrary = data_of(
        Problem(NET, {"W": [[1, 1], [0, 0]]}, distribution=Distribution(labels="normal"))
    )
    genuine = data_of(ROW)["evidence"]["network_rank"]
    forged = changed(arbitrary, ("evidence", "network_rank"), genuine)
    assert verify(arbitrary).holds
    assert failures(verify(forged)) == ["evidence.network_rank"]


def test_unknown_evidence_is_refused(minimal):
    """By its name."""
    with pytest.raises(CheckFailed) as failure:
        EvidenceOnRanks.from_dict(
            {**minimal["evidence"], "oracle": 1}, "evidence", context_of(SEVEN)
        )
    assert "oracle" in failure.value.place + str(failure.value)
