"""Bounds of the ranks of updates, and the closed form of affine last layers."""

from itertools import pairwise

import numpy as np
import pytest

from algebra.plugins.models.capacity import Subset, capacities, ranks
from algebra.plugins.models.capacity.bounds import affine_last_layer, largest_ranks, samples_of_all
from algebra.programs.generic import Model, random_program_point
from algebra.programs.program import Builder
from tests.algebra.plugins.models.capacity.test_large import perceptron


def _numeric_ranks(widths, updated, rank, m):
    """Ranks of 1, …, m samples by singular values, from differences along U and V."""
    rng = np.random.default_rng(5)
    W = [rng.standard_normal((n, q)) / np.sqrt(q) for q, n in pairwise(widths)]
    X = rng.standard_normal((widths[0], m))
    parts = [rng.standard_normal((size, rank)) for k in updated for size in W[k].shape]

    def labels(theta):
        own, value, start = [w.copy() for w in W], X, 0
        arrays = []
        for part in parts:
            arrays.append(theta[start : start + part.size].reshape(part.shape))
            start += part.size
        for number, k in enumerate(updated):
            own[k] += arrays[2 * number] @ arrays[2 * number + 1].T
        for w in own[:-1]:
            value = np.tanh(w @ value)
        return (own[-1] @ value).T.ravel()

    at, step = np.concatenate([part.ravel() for part in parts]) / 3, 1e-6
    unit = np.eye(len(at)) * step
    J = np.array([(labels(at + e) - labels(at - e)) / (2 * step) for e in unit]).T
    return [
        int(np.linalg.matrix_rank(J[: k * widths[-1]], tol=1e-6 * np.abs(J).max()))
        for k in range(1, m + 1)
    ]


@pytest.mark.parametrize(("updated", "rank"), [((1,), 1), ((0, 1), 2), ((1, 2), 1)])
def test_ranks_of_updates_are_those_of_singular_values(updated, rank, monkeypatch):
    """They meet the bounds, so one short prime proves them; differences give the same."""
    widths, m = (5, 6, 4, 3), 12
    model = perceptron(*widths)
    subset = Subset("lora", (), {f"W{k}": rank for k in updated})
    point = random_program_point(model, m, "updates", bits=61)
    found = ranks._ranks_at(model, subset, m, point, "updates")
    assert found == _numeric_ranks(widths, updated, rank, m)
    bound = largest_ranks(model.program, subset, m, ranks.largest_rank(model, subset))
    assert all(a <= b for a, b in zip(found, bound, strict=True))
    monkeypatch.setattr(ranks, "_long_ranks", None)
    if found == bound:
        row = capacities(model, [subset]).subsets[0]
        assert (row.rank, row.error_bound) == (bound[-1], 0)


def test_updates_of_a_wide_net_need_no_long_prime(monkeypatch):
    """64 units, 12 labels: two updates of rank 2, with as many samples as their ranks can need."""
    model = perceptron(64, 64, 64, 64, 12)
    subset = Subset("lora", (), {"W1": 2, "W2": 2})
    monkeypatch.setattr(ranks, "_long_ranks", None)
    row = capacities(model, [subset]).subsets[0]
    assert samples_of_all(model.program, subset) == 64
    assert (row.rank, row.samples, row.error_bound) == (2 * (4 * 64 - 4), 65, 0)
    # 128 columns by U of each matrix, two directions of each sample by V, minus the gauge.
    most = [min(12 * k, 2 * (128 + min(2 * k, 128) - 4)) for k in range(1, 66)]
    assert list(row.growth) == most
    assert row.capacity == row.teacher_capacity == sum(v == 12 * k for k, v in enumerate(most, 1))


def _sequence(shared):
    """Labels of a bias and a matrix that occurs once, or twice."""
    build = Builder()
    x, W = build.sample("X", (4,)), build.weight("W", (3, 4))
    hidden = build.apply("tanh", build.contract("ij,j->i", build.weight("A", (4, 4)), x))
    value = build.contract("ij,j->i", W, hidden)
    if shared:
        value = build.add(value, build.contract("ij,j->i", W, x))
    return Model(build.program(build.add(value, build.weight("b", (3,)))))


def test_last_layers_by_their_features(monkeypatch):
    """The ranks are those of all columns; a matrix that enters twice is no last layer."""
    model = _sequence(False)
    layer = affine_last_layer(model.program)
    assert (layer.weight, layer.bias, layer.row.tolist()) == ("W", "b", [0, 1, 2, 3])
    assert affine_last_layer(_sequence(True).program) is None
    for names in (("W",), ("W", "b")):
        point = random_program_point(model, 8, "last", bits=61)
        found = ranks._ranks_at(model, Subset("last", names), 8, point, "last")
        with monkeypatch.context() as patch:
            patch.setattr(ranks, "affine_last_layer", lambda program: None)
            expected = ranks._ranks_at(model, Subset("last", names), 8, point, "last")
        assert found == expected
        assert found[-1] == 3 * (4 + (len(names) > 1))
