"""Evidence of one argument in certificates of other verdicts, and beside other arguments."""

import pytest

from algebra.families.registry import certify, verify
from matchprob import RNN, Problem
from tests.plain_data import changed


@pytest.fixture(scope="module")
def minimal():
    """A certificate that rests on ranks alone."""
    net = RNN(3, 2, 1, 1, 3, activation="tanh")
    found = certify(Problem(net, {"W": [[1, 1, 0], [0, 0, 0], [0, 0, 0]]}), timeout=20)
    return found.to_dict()


@pytest.mark.parametrize(
    ("evidence", "verdict", "place"),
    [
        ({"stuck_output": 0}, "minimal", "evidence.stuck_output"),
        ({"everything_learns": True}, "minimal", "evidence.everything_learns"),
        ({"everything_learns": True}, "maximal", "verdict"),
        ({"labels_vanish": True}, "minimal", "verdict"),
    ],
)
def test_evidence_without_a_place(minimal, evidence, verdict, place):
    """It is refused, even if the certificate holds without it."""
    evidence = minimal["evidence"] | evidence
    found = verify(minimal | {"evidence": evidence, "verdict": verdict})
    assert [check.place for check in found.checks] == [place]
    assert not found.holds


def test_false_is_no_argument(minimal):
    """That not everything learns needs no proof."""
    assert verify(changed(minimal, ("evidence", "everything_learns"), False)).holds
