"""Appendix E of the second paper: three ways to set normalization parameters, compared.

The target g is random, with one hidden layer of d ReLU units that are summed; labels are its values
at Gaussian samples.  A frozen random network of two layers (hidden width w, then d, summed) learns
it by

* ``adam``: training of its scales and shifts on the samples by Adam;
* ``sgd``: the same by stochastic gradients with momentum 0.9, as in the paper with the best of
  three schedules (constant, half a cosine, exponential), by the error on the training samples;
* ``target``: the construction from g's own matrix;
* ``both``: the same with the scales of the second layer tuned too, which needs d − 1 hidden
  units fewer than the paper's;
* ``dense``: the construction from a dense network g' of g's architecture that was trained on
  the samples (``trained``: the error of g' itself).

All are judged by the mean squared error on new samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from matchprob.plugins.papers.figures.papers.normalization_training import (
    ADAM,
    NORMALIZATION,
    SCHEDULES,
    SGD,
    WEIGHTS,
    SumNet,
    train,
)

from numeric.plugins.normalization.scales import tune_both_scales, tune_scales

ALGORITHMS = ("adam", "sgd", "target", "both", "dense", "trained")
SAMPLES = 1_000_000
# The errors of the tests have a standard error of about one per cent.
TESTED = 20_000
# Of 0.003, 0.01, 0.03, 0.05 and 0.1 SGD's rate has the least error, or one within 5 % of it, for
# d = 5, w = 25 and d = 25, w = 100, 625 (`benchmarks/bench_optimizers.py --normalization`).
_RATES = {ADAM: 0.01, SGD: 0.03}
_EPOCHS, _BATCH = 1, 128
# Samples on which the schedules of SGD are compared.
_COMPARED = 20_000


@dataclass(frozen=True)
class Setting:
    """One run of the experiment.

    Attributes
    ----------
    d, width : int
        Of the target's hidden layer and inputs; of the frozen network's hidden layer.
    density : float
        Share of nonzero frozen weights.
    seed, repeat : int
        They determine all random numbers; target and samples also depend on d, the
        frozen weights on all parameters.
    samples : int
        Number for training.
    epochs : int
    """

    d: int
    width: int
    density: float = 1.0
    seed: int = 0
    repeat: int = 0
    samples: int = SAMPLES
    epochs: int = _EPOCHS


def frozen_matrices(setting: Setting) -> tuple[np.ndarray, np.ndarray]:
    """W_1 and W_2 of the frozen network: Gaussian, sparse, variance 1/(kept entries per row)."""
    key = (setting.repeat, setting.d, setting.width, round(setting.density * 10**6))
    rng = np.random.default_rng(np.random.SeedSequence(setting.seed, spawn_key=key))
    matrices = []
    for rows, columns in ((setting.width, setting.d), (setting.d, setting.width)):
        W = rng.standard_normal((rows, columns)) / np.sqrt(max(columns * setting.density, 1))
        matrices.append(W * (rng.random((rows, columns)) < setting.density))
    return matrices[0], matrices[1]


def constructed(
    W1: np.ndarray,
    W2: np.ndarray,
    target: np.ndarray,
    shift: np.ndarray,
    radius: float,
    second_scales: bool = False,
) -> SumNet:
    """The frozen network with the construction's scales and shifts, for ‖x‖ ≤ radius."""
    if second_scales:
        gamma, output, _, _ = tune_both_scales(W2, W1, target)
    else:
        gamma, output = tune_scales(W2, W1, target)[0], np.ones(len(W2))
    hidden = np.abs(gamma) * np.linalg.norm(W1, axis=1) * radius
    return SumNet((W1, W2), (gamma, output), (hidden, shift - output * (W2 @ hidden)))


def _random(d: int, seed: int, repeat: int) -> np.random.Generator:
    """The generator from which target, start and samples are drawn, in this order."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(repeat, d, 0xE)))


def make_task(d: int, seed: int, repeat: int, samples: int) -> tuple[np.ndarray, ...]:
    """The target's matrix; samples and labels for training; the same for the test."""
    rng = _random(d, seed, repeat)
    target = rng.standard_normal((d, d)) / np.sqrt(d)
    rng.standard_normal((d, d))
    X, test = (rng.standard_normal((d, size)) for size in (samples, TESTED))
    g = SumNet.of((target,))
    return target, X, g(X), test, g(test)


@lru_cache(maxsize=64)
def _dense(d: int, seed: int, repeat: int, samples: int, epochs: int) -> SumNet:
    """The trained dense network, which is the same for every frozen network."""
    rng = _random(d, seed, repeat)
    rng.standard_normal((d, d))
    start = rng.standard_normal((d, d)) / np.sqrt(d)
    _, X, y, _, _ = make_task(d, seed, repeat, samples)
    return _trained(SumNet.of((start,)), X, y, WEIGHTS, repeat, epochs)


def _trained(
    net: SumNet, X: np.ndarray, y: np.ndarray, what: str, repeat: int, epochs: int
) -> SumNet:
    return train(net, X, y, what, epochs=epochs, batch=_BATCH, rate=_RATES[ADAM], seed=repeat)


def _by_gradients(net: SumNet, X: np.ndarray, y: np.ndarray, setting: Setting) -> SumNet:
    """Scales and shifts trained by SGD, with the schedule that is best on training samples."""
    found = [
        train(
            net, X, y, NORMALIZATION, method=SGD, schedule=schedule, epochs=setting.epochs,
            batch=_BATCH, rate=_RATES[SGD], seed=setting.repeat,
        )
        for schedule in SCHEDULES
    ]  # fmt: skip
    some = X[:, :_COMPARED], y[:_COMPARED]
    errors = [one.mse(*some) for one in found]
    return found[int(np.argmin(np.where(np.isfinite(errors), errors, np.inf)))]


def run_setting(setting: Setting) -> dict[str, float]:
    """Mean squared test errors of all algorithms, and the variance of the labels.

    Parameters
    ----------
    setting : Setting

    Returns
    -------
    dict of str to float
        Keys `ALGORITHMS` and "variance": the error of the best constant.
    """
    d = setting.d
    target, X, y, test, wanted = make_task(d, setting.seed, setting.repeat, setting.samples)
    # With probability 1 − e^(-18) no Gaussian sample of dimension d is longer.
    radius = np.sqrt(d) + 6
    learned = _dense(d, setting.seed, setting.repeat, setting.samples, setting.epochs)
    W1, W2 = frozen_matrices(setting)
    tuned = _trained(SumNet.of((W1, W2)), X, y, NORMALIZATION, setting.repeat, setting.epochs)
    steepest = _by_gradients(SumNet.of((W1, W2)), X, y, setting)
    from_target = constructed(W1, W2, target, np.zeros(d), radius)
    from_both = constructed(W1, W2, target, np.zeros(d), radius, second_scales=True)
    from_dense = constructed(W1, W2, learned.weights[0], learned.shifts[0], radius)
    return {
        "adam": tuned.mse(test, wanted),
        "sgd": steepest.mse(test, wanted),
        "target": from_target.mse(test, wanted),
        "both": from_both.mse(test, wanted),
        "dense": from_dense.mse(test, wanted),
        "trained": learned.mse(test, wanted),
        "variance": float(wanted.var()),
    }
