"""Updates that reach the same functions as cells, and cells within reach of updates."""

from operator import truediv

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.programs.arrays import placed
from algebra.programs.jacobian import Sweep, factors
from algebra.systems.equivalent_cells import (
    as_cells,
    problems_of_cells,
    within_reach,
)
from matchprob import RNN, Gain, LinearFeedForward, LinearRNN, LowRank, Problem, SequenceRNN, Tied
from tests.samples import many


@pytest.mark.parametrize(
    "net",
    [
        LinearRNN(n=6, T=2, b=2, d=1, m=5),
        LinearRNN(n=6, T=2, b=1, d=2, m=5),
        LinearRNN(n=6, T=2, b=3, d=3, m=1),
        SequenceRNN(n=6, T=2, b=2, d=1, m=5),
        LinearFeedForward(q=5, widths=(3, 6), d=4, m=6),
        LinearFeedForward(q=5, widths=(6, 6), d=4, m=2),
        RNN(n=6, T=2, b=2, d=2, m=2, activation={"polynomial": [0, 1, 1]}, biases=True),
    ],
    ids=str,
)
def test_enough_rank_is_enough(net):
    """Any change of a matrix is replaced by one of this rank that changes no label, in doubles."""
    rng = np.random.default_rng(3)
    weights = {name: rng.normal(size=shape) for name, shape in net.shapes.items()}
    X = rng.normal(size=net.input_shape)
    for name, shape in net.shapes.items():
        k = net.enough_rank(name)
        assert 1 <= k <= min(shape)
        other = {**weights, name: weights[name] + rng.normal(size=shape)}
        Y = np.asarray(net.forward(other, X), float)
        L, R = factors_of(net, other, X, name)
        best = np.inf
        for stacked, side in (
            (np.hstack(list(R)), "right"),
            (L.reshape(-1, L.shape[-1]).T, "left"),
        ):
            basis, values, _ = np.linalg.svd(stacked, full_matrices=False)
            basis = basis[:, values > 1e-9 * values[0]]
            P = basis @ basis.T
            change = other[name] - weights[name]
            small = change @ P if side == "right" else P @ change
            if np.linalg.matrix_rank(small, tol=1e-8) > k:
                continue
            again = np.asarray(net.forward({**weights, name: weights[name] + small}, X), float)
            best = min(best, float(np.abs(again - Y).max() / max(np.abs(Y).max(), 1)))
        assert best < 1e-6, name


def factors_of(net, weights, X, name):
    """The factors of a matrix, in doubles; left factors of activated nets are not used."""
    if net.chain() is not None:
        return net.tangents(weights, X, [name])[name]
    blocks = placed(net.program(), weights, {"X": X})
    sweep = Sweep(net.program(), net.entries(number=truediv), blocks, [name])
    L, R = factors(sweep, [name])[name]
    return np.eye(L.shape[-1])[None], np.asarray(R, float)


@settings(max_examples=many(60), deadline=None)
@given(data=st.data(), k=st.integers(1, 4))
def test_within_reach_of_a_low_rank(data, k):
    """Cells are within reach if and only if random values in them have rank at most k."""
    rows, columns = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    mask = np.array(
        data.draw(st.lists(st.lists(st.integers(0, 1), min_size=columns, max_size=columns),
                           min_size=rows, max_size=rows))
    )  # fmt: skip
    values = np.random.default_rng(1).normal(size=mask.shape) * mask
    assert within_reach(LowRank(k), mask, None) == (np.linalg.matrix_rank(values) <= k)


def test_within_reach_of_gains_and_ties():
    """Only cells that change alone."""
    ties = Tied([[1, 1, 0], [2, 0, 3]])
    assert within_reach(ties, np.array([[0, 0, 0], [1, 0, 1]]), None)
    assert not within_reach(ties, np.array([[1, 0, 0], [0, 0, 0]]), None)
    assert not within_reach(ties, np.array([[0, 0, 1], [0, 0, 0]]), None)
    sparse = np.array([[1, 0, 0], [1, 1, 0]])
    assert within_reach(Gain("rows"), np.array([[1, 0, 0], [0, 0, 0]]), sparse)
    assert not within_reach(Gain("rows"), np.array([[0, 0, 0], [1, 0, 0]]), sparse)
    assert within_reach(Gain("columns"), np.array([[0, 0, 0], [0, 1, 0]]), sparse)


def test_parts_are_within_reach():
    """Every part is returned, and contains no update."""
    net = LinearRNN(n=3, T=2, b=2, d=2, m=2)
    problem = Problem(
        net,
        {"W": {"lora": 2}, "B": {"lora": 1}, "D": {"tied": [[1, 1, 2], [0, 3, 3]]}},
    )
    found = list(problems_of_cells(problem))
    assert len(found) == 4
    for part in found:
        assert not part.updates
        for name, update in problem.updates.items():
            assert within_reach(update, part.allocation.masks[name], None)


def test_updates_that_are_cells():
    """Only updates that are equivalent to cells, each with its mask."""
    net = LinearRNN(n=4, T=2, b=1, d=1, m=3)
    learnable = {"W": {"lora": 2}, "D": {"gain": "columns"}, "B": {"tied": [[1], [1], [2], [0]]}}
    found = as_cells(Problem(net, learnable)).masks
    assert {name: int(mask.sum()) for name, mask in found.items()} == {"W": 16, "D": 4}


def test_a_linear_activation_keeps_what_learns():
    """A network with a linear activation becomes the linear one."""
    net = RNN(n=3, T=2, b=1, d=1, m=2, activation="linear")
    problem = as_cells(Problem(net, {"W": {"gain": "rows"}})).original
    assert problem.network == LinearRNN(n=3, T=2, b=1, d=1, m=2)
    assert problem.updates == {"W": Gain("rows")}
