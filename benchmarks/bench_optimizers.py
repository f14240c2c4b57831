"""Rates of the optimizers: the errors and the share of matches that training reaches with each.

    python benchmarks/bench_optimizers.py [TRIALS]        # students of four small networks
    python benchmarks/bench_optimizers.py --relu [TRIALS] # the engines of Figure 3b
    python benchmarks/bench_optimizers.py --normalization # second paper, Figure 4

The first table has the share of runs from the students' own weights whose relative error is below
1e-6 after the default number of steps, for recurrent networks, a tanh network and that of the first
paper's Figure 3b (n = 8); there also the share of runs with a mean squared error below 0.01, the
paper's criterion.  The second has, for the engines `sgd`, `adam` and `adahessian` on the networks
of Figure 3b from `STARTS` random starts, the median over trials of the least mean squared error,
and the shares of trials in which it is below 0.01 and in which an end has the activation pattern of
a match.  The third has test errors after one pass over a million samples.
"""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

import numpy as np

import matchprob as mp
from numeric.plugins.relu.decide import witness_at
from numeric.plugins.training.optimizers import STEPS, TRIED, random_starts
from numeric.programs.descent import OPTIMIZERS
from numeric.programs.losses import MSE, Loss
from numeric.programs.students import Students, starts_of

EXAMPLES = Path(__file__).parents[1] / "examples"
FILES = ("diagonal.toml", "row.toml", "tanh.toml", "relu_figure.toml")
RATES = {
    "gd": (0.03, 0.1, 0.3),
    "sgd": (0.003, 0.01, 0.03, 0.1),
    "adam": (0.003, 0.01, 0.03, 0.1),
    "adahessian": (0.05, 0.15, 0.5, 1.0),
}
RELU_RATES = {
    "sgd": (0.03, 0.1, 0.3, 1.0),
    "adam": (0.01, 0.03, 0.1, 0.3),
    "adahessian": (0.05, 0.15, 0.5, 1.0),
}
STARTS = 20


def students(trials: int) -> None:
    """Shares of runs that end at a small error, for each network, optimizer and rate."""
    for name in FILES:
        problem = mp.load_problem(EXAMPLES / name)
        instances = [mp.draw_instance(problem, 0, k) for k in range(trials)]
        starts = np.concatenate([starts_of(one, 1) for one in instances])
        loss = Loss(Students.of(instances))
        size = (loss.students.Y**2).mean(axis=(1, 2))
        for method, rates in RATES.items():
            chosen = OPTIMIZERS[method]
            for rate in rates:
                mse = chosen.descend(loss, starts, chosen.steps, rate).mse
                mse = np.where(np.isfinite(mse), mse, np.inf)
                print(
                    f"{name:<18} {method:<11} rate {rate:<6} error < 1e-6: "
                    f"{(mse < 1e-12 * size).mean():.3f}   MSE < 0.01: {(mse < MSE).mean():.3f}",
                    flush=True,
                )


def relu(trials: int) -> None:
    """Least errors of the engines for ReLU networks, for each optimizer and rate."""
    problem = mp.load_problem(EXAMPLES / "relu_figure.toml")
    instances = [mp.draw_instance(problem, 0, k) for k in range(trials)]
    loss = Loss(Students.of(instances, STARTS))
    starts = np.concatenate([random_starts(one, STARTS) for one in instances])
    for method, rates in RELU_RATES.items():
        for rate in rates:
            with np.errstate(over="ignore", invalid="ignore"):
                found = OPTIMIZERS[method].descend(loss, starts, STEPS, rate)
            mse = np.where(np.isfinite(found.mse), found.mse, np.inf).reshape(trials, STARTS)
            ends = found.ends.reshape(trials, STARTS, -1)
            matched = [
                witness_at(one, own[np.argsort(errors)[:TRIED]]) is not None
                for one, own, errors in zip(instances, ends, mse, strict=True)
            ]
            least = mse.min(axis=1)
            print(
                f"{method:<11} rate {rate:<6} median of least MSE {np.median(least):.3g}   "
                f"MSE < 0.01: {(least < MSE).mean():.3f}   matched: {np.mean(matched):.3f}",
                flush=True,
            )


def normalization() -> None:
    """Test errors of scales and shifts trained by SGD, for each rate and schedule."""
    from matchprob.plugins.papers.figures.papers.normalization_training import (
        NORMALIZATION,
        SCHEDULES,
        SGD,
        train,
    )

    from matchprob.plugins.papers.figures.papers import normalization_experiment as experiment

    for d, width, density in ((5, 25, 1), (25, 100, 1), (25, 625, 1), (25, 625, 0.05)):
        one = experiment.Setting(d, width, density)
        _, X, y, test, wanted = experiment.make_task(d, 0, 0, one.samples)
        net = experiment.SumNet.of(experiment.frozen_matrices(one))
        for rate, schedule in product((0.003, 0.01, 0.03, 0.05, 0.1), SCHEDULES):
            with np.errstate(over="ignore", invalid="ignore"):
                found = train(
                    net, X, y, NORMALIZATION, method=SGD, schedule=schedule, epochs=1, batch=128,
                    rate=rate,
                )  # fmt: skip
                print(
                    f"d = {d:<3} w = {width:<4} density {density:<5} rate {rate:<6} "
                    f"{schedule:<12} {found.mse(test, wanted):.4g}",
                    flush=True,
                )


if __name__ == "__main__":
    if "--normalization" in sys.argv:
        normalization()
    else:
        trials = next((int(a) for a in sys.argv[1:] if a.isdigit()), None)
        relu(trials or 50) if "--relu" in sys.argv else students(trials or 200)
