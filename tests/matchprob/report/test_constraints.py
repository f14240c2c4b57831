"""With constraints every sentence says which solutions it is about."""

import pytest

import matchprob as mp
from tests.matchprob.explained import explained

NET = mp.LinearRNN(n=4, T=2, b=1, d=1, m=2)
ROW = {"W": [[1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]}
BOUNDED = mp.Problem(NET, ROW, constraints=mp.Constraints(max_abs=1))
FREE = mp.Problem(NET, ROW)


def told(found):
    """All that a result says."""
    why = explained(found)
    return "\n".join([found.document().title, *why.known, why.open])


def test_an_estimate_does_not_say_that_solutions_are_not_real():
    """Each trial has a real solution; the trials without a match have none within the bounds."""
    found = mp.estimate(BOUNDED, 30, engine="homotopy")
    assert found.unmatched > 0
    assert "none is real and obeys the constraints" in told(found)
    assert "and none is real." not in told(found)
    assert "real solutions within the constraints" in str(found)


def test_counts_say_that_solutions_obey():
    """Zero solutions are zero within the constraints."""
    found = mp.count(BOUNDED, 6)
    assert "no value of the learnable weights within them" in told(found)
    assert "it need not obey the constraints" in told(found)
    assert "real_solutions_within_the_constraints" in found.document().facts


def test_a_verdict_is_headed_rightly():
    """Maximal without the constraints, and MP = 1 only without them; minimal with them too."""
    found = mp.certify(BOUNDED)
    assert found.document().title.startswith("maximal without the constraints: ")
    assert found.explain().known[0] == "Without the constraints, which leave fewer matches:"
    assert "the match probability with the constraints" in told(found)
    assert mp.certify(FREE).document().title.startswith("maximal: ")
    few = mp.Problem(NET, {"W": [[1, 0, 0, 0], *ROW["W"][1:]]}, constraints=BOUNDED.constraints)
    assert mp.certify(few).document().title.startswith("minimal: ")
    half = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
    between = mp.Problem(half, {"W": [[1, 0], [0, 1]]}, constraints=mp.Constraints(max_abs=1))
    head = "Without the constraints, which leave fewer matches (so MP < 1 holds with them too):"
    assert mp.certify(between).explain().known[0] == head


def test_an_inspection_leaves_the_constraints_open():
    """One solution of linear equations may violate them."""
    assert "without the constraints" in told(mp.inspect(BOUNDED))
    assert "constraints" not in told(mp.inspect(FREE))


def test_a_core_of_equal_size_is_not_called_larger():
    """Both forms of the diagonal have cores of one unknown."""
    tied = mp.inspect(mp.Problem(mp.LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 0], [0, 1]]}))
    assert "its core is as large" in tied.skipped[0]
    assert "its core is larger" in mp.inspect(FREE).skipped[0]


def test_an_undecided_file_claims_no_verdict():
    """Its statements hold, and are listed; no evidence for "undecided" is spoken of."""
    relu = mp.Problem(mp.ShallowReLU(q=3, n=3, d=2, m=2), {"W2": [[1, 1, 0], [1, 0, 1]]})
    made = mp.certify(relu, search=0.0)
    if made.verdict != "undecided":
        pytest.fail("the example is decided: choose another")
    text = told(mp.verify(made))
    assert "claims no verdict" in text
    assert "All evidence" not in text
