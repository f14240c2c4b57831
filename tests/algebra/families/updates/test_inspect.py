"""Structure reports of problems with updates."""

import random

import pytest

from algebra.families.updates.inspect import inspect_updates
from algebra.ranks.parametrized import learning_rank
from matchprob import RNN, LinearFeedForward, LinearRNN, Problem


@pytest.mark.parametrize("seed", range(12))
def test_the_budget_of_a_low_rank_holds(seed):
    """k (r_L + r_R − k) is at least the rank of the update, with equality in one linear layer."""
    rng = random.Random(seed)
    n, b, d, m = (rng.randint(1, 4) for _ in range(4))
    net = rng.choice(
        [
            LinearRNN(n=n, T=2, b=b, d=d, m=m),
            LinearFeedForward(q=b, widths=(n, 3), d=d, m=m),
            RNN(n=n, T=2, b=b, d=d, m=m, activation="tanh"),
        ]
    )
    for name, shape in net.shapes.items():
        problem = Problem(net, {name: {"lora": rng.randint(1, min(shape))}})
        [update] = inspect_updates(problem).updates
        rank = learning_rank(problem.learning).rank
        assert rank <= update.equations
        if net.affine_in([name]) and name.startswith("W"):
            assert rank == update.equations


def test_report():
    """The report of a low rank and cells, as data and as text."""
    net = LinearRNN(n=4, T=2, b=1, d=1, m=2)
    found = inspect_updates(Problem(net, {"W": {"lora": 1}, "D": [[1, 0, 0, 1]]}))
    data = found.to_dict()
    assert data["learnable"] == 10
    assert data["updates"] == [
        {"matrix": "W", "lora": 1, "parameters": 8, "dimension": 7, "equations": 3}
    ]
    assert found.facts()["learnable"] == 10
    assert "W + U Vᵀ of rank 1: 8 parameters, dimension 7, in at most 3" in str(found)
