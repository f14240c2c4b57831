"""The fewest hidden units to record: how long the search takes, and how far it gets.

    python benchmarks/bench_record.py [--seconds 120] [--units 64 128]

Recurrent networks, T = b = d = 4, m = 16, plastic synapses at random places; also with a random
cost of each unit, where the bound does not meet the greedy choice at once.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import matchprob as mp


def main() -> None:
    """Print one line a network."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--units", type=int, nargs="+", default=[64])
    options = parser.parse_args()
    print("kind     n  weights  costs   recorded  cost  bound  leaves  CPU s")
    for n in options.units:
        sizes = {"n": n, "T": 4, "b": 4, "d": 4, "m": 16}
        nets = {"linear": mp.LinearRNN(**sizes), "tanh": mp.RNN(**sizes, activation="tanh")}
        for kind, net in nets.items():
            for share in (0.03, 0.1):
                rng = np.random.default_rng(1)
                mask = (rng.random((n, n)) < share).astype(int)
                prices = {f"unit {k}": int(c) for k, c in enumerate(rng.integers(5, 30, n))}
                for name, costs in (("1 each", {}), ("random", prices)):
                    began = time.process_time()
                    found = mp.record(
                        mp.Problem(net, {"W": mask}), "units", costs=costs,
                        seconds=options.seconds,
                    )  # fmt: skip
                    taken = time.process_time() - began
                    leaves = len(found.evidence.leaves)
                    print(
                        f"{kind:6s} {n:3d}  {mask.sum():7d}  {name:6s}  {len(found.recorded):8d}  "
                        f"{found.cost!s:>4s}  {found.bound!s:>5s}  {leaves:6d}  {taken:5.1f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
