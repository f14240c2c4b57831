"""What is proved of the limits of large networks."""

import pytest

from algebra.families.certify import certify
from algebra.plugins.papers.limits import limit_verdict
from tests.algebra.systems.test_growth import large


@pytest.mark.parametrize(
    ("cells", "T", "m", "verdict", "N"),
    [
        # A path: two growths of one solution.
        (((0, 1), (1, 2)), 2, 2, "maximal", 1),
        # Two loops tend to 1/2; the label of the second step is 0, so no system has a verdict.
        (((0, 0), (1, 1)), 2, 2, "undecided", 2),
        # A loop and a disjoint cell tend to 1/2, in one system with all labels.
        (((0, 0), (1, 2)), 2, 2, "intermediate", 2),
        # A 3-cycle has three systems of two solutions, each intermediate: together nothing follows.
        (((0, 1), (1, 2), (2, 0)), 3, 3, "undecided", 6),
        # Two cells for three equations.
        (((0, 0), (1, 1)), 3, 3, "minimal", None),
        # Three cells for two equations, of which a loop and a cell of its row suffice.
        (((0, 0), (0, 1), (1, 1)), 2, 2, "maximal", 1),
    ],
)
def test_verdicts_on_limits(cells, T, m, verdict, N):
    """The verdict follows from the systems' own only where one of them decides all instances."""
    found = limit_verdict(large(cells, T, m=m), certify)
    assert found.verdict == verdict
    assert found.rank == min(len(cells), T)
    assert verdict == "minimal" or found.generic_root_count == N


def test_growths_that_are_not_separated():
    """A loop beside a 2-cycle has multiple solutions: the limit exists, nothing is said of it."""
    found = limit_verdict(large(((0, 0), (1, 2), (2, 1)), 3), certify)
    assert (found.verdict, found.rule, found.limit) == ("undecided", "growths not known", None)
