"""Ranks at a model's own weights and given samples, against singular values in doubles."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import matchprob as mp
from algebra.errors import Unfinished
from algebra.plugins.models.onnx import read_onnx
from algebra.plugins.models.onnx.values import over_denominator
from algebra.plugins.models.onnx.weights import Read
from algebra.programs.program import Builder
from matchprob.plugins.models.pieces import given_samples, pieces
from numeric.programs.patterns import pattern_at
from tests.doubles import jacobian
from tests.onnx_models import Net, onnx
from tests.refusals import refuses
from tests.samples import LONG, many

KINDS = ("relu", "leaky", "abs", "clip", "prelu", "max", "tanh", "linear")
# With units that are equal, opposite, zero or proportional at their weights.
DEGENERATE = ("relu", "leaky", "abs", "tanh", "sigmoid", "softplus", "gelu", "norm")
FUNCTIONS = ("tanh", "sigmoid", "softplus")


def random_net(rng, smooth=True, kinds=KINDS):
    """A net of dense layers of several kinds, some residual, with He weights and random biases."""
    build, weights = Builder(), {}

    def weight(name, shape, value):
        weights[name] = value
        return build.weight(name, shape)

    n = int(rng.integers(2, 5))
    x = build.sample("x", (n,))
    for k in range(int(rng.integers(1, 4))):
        kind = kinds[rng.integers(len(kinds) if smooth else 6)]
        wide = int(rng.integers(2, 7)) if rng.random() < 0.6 else n
        rows = wide * (2 if kind == "max" else 1)
        W = weight(f"W{k}", (rows, n), rng.standard_normal((rows, n)) * np.sqrt(2 / n))
        y = build.contract("ij,j->i", W, x)
        if rng.random() < 0.7:
            scale = 0.0 if rng.random() < 0.3 else 0.5
            y = build.add(y, weight(f"b{k}", (rows,), scale * rng.standard_normal(rows)))
        if kind == "relu":
            y = build.rectified(y)
        elif kind == "leaky":
            y = build.choose(y, y, build.scale(build.scale(y, 1), 2))
        elif kind == "abs":
            y = build.choose(y, y, build.scale(y, -1))
        elif kind == "clip":
            y = build.rectified(y)
            top = build.constant(np.full(rows, 1))
            y = build.choose(build.subtract(y, top), top, y)
        elif kind == "prelu":
            slope = weight(f"s{k}", (rows,), rng.random(rows))
            y = build.choose(y, y, build.multiply(slope, y))
        elif kind == "max":
            a, b = (build.index(np.arange(wide) + start, y) for start in (0, wide))
            y = build.choose(build.subtract(a, b), a, b)
        elif kind in FUNCTIONS:
            y = build.apply(kind, y)
        elif kind == "gelu":
            y = build.multiply(y, build.apply("sigmoid", y))
        elif kind == "norm":
            square = build.scale(build.contract("i,i->", y, y), Fraction(1, wide))
            root = build.root(build.add(square, build.constant(np.array(1))))
            y = build.contract("i,->i", y, build.invert(root))
        x, n = (build.add(x, y) if wide == n and rng.random() < 0.5 else y), wide
    d = int(rng.integers(1, 4))
    V = weight("V", (d, n), rng.standard_normal((d, n)))
    program = build.program(build.contract("ij,j->i", V, x))
    values = {name: over_denominator(value, name) for name, value in weights.items()}
    roles = {name: "matrix" if value.ndim == 2 else "bias" for name, value in weights.items()}
    return Read(program, values, frozenset(), {}, roles), weights


def degenerate_net(rng):
    """A net some of whose weights are zero, equal, opposite or, of units with signs, multiples."""
    read, weights = random_net(rng, kinds=DEGENERATE)
    for name, own in weights.items():
        match int(rng.integers(5)):
            case 0 if name == "V" or (f"b{name[1:]}" in weights and weights[f"b{name[1:]}"].any()):
                own *= name[0] == "b"
            case 1 if name[0] != "b":
                own[0] = 2 * own[-1]
            case 2 if name[0] != "b":
                own[0] = -own[-1]
            case 3:
                own[:] = own[-1]
    values = {name: over_denominator(value, name) for name, value in weights.items()}
    return replace(read, values=values), weights


def singular_values(read, weights, names, X):
    """Of the Jacobian in doubles, by derivatives that are complex steps."""
    masks = {name: np.ones(read.parameters[name], bool) for name in names}
    J = jacobian(read.program, weights, {"x": X.T}, masks)
    return np.linalg.svd(J, compute_uv=False)


def numerical_rank(read, weights, names, X):
    """The number of singular values that are not small."""
    sizes = singular_values(read, weights, names, X)
    return int((sizes > 1e-9 * max(sizes[0], 1e-9)).sum())


def check(seed):
    """Two subsets of a random net: the rank at its own weights; what is exact is not exceeded."""
    rng = np.random.default_rng([7, seed])
    read, weights = random_net(rng)
    names = list(read.parameters)
    subsets = [names, sorted(rng.choice(names, int(rng.integers(1, len(names) + 1)), False))]
    size, d = sum(w.size for w in weights.values()), read.program.nodes[read.program.output].size
    X = rng.standard_normal((size // d + 3, read.program.samples["x"][0]))
    found = mp.capacity(read, [",".join(own) for own in subsets], data=X, seed=seed)
    for own, subset in zip(subsets, found.subsets, strict=True):
        right = numerical_rank(read, weights, own, X)
        assert subset.points[0].at == "data"
        assert subset.points[0].rank == right
        assert subset.rank >= right
        assert not subset.exact or subset.rank >= max(p.rank for p in subset.points)
        for _ in range(2):
            other = {k: rng.standard_normal(w.shape) for k, w in weights.items()}
            more = rng.standard_normal((3 * len(X), X.shape[1]))
            assert not subset.exact or numerical_rank(read, other, own, more) <= subset.rank


def check_degenerate(seed):
    """A subset of such a net: ranks at its weights, exact unless functions are related there."""
    rng = np.random.default_rng([9, seed])
    read, weights = degenerate_net(rng)
    names = list(read.parameters)
    own = sorted(rng.choice(names, int(rng.integers(1, len(names) + 1)), False))
    size, d = sum(w.size for w in weights.values()), read.program.nodes[read.program.output].size
    X = rng.standard_normal((size // d + 3, read.program.samples["x"][0]))
    found = mp.capacity(read, {"own": own}, data=X, seed=seed)
    [subset] = found.subsets
    point = subset.points[0]
    assert point.at == "data"
    assert subset.rank >= point.rank
    if "choose" in (model := next(pieces(read, X, seed=seed)).model).functions:
        plain = pattern_at(read.program, weights, {"x": X.T})
        # At a kink the labels have no derivative: a piece beside it is taken.
        if any((own != plain[k]).any() for k, own in model.signs(len(X)).items()):
            return point.exact
    # Of the singular values that are not rounding errors, some are so small that none is missing.
    sizes = singular_values(read, weights, own, X)
    right = int((sizes > 1e-13 * max(sizes[0], 1e-9)).sum())
    if not right or sizes[right - 1] > 1e-10 * sizes[0]:
        assert point.rank == right if point.exact else point.rank >= right
    return point.exact


@pytest.mark.parametrize("seed", range(many(12)))
def test_ranks_at_degenerate_weights(seed):
    """Mixed nets with zero, equal or opposite units: those of singular values; bounds say so."""
    check_degenerate(seed)


@pytest.mark.long
def test_ranks_at_many_degenerate_weights():
    """As above, 200 subsets, of which nine in ten are shown to be exact."""
    assert sum(map(check_degenerate, range(12, 212))) >= 180


@pytest.mark.parametrize("seed", range(18 if LONG else 2))
def test_ranks_at_a_models_own_weights(seed):
    """They are those of float64 singular values there; exact ranks are never exceeded."""
    check(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(12, 100))
def test_ranks_of_many_models(seed):
    """As above: 200 subsets with those."""
    check(seed)


@pytest.fixture
def net():
    """A net of ReLU units with two inputs."""
    return random_net(np.random.default_rng(3), smooth=False)[0]


def test_samples_from_a_file(net, tmp_path):
    """A .npy file, an .npz file with the input's name, an array and a mapping say the same."""
    q = net.program.samples["x"][0]
    X = np.random.default_rng(0).standard_normal((4, q))
    np.save(tmp_path / "x.npy", X)
    np.savez(tmp_path / "x.npz", x=X)
    for data in (X, {"x": X}, tmp_path / "x.npy", str(tmp_path / "x.npz")):
        assert np.array_equal(given_samples(net, data)["x"], X.T)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (np.zeros((3, 9)), "it must be samples × "),
        (np.zeros((0, 2)), "it must be samples × "),
        ({"y": np.zeros((3, 2))}, "the model has the inputs x"),
        ("missing.npy", "no .npy or .npz file"),
        (np.array([["a", "b"]]), "not numbers"),
    ],
)
def test_samples_that_do_not_fit(net, data, text):
    """One line that says what the model takes."""
    q = net.program.samples["x"][0]
    if isinstance(data, np.ndarray) and data.shape[1] == 2 and q != 2:
        data = np.resize(data, (len(data), q))
    refuses(text, mp.capacity, net, data=data)


def test_a_sample_that_is_no_number_is_named(net, tmp_path):
    """The file, the input and the entry, counted as in the file."""
    X = np.zeros((4, net.program.samples["x"][0]))
    X[1, 0] = np.inf
    np.save(tmp_path / "x.npy", X)
    refuses(r"x\.npy.* for x: the entry \(1, 0\) is inf", mp.capacity, net, data=tmp_path / "x.npy")


def test_equal_samples_add_nothing(net):
    """At data all ranks are those of the given numbers: copies of one sample have one's rank."""
    q = net.program.samples["x"][0]
    X = np.tile(np.random.default_rng(1).standard_normal((1, q)), (6, 1))
    found = mp.capacity(net, ["*"], data=X).subsets[0]
    assert found.points[0].rank <= net.program.nodes[net.program.output].size
    assert found.points[0].capacity <= 1


def test_bounds_at_samples_are_no_larger_than_generic_ranks(tmp_path):
    """Roots at given samples are free values: 48 labels, of which 47 are independent anywhere.

    The lengths of four vectors W x + b of three numbers are 9 numbers each, with 15 of an affine
    layer, less four scales.
    """
    net = Net(opset=18)
    h = net.linear("in", net.input("x", 3), 3, 12)
    h = net("Reshape", h, net.tensor(np.array([-1, 4, 3])))
    h = net("ReduceL2", h, net.tensor(np.array([2])), keepdims=0)
    path = tmp_path / "lengths.onnx"
    path.write_bytes(net.model(net.linear("out", h, 4, 3)).SerializeToString())
    X = np.random.default_rng(0).standard_normal((16, 3))
    [found] = mp.capacity(path, ["all"], data=X).subsets
    assert (found.rank, found.capacity, found.exact) == (47, 15, True)
    assert [point.rank for point in found.points] == [47, 47]


DATA = Path(__file__).parents[3] / "data"
MODELS = DATA / "models"


@pytest.mark.parametrize("seed", range(4 if LONG else 1))
def test_biases_of_a_deep_net(seed):
    """97 biases of three layers of 32 ReLU units: 95 at the file's weights, for all seeds."""
    [found] = mp.capacity(MODELS / "he_relu.onnx", ["*.bias"], seed=seed).subsets
    assert (found.points[0].at, found.points[0].rank, found.points[0].capacity) == ("file", 95, 95)
    assert 95 <= found.rank <= 97
    assert found.exact == (found.rank == 97)


def test_the_dimension_of_a_relu_net():
    """73 weights less 12 scales, attained (Grigsby, Lindsey et al.)."""
    found = mp.dimension(MODELS / "relu_small.onnx")
    assert (found.dimension, found.expected, found.defect) == (61, 61, 0)
    given = mp.dimension(MODELS / "relu_small.onnx", data=np.eye(3))
    assert given.patterns[0] <= 3


def test_a_dimension_that_rare_units_do_not_delay(tmp_path):
    """8-12-12-1: 277 parameters less 24 scales, in few samples, on one of the patterns."""
    net = Net()
    value = net.input("x", 8)
    for k, (q, n) in enumerate(pairwise((8, 12, 12))):
        value = net("Relu", net.linear(f"l{k}", value, q, n))
    onnx.save(net.model(net.linear("last", value, 12, 1)), str(tmp_path / "net.onnx"))
    found = mp.dimension(tmp_path / "net.onnx", timeout=60)
    assert (found.dimension, found.expected) == (253, 253)
    assert found.patterns[-1] == 253


@pytest.mark.long
def test_the_dimension_of_a_relu_net_of_2433_parameters():
    """At most 2433 − 96; at the file's weights, of He's scale, at least 2257 for 9,740 samples."""
    found = mp.dimension(MODELS / "relu_2433.onnx")
    assert (found.dimension, found.expected) == (2337, 2337)
    assert 2257 <= found.patterns[0] <= 2337


def test_biases_of_a_convolutional_net():
    """19 biases have rank 11 at the file's own weights, and no fewer samples for some seeds."""
    path = Path(mp.__file__).parents[1] / "examples" / "data" / "convnet.onnx"
    for seed in range(3 if LONG else 1):
        [found] = mp.capacity(path, ["*.bias"], seed=seed).subsets
        assert found.points[0].rank == found.rank == 11
        assert not found.exact


def test_no_last_layer_before_a_relu():
    """A matrix before a ReLU: what would decide is no last layer, where MP would be 1."""
    problem = mp.Problem(mp.ProgramNetwork(str(MODELS / "relulast1.onnx"), m=1), {"W1": "all"})
    found = mp.certify(problem)
    assert found.verdict == "undecided"
    assert "last layer" not in str(found)
    [row] = mp.capacity(MODELS / "relulast1.onnx", ["W1"], m=1).subsets
    assert (row.rank, row.capacity, min(one.rank for one in row.points)) == (1, 1, 0)


@pytest.mark.parametrize("seed", range(2 if LONG else 1))
def test_a_norm_after_a_relu(seed):
    """Three labels of a ReLU layer and a norm: scales and shifts count, whatever the pattern."""
    found = {s.name: s for s in mp.capacity(MODELS / "reluln2_3.onnx", seed=seed).subsets}
    assert {name: (s.learnable, s.rank) for name, s in found.items()} == {
        "biases": (3, 3), "norms": (6, 6), "last layer": (12, 12), "W0": (6, 6), "g": (3, 3),
        "LoRA 1": (5, 4),
    }  # fmt: skip
    assert found["norms"].exact
    assert (found["norms"].capacity, found["biases"].capacity) == (2, 1)


def test_few_labels_are_no_redundancy():
    """Nine biases and two labels: that is the reason, and no gauge is named."""
    [found] = mp.capacity(MODELS / "mlp.onnx", ["*.bias"], m=2).subsets
    [reason] = found.reasons
    assert (reason.rank, reason.reason) == (2, "only 2 labels were asked")
    [whole] = mp.capacity(MODELS / "mlp.onnx", ["*.bias"]).subsets
    assert (whole.rank, whole.exact) == (9, True)


def test_more_samples_than_were_asked_may_fit():
    """With `m` samples the capacity is a lower bound, and nothing is said of one sample more."""
    few, whole = (
        " ".join(mp.capacity(MODELS / "mlp.onnx", ["*.bias"], m=m).document().why.known)
        for m in (2, None)
    )
    assert "with one sample more they cannot" not in few
    assert "with one sample more they cannot" in whole


def test_weights_that_begin_at_0_have_no_pattern_of_their_own():
    """|u| − relu(u) − relu(−u) is 0 everywhere, and not −u, as with negative signs at u = 0."""
    net = Net()
    u = net("MatMul", net.input("x", 2), net.tensor(np.zeros((2, 1)), "w"))
    terms = net("Sub", net("Abs", u), net("Relu", u)), net("Relu", net("Neg", u))
    read = read_onnx("zero.onnx", data=net.model(net("Sub", *terms)).SerializeToString())
    [found] = mp.capacity(read, ["w"]).subsets
    assert (found.rank, found.capacity) == (0, 0)
    assert mp.dimension(read).at_least == 0


@pytest.mark.parametrize("op", ["Relu", "Max"])
def test_a_pattern_of_pieces_that_meet_at_zero_weights(op):
    """Half of the samples switch a unit whose weights are 0; equal units are not on at once."""
    net = Net()
    x, zeros = net.input("x", 3), net.tensor(np.zeros((3, 1)), "w")
    value = net("MatMul", x, zeros)
    other = net("Relu", net("Neg", value)) if op == "Relu" else net("MatMul", x, zeros)
    value = net("Add", net("Relu", value), other) if op == "Relu" else net("Max", value, other)
    read = read_onnx("zero.onnx", data=net.model(value).SerializeToString())
    [found] = mp.capacity(read, ["w"]).subsets
    assert (found.points[0].at, found.points[0].rank) == ("file", 3)


def residual_block(h=5, c=6):
    """A picture, a convolution, a residual block of 324 weights, means, and four labels."""
    net = Net()
    value = net.input("x", 2, h, h)
    for name, q in (("stem", 2), ("block", c)):
        W = net.rng.standard_normal((c, q, 3, 3)) * np.sqrt(2 / (9 * q))
        parts = net.tensor(W, f"{name}.weight"), net.tensor(np.zeros(c), f"{name}.bias")
        moved = net("Conv", value, *parts, pads=[1, 1, 1, 1])
        value = net("Relu", net("Add", value, moved) if name == "block" else moved)
    means = net("Flatten", net("GlobalAveragePool", value))
    return net.model(net("MatMul", means, net.weight("head.weight", c, 4)))


@pytest.mark.parametrize("seed", range(3 if LONG else 1))
def test_weights_of_a_residual_block(seed):
    """324 weights fit 81 samples with four labels each, whatever the seed."""
    read = read_onnx("block.onnx", data=residual_block().SerializeToString())
    [found] = mp.capacity(read, ["block.weight"], seed=seed).subsets
    assert (found.learnable, found.rank, found.capacity, found.exact) == (324, 324, 81, True)


@pytest.mark.parametrize("kind", ["ffn", pytest.param("file", marks=pytest.mark.long)])
def test_the_same_net_as_a_kind_and_as_a_file(kind, tmp_path):
    """All 705 parameters of a tanh net count (Fefferman 1994, Sussmann 1992)."""
    widths = (8, 16, 16, 16, 1)
    net = mp.FeedForward(q=8, widths=widths[1:-1], d=1, m=1, activation="tanh", biases=True)
    if kind == "file":
        made = Net()
        value = made.input("x", 8)
        for k, (q, n) in enumerate(pairwise(widths)):
            value = made.linear(f"l{k}", value, q, n)
            value = made("Tanh", value) if k < 3 else value
        net = tmp_path / "tanh.onnx"
        onnx.save(made.model(value), str(net))
    found = mp.dimension(net)
    assert (found.dimension, found.expected, found.defect) == (705, 705, 0)


def test_biases_at_the_weights_of_a_file(tmp_path):
    """A problem with the file's own weights: 60 samples are matched near them, so MP > 0."""
    problem = tmp_path / "file.toml"
    problem.write_text(
        f'[network]\nkind = "program"\nfile = "{MODELS / "he_relu.onnx"}"\nm = 60\n'
        'weights = "file"\n[learnable]\n"*.bias" = "all"\n'
    )
    found = mp.certify(str(problem))
    assert (found.verdict, found.rank, found.learnable) == ("undecided", 60, 97)
    assert "not minimal" in str(found)


def test_a_mask_is_no_generic_sample():
    """With a Boolean input ranks are those of the samples drawn, and capacities lower bounds."""
    found = mp.capacity(DATA / "onnx" / "bool_mask.onnx")
    assert found.to_dict()["ranks"].startswith("for the samples drawn, exact")
    assert not found.to_dict()["exact"]
    table = found.document().parts[0].columns
    assert all(text.startswith("≥ ") for text in table["capacity"])
    # All parameters count: that is a number, and no lower bound.
    own = table["subset"].index("last layer")
    assert (table["rank"][own], table["redundant"][own]) == ("18", "0")


def quotient(below, size=1.0):
    """relu(W x) / b at a model's own b."""
    build = Builder()
    x = build.contract("ij,j->i", build.weight("W", (3, 2)), build.sample("x", (2,)))
    inverse = build.invert(build.weight("b", (3,)))
    program = build.program(build.multiply(build.rectified(x), inverse))
    own = {"W": size * np.random.default_rng(0).standard_normal((3, 2)), "b": np.full(3, below)}
    values = {name: over_denominator(value, name) for name, value in own.items()}
    return Read(program, values, frozenset(), {}, dict.fromkeys(own, "matrix"))


def test_values_that_do_not_exist_at_a_models_own_weights():
    """A quotient by 0 there has no rank, as long as the divisor is frozen."""
    refuses("a divisor is 0", mp.capacity, quotient(0.0), ["W"], error=Unfinished)
    [found] = mp.capacity(quotient(0.0), ["*"]).subsets
    assert {point.at for point in found.points} == {"training"}
    assert found.rank == mp.capacity(quotient(2.0), ["*"]).subsets[0].rank
    assert mp.capacity(quotient(2.0), ["W"]).subsets[0].rank == 6
    assert mp.dimension(quotient(0.0)).dimension == mp.dimension(quotient(2.0)).dimension
    assert mp.capacity(quotient(0.0), "*", check=True).unused == ()


def test_weights_that_are_very_small():
    """Their denominators are larger than any double."""
    [found] = mp.capacity(quotient(1.0, 1e-310), ["W"]).subsets
    assert (found.points[0].at, found.rank) == ("file", 6)
