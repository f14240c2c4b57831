"""``make demo``: the six allocations of the papers' example network, from inspection to estimate.

Paper 1, section B.1.1: a linear RNN with n = 2, T = 2, b = d = 1, m = 2 and two
learnable weights in W.  Each allocation is inspected and certified; if the verdict is
"intermediate" its match probability is estimated by counting real roots, with certificates.
"""

from __future__ import annotations

import argparse
import os
import sys
from itertools import combinations
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from rich.console import Console
from rich.text import Text

from algebra.certificates.certificate import Certificate
from algebra.checker.verdicts import INTERMEDIATE
from algebra.networks.recurrent import LinearRNN
from algebra.problems.allocation import Allocation
from algebra.problems.mask_pictures import mask_rows
from algebra.problems.problem import Problem
from algebra.systems.inspection import Inspection
from matchprob.api import certify as exact
from matchprob.api.estimate import estimate as estimate_of
from matchprob.cli import run_command
from matchprob.cli.options import console, say
from matchprob.io import files
from matchprob.io.progress import progress
from matchprob.report.documents import STYLES, table
from matchprob.report.drawing import pictures
from matchprob.report.drawing.palette import ABSENT, VERDICTS
from numeric.statistics.document import interval_text
from numeric.statistics.estimate import Estimate

NETWORK = LinearRNN(n=2, T=2, b=1, d=1, m=2)
CELLS = [(0, 0), (0, 1), (1, 0), (1, 1)]
NAMES = {
    ((0, 0), (0, 1)): "row 0",
    ((1, 0), (1, 1)): "row 1",
    ((0, 0), (1, 0)): "column 0",
    ((0, 1), (1, 1)): "column 1",
    ((0, 0), (1, 1)): "diagonal",
    ((0, 1), (1, 0)): "off-diagonal",
}

Row = tuple[str, Inspection, Certificate, Estimate | None]


def six_allocations() -> list[tuple[str, Problem]]:
    """The six choices of two of the four weights of W, with their names."""
    found = []
    for pair in combinations(CELLS, 2):
        allocation = Allocation.from_cells(NETWORK, [("W", i, j) for i, j in pair])
        found.append((NAMES[pair], Problem.of(allocation)))
    return sorted(found, key=lambda item: list(NAMES.values()).index(item[0]))


def examine(trials: int, seed: int) -> list[Row]:
    """Inspect and certify each allocation; estimate the intermediate ones.

    Where no progress bar is seen, a line on stderr tells of each allocation that is done.
    """
    rows: list[Row] = []
    for name, problem in six_allocations():
        structure = exact.inspect(problem, seed=seed)
        verdict = exact.certify(problem, seed=seed)
        estimate = None
        if verdict.verdict == INTERMEDIATE:
            with progress(name, trials) as advance:
                estimate = estimate_of(problem, trials, seed=seed, advance=advance)
        rows.append((name, structure, verdict, estimate))
        if not sys.stderr.isatty():
            found = "" if estimate is None else f", {interval_text(estimate)}"
            say(f"{name}: {verdict.verdict}{found}")
    return rows


def print_rows(out: Console, rows: list[Row]) -> None:
    """The table."""
    grid = table(
        "allocation", "W", "core", "N", "verdict", "match probability", "trials", "undecided",
        right=("N", "trials", "undecided"),
    )  # fmt: skip
    for name, structure, verdict, estimate in rows:
        form = structure.forms[0]
        core = (
            f"degree {form.core_degree} ({form.form})"
            if form.core_equations
            else f"linear ({form.form})"
        )
        known = {"maximal": "1, certified", "minimal": "0, certified"}
        grid.add_row(
            name,
            Text("\n".join(mask_rows(structure.allocation, "W")), style="cyan"),
            core,
            str(verdict.generic_root_count),
            Text(verdict.verdict, style=STYLES[verdict.verdict]),
            known.get(verdict.verdict, "") if estimate is None else interval_text(estimate),
            "" if estimate is None else str(estimate.trials),
            "" if estimate is None else str(estimate.undetermined),
        )
    out.print(grid)


def draw_demo(rows: list[Row]) -> Figure:
    """Masks coloured by verdict, and the match probabilities with their intervals."""
    figure = Figure(figsize=(8.4, 3.8))
    # Space for the title above those of the masks: parts outside the figure are not saved.
    grid = figure.add_gridspec(2, len(rows), height_ratios=(1, 2.4), hspace=0.32, top=0.8)
    below = figure.add_subplot(grid[1, :])
    for k, (name, structure, verdict, estimate) in enumerate(rows):
        colour = VERDICTS[verdict.verdict]
        axes = figure.add_subplot(grid[0, k])
        for (i, j), value in _entries(structure.allocation):
            axes.add_patch(
                Rectangle((j, -i), 0.92, -0.92, facecolor=colour if value else ABSENT, lw=0)
            )
        axes.set_xlim(-0.04, 1.96)
        axes.set_ylim(-1.96, 0.04)
        axes.set_aspect("equal")
        axes.set_axis_off()
        axes.set_title(f"{name}\n{verdict.verdict}", fontsize=8, color=colour)
        if estimate is None:
            level = 1.0 if verdict.verdict == "maximal" else 0.0
            below.bar(k, level, color=colour, width=0.6)
            below.text(k, level + 0.02, "certified", ha="center", fontsize=8)
        elif estimate.estimate is not None:
            interval, share = estimate.interval(), estimate.estimate
            below.bar(k, share, color=colour, width=0.6, alpha=0.55, hatch="//", edgecolor="white")
            below.errorbar(
                k, share, [[share - interval.low], [interval.high - share]],
                color="black", capsize=4, lw=1.2,
            )  # fmt: skip
            below.text(k, interval.high + 0.02, f"{share:.3f}", ha="center", fontsize=8)
    below.set_ylim(0, 1.13)
    below.set_xlim(-0.5, len(rows) - 0.5)
    below.set_xticks([])
    below.set_ylabel("match probability")
    below.spines[["top", "right", "bottom"]].set_visible(False)
    figure.suptitle(f"{NETWORK}", fontsize=9, y=0.98)
    return figure


def _entries(allocation: Allocation) -> list[tuple[tuple[int, int], int]]:
    return [((i, j), int(allocation.masks["W"][i, j])) for i, j in CELLS]


def main(argv: list[str] | None = None) -> int:
    """Run the demo; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m matchprob.demo", description=__doc__)
    parser.add_argument("--trials", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--picture", type=Path, default=Path("out/demo.png"))
    options = parser.parse_args(argv)

    def work() -> int:
        start = sum(os.times()[:4])
        out = console()
        options.picture.parent.mkdir(parents=True, exist_ok=True)
        files.check_outputs([], plot=options.picture)
        out.print(Text(f"{NETWORK}; two weights of W learn (paper 1, section B.1.1)", "bold"))
        rows = examine(options.trials, options.seed)
        print_rows(out, rows)
        pictures.save(draw_demo(rows), options.picture)
        out.print(
            f"\nseed {options.seed}, {sum(os.times()[:4]) - start:.1f} s of processor time; "
            f"picture: {options.picture}"
        )
        return 0

    return run_command(work)


if __name__ == "__main__":
    sys.exit(main())
