"""Figure 2a's n = 8 curve: time of a study, and of the paper's method on the same trials.

    python benchmarks/bench_figure2.py [--trials 1000] [--baseline 50] [--workers 2] [--rows 5 6]
    python benchmarks/bench_figure2.py --trees OLD NEW [--trials 40] [--points 16/6 12/8]

Both are run as a study without a store, with the same workers; fsolve computes the first
`--baseline` instances of each point, and its time is scaled to `--trials` (the table says so).

With `--trees` the first trials of points of the figure are computed in two checkouts, one after the
other (`git worktree add OLD REVISION`): CPU seconds a trial, kernels loaded before, each trial with
an allocation of its own and no store.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from bench_complete import call
from matchprob.plugins.papers.figures.papers.paper1_linear import _lrnn_points

from numeric.statistics.estimate import Estimate
from numeric.studies.study import Study

# n and rows of Figure 2a's points that two checkouts are compared on, and the batch of one tree.
POINTS = ["16/5", "16/6", "16/8", "16/10", "16/16", "12/5", "12/8", "12/12", "8/5", "8/6"]
_TRIALS = """
import json, sys, time
sys.path.insert(0, "benchmarks")
from bench_complete import figure2
from numeric.studies.trials import TrialSeries, compute_trials
n, rows, count = map(int, sys.argv[1:])
work = TrialSeries.of(figure2(n, rows), root_timeout=20.0)
compute_trials(work, [10_000])
out = []
for k in range(count):
    then = time.process_time()
    [found] = compute_trials(work, [k])
    out.append([found.outcome, time.process_time() - then])
print(json.dumps(out))
"""


def compare_trees(trees: list[Path], points: list[str], trials: int) -> int:
    """Print CPU seconds of a trial in two trees; 1 if an outcome of one contradicts the other."""
    differ = 0
    print("n/rows  CPU s a trial, mean (median): old, new     ratio  matched  undetermined")
    for point in points:
        words = [*point.split("/"), str(trials)]
        both = [call(tree, _TRIALS, *words) for tree in trees]
        differ += sum({a[0], b[0]} == {"matched", "unmatched"} for a, b in zip(*both, strict=True))
        times = [[row[1] for row in rows] for rows in both]
        old, new = (f"{statistics.mean(t):.3f} ({statistics.median(t):.3f})" for t in times)
        counts = [
            " ".join(str(sum(row[0] == word for row in rows)) for rows in both)
            for word in ("matched", "undetermined")
        ]
        ratio = sum(times[0]) / sum(times[1])
        print(
            f"{point:>6}  {old:>15} {new:>15} {ratio:18.1f}  {counts[0]:>8} {counts[1]:>8}",
            flush=True,
        )
    print(f"outcomes that contradict each other: {differ}")
    return int(differ > 0)


def run(problem, engine: str, trials: int, workers: int, **settings) -> tuple[Estimate, float]:
    """An estimate, and its seconds without the workers' start."""
    with Study(problem, engine=engine, workers=workers, **settings) as study:
        study.run(min(trials, 2 * workers))  # interpreters start, kernels are loaded
        began = time.perf_counter()
        found = study.run(trials)
        return found, time.perf_counter() - began


def main() -> int:
    """Print one line for each point, and the totals."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, help="1000; 40 with --trees")
    parser.add_argument("--baseline", type=int, default=50)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rows", type=int, nargs="+", default=[4, 5, 6, 7, 8])
    parser.add_argument("--trees", type=Path, nargs=2, help="two checkouts")
    parser.add_argument("--points", nargs="+", default=POINTS, help="with --trees: n/rows")
    options = parser.parse_args()
    if options.trees:
        trees = [tree.resolve() for tree in options.trees]
        return compare_trees(trees, options.points, options.trials or 40)
    options.trials = options.trials or 1000
    ours_total = theirs_total = 0.0
    print("rows  ours: MP [95 %]            open     s   fsolve: found/tried  missed  s, scaled")
    for point in _lrnn_points(8, 4):
        if round(8 * point.x) not in options.rows:
            continue
        ours, seconds = run(
            point.problem, "homotopy", options.trials, options.workers, **point.settings
        )
        base, spent = run(point.problem, "fsolve", options.baseline, options.workers, certify=False)
        scaled = spent * options.trials / options.baseline
        ours_total += seconds
        theirs_total += scaled
        pairs = zip(ours.counts, base.counts, strict=False)
        missed = sum(a.outcome == "matched" and b.outcome != "matched" for a, b in pairs)
        i = ours.interval()
        share = ours.matched / ours.trials
        print(
            f"{round(8 * point.x):4d}  {share:.4f} [{i.low:.4f}, {i.high:.4f}]  "
            f"{ours.undetermined:4d}  {seconds:6.1f}   {base.matched:4d}/{base.trials:<4d}"
            f"            {missed:4d}   {scaled:8.1f}",
            flush=True,
        )
    print(
        f"total: ours {ours_total:.0f} s, fsolve {theirs_total:.0f} s for {options.trials} trials "
        f"a point (scaled from {options.baseline}): {theirs_total / ours_total:.1f} times as long"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
