"""Ranks of random torch modules, many of them degenerate, against singular values in doubles.

Modules have ReLU, LeakyReLU, absolute values, maxima, norms, attention, convolutions, gates, shared
and tied weights; some have zero, equal or whole weights, or units that are off, and some samples
are equal or constant.  For a random subset of parameters of each:

* no rank that is called exact is below the Jacobian's at the module's weights or at random ones;
* at given samples the rank is that of the module's Jacobian there, or said to be an upper bound;
* no rank is above all those at random weights and at the weights of the patterns that were drawn.

Run it where torch is installed::

    python -m benchmarks.random_modules [FIRST [COUNT]]
"""

import math
import sys

import numpy as np
import torch
from torch import nn

import matchprob as mp
from algebra.plugins.models.capacity import Subset
from matchprob.plugins.models.pieces import training_pieces
from tests.torch_modules import Computes

KINDS = (
    "relu", "leaky", "mixed", "smooth", "residual", "shared", "norm", "attention", "convolution",
    "maximum", "absolute", "deep", "tied", "gate", "linear",
)  # fmt: skip
DRAWS = 80


def made(kind, q, h, d, bias):
    """A module of a kind, with the number of its inputs."""

    def linear(i, o):
        return nn.Linear(i, o, bias=bias)

    def attended(s, x):
        z = x.reshape(-1, 2, x.shape[1] // 2)
        return (torch.softmax(s.q(z) @ s.k(z).transpose(1, 2), -1) @ s.v(z)).flatten(1)

    a, b, c = linear(q, h), linear(h, h), linear(h, d)
    relu = torch.relu
    match kind:
        case "attention":
            q = 2 * max(1, q // 2)
            return Computes(
                attended, q=linear(q // 2, 2), k=linear(q // 2, 2), v=linear(q // 2, d)
            ), q
        case "convolution":
            window = nn.Conv2d(1, h, 2, bias=bias)
            return nn.Sequential(nn.Unflatten(1, (1, 3, 3)), window, nn.ReLU(), nn.MaxPool2d(2),
                                 nn.Flatten(), c), 9  # fmt: skip
        case "residual":
            return Computes(lambda s, x: s.c(s.a(x) + relu(s.b(s.a(x)))), a=a, b=b, c=c), q
        case "shared":
            return Computes(lambda s, x: s.c(relu(s.b(relu(s.b(s.a(x)))))), a=a, b=b, c=c), q
        case "tied":
            return Computes(lambda s, x: relu(s.a(x)) @ s.a.weight, a=a), q
        case "maximum" | "gate":
            both = torch.maximum if kind == "maximum" else lambda x, y: x * torch.sigmoid(y)
            return Computes(lambda s, x: s.c(both(s.a(x), s.b(x))), a=a, b=linear(q, h), c=c), q
        case "absolute":
            return Computes(lambda s, x: s.c(s.a(x).abs()), a=a, c=c), q
    layers = {
        "relu": (a, nn.ReLU(), c),
        "leaky": (a, nn.LeakyReLU(0.1), b, nn.ReLU(), c),
        "mixed": (a, nn.Tanh(), b, nn.ReLU(), c),
        "smooth": (a, nn.Tanh(), b, nn.Sigmoid(), c),
        "norm": (a, nn.LayerNorm(h), nn.ReLU(), c),
        "deep": (a, nn.ReLU(), b, nn.ReLU(), linear(h, h), nn.ReLU(), c),
        "linear": (a, b, nn.ReLU(), c),
    }
    return nn.Sequential(*layers[kind]), q


def rank(net, names, samples, weights):
    """The number of singular values of the Jacobian, its columns scaled."""

    def labels(own):
        return torch.func.functional_call(net, {**weights, **own}, (samples,)).flatten()

    J = torch.func.jacrev(labels)({name: weights[name] for name in names})
    table = torch.cat([J[n].reshape(J[n].shape[0], -1) for n in names], 1).numpy()
    sizes = np.linalg.norm(table, axis=0)
    real = sizes > 1e-12 * max(sizes.max(), 1e-300)
    if not real.any():
        return 0
    singular = np.linalg.svd(table[:, real] / sizes[real], compute_uv=False)
    return int((singular > 1e-9 * singular[0]).sum())


def drawn(read, names, seed, samples, q, weights):
    """The weights and samples of the patterns that a rank was found on."""
    for piece in training_pieces(read, Subset("own", tuple(names)), seed=seed):
        patterns = piece.model.patterns
        if hasattr(patterns, "_weights"):
            own = patterns._weights(False)
            [given] = patterns.samples(samples).values()
            given = torch.as_tensor(np.moveaxis(given, -1, 0).reshape(samples, q).copy())
            yield given, {n: torch.as_tensor(own[n].reshape(w.shape)) for n, w in weights.items()
                          if n in own}  # fmt: skip


def faults(number):
    """What is wrong with the ranks of one module, in words."""
    rng = np.random.default_rng([7, number])
    torch.manual_seed(number)
    kind = str(rng.choice(KINDS))
    net, q = made(kind, *map(int, (rng.integers(1, 5), rng.integers(2, 6), rng.integers(1, 4))),
                  bool(rng.integers(2)))  # fmt: skip
    net = net.double().eval()
    degenerate = str(rng.choice(["", "", "zero", "off", "equal", "whole"]))
    parameters = list(net.parameters())
    for own in parameters:
        own.data = torch.randn(own.shape, dtype=own.dtype) / math.sqrt(own.shape[-1])
        if degenerate == "whole":
            own.data = torch.randint(-1, 2, own.shape).to(own.dtype)
    first = parameters[0].data
    if degenerate == "zero":
        parameters[int(rng.integers(len(parameters)))].data.zero_()
    elif degenerate == "off":
        first[0] *= 1e3
    elif degenerate == "equal":
        first[0] = first[-1]
    weights = {name: own.detach().clone() for name, own in net.named_parameters()}
    names = sorted(rng.choice(list(weights), int(rng.integers(1, len(weights) + 1)), replace=False))
    names = list(map(str, names))
    m = int(rng.integers(4, 30))
    X = torch.as_tensor(rng.standard_normal((m, q)))
    if rng.random() < 0.25:
        X[m // 2 :] = X[: m - m // 2].clone()
    read = mp.from_torch(net, (X,))
    [given] = mp.capacity(read, {"own": names}, data=X.numpy(), m=m).subsets
    [found] = mp.capacity(read, {"own": names}, seed=number).subsets
    here = rank(net, names, X, weights)
    at, exact = {p.at: (p.rank, p.exact) for p in given.points}.get("data", (here, False))
    what = f"{number}: {kind} {degenerate} {names}"
    if (at > here and exact and degenerate in ("", "off")) or at < here or given.rank < here:
        yield f"{what}: {at} at the samples, {given.rank} in all; {here} by singular values"
    size = sum(own.numel() for name, own in weights.items() if name in names)
    wide = torch.as_tensor(2 * rng.standard_normal((max(60, 4 * size), q)))
    best = rank(net, names, wide, weights)
    for draw in range(DRAWS):
        if best >= found.rank and draw > 4:
            break
        scale = 0.4 + 0.6 * (draw % 2)
        moved = {n: scale * torch.randn(weights[n].shape, dtype=weights[n].dtype) for n in names}
        best = max(best, rank(net, names, wide, {**weights, **moved}))
    if best < found.rank:
        points = drawn(read, names, number, found.samples, q, weights)
        best = max([best, *(rank(net, names, x, {**weights, **w}) for x, w in points)])
    if best < found.rank or (best > found.rank and found.exact):
        yield f"{what}: {found.rank}, exact {found.exact}; {best} by singular values"


if __name__ == "__main__":
    start, count = (*map(int, sys.argv[1:]), *(0, 200)[len(sys.argv) - 1 :])
    wrong = [text for number in range(start, start + count) for text in faults(number)]
    print("\n".join([*wrong, f"{count} modules, {len(wrong)} faults"]))
    sys.exit(bool(wrong))
