"""All matches of the smallest recurrent nets (n = 2, T = 2, b = d = 1, m = 2) by formula.

With two samples the labels determine ``D W B`` and ``D W² B``.  With W = [[a, b], [c, e]] each of
these allocations leaves one equation of degree one or two in one weight.
"""

import numpy as np

MASKS = {
    "diagonal": [[1, 0], [0, 1]],
    "off-diagonal": [[0, 1], [1, 0]],
    "row": [[1, 1], [0, 0]],
}


def draw(trials: int, seed: int) -> tuple[np.ndarray, ...]:
    """Student (D, W, B) and the teacher's (D W B, D W² B) under the usual laws."""
    rng = np.random.default_rng(seed)

    def net():
        D = rng.standard_normal((trials, 2)) / np.sqrt(2)
        W = rng.standard_normal((trials, 2, 2)) / np.sqrt(2)
        return D, W, rng.standard_normal((trials, 2))

    return *net(), *products(*net())


def products(D, W, B):
    """``D W B`` and ``D W² B`` of many nets."""
    s = np.einsum("tij,tj->ti", W, B)
    return np.einsum("ti,ti->t", D, s), np.einsum("ti,tij,tj->t", D, W, s)


def solutions(name, D, W, B, f1, f2):
    """The learnable weights of all real matches: (trials, 2, 2), NaN if there is none."""
    d0, d1 = D.T
    b0, b1 = B.T
    a, b, c, e = W[:, 0, 0], W[:, 0, 1], W[:, 1, 0], W[:, 1, 1]
    if name == "row":
        t = c * b0 + e * b1
        s = (f1 - d1 * t) / d0
        g = (f2 - d1 * (c * s + e * t)) / d0
        determinant = b0 * t - b1 * s
        found = np.stack([(s * t - b1 * g) / determinant, (b0 * g - s * s) / determinant], axis=1)
        return np.stack([found, np.full_like(found, np.nan)], axis=1)
    if name == "diagonal":
        p, q = (f1 - d0 * b * b1 - d1 * c * b0) / (d1 * b1), -d0 * b0 / (d1 * b1)
        A = d0 * b0 + d1 * b1 * q**2
        L = d0 * b * b1 * (1 + q) + d1 * c * b0 + d1 * q * (c * b0 + 2 * b1 * p)
        C = d0 * b * (c * b0 + b1 * p) + d1 * c * b * b1 + d1 * p * (c * b0 + b1 * p) - f2
    else:
        p, q = (f1 - d0 * a * b0 - d1 * e * b1) / (d1 * b0), -d0 * b1 / (d1 * b0)
        A = d0 * b0 * q + d1 * q * b1
        L = d0 * (a * b1 + b0 * p + e * b1) + d1 * (p * b1 + q * a * b0) + d1 * e * b0 * q
        C = d0 * a * a * b0 + d1 * p * a * b0 + d1 * e * (b0 * p + e * b1) - f2
    with np.errstate(invalid="ignore"):
        root = np.sqrt(L**2 - 4 * A * C)
    x = np.stack([(-L - root) / (2 * A), (-L + root) / (2 * A)], axis=1)
    return np.stack([x, p[:, None] + q[:, None] * x], axis=2)


def margins(found, before, *, max_abs=None, max_change=None, sign=None):
    """Distance of each match inside its bounds (negative: outside; NaN: no match), (trials, 2)."""
    space = np.full(found.shape, np.inf)
    before = np.broadcast_to(before[:, None, :], found.shape)
    if max_abs is not None:
        space = np.minimum(space, max_abs - np.abs(found))
    if max_change is not None:
        space = np.minimum(space, max_change - np.abs(found - before))
    if sign is not None:
        wanted = {"+": 1.0, "-": -1.0, "keep": np.sign(before)}[sign]
        space = np.minimum(space, wanted * found)
    space = np.where(np.isnan(found), -np.inf, space)
    return space.min(axis=2)


def learnable(name, W):
    """The weights that the learnable ones replace, (trials, 2)."""
    i, j = np.nonzero(MASKS[name])
    return W[:, i, j]
