"""Verdicts on networks with activations, each with its proof."""

import itertools
import json
import random

import numpy as np
import pytest

from algebra.checker.verdicts import INTERMEDIATE, MAXIMAL, MINIMAL, UNDECIDED
from algebra.families.certify import certify
from algebra.families.verify import verify
from algebra.linalg.primes import random_prime
from algebra.networks.feedforward import LinearFeedForward
from algebra.networks.ffn import FeedForward
from algebra.networks.recurrent import LinearRNN
from algebra.networks.rnn import RNN
from algebra.polynomials.msolve.solver import quotient_degree
from algebra.polynomials.rings import PrimeField
from algebra.problems.allocation import Allocation
from algebra.problems.laws.distribution import Distribution
from algebra.problems.problem import Problem
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.ranks.jacobian import all_cells
from algebra.systems.instances import modular_instance
from algebra.systems.root_count import generic_root_count
from algebra.systems.system import build_system
from tests.samples import more

_SQUARE = {"polynomial": [0, 0, 1]}


def _both(problem, **options):
    found = certify(problem, timeout=20, **options)
    checked = verify(json.loads(found.to_json()))
    assert checked.holds, [str(check) for check in checked.checks]
    return found


def _problem(net, cells, **more):
    masks = Allocation.from_cells(net, cells).masks
    return Problem(net, {name: mask for name, mask in masks.items() if mask.any()}, **more)


def test_tanh_verdicts():
    """Minimal with too few weights, intermediate with a fixed read-out, else maximal."""
    net = RNN(3, 2, 1, 1, 3, activation="tanh")
    assert _both(_problem(net, [("W", 0, 0), ("W", 0, 1)])).verdict == MINIMAL
    found = _both(_problem(net, [("W", 0, 0), ("W", 1, 1), ("W", 2, 0)]))
    assert (found.verdict, found.rank) == (INTERMEDIATE, 3)
    assert "regular_minor" not in found.evidence
    found = _both(_problem(net, [("D", 0, 0), ("D", 0, 1), ("D", 0, 2)]))
    assert found.verdict == MAXIMAL
    found = _both(_problem(net, [("D", 0, 0), ("W", 0, 1), ("W", 1, 2)]))
    assert found.verdict == UNDECIDED
    assert found.equations == found.rank == 3
    found = _both(_problem(net, all_cells(net)))
    assert found.verdict == MAXIMAL
    assert "everything_learns" in found.evidence


def test_minimal_by_place_not_by_number():
    """Four weights of one unit change two samples in two directions: enough weights, MP = 0."""
    net = FeedForward(4, (2,), 2, 2, activation="tanh")
    found = _both(_problem(net, [("W1", 0, j) for j in range(4)]))
    assert (found.verdict, found.rank, found.equations) == (MINIMAL, 2, 4)
    assert found.reasons


def test_biases_only():
    """Biases are weights: three of them satisfy three equations; they cannot leave tanh's range.

    The output's bias does not help either: it changes all labels alike.
    """
    net = FeedForward(2, (3,), 1, 3, activation="tanh", biases=True)
    found = _both(_problem(net, [("c1", i, 0) for i in range(3)]))
    assert found.verdict == INTERMEDIATE
    found = _both(_problem(net, [("c1", 0, 0), ("c1", 1, 0), ("e", 0, 0)]))
    assert found.verdict == INTERMEDIATE


def test_erf_needs_a_minor():
    """Formal ranks are upper bounds for erf; a minor in balls makes them exact."""
    net = RNN(2, 2, 1, 1, 2, activation="erf")
    found = _both(_problem(net, [("W", 0, 0)]))
    assert found.verdict == MINIMAL
    assert "regular_minor" in found.evidence


@pytest.mark.usefixtures("msolve")
def test_polynomial_verdicts():
    """Odd N, and a rational witness: the same certificates as for linear nets."""
    net = FeedForward(2, (2,), 1, 2, activation=_SQUARE)
    seen = {}
    for pair in itertools.combinations(all_cells(net), 2):
        found = _both(_problem(net, pair), search=0.3)
        seen.setdefault(found.verdict, []).append((pair, found.generic_root_count))
    assert set(seen) >= {MAXIMAL, INTERMEDIATE}
    cube = FeedForward(1, (1,), 1, 1, activation={"polynomial": [0, 0, 0, 1]})
    found = _both(_problem(cube, [("W1", 0, 0)]))
    assert (found.verdict, found.generic_root_count) == (MAXIMAL, 3)
    square = FeedForward(1, (1,), 1, 1, activation=_SQUARE)
    found = _both(_problem(square, [("W1", 0, 0)]))
    assert found.verdict == INTERMEDIATE


@pytest.mark.usefixtures("msolve")
def test_witnesses_need_a_law_that_reaches_them():
    """An inhomogeneous map cannot be scaled into a cube: undecided under uniform laws."""
    cells = [("W1", 0, 0), ("W2", 0, 0)]
    net = FeedForward(1, (1,), 1, 2, activation={"polynomial": [0, 1, 1]})
    normal = _both(_problem(net, cells), search=2.0)
    uniform = _both(_problem(net, cells, distribution=Distribution("uniform")), search=2.0)
    assert normal.generic_root_count == uniform.generic_root_count
    if normal.verdict == INTERMEDIATE:
        assert uniform.verdict == UNDECIDED


@pytest.mark.usefixtures("msolve")
@pytest.mark.parametrize("seeds", more(range(12), range(12, 200)))
def test_root_counts_agree_with_the_equations_as_they_stand(seeds):
    """Lifted and eliminated systems agree with the labels, for small nets."""
    for seed in seeds:
        rng = random.Random(f"raw/{seed}")
        activation = rng.choice([_SQUARE, {"polynomial": [0, 1, 0, 1]}, {"polynomial": [1, 1, 1]}])
        small = rng.randint(1, 2)
        if rng.random() < 0.6:
            net = FeedForward(2, (2,), 1, small + 1, activation=activation)
        else:
            net = RNN(2, small, 1, 1, 2, activation=activation, biases=rng.random() < 0.5)
        whole = network_rank(net).rank
        chosen = Allocation.from_cells(net, sorted(rng.sample(all_cells(net), whole)))
        if allocation_rank(chosen).rank < whole:
            continue
        N = generic_root_count(chosen, seed=seed).value
        p = random_prime(rng)
        instance = modular_instance(chosen, p, seed + 1, key="raw")
        raw = build_system(
            chosen, instance.weights, instance.X, instance.Y, PrimeField(p), "direct"
        )
        assert quotient_degree(raw.equations, timeout=60).degree == N, (net, chosen)


@pytest.mark.usefixtures("msolve")
@pytest.mark.parametrize("seeds", more(range(30), range(1000, 2000)))
def test_linear_activations_have_the_linear_verdicts(seeds):
    """Kinds lrnn and lffn under another name: the same verdict, ranks, N and reasons."""
    for seed in seeds:
        rng = random.Random(f"pairs/{seed}")
        x, y, z = (rng.randint(1, 3) for _ in range(3))
        d, m = rng.randint(1, 2), rng.randint(1, 2)
        if rng.random() < 0.5:
            sizes = {"n": x, "T": y, "b": min(z, 2), "d": d, "m": m}
            one, other = RNN(**sizes, activation="linear"), LinearRNN(**sizes)
        else:
            sizes = {"q": x, "widths": (y, z), "d": d, "m": m}
            one, other = FeedForward(**sizes, activation="linear"), LinearFeedForward(**sizes)
        cells = all_cells(other)
        chosen = rng.sample(cells, min(len(cells), rng.randint(0, other.outputs + 1)))
        left, right = (certify(_problem(net, chosen), search=0.0) for net in (one, other))
        for name in ("verdict", "equations", "rank", "generic_root_count", "reasons"):
            assert getattr(left, name) == getattr(right, name), (name, one, chosen)


def test_silent_outputs_match_always():
    """Without a path or bias and with φ(0) = 0 every label is 0; with the sigmoid it is not."""
    zeros = {"W1": np.zeros((2, 2), int)}
    for activation, verdict in (("tanh", MAXIMAL), ("sigmoid", MINIMAL)):
        net = FeedForward(2, (2,), 1, 2, activation=activation)
        found = _both(Problem(net, {"W1": [[0, 0], [0, 0]]}, support=zeros))
        assert found.verdict == verdict


def test_a_deep_polynomial_is_ranked():
    """A full rank is proved without a bound on the degree, which is 2^30 here."""
    net = RNN(2, 30, 1, 1, 2, activation=_SQUARE)
    found = certify(_problem(net, [("W", 0, 0), ("W", 0, 1)]))
    assert (found.verdict, found.rank, found.equations) == ("intermediate", 2, 2)
    assert found.error_bound == 0
