"""Instances of networks with activations that have no match because labels are out of reach.

    python benchmarks/label_reach.py                  # the table of docs/activations.md

Seconds are processor time; reports only.
"""

from __future__ import annotations

import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from algebra.families.activations.reach import LabelReach
from matchprob import RNN, FeedForward, Problem
from numeric.families.activations.reach import separated_labels
from numeric.trials.instances import draw_instance

INSTANCES = 100
WIDE = {"q": 4, "widths": (8,), "d": 4, "m": 8, "biases": True}
STEPS = {"n": 4, "T": 3, "b": 2, "d": 2, "m": 5, "activation": "tanh"}
NETS = (
    (FeedForward(q=3, widths=(4,), d=2, m=5, activation="tanh", biases=True), "W1"),
    (FeedForward(q=3, widths=(4,), d=1, m=4, activation="tanh"), "W1"),
    (FeedForward(**WIDE, activation="sigmoid"), "W1"),
    (FeedForward(**WIDE, activation="softplus"), "W1"),
    (RNN(**STEPS), "W"),
    (RNN(**STEPS, read="all"), "W"),
)


def main() -> None:
    """Print a table."""
    print("| net | learn | excluded | ms |\n|---|---|---|---|")
    for network, name in NETS:
        problem = Problem(network, {name: np.ones(network.shapes[name], int)})
        reach = LabelReach.of(problem)
        drawn = [draw_instance(problem, 0, k) for k in range(INSTANCES)]
        began = time.process_time()
        excluded = sum(separated_labels(reach, one) is not None for one in drawn)
        spent = 1e3 * (time.process_time() - began) / INSTANCES
        print(f"| {network} | {name} | {excluded} | {spent:.1f} |", flush=True)


if __name__ == "__main__":
    main()
