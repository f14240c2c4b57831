"""Ranks of random modules with frozen, stopped, padded and zero parts, against singular values.

What is frozen keeps its values, what learns is drawn anew, several times, with new samples: the
largest rank of torch's Jacobian in doubles must be the rank of `capacity` where training goes, and
the parameters without a gradient in all draws those that its check names.  Run it where torch is
installed::

    python -m benchmarks.frozen_modules [FIRST [COUNT]]
"""

import sys
import warnings

import numpy as np
import torch
from torch import nn

import matchprob as mp
from tests.torch_modules import Computes

DRAWS = 4
SMALLEST = 1e-9


def made(rng):
    """A module, whether its samples are tokens, and the number of inputs."""
    q, h = (int(rng.integers(2, 5)) for _ in range(2))
    act = [torch.tanh, torch.sin, nn.functional.softplus, torch.relu][int(rng.integers(4))]
    stops, gated, padded = (bool(rng.integers(2)) for _ in range(3))
    stop = (lambda v: v.detach()) if stops else (lambda v: v)
    parts = {"a": nn.Linear(q, h), "b": nn.Linear(h, h), "c": nn.Linear(h, 2)}
    if gated:
        parts["g"] = nn.Parameter(torch.tensor(float(rng.integers(2))))
    if padded:
        parts["table"] = nn.Embedding(4, q, padding_idx=0)

    def forward(s, x):
        x = s.table(x).sum(1) if padded else x
        first = stop(act(s.a(x)))
        h = first + (s.g if gated else 1) * act(s.b(first))
        return s.c(h)

    return Computes(forward, **parts), padded, q


def damaged(rng, net):
    """Some parameters are frozen, of low rank, pruned or zero."""
    for parameter in net.parameters():
        parameter.data = torch.as_tensor(rng.standard_normal(parameter.shape)) if (
            parameter.ndim) else parameter.data.double()  # fmt: skip
        way = rng.choice(["", "", "frozen", "pruned", "zero", "low"])
        if parameter.ndim < 2 and way == "low":
            way = "frozen"
        if way == "pruned":
            parameter.data *= torch.as_tensor(rng.random(parameter.shape) < 0.5)
        if way == "zero":
            parameter.data.zero_()
        if way == "low":
            # Of whole numbers: rounded products would have the full rank, by 1e-16.
            whole = (4 * parameter.data).round()
            parameter.data = whole[:, :1] * whole[:1] / 16
        parameter.requires_grad_(way == "")
    if all(not p.requires_grad for p in net.parameters()):
        net.c.bias.requires_grad_(True)


def jacobian(net, names, samples):
    """Torch's derivatives of all labels, by the parameters in their order."""
    held = dict(net.named_parameters())
    rows = []
    for label in net(samples).flatten():
        if not label.requires_grad:
            rows.append(np.zeros(sum(held[n].numel() for n in names)))
            continue
        found = torch.autograd.grad(
            label, [held[n] for n in names], retain_graph=True, allow_unused=True
        )
        rows.append(np.concatenate([
            np.zeros(held[n].numel()) if g is None else g.numpy().ravel()
            for n, g in zip(names, found, strict=True)
        ]))  # fmt: skip
    return np.array(rows)


def faults(number):
    """What differs, in words."""
    rng = np.random.default_rng([58, number])
    torch.manual_seed(number)
    net, tokens, q = made(rng)
    net = net.double()
    damaged(rng, net)
    names = [n for n, p in net.named_parameters() if p.requires_grad]
    size = sum(p.numel() for p in net.parameters() if p.requires_grad)
    m = size + 8
    draw = (lambda: torch.randint(0, 4, (m, 3))) if tokens else (
        lambda: torch.as_tensor(rng.standard_normal((m, q))))  # fmt: skip
    try:
        read = mp.from_torch(net, draw())
        checked = mp.capacity(read, check=True)
        learns = [n for n in names if n in read.parameters]
        rank = mp.capacity(read, {"own": learns}).subsets[0] if learns else None
    except mp.InputError as error:
        return f"refused: {error}"
    most, moved = 0, np.zeros(size, bool)
    table = net.table.weight.detach()[0].clone() if tokens else None
    for _ in range(DRAWS):
        for name, parameter in net.named_parameters():
            if name in names:
                parameter.data = torch.as_tensor(rng.standard_normal(parameter.shape))
        if tokens:
            # The row of padding never learns.
            net.table.weight.data[0] = table
        J = jacobian(net, names, draw())
        sizes = np.linalg.norm(J, axis=0)
        real = sizes > 1e-12 * max(sizes.max(), 1e-300)
        moved |= real
        if real.any():
            singular = np.linalg.svd(J[:, real] / sizes[real], compute_uv=False)
            most = max(most, int((singular > SMALLEST * singular[0]).sum()))
    own = 0 if rank is None else rank.rank
    sure = rank is None or rank.exact
    texts = []
    if own < most or (sure and own != most):
        texts.append(f"rank {own} ({'exact' if sure else 'a bound'}), torch {most}")
    anywhere = sum(one.size for one in checked.without_effect if one.where == "anywhere")
    if checked.trainable - anywhere != int(moved.sum()):
        texts.append(f"{checked.trainable - anywhere} have an effect, torch {int(moved.sum())}")
    return "; ".join(texts)


def main(first=0, count=300):
    """Print the modules with a fault."""
    warnings.simplefilter("ignore")
    wrong = 0
    for number in range(first, first + count):
        found = faults(number)
        if found:
            wrong += 1
            print(number, found, flush=True)
    print(f"{count} modules, {wrong} differ")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(*map(int, sys.argv[1:]))
