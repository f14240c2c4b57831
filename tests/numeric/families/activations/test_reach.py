"""Labels that no student can reach: against searches, linear programs and closed forms."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares, linprog

import matchprob as mp
from algebra.families.activations.reach import LabelReach
from algebra.problems.random_cells import RandomCells
from numeric.engines.counter import InstanceCounter
from numeric.families.activations.reach import separated_labels
from numeric.trials.instances import draw_instance
from tests.samples import many

ENDS = {"tanh": (-1, 1), "sigmoid": (0, 1), "erf": (-1, 1), "softplus": (0, None)}


def of(network, *names, **more):
    """A problem in which some matrices learn."""
    learns = {name: np.ones(network.shapes[name], int) for name in names}
    return mp.Problem(network, learns, **more)


def shallow(activation, d, biases=True, widths=(4,)):
    return mp.FeedForward(q=3, widths=list(widths), d=d, m=4, activation=activation, biases=biases)


def excluded(reach, instance):
    return separated_labels(reach, instance) is not None


def in_hull(instance, low, high):
    """Whether all label columns lie in the set of what the read-out makes of bounded units."""
    D, e = instance.weights["W2"], instance.weights.get("e", np.zeros((len(instance.labels), 1)))
    return all(
        linprog(np.zeros(D.shape[1]), A_eq=D, b_eq=y, bounds=(low, high), method="highs").status
        == 0
        for y in (instance.labels - e).T
    )


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("activation", ENDS)
def test_as_linear_programs_say(activation, d):
    """With all of W1 learning, an instance is excluded if and only if a label is out of the hull.

    Of values that are bounded on one side only separating rows of the read-out are tried.
    """
    problem = of(shallow(activation, d), "W1", "c1")
    reach = LabelReach.of(problem)
    low, high = ENDS[activation]
    for k in range(many(30)):
        instance = draw_instance(problem, d, k)
        inside = in_hull(instance, low, high)
        if high is None:
            assert not (inside and excluded(reach, instance))
        else:
            assert excluded(reach, instance) == (not inside)


@pytest.mark.parametrize("seed", range(many(6)))
def test_a_match_is_never_excluded(seed):
    """Labels of a student with other values in the learning weights are within reach."""
    rng = np.random.default_rng(seed)
    networks = (
        (shallow("tanh", 2), ("W1",)),
        (shallow("sigmoid", 2, widths=(3, 3)), ("W1", "c1")),
        (mp.RNN(n=3, T=3, b=2, d=2, m=3, activation="tanh", read="all"), ("W",)),
        (mp.RNN(n=3, T=3, b=2, d=2, m=3, activation="tanh", leak=0.3), ("B",)),
        (mp.RNN(n=3, T=2, b=2, d=2, m=3, activation="erf", biases=True), ("W", "B")),
        (shallow("softplus", 2), ("W1",)),
    )
    for network, names in networks:
        problem = of(network, *names)
        reach = LabelReach.of(problem)
        for index in range(5):
            instance = draw_instance(problem, seed, index)
            teacher = {name: np.array(value) for name, value in instance.weights.items()}
            for name in names:
                teacher[name] = rng.normal(scale=3, size=teacher[name].shape)
            assert not excluded(reach, replace(instance, teacher=teacher))


def test_units_that_do_not_move_keep_their_values():
    """One of four units learns: two outputs leave it one value, which few labels allow."""
    network = shallow("tanh", 1)
    problem = mp.Problem(network, {"W1": [[1, 1, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0]]})
    reach = LabelReach.of(problem)
    found = 0
    for index in range(many(40)):
        instance = draw_instance(problem, 0, index)
        D, h = instance.weights["W2"], instance.weights["W1"] @ instance.X + instance.weights["c1"]
        rest = instance.labels - instance.weights["e"] - D[:, 1:] @ np.tanh(h[1:])
        out = bool((np.abs(rest) > np.abs(D[0, 0])).any())
        assert excluded(reach, instance) == out
        found += out
    assert found > many(40) / 4


def test_excluded_instances_have_no_match_for_a_search():
    """400 starts find no match in any of them; unknown weights are as many as labels."""
    network = mp.FeedForward(q=2, widths=[3], d=2, m=3, activation="tanh", biases=False)
    problem = of(network, "W1")
    reach = LabelReach.of(problem)
    rng, seen = np.random.default_rng(0), 0
    for index in range(many(12)):
        instance = draw_instance(problem, 3, index)
        if not excluded(reach, instance):
            continue
        seen += 1

        def residual(w, own=instance):
            student = dict(own.weights) | {"W1": w.reshape(3, 2)}
            return (network.forward(student, own.X) - own.labels).ravel()

        best = min(least_squares(residual, rng.normal(size=6) * 2).cost for _ in range(20))
        assert best > 1e-6
    assert seen


def test_rows_that_learn_are_left_out():
    """A row of the read-out that learns excludes nothing; if all learn, nothing is known."""
    network = shallow("tanh", 2)
    learns = {"W1": np.ones((4, 3), int), "W2": [[1, 0, 0, 0], [0, 0, 0, 0]]}
    assert LabelReach.of(mp.Problem(network, learns)).rows.tolist() == [1]
    assert LabelReach.of(mp.Problem(network, learns | {"e": [[0], [1]]})) is None
    assert LabelReach.of(of(shallow({"polynomial": [0, 1, 1]}, 2), "W1")) is None
    assert LabelReach.of(of(mp.LinearRNN(n=2, T=2, b=1, d=1, m=2), "W")) is None


def test_counts_and_estimates():
    """An excluded instance is a complete count of none, with more weights than labels too."""
    problem = of(shallow("tanh", 2), "W1")
    with InstanceCounter(problem, complete=False, timeout=1) as counter:
        counts = counter.count_many([draw_instance(problem, 0, k) for k in range(10)])
    reach = LabelReach.of(problem)
    for count in counts:
        out = excluded(reach, draw_instance(problem, 0, count.index))
        assert ((count.real, count.status) == (0, "complete")) == out
    found = mp.estimate(problem, trials=20)
    assert found.unmatched > 10
    assert found.interval().high < 0.8


def test_updates_and_drawn_cells():
    """Low ranks of W1, and cells that are drawn for each trial."""
    network = shallow("tanh", 2)
    updated = mp.estimate(mp.Problem(network, {"W1": {"lora": 1}}), trials=10, timeout=60)
    drawn = mp.estimate(
        mp.Problem(network, {"W1": RandomCells(budget=8, rows=4)}), trials=10, timeout=60
    )
    assert updated.unmatched > 2
    assert drawn.unmatched > 2


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_labels_beyond_doubles():
    """Samples with labels that overflow are passed over."""
    problem = of(shallow("softplus", 2), "W1")
    instance = draw_instance(problem, 0, 0)
    teacher = {name: 1e160 * np.asarray(value) for name, value in instance.teacher.items()}
    assert not np.isfinite(replace(instance, teacher=teacher).labels).all()
    assert separated_labels(LabelReach.of(problem), replace(instance, teacher=teacher)) is None
