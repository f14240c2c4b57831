"""Ranks of random modules with frozen, stopped, padded and zero parts, against singular values.

What is frozen keeps its values, what learns is drawn anew, several times, with new samples: the
largest rank of torch's Jacobian in doubles must be the rank of `capacity` where training goes, and
the parameters without a gradient in all draws those that its check names.  With ReLU each draw has
another activation pattern, of which one side may miss one; so both sides are compared on the same
pattern: at the module's own weights, for the same samples.  Run it where torch is installed::

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
    """A module, whether its samples are tokens, the number of inputs, and whether it has ReLU."""
    q, h = (int(rng.integers(2, 5)) for _ in range(2))
    which = int(rng.integers(4))
    act = [torch.tanh, torch.sin, nn.functional.softplus, torch.relu][which]
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

    return Computes(forward, **parts), padded, q, which == 3


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


def rank_of(J):
    """The rank of a Jacobian, and which of its columns are not 0."""
    sizes = np.linalg.norm(J, axis=0)
    real = sizes > 1e-12 * max(sizes.max(), 1e-300)
    if not real.any():
        return 0, real
    singular = np.linalg.svd(J[:, real] / sizes[real], compute_uv=False)
    return int((singular > SMALLEST * singular[0]).sum()), real


def compared(rank, is_sure, effective, most, moved):
    """What differs between the two sides, in words."""
    texts = []
    if rank < most or (is_sure and rank != most):
        texts.append(f"rank {rank} ({'exact' if is_sure else 'a bound'}), torch {most}")
    if effective != int(moved.sum()):
        texts.append(f"{effective} have an effect, torch {int(moved.sum())}")
    return "; ".join(texts)


def faults(number):
    """What differs, in words."""
    rng = np.random.default_rng([58, number])
    torch.manual_seed(number)
    net, tokens, q, has_relu = made(rng)
    net = net.double()
    damaged(rng, net)
    names = [n for n, p in net.named_parameters() if p.requires_grad]
    size = sum(p.numel() for p in net.parameters() if p.requires_grad)
    m = size + 8
    draw = (lambda: torch.randint(0, 4, (m, 3))) if tokens else (
        lambda: torch.as_tensor(rng.standard_normal((m, q))))  # fmt: skip
    x = draw()
    try:
        read = mp.from_torch(net, x)
        at = {"data": x.numpy()} if has_relu else {}
        checked = mp.capacity(read, check=True, **at)
        learns = [n for n in names if n in read.parameters]
        at |= {"m": m} if has_relu else {}
        row = mp.capacity(read, {"own": learns}, **at).subsets[0] if learns else None
    except mp.InputError as error:
        return f"refused: {error}"
    if has_relu:
        here = row.at_weights if row else None
        still = sum(one.size for one in checked.without_effect)
        own = (here.rank, here.exact) if here else (0, True)
        return compared(*own, checked.trainable - still, *rank_of(jacobian(net, names, x)))
    most, moved = 0, np.zeros(size, bool)
    table = net.table.weight.detach()[0].clone() if tokens else None
    for _ in range(DRAWS):
        for name, parameter in net.named_parameters():
            if name in names:
                parameter.data = torch.as_tensor(rng.standard_normal(parameter.shape))
        if tokens:
            # The row of padding never learns.
            net.table.weight.data[0] = table
        rank, real = rank_of(jacobian(net, names, draw()))
        most, moved = max(most, rank), moved | real
    own = (row.rank, row.exact) if row else (0, True)
    anywhere = sum(one.size for one in checked.without_effect if one.where == "anywhere")
    return compared(*own, checked.trainable - anywhere, most, moved)


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
