"""Verdicts are refused without a theorem that covers the problem."""

import pytest

from algebra.checker.checks import CheckFailed
from algebra.checker.premises import ALMOST_ALL, NEARBY, RANK_DEFICIT, common, need_covered
from algebra.problems.premises import Feature


def test_a_verdict_needs_its_theorem():
    """None, one for another verdict, or one that does not cover a feature is refused."""
    need_covered("minimal", RANK_DEFICIT, frozenset({Feature.ZEROS, Feature.TIES}))
    for theorem, verdict in ((None, "minimal"), (RANK_DEFICIT, "maximal")):
        with pytest.raises(CheckFailed, match="no theorem for"):
            need_covered(verdict, theorem, frozenset())
    with pytest.raises(CheckFailed, match="not proved for problems with labels on pieces"):
        need_covered("minimal", RANK_DEFICIT, frozenset({Feature.PIECES}))


def test_what_holds_nearby_is_not_known_for_bounded_laws_around_numbers():
    """An instance cannot be scaled into the support of both."""
    assert Feature.BOUNDED_MEASURED in ALMOST_ALL
    assert Feature.BOUNDED_MEASURED not in NEARBY


def test_features_of_some_theorems():
    """What at least one of them covers."""
    assert Feature.EXACT in common([RANK_DEFICIT])
    assert common([]) == frozenset()
