"""Parameters of updates as weights: compared with dual numbers, complex steps, all subsets."""

import random
from itertools import combinations

import numpy as np
import pytest

from algebra.plugins.circuits.recording import record
from algebra.plugins.circuits.verify import RECORDING
from algebra.questions.design.cheapest import cheapest
from algebra.questions.design.demand import NoDesign, checked_demand
from algebra.questions.design.robustness import robustness
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.ranks.parametrized import by_parameters, by_updates, learning_rank
from matchprob import RNN, FeedForward, InputError, LinearRNN, Problem, SequenceRNN, Types
from tests.algebra.ranks.test_updates import parameters, random_problem, student
from tests.samples import many

NETS = (
    LinearRNN(n=3, T=3, b=1, d=2, m=2),
    SequenceRNN(n=3, T=2, b=1, d=2, m=1),
    RNN(n=3, T=3, b=1, d=2, m=2, activation="softplus", biases=True),
    RNN(n=3, T=2, b=2, d=1, m=2, activation={"polynomial": [0, 1, 2]}, biases=True),
    FeedForward(q=2, widths=(3, 2), d=2, m=3, activation="tanh", biases=True),
)


def grouped(rng, problem):
    """The same problem with some gains of groups."""
    learnable = dict(problem.learnable)
    for name, update in problem.updates.items():
        shape = problem.network.shapes[name]
        if update.keyword != "gain" or rng.random() < 0.4:
            continue
        line = rng.choice(["rows", "columns", "cells"])
        groups = np.array([[rng.randint(0, 2) for _ in range(shape[1])] for _ in range(shape[0])])
        groups = {"rows": groups[:, 0], "columns": groups[0], "cells": groups}[line]
        learnable[name] = {"gain": line, "groups": groups.tolist()}
    return Problem(problem.network, learnable)


def some_problem(seed):
    """A random problem with updates."""
    rng = random.Random(seed)
    net = rng.choice(NETS)
    return rng, grouped(rng, random_problem(rng, net))


@pytest.mark.parametrize("seed", range(many(20)))
def test_ranks_and_round_trip(seed):
    """Without gauge the rank is that of all learnable parameters; updates are restored."""
    _, problem = some_problem(seed)
    asked = by_parameters(problem)
    whole = network_rank(problem.network).rank
    assert (
        allocation_rank(asked.allocation, {}, whole).rank
        == learning_rank(problem.learning, whole).rank
    )
    back = by_updates(asked)
    for name, update in problem.updates.items():
        size = update.size(problem.network.shapes[name])
        # One without numbers may be left out.
        assert back.updates.get(name) in ((update,) if size else (update, None))
    assert asked.allocation.size == problem.learning.dimension


def complex_jacobian(problem, rng, states):
    """Derivatives of labels or of all states by θ, by complex steps: one row per number."""
    net, learning = problem.network, problem.learning
    drawn, theta = parameters(learning, lambda: rng.gauss(0, 1))
    X = np.array([[rng.gauss(0, 1) for _ in range(net.m)] for _ in range(net.T * net.b)])
    fixed = 1 if net.leak in (1, "learnable") else np.array(net.leak, float)[:, None]

    def run(theta):
        w = student(learning, drawn, theta)
        leak = w.get("leak", fixed)
        h, seen = np.zeros((net.n, net.m)), []
        for t in range(net.T):
            value = np.tanh(w["W"] @ (h + w["B"] @ X[t * net.b : (t + 1) * net.b]) + w["c"])
            h = (1 - leak) * h + leak * value
            seen.append(h)
        return np.array(seen) if states else w["D"] @ h + w["e"]

    step = 1e-30
    columns = [run(theta + 1j * step * unit).imag / step for unit in np.eye(len(theta))]
    return np.stack(columns, axis=-1)


def float_rank(rows):
    """Rank by SVD in doubles."""
    return int(np.linalg.matrix_rank(rows, tol=1e-9)) if rows.size else 0


@pytest.mark.parametrize("seed", range(8))
def test_recordings_are_the_smallest(seed):
    """Recorded units and entries are as few as by brute force over all sets; proofs hold."""
    rng = random.Random(seed)
    leak = [1, "learnable", ["1/2", "1/3", "1/5"], "1/4"][seed % 4]
    net = RNN(n=3, T=2, b=1, d=2, m=2, activation="tanh", biases=True, leak=leak)
    learnable = {
        "W": rng.choice([{"gain": "rows"}, {"gain": "columns", "groups": [1, 1, 2]}, {"lora": 1}]),
        "c": rng.choice([[[1], [1], [0]], {"tied": [[1], [2], [1]]}]),
    }
    if seed > 3:
        types = Types(net, {"neurons": ["E", "I", "E"]})
        learnable = {name: types.together(name, np.ones(net.shapes[name])) for name in ("W", "c")}
    if seed % 2:
        learnable["e"] = {"tied": [[1], [1]]}
    if leak == "learnable":
        learnable["leak"] = [[[1], [1], [0]], {"tied": [[1], [2], [1]]}][seed > 3]
    problem = Problem(net, learnable)
    states = complex_jacobian(problem, rng, states=True)
    labels = complex_jacobian(problem, rng, states=False).reshape(net.d * net.m, -1)
    units = [states[:, i].reshape(-1, states.shape[-1]) for i in range(net.n)]
    for what, parts in (("units", units), ("entries", [row[None] for row in labels])):
        found = record(problem, what)
        whole = float_rank(np.concatenate(parts))
        assert found.rank.rank == whole
        fewest = next(
            k
            for k in range(len(parts) + 1)
            for some in combinations(parts, k)
            if float_rank(np.concatenate([parts[0][:0], *some])) == whole
        )
        assert (found.cost, found.bound) == (fewest, fewest)
        assert found.learnable == problem.learning.dimension
        assert RECORDING.verify(found.proof_file()).holds


@pytest.mark.parametrize("seed", range(6))
def test_designs_and_losses_are_those_of_all_subsets(seed):
    """Cheapest parameters with MP > 0, and the fewest whose loss makes MP = 0, by brute force."""
    rng = random.Random(seed)
    net = RNN(n=3, T=2, b=1, d=1, m=3, activation="tanh", biases=True)
    gain = rng.choice([{"gain": "rows"}, {"gain": "columns"}, {"tied": [[1, 1, 2]] * 3}])
    asked = by_parameters(Problem(net, {"W": gain, "c": "all", "e": [[rng.randint(0, 1)]]}))
    cells, J = asked.allocation.cells, complex_jacobian(by_updates(asked), rng, states=False)
    order = by_parameters(by_updates(asked)).allocation.cells
    assert order == cells
    # Cells are before the parameters of updates in both orders.
    theta = [*by_updates(asked).learning.cells, *(c for c in cells if c[0] not in net.shapes)]
    columns = {cell: J.reshape(-1, len(theta))[:, k] for k, cell in enumerate(theta)}
    whole = network_rank(net).rank

    def spans(some):
        return float_rank(np.stack([columns[c] for c in some], axis=1)) == whole if some else False

    prices = {cell: rng.randint(1, 5) for cell in cells}
    sets = [s for k in range(len(cells) + 1) for s in combinations(cells, k) if spans(s)]
    if not sets:
        with pytest.raises((NoDesign, InputError)):
            cheapest(checked_demand(asked.network, allowed=cells, costs=prices))
        return
    least = min(sum(prices[c] for c in some) for some in sets)
    assert cheapest(checked_demand(asked.network, allowed=cells, costs=prices)).cost == least
    lost = next(
        k
        for k in range(len(cells) + 1)
        for s in combinations(cells, k)
        if not spans([c for c in cells if c not in s])
    )
    found = robustness(asked.allocation)
    assert (found.survives, len(found.fatal)) == (lost - 1, lost)


def test_parameters_of_low_ranks_are_not_chosen():
    """A verb about single parameters refuses them and names itself."""
    problem = Problem(LinearRNN(n=3, T=2, b=1, d=1, m=2), {"W": {"lora": 1}})
    with pytest.raises(InputError, match="repair is about single parameters"):
        by_parameters(problem, singly="repair")


def test_names():
    """Gains have the names of their units, groups those of the update."""
    net = LinearRNN(n=3, T=2, b=1, d=1, m=2)
    names = {"neurons": ["PV", "SST", "VIP"]}
    asked = by_parameters(Problem(net, {"W": {"gain": "rows"}}, names=names))
    assert asked.names.cell(("g_W", 2, 0)) == "g_W[VIP]"
    asked = by_parameters(Problem(net, {"W": {"gain": "rows", "groups": [4, 0, 7]}}, names=names))
    assert asked.names.cell(("g_W", 1, 0)) == "g_W[7]"
