"""Share of the machine's peak that the tracker in the free inputs reaches, part by part.

Run from the top folder::

    python benchmarks/bench_flops.py              # Figure 2a's nets of n = 12, seed 5

Operations are counted from the tape's loops (`numeric.equations.lanes.inputs`): a complex
multiply-add is 8, one in pairs of doubles 72, an entry of the LU factors is counted where
elimination fills it.  The peak is that of NumPy's matrix product on one core, in the same run.  The
table has, allocation by allocation, N, milliseconds and rounds a path, operations a round, and the
share of each part of a round in the operations.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from algebra.systems.root_count import generic_root_count
from benchmarks.bench_complete import figure2
from numeric.engines.homotopy import HomotopyEngine
from numeric.equations.inputs import InputsForm, inputs_form
from numeric.equations.lanes.inputs import InputsWriter, make_inputs
from numeric.tracking.inputs.tracker import InputsLines
from numeric.tracking.kernel import track_system
from numeric.tracking.settings import TrackerSettings
from numeric.tracking.steps import Lines, PathOutcomes
from numeric.trials.instances import draw_instance

_PRODUCT, _PAIR_PRODUCT = 8, 72


def operations(form: InputsForm, order: int) -> dict[str, int]:
    """Floating-point operations of one round of one path, part by part."""
    n, T, b, e = form.shape
    q, cells, rows = form.unknowns, len(form.cells), len(form.rows)
    filled = np.zeros((q, q), bool)
    for row, (i, k, _) in enumerate(InputsWriter(form, 0).equations):
        filled[row, np.flatnonzero(form.cells[:, 0] == i)] = True
        filled[row, cells : cells + (k + 1) * e * b] = True
    eliminated = 0
    for k in range(q):
        right = filled[k, k + 1 :]
        below = np.flatnonzero(filled[k + 1 :, k]) + k + 1
        eliminated += len(below) * (1 + int(right.sum()))
        filled[below, k + 1 :] |= right
    response = n * b * e * T * (T + 1) // 2
    residual = rows * T * b * n
    solve = int(filled.sum())
    series = order * (2 * response + 2 * residual + solve)
    series += cells * T * b * order * (order - 1) // 2
    pairs = 2 * (4 * form.size + _PAIR_PRODUCT * (response + residual))
    return {
        "Taylor": _PRODUCT * (series + response),
        "LU twice": _PRODUCT * 2 * (eliminated + rows * T * e * n),
        "Newton in pairs": pairs + _PRODUCT * 2 * solve,
        "Padé, prediction": _PRODUCT * (49 * q + order * q),
    }


def peak() -> float:
    """Operations per second of a matrix product."""
    A = np.random.default_rng(0).random((1200, 1200))
    best = 0.0
    for _ in range(5):
        then = time.perf_counter()
        A @ A
        best = max(best, 2 * 1200**3 / (time.perf_counter() - then))
    return best


def run(lines: InputsLines, starts: np.ndarray) -> tuple[float, PathOutcomes]:
    """Seconds of the kernel, and the status of each path."""
    paths = len(starts)
    settings = TrackerSettings().for_inputs
    system = make_inputs(lines.form, settings.order)
    none = np.zeros(paths, np.int64)
    x = lines.enter(none, starts)
    roots = np.empty_like(x)
    seconds = np.inf
    for _ in range(3):
        outcome = PathOutcomes(
            none.copy(), none.copy(), none.copy(), np.zeros(paths), np.zeros(paths)
        )
        then = time.process_time()
        track_system(
            system, settings, Lines(*lines.vectors, none, none, x), roots, roots[:, :0], outcome
        )
        seconds = min(seconds, time.process_time() - then)
    return seconds, outcome


def main() -> None:
    """Read the options, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--trials", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    options = parser.parse_args()
    problem = figure2(12, 5)
    ours, most = [], peak()
    print(f"matrix product: {most / 1e9:.1f} GFlop/s")
    for trial in options.trials:
        allocation = draw_instance(problem, options.seed, trial).allocation
        count = generic_root_count(allocation, problem.support).value
        engine = HomotopyEngine(problem, allocation, root_count=count, cache=False)
        form = inputs_form(engine.chain)
        if form is None:
            print(f"{trial}: not in the free inputs")
            continue
        rng = np.random.default_rng(trial)
        aim, _ = engine.chain.random(rng)
        one = np.zeros(1, np.int64)
        lines = InputsLines(form, engine.start.parameters[None], aim[None], one, one)
        seconds, outcome = run(lines, engine.start.roots)
        parts = operations(form, TrackerSettings().for_inputs.order)
        rounds, total = int(outcome.steps.sum()), sum(parts.values())
        ours.append(rounds * total / seconds)
        shares = ", ".join(f"{name} {100 * value / total:.0f} %" for name, value in parts.items())
        print(
            f"{trial}: N {count}, {1e3 * seconds / count:.2f} ms and {rounds / count:.0f} rounds a "
            f"path, {total / 1e3:.0f} thousand operations a round ({shares}): "
            f"{ours[-1] / 1e9:.1f} GFlop/s, {100 * ours[-1] / most:.0f} % of the matrix product"
        )
    print(f"median {np.median(ours) / 1e9:.1f} GFlop/s")


if __name__ == "__main__":
    main()
