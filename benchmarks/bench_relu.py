"""Time of decisions of shallow ReLU instances, by size, and of SCIP on the same instances.

    python benchmarks/bench_relu.py                   # n = k = 8, 12, 16: median, mean, 99 %, max
    python benchmarks/bench_relu.py --scip 40         # SCIP too, on the first 40 of each size
    python benchmarks/bench_relu.py --certify 40      # all leaves refuted over Q, on the first 40

Nets of Figure 3b: q = 6, d = 4, m = 6, 24 weights of W1 in k = n rows.  Seconds are processor
time.
"""

from __future__ import annotations

import argparse
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.problem import Problem
from algebra.problems.random_cells import RandomCells
from numeric.plugins.relu.decide import decide
from numeric.plugins.relu.decision import UNDETERMINED
from numeric.trials.instances import draw_instance


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[8, 12, 16])
    parser.add_argument("--instances", type=int, default=200)
    parser.add_argument("--scip", type=int, default=0)
    parser.add_argument("--certify", type=int, default=0)
    options = parser.parse_args()
    print(
        "n = k   who        instances  matched  undetermined     median        mean"
        "        99 %         max"
    )
    for n in options.sizes:
        cells = RandomCells(budget=24, rows=n)
        problem = Problem(ShallowReLU(q=6, n=n, d=4, m=6), {"W1": cells})
        instances = [draw_instance(problem, 0, i) for i in range(options.instances)]
        for certify in (False, True):
            decide(draw_instance(problem, 1, 0), certify=certify)
        ours = _timed(n, "ours", instances, lambda i: decide(i).verdict)
        if options.certify:
            some = instances[: options.certify]
            _timed(n, "certified", some, lambda i: decide(i, certify=True).verdict)
        if options.scip:
            from tests.numeric.plugins.relu.scip_oracle import scip_verdict

            some = instances[: options.scip]
            peer = _timed(n, "scip", some, lambda i: scip_verdict(i)[0])
            both = [
                (ours[0][k], peer[0][k])
                for k in range(len(some))
                if UNDETERMINED not in (ours[0][k], peer[0][k])
            ]
            wrong = sum(a != b for a, b in both)
            ratio = np.median(peer[1]) / np.median(ours[1][: len(some)])
            print(f"{n:>5}   SCIP's median is {ratio:.0f} of ours; {wrong} of {len(both)} differ")


def _timed(n, who, instances, answer):
    verdicts, seconds = [], []
    for instance in instances:
        began = time.process_time()
        verdicts.append(answer(instance))
        seconds.append(time.process_time() - began)
    ms = 1e3 * np.array(seconds)
    matched, open_ = (verdicts.count(word) for word in ("match", UNDETERMINED))
    print(
        f"{n:>5}   {who:<10} {len(instances):>9}  {matched:>7}  {open_:>12}  "
        f"{np.median(ms):>6.1f} ms  {ms.mean():>7.1f} ms  {np.quantile(ms, 0.99):>6.0f} ms"
        f"  {ms.max():>7.0f} ms",
        flush=True,
    )
    return verdicts, seconds


if __name__ == "__main__":
    main()
