"""The span of the labels' rows from few samples is that of all rows."""

import random

import numpy as np
import pytest

from algebra.linalg.ranks import modular_rank
from algebra.networks.rnn import RNN
from algebra.ranks import few_samples, readings
from algebra.ranks.few_samples import span_of_labels
from algebra.ranks.jacobian import all_cells, columns_at, random_point
from tests.samples import many


@pytest.mark.parametrize("seed", range(many(20)))
def test_span_is_that_of_all_rows(seed, monkeypatch):
    """Rank and row space are those of the whole Jacobian, however few rows are made at once."""
    rng = random.Random(seed)
    net = RNN(
        n=4, T=rng.randint(1, 3), b=1, d=rng.randint(1, 2), m=rng.randint(1, 8),
        activation=rng.choice(["tanh", "softplus"]), biases=rng.random() < 0.5,
        read=rng.choice(["last", "all"]), state=rng.choice(["rates", "currents"]),
    )  # fmt: skip
    support = {"W": np.array([[int(rng.random() < 0.5) for _ in range(4)] for _ in range(4)])}
    cells = [cell for cell in all_cells(net, support) if rng.random() < 0.7]
    p = 2**31 - 1
    point = random_point(net, p, seed, support)
    monkeypatch.setattr(readings, "_AT_ONCE", rng.choice([1, 40, 10**6]))
    whole = columns_at(net, point, cells)
    rank = modular_rank(whole, p)
    span = span_of_labels(net, point, cells, min(len(cells), net.outputs))
    assert span.rank == rank
    assert modular_rank(np.concatenate([whole, span.rows]), p) == rank
    kernel = span.kernel(p).astype(object)
    assert not ((whole.astype(object) @ kernel.T) % p).any()
    assert len(kernel) == len(cells) - rank


def test_only_as_many_samples_as_the_rank_needs(monkeypatch):
    """With 200 samples the rows of a few of them are computed."""
    net = RNN(n=5, T=2, b=2, d=2, m=200, read="all", biases=True)
    cells = [("W", i, j) for i in range(5) for j in range(5)]
    used = []

    def counted(network, *arguments):
        used.append(network.m)
        return readings.reading_tables(network, *arguments)

    monkeypatch.setattr(few_samples, "reading_tables", counted)
    assert span_of_labels(net, random_point(net, 2**31 - 1, 0), cells, 25).rank == 25
    assert sum(used) < 20
