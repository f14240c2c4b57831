"""Networks of two hidden ReLU layers: the share of trials that is decided, for ten allocations.

    python benchmarks/bench_deep_relu.py [TRIALS]

Prints for each allocation its weights by layer, trials matched, unmatched and undetermined, and
milliseconds of CPU a trial.  Figures of `docs/relu.md`.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from matchprob import FeedForward, Problem, draw_instance
from numeric.plugins.relu.complementarity import ComplementarityEngine
from numeric.trials.counts import COMPLETE


def problem(n: int, m: int, d: int, by_layer: tuple[int, ...], seed: int) -> Problem:
    """A net n-n-n-d with so many random learnable weights of each layer."""
    net = FeedForward(q=n, widths=(n, n), d=d, m=m, activation="relu")
    rng, masks = np.random.default_rng(seed), {}
    for layer, count in enumerate(by_layer, 1):
        shape = net.shapes[f"W{layer}"]
        mask = np.zeros(shape, int)
        mask.ravel()[rng.permutation(mask.size)[:count]] = 1
        if count:
            masks[f"W{layer}"] = mask.tolist()
    return Problem(net, masks)


CASES = (
    (2, 2, 1, (2, 0, 0)), (3, 3, 1, (3, 0, 0)), (3, 3, 1, (0, 3, 0)), (4, 4, 1, (4, 0, 0)),
    (4, 4, 1, (0, 4, 0)), (4, 4, 2, (8, 0, 0)), (2, 2, 1, (1, 1, 0)), (2, 2, 1, (1, 0, 1)),
    (3, 3, 1, (1, 1, 1)), (4, 4, 1, (2, 1, 1)),
)  # fmt: skip


def main(trials: int) -> None:
    print("n  m  d  W1 W2 W3  matched unmatched undetermined  ms")
    for number, (n, m, d, by_layer) in enumerate(CASES):
        case, engine = problem(n, m, d, by_layer, number), ComplementarityEngine()
        began, seen = time.process_time(), [0, 0, 0]
        for index in range(trials):
            count = engine.count(draw_instance(case, 0, index))
            seen[0 if count.real else 1 if count.status == COMPLETE else 2] += 1
        spent = 1000 * (time.process_time() - began) / trials
        layers = "  ".join(map(str, by_layer))
        print(f"{n}  {m}  {d}  {layers}  {seen[0]:7} {seen[1]:9} {seen[2]:12}  {spent:.0f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
