"""Formal ranks are generic ranks: against singular values in 60 digits, against SymPy."""

from __future__ import annotations

import random

import mpmath
import numpy as np
import pytest
import sympy
from flint import arb, ctx

from algebra.activations.formal import AX, why_exact
from algebra.networks.activated import ActivatedNetwork
from algebra.networks.activation import ANALYTIC, Activation
from algebra.networks.ffn import FeedForward
from algebra.networks.rnn import RNN
from algebra.problems.allocation import Allocation
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.ranks.jacobian import all_cells

_BITS = 220


def _network(rng: random.Random, activation) -> ActivatedNetwork:
    size, biases = lambda: rng.randint(1, 3), rng.random() < 0.5
    if rng.random() < 0.5:
        widths = tuple(size() for _ in range(rng.randint(1, 2)))
        return FeedForward(size(), widths, size(), size(), activation=activation, biases=biases)
    return RNN(size(), size(), size(), size(), size(), activation=activation, biases=biases)


def _support(net, rng):
    """Structural zeros of some matrices: undriven units, silent ones, dead outputs."""
    masks = {}
    for name, shape in net.shapes.items():
        if rng.random() < 0.4:
            masks[name] = np.array(
                [[int(rng.random() < 0.6) for _ in range(shape[1])] for _ in range(shape[0])]
            )
    return masks


def _singular_values(net, support, cells, rng):
    """Those of the Jacobian at a random point, in 60 digits and more."""
    before, ctx.prec = ctx.prec, _BITS

    def drawn(shape):
        out = np.empty(shape, dtype=object)
        for cell in np.ndindex(shape):
            out[cell] = arb(rng.getrandbits(200) + 1) / 2**199 - 1
        return out

    try:
        weights = {name: drawn(shape) for name, shape in net.shapes.items()}
        for name, mask in support.items():
            weights[name][mask == 0] = arb(0)

        def phi(a, layer):
            z = net.activation.values(a)
            return z, net.activation.slopes(a, z)

        factors = net.tangents(weights, drawn(net.input_shape), phi)
        with mpmath.workdps(60):
            J = mpmath.matrix(net.outputs, len(cells))
            for k, (name, i, j) in enumerate(cells):
                L, R = factors[name]
                column = (L[:, :, :, i] * R[:, None, j, :]).sum(axis=0).ravel()
                for row, value in enumerate(column):
                    J[row, k] = mpmath.mpf(value.mid().str(65, radius=False))
            return mpmath.svd_r(J, compute_uv=False)
    finally:
        ctx.prec = before


def _agreement(seeds, activations):
    for seed in seeds:
        rng = random.Random(f"formal/{seed}")
        net = _network(rng, rng.choice(activations))
        support = _support(net, rng) if rng.random() < 0.5 else {}
        cells = all_cells(net, support)
        if not cells:
            continue
        chosen = sorted(rng.sample(cells, rng.randint(1, min(len(cells), net.outputs + 1))))
        found = allocation_rank(Allocation.from_cells(net, chosen), support).rank
        values = _singular_values(net, support, chosen, rng)
        with mpmath.workdps(60):
            large = [v for v in values if v > mpmath.mpf(10) ** -25]
            unclear = [v for v in values if mpmath.mpf(10) ** -45 < v <= mpmath.mpf(10) ** -25]
        assert not unclear, (net, chosen)
        assert found == len(large), (net, support, chosen)


def test_ranks_agree_with_singular_values():
    """120 random allocations of all analytic activations, half with structural zeros."""
    _agreement(range(120), ANALYTIC)


@pytest.mark.long
def test_many_ranks_agree_with_singular_values():
    """1,000 more."""
    _agreement(range(1000, 2000), ANALYTIC)


@pytest.mark.parametrize("seed", range(6))
def test_polynomial_ranks_agree_with_sympy(seed):
    """The Jacobian differentiated by SymPy, its rank at a random rational point."""
    rng = random.Random(f"sympy/{seed}")
    activation = rng.choice([{"polynomial": [0, 0, 1]}, {"polynomial": [1, "1/2", 0, 1]}])
    net = FeedForward(2, (2,), 2, rng.randint(1, 3), activation=activation, biases=seed % 2 == 0)
    if seed > 3:
        net = RNN(2, 2, 1, 1, 2, activation={"polynomial": [0, "1/2", 1]}, biases=seed % 2 == 0)
    names = {}
    for name, shape in {**net.shapes, "X": net.input_shape}.items():
        names[name] = np.array(
            [[sympy.Symbol(f"{name}_{i}_{j}") for j in range(shape[1])] for i in range(shape[0])],
            dtype=object,
        )
    labels = net.forward({k: v for k, v in names.items() if k != "X"}, names["X"])
    cells = all_cells(net)
    chosen = sorted(rng.sample(cells, rng.randint(1, min(len(cells), net.outputs))))
    J = sympy.Matrix(
        [[sympy.diff(y, names[name][i, j]) for name, i, j in chosen] for y in labels.ravel()]
    )
    point = {s: sympy.Rational(rng.randint(-99, 99), 50) for v in names.values() for s in v.flat}
    assert J.subs(point).rank() == allocation_rank(Allocation.from_cells(net, chosen)).rank


def test_minimal_in_the_linear_net_is_not_minimal_with_tanh():
    """Of random allocations at n = 4, T = 2 some are minimal in the linear net, none with tanh."""
    rng = random.Random(0)
    cells = [("W", i, j) for i in range(4) for j in range(4)]
    nets = {name: RNN(4, 2, 2, 2, 4, activation=name) for name in ("linear", *ANALYTIC)}
    assert {network_rank(net).rank for net in nets.values()} == {8}
    short = dict.fromkeys(nets, 0)
    for _ in range(150):
        chosen = rng.sample(cells, 8)
        for name, net in nets.items():
            short[name] += allocation_rank(Allocation.from_cells(net, chosen)).rank < 8
    assert short["linear"] > 0
    assert [short[name] for name in ANALYTIC] == [0, 0, 0, 0]


def test_large_networks_are_ranked_at_once():
    """n = 256, r = 256: proved, not probable."""
    rng = random.Random(0)
    net = RNN(256, 6, 4, 16, 16, activation="tanh")
    chosen = {("W", rng.randrange(256), rng.randrange(256)) for _ in range(400)}
    found = allocation_rank(Allocation.from_cells(net, sorted(chosen)[:256]))
    assert found.rank == 256
    assert found.is_proved


def test_which_ranks_rest_on_the_theorem():
    """Polynomials need none; for erf formal ranks are upper bounds."""
    assert why_exact(Activation.read("tanh")) == AX
    assert why_exact(Activation.read("erf")) == ""
    assert why_exact(Activation.read({"polynomial": [0, 0, 1]})) not in ("", AX)
