r"""Gradient training of small ReLU networks, of weights or of scales and shifts only.

The experiment of the second paper (Appendix E) trains with stochastic gradients the parameters for
which its construction solves.  The networks are

.. math:: y(x) = 1^T σ(g_L ∘ (W_L h_{L-1}) + b_L), \quad h_j = σ(g_j ∘ (W_j h_{j-1}) + b_j),

with the outputs of the last layer summed.  Normalization is that of inference: a scale and a shift.
Mini-batches; steps of Adam, or of stochastic gradients with momentum; single precision, NumPy only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from algebra.errors import InputError
from algebra.given import known_name
from numeric.programs.descent import Adam, half_cosine

WEIGHTS, NORMALIZATION = "weights", "normalization"
ADAM, SGD = "adam", "sgd"
# Factors of the rate after that share of all steps.
SCHEDULES: dict[str, Callable[[float], float]] = {
    "constant": lambda share: 1.0,
    "cosine": lambda share: float(half_cosine(1.0, share, 1)),
    "exponential": lambda share: float(0.1**share),
}
_MOMENTUM = np.float32(0.9)
# Number of samples evaluated at a time.
_BATCH = 4096


@dataclass(frozen=True)
class SumNet:
    """A ReLU network whose last layer's outputs are summed.

    Attributes
    ----------
    weights : tuple of ndarray
        W_1, …, W_L.
    scales, shifts : tuple of ndarray
        One vector per layer.
    """

    weights: tuple[np.ndarray, ...]
    scales: tuple[np.ndarray, ...]
    shifts: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, weights: Sequence[np.ndarray]) -> SumNet:
        """With scales 1 and shifts 0."""
        sizes = [len(W) for W in weights]
        return cls(
            tuple(weights), tuple(np.ones(n) for n in sizes), tuple(np.zeros(n) for n in sizes)
        )

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Outputs for samples X, one per column, in the precision of the weights."""
        parts = []
        for start in range(0, X.shape[1], _BATCH):
            h = X[:, start : start + _BATCH]
            for W, g, b in zip(self.weights, self.scales, self.shifts, strict=True):
                h = np.maximum(g[:, None] * (W @ h) + b[:, None], 0)
            parts.append(h.sum(axis=0))
        return np.concatenate(parts)

    def mse(self, X: np.ndarray, y: np.ndarray) -> float:
        """Mean squared error on samples."""
        return float(np.mean((self(X) - y) ** 2))

    def astype(self, dtype: type) -> SumNet:
        """The same network in another precision."""
        return SumNet(*(
            tuple(value.astype(dtype) for value in part)
            for part in (self.weights, self.scales, self.shifts)
        ))  # fmt: skip


class ReusedArrays:
    """Arrays that are reused from step to step.

    Allocating and freeing arrays of units × samples in each step would cost as much as the
    computation.
    """

    def __init__(self) -> None:
        self._arrays: dict[tuple[str, int], np.ndarray] = {}

    def array(self, name: str, layer: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """The array of that name, with arbitrary values."""
        found = self._arrays.get((name, layer))
        if found is None or found.shape != shape:
            found = self._arrays[name, layer] = np.empty(shape, dtype)
        return found


def gradients(
    net: SumNet,
    X: np.ndarray,
    y: np.ndarray,
    what: str | None = None,
    arrays: ReusedArrays | None = None,
) -> tuple[float, list[np.ndarray], list[np.ndarray], list[np.ndarray]]:
    """Mean squared error and its gradients with respect to weights, scales and shifts.

    Parameters
    ----------
    net : SumNet
    X : ndarray, inputs × samples
    y : ndarray, samples
    what : {"weights", "normalization"}, optional
        The parameters that learn besides the shifts: other gradients, a third of the work, are
        omitted (empty lists).
    arrays : ReusedArrays, optional
        Arrays for intermediate results.
    """
    arrays = ReusedArrays() if arrays is None else arrays
    size = X.shape[1]
    zero = np.zeros(size, X.dtype)
    states, linear = [X], []
    for j, (W, g, b) in enumerate(zip(net.weights, net.scales, net.shifts, strict=True)):
        shape = (len(W), size)
        linear.append(np.matmul(W, states[-1], out=arrays.array("linear", j, shape, X.dtype)))
        state = np.multiply(g[:, None], linear[-1], out=arrays.array("state", j, shape, X.dtype))
        state += b[:, None]
        # An array of zeros: with the number 0 NumPy takes four times as long.
        states.append(np.maximum(state, zero, out=state))
    error = states[-1].sum(axis=0) - y
    back = np.broadcast_to(2 * error / len(y), states[-1].shape)
    dW: list[np.ndarray] = []
    dg: list[np.ndarray] = []
    db: list[np.ndarray] = []
    for j in range(len(net.weights) - 1, -1, -1):
        shape = states[j + 1].shape
        slope = arrays.array("slope", j, shape, X.dtype)
        np.multiply(back, states[j + 1] > 0, out=slope)
        db.insert(0, slope.sum(axis=1))
        if what != WEIGHTS:
            dg.insert(0, np.einsum("ij,ij->i", slope, linear[j]))
        if j or what != NORMALIZATION:
            slope *= net.scales[j][:, None]
        if what != NORMALIZATION:
            dW.insert(0, slope @ states[j].T)
        if j:
            before = arrays.array("back", j, states[j].shape, X.dtype)
            back = np.matmul(net.weights[j].T, slope, out=before)
    return float(np.mean(error**2)), dW, dg, db


class Momentum:
    """Steps of stochastic gradients with momentum, for one array of variables."""

    def __init__(self, like: np.ndarray) -> None:
        self._speed = np.zeros_like(like)

    def step(self, slope: np.ndarray, rate: np.floating) -> np.ndarray:
        """The amount to subtract from the variables, given the gradient and the step size."""
        self._speed = _MOMENTUM * self._speed + slope
        return np.asarray(rate * self._speed)


def train(
    net: SumNet,
    X: np.ndarray,
    y: np.ndarray,
    what: str,
    *,
    method: str = ADAM,
    schedule: str = "exponential",
    epochs: int = 30,
    batch: int = 128,
    rate: float = 1e-3,
    seed: int = 0,
) -> SumNet:
    """Train the weights and shifts, or the scales and shifts only.

    Parameters
    ----------
    net : SumNet
    X : ndarray, inputs × samples
    y : ndarray, samples
    what : {"weights", "normalization"}
    method : {"adam", "sgd"}, optional
        Adam, or stochastic gradients with momentum 0.9.
    schedule : {"constant", "cosine", "exponential"}, optional
        The rate is constant, falls to a hundredth by half a cosine, or exponentially to a tenth.
    epochs, batch : int, optional
    rate : float, optional
        Size of the first steps.
    seed : int, optional
        Seed of the order of the samples.

    Returns
    -------
    SumNet
        The network after the last epoch, in double precision.
    """
    if what not in (WEIGHTS, NORMALIZATION):
        raise InputError(f"`what` ({what!r}) must be {WEIGHTS!r} or {NORMALIZATION!r}")
    rule = {ADAM: Adam, SGD: Momentum}[known_name(method, "method", (ADAM, SGD))]
    factor = SCHEDULES[known_name(schedule, "schedule", SCHEDULES)]
    net = net.astype(np.float32)
    X, y = X.astype(np.float32), y.astype(np.float32)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0x5D9,)))
    tuned = net.weights if what == WEIGHTS else net.scales
    values = [np.array(v) for v in (*tuned, *net.shifts)]
    states = [rule(v) for v in values]
    layers = len(net.weights)
    arrays = ReusedArrays()
    steps, taken = epochs * -(-X.shape[1] // batch), 0
    for _ in range(epochs):
        order = rng.permutation(X.shape[1])
        for start in range(0, len(order), batch):
            size = np.float32(rate * factor(taken / steps))
            taken += 1
            some = order[start : start + batch]
            _, dW, dg, db = gradients(net, X[:, some], y[some], what, arrays)
            for k, slope in enumerate([*(dW if what == WEIGHTS else dg), *db]):
                values[k] = values[k] - states[k].step(slope, size)
            part = tuple(values[:layers])
            shifts = tuple(values[layers:])
            if what == WEIGHTS:
                net = replace(net, weights=part, shifts=shifts)
            else:
                net = replace(net, scales=part, shifts=shifts)
    return net.astype(np.float64)
