"""Random ONNX models: the rank at their own weights is that of the reference's derivatives."""

import numpy as np
import pytest

import matchprob as mp
from algebra.plugins.models.onnx import read_onnx
from tests.onnx_models import Net, differences, onnx
from tests.samples import LONG

# Operators whose labels are rational functions on each activation pattern, and others.
PIECES = (
    "Relu", "LeakyRelu", "PRelu", "Clip", "Abs", "HardSwish", "HardSigmoid", "ThresholdedRelu",
    "Where", "Max", "Shrink",
)  # fmt: skip
SMOOTH = ("Tanh", "Sigmoid", "Softplus", "Elu", "Selu", "Celu", "Swish", "Mish")


class RandomNet(Net):
    """A net of layers that are drawn, with standard Gaussian weights over the root of the fan."""

    def drawn(self, *shape):
        """A weight that learns."""
        fan = int(np.prod(shape[1:])) or 1
        name = f"w{len(self.tensors)}"
        return self.tensor(self.rng.standard_normal(shape) * np.sqrt(2 / fan), name)

    def activated(self, kind, x, wide):
        """An activation of a value whose second axis has so many entries."""
        if kind == "PRelu":
            return self("PRelu", x, self.drawn(wide))
        if kind == "Clip":
            return self("Clip", x, *(self.tensor(np.array(end)) for end in (-0.4, 0.9)))
        if kind == "Max":
            return self("Max", x, self.drawn(wide))
        if kind == "Where":
            above = self("Greater", x, self.drawn(wide))
            return self("Where", above, self("Mul", x, x), self("Neg", x))
        return self(kind, x, **({"alpha": 0.3} if kind in ("Elu", "Celu") else {}))

    def dense(self, kind, x, q, n):
        """A dense layer, perhaps with a norm before it or a shortcut."""
        own = x
        if q > 2 and self.rng.random() < 0.25:
            own = self("RMSNormalization", x, self.drawn(q), epsilon=0.5)
        made = self("Gemm", own, self.drawn(n, q), self.drawn(n), transB=1)
        made = self.activated(kind, made, n)
        return self("Add", made, x) if q == n and self.rng.random() < 0.6 else made

    def windows(self, kind, x, steps):
        """A convolution along an axis of single entries, a pool and a sum over the channels."""
        x = self("Unsqueeze", x, self.tensor(np.array([1])))
        x = self("Conv", x, self.drawn(2, 1, 2), self.drawn(2), pads=[0, 1])
        pool = ("MaxPool", "AveragePool", "LpPool")[self.rng.integers(2)]
        x = self(pool, self(kind, x), kernel_shape=[2], strides=[1])
        return self("Flatten", x), 2 * (steps - 1)

    def recurrent(self, kind, x, q, n):
        """Two steps of a layer with the same weights."""
        U, W = self.drawn(n, q), self.drawn(n, n)
        state = self.activated(kind, self("Gemm", x, U, transB=1), n)
        moved = self("Add", self("Gemm", state, W, transB=1), self("Gemm", x, U, transB=1))
        return self.activated(kind, moved, n)


def random_model(seed, smooth):
    """A model with up to three layers, and the number of its inputs and labels."""
    net = RandomNet([11, seed], opset=23)
    rng, kinds = net.rng, PIECES + (SMOOTH if smooth else ())
    q = n = int(rng.integers(2, 5))
    x = net.input("x", q)
    for _ in range(int(rng.integers(1, 4))):
        kind, wide = kinds[rng.integers(len(kinds))], n if rng.random() < 0.5 else 3
        match rng.integers(4):
            case 0 if n > 2:
                x, n = net.windows("Relu" if kind in ("PRelu", "Max", "Where", "Clip") else kind,
                                   x, n)  # fmt: skip
            case 1:
                x, n = net.recurrent(kind, x, n, wide), wide
            case _:
                x, n = net.dense(kind, x, n, wide), wide
    d = int(rng.integers(1, 4))
    return net.model(net("Gemm", x, net.drawn(d, n), net.drawn(d), transB=1)), q, d


def rank_of(model, names, X):
    """The rank of the reference's Jacobian, None if singular values show no gap.

    Differences of doubles have errors of about 10^-10: singular values that fall slowly to this
    size do not tell how many of those below it are 0.
    """
    J = np.hstack([differences(model, name, {"x": X}) for name in names])
    sizes = np.linalg.svd(J, compute_uv=False)
    rank = int((sizes > 1e-7 * sizes[0]).sum())
    rest = [*sizes, 0][rank]
    return rank if rest < 1e-4 * sizes[max(rank - 1, 0)] else None


def check(seed, smooth):
    """Two subsets of a model: ranks at its weights; exact ranks are nowhere exceeded."""
    model, q, d = random_model(seed, smooth)
    rng = np.random.default_rng([12, seed])
    data = model.SerializeToString()
    tensors = {t.name: t for t in model.graph.initializer if t.name[0] == "w"}
    names = list(tensors)
    part = sorted(rng.choice(names, int(rng.integers(1, len(names) + 1)), False))
    size = sum(int(np.prod(t.dims)) for t in tensors.values())
    X = rng.standard_normal((size // d + 3, q))
    read = read_onnx("x.onnx", data=data)
    found = mp.capacity(read, [",".join(own) for own in (names, part)], data=X, seed=seed)
    for own, subset in zip((names, part), found.subsets, strict=True):
        right = rank_of(model, own, X)
        if right is not None:
            assert subset.points[0].at == "data"
            assert subset.points[0].rank >= right
            assert subset.points[0].rank == right or not subset.points[0].exact
        assert subset.rank >= max(point.rank for point in subset.points)
        if subset.exact:
            other = onnx.ModelProto()
            other.CopyFrom(model)
            for tensor in other.graph.initializer:
                if tensor.name in tensors:
                    drawn = rng.standard_normal(tuple(tensor.dims))
                    tensor.CopyFrom(onnx.numpy_helper.from_array(drawn, tensor.name))
            more = rng.standard_normal((2 * len(X), q))
            assert (rank_of(other, own, more) or 0) <= subset.rank


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("seed", range(16 if LONG else 2))
def test_ranks_at_the_weights_of_a_file(seed, smooth):
    """Of ReLU nets and others, convolutions with pools, recurrent nets, norms and shortcuts."""
    check(seed, smooth)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6, 106))
def test_ranks_at_the_weights_of_many_files(seed):
    """As above: 200 subsets."""
    check(seed, seed % 2 == 0)
