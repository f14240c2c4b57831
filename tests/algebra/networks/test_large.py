"""The limit of large linear RNNs: its equations, derivatives and refusals."""

import json
import random
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq

import matchprob as mp
from algebra.linalg.primes import random_prime
from algebra.networks.kinds import network_from_dict
from algebra.networks.large import LargeNetwork, LimitNetwork
from algebra.polynomials.rings import RationalField
from algebra.problems.files import problem_from_dict
from algebra.ranks.derivatives import dual_derivative
from algebra.ranks.jacobian import all_cells, jacobian, random_point
from tests.refusals import refuses
from tests.samples import filled, many

DISJOINT = LimitNetwork(cells=((0, 1), (2, 3), (4, 5)), T=3, b=1, d=1, m=3)


@pytest.mark.parametrize("seed", range(many(8)))
def test_the_numbers_of_a_network_give_its_labels(seed):
    """With P, Q, G, H of a network of n = 4 units the equations are those of the network itself."""
    rng = random.Random(seed)
    n, root, T, b, d, m = 4, 2, 3, rng.randint(1, 2), rng.randint(1, 2), 2

    def matrix(*shape):
        return filled(shape, lambda: fmpq(rng.randint(-9, 9), 4))

    D, W0, B, X = matrix(d, n), matrix(n, n), matrix(n, b), matrix(T * b, m)
    cells = rng.sample([(i, j) for i in range(n) for j in range(n)], rng.randint(1, 4))
    xi = [fmpq(rng.randint(-9, 9), 3) for _ in cells]
    net = LargeNetwork(cells=cells, T=T, b=b, d=d, m=m, root=root)
    powers = [np.eye(n, dtype=int).astype(object) * fmpq(1)]
    for _ in range(T):
        powers.append(powers[-1] @ W0)
    parts = {
        "H": [D @ powers[t] @ B for t in range(1, T + 1)],
        "D": [root * (D @ power)[:, i] for power in powers[:T] for i in net.heads],
        "G": [root * P[j, i] for P in powers[1:T] for i in net.heads for j in net.tails],
        "B": [(power @ B)[j] for power in powers[:T] for j in net.tails],
        "W": xi,
    }
    weights = {
        name: np.concatenate([np.ravel(part) for part in parts[name]]).reshape(shape)
        for name, shape in net.shapes.items()
    }
    W = W0.copy()
    for (i, j), value in zip(cells, xi, strict=True):
        W[i, j] += root * value
    plain = mp.LinearRNN(n=n, T=T, b=b, d=d, m=m)
    expected = plain.forward({"D": D, "W": W, "B": B}, X)
    assert (net.forward(weights, X) == expected).all()


@pytest.mark.parametrize(
    "net",
    [
        DISJOINT,
        LimitNetwork(cells=((0, 0), (1, 2)), T=2, b=2, d=2, m=3, growth=("1/4", "1/2")),
        LimitNetwork(cells=((0, 1), (1, 2), (2, 0)), T=3, b=1, d=2, m=2, growth=("0", "1/2", "0")),
    ],
)
def test_reverse_and_forward_mode_agree(net):
    """The Jacobian times a direction is the derivative by dual numbers, modulo a prime."""
    rng = random.Random(7)
    p = random_prime(rng)
    point, cells = random_point(net, p, 5, None), all_cells(net)
    step = np.array([rng.randrange(p) for _ in cells])
    found = (
        jacobian(net.modular_tangents(point, None), cells, p).astype(object)
        @ step.astype(object)
        % p
    )
    assert (found == dual_derivative(net, point, cells, step).ravel()).all()


def test_disjoint_cells_meet_in_degree_half_of_the_steps():
    """Of disjoint cells D W^t B has degree ⌈t/2⌉ in the weights."""
    (w,) = RationalField().generators(["w"])
    for T in range(1, 6):
        net = LimitNetwork(cells=((0, 1), (2, 3)), T=T, b=1, d=1, m=1)
        weights = {name: filled(shape, lambda: w**0) for name, shape in net.shapes.items()}
        weights["W"] = filled((2, 1), lambda: w)
        labels = net.forward(weights, filled(net.input_shape, lambda: w**0))
        assert labels[0, 0].total_degree() == -(-T // 2)


def test_a_file_keeps_growths_and_labels():
    """`to_dict` is read again as the same network, with fractions as texts."""
    for net in (
        LimitNetwork(cells=[[0, 0], [1, 2]], T=2, b=1, d=1, m=2, growth=["1/4", "1/2"]),
        LimitNetwork(cells=[], T=3, b=1, d=2, m=3, labels=[1]),
        LimitNetwork(cells=[], T=3, b=1, d=2, m=3, labels=[]),
        DISJOINT,
    ):
        assert network_from_dict(json.loads(json.dumps(net.to_dict()))) == net
    assert DISJOINT.growth == (Fraction(1, 2),) * 3


def test_teachers_do_not_learn():
    """The labels of a drawn teacher are those of its W = 0, and a match of them is no accident."""
    from numeric.trials.instances import draw_instance

    own = draw_instance(mp.Problem(DISJOINT, {"W": "all"}), 0, 3)
    assert not own.teacher["W"].any()
    assert own.teacher["H"].all()
    steps = own.teacher["H"].ravel()
    assert np.allclose(own.labels, steps[::-1] @ own.X)


def test_what_has_no_meaning_is_refused():
    """Malformed cells and growths, and growths whose labels are too small, are named."""
    sizes = {"T": 2, "b": 1, "d": 1, "m": 2}
    for more, words in (
        ({"cells": [[0, 1], [0, 1]]}, "twice"),
        ({"cells": [[0]]}, "row and a column"),
        ({"cells": [[0, -1]]}, "cells"),
        ({"cells": 3}, "must be a list"),
        ({"cells": [[0, 1]], "growth": ["1/0"]}, "fraction"),
        ({"cells": [[0, 1]], "growth": [0.5, 1]}, "one exponent"),
        ({"cells": [[0, 1]], "growth": ["1/1000"]}, "fraction"),
        ({"cells": [[0, 1]], "labels": [1]}, "no cells"),
        ({"cells": [], "labels": [3]}, "labels"),
    ):
        refuses(words, network_from_dict, {"kind": "limit", **sizes, **more})
    many_cells = [[2 * k, 2 * k + 1] for k in range(400)]
    refuses("more than|operations", LimitNetwork, cells=many_cells, T=40, b=1, d=1, m=1)
    data = {"network": {"kind": "limit", "cells": [[0, 0], [1, 1]], **sizes}}
    refuses(r"\[teacher\]", problem_from_dict, {**data, "learnable": {"W": "all"}})
    # Two samples of three steps, of which the last two are larger than the labels.
    mixed = {"kind": "limit", **sizes, "T": 3, "cells": [[0, 0], [1, 1]]}
    refuses("at least T·b = 3 samples", network_from_dict, mixed)


def test_a_verdict_of_the_kind_verifies():
    """Three disjoint cells are intermediate with N = 2, and the certificate holds."""
    found = mp.certify(mp.Problem(DISJOINT, {"W": "all"}))
    assert (found.verdict, found.generic_root_count) == ("intermediate", 2)
    assert mp.verify(found.to_dict()).holds
    forged = json.loads(json.dumps(found.to_dict(), default=str))
    forged["problem"]["network"]["cells"] = [[0, 1], [0, 2], [0, 3]]
    assert not mp.verify(forged).holds
