"""Problems from torch modules: with small stand-ins, and with torch where it is installed."""

import itertools

import numpy as np
import pytest

import matchprob as mp
from algebra.errors import InputError
from matchprob.plugins.models.layers import detached
from matchprob.plugins.models.modules import from_torch, to_torch
from tests.doubles import labels
from tests.refusals import refuses


class Tensor(np.ndarray):
    """An array with the attributes of a tensor that are used."""

    requires_grad = True

    def new_tensor(self, values):
        """Values as a tensor like this one."""
        return np.array(values).view(Tensor)


def tensor(*shape):
    """A random tensor."""
    return np.random.default_rng(sum(shape)).normal(size=shape).view(Tensor)


class Module:
    """Children in order, each once; the attributes that are tensors are parameters."""

    __module__ = "torch.nn"

    def __init__(self, *parts):
        self.parts = parts

    def children(self):
        """The modules inside."""
        return iter(dict.fromkeys(self.parts))

    def named_parameters(self, prefix=""):
        """Names and tensors, as torch has them."""
        for key, value in vars(self).items():
            if isinstance(value, Tensor):
                yield prefix + key, value
        for k, part in enumerate(self.parts):
            yield from part.named_parameters(f"{prefix}{k}.")


class Sequential(Module):
    """Runs its children in order."""

    __module__ = "torch.nn"

    def __iter__(self):
        return iter(self.parts)


class Linear(Module):
    """Weight out×in, and a bias."""

    __module__ = "torch.nn"

    def __init__(self, inputs, outputs, bias=True):
        super().__init__()
        self.weight = tensor(outputs, inputs)
        self.bias = tensor(outputs) if bias else None


def activation(name):
    """A module without parameters whose class has this name."""
    return type(name, (Module,), {"__module__": "torch.nn"})()


class RNN(Module):
    """One recurrent layer."""

    __module__ = "torch.nn"
    nonlinearity = "tanh"
    num_layers = 1

    def __init__(self, inputs, units, bias=True):
        super().__init__()
        self.weight_ih_l0, self.weight_hh_l0 = tensor(units, inputs), tensor(units, units)
        if bias:
            self.bias_ih_l0, self.bias_hh_l0 = tensor(units), tensor(units)


class Namespace:
    """The names of `torch.nn` that the tests use, for the stand-ins."""

    Sequential, Linear, RNN, Module = Sequential, Linear, RNN, Module

    @staticmethod
    def Tanh():
        """As torch's."""
        return activation("Tanh")

    @staticmethod
    def ReLU():
        """As torch's."""
        return activation("ReLU")

    @staticmethod
    def GELU():
        """As torch's."""
        return activation("GELU")


def freeze(*parameters):
    """Set `requires_grad` of the parameters to False."""
    for parameter in parameters:
        parameter.requires_grad = False


def torch_nn():
    """`torch.nn`; the test is skipped where torch is not installed."""
    return pytest.importorskip("torch", reason="torch is not installed").nn


@pytest.fixture(params=["stand-ins", pytest.param("torch", marks=pytest.mark.long)])
def nn(request):
    """`torch.nn`, or the stand-ins for it."""
    return Namespace if request.param == "stand-ins" else torch_nn()


def test_a_sequential_becomes_a_problem(nn):
    """Its sizes, activation and biases are read; a frozen parameter does not learn."""
    net = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))
    freeze(net[0].weight if nn is not Namespace else net.parts[0].weight)
    problem = from_torch(net, m=4)
    assert problem.network == mp.FeedForward(
        q=3, widths=(5,), d=2, m=4, activation="tanh", biases=True
    )
    assert {n: int(mask.sum()) for n, mask in problem.learnable.items()} == {
        "W2": 10, "c1": 5, "e": 2}  # fmt: skip
    assert not problem.support


@pytest.mark.parametrize(
    ("sizes", "between", "bias", "expected"),
    [
        ((3, 2), None, False, mp.LinearEstimator(q=3, d=2, m=4)),
        ((3, 2), None, True, mp.FeedForward(q=3, widths=(), d=2, m=4, activation="linear",
                                            biases=True)),
        ((3, 4, 2), None, False, mp.LinearFeedForward(q=3, widths=(4,), d=2, m=4)),
        ((3, 4, 2), "ReLU", False, mp.ShallowReLU(q=3, n=4, d=2, m=4)),
        ((3, 4, 5, 2), "ReLU", False, mp.FeedForward(q=3, widths=(4, 5), d=2, m=4,
                                                     activation="relu")),
        ((3, 4, 2), "ReLU", True, mp.FeedForward(q=3, widths=(4,), d=2, m=4, activation="relu",
                                                 biases=True)),
        ((3, 4, 5, 2), "Tanh", False, mp.FeedForward(q=3, widths=(4, 5), d=2, m=4,
                                                     activation="tanh")),
    ],
)  # fmt: skip
def test_kinds_of_sequentials(nn, sizes, between, bias, expected):
    """Layers, activation and biases of a Sequential determine the kind of network."""
    parts = []
    for a, b in itertools.pairwise(sizes):
        if parts and between:
            parts.append(getattr(nn, between)())
        parts.append(nn.Linear(a, b, bias=bias))
    problem = from_torch(nn.Sequential(*parts), m=4)
    assert problem.network == expected
    assert problem.allocation.size == expected.parameters


def test_masks_and_updates(nn):
    """Masks, updates and structural zeros are given by the names of parameters."""
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    problem = from_torch(
        net, m=4,
        masks={"0.weight": np.array([[1, 0], [0, 1], [0, 0]]), "2.weight": {"gain": "columns"},
               "0.bias": [1, 0, 0], "2.bias": {"tied": [[0]]}},
        support={"0.weight": [[1, 0], [1, 1], [1, 1]]},
    )  # fmt: skip
    assert problem.learnable["W1"].tolist() == [[1, 0], [0, 1], [0, 0]]
    assert problem.learnable["c1"].tolist() == [[1], [0], [0]]
    assert set(problem.updates) == {"W2", "e"}
    assert problem.support["W1"].tolist() == [[1, 0], [1, 1], [1, 1]]
    assert mp.certify(problem).rank <= 6


def test_a_recurrent_layer_becomes_a_problem(nn):
    """An RNN with b inputs becomes one of n + b units; updates other than ties are refused."""
    rnn, readout = nn.RNN(2, 3), nn.Linear(3, 1)
    freeze(rnn.weight_ih_l0, rnn.bias_hh_l0, rnn.bias_ih_l0)
    problem = from_torch((rnn, readout), m=5, T=4)
    network = problem.network
    assert (network.n, network.T, network.b, network.d) == (5, 4, 2, 1)
    assert problem.support["B"].tolist() == [[0, 0]] * 3 + [[1, 0], [0, 1]]
    assert problem.learnable["W"].tolist() == [[1, 1, 1, 0, 0]] * 3 + [[0] * 5] * 2
    assert problem.learnable["D"].tolist() == [[1, 1, 1, 0, 0]]
    tied = from_torch((rnn, readout), m=5, T=4, masks={"0.weight_hh_l0": {"tied": [[1] * 3] * 3}})
    assert tied.updates["W"].numbers[0] == (1, 1, 1, 0, 0)
    with pytest.raises(InputError, match="only masks and ties"):
        from_torch((rnn, readout), m=5, T=4, masks={"0.weight_hh_l0": {"lora": 1}})


def test_units_that_pass_on_inputs_are_named_and_never_proposed(nn):
    """Units that a module does not have are relays: none is recorded, nor learns."""
    problem = from_torch((nn.RNN(2, 3), nn.Linear(3, 2)), m=5, T=4)
    assert problem.names.given["neurons"] == ("h0", "h1", "h2", "relay0", "relay1")
    recorded = mp.record(problem, "units").recorded
    assert recorded
    assert not {name for name in recorded if name in ("unit 3", "unit 4")}
    dear = dict.fromkeys(problem.allocation.cells, 9)
    for asked in (problem, mp.Problem(problem.network, {}, problem.support)):
        for goal in ("cheapest", "spread", "neurons"):
            found = mp.design(asked, goal=goal, costs=dear)
            assert not [c for c in found.allocation.cells if c[0] == "B" or c[:2] == ("W", 3)]


def test_rnn_computes_the_same():
    """With B' = (0; I) the larger network has the labels of h = tanh(V x + W h + c)."""
    rnn, readout = RNN(2, 3), Linear(3, 2)
    problem = from_torch((rnn, readout), m=5, T=4)
    network = problem.network
    weights = {name: np.zeros(shape) for name, shape in network.shapes.items()}
    weights["B"][3:] = np.eye(2)
    weights["W"][:3, :3], weights["W"][:3, 3:] = rnn.weight_hh_l0, rnn.weight_ih_l0
    weights["c"][:3, 0] = rnn.bias_ih_l0 + rnn.bias_hh_l0
    weights["D"][:, :3], weights["e"][:, 0] = readout.weight, readout.bias
    X = np.random.default_rng(0).normal(size=network.input_shape)
    h = np.zeros((3, 5))
    for t in range(4):
        h = np.tanh(rnn.weight_ih_l0 @ X[2 * t : 2 * t + 2] + rnn.weight_hh_l0 @ h
                    + (rnn.bias_ih_l0 + rnn.bias_hh_l0)[:, None])  # fmt: skip
    Y = readout.weight @ h + readout.bias[:, None]
    assert np.allclose(labels(network.program(), weights, {"X": X}), Y)


def test_rnn_rank_is_that_of_torch_s_recurrence():
    """The generic rank equals that of the Jacobian of h = tanh(V x + W h + c), in doubles."""
    rng = np.random.default_rng(1)
    for b, n, d, m, T in ((1, 2, 1, 4, 2), (2, 2, 1, 3, 2), (1, 3, 2, 3, 3)):
        rnn, readout = RNN(b, n, bias=False), Linear(n, d, bias=False)
        freeze(rnn.weight_ih_l0)
        for masks in ({}, {"1.weight": np.zeros((d, n), int)}):
            problem = from_torch((rnn, readout), m=m, T=T, masks=masks)
            V, W = rng.normal(size=(n, b)), rng.normal(size=(n, n))
            D, X = rng.normal(size=(d, n)), rng.normal(size=(T * b, m))

            def labels(W, D, V=V, X=X, T=T, b=b):
                h = np.zeros((len(W), X.shape[1]))
                for t in range(T):
                    h = np.tanh(V @ X[b * t : b * t + b] + W @ h)
                return (D @ h).ravel()

            columns = []
            for matrix, learns in ((W, True), (D, not masks)):
                for at in np.ndindex(matrix.shape) if learns else ():
                    moved = matrix.astype(complex)
                    moved[at] += 1e-30j
                    Y = labels(moved, D) if matrix is W else labels(W, moved)
                    columns.append(Y.imag / 1e-30)
            rank = np.linalg.matrix_rank(np.array(columns).T, tol=1e-9)
            assert mp.certify(problem).rank == rank


def test_gradient_masks(nn):
    """Gradients of fixed cells are 0, of tied cells equal, of rows with gains proportional."""
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2))
    masks = {
        "0.weight": {"tied": [[1, 1], [0, 2], [2, 2]]},
        "2.weight": {"gain": "rows"},
        "0.bias": [0, 1, 0],
        "2.bias": {"tied": [[1], [1]]},
    }
    problem = from_torch(net, m=4, masks=masks)
    found = to_torch(problem, net)
    gradients = dict(net.named_parameters())
    moved = {n: detached(found[n](g, g)) for n, g in gradients.items()}
    first = moved["0.weight"]
    assert np.allclose(first[0], first[0, 0])
    assert first[1, 0] == 0
    assert np.allclose([first[1, 1], first[2, 0]], first[2, 1])
    assert [float(v) != 0 for v in moved["0.bias"]] == [False, True, False]
    assert np.isclose(float(moved["2.bias"][0]), float(moved["2.bias"][1]))
    ratio = moved["2.weight"] / detached(gradients["2.weight"])
    assert np.allclose(ratio, ratio[:, :1])


def test_to_torch_returns_the_masks_of_from_torch(nn):
    """`to_torch` gives the masks with which `from_torch` made the problem."""
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2))
    given = {"0.weight": [[1, 0], [0, 1], [1, 1]], "0.bias": [1, 0, 1], "2.bias": [0, 0]}
    problem = from_torch(net, m=4, masks=given)
    found = to_torch(problem, net)
    assert {n: mask.mask.tolist() for n, mask in found.items()} == {
        **given, "2.weight": [[1, 1, 1]] * 2}  # fmt: skip
    assert to_torch(problem.allocation, net)["0.bias"].mask.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda nn: nn.Sequential(nn.Linear(2, 3), nn.GELU(), nn.Linear(3, 2)), "contains GELU"),
        (lambda nn: nn.Sequential(nn.Linear(2, 3), nn.Tanh()), "must stand between"),
        (lambda nn: nn.Sequential(nn.Linear(2, 3), nn.Linear(4, 2)), "4 inputs after 3 outputs"),
        (lambda nn: nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 2), nn.ReLU(),
                                  nn.Linear(2, 2)), "different activations"),
        (lambda nn: nn.RNN(2, 3), "the Linear layer that reads"),
        (lambda nn: (nn.Linear(2, 3), nn.Linear(3, 1)), "are one nn.Sequential"),
        (lambda nn: (nn.RNN(2, 3), nn.Linear(3, 1)), "`T` is missing"),
        (lambda nn: "net", "must be a torch module"),
        (lambda nn: nn.Sequential(), "no Linear layer"),
    ],
)  # fmt: skip
def test_modules_of_other_forms_are_refused(nn, make, words):
    """A module that is no supported network is refused; the message says why."""
    assert words in str(refuses("", from_torch, make(nn), m=4))


def with_own_forward(nn, *layers):
    """A module with these layers and a `forward` of its own."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            if nn is Namespace:
                self.parts = layers
            else:
                self.layers = nn.ModuleList(layers)

        def forward(self, x):
            return layers[-1](np.tanh(layers[0](x)))

    return Net()


def test_modules_with_their_own_forward_are_refused(nn):
    """A replaced `forward`, or a hook, is refused: the layers alone do not say what it computes."""
    a, b = nn.Linear(2, 3, bias=False), nn.Linear(3, 2, bias=False)
    class_of_its_own = type("Linear", (nn.Linear,), {"__module__": "net"})
    for module in (
        with_own_forward(nn, a, b),
        with_own_forward(nn, nn.RNN(2, 3), nn.Linear(3, 1)),
        nn.Sequential(a, with_own_forward(nn, b)),
        type("Net", (nn.Sequential,), {"__module__": "net"})(a, b),
        class_of_its_own(2, 3),
        nn.Sequential(class_of_its_own(2, 3), b),
    ):
        refuses(r"forward.* does not follow", from_torch, module, m=4)
    a.forward = lambda x: x
    refuses("was replaced", from_torch, nn.Sequential(a, b), m=4)
    b._forward_hooks = {0: print}
    refuses("has a hook", from_torch, b, m=4)


def test_a_layer_used_twice_is_refused(nn):
    """A Sequential that runs one layer twice is refused; an activation may be used again."""
    a, b, c = (nn.Linear(3, 3, bias=False) for _ in range(3))
    refuses("is used at two places", from_torch, nn.Sequential(a, a), m=4)
    tanh = nn.Tanh()
    problem = from_torch(nn.Sequential(a, tanh, b, tanh, c), m=4)
    assert problem.network == mp.FeedForward(q=3, widths=(3, 3), d=3, m=4, activation="tanh")


def test_wrong_masks_and_shared_weights_are_refused(nn):
    """Wrong names or entries, one weight in two layers, low ranks and other nets in `to_torch`."""
    net = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 2))
    with pytest.raises(InputError, match=r"parameters are 0\.bias, 0\.weight, 2\.bias"):
        from_torch(net, m=4, masks={"1.weight": [[1]]})
    refuses(r"masks\.0\.weight", from_torch, net, m=4, masks={"0.weight": [[1, 2], [0, 1]]})
    low = from_torch(net, m=4, masks={"0.weight": {"lora": 1}})
    refuses("train the factors", to_torch, low, net)
    with pytest.raises(InputError, match="`question` is about"):
        to_torch(low, nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2)))
    refuses("is for an RNN", from_torch, net, m=4, T=3)
    (net.parts if nn is Namespace else net)[2].weight = (net.parts if nn is Namespace else net)[
        0
    ].weight
    refuses("is used at two places", from_torch, net, m=4)


@pytest.mark.long
def test_training_moves_only_what_learns():
    """After gradient descent in torch fixed weights are unchanged, ties and gains hold."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    nn = torch.nn
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    masks = {
        "0.weight": [[1, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1, 0]],
        "0.bias": [0, 0, 0, 0],
        "2.weight": {"gain": "columns"},
        "2.bias": {"tied": [[1], [1]]},
    }
    problem = from_torch(net, m=8, masks=masks)
    found = to_torch(problem, net, attach=True)
    before = {name: p.detach().clone() for name, p in net.named_parameters()}
    assert not net[0].bias.requires_grad
    X, Y = torch.randn(8, 3).double(), torch.randn(8, 2).double()
    # Methods that scale cells one by one (Adam) would not keep ties and gains.
    optimizer = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.05)
    for _ in range(200):
        optimizer.zero_grad()
        ((net(X) - Y) ** 2).mean().backward()
        optimizer.step()
    change = {name: (p.detach() - before[name]).numpy() for name, p in net.named_parameters()}
    mask = found["0.weight"].mask
    assert (change["0.weight"][mask == 0] == 0).all()
    assert np.abs(change["0.weight"][mask == 1]).min() > 0
    assert (change["0.bias"] == 0).all()
    assert np.isclose(change["2.bias"][0], change["2.bias"][1])
    ratio = change["2.weight"] / before["2.weight"].numpy()
    assert np.allclose(ratio, ratio[:1])
    assert np.abs(ratio).max() > 1e-3
