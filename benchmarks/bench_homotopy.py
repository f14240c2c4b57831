"""Complete counts by path tracking and by other engines: the same instances, one core, medians.

Run from the top folder::

    python benchmarks/bench_homotopy.py                               # a few minutes
    python benchmarks/bench_homotopy.py --nets rows5 rows6 --instances 1000 --cap 600
    python benchmarks/bench_homotopy.py --nets --growth --plot growth.png

Every engine is called through `numeric.engines.counter.InstanceCounter`, as by users.  Each counts
one instance beforehand, which is not timed: it compiles, and computes the start system.  Then it
counts instances 0, 1, 2, … until all are done or its time (``--cap``) has passed.  Ratios are
medians of an engine's times divided by the median of ours on the same instances.  The process and
its children (phcpy, msolve) are bound to one core.

"complete" is the share of instances with all N solutions found; "matches missed" is the share of
instances with a real solution (by our complete count) for which the first paper's procedure gives
"no match", and "solutions missed" the share of real solutions that it did not find.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from algebra.errors import InputError
from algebra.networks.base import Network
from algebra.networks.feedforward import LinearFeedForward
from algebra.networks.recurrent import LinearRNN
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from numeric.engines.counter import InstanceCounter
from numeric.engines.homotopy import HomotopyEngine
from numeric.trials.counts import COMPLETE, InstanceCount
from numeric.trials.instances import Instance, draw_instance

FIGURE2 = LinearRNN(n=8, T=4, b=1, d=4, m=4)
TWELVE = LinearRNN(n=12, T=6, b=1, d=4, m=6)
TWO_OUT = LinearRNN(n=8, T=4, b=1, d=2, m=4)


def rows(*columns: str) -> list[tuple[str, int, int]]:
    """Cells of W, given as one string of column digits (base 12) for each row."""
    return [("W", i, int(j, 12)) for i, text in enumerate(columns) for j in text]


NETS: dict[str, tuple[Network, list[tuple[str, int, int]]]] = {
    "pair": (LinearRNN(n=2, T=2, b=1, d=1, m=2), rows("0", "1")),
    "layers": (
        LinearFeedForward(q=3, widths=(3,), d=2, m=3),
        [("W1", 0, 0), ("W1", 1, 1), ("W1", 0, 2), ("W2", 0, 0), ("W2", 1, 1), ("W2", 1, 2)],
    ),
    "three": (LinearRNN(n=3, T=3, b=1, d=1, m=2), rows("0", "", "2")),
    "four": (LinearRNN(n=4, T=3, b=1, d=2, m=2), rows("0", "1", "2", "3")),
    # Figure 2a: 16 weights in five rows, and in six (examples/six_rows.toml).
    "rows5": (FIGURE2, rows("1357", "0257", "14", "046", "067")),
    "rows5a": (FIGURE2, rows("0246", "267", "145", "127", "124")),
    "rows6": (FIGURE2, rows("24", "067", "057", "6", "0123", "127")),
    # Drawn as in that figure (seed 0): rows 4 trial 0, rows 7 trial 1, rows 8 trials 38 and 22.
    "rows4": (FIGURE2, rows("0257", "0357", "2357", "1237")),
    "rows7": (FIGURE2, rows("1357", "5", "1", "045", "04", "6", "1236")),
    "rows8": (FIGURE2, rows("26", "3", "02", "0", "1236", "3", "0", "0567")),
    "rows8a": (FIGURE2, rows("17", "1", "6", "0257", "7", "14", "1236", "6")),
    # n = 12: `bench_complete.py`'s trials 0, 2 and 3.
    "twelve0": (TWELVE, rows("02589", "13459", "245ab", "14568b", "126")),
    "twelve2": (TWELVE, rows("345", "04789a", "12479", "2479a", "0679a")),
    "twelve3": (TWELVE, rows("0289ab", "0379ab", "89a", "23569", "0567")),
    # As many cells at random places as equations, N = 12 and 18.
    "five": (LinearRNN(n=5, T=3, b=1, d=2, m=3), rows("3", "1", "", "34", "04")),
    "four18": (LinearRNN(n=4, T=3, b=1, d=2, m=2), rows("0", "13", "2")),
    "diagonal": (TWO_OUT, rows(*"01234567")),
    "shuffled": (TWO_OUT, rows(*"14725036")),
}
# msolve takes minutes for these degrees over GF(p); our engine gets them as an argument.
KNOWN = {"diagonal": 576, "shuffled": 432}
ENGINES = ("homotopy", "phcpy", "exact", "fsolve", "multistart")
# Nets for the table of growth: W has one or two weights in some rows, dm in all.
GROWTH: list[tuple[str, LinearRNN, list[tuple[str, int, int]]]] = [
    ("T=2", LinearRNN(n=8, T=2, b=1, d=2, m=2), rows("03", "14")),
    ("T=3", LinearRNN(n=8, T=3, b=1, d=2, m=3), rows("03", "14", "2", "5")),
    ("T=4", LinearRNN(n=8, T=4, b=1, d=2, m=4), rows("03", "14", "25", "36")),
    ("T=5", LinearRNN(n=8, T=5, b=1, d=2, m=5), rows("036", "147", "25", "36")),
    ("n=4", LinearRNN(n=4, T=4, b=1, d=2, m=4), rows("03", "12", "23", "01")),
    ("n=6", LinearRNN(n=6, T=4, b=1, d=2, m=4), rows("03", "14", "25", "30")),
    ("n=12", LinearRNN(n=12, T=4, b=1, d=2, m=4), rows("03", "14", "25", "36")),
    ("n=16", LinearRNN(n=16, T=4, b=1, d=2, m=4), rows("03", "14", "25", "36")),
    ("r=2", LinearRNN(n=8, T=4, b=1, d=1, m=2), rows("0", "1")),
    ("r=4", LinearRNN(n=8, T=4, b=1, d=2, m=2), rows("03", "1", "2")),
    ("r=12", LinearRNN(n=8, T=4, b=1, d=3, m=4), rows("0146", "027", "34", "156")),
    ("r=16", FIGURE2, rows("1357", "0257", "14", "046", "067")),
    ("N=36", LinearRNN(n=4, T=3, b=1, d=2, m=2), rows("0", "1", "2", "3")),
    ("rows6", FIGURE2, rows("24", "067", "057", "6", "0123", "127")),
    ("shuffled", TWO_OUT, rows(*"14725036")),
]


@dataclass
class Run:
    """The measurements of one engine on one net."""

    engine: str
    counts: list[InstanceCount] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    setup: float = 0.0
    error: str = ""


def run(
    problem: Problem,
    engine: str,
    instances: Sequence[Instance],
    cap: float,
    known: int | None = None,
) -> Run:
    """Count instances by one engine for `cap` seconds; our own may get N."""
    done = Run(engine)
    with InstanceCounter(problem, engine, timeout=cap) as counter:
        then = time.perf_counter()
        count_many: Callable[[Sequence[Instance]], list[InstanceCount]] = counter.count_many
        try:
            if known and engine == "homotopy":
                count_many = HomotopyEngine(problem, root_count=known).count_many
            else:
                counter.prepare()
            count_many([draw_instance(problem, instances[0].seed + 1, 0)])
        except InputError as error:
            done.error = str(error).split(";")[0]
            return done
        done.setup = time.perf_counter() - then
        began = time.perf_counter()
        at, size = 0, 1
        while at < len(instances) and time.perf_counter() - began < cap:
            batch = instances[at : at + size]
            then = time.perf_counter()
            counts = count_many(batch)
            wall = time.perf_counter() - then
            done.counts += counts
            # Instances of a batch share work: its wall time is divided by the engine's times.
            used = sum(c.seconds for c in counts)
            done.seconds += [c.seconds * wall / used if used else wall / size for c in counts]
            at += len(batch)
            size = 50 if engine == "homotopy" else 1
    return done


def root_count(problem: Problem, name: str) -> int | None:
    """N, from the list or by algebra."""
    if name in KNOWN:
        return KNOWN[name]
    with InstanceCounter(problem, "homotopy") as counter:
        return counter.plan(problem.allocation).root_count


def compare(name: str, engines: Sequence[str], instances: int, seed: int, cap: float) -> list[dict]:
    """One row for each engine on one net."""
    network, cells = NETS[name]
    problem = Problem.of(Allocation.from_cells(network, cells))
    N = root_count(problem, name)
    drawn = [draw_instance(problem, seed, k) for k in range(instances)]
    ours = run(problem, "homotopy", drawn, cap, KNOWN.get(name))
    table = []
    for engine in ("homotopy", *(e for e in engines if e != "homotopy")):
        other = ours if engine == "homotopy" else run(problem, engine, drawn, cap)
        row: dict[str, Any] = {"net": name, "N": N, "r": problem.allocation.size, "engine": engine}
        if other.error or not other.counts:
            row["note"] = other.error or "nothing done in its time"
            table.append(row)
            continue
        both = min(len(other.counts), len(ours.counts))
        pairs = list(zip(ours.counts[:both], other.counts[:both], strict=True))
        sure = [(a, b) for a, b in pairs if a.status == COMPLETE]
        paths = sum(c.paths + c.retried for c in other.counts)
        row |= {
            "instances": len(other.counts),
            "median_ms": 1e3 * statistics.median(other.seconds),
            "mean_ms": 1e3 * statistics.fmean(other.seconds),
            "ratio": statistics.median(other.seconds[:both])
            / statistics.median(ours.seconds[:both]),
            "complete": sum(c.status == COMPLETE for c in other.counts) / len(other.counts),
            "wrong": sum(a.real != b.real for a, b in sure if b.status == COMPLETE)
            + sum((b.real or 0) > (a.real or 0) for a, b in sure if b.status != COMPLETE),
            "setup_s": other.setup,
        }
        if engine == "homotopy":
            row["ms_per_path"] = 1e3 * sum(other.seconds) / max(paths, 1)
        if engine in ("fsolve", "multistart"):
            matched = [b for a, b in sure if a.real]
            if matched:
                missed = sum(not (b.paper_match or b.real) for b in matched)
                row["matches_missed"] = missed / len(matched)
                real = sum(a.real or 0 for a, _ in sure)
                row["solutions_missed"] = 1 - sum(b.real or 0 for _, b in sure) / real
        table.append(row)
        print(f"{name}: {engine} done ({len(other.counts)} instances)", file=sys.stderr)
    return table


def solve_seconds(r: int) -> tuple[float, float]:
    """Time of a complex r×r linear solve by LAPACK, and of its flops at the speed of a GEMM."""
    rng = np.random.default_rng(0)
    count = max(1, 200_000 // r**3)
    A = rng.standard_normal((count, r, r)) + 1j * rng.standard_normal((count, r, r))
    b = A[:, :, :1]
    big = rng.standard_normal((400, 400))
    solve, gemm = float("inf"), float("inf")
    for _ in range(5):
        then = time.perf_counter()
        np.linalg.solve(A, b)
        solve = min(solve, (time.perf_counter() - then) / count)
        then = time.perf_counter()
        big @ big
        gemm = min(gemm, (time.perf_counter() - then) / (2 * 400**3))
    return solve, (8 / 3 * r**3 + 8 * r**2) * gemm


def growth(instances: int, seed: int, cap: float) -> list[dict]:
    """Time by path and by instance over nets of growing T, n, r and N."""
    table = []
    for name, network, cells in GROWTH:
        problem = Problem.of(Allocation.from_cells(network, cells))
        N = root_count(problem, name)
        if N is None or N < 2:
            continue
        drawn = [draw_instance(problem, seed, k) for k in range(instances)]
        done = run(problem, "homotopy", drawn, cap, KNOWN.get(name))
        if not done.counts:
            continue
        r = problem.allocation.size
        solve, flops = solve_seconds(r)
        path = sum(done.seconds) / max(1, sum(c.paths + c.retried for c in done.counts))
        table.append(
            {
                "net": name, "n": problem.network.shapes["W"][0], "T": network.T, "r": r, "N": N,
                "instances": len(done.counts),
                "median_ms": 1e3 * statistics.median(done.seconds),
                "ms_per_path": 1e3 * path,
                "solve_us": 1e6 * solve,
                "flops_us": 1e6 * flops,
                "path_in_solves": path / solve,
                "path_in_flops": path / flops,
                "complete": sum(c.status == COMPLETE for c in done.counts) / len(done.counts),
            }
        )  # fmt: skip
        print(f"{name} done", file=sys.stderr)
    return table


def show(table: list[dict]) -> None:
    """Print rows with the same columns, numbers with three digits."""
    keys = list(dict.fromkeys(key for row in table for key in row))

    def text(value: Any) -> str:
        if value is None:
            return ""
        return f"{value:.4g}" if isinstance(value, float) else str(value)

    lines = [keys, *([text(row.get(key)) for key in keys] for row in table)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(keys))]
    for line in lines:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))


def draw(table: list[dict], target: Path) -> None:
    """Time of a path by r with that of its linear solve, and of an instance by N."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    by_r = sorted(table, key=lambda row: row["r"])
    r = [row["r"] for row in by_r]
    left.loglog(r, [1e3 * row["ms_per_path"] for row in by_r], "o", label="one path")
    left.loglog(r, [row["solve_us"] for row in by_r], "-", label="one linear solve, LAPACK")
    left.loglog(r, [row["flops_us"] for row in by_r], "--", label="its flops at GEMM speed")
    left.set(xlabel="learnable weights r", ylabel="microseconds")
    left.legend()
    by_n = sorted(table, key=lambda row: row["N"])
    N = [row["N"] for row in by_n]
    right.loglog(N, [row["median_ms"] for row in by_n], "o", label="one instance, median")
    limit = [row["N"] * row["solve_us"] / 1e3 for row in by_n]
    right.loglog(N, limit, "-", label="N linear solves")
    for row in by_n:
        right.annotate(row["net"], (row["N"], row["median_ms"]), fontsize=7)
    right.set(xlabel="complex solutions N", ylabel="milliseconds")
    right.legend()
    figure.savefig(target, dpi=150)
    print(f"wrote {target}", file=sys.stderr)


def main() -> None:
    """Read the options, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nets", nargs="*", choices=list(NETS), default=["pair", "three", "four"])
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--instances", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cap", type=float, default=20.0, help="seconds an engine has on a net")
    parser.add_argument("--growth", action="store_true", help="how time grows with T, n, r and N")
    parser.add_argument("--plot", type=Path, help="picture of the growth")
    parser.add_argument("--json", type=Path, help="write the tables to this file too")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    results: dict[str, list[dict]] = {}
    if options.nets:
        results["engines"] = []
        for name in options.nets:
            results["engines"] += compare(
                name, options.engines, options.instances, options.seed, options.cap
            )
        show(results["engines"])
    if options.growth or options.plot:
        results["growth"] = growth(options.instances, options.seed, options.cap)
        show(results["growth"])
        if options.plot:
            draw(results["growth"], options.plot)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
