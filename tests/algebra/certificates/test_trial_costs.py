"""Advice about estimates comes from the cost of a trial."""

import numpy as np
import pytest

import matchprob as mp
from algebra.certificates.trial_costs import (
    SUGGESTED,
    affordable_trials,
    estimate_steps,
    expectation,
    too_costly,
    trial_milliseconds,
)

SMALL = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)


def of_size(n, *, kind=mp.LinearRNN, **more):
    """A recurrent network with as many learnable weights as labels."""
    net = kind(n=n, T=3, b=4, d=4, m=n // 2, **more)
    mask = np.zeros(n * n, int)
    mask[np.random.default_rng(n).permutation(n * n)[: net.outputs]] = 1
    return mp.Problem(net, {"W": mask.reshape(n, n)})


def test_small_nets_are_estimated_with_a_thousand_trials():
    """The papers' smallest net, with and without N."""
    problem = mp.Problem(SMALL, {"W": [[1, 0], [0, 1]]})
    assert affordable_trials(problem, 2) == affordable_trials(problem) == SUGGESTED.most
    (step,) = mp.certify(problem).explain().steps[:1]
    assert (step.verb, step.options["trials"]) == ("estimate", SUGGESTED.most)


@pytest.mark.parametrize("more", [{}, {"kind": mp.RNN, "activation": "tanh"}])
def test_suggested_trials_fit_into_ten_minutes(more):
    """More weights, fewer trials; where not even ten fit a sentence says so instead."""
    before, seen = SUGGESTED.most, set()
    for n in (4, 8, 16, 32, 64, 128, 256, 400):
        problem = of_size(n, **more)
        trials, cost = affordable_trials(problem), trial_milliseconds(problem)
        assert trials <= before
        assert trials * cost <= 1000 * SUGGESTED.seconds
        assert bool(estimate_steps(problem)) == bool(trials) == (not too_costly(problem))
        assert trials == 0 or trials >= SUGGESTED.fewest
        before = trials
        seen.add(bool(trials))
    assert seen == {True, False}


def test_what_a_large_circuit_is_told():
    """After `certify` a command that cannot end is not suggested."""
    found = mp.certify(of_size(128), timeout=2, search=0.1)
    assert all(step.verb != "estimate" for step in found.explain().steps)
    assert any("One random trial would take about" in text for text in found.explain().known)


def test_sizes_tell_the_cost_of_activation_patterns():
    """ReLU and normalization nets: small ones are cheap, hundreds of tight pairs are not tried."""
    mask = np.ones((8, 6), int)
    small = mp.Problem(mp.ShallowReLU(q=6, n=8, d=4, m=6), {"W1": mask})
    assert trial_milliseconds(small) < 100
    assert affordable_trials(small) == SUGGESTED.most
    mask = np.zeros((40, 8), int)
    mask[:30] = 1
    large = mp.Problem(mp.ShallowReLU(q=8, n=40, d=3, m=40), {"W1": mask})
    assert affordable_trials(large) == 0
    found = mp.certify(large, timeout=2, search=0.1)
    assert all(step.verb != "estimate" for step in found.explain().steps)
    assert any("no estimate is suggested" in text for text in found.explain().known)
    scales = {"g1": "all", "g2": "all"}
    small = mp.Problem(mp.NormNet.square(d=2, depth=1, width=4, m=2), scales)
    large = mp.Problem(mp.NormNet.square(d=4, depth=1, width=13, m=8), scales)
    assert affordable_trials(small) == SUGGESTED.most
    assert affordable_trials(large) == 0
    assert estimate_steps(large) == ()
    read_out = mp.Problem(mp.ShallowReLU(q=8, n=40, d=3, m=40), {"W2": "all"})
    assert trial_milliseconds(read_out) == 1


@pytest.mark.parametrize("kind", [mp.LinearRNN, mp.RNN])
def test_random_cells_have_a_cost(kind):
    """Cells that are drawn anew: their number is that of a draw, and estimates run.

    A linear net needs no N: one solution is searched, which takes n² / 2 ms.
    """
    cells = mp.RandomCells(budget=8, rows=3)
    more = {"activation": "tanh"} if kind is mp.RNN else {}
    problem = mp.Problem(kind(n=6, T=2, b=2, d=2, m=4, **more), {"W": cells})
    fixed = of_size(4, kind=kind, **more)
    assert trial_milliseconds(problem) == (
        trial_milliseconds(fixed) if kind is mp.RNN else 6 * 6 // 2 + 1
    )
    assert bool(expectation(problem)) == (kind is mp.RNN)
    small = mp.Problem(kind(n=2, T=2, b=1, d=1, m=2, **more), {"W": mp.RandomCells(budget=2)})
    assert mp.count(small, instances=1).explain().steps
    assert mp.estimate(small, trials=2).trials == 2


def test_what_to_expect_is_said_before_trials(complaint_of_estimate):
    """With tanh and many weights what shows no match, and mostly undetermined trials; nothing for
    linear networks, nor with few weights."""
    assert expectation(mp.Problem(SMALL, {"W": [[1, 0], [0, 1]]})) == ""
    text = expectation(of_size(20, kind=mp.RNN, activation="tanh"))
    assert "only where labels are out of reach" in text
    assert "40 weights for 40 labels most other trials stay undetermined" in text
    few = mp.Problem(mp.RNN(2, 2, 1, 1, 2, "tanh"), {"W": [[1, 0], [0, 1]]})
    assert expectation(few) == ""
    more = mp.RNN(3, 2, 1, 1, 5, "tanh")
    for cells in ([[1, 1, 0], [1, 1, 1], [0, 0, 0]], mp.RandomCells(budget=5)):
        said = complaint_of_estimate(mp.Problem(more, {"W": cells}))
        assert said.startswith("matchprob: equations with such activations")


def test_the_advice_after_certify_says_what_to_expect():
    """Most trials of a network with tanh stay undetermined, beyond a few labels."""
    (step,) = estimate_steps(of_size(20, kind=mp.RNN, activation="tanh"))
    assert step.purpose.endswith("most other trials stay undetermined")
    mask = [[1, 1], [0, 0]]
    (step,) = estimate_steps(mp.Problem(mp.RNN(2, 2, 1, 1, 2, "tanh"), {"W": mask}))
    assert "undetermined" not in step.purpose


@pytest.fixture
def complaint_of_estimate(tmp_path, capsys):
    """What the command says on stderr."""
    from matchprob.cli import app

    def run(problem):
        file = tmp_path / "p.toml"
        file.write_text(problem.to_toml())
        with pytest.raises(SystemExit):
            app(["estimate", str(file), "--trials", "2", "--no-certify"])
        return capsys.readouterr().err

    return run
