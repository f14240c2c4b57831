"""`construct`: the forms in which a network can be given, the command, state dicts of torch."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from flint import fmpq
from typer.testing import CliRunner

import matchprob as mp
from algebra.errors import InputError
from algebra.plugins.normalization.dense import DenseNet
from algebra.plugins.normalization.reconstruct import NarrowLayer
from matchprob.cli import app
from matchprob.plugins.models.layers import EPSILON, read_layers
from matchprob.plugins.normalization.constructions import random_frozen
from tests.refusals import refuses

RNG = np.random.default_rng(0)
W1, b1 = RNG.standard_normal((3, 2)), RNG.standard_normal(3)
W2, b2 = RNG.standard_normal((2, 3)), RNG.standard_normal(2)


class Tensor:
    """The methods of a torch tensor that are used."""

    def __init__(self, array):
        self.array = np.asarray(array)

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self.array


def state(*layers, norms=None):
    """A state dict, as torch's, of linear layers; `norms` adds a normalization after each."""
    out, at = {}, 0
    for k, (W, b) in enumerate(layers):
        out[f"{at}.weight"], out[f"{at}.bias"] = Tensor(W), Tensor(b)
        at += 1
        if norms is not None:
            for field, value in norms[k].items():
                out[f"{at}.{field}"] = Tensor(value)
            at += 2
    return out


def write(path, **arrays):
    """Write an .npz file and return its path."""
    np.savez(path, **arrays)
    return str(path)


def test_all_forms_give_the_same_layers(tmp_path):
    """Lists, mappings, files, scikit-learn nets, modules and state dicts give the same layers."""
    data = {"W1": W1, "b1": b1, "W2": W2, "b2": b2}
    forms = [
        [(W1, b1), (W2, b2)],
        data,
        write(tmp_path / "net.npz", **data),
        SimpleNamespace(coefs_=[W1.T, W2.T], intercepts_=[b1, b2]),
        state((W1, b1), (W2, b2)),
        SimpleNamespace(state_dict=lambda: state((W1, b1), (W2, b2))),
    ]
    for form in forms:
        first, second = read_layers(form)
        assert np.array_equal(first.weight, W1)
        assert np.array_equal(second.bias, b2)


def test_normalization_of_a_target_is_folded_into_its_layers():
    """A layer folded with its batch normalization computes the same (Proposition 1)."""
    norm = {"weight": [2.0, -1.0, 0.5], "bias": [1.0, 2.0, 3.0],
            "running_mean": [0.1, 0.2, 0.3], "running_var": [4.0, 1.0, 0.25]}  # fmt: skip
    (layer,) = read_layers(state((W1, b1), norms=[norm]))
    W, b = layer.folded()
    x = RNG.standard_normal(2)
    deviation = np.sqrt(np.array(norm["running_var"]) + EPSILON)
    normal = (W1 @ x + b1 - norm["running_mean"]) / deviation
    assert np.allclose(W @ x + b, norm["weight"] * normal + np.array(norm["bias"]))


def test_normalization_entries_realize_the_target():
    """The frozen module with `normalization_entries` and its own statistics computes the target."""
    target = [(RNG.standard_normal((2, 2)), RNG.standard_normal(2))]
    frozen = random_frozen([2, 2], [4], seed=3)
    norms = [
        {"weight": np.ones(n), "bias": np.zeros(n), "running_mean": RNG.standard_normal(n),
         "running_var": RNG.random(n) + 0.5}
        for n in (4, 2)
    ]  # fmt: skip
    layers = [(W, RNG.standard_normal(len(W))) for W in frozen]
    module = state(*layers, norms=norms)
    made = mp.construct(target, module)
    entries = mp.normalization_entries(made, module)
    assert sorted(entries) == ["1.bias", "1.weight", "4.bias", "4.weight"]
    X = RNG.standard_normal((2, 50))
    X /= np.maximum(np.linalg.norm(X, axis=0), 1)
    state_ = X
    for k, ((W, b), norm) in enumerate(zip(layers, norms, strict=True)):
        normal = (W @ state_ + b[:, None] - norm["running_mean"][:, None]) / np.sqrt(
            norm["running_var"] + EPSILON
        )[:, None]
        prefix = 3 * k + 1
        state_ = entries[f"{prefix}.weight"][:, None] * normal + entries[f"{prefix}.bias"][:, None]
        if k == 0:
            state_ = np.maximum(state_, 0)
    assert np.allclose(state_, target[0][0] @ X + target[0][1][:, None], atol=1e-11)
    refuses("not followed by a batch normalization", mp.normalization_entries, made, state(*layers))


def test_widths_of_random_matrices():
    """By default the width at which every target is realized; a smaller `width` leaves an error."""
    assert mp.construct([W1, W2]).blocks[0].width == 6
    assert mp.construct([W1, W2], second_scales=True).blocks[0].width == 4
    assert [b.width for b in mp.construct([W1, W2], width=[7, 8]).blocks] == [7, 8]
    assert mp.construct([W1], width=3, seed=1).error > 1e-3


def test_sparse_frozen_matrices():
    """With half of the weights 0 a wider net realizes the target; at the default width it fails."""
    target = [np.eye(3) + 0.1 * W1[:, :1]]
    made = mp.construct(target, width=14, density=0.5, seed=1)
    assert 0.3 < np.mean(made.frozen[0] == 0) < 0.7
    assert made.error < 1e-11
    assert mp.construct(target, density=0.3, seed=1).error > 1e-3


def test_depth_instead_of_width():
    """Theorem 2's skip blocks realize the target, over Q exactly and without a scale of 0."""
    (made,) = mp.construct_by_depth([(W1, b1)], 1, seed=2)
    assert made.error < 1e-10
    (block,) = mp.construct_by_depth_exactly([(W1, b1)], 1, seed=2)
    from algebra.plugins.normalization.dense import rational_array

    X = rational_array(np.array([[0.5, -0.25], [0.25, 0.75]]), "X")
    wanted = rational_array(W1, "W1") @ X + rational_array(b1, "b1", 1)[:, None]
    assert (block(X) == wanted).all()
    assert block.zero_scales == 0


def test_an_entry_of_a_file_that_is_not_finite(tmp_path):
    """The file, the matrix and the place are named."""
    W = W1.copy()
    W[1, 0] = np.nan
    np.savez(tmp_path / "net.npz", W1=W)
    refuses(r"net\.npz: `W1` .*not finite .*\[1, 0\]", mp.construct, str(tmp_path / "net.npz"))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mp.construct([]), "no layers"),
        (lambda: mp.construct("no.npz"), "no such file"),
        (lambda: mp.construct(3), "list of matrices"),
        (lambda: mp.construct([["a"]]), "not an array"),
        (lambda: mp.construct([[[np.nan]]]), "not finite"),
        (lambda: mp.construct([W1], [W1]), "needs 2"),
        (lambda: mp.construct([W1], [W1, W1.T], width=3), "not both"),
        (lambda: mp.construct([W1], density=0), "density"),
        (lambda: mp.construct([W1, W2], width=[1, 2, 3]), "one number or 2"),
        (lambda: mp.construct({"W1": W1, "W3": W2}), "no W2"),
        (lambda: mp.construct({"W1": W1, "b1": b2}), "bias of shape"),
        (lambda: mp.construct({"conv.weight": np.ones((2, 2, 3, 3))}), "neither"),
        (lambda: mp.construct({"bn.running_mean": np.ones(2)}), "follows no"),
        (lambda: mp.construct({}), "no matrices"),
        (lambda: mp.construct_by_depth([W1], 3), "`k`"),
        (lambda: mp.construct_by_depth_exactly([W1], 3), "`k`"),
    ],
)
def test_wrong_networks_are_refused(call, words):
    """A target or frozen network that cannot be used is refused; the message names the reason."""
    refuses(words, call)


def run(*arguments):
    """Run `matchprob construct` with these arguments."""
    return CliRunner().invoke(app, ["construct", *map(str, arguments)])


def test_command(tmp_path):
    """The command prints the bound and writes a network, which it takes as the frozen one."""
    target = write(tmp_path / "g.npz", W1=W1, b1=b1)
    found = run(target, "--json", "--out", tmp_path / "f.npz")
    data = json.loads(found.stdout.splitlines()[0])
    assert data["error_bound"] < 1e-12
    assert data["layers"][0]["width"] == 6
    with np.load(tmp_path / "f.npz") as written:
        assert np.allclose(written["g1"], data["scales"][0])
        assert sorted(written) == ["W1", "W2", "b1", "b2", "g1", "g2"]
    again = run(target, tmp_path / "f.npz", "--json", "--exact")
    exact = json.loads(again.stdout)
    assert exact["exact"] is True
    assert np.allclose(exact["scales"][0], data["scales"][0])
    assert "proved" in run(target).stdout


def test_command_proves_that_a_narrow_net_fails(tmp_path):
    """With too small a width `--exact` ends with status 3 and a proof."""
    target = write(tmp_path / "g.npz", W1=W1)
    found = run(target, "--width", 5, "--exact", "--json")
    assert found.exit_code == 3
    data = json.loads(found.stdout.splitlines()[0])
    assert data["reachable"] is False
    assert len(data["proof"]) == 6
    assert "impossible" in run(target, "--width", 5, "--exact").stdout


def test_command_on_a_deep_target(tmp_path):
    """A deep target is realized with rational scales; otherwise the command ends with status 3.

    "reachable" is true if the scales are irrational, null if none were found, and false, with a
    proof, if a layer is too narrow.
    """
    deep = {
        "W1": [[0.5, 0.25], [-0.25, 0.5]], "b1": [0.25, 0],
        "W2": [[0.5, 0.1875], [-0.125, 0.1875]], "b2": [0, 0.5],
    }  # fmt: skip
    goal = write(tmp_path / "g.npz", **deep)
    frozen = {
        "W1": [[1, 2], [3, 1], [1, -1], [2, 5]], "W2": [[1, 2, 1, 3], [2, -1, 1, 1]],
        "W3": [[1, 2], [3, 1]], "W4": [[1, 1], [2, -1]],
    }  # fmt: skip
    net = write(tmp_path / "f.npz", **frozen)
    found = run(goal, net, "--second-scales", "--exact", "--json")
    assert found.exit_code == 0
    assert json.loads(found.stdout)["rational_scales"][0] == [
        "383/4520", "93/1130", "-29/904", "-7/904",
    ]  # fmt: skip
    for change, options, status in (
        ([[1, 2], [3, 4]], ["--second-scales"], "irrational"),
        ([[1, 2], [3, 4]], [], "not found"),
    ):
        other = write(tmp_path / "other.npz", **{**frozen, "W3": change})
        met = run(goal, other, *options, "--exact", "--json")
        assert met.exit_code == 3
        data = json.loads(met.stdout.splitlines()[0])
        assert data["status"] == status
        assert data["reachable"] is (True if status == "irrational" else None)
        shown = run(goal, other, *options, "--exact").stdout
        assert "impossible, with proof" not in shown
        assert f"not realized ({status})" in shown
    short = {"W3": frozen["W3"][:1], "W4": [row[:1] for row in frozen["W4"]]}
    narrow = write(tmp_path / "narrow.npz", **{**frozen, **short})
    met = run(goal, narrow, "--second-scales", "--exact", "--json")
    assert met.exit_code == 3
    data = json.loads(met.stdout.splitlines()[0])
    assert (data["reachable"], data["layer"], data["rank"]) == (False, 2, 2)
    proof = NarrowLayer(2, tuple(fmpq(*map(int, x.split("/"))) for x in data["point"]), 2)
    assert proof.holds(DenseNet.of([deep["W1"], deep["W2"]], [deep["b1"], deep["b2"]]), width=1)


def test_command_by_depth(tmp_path):
    """`--skip` draws skip blocks; `--width` with it, and a file that is no .npz, are refused."""
    target = write(tmp_path / "g.npz", W1=W1)
    data = json.loads(run(target, "--skip", 2, "--json").stdout)
    (layer,) = data["layers"]
    assert (layer["steps"], layer["width"], layer["zero_scales"]) == (1, 6, 0)
    assert 0 < layer["error_bound"] < 1e-11
    exact = json.loads(run(target, "--skip", 1, "--exact", "--json").stdout)
    assert exact["layers"][0]["error_bound"] == 0
    assert "rationals" in run(target, "--skip", 1, "--exact").stdout
    assert "condition" in run(target, "--skip", 1).stdout
    assert isinstance(run(target, "--skip", 1, "--width", 5).exception, InputError)
    assert isinstance(run(target, "--out", tmp_path / "f.csv").exception, InputError)


class Module:
    """The methods of a torch module that are used; children run in order, as in a Sequential."""

    training = True

    def __init__(self, *children, **own):
        self._children, self.own = children, own
        self.__dict__.update(own)

    def children(self):
        return iter(self._children)

    def parameters(self):
        return iter([SimpleNamespace(dtype="torch.float64", new_tensor=np.array)])

    def state_dict(self):
        out = {}
        for k, child in enumerate(self._children):
            fields = ("weight", "bias", "running_mean", "running_var")
            out |= {f"{k}.{f}": Tensor(child.own[f]) for f in fields if f in child.own}
        return out

    def eval(self):
        self.training = False

    def train(self, mode):
        self.training = mode

    def __call__(self, X):
        for child in self._children:
            X = child(X)
        return X


class Sequential(Module):
    pass


class Linear(Module):
    def __call__(self, X):
        return X @ self.own["weight"].T + self.own["bias"]


class BatchNorm1d(Module):
    def __call__(self, X):
        own = self.own
        normal = (X - own["running_mean"]) / np.sqrt(own["running_var"] + own["eps"])
        return normal * own["weight"] + own["bias"]


def activation(name, function):
    """A module whose class has this name."""
    return type(name, (Module,), {"__call__": lambda self, X: function(X)})()


def relu():
    return activation("ReLU", lambda X: np.maximum(X, 0))


FIRST, SECOND = Linear(weight=W1, bias=b1), Linear(weight=W2, bias=b2)


def test_relu_between_layers_is_read_from_modules():
    """For modules nothing is assumed about ReLU; the result has a bound and a measured error."""
    target = Sequential(FIRST, relu(), SECOND)
    made = mp.construct(target)
    assert made.assumed == ""
    assert 0 < made.measured <= made.error_in_floating_point < 1e-10
    assert target.training
    assert "ReLU between the layers" in mp.construct([(W1, b1), (W2, b2)]).assumed
    assert mp.construct(Sequential(FIRST, relu(), SECOND, relu())).ends_in_relu


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("GELU", lambda X: X / (1 + np.exp(-1.7 * X))),
        ("Tanh", np.tanh),
        ("Identity", lambda X: X),
        ("LeakyReLU", lambda X: np.maximum(X, 0.01 * X)),
    ],
)
def test_other_activations_are_refused(name, function):
    """Other activations are refused by their class, or by outputs where the order is unknown."""
    other = activation(name, function)
    for modules in ((FIRST, other, SECOND, other), (FIRST, other, SECOND)):
        refuses(r"Linear follows Linear|contains", mp.construct, Sequential(*modules))
    # The order of a user's own module is unknown: its outputs are compared instead.
    refuses("its outputs differ", mp.construct, Module(FIRST, other, SECOND))
    assert mp.construct(Module(FIRST, relu(), SECOND)).assumed == ""


def test_order_of_modules():
    """A normalization after the activation is refused; an identity makes no difference."""
    norm = BatchNorm1d(weight=np.ones(3), bias=np.zeros(3), running_mean=np.zeros(3),
                       running_var=np.ones(3), eps=1e-5)  # fmt: skip
    refuses("BatchNorm1d follows ReLU", mp.construct, Sequential(FIRST, relu(), norm, SECOND))
    identity = activation("Identity", lambda X: X)
    assert mp.construct(Sequential(FIRST, identity, relu(), SECOND)).assumed == ""


def test_frozen_net_must_end_as_the_target_does():
    """A frozen network that ends in ReLU is refused for a target that does not, and conversely."""
    target = Sequential(Linear(weight=W1, bias=b1))
    W, V = random_frozen([2, 3], [6], seed=1)
    first, last = Linear(weight=W, bias=np.zeros(6)), Linear(weight=V, bias=np.zeros(3))
    open_, closed = Sequential(first, relu(), last), Sequential(first, relu(), last, relu())
    assert mp.construct(target, open_).error < 1e-10
    refuses("after its last layer", mp.construct, target, closed)
    refuses("assumed to have none", mp.construct, [(W1, b1)], closed)
    with pytest.raises(InputError, match="after its last layer"):
        mp.construct(Sequential(Linear(weight=W1, bias=b1), relu()), open_)


def test_the_bound_covers_the_module_with_its_own_epsilon():
    """The error of the module with the entries is at most the bound, with its eps and means."""
    rng = np.random.default_rng(5)
    W, V = random_frozen([2, 3], [6], seed=1)
    modules = []
    for matrix in (W, V):
        n = len(matrix)
        modules += [
            Linear(weight=matrix, bias=10 * rng.standard_normal(n)),
            BatchNorm1d(weight=np.ones(n), bias=np.zeros(n), eps=1e-3,
                        running_mean=10 * rng.standard_normal(n),
                        running_var=rng.random(n) + 0.01),
            relu(),
        ]  # fmt: skip
    frozen = Sequential(*modules[:-1])
    made = mp.construct(Sequential(Linear(weight=W1, bias=b1)), frozen)
    entries = mp.normalization_entries(made, frozen)
    for k in (1, 4):
        modules[k].own.update(weight=entries[f"{k}.weight"], bias=entries[f"{k}.bias"])
    X = rng.standard_normal((4000, 2))
    X /= np.linalg.norm(X, axis=1)[:, None] * (1 + 1e-12)
    away = np.linalg.norm(frozen(X) - (X @ W1.T + b1), axis=1).max()
    assert made.error < away <= made.error_in_floating_point


def test_activations_of_scikit_learn_perceptrons():
    """`activation` and `out_activation_` are read: others than ReLU and identity are refused."""

    def net(**more):
        return SimpleNamespace(coefs_=[W1.T, W2.T], intercepts_=[b1, b2], **more)

    assert mp.construct(net(activation="relu", out_activation_="identity")).assumed == ""
    assert mp.construct(net()).assumed
    for activation_ in ("tanh", "logistic", "identity"):
        with pytest.raises(InputError, match="activation="):
            mp.construct(net(activation=activation_, out_activation_="identity"))
    refuses("softmax", mp.construct, net(activation="relu", out_activation_="softmax"))
    wrong = net(activation="relu", out_activation_="identity", predict=lambda X: 0 * X)
    refuses("its outputs differ", mp.construct, wrong)


@pytest.mark.parametrize(
    ("d", "q", "r", "exact"),
    [(3, 3, 1, True), (4, 5, 2, True), (4, 5, 2, False), (6, 6, 2, False)],
)
def test_four_frozen_layers_realize_a_target_of_low_rank(d, q, r, exact):
    """Widths r·q and d·r (Corollary 1); the target is evaluated as its own matrix."""
    rng = np.random.default_rng(d)
    W = (rng.integers(-5, 6, (d, r)) @ rng.integers(-5, 6, (r, q))).astype(float)
    b = rng.standard_normal(d)
    made = mp.construct([(W, b)], rank=r, exact=exact)
    assert [block.width for block in made.blocks] == [r * q, d * r]
    assert made.error == 0 if exact else made.error < 1e-9
    X = rng.standard_normal((q, 200))
    X /= np.linalg.norm(X, axis=0) * rng.uniform(1, 3, 200)
    assert np.linalg.norm(made(X) - (W @ X + b[:, None]), axis=0).max() < 1e-9


def test_a_smaller_rank_has_the_distance_of_the_nearest_matrix():
    """The bound contains the next singular value, and is not much larger."""
    W = np.random.default_rng(1).standard_normal((4, 4))
    made = mp.construct([W], rank=3)
    dropped = np.linalg.svd(W)[1][3]
    assert dropped <= made.error < 1.001 * dropped
    assert made.measured <= made.error


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mp.construct([W1], rank=1, exact=True), "rank 2"),
        (lambda: mp.construct([W1], rank=4), "rank"),
        (lambda: mp.construct([W1, W2], rank=1), "one layer; this one has 2"),
        (lambda: mp.construct([W1], rank=1, skip=1), "remove `rank`"),
    ],
)
def test_ranks_that_do_not_fit_are_refused(call, message):
    """The message names the rank that fits."""
    refuses(message, call)


@pytest.mark.parametrize("options", [[], ["--exact"]])
def test_the_file_of_skip_blocks_is_the_target(tmp_path, options):
    """The arrays written for `--skip`, read by their names, give the target's outputs."""
    target = write(tmp_path / "g.npz", W1=W1, b1=b1, W2=W2, b2=b2)
    found = run(target, "--skip", 1, *options, "--out", tmp_path / "f.npz")
    assert found.exit_code == 0, found.output
    X = np.random.default_rng(0).standard_normal((W1.shape[1], 20))
    X /= np.linalg.norm(X, axis=0)
    h = goal = X
    with np.load(tmp_path / "f.npz", allow_pickle=False) as f:
        for j, (W, b) in enumerate(((W1, b1), (W2, b2)), 1):
            state = np.zeros((len(f[f"W{j}_1"]), X.shape[1]))
            for i in range(1, len(h) + 1):
                state = np.maximum(state, 0) + f[f"A{j}_{i}"] @ h[i - 1 : i]
                state = f[f"g{j}_{i}"][:, None] * (f[f"W{j}_{i}"] @ state) + f[f"b{j}_{i}"][:, None]
            h, goal = f[f"V{j}"] @ state, W @ goal + np.array(b)[:, None]
            assert np.allclose(h, goal, atol=1e-6)
            h, goal = np.maximum(h, 0), np.maximum(goal, 0)
