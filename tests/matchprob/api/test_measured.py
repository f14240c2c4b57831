"""Verbs on problems with measured weights: results, or refusals that say what to change."""

import pytest

import matchprob as mp
from matchprob.plugins.page.state import state_of
from tests.refusals import refuses

NET = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
DIAGONAL = {"W": [[1, 0], [0, 1]]}
EXACT = mp.Problem(NET, DIAGONAL, values={"B": [[1], [2]]})
JITTERED = mp.Problem(NET, DIAGONAL, values={"B": [[1], [2]], "jitter": 0.1})

GENERIC = {
    "design": mp.design,
    "repair": mp.repair,
    "robust": mp.robust,
    "identify": mp.identify,
    "record": mp.record,
    "audit": mp.audit,
    "atlas": lambda problem: mp.atlas(problem, budget=2),
    "the page": state_of,
}


@pytest.mark.parametrize("verb", list(GENERIC))
def test_verbs_about_generic_weights_need_a_jitter(verb):
    """These verbs refuse exact values, and the message suggests a jitter, with which they work."""
    assert "add a jitter" in str(refuses(f"{verb} is about generic weights", GENERIC[verb], EXACT))
    assert GENERIC[verb](JITTERED) is not None


def test_verbs_that_take_measured_weights():
    """`certify`, `inspect` and `compare` do; `compare` refuses problems with different values."""
    assert mp.certify(EXACT).verdict == mp.certify(JITTERED).verdict == "intermediate"
    assert mp.inspect(EXACT).allocation == EXACT.allocation
    row = mp.Problem(NET, {"W": [[1, 1], [0, 0]]}, values={"B": [[1], [2]]})
    assert mp.compare(EXACT, row, trials=5).trials == 5
    with pytest.raises(mp.InputError, match=r"\[support\], \[values\] or \[teacher\]"):
        mp.compare(EXACT, mp.Problem(NET, {"W": [[1, 1], [0, 0]]}), trials=5)


def test_an_instance_and_measured_weights_exclude_each_other():
    """An instance states all fixed weights: `[values]` beside it are refused."""
    own = {"weights": {"B": [[1], [2]], "D": [[1, 1]], "W": [[0, 1], [1, 0]]},
           "samples": {"X": [[1, 0], [0, 1]]}, "labels": {"Y": [[1, 2]]}}  # fmt: skip
    assert mp.count(mp.Problem(NET, DIAGONAL), instance=own).instances[0].status == "complete"
    refuses(r"remove \[values\]", mp.count, EXACT, instance=own)


def test_atlas_refuses_signs():
    """With signs, allocations that differ by the order of units may have different verdicts."""
    signed = mp.Problem(NET, {}, distribution=mp.Distribution(signs=[1, -1]))
    refuses("remove signs", mp.atlas, signed, budget=2)
