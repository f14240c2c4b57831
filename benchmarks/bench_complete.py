"""CPU time of complete counts at n = 12 without any cached data, phase by phase.

Run from the top folder::

    python benchmarks/bench_complete.py                          # seed 5, trials 0 … 4
    python benchmarks/bench_complete.py --seed 6 --trials 0 1 2  # other allocations
    python benchmarks/bench_complete.py --trees OLD NEW          # two checkouts on four nets
    python benchmarks/bench_complete.py --trees OLD NEW --random 300   # on random nets

Figure 2a's nets with n = 12, T = m = 6, b = 1, d = 4: 24 weights of W in `--rows` rows, at most six
a row, one allocation drawn for each trial.  The table has the CPU seconds (children included) of
the root count over two prime fields, of the start system and of one real instance, the number of
paths and of those tracked again.  No cache is read or written.  Kernels are compiled before the
clock starts.

With `--trees` the table has one row for each net of `TREES`: CPU milliseconds of an instance, the
mean of a batch and the median, in two checkouts one after the other (`git worktree add OLD
REVISION`), their ratio, and the seconds of phcpy's blackbox solver and of msolve on the first of
the same instances.  Status 1 if two complete counts of one instance differ.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from algebra.networks.recurrent import LinearRNN
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.problems.random_cells import RandomCells
from algebra.systems.root_count import RootCountError, generic_root_count
from numeric.engines.homotopy import HomotopyEngine
from numeric.trials.instances import draw_instance
from numeric.warm_up import GROUPS, warm_up

# Names in `bench_homotopy.NETS`, N, and the number of instances.
TREES = {"twelve2": (120, 10), "twelve3": (60, 20), "five": (12, 400), "four18": (18, 400)}
# A batch in the tree that is the current folder, the least CPU seconds of some repeats.
_BATCH = """
import json, sys, time
from algebra.networks.recurrent import LinearRNN
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from numeric.engines.homotopy import HomotopyEngine
from numeric.trials.instances import draw_instance
sizes, cells, known, count = json.loads(sys.argv[1])
problem = Problem.of(Allocation.from_cells(LinearRNN(**sizes), [tuple(c) for c in cells]))
engine = HomotopyEngine(problem, root_count=known, cache=False)
drawn = [draw_instance(problem, 0, k) for k in range(count)]
engine.count_many([draw_instance(problem, 1, 0)])
least = float("inf")
for _ in range(2):
    then = time.process_time()
    counts = engine.count_many(drawn)
    least = min(least, time.process_time() - then)
print(json.dumps([least, [[c.status, c.real, c.complex, c.seconds] for c in counts]]))
"""
# Complete counts of one instance each of random nets, n = 3 … 8, of at most 200 solutions.
_RANDOM = """
import json, random, sys
from algebra.errors import InputError
from algebra.networks.recurrent import LinearRNN
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.systems.root_count import RootCountError, generic_root_count
from numeric.engines.homotopy import HomotopyEngine
from numeric.trials.instances import draw_instance
out, k = [], 0
while len(out) < int(sys.argv[1]):
    k += 1
    rng = random.Random(f"complete/{k}")
    n, T, d = rng.randint(3, 8), rng.randint(2, 4), rng.randint(1, 3)
    net = LinearRNN(n=n, T=T, b=1, d=d, m=rng.choice((T, T, rng.randint(1, 3))))
    if not 2 <= net.outputs <= n * n:
        continue
    places = rng.sample([("W", i, j) for i in range(n) for j in range(n)], net.outputs)
    problem = Problem.of(Allocation.from_cells(net, sorted(places)))
    try:
        known = generic_root_count(problem.allocation, timeout=5.0).value
        if not 2 <= known <= 200:
            continue
        engine = HomotopyEngine(problem, root_count=known, cache=False)
        [count] = engine.count_many([draw_instance(problem, 0, 0)])
    except (InputError, RootCountError):
        continue
    out.append([k, count.status, count.real, count.complex])
print(json.dumps(out))
"""


def call(tree: Path, code: str, *words: str) -> list:
    """What Python code prints as JSON, run in a tree."""
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=tree, env={**os.environ, "PYTHONPATH": str(tree)}, text=True, check=True,
        stdout=subprocess.PIPE,
    )  # fmt: skip
    return json.loads(done.stdout)


def compare_random(trees: list[Path], nets: int) -> int:
    """Print how many complete counts of random nets differ between two trees."""
    old, new = (call(tree, _RANDOM, str(nets)) for tree in trees)
    both = [(a, b) for a, b in zip(old, new, strict=True) if a[1] == b[1] == "complete"]
    differ = sum(a != b for a, b in both) + sum(a[0] != b[0] for a, b in zip(old, new, strict=True))
    complete = [sum(row[1] == "complete" for row in rows) for rows in (old, new)]
    print(f"{nets} random nets: complete {complete[0]} and {complete[1]}, differ {differ}")
    return int(differ > 0)


def batch(tree: Path, name: str) -> tuple[float, list[list]]:
    """CPU seconds of a batch of one net in a tree, and its counts."""
    from bench_homotopy import NETS

    network, cells = NETS[name]
    sizes = {key: getattr(network, key) for key in ("n", "T", "b", "d", "m")}
    known, count = TREES[name]
    words = json.dumps([sizes, cells, known, count])
    spent, counts = call(tree, _BATCH, words)
    return spent, counts


def compare_trees(trees: list[Path], nets: list[str], cap: float) -> int:
    """Print the table of two trees and of two other engines; returns the exit status."""
    from bench_homotopy import NETS, run, show

    table, differ = [], 0
    for name in nets:
        known, count = TREES[name]
        (old, before), (new, after) = (batch(tree, name) for tree in trees)
        row = {"net": name, "N": known, "old_ms": 1e3 * old / count, "new_ms": 1e3 * new / count}
        row["ratio"] = old / new
        medians = [1e3 * statistics.median(c[3] for c in counts) for counts in (before, after)]
        row["old_median"], row["new_median"] = medians
        row["median_ratio"] = medians[0] / medians[1]
        row["complete"] = f"{sum(c[0] == 'complete' for c in after)}/{count}"
        problem = Problem.of(Allocation.from_cells(*NETS[name]))
        drawn = [draw_instance(problem, 0, k) for k in range(10)]
        others = [before]
        for engine in ("phcpy", "exact"):
            found = run(problem, engine, drawn, cap)
            row[f"{engine}_s"] = statistics.median(found.seconds) if found.seconds else None
            good = sum(c.status == "complete" for c in found.counts)
            row[f"{engine}_complete"] = f"{good}/{len(found.counts)}" if found.counts else "-"
            others.append([[c.status, c.real, c.complex] for c in found.counts])
        for counts in others:
            pairs = zip(counts, after, strict=False)
            both = [(a, b) for a, b in pairs if a[0] == b[0] == "complete"]
            differ += sum(a[1:3] != b[1:3] for a, b in both)
        table.append(row)
        show(table[-1:])
    print()
    show(table)
    print(f"complete counts that differ: {differ}")
    return int(differ > 0)


def cpu() -> float:
    """CPU seconds of this process and its finished children."""
    t = os.times()
    return t.user + t.system + t.children_user + t.children_system


def figure2(n: int, rows: int) -> Problem:
    """Figure 2a's net with n neurons, d = 4, its weights drawn in this number of rows."""
    T = n // 2
    network = LinearRNN(n=n, T=T, b=1, d=4, m=T)
    cells = RandomCells(budget=4 * T, rows=rows, max_per_row=T, max_per_column=min(4 * T, n))
    return Problem(network, {"W": cells})


def measure(problem: Problem, seed: int, trial: int, known: int | None, instances: int) -> dict:
    """One allocation: its root count, its start system, some real instances."""
    first = draw_instance(problem, seed, trial)
    allocation = first.allocation
    row: dict = {"trial": trial}
    then = cpu()
    if known is None:
        known = generic_root_count(allocation, problem.support).value
        row["roots_s"] = cpu() - then
    row["N"] = known
    then = cpu()
    engine = HomotopyEngine(problem, allocation, root_count=known, cache=False)
    row["start_s"] = cpu() - then
    row["loops"] = engine.start.loops
    for k in range(instances):
        instance = first if k == 0 else None
        if instance is None:
            fixed = Problem.of(allocation, support=problem.support)
            instance = draw_instance(fixed, seed, 1000 + k)
        then = cpu()
        count = engine.count_many([instance])[0]
        for key, value in {
            "count_s": cpu() - then, "paths": count.paths, "retried": count.retried,
        }.items():  # fmt: skip
            row[key] = row.get(key, 0) + value
        row["open"] = row.get("open", 0) + (count.status != "complete")
        row.setdefault("real", []).append(count.real)
    row["ms_path"] = 1e3 * row["count_s"] / row["paths"]
    return row


def main() -> int:
    """Read the options, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--n", type=int, default=12)
    parser.add_argument("--rows", type=int, default=5)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--trials", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--instances", type=int, default=1, help="real instances an allocation")
    parser.add_argument("--counts", type=Path, help="file of root counts already known, and kept")
    parser.add_argument("--trees", type=Path, nargs=2, help="two checkouts")
    parser.add_argument("--random", type=int, help="with --trees: so many random nets instead")
    parser.add_argument("--nets", nargs="+", choices=list(TREES), default=list(TREES))
    parser.add_argument("--cap", type=float, default=60.0, help="seconds of another engine a net")
    options = parser.parse_args()
    if options.trees:
        trees = [tree.resolve() for tree in options.trees]
        if options.random:
            return compare_random(trees, options.random)
        return compare_trees(trees, options.nets, options.cap)
    problem = figure2(options.n, options.rows)
    failed = warm_up(list(GROUPS))
    if failed:
        raise SystemExit("\n".join(failed))
    # The compiled kernels are loaded.
    for group in ("tracker", "certification"):
        GROUPS[group]()
    kept = {}
    if options.counts and options.counts.exists():
        kept = json.loads(options.counts.read_text())
    rows = []
    for trial in options.trials:
        key = f"{options.n}/{options.rows}/{options.seed}/{trial}"
        try:
            row = measure(problem, options.seed, trial, kept.get(key), options.instances)
        except RootCountError as error:
            print(f"{trial}: {error}", flush=True)
            continue
        kept[key] = row["N"]
        rows.append(row)
        print(
            "  ".join(
                f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()
            ),
            flush=True,
        )
        if options.counts:
            options.counts.write_text(json.dumps(kept))
    for key in ("roots_s", "start_s", "count_s", "ms_path"):
        values = [row[key] for row in rows if key in row]
        if values:
            print(f"median {key}: {statistics.median(values):.3g}")
    again = sum(row["retried"] for row in rows) / sum(row["paths"] for row in rows)
    print(f"tracked again: {100 * again:.1f} %, open: {sum(row['open'] for row in rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
