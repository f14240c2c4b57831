"""Every verdict is explained from its fields: what is known, what is open, what to try."""

import shlex
from dataclasses import replace

import pytest

from algebra.arguments.order import argument
from algebra.checker.verdicts import DISCRETE
from algebra.families.certify import certify
from algebra.families.verify import verify
from algebra.systems.root_count import RootCountError
from algebra.work import Limits
from matchprob import Distribution, LinearFeedForward, LinearRNN, NormNet, Problem, ShallowReLU
from tests.matchprob.explained import explained
from tests.samples import DIAGONAL, NET

SIX = LinearFeedForward(q=2, widths=(2,), d=2, m=2)


def no_count(*_):
    raise RootCountError("no trace test", 240)


def test_minimal_says_how_many_are_missing():
    """Two equations, one weight: one direction is missing; a repair is what to try."""
    why = explained(certify(Problem(NET, {"W": [[1, 0], [0, 0]]})), "net.toml")
    assert "satisfy 2 independent equations" in why.known[0]
    assert "1 too few" in why.known[0]
    assert "At least 1 more weight must learn." in why.known
    assert why.commands[0][0] == "matchprob repair net.toml"
    assert why.open == ""


def test_minimal_in_the_wrong_places_gives_the_budgets():
    """Enough weights, of which too many lie where they do the same: the budgets say where."""
    net = LinearRNN(n=4, T=2, b=1, d=2, m=2)
    why = explained(certify(Problem(net, {"W": [[1, 1, 1, 1], [0] * 4, [0] * 4, [0] * 4]})))
    assert any("wrong places" in text for text in why.known)
    assert len(why.known) >= 3


def test_maximal_by_one_solution_and_by_parity():
    """N = 1 is real; an odd N leaves one real solution over."""
    row = explained(certify(Problem(NET, {"W": [[1, 1], [0, 0]]})))
    assert "exactly one complex solution" in row.known[-1]
    odd = argument("root_count").sentence("maximal", 2, 3)
    assert "N = 3" in odd
    assert "odd" in odd


def test_intermediate_names_the_instance_and_the_estimate():
    """An even N, one instance without real solutions; the value has to be estimated."""
    why = explained(certify(DIAGONAL), "d.toml")
    assert "N = 2" in why.known[-1]
    assert why.commands[0][0].startswith("matchprob estimate d.toml")
    assert "--goal maximal" in why.commands[1][0]
    assert why.open


def test_undecided_says_what_fails_and_what_would_decide():
    """N unknown: what was found of it; N even: parity fails; more weights than equations."""
    undecided = certify(DIAGONAL, search=1e-9)
    if undecided.verdict == "undecided":
        why = explained(undecided)
        assert "parity" in why.known[-1]
        assert "--effort 10" in why.commands[0][0]
    found = replace(
        certify(DIAGONAL), verdict="undecided", generic_root_count=None, root_count_at_least=240
    )
    why = explained(replace(found, limits=Limits(200.0)), "d.toml")
    assert any("N ≥ 240" in text for text in why.known)
    assert "--timeout 1000" in why.commands[0][0]
    assert "complete count" in why.decided_by
    more = Problem(NET, {"W": [[1, 1], [1, 0]]})
    why = explained(replace(certify(more), verdict="undecided"))
    assert "3 weights for 2 equations" in why.open


def test_relu_and_normalization_are_explained():
    """Networks whose units switch: decided by instances."""
    relu = Problem(ShallowReLU(q=2, n=2, d=1, m=2), {"W1": [[1, 1], [1, 0]]})
    why = explained(certify(relu), "r.toml")
    assert any("silent" in text for text in why.known)
    assert any("decide r.toml" in command for command, _ in why.commands)
    norm = NormNet(widths=(2, 2), hidden=(4,), m=3, activation="relu")
    found = certify(Problem(norm, {"g1": [[1], [1], [0], [0]]}))
    assert explained(found).known or explained(found).open


@pytest.mark.parametrize("mask", [[[1, 0], [0, 0]], [[1, 0], [0, 1]], [[1, 1], [0, 0]]])
def test_commands_are_words_a_shell_takes(mask):
    """Each command begins with matchprob and a verb and names the file."""
    for command, purpose in explained(certify(Problem(NET, {"W": mask})), "x.toml").commands:
        words = shlex.split(command)
        assert words[0] == "matchprob"
        assert "x.toml" in words
        assert purpose


def test_discrete_laws_are_no_claims_about_mp():
    """For discrete weights the first line says what the verdict is about."""
    problem = Problem(NET, {"W": [[1, 1], [0, 0]]}, distribution=Distribution(weights="rademacher"))
    assert explained(certify(problem)).known[0] == DISCRETE


def test_what_json_prints_still_verifies():
    """An explanation in a certificate is text: unchecked, and without effect."""
    found = certify(DIAGONAL)
    data = {**found.to_dict(), "explanation": found.explain().lines()}
    checked = verify(data)
    assert checked.holds
    assert any("explanation" in c.text for c in checked.checks if c.status == "unchecked")
