"""Blocks that realize every layer: the systems against derivatives of the kind's own program."""

import random

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.linalg.rational import rational_kernel, rational_rank, rational_solution
from algebra.plugins.normalization.blocks import (
    block_solvable,
    input_differences,
    realizes_all,
    shifts_fit,
)
from matchprob import NormNet, Problem
from tests.samples import many

P = 1_073_741_827


def draw(rng, rows, columns):
    """Odd integers, as rationals: never 0."""
    entries = [[fmpq(2 * rng.randint(-400, 400) + 1) for _ in range(columns)] for _ in range(rows)]
    return np.array(entries, dtype=object).reshape(rows, columns)


def solvable_over_q(problem, rng):
    """Whether a block of depth 1 realizes a random layer on random samples, by the definition.

    The program's derivatives by the scales, with output scales 1, are the equations for the hidden
    scales: its labels are linear in them.
    """
    net, masks = problem.network, problem.allocation.masks
    weights = {name: draw(rng, *shape) for name, shape in net.shapes.items()}
    for name, mask in problem.support.items():
        weights[name] = weights[name] * np.asarray(mask)
    one = weights | {"g2": weights["g2"] ** 0, "b1": 0 * weights["b1"], "b2": 0 * weights["b2"]}
    U = draw(rng, net.q, min(net.q, net.m - 1))
    goal = draw(rng, net.d, net.q) @ U
    cells = [("g1", i, 0) for i in range(net.hidden[0])]
    K = net.jacobian(one, U, cells)
    by_output = np.zeros((goal.size, net.d), dtype=object)
    for i in range(net.d):
        by_output[i * U.shape[1] : (i + 1) * U.shape[1], i] = -goal[i]
    table = np.concatenate([K, by_output], axis=1)
    learns = np.concatenate([masks["g1"][:, 0], masks["g2"][:, 0]]) != 0
    fixed = np.concatenate([weights["g1"][:, 0], 1 / weights["g2"][:, 0]])
    right = -(table[:, ~learns] @ fixed[~learns])
    system = table[:, learns].tolist()
    count = int(learns.sum())
    if rational_rank(system, count) < goal.size:
        return False
    first = rational_solution(system, right, count)
    null = rational_kernel(system, count)
    outputs = range(int((masks["g1"] != 0).sum()), count)
    return all(first[k] != 0 or any(v[k] != 0 for v in null) for k in outputs)


@settings(max_examples=many(40), deadline=None)
@given(st.integers(0, 10**6))
def test_a_block_is_solvable_where_it_is_over_the_rationals(seed):
    """A point modulo p shows what a random rational point shows, for any learnable scales."""
    rng = random.Random(seed)
    q, d, w = rng.randint(1, 3), rng.randint(1, 3), rng.randint(1, 8)
    net = NormNet((q, d), (w,), rng.randint(2, 4), "linear")
    learn = {
        name: [[int(rng.random() < 0.8)] for _ in range(net.shapes[name][0])]
        for name in ("g1", "g2")
    }
    support = {}
    if rng.random() < 0.4:
        support["W1"] = [[int(rng.random() < 0.7) for _ in range(q)] for _ in range(w)]
    problem = Problem(net, learn, support=support)
    good, equations, unknowns = block_solvable(problem, 1, P, seed)
    assert good == solvable_over_q(problem, rng)
    assert equations == d * min(q, net.m - 1)
    assert unknowns == problem.allocation.size


def test_output_scales_are_worth_all_but_one():
    """n = 3, 9 equations: 7 hidden and 3 output scales suffice, 6 and 3 do not, nor 8 alone."""

    def solvable(width, *names):
        problem = Problem(NormNet.square(3, 1, width, 4), dict.fromkeys((*names, "b1"), "all"))
        return block_solvable(problem, 1, P, 1)

    assert solvable(7, "g1", "g2") == (True, 9, 10)
    assert solvable(6, "g1", "g2") == (False, 9, 9)
    assert solvable(8, "g1") == (False, 9, 8)
    assert solvable(9, "g1") == (True, 9, 9)


def test_one_sample_needs_no_scales():
    """The shifts alone match one sample; there are no differences."""
    problem = Problem(NormNet((2, 3), (1,), 1), {"b1": "all", "b2": "all"})
    assert block_solvable(problem, 1, P, 0) == (True, 0, 0)
    assert isinstance(realizes_all(problem), tuple)


def test_a_missing_output_scale():
    """An output whose scale is a structural zero is never realized."""
    net = NormNet.square(2, 1, 9, 3)
    support = {"g2": [[1], [0]]}
    problem = Problem(net, {"g1": "all", "b1": "all", "b2": "all"}, support=support)
    assert block_solvable(problem, 1, P, 0) == (False, 4, 9)


def test_units_with_fixed_shifts_are_switched_off():
    """With ReLU their scales are no unknowns; in a linear network they are."""
    learn = {"g1": "all", "b1": [[1]] * 4 + [[0]], "b2": "all"}
    sizes = {
        activation: block_solvable(Problem(NormNet.square(2, 1, 5, 3, activation), learn), 1, P, 0)
        for activation in ("relu", "linear")
    }
    assert sizes == {"relu": (True, 4, 4), "linear": (True, 4, 5)}


@pytest.mark.parametrize(
    ("net", "support", "found"),
    [
        (NormNet((3, 2), (6,), 9), {}, (3, False)),
        (NormNet((3, 2), (6,), 3), {}, (2, False)),
        (NormNet((1, 3, 2), (6, 6), 9), {}, (3, False)),
        (NormNet((1, 3, 2), (6, 6), 9, "linear"), {}, (1, False)),
        (NormNet((1, 3, 2), (6, 6), 3), {"W3": np.eye(6, 3)}, (3, True)),
        (NormNet((1, 3, 2), (6, 6), 1), {"W4": np.eye(2, 6)}, (0, True)),
        (NormNet((1, 3, 2), (6, 6), 3), {"W1": np.eye(6, 1)}, (2, False)),
    ],
)
def test_differences_of_a_layer_s_inputs(net, support, found):
    """Of the last layer: at most m − 1; all of them behind zeros; in a linear net the narrowest."""
    assert input_differences(Problem(net, {}, support=support), net.depth) == found


def test_the_shifts_that_are_needed():
    """All last shifts; with ReLU those of every block, and no hidden unit frozen."""
    learn = dict.fromkeys(("b2", "b4", "g1", "g3"), "all")
    for activation, less, text in (
        ("relu", {"b4": [[1], [0]]}, "not all shifts b4 learn"),
        ("relu", {"b2": [[1], [0]]}, "not all shifts b2 learn"),
        ("relu", {"g3": [[1], [1], [0]]}, "hidden unit 2 of layer 3 is frozen"),
        ("relu", {}, ""),
        ("linear", {"b4": [[1], [0]]}, "not all shifts b4 learn"),
        ("linear", {"b2": [[1], [0]]}, ""),
        ("linear", {"g3": [[1], [1], [0]]}, ""),
    ):
        net = NormNet.square(2, 2, 3, 2, activation)
        assert shifts_fit(Problem(net, learn | less)) == text


def test_the_reason_is_told():
    """Too few scales are counted; scales of a unit without inputs do not reach all dimensions."""
    net = NormNet.square(2, 1, 4, 3, "linear")
    few = Problem(net, {"g1": [[1], [1], [1], [0]], "b2": "all"})
    assert realizes_all(few) == "layer 1: 3 learnable scales, 4 equations"
    support = {"W1": [[1, 1], [1, 1], [1, 1], [0, 0]]}
    sparse = Problem(net, {"g1": "all", "b2": "all"}, support=support)
    assert realizes_all(sparse) == "layer 1: its 4 scales do not reach 4 dimensions"
    assert "shifts" in realizes_all(Problem(net, {"g1": "all"}))


def test_witnesses_are_points_at_which_it_holds():
    """One witness for each layer; its plain data name the point and the sizes."""
    names = [f"{letter}{j}" for letter in "gb" for j in range(1, 5)]
    problem = Problem(NormNet((2, 3, 2), (6, 6), 4), dict.fromkeys(names, "all"))
    found = realizes_all(problem, seed=3)
    assert [w.layer for w in found] == [1, 2]
    for witness in found:
        again = block_solvable(problem, witness.layer, witness.p, witness.seed)
        assert again == (True, witness.equations, witness.unknowns)
        data = witness.to_dict()
        assert data.pop("witness") == [witness.p, witness.seed]
        assert data == {
            "layer": witness.layer, "equations": witness.equations, "unknowns": witness.unknowns
        }  # fmt: skip
