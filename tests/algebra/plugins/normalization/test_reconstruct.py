"""Frozen networks equal to a target: identities, failures, widths at which they change."""

import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.plugins.normalization.dense import DenseNet, HiddenUnits, norm_bound
from algebra.plugins.normalization.hidden_orders import NotRealized
from algebra.plugins.normalization.khatri_rao import width_needed
from algebra.plugins.normalization.reconstruct import TooNarrow, proves, reconstruct
from algebra.plugins.normalization.scales import Unreachable
from tests.refusals import refuses


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


# A target and frozen matrices that a positive scale of a hidden unit realizes: (1, ½) of its units.
RESCALED = DenseNet.of(
    [[[0.5, 0.25], [-0.25, 0.5]], [[0.5, 0.1875], [-0.125, 0.1875]]], [[0.25, 0], [0, 0.5]]
)
NARROW = (
    [[1, 2], [3, 1], [1, -1], [2, 5]],
    [[1, 2, 1, 3], [2, -1, 1, 1]],
    [[1, 2], [3, 1]],
    [[1, 1], [2, -1]],
)


def test_a_hidden_unit_is_halved():
    """Two units realize an inner block that needs three without scales of hidden units."""
    net = reconstruct(RESCALED, NARROW, second_scales=True)
    assert proves(net, RESCALED)
    assert net.hidden == (HiddenUnits((0, 1), (fmpq(1), fmpq(1, 2))),)
    wanted = [fmpq(383, 4520), fmpq(93, 1130), fmpq(-29, 904), fmpq(-7, 904)]
    assert net.scales[0].tolist() == wanted
    assert net.scales[3].tolist() == [1, 1] or net.scales[2].tolist() == [fmpq(1, 8)] * 2
    X = ball(random.Random(0), 2, 40)
    assert not any((net(X) - RESCALED(X)).ravel())


def test_hidden_units_are_checked():
    """`proves` refuses a net whose hidden units have other factors, and negative factors raise."""
    net = reconstruct(RESCALED, NARROW, second_scales=True)
    for factors in ((fmpq(1), fmpq(1, 3)), (fmpq(1), fmpq(-1, 2))):
        forged = replace(net, hidden=(HiddenUnits((0, 1), factors),))
        if factors[1] > 0:
            assert not proves(forged, RESCALED)
        else:
            refuses("positive", proves, forged, RESCALED)
    assert not proves(replace(net, hidden=()), RESCALED)


def test_deep_targets_are_never_called_impossible():
    """One unit too few in a block of a deep target: not realized, and how far that is proved."""
    rng = random.Random(5)
    failures = []
    for _ in range(20):
        target, frozen = draw_nets(rng, [2, 2, 2], [3, 2])
        try:
            assert proves(reconstruct(target, frozen, second_scales=True), target)
        except NotRealized as failure:
            failures.append(failure)
        refuses("proves nothing", reconstruct, target, frozen, error=NotRealized)
    statuses = {failure.status for failure in failures}
    assert "irrational" in statuses
    for failure in failures:
        proved = failure.status in ("no real solution", "no positive solution", "impossible")
        assert ("not excluded" in str(failure)) == proved
    assert statuses & {"no real solution", "no positive solution"}


def test_too_narrow_is_impossible_whatever_the_depth():
    """A block with fewer units than the target's Jacobian has rank: the point is the proof."""
    narrow = (*NARROW[:2], NARROW[2][:1], [row[:1] for row in NARROW[3]])
    for second in (False, True):
        with pytest.raises(TooNarrow, match="rank 2") as failure:
            reconstruct(RESCALED, narrow, second_scales=second)
        proof = failure.value.obstruction
        assert proof.layer == 2
        assert proof.holds(RESCALED, 1)
        assert not proof.holds(RESCALED, 2)
        assert not proof.holds(RESCALED, 1, radius=fmpq(1, 1000))
        assert not replace(proof, rank=3).holds(RESCALED, 1)
        assert not replace(proof, point=(fmpq(2), fmpq(0))).holds(RESCALED, 1)
    # A target whose hidden units are off on the whole ball is a constant: nothing is proved.
    silent = DenseNet.of(RESCALED.weights, [[-9, -9], [0, 1]])
    refuses("", reconstruct, silent, narrow, second_scales=True, error=NotRealized)


def test_the_first_block_keeps_its_bound():
    """Its inputs are given: with d² − d units no order and scale of its outputs suffices."""
    rng = random.Random(6)
    target, frozen = draw_nets(rng, [3, 3, 3], [6, 9])
    failure = refuses("layer 1", reconstruct, target, frozen, second_scales=True, error=NotRealized)
    assert failure.status == "impossible"


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 3), min_size=2, max_size=4), st.integers(0, 10**6))
def test_exactly_the_target_on_the_ball(widths, seed):
    """At width n_k n_{k-1} the network equals the target: error 0 at points of the ball."""
    rng = random.Random(seed)
    hidden = [a * b for a, b in pairwise(widths)]
    target, frozen = draw_nets(rng, widths, hidden)
    try:
        net = reconstruct(target, frozen)
    except (Unreachable, NotRealized):
        return  # Small integers are sometimes special.
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
    failure = refuses("width", reconstruct, target, less, error=Unreachable)
    assert failure.obstruction.holds(less[1], less[0], target.weights[0])


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
    failure = refuses("infinite", reconstruct, target, less, second_scales=True, error=Unreachable)
    assert failure.obstruction.holds(less[1], less[0], target.weights[0])


def test_more_width_than_needed():
    """Surplus units have scale 0 or are used; the identity is exact."""
    rng = random.Random(1)
    target, frozen = draw_nets(rng, [2, 2, 2], [6, 7])
    net = reconstruct(target, frozen, radius=fmpq(5, 2))
    assert proves(net, target)
    assert net.radius == fmpq(5, 2)


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


@pytest.mark.parametrize(
    "call",
    [
        lambda: reconstruct(DenseNet.of([[[1]]]), [[[1]]]),
        lambda: reconstruct(DenseNet.of([[[1]]]), [[[1]], [[1]]], radius=0),
        lambda: reconstruct(DenseNet.of([[[1]]]), [[[1, 2]], [[1]]]),
    ],
)
def test_wrong_input_is_told(call):
    """Invalid shapes and numbers raise InputError."""
    refuses("", call)
