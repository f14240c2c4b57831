"""CPU time and memory of the verbs that ranks decide, for circuits of 100, 302 and 1,000 neurons.

Run: ``python benchmarks/bench_verbs.py [--units 100 302]``; every row is a process of its own.

A sparse circuit with tanh, T = 5, b = d = 10, m = 20: of 12 synapses for each neuron one learns, or
all may learn (`design`).  `benchmarks/bench_scale.py` measures ranks alone, and compares them with
a singular value decomposition in doubles.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time

import numpy as np

import matchprob as mp

VERBS = ("certify", "identify", "record", "design")


def measured(verb: str, n: int) -> str:
    """One row, in this process."""
    rng = np.random.default_rng(0)
    support, mask = np.zeros((n, n), int), np.zeros((n, n), int)
    places = rng.choice(n * n, 12 * n, replace=False)
    support.flat[places] = 1
    mask.flat[rng.choice(places, n, replace=False)] = 1
    net = mp.RNN(n=n, T=5, b=10, d=10, m=20, activation="tanh")
    problem = mp.Problem(net, {"W": mask}, {"W": support})
    began = time.process_time()
    if verb == "certify":
        found = mp.certify(problem, timeout=100)
        text = f"{found.verdict}, rank {found.rank} of {found.equations}"
    elif verb == "identify":
        free = mp.identify(problem, timeout=100)
        text = free.document().title
    elif verb == "record":
        chosen = mp.record(problem, "units", seconds=100)
        text = f"{len(chosen.recorded)} units, at least {chosen.bound}"
    else:
        everything = mp.Problem(net, {"W": support}, {"W": support})
        best = mp.design(everything, timeout=100)
        text = f"{best.allocation.size} synapses, optimal: {best.is_optimal}"
    seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    return f"{verb:8s} {n:5d}  {seconds:6.1f} s  {peak:5.2f} GiB  {text}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--units", type=int, nargs="+", default=[100, 302, 1000])
    parser.add_argument("--row", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.row:
        print(measured(options.row[0], int(options.row[1])), flush=True)
        return
    for n in options.units:
        for verb in VERBS:
            done = subprocess.run(
                [sys.executable, __file__, "--row", verb, str(n)],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            last = (done.stdout or done.stderr).strip().splitlines()[-1]
            print(last if done.returncode == 0 else f"{verb:8s} {n:5d}  {last}", flush=True)


if __name__ == "__main__":
    main()
