"""Networks of whose generic ranks only upper bounds are known: what verbs prove and refuse."""

import pytest

import matchprob as mp
from algebra.questions.design.verify import DESIGN
from tests.refusals import refuses

ERF = mp.Problem(mp.RNN(n=3, T=2, b=1, d=1, m=2, activation="erf"), {"W": "all"})
# The only input of unit 1 is unit 0, which has nothing but a bias: its sums are dependent over Q.
LEAKING = mp.Problem(
    mp.RNN(n=2, T=4, b=1, d=1, m=1, biases=True, leak=0.5, read="all"),
    {"W": [[0, 0], [1, 0]], "D": "all"}, {"W": [[0, 0], [1, 0]], "B": [[0], [0]]},
)  # fmt: skip


@pytest.mark.parametrize("problem", [ERF, LEAKING], ids=["erf", "leaks"])
@pytest.mark.parametrize("verb", [mp.robust, mp.repair])
def test_verbs_that_need_exact_ranks_refuse_upper_bounds(verb, problem):
    """An upper bound of a rank proves no MP > 0."""
    assert not problem.network.ranks_are_exact(problem.support)
    refuses("only upper bounds", verb, problem)


@pytest.mark.parametrize(("problem", "rank"), [(ERF, 2), (LEAKING, 3)], ids=["erf", "leaks"])
def test_identify_proves_the_rank_by_a_regular_minor(problem, rank):
    """The minor is computed in balls, without a theorem on the activation (`identify.balls`)."""
    assert mp.identify(problem).fibre.rank.rank == rank


def test_a_design_is_proved_by_a_regular_minor():
    """A design for erf has the cost of that for tanh; `verify` proves its rank by a minor too."""
    net = mp.RNN(n=3, T=2, b=1, d=1, m=2, activation="tanh")
    erf = mp.design(ERF, goal="cheapest")
    tanh = mp.design(mp.Problem(net, {"W": "all"}), goal="cheapest")
    assert (erf.design.cost, erf.design.bound) == (tanh.design.cost, tanh.design.bound)
    assert mp.verify(erf.proof()).holds
    masks = {"W": [[0, 0], [1, 0]], "D": "all", "c": "all", "e": "all"}
    some = mp.design(mp.Problem(LEAKING.network, masks, LEAKING.support))
    assert some.design.rank.rank == 4
    assert mp.verify(some.proof()).holds


def test_a_design_without_a_minor_is_refused(monkeypatch):
    """Without a minor the rank is an upper bound: `design` refuses, `verify` is unfinished."""
    data = mp.design(ERF, goal="cheapest").proof()
    monkeypatch.setattr("algebra.ranks.minors.LARGEST", 0)
    refuses("only upper bounds", mp.design, ERF, goal="cheapest")
    refuses("only upper bounds", mp.design, ERF, goal="maximal")
    checked = DESIGN.verify(data)
    assert not checked.holds
    assert checked.is_unfinished


def test_a_recording_says_that_its_rank_is_a_bound():
    """`explain` of a recording does not state that it provably determines the weights."""
    text = str(mp.record(ERF, "units").explain())
    assert "not proved for this activation" in text
    assert "Proved modulo" not in text
