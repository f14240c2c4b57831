"""Instances of networks with several ReLU layers: decided over patterns, and by brute force."""

from copy import deepcopy
from itertools import product

import numpy as np
import pytest
from flint import fmpq
from scipy.optimize import linprog

from algebra.plugins.relu.decision import DECISION
from algebra.plugins.relu.equations import ProductOfUnknowns, moving_units, relu_system
from algebra.plugins.relu.leaves import refutes
from algebra.problems.constraints import Constraints
from matchprob import (
    FeedForward,
    Instance,
    Problem,
    ShallowReLU,
    certify,
    draw_instance,
    estimate,
    verify,
)
from numeric.plugins.relu.complementarity import ComplementarityEngine
from numeric.plugins.relu.decide import decide
from numeric.plugins.relu.decision import MATCH, NONE
from numeric.trials.counts import COMPLETE
from tests.refusals import refuses
from tests.samples import many


def _problem(widths, m, cells, *, q=2, d=1, biases=False, support=None, **more):
    net = FeedForward(q=q, widths=widths, d=d, m=m, activation="relu", biases=biases)
    masks = {name: np.zeros(shape, int) for name, shape in net.shapes.items()}
    for name, i, j in cells:
        masks[name][i, j] = 1
    learnable = {name: mask.tolist() for name, mask in masks.items() if mask.any()}
    return Problem(net, learnable, support or {}, **more)


def _random_problem(rng):
    """A tiny net in which some weights of one layer learn, at most 2^8 patterns."""
    while True:
        widths = tuple(int(x) for x in rng.integers(1, 3, int(rng.integers(2, 4))))
        q, d, m = (int(x) for x in rng.integers(1, 3, 3))
        biases = bool(rng.integers(2))
        if sum(widths) * m > 8:
            continue
        net = FeedForward(q=q, widths=widths, d=d, m=m, activation="relu", biases=biases)
        layer = int(rng.integers(1, len(widths) + 2))
        names = [f"W{layer}"]
        if biases:
            names.append("e" if layer == len(widths) + 1 else f"c{layer}")
        own = [(n, i, j) for n in names for i, j in np.ndindex(*net.shapes[n])]
        size = int(rng.integers(1, len(own) + 1))
        cells = [own[k] for k in rng.permutation(len(own))[:size]]
        return _problem(widths, m, cells, q=q, d=d, biases=biases)


def _labels(instance: Instance, w, pattern):
    """Inputs of all units and the labels on a pattern, layer after layer."""
    student, network = instance.with_weights(w), instance.problem.network
    z, inputs = instance.X, []
    for k in range(1, network.layers):
        h = student[f"W{k}"] @ z + student.get(f"c{k}", 0)
        inputs.append(h)
        z = np.where(pattern[k - 1], h, 0)
    return inputs, student[f"W{network.layers}"] @ z + student.get("e", 0)


def _brute_force(instance: Instance) -> bool:
    """Whether some pattern has weights, by a linear program of SciPy for each of them."""
    network, r = instance.problem.network, instance.allocation.size
    shapes = [(n, network.m) for n in network.widths]
    origin = np.zeros(r)
    for bits in product((False, True), repeat=sum(n * network.m for n in network.widths)):
        pattern = [
            part.reshape(shape)
            for part, shape in zip(
                np.split(np.array(bits), np.cumsum([n * network.m for n in network.widths])[:-1]),
                shapes,
                strict=True,
            )
        ]

        def flat(w, pattern=pattern):
            inputs, labels = _labels(instance, w, pattern)
            return np.concatenate([h.ravel() for h in inputs]), labels.ravel()

        h0, y0 = flat(origin)
        ends = [flat(e) for e in np.eye(r)]
        H = np.array([h - h0 for h, _ in ends]).T
        A = np.array([y - y0 for _, y in ends]).T
        sign = np.where(np.array(bits), -1.0, 1.0)
        found = linprog(
            np.zeros(r), A_ub=sign[:, None] * H, b_ub=-sign * h0, A_eq=A,
            b_eq=instance.labels.ravel() - y0, bounds=[(None, None)] * r, method="highs",
        )  # fmt: skip
        if found.status == 0:
            return True
    return False


@pytest.mark.parametrize("part", range(4))
def test_decisions_agree_with_all_patterns_one_by_one(part):
    """A linear program for every pattern, in doubles, gives the same verdict."""
    rng = np.random.default_rng((part, 59))
    seen = set()
    for _ in range(many(4)):
        case = _random_problem(rng)
        instance = draw_instance(case, 0, int(rng.integers(1000)))
        found = decide(instance, certify=True)
        assert found.is_certified
        system = relu_system(instance.allocation, *instance.exact)
        if found.verdict == MATCH:
            assert system.is_witness(list(found.witness))
        else:
            assert refutes(system, found.leaves)
        assert (found.verdict == MATCH) == _brute_force(instance), (case, instance.index)
        seen.add(found.verdict)
    assert seen <= {MATCH, NONE}


@pytest.mark.parametrize("biases", [False, True])
def test_larger_nets_agree_with_scip(biases):
    """SCIP decides the same trials of n = 4 and m = 4, learning anywhere in the first layer."""
    pytest.importorskip("pyscipopt")
    from tests.numeric.plugins.relu.scip_oracle import scip_verdict

    cells = [("W1", 0, 0), ("W1", 1, 1), ("W1", 2, 0), ("W1", 2, 1)]
    case = _problem((4, 3), 4, cells, q=3, biases=biases)
    for index in range(many(3)):
        instance = draw_instance(case, 0, index)
        found = decide(instance, certify=True)
        assert found.verdict == scip_verdict(instance)[0]


def test_a_match_is_a_rational_witness_of_the_whole_network():
    """Put through the network over Q it gives every label; a file with another one is refused."""
    case = _problem((3, 3), 4, [("W1", 0, 0), ("W1", 0, 1), ("W1", 1, 0), ("W1", 1, 2)], q=3)
    found = {}
    for index in range(20):
        decision = decide(draw_instance(case, 0, index), certify=True)
        found.setdefault(decision.verdict, decision)
    match = found[MATCH].certificate()
    assert DECISION.verify(match).holds
    forged = deepcopy(match)
    forged["witness"][0] = str(fmpq(forged["witness"][0]) + fmpq(1, 10**9))
    assert not DECISION.verify(forged).holds
    assert not DECISION.verify(match | {"verdict": "no match"}).holds


def test_forged_refutations_are_refused():
    """A leaf omitted, changed, or moved to another instance proves nothing."""
    case = _problem((3, 3), 4, [("W1", 0, 0), ("W1", 0, 1), ("W1", 1, 0), ("W1", 1, 2)], q=3)
    proofs, matched = [], None
    for index in range(20):
        decision = decide(draw_instance(case, 0, index), certify=True)
        if decision.verdict == NONE and decision.leaf_count > 3:
            proofs.append(decision.certificate())
        if decision.verdict == MATCH:
            matched = decision.certificate()
    one, other = proofs[:2]
    assert verify(one).holds
    assert not DECISION.verify(one | {"leaves": one["leaves"][1:]}).holds
    # The leaves of another instance.
    assert not DECISION.verify(one | {"leaves": other["leaves"]}).holds
    # An instance with a match, and a refutation of another one.
    stolen = {k: v for k, v in matched.items() if k != "witness"}
    stolen |= {"verdict": "no match", "leaves": one["leaves"]}
    assert not DECISION.verify(stolen).holds
    forged = deepcopy(one)
    for name in ("lambda", "mu"):
        forged["leaves"][0][name] = [["0" for _ in row] for row in one["leaves"][0][name]]
    assert not DECISION.verify(forged).holds
    # A vector of the labels alone is a proof for shallow nets only.
    forged = deepcopy(one)
    for leaf in forged["leaves"]:
        leaf.pop("lambda", None)
    assert not DECISION.verify(forged).holds
    # Other fixed weights behind the learning ones.
    forged = deepcopy(one)
    forged["weights"]["W2"] = [["1" for _ in row] for row in forged["weights"]["W2"]]
    assert not DECISION.verify(forged).holds


def test_constraints_are_part_of_the_programs():
    """With bounds fewer trials match; a match is within them, and refutations hold over Q."""
    cells = [("W1", 0, 0), ("W1", 1, 1)]
    free = _problem((2, 2), 2, cells)
    tight = Problem(free.network, free.learnable, constraints=Constraints(max_abs=1))
    counts = {}
    for name, case in (("free", free), ("tight", tight)):
        counts[name] = 0
        for index in range(30):
            instance = draw_instance(case, 0, index)
            found = decide(instance, certify=True)
            assert found.is_certified
            counts[name] += found.verdict == MATCH
            if name == "tight" and found.verdict == MATCH:
                assert all(abs(w) <= 1 for w in found.witness)
    assert 0 < counts["tight"] < counts["free"]


def test_a_shallow_net_is_the_same_as_kind_relu():
    """`ffn` with one hidden layer and no biases has the verdicts of kind `relu`, trial by trial."""
    masks = {"W1": [[1, 1, 0], [0, 1, 1], [0, 0, 0]]}
    same = Problem(ShallowReLU(q=3, n=3, d=2, m=2), masks)
    case = Problem(FeedForward(q=3, widths=(3,), d=2, m=2, activation="relu"), masks)
    for index in range(20):
        a, b = (decide(draw_instance(p, 0, index), certify=True) for p in (same, case))
        assert a.verdict == b.verdict


def test_both_layers_may_learn_where_no_unknowns_are_multiplied():
    """A read-out weight of a unit that does not move is linear; of one that moves it is refused."""
    linear = _problem((2,), 2, [("W1", 0, 0), ("W2", 0, 1)])
    for index in range(10):
        instance = draw_instance(linear, 0, index)
        assert decide(instance, certify=True).is_certified
    product_of = _problem((2, 2), 2, [("W1", 0, 0), ("W2", 0, 0)])
    instance = draw_instance(product_of, 0, 0)
    refuses("bilinear", decide, instance, error=ProductOfUnknowns)


def test_units_that_move():
    """Structural zeros end the paths: behind them units do not move, or reach no output."""
    case = _problem((2, 2), 2, [("W1", 0, 0)])
    assert moving_units(case.allocation, {}) == [(1, 0), (2, 0), (2, 1)]
    assert moving_units(case.allocation, {"W2": [[1, 1], [0, 1]]}) == [(1, 0), (2, 0)]
    assert moving_units(case.allocation, {"W3": [[0, 1]], "W2": [[1, 1], [0, 1]]}) == []


def test_trials_are_decided_one_way_or_the_other():
    """Each trial has a witness or a refutation of all patterns over Q."""
    case = _problem((3, 3), 4, [("W1", 0, 0), ("W1", 0, 1), ("W1", 1, 0), ("W1", 1, 2)], q=3)
    found = estimate(case, trials=60)
    assert found.undetermined == 0
    assert 0 < found.matched < 60
    none = next(i for i in range(20) if decide(draw_instance(case, 0, i)).verdict == NONE)
    count = ComplementarityEngine().count(draw_instance(case, 0, none))
    assert (count.real, count.status) == (0, COMPLETE)
    assert "over Q" in count.note


def test_verdicts():
    """Too few weights are intermediate; with biases only where those of the read-out all learn."""
    few = _problem((3, 3), 3, [("W3", 0, 0)], q=3)
    found = certify(few)
    assert found.verdict == "intermediate"
    assert verify(found.to_dict()).holds
    biased = _problem((3, 3), 3, [("W3", 0, 0)], q=3, biases=True)
    found = certify(biased)
    assert found.verdict == "undecided"
    forged = found.to_dict() | {"verdict": "intermediate"}
    assert not verify(forged).holds
    learns = _problem((3, 3), 3, [("W3", 0, 0), ("e", 0, 0)], q=3, biases=True)
    found = certify(learns)
    assert (found.verdict, found.rank) == ("intermediate", 2)
    assert verify(found.to_dict()).holds
    open_ = certify(_problem((3, 3), 2, [("W1", 0, 0), ("W1", 1, 0)], q=3))
    assert open_.verdict == "undecided"


def test_no_path_makes_labels_vanish_only_without_biases():
    """A forged `labels_vanish` of a net with biases is refused."""
    none = {"W2": [[0, 0], [0, 0]]}
    plain = _problem((2, 2), 2, [("W1", 0, 0)], support=none)
    found = certify(plain)
    assert found.verdict == "maximal"
    assert verify(found.to_dict()).holds
    biased = certify(_problem((2, 2), 2, [("W1", 0, 0)], biases=True, support=none))
    assert biased.verdict != "maximal"
    data = found.to_dict()
    data["problem"]["network"]["biases"] = True
    assert not verify(data).holds


def test_read_outs_are_counted_and_hidden_biases_decided():
    """If only the last layer learns equations are linear, with one solution."""
    read = _problem((2, 2), 2, [("W3", 0, 0), ("e", 0, 0)], biases=True)
    counts = [ComplementarityEngine(complete=True).count(draw_instance(read, 0, i)) for i in (0, 1)]
    assert {count.real for count in counts} <= {0, 1}
    bias = _problem((2,), 1, [("c1", 0, 0)], biases=True)
    engine = ComplementarityEngine(complete=True)
    found = {engine.count(draw_instance(bias, 0, i)).real for i in range(12)}
    assert found == {0, 1}


@pytest.mark.parametrize("layer", [1, 2, 3])
def test_one_unit_a_layer_by_a_closed_form(layer):
    """y = w₃ relu(w₂ relu(w₁ x)), one weight learns: MP = 13/16, and every trial by its signs.

    A teacher's label is not 0 with probability 1/4: w₁ x > 0 and w₂ > 0.  Then the student needs
    the two other signs: w₂ > 0 and that of w₃ for w₁, w₁ x > 0 and that of w₃ for w₂, and
    w₁ x > 0, w₂ > 0 for w₃.  So MP = 3/4 + 1/4 · 1/4.
    """
    net = FeedForward(q=1, widths=(1, 1), d=1, m=1, activation="relu")
    case = Problem(net, {f"W{layer}": [[1]]})
    trials = many(200)
    found = [ComplementarityEngine().count(draw_instance(case, 0, i)) for i in range(trials)]
    assert all(own.real or own.status == COMPLETE for own in found)
    for own in found:
        instance = draw_instance(case, 0, own.index)
        w1, w2, w3 = (instance.weights[f"W{k}"][0, 0] for k in (1, 2, 3))
        y, x = instance.labels[0, 0], instance.X[0, 0]
        needed = {1: w1 * x > 0, 2: w2 > 0, 3: w3 * y > 0}
        wanted = all(holds for k, holds in needed.items() if k != layer)
        assert bool(own.real) == (y == 0 or wanted)
    share = sum(bool(own.real) for own in found) / trials
    assert abs(share - 13 / 16) < 4 * (13 / 16 * 3 / 16 / trials) ** 0.5
