"""Detours around singular instances.

Near a singular instance (a double root, roots near infinity) a line is replaced by a small
half circle of complex t.  A loop around the singular point permutes the roots that are singular
there among themselves, and fixes all others; so paths that all pass it on the same side arrive
at the same *set* of roots as on the straight line.
"""

from __future__ import annotations

import numpy as np


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
