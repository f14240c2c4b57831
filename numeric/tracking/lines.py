"""Lines between instances: equivalent instances, and detours around singular ones.

An instance has many parameter vectors with the same roots: multiplying a row of D and
the same row of Y by a factor changes no learnable weight.  Straight lines to different such
vectors are different paths to the same roots, at no cost.

Near a singular instance (a double root, roots near infinity) a line is replaced by a small
half circle of complex t.  A loop around the singular point permutes the roots that are singular
there among themselves, and fixes all others; so paths that all pass it on the same side arrive
at the same *set* of roots as on the straight line.
"""

from __future__ import annotations

import numpy as np

from numeric.chains.chain import Chain
from numeric.chains.table import IN_D, IN_S0


def turned(chain: Chain, parameters: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random equivalent parameter vector: the same roots, another line to it.

    If D does not learn, its rows and those of Y are multiplied by random complex numbers
    of modulus one; else S_0 (if it does not learn) or the P_k, and Y, by a single one.
    If none of these is fixed the vector is returned unchanged.
    """
    p = np.array(parameters, complex)
    n, c, m = chain.widths, chain.columns, chain.samples
    d = chain.network.d
    kinds = set(chain.cells[:, 0].tolist())
    factors = np.exp(2j * np.pi * rng.random(d))
    labels = p[chain.y_at : chain.y_at + d * m].reshape(d, m)
    if IN_D not in kinds:
        rows = p[chain.d_at : chain.d_at + d * n[-1]].reshape(d, -1)
        rows *= factors[:, None]
        labels *= factors[:, None]
    elif IN_S0 not in kinds:
        p[chain.s0_at : chain.s0_at + n[0] * c] *= factors[0]
        labels *= factors[0]
    elif chain.read_all and m != chain.steps * c:
        p[chain.p_at[1] : chain.p_at[-1] + c * m] *= factors[0]
        labels *= factors[0]
    return p


def detour(at: np.ndarray, radius: np.ndarray, side: int) -> np.ndarray:
    """Corners of polygons from t = 0 to 1 that pass the real values `at` at a distance.

    Parameters
    ----------
    at : ndarray of float, shape (·,)
        Singular values of t, in (0, 1).
    radius : ndarray of float, shape (·,)
        Distances to keep, less than both `at` and 1 − `at`.
    side : int
        1 or −1: on which side of the line.

    Returns
    -------
    ndarray of complex, shape (4, ·)
        Half a hexagon around each value.
    """
    turns = np.exp(1j * np.pi * np.array([3, 2, 1, 0]) / 3)
    return at + np.multiply.outer(turns if side > 0 else turns.conj(), radius)
