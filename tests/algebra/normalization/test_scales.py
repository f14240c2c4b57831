"""Exact scales and shifts: identities, failures with proofs, widths at which they change."""

import random
from itertools import pairwise

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.errors import InputError
from algebra.linalg.rational import echelon
from algebra.normalization.dense import DenseNet, norm_bound, rationals
from algebra.normalization.khatri_rao import width_needed
from algebra.normalization.scales import (
    Unreachable,
    proves,
    reconstruct,
    solve_both_scales,
    solve_scales,
)


def draw(rng, rows, columns):
    """A matrix of small random rationals."""
    entries = [[fmpq(rng.randint(-9, 9), rng.randint(1, 4)) for _ in range(columns)]
               for _ in range(rows)]  # fmt: skip
    return np.array(entries, dtype=object)


def draw_nets(rng, widths, hidden):
    """A target with these widths and frozen matrices with these hidden widths."""
    layers = list(pairwise(widths))
    weights = [draw(rng, n, m) for m, n in layers]
    shifts = [draw(rng, n, 1)[:, 0] for _, n in layers]
    frozen = []
    for (m, n), w in zip(layers, hidden, strict=True):
        frozen += [draw(rng, w, m), draw(rng, n, w)]
    return DenseNet.of(weights, shifts), frozen


def ball(rng, n, count):
    """Rational points of the unit ball, some far out."""
    points = draw(rng, n, count)
    norms = [norm_bound(points[:, k]) for k in range(count)]
    return points / np.array([x if x != 0 else fmpq(1) for x in norms], dtype=object)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 3), min_size=2, max_size=4), st.integers(0, 10**6))
def test_exactly_the_target_on_the_ball(widths, seed):
    """At width n_k n_{k-1} the network equals the target: error 0 at points of the ball."""
    rng = random.Random(seed)
    hidden = [a * b for a, b in pairwise(widths)]
    target, frozen = draw_nets(rng, widths, hidden)
    try:
        net = reconstruct(target, frozen)
    except Unreachable:
        return  # small integers are sometimes special
    X = ball(rng, widths[0], 8)
    assert proves(net, target)
    assert all(e == 0 for e in (net(X) - target(X)).ravel())


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_one_unit_less_is_certified(d):
    """Exactly 0 at w = d², and at d² − 1 a vector proves that no scales exist."""
    rng = random.Random(d)
    target, frozen = draw_nets(rng, [d, d], [d * d])
    net = reconstruct(target, frozen)
    X = ball(rng, d, 3)
    assert not any((net(X) - target(X)).ravel())
    less = [frozen[0][:-1], frozen[1][:, :-1]]
    with pytest.raises(Unreachable, match="width") as failure:
        reconstruct(target, less)
    assert failure.value.obstruction.holds(less[1], less[0], target.weights[0])


@pytest.mark.parametrize(("n", "m"), [(2, 2), (3, 2), (2, 3), (3, 3), (4, 4)])
def test_both_scales_need_n_minus_1_less(n, m):
    """With Γ_2 tuned too, nm − n + 1 units realize the target and nm − n provably do not."""
    rng = random.Random(10 * n + m)
    w = width_needed(n, m, second_scales=True)
    assert w == n * m - n + 1
    target, frozen = draw_nets(rng, [m, n], [w])
    net = reconstruct(target, frozen, second_scales=True)
    assert proves(net, target)
    less = [frozen[0][:-1], frozen[1][:, :-1]]
    with pytest.raises(Unreachable, match="infinite") as failure:
        reconstruct(target, less, second_scales=True)
    assert failure.value.obstruction.holds(less[1], less[0], target.weights[0])


def test_more_width_than_needed():
    """Surplus units get scale 0 or help; the identity stays exact."""
    rng = random.Random(1)
    target, frozen = draw_nets(rng, [2, 2, 2], [6, 7])
    net = reconstruct(target, frozen, radius=fmpq(5, 2))
    assert proves(net, target)
    assert net.radius == fmpq(5, 2)


def test_a_row_of_zeros():
    """A target output that is 0 is realized with both scales tuned."""
    rng = random.Random(2)
    _, frozen = draw_nets(rng, [2, 2], [4])
    goal = [[1, 2], [0, 0]]
    gamma, output = solve_both_scales(frozen[1], frozen[0], goal)
    made = output[:, None] * (frozen[1] @ (gamma[:, None] * frozen[0]))
    assert (made == rationals(goal, "goal")).all()


def test_corollary_1():
    """A rank-1 target of size 3×3 is realized by four layers of width 3 instead of 9."""
    rng = random.Random(3)
    goal = draw(rng, 3, 1) @ draw(rng, 1, 3)
    reduced, pivots = echelon(goal)
    A, B = goal[:, pivots], np.array([reduced.tolist()[r] for r in range(len(pivots))])
    assert (goal == A @ B).all()
    width = width_needed(3, 3, target_rank=1)
    gammas = []
    for factor in (B, A):
        W1, W2 = draw(rng, width, factor.shape[1]), draw(rng, factor.shape[0], width)
        gamma = solve_scales(W2, W1, factor)
        gammas.append(W2 @ (gamma[:, None] * W1))
    assert width == 3
    assert (gammas[1] @ gammas[0] == goal).all()


def test_a_silent_unit_is_noticed():
    """`proves` refuses a shift that is too small, a wrong scale and a wrong constant."""
    rng = random.Random(4)
    target, frozen = draw_nets(rng, [2, 2], [4])
    net = reconstruct(target, frozen)
    for place, factor in (("shifts", fmpq(1, 2)), ("scales", fmpq(2))):
        broken = reconstruct(target, frozen)
        getattr(broken, place)[0][0] *= factor
        assert not proves(broken, target)
    net.shifts[1][0] += 1
    assert not proves(net, target)


@given(st.lists(st.fractions(max_denominator=50), min_size=1, max_size=4))
def test_norm_bound(values):
    """The bound lies above the norm, by less than 2^-19."""
    vector = rationals(values, "values", 1)
    bound, square = norm_bound(vector), sum((x * x for x in vector), fmpq(0))
    assert bound >= 0
    assert bound * bound >= square
    assert bound == 0 or (bound - fmpq(1, 2**19)) ** 2 < square or bound < fmpq(1, 2**19)


@pytest.mark.parametrize(
    "call",
    [
        lambda: DenseNet.of([]),
        lambda: DenseNet.of([[[1, 2]], [[1, 2]]]),
        lambda: DenseNet.of([[[1, 2]]], [[1, 2]]),
        lambda: DenseNet.of([[["a"]]]),
        lambda: DenseNet.of([[[float("nan")]]]),
        lambda: reconstruct(DenseNet.of([[[1]]]), [[[1]]]),
        lambda: reconstruct(DenseNet.of([[[1]]]), [[[1]], [[1]]], radius=0),
        lambda: reconstruct(DenseNet.of([[[1]]]), [[[1, 2]], [[1]]]),
    ],
)
def test_wrong_input_is_told(call):
    """Shapes and numbers that make no sense raise InputError."""
    with pytest.raises(InputError):
        call()
