"""CPU time and memory of the verbs that ranks decide, for circuits of 100, 302 and 1,000 neurons.

Run: ``python benchmarks/bench_verbs.py [--units 100 302]``; every row is a process of its own.

A sparse circuit with tanh, T = 5, b = d = 10, m = 20: of 12 synapses for each neuron one learns, or
all may learn (`design`).  The row `svd` is NumPy's `matrix_rank` of the Jacobian of what learns, in
doubles at random normal weights of variance 1/n (the default law), compared with the exact
rank that `certify` uses; `svd, T = 40` is the same of the linear network with 40 steps, b = d = 2
and m = 90, whose labels depend on powers of W up to 40.  The time includes forming the Jacobian.
`robust` is asked about all synapses that exist.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import matchprob as mp
from algebra.ranks.generic_rank import allocation_rank
from benchmarks.bench_scale import in_doubles
from matchprob.api.proofs.formats import format_of

LIMIT = 100.0
CERTIFICATE = format_of("matchprob-certificate")


def whole(problem: mp.Problem) -> mp.Problem:
    """All synapses that exist learn."""
    return mp.Problem(problem.network, dict(problem.support), problem.support)


def certificate(problem: mp.Problem) -> dict[str, Any]:
    """What verify reads."""
    return mp.certify(problem, timeout=LIMIT).to_dict()


def certify(problem: mp.Problem) -> str:
    """The verdict."""
    found = mp.certify(problem, timeout=LIMIT)
    return f"{found.verdict}, rank {found.rank} of {found.equations}"


def everything(problem: mp.Problem) -> str:
    """The cheapest design among all synapses that exist."""
    found = mp.design(whole(problem), timeout=LIMIT)
    return f"{found.allocation.size} synapses, optimal: {found.is_optimal}"


def recorded(problem: mp.Problem) -> str:
    """The fewest units to record."""
    found = mp.record(problem, "units", seconds=LIMIT)
    return f"{len(found.recorded)} units, at least {found.bound}"


def doubles(problem: mp.Problem) -> str:
    """The rank in doubles."""
    rank = in_doubles(problem.network, problem.allocation.cells, dict(problem.support))
    return f"rank {rank}"


VERBS: dict[str, Callable[[Any], str]] = {
    "inspect": lambda problem: f"{mp.inspect(problem, timeout=LIMIT).learnable} weights learn",
    "certify": certify,
    # In this process, so that its time is measured.
    "verify": lambda data: f"holds: {CERTIFICATE.verify(data).holds}",
    "identify": lambda problem: f"{mp.identify(problem, timeout=LIMIT).fibre.dimension} free",
    "robust": lambda problem: str(mp.robust(whole(problem), seconds=20)),
    "record": recorded,
    "design": everything,
    "svd": doubles,
    "svd, T = 40": doubles,
}


def measured(verb: str, n: int) -> str:
    """One row, in this process."""
    rng = np.random.default_rng(0)
    support, mask = np.zeros((n, n), int), np.zeros((n, n), int)
    places = rng.choice(n * n, 12 * n, replace=False)
    support.flat[places] = 1
    mask.flat[rng.choice(places, n, replace=False)] = 1
    net: Any = mp.RNN(n=n, T=5, b=10, d=10, m=20, activation="tanh")
    if verb == "svd, T = 40":
        net = mp.LinearRNN(n=n, T=40, b=2, d=2, m=90)
    problem = mp.Problem(net, {"W": mask}, {"W": support})
    given: Any = certificate(problem) if verb == "verify" else problem
    began = time.process_time()
    text = VERBS[verb](given)
    seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    if verb.startswith("svd"):
        zeros = dict(problem.support)
        text += f", exact {allocation_rank(problem.allocation, zeros, net.outputs).rank}"
    return f"{verb:12s} {n:5d}  {seconds:6.1f} s  {peak:5.2f} GiB  {text}"


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
            print(last if done.returncode == 0 else f"{verb:12s} {n:5d}  {last}", flush=True)


if __name__ == "__main__":
    main()
