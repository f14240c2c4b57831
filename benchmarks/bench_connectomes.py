"""What is determined in circuits of a connectome's size: CPU seconds, memory and answer.

Run: ``python benchmarks/bench_connectomes.py [--units 300 1000 5000]``.

A circuit has one gain for each pair of cell types that are connected, one bias and one leak for
each type, tanh, 20 steps and 20 samples.  ``identify`` is given two outputs at all steps;
``record`` chooses the neurons that determine the activity of all.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time

import numpy as np
from scipy.sparse import coo_array

import matchprob as mp
from algebra.memory_limits import limited_memory

# Synapses, cell types, and pairs of types that are connected.
SIZES = {300: (9_000, 10, 40), 1000: (100_000, 20, 200), 5000: (1_000_000, 65, 604)}


def circuit(n: int, synapses: int, types: int, pairs: int, seed: int = 0) -> mp.Problem:
    """A random circuit."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, types, n)
    number = np.zeros(types * types, int)
    number[rng.permutation(types * types)[:pairs]] = np.arange(1, pairs + 1)
    tries = int(1.3 * synapses * types * types / pairs)
    post, pre = rng.integers(0, n, tries), rng.integers(0, n, tries)
    there = number[kind[post] * types + kind[pre]] > 0
    places = rng.permutation(np.unique(post[there] * n + pre[there]))[:synapses]
    post, pre = np.divmod(np.sort(places), n)
    groups = coo_array((number[kind[post] * types + kind[pre]], (post, pre)), shape=(n, n))
    wiring = coo_array((np.ones(len(post), int), (post, pre)), shape=(n, n))
    inputs, outputs = np.zeros((n, 3), int), np.zeros((2, n), int)
    inputs[rng.permutation(n)[: n // 5]] = 1
    outputs[:, rng.permutation(n)[: n // 5]] = 1
    net = mp.RNN(n=n, T=20, b=3, d=2, m=20, biases=True, leak="learnable", read="all")
    tied = {"tied": (kind + 1)[:, None]}
    learnable = {"W": {"gain": "cells", "groups": groups}, "c": tied, "leak": tied}
    return mp.Problem(net, learnable, {"W": wiring, "B": inputs, "D": outputs})


def one(verb: str, n: int) -> None:
    """Print one row of the table."""
    problem = circuit(n, *SIZES[n])
    start = time.process_time()
    if verb == "identify":
        answer = str(mp.identify(problem, timeout=3000)).partition("\n")[0]
    else:
        found = mp.record(problem, "units", target="units", timeout=3000)
        answer = str(found).partition("\n")[0]
    used = time.process_time() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"n = {n}, {SIZES[n][0]} synapses, {problem.learning.size} parameters, {verb}: "
        f"{used:.0f} s of CPU, {memory:.1f} GB; {answer}", flush=True,
    )  # fmt: skip


def limited(verb: str, n: int) -> None:
    """`one` with a limit of its memory."""
    with limited_memory(4 << 30):
        one(verb, n)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, nargs="*", default=list(SIZES), choices=list(SIZES))
    for n in parser.parse_args().units:
        for verb in ("identify", "record"):
            # Each in a process of its own, for the peak of its memory.
            process = multiprocessing.get_context("spawn").Process(target=limited, args=(verb, n))
            process.start()
            process.join()


if __name__ == "__main__":
    main()
