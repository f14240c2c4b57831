"""Verdicts on linear networks: each rule on its smallest example, with reasons and notes."""

from fractions import Fraction

import pytest

from algebra.arguments.certify import certify_by_arguments
from algebra.certificates.tools import Effort, Tools
from algebra.systems.root_count import RootCount
from algebra.time_limits import within
from algebra.work import Limits
from matchprob import Distribution, LinearEstimator, LinearRNN, Problem
from tests.samples import NET


def verdict(masks, network=NET, **effort):
    """The certificate of one matrix W."""
    return certify_by_arguments(Problem(network, {"W": masks}), Effort(**effort))


@pytest.mark.parametrize(
    ("mask", "verdict_", "count"),
    [
        ([[1, 0], [0, 0]], "minimal", None),
        ([[1, 1], [0, 0]], "maximal", 1),
        ([[1, 0], [0, 1]], "intermediate", 2),
        ([[0, 1], [1, 0]], "intermediate", 2),
    ],
)
def test_section_b_1_1(mask, verdict_, count):
    """The paper's smallest net: too few weights, one solution, two solutions."""
    found = verdict(mask)
    assert (found.verdict, found.generic_root_count) == (verdict_, count)
    assert found.equations == 2
    assert (found.error_bound > 0) == (found.rank < 2 and found.rank < sum(map(sum, mask)))


def test_what_fewer_weights_can_do_more_can():
    """All of W: a sub-allocation is maximal, and is named in the evidence."""
    found = verdict([[1, 1], [1, 1]])
    assert found.verdict == "maximal"
    assert "sub-allocation" in found.rule
    assert "sub_allocation" in found.evidence


def test_discrete_laws_are_told():
    """The verdict is about generic instances; a note says that it does not give MP."""
    law = Distribution("rademacher", "normal", "normal")
    problem = Problem(NET, {"W": [[1, 1], [0, 0]]}, distribution=law)
    assert certify_by_arguments(problem, Effort()).notes


def test_minimal_by_a_deficit_names_a_dependent_set():
    """Three weights of one row of a net with two samples: rank 2, three dependent columns."""
    net = LinearEstimator(q=3, d=2, m=2)
    found = verdict([[1, 1, 1], [1, 0, 0]], net)
    assert (found.verdict, found.rank, found.equations) == ("minimal", 3, 4)
    assert Fraction(0) < found.error_bound < Fraction(1, 2**50)
    assert found.reasons


def test_a_numerical_count_is_named_as_one():
    """If msolve does not finish, a counter given as argument decides, and the rule says so."""
    calls = []

    def counter(allocation, support, seed):
        calls.append(allocation)
        raise AssertionError("msolve is there and quick: nobody else is asked")

    assert verdict([[1, 1], [0, 0]], tools=Tools(root_counter=counter)).verdict == "maximal"
    assert calls == []
    assert RootCount.__dataclass_fields__["value"]


def test_no_time_for_a_root_count():
    """Undecided, with the ranks that are known."""
    net = LinearRNN(n=10, T=5, b=1, d=2, m=5)
    mask = [[int((i + j) % 5 == 0) for j in range(10)] for i in range(5)]
    problem = Problem(net, {"W": [*mask, *[[0] * 10] * 5]})
    with within(2.0):
        found = certify_by_arguments(problem, Effort(limits=Limits(1.0, 0.0)))
    assert found.verdict == "undecided"
    assert found.rank == found.equations == 10
    assert found.tried
