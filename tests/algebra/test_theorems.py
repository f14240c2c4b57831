"""The paper's theorems as stated, on allocations where their word is known by hand."""

import pytest

from algebra.allocation import Allocation
from algebra.jacobian import allocation_rank
from algebra.networks import LinearEstimator, LinearFeedForward, LinearRNN, ShallowReLU
from algebra.theorems import what_theorems_say

RNN = LinearRNN(n=4, T=2, b=1, d=2, m=2)
LAYERS = LinearFeedForward(q=4, widths=(4, 4), d=2, m=2)


def said(network, name, cells):
    words = what_theorems_say(
        network, Allocation.from_cells(network, [(name, *c) for c in cells])
    )
    return {key: word for key, word in words.items() if word != "silent"}


@pytest.mark.parametrize(
    ("network", "name", "cells", "expected"),
    [
        (RNN, "D", [(0, 0), (0, 1), (1, 2), (1, 3)], {"3.1": "maximal"}),
        (RNN, "D", [(0, 0), (0, 1), (0, 2), (1, 3)], {"3.1": "minimal"}),
        (RNN, "B", [(0, 0), (1, 0), (2, 0), (3, 0)], {"3.2": "maximal"}),
        (RNN, "W", [(0, 0), (0, 1), (0, 2), (1, 3)], {"3.4": "minimal"}),
        (RNN, "W", [(0, 0), (0, 1), (2, 2), (2, 3)], {"3.5": "maximal"}),
        (RNN, "W", [(0, 1), (1, 1), (2, 1), (3, 1)], {"3.5": "maximal"}),
        (RNN, "W", [(0, 0), (1, 1), (2, 2), (3, 3)], {}),
        (
            LAYERS, "W2", [(0, 0), (0, 1), (1, 2), (1, 3)],
            {"4.1 (one of)": "maximal", "4.1 (both)": "maximal"},
        ),
        (
            LAYERS, "W1", [(0, 0), (0, 1), (0, 2), (1, 3)],
            {"4.1 (one of)": "maximal", "4.1 (both)": "minimal"},
        ),
        (
            LAYERS, "W1", [(0, 0), (0, 1), (0, 2), (1, 0), (2, 0)][:4],
            {"4.1 (one of)": "maximal", "4.1 (both)": "minimal"},
        ),
        (LAYERS, "W3", [(0, 0), (0, 1), (1, 0), (1, 1)], {"3.1": "maximal"}),
        (LinearEstimator(q=3, d=2, m=2), "W", [(0, 0), (0, 1), (0, 2), (1, 0)],
         {"3.1": "minimal"}),
    ],
)  # fmt: skip
def test_words(network, name, cells, expected):
    """Each theorem speaks where it applies and is silent elsewhere."""
    assert said(network, name, cells) == expected


def test_silence():
    """Other numbers of weights, mixed matrices, dependent samples and ReLU: no word."""
    assert said(RNN, "W", [(0, 0)]) == {}
    assert said(LinearRNN(n=4, T=1, b=1, d=1, m=2), "W", [(0, 0), (0, 1)]) == {}
    relu = ShallowReLU(q=2, n=2, d=1, m=1)
    assert said(relu, "W1", [(0, 0)]) == {}
    mixed = Allocation.from_cells(
        RNN, [("B", 0, 0), ("W", 1, 2), ("D", 0, 1), ("D", 1, 0)]
    )
    assert set(what_theorems_say(RNN, mixed).values()) == {"silent"}


def test_the_decoder_theorem_is_right():
    """Theorem 3.1 agrees with the exact rank on every allocation of a small decoder."""
    from itertools import combinations

    net = LinearEstimator(q=3, d=2, m=2)
    cells = [("W", i, j) for i in range(2) for j in range(3)]
    for chosen in combinations(cells, 4):
        allocation = Allocation.from_cells(net, chosen)
        word = what_theorems_say(net, allocation)["3.1"]
        assert (word == "maximal") == (allocation_rank(allocation).rank == 4)
