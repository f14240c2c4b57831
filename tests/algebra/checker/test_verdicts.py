"""The names of verdicts, and the sentences that families share."""

from algebra.certificates.sentences import NEAR, NEAR_LABELS, near
from algebra.checker.verdicts import VERDICTS
from algebra.families.certify import certify
from algebra.problems.laws.distribution import Distribution
from matchprob import Problem
from tests.samples import DIAGONAL, NET, ROW, SEVEN


def test_each_verdict_is_reached():
    """The names are those of certificates; MP > 0 is said of teachers, or of labels."""
    found = [certify(problem, search=0).verdict for problem in (SEVEN, ROW)]
    assert found == ["minimal", "maximal"]
    assert set(found) < set(VERDICTS)
    certificate = certify(DIAGONAL)
    assert near(certificate) == NEAR
    arbitrary = Problem(NET, {"W": [[1, 0], [0, 1]]}, distribution=Distribution(labels="normal"))
    assert near(certify(arbitrary)) == NEAR_LABELS
