"""Predicted errors of recordings under noise, compared with direct simulations in NumPy."""

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from algebra.errors import Unfinished
from algebra.networks.recurrent import LinearRNN
from algebra.networks.rnn import RNN
from algebra.plugins.circuits.question import recording_question
from algebra.problems.laws.distribution import Distribution
from algebra.problems.problem import Problem
from algebra.time_limits import OutOfTime
from matchprob import identify, load_problem, record
from numeric.plugins.circuits import noise
from numeric.plugins.circuits.noise import (
    GreedyPairs,
    best_of_each_size,
    enough,
    fewest,
    noisy_recording,
    supermodularity,
)
from numeric.plugins.circuits.own_parameters import at_own_parameters
from numeric.plugins.circuits.sensitivities import MovedCircuit, sensitivity
from numeric.trials.instances import draw_instance
from tests.refusals import refuses
from tests.samples import LONG

T, B, M = 4, 2, 3


def circuit(n=4, seed=0, scale="1"):
    """A sparse circuit with biases, of which about half of the synapses and the biases learn."""
    rng = np.random.default_rng(seed)
    support = (rng.random((n, n)) < 0.7).astype(int)
    support[0, 1] = 1
    learns = support * (rng.random((n, n)) < 0.6)
    learns[0, 1] = 1
    network = RNN(n=n, T=T, b=B, d=1, m=M, activation="tanh", biases=True, leak="1/2")
    learnable = {"W": learns, "c": np.ones((n, 1), int)}
    laws = Distribution(scale={"W": scale, "c": scale})
    return Problem(network, learnable, {"W": support}, laws)


def states_of(problem, instance, values):
    """All states h_1, …, h_T as (…, unit, step, sample), for values of the learnable weights."""
    values = np.asarray(values)
    weights = {
        name: np.broadcast_to(w, (*values.shape[:-1], *w.shape)).astype(values.dtype)
        for name, w in instance.weights.items()
    }
    for k, (name, i, j) in enumerate(problem.allocation.cells):
        weights[name][..., i, j] = values[..., k]
    h, found = 0, []
    for t in range(T):
        x = weights["B"] @ instance.X[t * B : (t + 1) * B]
        h = 0.5 * h + 0.5 * np.tanh(weights["W"] @ (h + x) + weights["c"])
        found.append(h)
    return np.stack(found, axis=-2)


def complex_steps(problem, instance, values):
    """The Jacobian of all states, rows ordered by unit, by complex steps."""
    moved = np.asarray(values, complex) + 1e-30j * np.eye(len(values))
    states = states_of(problem, instance, moved).imag / 1e-30
    return np.moveaxis(states.reshape(len(values), -1), 0, 1)


def own_values(problem, instance):
    """The instance's values of the learnable weights."""
    return np.array([instance.weights[name][i, j] for name, i, j in problem.allocation.cells])


@pytest.mark.parametrize("seed", range(4))
def test_singular_values_are_those_of_complex_steps(seed):
    """Singular values equal those of a Jacobian by complex steps, within the printed bound."""
    problem = circuit(seed=seed)
    found = noisy_recording(problem, "units", 0.1, None, target="units")
    instance = draw_instance(problem, 0, 0)
    J = complex_steps(problem, instance, own_values(problem, instance)).reshape(4, T * M, -1)
    chosen = [element.unit for element in found.recorded]
    values = np.linalg.svd(J[chosen].reshape(-1, J.shape[-1]), compute_uv=False)
    assert found.singular_value_error < 1e-11
    gap = np.abs(values - np.array(found.singular_values)).max()
    assert gap <= found.singular_value_error + 1e-13


def test_gains_move_the_weights_that_exist():
    """With gains of columns the derivatives equal complex steps of the gains."""
    problem = circuit(seed=5)
    gains = Problem(problem.network, {"W": {"gain": "columns"}}, problem.support)
    found = sensitivity(recording_question(gains, "units", target="units"))
    instance = draw_instance(Problem(problem.network, {}, problem.support), 0, 0)
    weights = {name: w.astype(complex) for name, w in instance.weights.items()}
    for k in range(4):
        moved = weights["W"].copy()
        moved[:, k] *= 1 + 1e-30j
        h, states = 0, []
        for t in range(T):
            x = weights["B"] @ instance.X[t * B : (t + 1) * B]
            h = 0.5 * h + 0.5 * np.tanh(moved @ (h + x) + weights["c"])
            states.append(h.imag / 1e-30)
        # Numbers step by step, each unit with all samples.
        assert np.allclose(found.rows[:, k], np.ravel(states), rtol=1e-12, atol=1e-14)
    assert (found.prior == 1).all()


@pytest.mark.parametrize("seed", range(3 if LONG else 1))
def test_predicted_deviations_are_those_of_noisy_fits(seed):
    """Each unit's predicted deviation is within 10 % of that of 2,000 fits to noisy recordings."""
    problem, sigma, count = circuit(seed=seed, scale="1/10"), 0.02, 2000
    found = noisy_recording(problem, "units", sigma, None, target="units", forbidden=["unit 3"])
    instance, question = draw_instance(problem, 0, 0), found.question
    truth = own_values(problem, instance)
    prior = sensitivity(question, 0).prior
    chosen = [element.unit for element in found.recorded]
    rng = np.random.default_rng(seed)

    def recorded(values):
        return states_of(problem, instance, values)[..., chosen, :, :].reshape(
            *values.shape[:-1], -1
        )

    starts = truth + prior * rng.standard_normal((count, len(truth)))
    data = recorded(truth)
    data = data + sigma * rng.standard_normal((count, data.size))
    values = starts
    for _ in range(6):
        moved = values[:, None].astype(complex) + 1e-30j * np.eye(len(truth))
        J = np.swapaxes(recorded(moved).imag / 1e-30, 1, 2)
        left = np.swapaxes(J, 1, 2) @ J / sigma**2 + np.diag(prior**-2)
        right = np.einsum("kij,ki->kj", J, data - recorded(values)) / sigma**2
        right += (starts - values) / prior**2
        values = values + np.linalg.solve(left, right[..., None])[..., 0]
    errors = states_of(problem, instance, values) - states_of(problem, instance, truth)
    simulated = np.sqrt((errors**2).mean(axis=(0, 2, 3)))
    assert np.allclose(found.deviation, simulated, rtol=0.1)


def test_the_lower_bound_is_below_the_fewest_units_and_these_below_the_greedy_choice():
    """Bound ≤ least over all subsets ≤ greedy on small circuits; the choice meets the error."""
    tight = 0
    for seed in range(8):
        problem = circuit(n=5, seed=seed)
        question = recording_question(problem, "units", target="units")
        found = sensitivity(question)
        everything = list(question.allowed)

        def error(chosen, found=found):
            rows = found.rows[np.isin(found.owner, chosen)]
            C = np.linalg.inv(np.diag(found.prior**-2) + rows.T @ rows / 0.2**2)
            return np.sqrt(np.trace(found.target @ C @ found.target.T) / len(found.target))

        for share in (1.1, 1.5, 2.5):
            below = share * error(everything)
            choice = fewest(found, everything, [], 0.2, below)
            least = next(
                size
                for size in range(6)
                if any(error(chosen) < below for chosen in combinations(everything, size))
            )
            assert choice.least <= least <= len(choice.chosen)
            assert error(choice.chosen) < below
            tight += choice.least == least
        assert fewest(found, everything, [], 0.2, 0.9 * error(everything)) is None
    assert tight >= 2


TARGET_FREE = Path(__file__).parents[3] / "data" / "circuits" / "target_free.toml"


def test_a_target_that_stays_free_is_recorded_by_its_deviation():
    """Ranks say that nothing helps; with noise five units bring 0.765 to 0.070, one to 0.444."""
    problem = load_problem(TARGET_FREE)
    exact = record(problem, target="samples=new")
    assert exact.names == ()
    assert "output 0 stays free whatever is recorded" in exact.document().title
    assert any(step.options.get("noise") for step in exact.document().why.steps)
    found = record(problem, target="samples=new", noise=0.1)
    assert [round(best.deviation, 3) for best in found.curve] == [
        0.765,
        0.444,
        0.32,
        0.083,
        0.07,
        0.07,
    ]
    assert [best.chosen for best in found.curve][1] == (2,)
    assert found.total <= 1.01 * found.deviation_with([f"unit {k}" for k in range(5)])
    assert "predicted deviation 0.0703" in found.document().title
    assert not found.is_optimal
    refuses("proof file", found.proof_file)


def test_the_curve_is_the_least_over_all_sets_and_a_greedy_choice_is_not_below(monkeypatch):
    """For each number of units, required ones and caps included; all of them give one number."""
    for seed in range(4):
        problem = circuit(n=5, seed=seed)
        question = recording_question(
            problem, "units", target="units", must=["unit 1"], caps={"matrix": 4}
        )
        found = sensitivity(question)
        exact = best_of_each_size(found, 0.2)
        assert [len(best.chosen) for best in exact] == [1, 2, 3, 4]
        for best in exact:
            sets = (c for c in combinations(range(5), len(best.chosen)) if 1 in c)
            assert best.deviation == min(found.total(chosen, 0.2) for chosen in sets)
        monkeypatch.setattr(noise, "_FEW_ELEMENTS", 0)
        greedy = best_of_each_size(found, 0.2)
        monkeypatch.undo()
        for one, other in zip(exact, greedy, strict=True):
            assert other.deviation >= one.deviation - 1e-12
            assert 1 in other.chosen
        assert enough(exact).deviation <= 1.01 * exact[-1].deviation


def test_weights_are_a_target():
    """Their deviations are those of the posterior; what no recording determines is free."""
    problem = load_problem(TARGET_FREE)
    found = record(problem, target="weights", noise=0.1)
    known = sensitivity(found.question)
    rows = known.rows / 0.1
    covariance = np.linalg.inv(rows.T @ rows + np.diag(known.prior**-2))
    assert np.allclose(found.deviation, np.sqrt(np.diag(covariance)))
    free = [state["free"] for state in found.to_dict()["target"]]
    assert free == [int(cell in set(found.free)) for cell in problem.allocation.cells]
    assert record(problem, target="weights").names == record(problem, "units").names


def test_simulated_fits_agree_with_the_prediction_near_the_truth():
    """In a nearly linear circuit none ends elsewhere; without a limit of errors all would."""
    problem = circuit(scale="1/10")
    found = record(problem, "units", target="units", noise=0.02, students=12)
    assert found.fits.elsewhere == 0
    assert found.fits.median == pytest.approx(found.total, rel=0.3)
    assert "of 12 simulated fits 0 end elsewhere" in str(found)
    far = replace(found.fits, predicted=found.total / 100)
    assert (far.elsewhere, far.share.high) == (12, 1)
    assert far.to_dict()["students"]["median_error"] is None
    again = record(problem, "units", target="units", noise=0.02, students=12)
    assert again.fits == found.fits
    refuses("give the `noise`", record, problem, "units", target="units", students=3)


def test_when_time_is_up_the_work_so_far_remains(monkeypatch):
    """The choice without noise, the sizes that have a set, the students that are fitted."""

    def late(*_, **__):
        raise OutOfTime("late")

    asked = {"what": "units", "target": "units", "noise": 0.02}
    problem = circuit(scale="1/10")
    with monkeypatch.context() as patched:
        patched.setattr(noise, "sensitivity", late)
        words = "without noise the answer is: record 1 of 4 .*no cost is below"
        refuses(words, record, problem, **asked, error=Unfinished)
        words = "out of time before the deviations were known; without noise the answer is: "
        refuses(words, identify, problem, target="units", noise=0.02, error=Unfinished)
    with monkeypatch.context() as patched:
        patched.setattr(noise, "fewest", late)
        words = "out of time before few elements were chosen; with all 4"
        refuses(words, record, problem, **asked, below=0.001, error=Unfinished)
    with monkeypatch.context() as patched:
        patched.setattr(noise, "_FEW_ELEMENTS", 0)
        patched.setattr(noise, "is_over", lambda: True)
        assert [len(best.chosen) for best in record(problem, **asked).curve] == [0, 1]
    before, whole = MovedCircuit.aims, record(problem, **asked, students=3).fits
    aims = iter([before] * 3)
    monkeypatch.setattr(MovedCircuit, "aims", lambda *own: next(aims, late)(*own))
    some_of = record(problem, **asked, students=3).fits
    assert some_of.errors == whole.errors[:2]
    assert "of 2 simulated fits (of 3 when time was up)" in str(some_of)
    none = record(problem, **asked, students=3).fits
    assert (none.errors, none.share.low, none.share.high) == ((), 0, 1)


def test_a_choice_for_an_error_says_that_it_is_no_proof():
    """A choice for a required error is never optimal, and has no proof file."""
    found = noisy_recording(circuit(), "units", 0.1, 0.5, target="outputs")
    assert not found.is_optimal
    assert found.total < 0.5
    assert "not a proof" in str(found.document())
    refuses("proof", found.proof_file)


def test_wrong_noise_is_refused():
    """Noise and errors that are not above 0, no target and other kinds are named in one line."""
    for sigma in (0, -1.0, float("nan"), float("inf")):
        refuses("noise", noisy_recording, circuit(), "units", sigma, None, target="units")
    refuses("below", noisy_recording, circuit(), "units", 0.1, 0, target="units")
    refuses("target", noisy_recording, circuit(), "units", 0.1, None)
    refuses("costs", noisy_recording, circuit(), "units", 0.1, 0.1, target="units",
            costs={"unit 1": 2})  # fmt: skip
    linear = Problem(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 1], [0, 1]]})
    refuses("rnn and ffn", noisy_recording, linear, "units", 0.1, None, target="outputs")
    with pytest.raises(Unfinished, match="below"):
        noisy_recording(circuit(), "units", 0.1, 1e-9, target="units")


def test_each_step_of_a_choice_is_the_best_one_and_its_error_is_the_predicted_one():
    """Errors along the choice equal direct predictions, and no other element does better."""
    problem = circuit(n=6, seed=3)
    found = noisy_recording(problem, "units", 0.1, 0.06, target="units", must=["unit 2"])
    direct, names = found.sensitivity, ["unit 2"]
    for element, deviation in found.path[1:]:
        others = {
            k: direct.deviations([*(int(n[5:]) for n in names), k], 0.1)[1]
            for k in range(6)
            if f"unit {k}" not in names
        }
        assert np.isclose(deviation, others[element.unit], rtol=1e-9)
        assert np.isclose(deviation, min(others.values()), rtol=1e-9)
        names.append(element.name)
        assert np.isclose(found.deviation_with(names), deviation, rtol=1e-9)
    assert len(names) > 2
    assert names == [element.name for element, _ in found.path]
    assert np.isclose(found.total, found.path[-1][1])
    before = np.sqrt(((direct.target * direct.prior) ** 2).sum() / len(direct.target))
    assert np.isclose(found.deviation_with([]), before)
    refuses("names", found.deviation_with, ["unit 9"])


def test_an_element_decreases_the_error_at_least_by_alpha_times_its_later_decrease():
    """The decrease by a unit is at least α times that at every larger set, and α > 0."""
    problem = circuit(n=4, seed=2)
    question = recording_question(problem, "units", target="units")
    found, sigma, everything = sensitivity(question), 0.3, list(question.allowed)
    alpha = supermodularity(found, everything, sigma)
    assert 0 < alpha < 1
    sets = [s for size in range(4) for s in combinations(everything, size)]
    sums = {s: found.deviations(s, sigma)[1] ** 2 for s in [*sets, tuple(everything)]}

    def decrease(chosen, k):
        return sums[chosen] - sums[tuple(sorted({*chosen, k}))]

    for large in sets:
        for small in sets:
            for k in set(everything) - set(large) if set(small) <= set(large) else ():
                assert decrease(small, k) >= alpha * decrease(large, k) * (1 - 1e-9) - 1e-15
    few = recording_question(problem, "units", target="outputs")
    assert supermodularity(sensitivity(few), list(few.allowed), sigma) == 0


def test_labels_with_noise_predict_a_target():
    """`identify` with noise predicts what a recording of the outputs does."""
    problem = circuit()
    found = identify(problem, target="units", noise=0.1)
    same = noisy_recording(problem, "outputs", 0.1, None, target="units", must=["output 0"])
    assert np.allclose(found.deviation, same.deviation)
    assert np.allclose(found.singular_values, same.singular_values)
    assert found.to_dict()["target"][0]["deviation"] == found.deviation[0]
    assert "without a recording" in str(found.document())
    refuses("noise", identify, problem, target="units", noise=0.0)
    refuses("target", identify, problem, noise=0.1)


# -- stimulations -------------------------------------------------------------------------------


def driven_sensitivity(activation="tanh"):
    """The derivatives of a circuit of three units, two of which may be driven."""
    wiring = {"W": [[1, 0, 1], [1, 0, 1], [0, 1, 0]], "B": [[1], [0], [0]]}
    net = RNN(n=3, T=3, b=1, d=1, m=2, activation=activation, biases=True, leak="1/2")
    problem = Problem(net, {"W": wiring["W"], "c": "all"}, wiring)
    if activation == "relu":
        problem = at_own_parameters(problem, 0, "units")
    chosen = {"target": "outputs", "stimulate": ["unit 1", "unit 2"]}
    return sensitivity(recording_question(problem, "units", **chosen))


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_derivatives_with_a_drive_are_those_of_differences(activation):
    """Rows of all samples are differences of the recorded numbers; a drive changes these."""
    found = driven_sensitivity(activation)
    circuit, step = MovedCircuit(found), 1e-6
    zero = np.zeros(len(found.prior))
    for k in range(len(zero)):
        by = zero.copy()
        by[k] = step
        slope = (circuit.recorded(by) - circuit.recorded(-by)) / (2 * step)
        assert np.allclose(found.rows[:, k], slope, atol=1e-7)
    numbers, at = circuit.recorded(zero), [found.stimulation == k for k in (-1, 3, 4)]
    assert [int(own.sum()) for own in at] == [18, 18, 18]
    assert not any(np.allclose(numbers[at[0]], numbers[own]) for own in at[1:])


def test_what_an_element_adds_depends_on_the_stimulations():
    """The gains of the greedy choice are the falls of the variance, pairs of elements counted."""
    found, sigma = driven_sensitivity(), 0.1
    state, chosen = GreedyPairs(found, sigma), []
    assert state.gain(3) == 0
    for k in (0, 3, 1, 4, 2):
        before, after = (found.total(some, sigma) for some in (chosen, [*chosen, k]))
        fall = (before**2 - after**2) * len(found.target)
        assert state.gain(k) == pytest.approx(fall, rel=1e-8)
        state.add(k)
        chosen.append(k)
    rows = found.rows[found.kept([0, 4])] / sigma
    inverse = np.linalg.inv(np.diag(found.prior**-2) + rows.T @ rows)
    direct = np.sqrt(np.trace(found.target @ inverse @ found.target.T) / len(found.target))
    assert found.total([0, 4], sigma) == pytest.approx(direct)


def test_noise_chooses_what_to_record_and_what_to_drive():
    """The curve counts both; `below` counts recordings alone and is refused."""
    wiring = {"W": [[1, 0, 0], [1, 0, 1], [0, 0, 0]], "B": [[1], [0], [0]]}
    net = RNN(n=3, T=2, b=1, d=1, m=1, activation="tanh")
    problem = Problem(net, {"W": wiring["W"]}, wiring)
    given = {"target": "weights", "stimulate": "unit *", "noise": 0.1}
    found = record(problem, "units", **given, students=3)
    assert found.driven
    assert found.deviation_with(["unit 0", "stimulation of unit 1"]) < found.deviation_with(
        ["unit 0"]
    )
    assert [len(best.chosen) for best in found.curve] == list(range(6))
    deviations = [best.deviation for best in found.curve]
    assert deviations == sorted(deviations, reverse=True)
    refuses("without stimulate", record, problem, "units", **given, below=0.1)
