"""ReLU instances in which learnable weights of several layers are multiplied."""

from copy import deepcopy
from functools import cache

import numpy as np
import pytest
from scipy.optimize import least_squares

from algebra.families.activations.decision import BOXED_DECISION
from algebra.plugins.relu.decision import DECISION
from matchprob import FeedForward, Problem, decide, draw_instance, estimate, verify
from numeric.families.activations.decision import ActivatedDecision
from numeric.plugins.relu.decision import MATCH, NONE, UNDETERMINED
from numeric.plugins.relu.products import decide_products, layers_of
from numeric.trials.instances import to_rational
from tests.samples import LONG, many

TWO = Problem(
    FeedForward(q=2, widths=(2, 2), d=1, m=2, activation="relu"),
    {"W1": [[1, 0], [0, 0]], "W2": [[1, 0], [0, 0]]},
)
READ = Problem(TWO.network, {"W1": [[1, 0], [0, 0]], "W3": [[0, 1]]})
SHALLOW = Problem(
    FeedForward(q=2, widths=(2,), d=1, m=2, activation="relu"),
    {"W1": [[1, 0], [0, 0]], "W2": [[1, 0]]},
)


@cache
def decided(index):
    """The decision of an instance of `TWO`."""
    return decide_products(draw_instance(TWO, 0, index))


def _closest(instance):
    """The least distance from the labels, by SciPy from many starts."""

    def errors(w):
        student = instance.with_weights(w)
        return (instance.problem.network.forward(student, instance.X) - instance.labels).ravel()

    rng = np.random.default_rng(0)
    size = instance.allocation.size
    ends = (
        least_squares(errors, rng.standard_normal(size) * 10 ** rng.uniform(-1, 2)).fun
        for _ in range(many(60))
    )
    return min(float(np.abs(end).max()) for end in ends)


@pytest.mark.parametrize("case", [TWO, READ, SHALLOW], ids=["W1 W2", "W1 W3", "shallow"])
def test_trials_without_a_match_have_no_near_one(case):
    """Most trials are decided, with proofs; where there is no match SciPy finds none either."""
    known, trials = 0, 10 if LONG else 5
    for index in range(trials):
        instance = draw_instance(case, 0, index)
        found = decided(index) if case is TWO else decide_products(instance)
        known += found.verdict != UNDETERMINED
        if found.verdict == UNDETERMINED:
            continue
        assert verify(found.certificate()).holds
        if found.verdict == NONE:
            assert _closest(instance) > 1e-9 * np.abs(instance.labels).max()
    assert known >= trials - 1


def test_matches_are_of_the_whole_network():
    """A match by boxes solves the equations in doubles; one of a layer is a rational witness."""
    kinds = set()
    for index in range(20):
        instance = draw_instance(TWO, 0, index)
        found = decided(index)
        if found.verdict != MATCH:
            continue
        kinds.add(type(found))
        if isinstance(found, ActivatedDecision):
            assert instance.residual(instance.with_weights(found.witness)) < 1e-9
        else:
            assert found.system.is_witness(list(found.witness))
    assert len(kinds) == 2


def test_matches_in_families_are_proved():
    """Silent labels, or more weights than labels: some weights are kept; other labels refute it."""
    three = Problem(TWO.network, {"W1": [[1, 0], [0, 0]], "W2": [[1, 0], [0, 1]]})
    for case, index in ((TWO, 13), (three, 7)):
        instance = draw_instance(case, 0, index)
        assert (instance.labels == 0).any() == (case is TWO)
        found = decide_products(instance)
        assert isinstance(found, ActivatedDecision)
        assert found.verdict == MATCH
        data = found.certificate()
        assert verify(data).holds
        given = {key: value for key, value in data.items() if key != "teacher"}
        Y = [[str(y) for y in row] for row in _exact_labels(instance)]
        assert verify({**given, "Y": Y}).holds
        for sample in range(case.network.m):
            forged = deepcopy(Y)
            forged[0][sample] = "-7"
            assert not verify({**given, "Y": forged}).holds


def _exact_labels(instance):
    """The labels of the teacher, rational."""
    teacher = {name: to_rational(value) for name, value in instance.teacher.items()}
    return instance.problem.network.forward(teacher, to_rational(instance.X))


def test_forged_refutations_are_refused():
    """Boxes of an instance without a match prove nothing of another one, and none may be left."""
    none = matched = None
    for index in range(20):
        found = decided(index)
        if found.verdict == NONE and none is None:
            none = found.certificate()
        if found.verdict == MATCH and isinstance(found, ActivatedDecision):
            matched = found.certificate()
    assert BOXED_DECISION.verify(none).holds
    stolen = {key: value for key, value in matched.items() if key != "near"}
    stolen |= {"verdict": "no match", "parts": none["parts"]}
    assert not BOXED_DECISION.verify(stolen).holds
    assert not BOXED_DECISION.verify(none | {"parts": none["parts"][1:]}).holds
    forged = deepcopy(none)
    forged["verdict"], forged["near"] = "match", ["1"] * 2
    del forged["parts"]
    assert not BOXED_DECISION.verify(forged).holds


def test_a_proof_of_kept_weights_names_them():
    """The file's instance has the kept weights, and only those of one layer learn."""
    found = next(
        own
        for own in (decide(TWO, index) for index in range(20))
        if own.verdict == MATCH and not isinstance(own, ActivatedDecision)
    )
    data = found.certificate()
    assert DECISION.verify(data).holds
    assert len({cell[0] for cell in data["cells"]}) == 1
    forged = deepcopy(data)
    forged["Y"][0][0] = "7/3"
    assert not DECISION.verify(forged).holds


def test_estimates_and_what_is_not_divided():
    """Two weights are decided; more than four are searched for matches, else undetermined."""
    assert estimate(TWO, trials=20 if LONG else 8).undetermined <= 1
    assert layers_of(TWO.allocation) == [[("W1", 0, 0)], [("W2", 0, 0)]]
    net = FeedForward(q=3, widths=(3, 3), d=1, m=5, activation="relu")
    wide = Problem(net, {"W1": [[1, 1, 0], [0, 0, 0], [0, 0, 0]], "W3": [[1, 1, 1]]})
    found = decide_products(draw_instance(wide, 0, 0))
    assert found.verdict == UNDETERMINED
    assert "not divided" in found.note
