"""The Adam optimizer: running means of the gradient and its square, corrected for the start at 0.

References
----------
.. [1] D. P. Kingma, J. Ba, "Adam: a method for stochastic optimization", ICLR 2015.
"""

from __future__ import annotations

import numpy as np

_DECAY = (0.9, 0.999)


def half_cosine(rate: float, t: int, steps: int) -> np.floating:
    """Step size of step t of `steps`: half a cosine from `rate` down to a hundredth of it.

    Examples
    --------
    >>> [float(round(half_cosine(1.0, t, 100), 3)) for t in (0, 50, 100)]
    [1.0, 0.505, 0.01]
    """
    return rate * (0.01 + 0.495 * (1.0 + np.cos(np.pi * t / steps)))


class Adam:
    """Running means for one array of variables.

    Parameters
    ----------
    like : ndarray
        An array with the variables' shape and dtype.
    tiny : float, optional
        Added to the root of the mean square; ε of [1]_.

    Examples
    --------
    The first step has the length of the rate, whatever the slope:

    >>> Adam(np.zeros(2)).step(np.array([3.0, -1e-3]), 0.5).round(4).tolist()
    [0.5, -0.5]
    """

    def __init__(self, like: np.ndarray, tiny: float = 1e-8) -> None:
        self._first, self._second = np.zeros_like(like), np.zeros_like(like)
        self._tiny = tiny
        self._steps = 0

    def step(self, slope: np.ndarray, rate: float | np.floating) -> np.ndarray:
        """The amount to subtract from the variables, given the gradient and the step size."""
        self._steps += 1
        self._first += (1 - _DECAY[0]) * (slope - self._first)
        self._second += (1 - _DECAY[1]) * (slope * slope - self._second)
        mean = self._first / (1 - _DECAY[0] ** self._steps)
        spread = self._second / (1 - _DECAY[1] ** self._steps)
        return np.asarray(rate * mean / (np.sqrt(spread) + self._tiny))

    def take(self, rows: np.ndarray) -> Adam:
        """The state of some variables, selected along the first axis; `self` if all are."""
        if len(rows) == len(self._first):
            return self
        part = Adam(self._first[rows], self._tiny)
        part._first, part._second = self._first[rows], self._second[rows]
        part._steps = self._steps
        return part
