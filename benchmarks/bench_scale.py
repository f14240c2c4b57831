"""Ranks of circuits of 100, 302 and 1,000 neurons: processor time and memory, and by doubles.

Run: ``python benchmarks/bench_scale.py [--large]``; every row is a process of its own, so that the
memory is that of the row.  ``--large`` adds n = 1,000 (two to three minutes).

The circuit is a random recurrent network: of n² synapses some exist, some of these learn.  A row
has the ranks of the whole network (all synapses) and of the learnable synapses, and for comparison
the rank of the learnable ones by a singular value decomposition in doubles (NumPy's `matrix_rank`
of the Jacobian at random normal weights scaled by 1/√n), if the matrix has at most 20 million
entries.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

from algebra.networks.base import Network
from algebra.networks.recurrent import LinearRNN
from algebra.networks.rnn import RNN
from algebra.problems.allocation import Allocation
from algebra.ranks.generic_rank import allocation_rank, network_rank

# Activation, sizes n, T, b, d, m, synapses that exist, synapses that learn.
ROWS = [
    ("linear", 100, 8, 10, 20, 50, 1_000, 400),
    ("tanh", 100, 8, 10, 20, 50, 1_000, 400),
    ("linear", 302, 8, 20, 80, 100, 3_600, 1_052),
    ("tanh", 302, 8, 20, 80, 100, 3_600, 1_052),
    ("linear", 1_000, 20, 20, 50, 200, 10_000, 1_000),
]
LARGE = [
    ("tanh", 1_000, 8, 20, 50, 100, 10_000, 1_000),
    ("linear", 1_000, 20, 20, 50, 200, 10_000, 10_000),
]
_LARGEST = 20_000_000


def in_doubles(network: Network, cells: tuple[Any, ...], support: dict[str, np.ndarray]) -> int:
    """The rank of the learnable synapses, in doubles."""
    rng = np.random.default_rng(1)
    weights = {
        name: rng.standard_normal(shape) / shape[1] ** 0.5 for name, shape in network.shapes.items()
    }
    weights = {name: w * support.get(name, 1) for name, w in weights.items()}
    X = rng.standard_normal(network.input_shape)
    if isinstance(network, RNN):
        J = network.jacobian(weights, X, cells)
        return int(np.linalg.matrix_rank(J.astype(float)))
    assert isinstance(network, LinearRNN)
    L, R = network.tangents(weights, X, ["W"])["W"]
    J = np.stack([np.einsum("sk,sc->kc", L[:, :, i], R[:, j]).ravel() for _, i, j in cells], axis=1)
    return int(np.linalg.matrix_rank(J))


def measured(row: tuple[Any, ...]) -> dict[str, Any]:
    """One row, in this process."""
    kind, n, T, b, d, m, exist, learn = row
    rng = np.random.default_rng(0)
    places = rng.choice(n * n, exist, replace=False)
    synapses, learning = np.zeros((n, n), int), np.zeros((n, n), int)
    synapses.flat[places] = 1
    learning.flat[rng.choice(places, learn, replace=False)] = 1
    network: Network = LinearRNN(n, T, b, d, m)
    if kind != "linear":
        network = RNN(n, T, b, d, m, activation=kind)
    allocation, support = Allocation.from_masks(network, W=learning), {"W": synapses}
    start = time.process_time()
    whole = network_rank(network, support)
    middle = time.process_time()
    own = allocation_rank(allocation, support, whole.rank)
    end = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    doubles, seconds = None, 0.0
    if network.outputs * learn <= _LARGEST:
        begun = time.process_time()
        doubles = in_doubles(network, allocation.cells, support)
        seconds = time.process_time() - begun
    return {
        "whole": whole.rank,
        "own": own.rank,
        "error": str(own.error),
        "seconds": (middle - start, end - middle),
        "peak": peak,
        "doubles": doubles,
        "doubles seconds": seconds,
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="also n = 1,000 with all synapses")
    parser.add_argument("--row", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.row:
        print(json.dumps(measured(tuple(json.loads(options.row)))))
        return
    print("network, n, T, b, d, m, synapses, learning | rank of rank | s + s, GiB | doubles, s")
    for row in ROWS + LARGE * options.large:
        command = [sys.executable, __file__, "--row", json.dumps(row)]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found = json.loads(text)
        first, second = found["seconds"]
        doubles = "too large" if found["doubles"] is None else found["doubles"]
        print(
            f"{', '.join(map(str, row)):48} | {found['own']:6} of {found['whole']:6} | "
            f"{first:6.1f} + {second:6.1f}, {found['peak']:5.2f} | {doubles}, "
            f"{found['doubles seconds']:.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
