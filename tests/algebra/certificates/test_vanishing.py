"""Labels that structural zeros make 0: maximal, and checked along the paths."""

import itertools

import numpy as np
import pytest

from algebra.certificates.checks import CheckFailed
from algebra.certificates.vanishing import check_vanishing, vanishing_certificate
from algebra.families.registry import certify, verify
from matchprob import LinearFeedForward, Problem, ShallowReLU


def cut(kind, first, second):
    """A two-layer problem with these structural zeros, in which all weights that exist learn."""
    if kind == "relu":
        net = ShallowReLU(q=2, n=2, d=1, m=2)
    else:
        net = LinearFeedForward(q=2, widths=(2,), d=1, m=2)
    support = {"W1": first, "W2": second}
    return Problem(net, {"W1": "all"}, support=support)


@pytest.mark.parametrize("kind", ["linear", "relu"])
def test_exactly_the_disconnected_ones(kind):
    """Over all supports: the check passes if and only if the product of the masks is 0."""
    for bits in itertools.product((0, 1), repeat=6):
        first, second = np.array(bits[:4]).reshape(2, 2), np.array([bits[4:]])
        problem = cut(kind, first, second)
        said = []

        def say(*words, said=said):
            said.append(words)

        if (second @ first).any():
            with pytest.raises(CheckFailed, match="inputs reach"):
                check_vanishing(problem, "maximal", 0, 0, say)
        else:
            check_vanishing(problem, "maximal", 0, 0, say)
            assert [place for place, *_ in said] == ["evidence.labels_vanish", "verdict"]


@pytest.mark.parametrize("kind", ["linear", "relu"])
def test_the_certificate_verifies(kind):
    """`certify` gives this certificate for such a problem, and it holds."""
    problem = cut(kind, np.array([[1, 1], [0, 0]]), np.array([[0, 1]]))
    found = certify(problem)
    made = vanishing_certificate(problem, 0)
    assert (found.verdict, found.rule) == (made.verdict, made.rule)
    assert verify(made.to_dict()).holds


def test_another_claim_is_refused():
    """Labels that are 0 do not make an allocation minimal, and take part in no equation."""
    problem = cut("linear", np.zeros((2, 2), int), np.array([[1, 1]]))
    for claim in (("minimal", 0, 0), ("maximal", 1, 0), ("maximal", 0, 1)):
        with pytest.raises(CheckFailed):
            check_vanishing(problem, *claim, print)
