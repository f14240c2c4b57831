"""For which laws there is a verdict, and the sentences that families share."""

import pytest

from algebra.certificates.verdicts import NEAR, NEAR_LABELS, VERDICTS, is_beyond, near, why_refused
from algebra.families.registry import certify
from algebra.networks.relu import ShallowReLU
from algebra.problems.laws.distribution import Distribution
from matchprob import Problem
from tests.samples import DIAGONAL, NET, ROW, SEVEN

RELU = ShallowReLU(q=2, n=2, d=1, m=2)
SIGNS = {"W1": [[1, 1], [1, -1]]}
VALUES = {"W": [[0.5, 0.25], [1, 2]]}


def test_relu_networks_with_signs_have_no_verdict():
    """Their units may be unable to be inactive at once; linear networks with signs have one."""
    learnable = {"W1": [[1, 1], [0, 0]]}
    assert why_refused(Problem(RELU, learnable)) == ""
    assert "signs" in why_refused(Problem(RELU, learnable, distribution=Distribution(signs=SIGNS)))
    assert why_refused(Problem(NET, {"W": [[1, 0], [0, 1]]}, values=VALUES)) == ""


@pytest.mark.parametrize(
    ("law", "values", "beyond"),
    [("normal", {}, False), ("uniform", {}, False), ("normal", VALUES, False),
     ("uniform", VALUES, True)],
)  # fmt: skip
def test_measured_weights_with_bounded_laws_are_beyond(law, values, beyond):
    """A witness cannot be scaled into the support of both."""
    problem = Problem(
        NET, {"W": [[1, 0], [0, 1]]}, distribution=Distribution(weights=law), values=values
    )
    assert is_beyond(problem) == beyond


def test_each_verdict_is_reached():
    """The names are those of certificates; MP > 0 is said of teachers, or of labels."""
    found = [certify(problem, search=0).verdict for problem in (SEVEN, ROW)]
    assert found == ["minimal", "maximal"]
    assert set(found) < set(VERDICTS)
    certificate = certify(DIAGONAL)
    assert near(certificate) == NEAR
    arbitrary = Problem(NET, {"W": [[1, 0], [0, 1]]}, distribution=Distribution(labels="normal"))
    assert near(certify(arbitrary)) == NEAR_LABELS
