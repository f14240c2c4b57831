"""The construction in doubles: rounding errors, bounds that hold, failures below the width."""

import numpy as np
import pytest

from algebra.plugins.normalization.dense import DenseNet
from algebra.plugins.normalization.hidden_orders import NotRealized
from algebra.plugins.normalization.khatri_rao import khatri_rao, width_needed
from algebra.plugins.normalization.scales import Unreachable
from numeric.plugins.normalization.construct import construct_exactly, construct_in_doubles
from numeric.plugins.normalization.scales import tune_both_scales, tune_scales
from tests.refusals import refuses


def draw(rng, widths, hidden):
    """A target of norm 1 layers with shifts, and frozen Gaussian matrices."""
    weights, shifts, frozen = [], [], []
    for m, n, w in zip(widths, widths[1:], hidden, strict=False):
        W = rng.standard_normal((n, m))
        weights.append(W / np.linalg.norm(W, 2))
        shifts.append(rng.standard_normal(n))
        frozen += [rng.standard_normal((w, m)) / np.sqrt(m), rng.standard_normal((n, w))]
    return weights, shifts, frozen


def target(weights, shifts, X):
    """The target's outputs, in doubles."""
    for k, (W, b) in enumerate(zip(weights, shifts, strict=True)):
        X = W @ X + b[:, None]
        if k < len(weights) - 1:
            X = np.maximum(X, 0)
    return X


def ball(rng, d, count=200, radius=1.0):
    """Points of the ball, most of them near its surface."""
    X = rng.standard_normal((d, count))
    return radius * X / np.linalg.norm(X, axis=0) * rng.random(count) ** 0.1


@pytest.mark.parametrize("d", [2, 10, 20])
@pytest.mark.parametrize("second", [False, True])
def test_error_at_the_needed_width(d, second):
    """At the needed width (400 for d = 20) the proved error is below 1e-12."""
    rng = np.random.default_rng(d)
    weights, shifts, frozen = draw(rng, [d, d], [width_needed(d, d, second_scales=second)])
    made = construct_in_doubles(weights, shifts, frozen, second_scales=second)
    assert made.error < 1e-12
    X = ball(rng, d)
    # Evaluation rounds too: it sums terms as large as the shifts.
    size = max(np.abs(shift).max() for shift in made.shifts)
    assert np.abs(made(X) - target(weights, shifts, X)).max() < made.error + 1e-13 * size
    assert made.blocks[0].method == "solved"
    assert made.condition < 1e6


def test_deep_and_rectangular():
    """Three layers of different widths, more hidden units than needed, a larger ball."""
    rng = np.random.default_rng(5)
    weights, shifts, frozen = draw(rng, [3, 4, 2, 3], [14, 8, 6])
    made = construct_in_doubles(weights, shifts, frozen, radius=3.0)
    assert [b.method for b in made.blocks] == ["least norm", "solved", "solved"]
    assert made.error < 1e-11
    X = ball(rng, 3, radius=3.0)
    assert np.abs(made(X) - target(weights, shifts, X)).max() < 1e-10


def test_bound_holds_below_the_width():
    """With too few hidden units the bound is large and above all measured errors."""
    rng = np.random.default_rng(6)
    weights, shifts, frozen = draw(rng, [4, 4, 3], [11, 9])
    made = construct_in_doubles(weights, shifts, frozen)
    assert {b.method for b in made.blocks} == {"pseudo-inverse"}
    # The hidden units of a deep target may have other scales, so nothing is proved.
    assert not any(b.impossible for b in made.blocks)
    assert "cannot realize it" not in str(made)
    assert "second_scales tries others" in str(made)
    X = ball(rng, 4, 2000)
    met = np.linalg.norm(made(X) - target(weights, shifts, X), axis=0).max()
    assert 1e-3 < met <= made.error


@pytest.mark.parametrize("second", [False, True])
def test_one_unit_less_is_certified_for_d_20(second):
    """At 399 hidden units (380 with both scales) a prime proves that no scales realize it."""
    rng = np.random.default_rng(20)
    width = width_needed(20, 20, second_scales=second) - 1
    weights, shifts, frozen = draw(rng, [20, 20], [width])
    made = construct_in_doubles(weights, shifts, frozen, second_scales=second)
    (block,) = made.blocks
    assert block.impossible
    assert block.residual > 1e-6
    assert "cannot realize it" in str(made)


def test_pseudo_inverse_is_the_best_approximation():
    """Below the width the scales minimize the Frobenius distance, as in NumPy's lstsq."""
    rng = np.random.default_rng(7)
    goal = rng.standard_normal((3, 3))
    W1, W2 = rng.standard_normal((7, 3)), rng.standard_normal((3, 7))
    gamma, condition, method = tune_scales(W2, W1, goal)
    K = khatri_rao(W2, W1.T)
    assert method == "pseudo-inverse"
    assert np.allclose(gamma, np.linalg.lstsq(K, goal.ravel(), rcond=None)[0])
    assert np.isclose(condition, np.linalg.cond(K))


def test_singular_square_system():
    """A hidden unit without inputs makes the square system singular: approximated and reported."""
    rng = np.random.default_rng(8)
    W1, W2 = rng.standard_normal((4, 2)), rng.standard_normal((2, 4))
    W1[0] = 0
    gamma, condition, method = tune_scales(W2, W1, rng.standard_normal((2, 2)))
    assert method == "pseudo-inverse"
    assert condition > 1e15
    assert np.isfinite(gamma).all()


def test_both_scales_fall_back():
    """Below the width for both scales Γ_2 stays 1; an output with a zero target row has scale 0."""
    rng = np.random.default_rng(9)
    goal = rng.standard_normal((2, 2))
    W1, W2 = rng.standard_normal((2, 2)), rng.standard_normal((2, 2))
    assert tune_both_scales(W2, W1, goal)[1].tolist() == [1, 1]
    goal[1] = 0
    gamma, output, _, method = tune_both_scales(W2, W1, goal)
    assert method == "solved"
    assert output[1] == 0
    assert np.allclose(output[:, None] * (W2 @ (gamma[:, None] * W1)), goal)


def test_both_scales_with_dead_units():
    """Hidden units without outputs are left out, and the others still realize the target."""
    rng = np.random.default_rng(13)
    goal = rng.standard_normal((4, 4))
    W1, W2 = rng.standard_normal((17, 4)), rng.standard_normal((4, 17))
    W2[:, :4] = 0
    gamma, output, condition, method = tune_both_scales(W2, W1, goal)
    assert method == "least norm"
    assert condition < 1e6
    assert np.allclose(output[:, None] * (W2 @ (gamma[:, None] * W1)), goal)
    W2[:, 4] = 0
    assert tune_both_scales(W2, W1, goal)[3] == "pseudo-inverse"


def test_narrow_inner_blocks_by_scales_of_hidden_units():
    """At the least inner width at least half of the deep targets are realized; bounds hold."""
    rng = np.random.default_rng(21)
    realized = 0
    for _ in range(12):
        weights, shifts, frozen = draw(rng, [2, 2, 2], [3, 2])
        made = construct_in_doubles(weights, shifts, frozen, second_scales=True)
        X = ball(rng, 2)
        met = np.linalg.norm(made(X) - target(weights, shifts, X), axis=0).max()
        assert met <= made.error_in_floating_point
        if made.blocks[1].method == "hidden units rescaled":
            realized += 1
            assert made.error < 1e-9
        else:
            assert made.error > 1e-3
            assert "Proved: no order" in made.blocks[1].note
    assert realized >= 6


def test_an_output_without_inputs_in_a_narrow_block():
    """The output's scale is 0, and the other outputs are realized."""
    rng = np.random.default_rng(22)
    for _ in range(6):
        weights, shifts, frozen = draw(rng, [2, 2, 3], [3, 2])
        weights[1][1] = 0
        made = construct_in_doubles(weights, shifts, frozen, second_scales=True)
        if made.blocks[1].method != "hidden units rescaled":
            continue
        assert made.scales[3][1] == 0
        assert made.error < 1e-9
        X = ball(rng, 2)
        assert np.abs(made(X) - target(weights, shifts, X)).max() < 1e-9
        return
    raise AssertionError("none of six was realized")


def test_inner_blocks_of_three_units():
    """For d = 3 five inner units suffice with scales of hidden units; four are proved too few."""
    rng = np.random.default_rng(3)
    weights, shifts, frozen = draw(rng, [3, 3, 3], [7, 5])
    made = construct_in_doubles(weights, shifts, frozen, second_scales=True)
    assert made.blocks[1].method == "hidden units rescaled"
    assert made.error < 1e-8
    narrow = [*frozen[:2], frozen[2][:4], frozen[3][:, :4]]
    less = construct_in_doubles(weights, shifts, narrow, second_scales=True)
    assert less.blocks[1].method == "pseudo-inverse"
    assert "too narrow" in less.blocks[1].note
    exact = DenseNet.of(weights, shifts)
    failure = refuses("", construct_exactly, exact, narrow, second_scales=True, error=NotRealized)
    assert failure.status == "impossible"


def test_exact_agrees_with_doubles():
    """The rational solution, rounded, is the one in doubles to its last digits."""
    rng = np.random.default_rng(10)
    weights, shifts, frozen = draw(rng, [3, 3], [9])
    exact = construct_exactly(DenseNet.of(weights, shifts), frozen)
    floats = construct_in_doubles(weights, shifts, frozen)
    assert exact.is_exact
    assert exact.error == 0
    assert not floats.is_exact
    assert np.allclose(exact.scales[0], floats.scales[0], rtol=1e-11)
    assert exact.to_dict()["rational_scales"][1] == ["1", "1", "1"]
    assert "exactly" in str(exact)
    assert "proved" in str(floats)


def test_exact_failure():
    """If rationals are requested below the width, the proof is returned."""
    rng = np.random.default_rng(11)
    weights, shifts, frozen = draw(rng, [3, 3], [8])
    with pytest.raises(Unreachable) as failure:
        construct_exactly(DenseNet.of(weights, shifts), frozen)
    assert failure.value.obstruction.holds(frozen[1], frozen[0], weights[0])


def test_wrong_input_of_constructions_is_refused():
    """A wrong depth, shape or radius raises InputError."""
    rng = np.random.default_rng(12)
    weights, shifts, frozen = draw(rng, [2, 2], [4])
    refuses("layers", construct_in_doubles, weights, shifts, frozen * 2)
    refuses("layer 1", construct_in_doubles, weights, shifts, frozen[::-1])
    for radius in (0.0, float("nan"), float("inf")):
        refuses("radius", construct_in_doubles, weights, shifts, frozen, radius=radius)
