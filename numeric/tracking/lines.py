"""Ways between instances: equivalent instances, and detours around bad ones.

An instance has many parameter vectors with the same roots: whatever multiplies a row of D and
the same row of Y leaves every learnable weight alone.  Straight lines to different ones among
them are different ways to the same roots, at no cost.

A way that comes near a bad instance (a double root, roots near infinity) is left for a small
half circle through complex values of t.  The paths that are bad there are permuted among
themselves by a turn around the bad point, and all others stay where they are: so paths that
all pass it on the same side arrive at the same *set* of roots as on the straight line.
"""

from __future__ import annotations

import numpy as np

from numeric.chains.chain import Chain
from numeric.chains.table import IN_D, IN_S0


def turned(chain: Chain, parameters: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """An equivalent parameter vector at a random place: the same roots, another line to it.

    Where D does not learn, its rows and those of Y are multiplied by random complex numbers
    of modulus one; else S_0 (where it does not learn) or the P_k, and Y, by a single one.
    With none of these free the vector is returned as it is.
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
    """Corners of ways from t = 0 to 1 that pass the real values `at` at a distance.

    Parameters
    ----------
    at : ndarray of float, shape (·,)
        Bad values of t, in (0, 1).
    radius : ndarray of float, shape (·,)
        Distances kept, less than both `at` and 1 − `at`.
    side : int
        1 or −1: on which side of the line.

    Returns
    -------
    ndarray of complex, shape (4, ·)
        Half a hexagon about each.
    """
    turns = np.exp(1j * np.pi * np.array([3, 2, 1, 0]) / 3)
    return at + np.multiply.outer(turns if side > 0 else turns.conj(), radius)
