"""Linear networks whose labels are affine in a matrix: genuine files hold, forged ones fail."""

import pytest

from algebra.checker.affine_part import affine_matrix
from algebra.checker.checks import CheckEffort
from algebra.checker.linear import linear_problem, verify_linear
from algebra.families.registry import verify_claimed
from matchprob import LinearEstimator, LinearFeedForward, LinearRNN, Problem
from tests.plain_data import changed, data_of, failures

EFFORT = CheckEffort(7, 60)
# As many weights as equations; more of them; a matrix besides another.
ONE = data_of(Problem(LinearEstimator(q=3, d=2, m=2), {"W": [[1, 1, 0], [0, 1, 1]]}))
MORE = data_of(Problem(LinearEstimator(q=3, d=2, m=2), {"W": [[1, 1, 1], [0, 1, 1]]}))
BOTH = data_of(
    Problem(LinearFeedForward(q=2, widths=(2,), d=2, m=2), {"W1": "all", "W2": [[1, 0], [0, 0]]})
)


@pytest.mark.parametrize(
    ("data", "name", "evidence"),
    [(ONE, "W", "root_count"), (MORE, "W", "affine_part"), (BOTH, "W1", "affine_part")],
)
def test_genuine_files_hold(data, name, evidence):
    """With the lines of the general check; both kinds of evidence, other matrices may learn too."""
    problem = linear_problem(data)
    assert affine_matrix(data["evidence"], problem) == name
    found = verify_linear(data, problem, EFFORT)
    assert found.holds
    assert found == verify_claimed(data, EFFORT)
    assert f"evidence.{evidence}" in [check.place for check in found.checks]


@pytest.mark.parametrize(
    ("data", "path", "value", "place"),
    [
        (BOTH, ("evidence", "affine_part"), ["W2"], "evidence.affine_part"),
        (MORE, ("generic_root_count",), 1, "generic_root_count"),
        (ONE, ("generic_root_count",), None, "generic_root_count"),
        (ONE, ("evidence", "root_count", "value"), 3, "evidence.root_count.value"),
        (MORE, ("evidence",), ONE["evidence"], "generic_root_count"),
    ],
)
def test_forged_files_fail(data, path, value, place):
    """A part without full rank, another number, evidence of another problem."""
    forged = changed(data, path, value)
    (failed,) = failures(verify_linear(forged, linear_problem(forged), EFFORT))
    assert failed.startswith(place)
    assert failures(verify_claimed(forged, EFFORT)) == [failed]


def test_too_many_weights_have_no_number():
    """N = 1 of more weights than equations is refused, though the labels are affine."""
    forged = changed(MORE, ("generic_root_count",), 1)
    del forged["evidence"]["affine_part"]
    forged["evidence"]["root_count"] = ONE["evidence"]["root_count"]
    assert failures(verify_linear(forged, linear_problem(forged), EFFORT)) == ["learnable"]


def test_all_else_is_left_to_the_general_check():
    """A recurrent matrix, several matrices, other forms and rules."""
    rnn = data_of(Problem(LinearRNN(n=2, T=1, b=1, d=1, m=1), {"W": [[1, 0], [0, 0]]}))
    assert rnn["verdict"] == "maximal"
    for data in (
        rnn,
        changed(ONE, ("evidence", "root_count", "form"), "B"),
        changed(ONE, ("evidence", "root_count", "rule"), "quotient degree"),
        changed(ONE, ("evidence", "root_count"), None),
        changed(BOTH, ("evidence", "affine_part"), ["W1", "W2"]),
        changed(BOTH, ("evidence", "affine_part"), [["W1"]]),
        changed(BOTH, ("evidence", "affine_part"), "W1"),
    ):
        assert linear_problem(data) is None
