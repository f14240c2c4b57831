"""The fewest hidden units to record: how long the search takes, and how far it gets.

    python benchmarks/bench_record.py [--seconds 120] [--units 64 128]
    python benchmarks/bench_record.py --circuit

Recurrent networks, T = b = d = 4, m = 16, plastic synapses at random places; also with a random
cost of each unit, where the bound does not meet the greedy choice at once.  ``--circuit``: 302
units, 3,600 synapses of which 1,052 or all are plastic, T = 10, d = 80, each row with its memory
and the time of the check of its proof.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time

import numpy as np

import matchprob as mp
from algebra.plugins.circuits.verify import RECORDING

# Kind, inputs b, samples m and plastic synapses r.
CIRCUITS = [
    ("tanh", 20, 60, 1_052), ("tanh", 20, 8, 1_052), ("linear", 20, 60, 1_052),
    ("tanh", 20, 60, 3_600),
]  # fmt: skip


def circuit(kind: str, b: int, m: int, r: int, *, n: int = 302, exist: int = 3_600) -> str:
    """One line of a large circuit, in a process of its own."""
    rng = np.random.default_rng(0)
    support, mask = np.zeros((n, n), int), np.zeros((n, n), int)
    places = rng.choice(n * n, exist, replace=False)
    support.flat[places] = 1
    mask.flat[rng.choice(places, r, replace=False)] = 1
    sizes = {"n": n, "T": 10, "b": b, "d": 80, "m": m}
    net = mp.LinearRNN(**sizes) if kind == "linear" else mp.RNN(**sizes, activation=kind)
    began = time.process_time()
    first_choices: list[str] = []
    found = mp.record(
        mp.Problem(net, {"W": mask}, {"W": support}), "units", seconds=300.0,
        first=lambda choice: first_choices.append(
            f"{choice} ({time.process_time() - began:.1f} s)"
        ),
    )  # fmt: skip
    middle = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    holds = RECORDING.verify(found.proof_file()).holds
    return (
        f"{kind:6s} {n} {r} b={b:2d} m={m:2d}: {'; '.join(first_choices[:1])}; "
        f"{len(found.recorded)} recorded, bound {found.bound}, rank {found.rank.rank}, "
        f"{middle - began:.1f} s, "
        f"{peak:.2f} GiB; proof holds: {holds}, "
        f"{time.process_time() - middle:.1f} s"
    )


def main() -> None:
    """Print one line a network."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--units", type=int, nargs="+", default=[64])
    parser.add_argument("--circuit", action="store_true")
    parser.add_argument("--row", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.row:
        kind, b, m, r = options.row.split(",")
        print(circuit(kind, int(b), int(m), int(r)))
        return
    if options.circuit:
        for row in CIRCUITS:
            given = ",".join(map(str, row))
            subprocess.run([sys.executable, __file__, "--row", given], check=True)
        return
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
