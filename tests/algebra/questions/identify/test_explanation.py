"""What follows from an identification, with single weights and with updates."""

from dataclasses import replace

from algebra.questions.identify.explanation import explain, explain_updates
from algebra.questions.identify.identification import identify
from matchprob import LinearRNN, Problem

NET = LinearRNN(n=2, T=2, b=1, d=1, m=2)
DIAGONAL = Problem(NET, {"W": [[1, 0], [0, 1]]})


def test_a_time_limit_that_was_met_suggests_a_longer_one():
    """Five times the limit of the call, and 600 seconds at least."""
    found = replace(identify(DIAGONAL), alternatives=None, out_of_time=True)
    (again,) = explain(replace(found, timeout=200.0)).steps
    assert (again.verb, again.options) == ("identify", {"timeout": 1000.0})
    assert explain(found).steps[0].options == {"timeout": 600}


def test_free_weights_are_named_as_open():
    """All four weights of a net with two equations: a family of dimension 2."""
    why = identify(Problem(NET, {"W": [[1, 1], [1, 1]]})).explain()
    assert "family of dimension 2" in why.known[0]
    assert "free weights" in why.open


def test_updates_are_explained_by_their_dimension():
    """A low-rank update has a gauge: its factors are never determined."""
    found = identify(Problem(NET, {"W": {"lora": 1}}))
    why = explain_updates(found)
    assert why == found.explain()
    assert any("U and V are never" in text for text in why.known)
