"""Training at a capacity and with one sample more: how often labels are fitted, near and far.

Subsets of a transformer block (`examples/data/block.onnx`) are trained from its own weights, in
doubles by Levenberg–Marquardt, for as many samples as `capacity` says and for one more.  Labels are
the block's own, moved at random: by 10⁻⁵ of their deviation (near), or by their whole deviation
(far).  They are fitted if the largest error is below 10⁻⁵ of the largest move.  A capacity is a
limit near the weights: with one sample more the labels that can be fitted are a set of measure 0
there; far away the same parameters may fit others, or training may not find them::

    python -m benchmarks.trained_subsets [DRAWS]
"""

import sys

import numpy as np

import matchprob as mp
from algebra.plugins.models.onnx import read_onnx
from tests.doubles import jacobian, labels, weights_of

PATH = "examples/data/block.onnx"
SUBSETS = {
    "norms": "norms", "last layer": "head*", "biases": "biases", "q": "q.weight",
    "v": "v.weight", "q and v": "q.weight,v.weight",
}  # fmt: skip
SIZES = {"near": 1e-5, "far": 1.0}
FITTED, STEPS = 1e-5, 80


def fitted(read, names, m, size, rng):
    """Whether labels that are moved by so much are fitted."""
    weights = weights_of(read)
    samples = {n: rng.standard_normal((*s, m)) for n, s in read.program.samples.items()}
    own = labels(read.program, weights, samples).reshape(-1)
    moved = size * own.std() * rng.standard_normal(own.shape)
    wanted, masks = own + moved, {n: np.ones(weights[n].shape, bool) for n in names}
    enough = FITTED * np.abs(moved).max()

    def errors(at):
        return labels(read.program, at, samples).reshape(-1) - wanted

    found, damping = errors(weights), 1e-3
    for _ in range(STEPS):
        if np.abs(found).max() < enough:
            return True
        J = jacobian(read.program, weights, samples, masks)
        left, values, right = np.linalg.svd(J, full_matrices=False)
        while damping < 1e12:
            step = right.T @ (values / (values**2 + damping) * (left.T @ -found))
            ends = np.cumsum([weights[n].size for n in names])[:-1]
            parts = zip(names, np.split(step, ends), strict=True)
            after = weights | {n: weights[n] + own.reshape(weights[n].shape) for n, own in parts}
            new = errors(after)
            if np.square(new).sum() < np.square(found).sum():
                weights, found, damping = after, new, max(damping / 10, 1e-14)
                break
            damping *= 8
        else:
            return False
    return bool(np.abs(found).max() < enough)


def main(draws=5):
    """Print a row for each subset."""
    read = read_onnx(PATH)
    rows = mp.capacity(read, SUBSETS).subsets
    heads = [f"{word}, {more}" for word in SIZES for more in ("at capacity", "one more")]
    print("subset | parameters | capacity |", " | ".join(heads))
    for row in rows:
        [subset] = [own for name, own in SUBSETS.items() if name == row.name]
        names = [n for n in read.parameters if n in names_of(read, subset)]
        cells = []
        for size in SIZES.values():
            for m in (row.capacity, row.capacity + 1):
                seeds = (np.random.default_rng([58, k, m]) for k in range(draws))
                count = sum(fitted(read, names, m, size, rng) for rng in seeds)
                cells.append(f"{count} of {draws}")
        print(row.name, row.learnable, row.capacity, *cells, sep=" | ", flush=True)


def names_of(read, subset):
    """The parameters that a subset names."""
    from matchprob.plugins.models.subsets import named_subsets

    [found] = named_subsets(read, {"own": subset})
    return set(found.names)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
