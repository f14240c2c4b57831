"""The result of identify: text and data agree with the parts."""

import json

from hypothesis import given
from hypothesis import strategies as st

from algebra.questions.identify.identification import identify
from matchprob import LinearEstimator, LinearRNN, Problem
from tests.samples import NET


def test_a_linear_allocation_is_determined():
    """N = 1: every weight has the same value in every match."""
    found = identify(Problem(NET, {"W": [[1, 1], [0, 0]]}))
    assert found.globally_determined == (("W", 0, 0), ("W", 0, 1))
    assert str(found) == "determined: one match, the truth"


def test_without_learnable_weights_there_is_nothing_to_determine():
    """r = 0 has a result."""
    found = identify(Problem(NET, {"W": [[0, 0], [0, 0]]}))
    data = found.to_dict()
    assert (data["fibre_dimension"], data["determined"], data["free"]) == (0, [], [])


@given(st.lists(st.integers(0, 1), min_size=6, max_size=6))
def test_every_cell_is_determined_or_free(bits):
    """The two lists split the allocation, and the data are plain JSON."""
    problem = Problem(LinearEstimator(q=3, d=2, m=2), {"W": [bits[:3], bits[3:]]})
    data = json.loads(json.dumps(identify(problem).to_dict()))
    assert sorted(data["determined"] + data["free"]) == sorted(
        [list(c) for c in problem.allocation.cells]
    )
    assert data["fibre_dimension"] == data["learnable"] - data["rank"]
    if data["globally_determined"] is not None:
        assert all(c in data["determined"] for c in data["globally_determined"])


def test_time_that_is_not_there_is_told(msolve):
    """A basis that is too expensive leaves the local result, with the reason."""
    net = LinearRNN(n=8, T=4, b=1, d=2, m=4)
    found = identify(
        Problem(net, {"W": [[int(i == j) for j in range(8)] for i in range(8)]}), timeout=0.01
    )
    assert found.alternatives is None
    assert found.globally_determined is None
    assert found.unknown


def test_very_many_weights_are_given_as_rectangles(monkeypatch):
    """Above the limit lists are null; numbers and rectangles of weights and groups follow."""
    for module in ("algebra.problems.cells", "algebra.questions.identify.identification"):
        monkeypatch.setattr(f"{module}.MOST_CELLS", 3)
    net = LinearEstimator(q=3, d=2, m=2)
    data = identify(Problem(net, {"W": [[1, 1, 1], [1, 1, 1]]})).to_dict()
    assert (data["free"], data["free_in"]) == (None, {"W": 6})
    assert data["free_blocks"] == {"W": [[0, 1, 0, 2]]}
    assert data["groups"] is None
    assert data["group_blocks"] == [{"W": [[0, 0, 0, 2]]}, {"W": [[1, 1, 0, 2]]}]
    data = identify(Problem(net, {"W": [[1, 1, 0], [1, 1, 0]]})).to_dict()
    assert data["determined_blocks"] == {"W": [[0, 1, 0, 1]]}
    assert (data["values"], data["values_in"]) == (None, {"1": 4})
    assert data["globally_determined_in"] == {"W": 4}
    assert (data["free"], data["groups"], data["up_to_sign"]) == ([], [], [])
