"""Small models of many architectures: each is read, checked, and one rank compared with autograd.

Weights are random.  The rank is that of the Jacobian by all parameters, or by norms and biases as
far as they are few, at the module's own weights and samples, against the singular values of torch's
Jacobian in doubles.  Run it where torch and transformers
(and diffusers) are installed::

    python -m benchmarks.architectures [NAME …]
"""

import sys
import time
import warnings

import numpy as np
import torch

import matchprob as mp
from tests.architectures import SMALL

# Largest numbers of parameters, and of labels, whose rank is compared.
MOST = 150
MOST_LABELS = 190
# The backward pass of torch 2.13 crashes in doubles.
CRASHES = ("UNet2D",)
# Singular values, of columns of length 1, below the largest times this are 0.
SMALLEST = 1e-9
# Columns that are shorter than the longest times this are 0.
LEAST = 1e-12


def subset_of(net):
    """The names of the parameters whose rank is compared, and what they are."""
    sizes = {name: p.numel() for name, p in net.named_parameters()}
    if sum(sizes.values()) <= MOST:
        return "everything", list(sizes)
    small, total = [], 0
    for name, parameter in reversed(list(net.named_parameters())):
        if parameter.ndim < 2 and total + sizes[name] <= MOST:
            small.append(name)
            total += sizes[name]
    whole = len(small) == sum(p.ndim < 2 for p in net.parameters())
    return "norms, biases" if whole else "some norms, biases", small


def by_autograd(net, inputs, names):
    """The rank of torch's Jacobian by some parameters, in doubles."""
    args, kwargs = ((), inputs) if isinstance(inputs, dict) else (inputs, {})
    held = dict(net.named_parameters())
    labels = net(*args, **kwargs).flatten()
    rows = []
    for label in labels:
        found = torch.autograd.grad(
            label, [held[n] for n in names], retain_graph=True, allow_unused=True
        )
        rows.append(np.concatenate([
            np.zeros(held[n].numel()) if g is None else g.numpy().ravel()
            for n, g in zip(names, found, strict=True)
        ]))  # fmt: skip
    J = np.array(rows)
    sizes = np.linalg.norm(J, axis=0)
    # Layers far from the labels have slopes that are smaller by many orders of magnitude.
    J = J[:, sizes > LEAST * sizes.max()] / sizes[sizes > LEAST * sizes.max()]
    values = np.linalg.svd(J, compute_uv=False)
    return int((values > SMALLEST * values[0]).sum())


def doubles(inputs):
    """Inputs in doubles, as a tuple or by name."""
    if isinstance(inputs, dict):
        return {n: v.double() if v.is_floating_point() else v for n, v in inputs.items()}
    every = inputs if isinstance(inputs, tuple) else (inputs,)
    return tuple(v.double() if v.is_floating_point() else v for v in every)


def more(net, inputs, size):
    """As many samples as give some more labels than there are parameters."""
    named = inputs if isinstance(inputs, dict) else dict(enumerate(inputs))
    with torch.no_grad():
        found = net(**inputs) if isinstance(inputs, dict) else net(*inputs)
    m = min(5 * size // 4, MOST_LABELS) * len(found) // found.numel() + 2
    drawn = {
        k: torch.randn(m, *v.shape[1:]).double()
        if v.is_floating_point()
        else torch.randint(2, int(v.max()) + 1, (m, *v.shape[1:]))
        for k, v in named.items()
    }
    return drawn if isinstance(inputs, dict) else tuple(drawn.values())


def row_of(name):
    """What the table says of an architecture."""
    torch.manual_seed(0)
    net, inputs = SMALL[name]()
    net, inputs = net.double().eval(), doubles(inputs)
    with torch.no_grad():
        for parameter in net.parameters():
            # Gains of one and shifts of zero are special; small weights lose ranks in doubles.
            if parameter.ndim > 1:
                parameter.normal_(0, (len(parameter) / parameter.numel()) ** 0.5)
            else:
                parameter.add_(torch.randn_like(parameter) / 8)
    text, names = subset_of(net)
    inputs = more(net, inputs, sum(dict(net.named_parameters())[n].numel() for n in names))
    read = mp.from_torch(net, inputs)
    checked = mp.capacity(read, check=True)
    m = len(next(iter(inputs.values())) if isinstance(inputs, dict) else inputs[0])
    [row] = mp.capacity(read, {text: [n for n in names if n in read.parameters]}, m=m,
                        data=read.example or None).subsets  # fmt: skip
    here = row.at_weights
    found = "torch crashes" if name in CRASHES else by_autograd(net, inputs, names)
    mark = "" if here.exact else "≤ "
    return (
        f"{checked.effective} of {checked.trainable}", f"{text} ({row.learnable})",
        f"{mark}{here.rank}", found,
    )  # fmt: skip


def main(names):
    """Print the table."""
    warnings.simplefilter("ignore")
    print("| architecture | have an effect | rank by | rank here | autograd | CPU s |")
    print("|---|---|---|---|---|---|")
    for name in names or SMALL:
        start = time.process_time()
        try:
            cells = row_of(name)
        except mp.InputError as error:
            cells = (f"refused: {error}", "", "", "")
        texts = " | ".join(map(str, cells))
        print(f"| {name} | {texts} | {time.process_time() - start:.0f} |", flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(sys.argv[1:])
