"""Complete counts by path tracking: time by net, and how many instances stay undetermined.

Run from the top folder::

    python benchmarks/bench_homotopy.py                      # small: a minute or two
    python benchmarks/bench_homotopy.py --instances 1000 --nets rows5a rows6a

Times are processor times of one thread, compilation and start systems excluded; medians over
instances where it says so.  The generic root counts come from elimination and msolve where it
is installed, else from the list below (made the same way).
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from algebra.allocation import Allocation
from algebra.networks import LinearRNN
from algebra.problem import Problem
from numeric.homotopy import HomotopyEngine
from numeric.instances import draw_instance
from numeric.tracker import Settings, track

FIGURE2 = LinearRNN(n=8, T=4, b=1, d=4, m=4)
TWO_OUT = LinearRNN(n=8, T=4, b=1, d=2, m=4)
SMALL = LinearRNN(n=4, T=3, b=1, d=2, m=2)


def rows(*columns: str) -> list[tuple[str, int, int]]:
    """Cells of W given as one string of column digits a row."""
    return [("W", i, int(j)) for i, text in enumerate(columns) for j in text]


# name: network, cells, generic root count.
NETS = {
    "n4": (SMALL, rows("0", "1", "2", "3"), 36),
    "rows5a": (FIGURE2, rows("0246", "267", "145", "127", "124"), 24),
    "rows5b": (FIGURE2, rows("0123", "4567", "0246", "135", "7"), 4),
    "rows6a": (FIGURE2, rows("026", "34", "134", "026", "27", "156"), 204),
    "diagonal": (TWO_OUT, rows(*"01234567"), 576),
    "shuffled": (TWO_OUT, rows(*"14725036"), 432),
}


def known_count(allocation: Allocation, listed: int | None) -> int | None:
    """The generic root count: listed, or by elimination."""
    if listed is not None:
        return listed
    try:
        from algebra.rootcount import generic_root_count

        return generic_root_count(allocation).value
    except Exception as error:  # an optional program is missing: the count is then unproved
        print(f"{allocation}: {error}", file=sys.stderr)
        return None


def bench(name: str, instances: int, seed: int) -> list[str]:
    """One line of the table."""
    network, cells, listed = NETS[name]
    allocation = Allocation.from_cells(network, cells)
    problem = Problem.of(allocation)
    then = time.process_time()
    engine = HomotopyEngine(problem, root_count=known_count(allocation, listed))
    setup = time.process_time() - then
    engine.count([draw_instance(problem, seed + 1, 0)])  # compiles
    drawn = [draw_instance(problem, seed, k) for k in range(instances)]
    counts = engine.count(drawn)
    # Tracking alone, for the time of a path.
    N = engine.start.root_count
    some = drawn[: max(1, min(instances, 4000 // N))]
    which = np.repeat(np.arange(len(some)), N)
    ends = np.array([engine.chain.parameters(i) for i in some])
    then = time.process_time()
    tracked = track(
        engine.chain, engine.start.parameters[None], ends, 0 * which, which,
        np.tile(engine.start.roots, (len(some), 1)), Settings(),
    )  # fmt: skip
    path = (time.process_time() - then) / len(which)
    undetermined = sum(c.status != "complete" for c in counts)
    retried = sum(c.retried for c in counts) / sum(c.paths for c in counts)
    seconds = np.array([c.seconds for c in counts])
    return [
        name,
        str(N),
        str(engine.chain.unknowns),
        str(instances),
        f"{path * 1e3:.3f}",
        f"{tracked.steps.mean():.0f}",
        f"{(tracked.status != 0).mean() * 100:.1f}",
        f"{np.median(seconds) * 1e3:.1f}",
        f"{seconds.mean() * 1e3:.1f}",
        f"{retried * 100:.0f}",
        f"{undetermined / instances * 100:.2f}",
        f"{np.mean([c.real > 0 for c in counts if c.status == 'complete']):.3f}",
        f"{setup:.1f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--instances", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--nets", nargs="+", choices=list(NETS), default=["n4", "rows5a", "rows6a"])
    options = parser.parse_args()
    head = [
        "net", "N", "r", "instances", "ms/path", "steps", "% failed", "ms median", "ms mean",
        "% retried", "% undetermined", "matched", "start s",
    ]  # fmt: skip
    lines = [head]
    for name in options.nets:
        lines.append(bench(name, options.instances, options.seed))
        print(f"{name} done", file=sys.stderr)
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    for line in lines:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))


if __name__ == "__main__":
    main()
