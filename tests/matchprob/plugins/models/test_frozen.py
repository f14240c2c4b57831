"""What is frozen has its values: ranks against singular values there, and the special cases."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import matchprob as mp
from algebra.plugins.models.onnx.values import over_denominator
from algebra.plugins.models.onnx.weights import Read
from algebra.programs.program import Builder
from tests.doubles import jacobian
from tests.matchprob.plugins.models.test_pieces import degenerate_net
from tests.samples import LONG

KINDS = {"W": "matrix", "b": "bias", "V": "matrix", "g": "bias"}


def gated(weights, activation="tanh"):
    """V (x + g φ(W x + b)) with these weights."""
    build = Builder()
    x = build.sample("x", (weights["W"].shape[1],))
    shapes = {name: own.shape for name, own in weights.items()}
    blocks = {name: build.weight(name, shape) for name, shape in shapes.items()}
    inner = build.add(build.contract("ij,j->i", blocks["W"], x), blocks["b"])
    slopes = {"relu": 0, "leaky": Fraction(1, 4), "abs": -1}
    inner = (
        build.choose(inner, inner, build.scale(inner, slopes[activation]))
        if activation in slopes
        else build.apply(activation, inner)
    )
    if "g" in blocks:
        inner = build.add(x, build.contract("i,->i", inner, blocks["g"]))
    program = build.program(build.contract("ij,j->i", blocks["V"], inner))
    values = {name: over_denominator(np.asarray(own, float), name) for name, own in weights.items()}
    return Read(program, values, frozenset(), {}, {name: KINDS[name] for name in weights})


def drawn(*shape, seed=0):
    """Standard Gaussian numbers."""
    return np.random.default_rng(seed).standard_normal(shape)


DIAGONAL = {"W": np.diag([1.0, 0, 0]), "b": np.zeros(3), "V": drawn(1, 3)}


def test_a_frozen_matrix_of_rank_one():
    """Two of three units are tanh(0): one weight of the read-out counts, of three."""
    [found] = mp.capacity(gated(DIAGONAL), ["V"], any_weights=True).subsets
    assert (found.rank, found.capacity, found.exact) == (1, 1, True)
    assert (found.any_weights.rank, found.any_weights.capacity) == (3, 3)
    data = found.to_dict()
    assert data["any_weights"] == {"rank": 3, "capacity": 3, "exact": True}
    assert (data["at_weights"]["rank"], data["at_weights"]["exact"]) == (1, True)
    assert "any_weights" not in mp.capacity(gated(DIAGONAL), ["V"]).subsets[0].to_dict()


def test_a_frozen_gate_of_zero():
    """Nothing behind it has an effect while it is frozen; with it all of it learns."""
    net = gated({"W": drawn(4, 4), "b": drawn(4), "V": drawn(2, 4), "g": np.zeros(())})
    [inner, whole] = mp.capacity(net, ["W,b", "W,b,g"]).subsets
    assert (inner.rank, inner.capacity, inner.exact) == (0, 0, True)
    # At these weights the gate alone counts: training starts at a special point.
    assert (whole.at_weights.rank, whole.rank) == (1, 21)
    text = str(mp.capacity(net, ["W,b,g"]).document().why)
    assert "W,b,g has rank 1 at your weights and 21 at almost all others" in text


def test_units_that_are_off():
    """Biases of −100: two output biases count where the others are frozen; and all can learn."""
    net = gated({"W": drawn(3, 2), "b": np.full(3, -100.0), "V": drawn(2, 3)}, "relu")
    found = {s.name: s for s in mp.capacity(net, ["V", "W,b", "*"]).subsets}
    assert (found["V"].rank, found["V"].at_weights.rank) == (0, 0)
    assert not found["V"].exact
    assert (found["W,b"].at_weights.rank, found["W,b"].rank) == (0, 9)
    # 15 weights less a scale for each of three units.
    assert found["*"].rank == 12


def test_the_smallest_that_fits_is_that_of_training():
    """`needed` speaks of where training goes: not of the start, and not of any weights."""
    found = mp.capacity(gated(DIAGONAL), ["V", "b,V"], needed=2, any_weights=True)
    assert found.cheapest is not None
    assert found.cheapest.name == "b,V"


def largest_rank(read, weights, own, samples, rng):
    """The largest rank in doubles at frozen values, over some values of what learns."""
    names, ranks = set(own), []
    for _ in range(4):
        near = {
            name: rng.standard_normal(value.shape) if name in names else value
            for name, value in weights.items()
        }
        X = rng.standard_normal((samples, read.program.samples["x"][0]))
        masks = {name: np.ones(read.parameters[name], bool) for name in own}
        J = jacobian(read.program, near, {"x": X.T}, masks)
        sizes = np.linalg.svd(J, compute_uv=False)
        ranks.append(int((sizes > 1e-10 * max(sizes[0], 1e-9)).sum()))
    return max(ranks)


@pytest.mark.parametrize("seed", range(300 if LONG else 6))
def test_random_modules_with_frozen_parts(seed):
    """A part of a net with zero, equal and opposite weights learns: ranks at the frozen values."""
    rng = np.random.default_rng([17, seed])
    read, weights = degenerate_net(rng)
    if rng.random() < 0.3:
        name = str(rng.choice(list(weights)))
        weights[name] = weights[name] * (rng.random(weights[name].shape) < 0.3)
        values = {k: over_denominator(value, k) for k, value in weights.items()}
        read = replace(read, values=values)
    names = list(read.parameters)
    own = sorted(rng.choice(names, int(rng.integers(1, len(names) + 1)), False))
    size, d = sum(w.size for w in weights.values()), read.program.nodes[read.program.output].size
    [found] = mp.capacity(read, {"own": own}, seed=seed).subsets
    right = largest_rank(read, weights, own, size // d + 3, rng)
    if found.exact and not found.on_patterns:
        assert found.rank == right
    elif found.exact or not found.on_patterns:
        assert found.rank >= right
    assert found.at_weights is None or found.at_weights.mark or found.at_weights.rank <= found.rank
