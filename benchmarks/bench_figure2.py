"""Figure 2a's n = 8 curve: time of a study, and of the paper's method on the same trials.

    python benchmarks/bench_figure2.py [--trials 1000] [--baseline 50] [--workers 2] [--rows 5 6]

Both are run as a study without a store, with the same workers; fsolve computes the first
`--baseline` instances of each point, and its time is scaled to `--trials` (the table says so).
"""

from __future__ import annotations

import argparse
import time

from matchprob.figures.papers.paper1_linear import _lrnn_points

from numeric.statistics.estimate import Estimate
from numeric.studies.study import Study


def run(problem, engine: str, trials: int, workers: int, **settings) -> tuple[Estimate, float]:
    """An estimate, and its seconds without the workers' start."""
    with Study(problem, engine=engine, workers=workers, **settings) as study:
        study.run(min(trials, 2 * workers))  # interpreters start, kernels are loaded
        began = time.perf_counter()
        found = study.run(trials)
        return found, time.perf_counter() - began


def main() -> None:
    """Print one line for each point, and the totals."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--baseline", type=int, default=50)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rows", type=int, nargs="+", default=[4, 5, 6, 7, 8])
    options = parser.parse_args()
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


if __name__ == "__main__":
    main()
