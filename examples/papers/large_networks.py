"""What MP tends to as a linear RNN grows: limits of all small digraphs of cells, and the way there.

The first paper (section 3.3) anticipates that "for large networks the match probability for all
allocations will approach 1".  For a fixed number r of learnable weights of W it has a limit that
depends on the digraph of their cells (`algebra.networks.large`), and the limit may be below 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from algebra.errors import InputError
from algebra.networks.recurrent import LinearRNN
from algebra.problems.problem import Problem
from algebra.systems.growth import limit_of
from matchprob.api.estimate import estimate
from matchprob.figures import Numbers, Run, register_figure
from matchprob.figures.curves import FigureLayout
from matchprob.figures.tables import Row, Rows, Tables, cell_number, groups, markdown_table
from matchprob.report.drawing.palette import SERIES
from matchprob.report.drawing.style import heading, tidy

Cells = tuple[tuple[int, int], ...]
# The digraphs of the picture, T = r, b = d = 1.
CURVES: dict[str, Cells] = {
    "3 disjoint cells": ((0, 1), (2, 3), (4, 5)),
    "diagonal of 3": ((0, 0), (1, 1), (2, 2)),
    "3-cycle": ((0, 1), (1, 2), (2, 0)),
    "path of 2, and a cell": ((0, 1), (1, 2), (3, 4)),
    "2 loops": ((0, 0), (1, 1)),
    "loop, and a cell": ((0, 0), (1, 2)),
}
_SIZES = (8, 16, 32, 64)
# r, and T, b, d of the tables of all digraphs; m = r / d.
_TABLES = ((1, 2, 1, 1), (2, 2, 1, 1), (2, 3, 1, 1), (2, 4, 1, 1), (3, 3, 1, 1), (3, 4, 1, 1),
           (2, 2, 2, 2), (2, 3, 2, 2))  # fmt: skip


def digraphs(r: int) -> list[Cells]:
    """All sets of r cells up to a renaming of the units, with as few units as possible.

    Examples
    --------
    >>> [len(digraphs(r)) for r in (1, 2, 3)]
    [2, 9, 37]
    """
    level: set[Cells] = {()}
    for _ in range(r):
        level = {_least((*cells, cell)) for cells in level for cell in _more(cells)}
    return sorted(level)


def _more(cells: Cells) -> Iterator[tuple[int, int]]:
    units = len({unit for cell in cells for unit in cell})
    for i in range(units + 1):
        for j in range(units + 1 + (i == units)):
            if (i, j) not in cells:
                yield i, j


def _least(cells: Cells) -> Cells:
    units = sorted({unit for cell in cells for unit in cell})
    named = (dict(zip(units, order, strict=True)) for order in permutations(range(len(units))))
    return min(tuple(sorted((name[i], name[j]) for i, j in cells)) for name in named)


def problem_of(cells: Cells, n: int, T: int, b: int = 1, d: int = 1) -> Problem:
    """A linear RNN in which these cells of W learn, with as many labels as cells."""
    mask = np.zeros((n, n), np.int8)
    mask[tuple(np.array(cells).T)] = 1
    return Problem(LinearRNN(n=n, T=T, b=b, d=d, m=len(cells) // d), {"W": mask})


def _measured(run: Run, problem: Problem, limit: bool) -> dict[str, Any]:
    found = estimate(
        problem, run.trials, seed=run.seed, store=run.store, workers=run.workers, limit=limit
    )
    interval = found.interval()
    return {
        "trials": found.trials, "matched": found.matched, "unmatched": found.unmatched,
        "undetermined": found.undetermined, "low": round(interval.low, 4),
        "high": round(interval.high, 4), "certified": int(found.certified is not None),
    }  # fmt: skip


def _table(run: Run) -> Rows:
    """The limits of all digraphs: N of each growth, and MP."""
    rows = []
    for r, T, b, d in run.some(_TABLES):
        for cells in run.some(digraphs(r)):
            problem = problem_of(cells, max(2 * r, T * b, T * d), T, b, d)
            text = " ".join(f"{i}{j}" for i, j in cells)
            row: dict[str, Any] = {"cells": text, "r": r, "T": T, "b": b, "d": d}
            try:
                counts = limit_of(problem, seed=run.seed).counts
            except InputError as error:
                run.say(f"{text}, T = {T}: {error}")
                blank = dict.fromkeys(("trials", "matched", "unmatched", "undetermined"), 0)
                rows.append({**row, "N": "open", **blank, "low": 0, "high": 1, "certified": 0})
                continue
            N = " + ".join(map(str, counts)) or "not joined"
            rows.append({**row, "N": N, **_measured(run, problem, True)})
        run.say(f"r = {r}, T = {T}, b = {b}, d = {d}: {len(rows)} digraphs in all")
    return rows


def _share(row: Row) -> float:
    return cell_number(row, "matched") / max(cell_number(row, "trials"), 1)


def _approach(rows: Rows) -> str:
    """The misfits of MP_n = MP_∞ + c n^{-a} for a = 1/2 and 1, and the fitted c."""
    (last,) = [row for row in rows if not row["n"]]
    finite = [row for row in rows if row["n"]]
    parts = []
    for a in (0.5, 1.0):
        x = np.array([cell_number(row, "n") ** -a for row in finite])
        y = np.array([_share(row) - _share(last) for row in finite])
        trials = np.array([cell_number(row, "trials") for row in finite])
        p = np.array([(cell_number(row, "matched") + 1) / (t + 2)
                      for row, t in zip(finite, trials, strict=True)])  # fmt: skip
        q = (cell_number(last, "matched") + 1) / (cell_number(last, "trials") + 2)
        own = q * (1 - q) / cell_number(last, "trials") * (not last["certified"])
        S = np.diag(p * (1 - p) / trials) + own
        inverse = np.linalg.inv(S)
        weight = x @ inverse @ x
        c = x @ inverse @ y / weight
        misfit = (y - c * x) @ inverse @ (y - c * x)
        parts.append(f"n^-{a:g}: c = {c:.2f} ± {1.96 / weight**0.5:.2f}, χ² = {misfit:.1f}")
    return f"{'; '.join(parts)} ({len(finite) - 1} degrees of freedom)"


def _panel(axes: Axes, tables: Tables) -> Axes:
    tidy(axes, "hidden units n", "match probability")
    for colour, (name, rows) in zip(
        SERIES, groups(tables["curves"], "curve").items(), strict=False
    ):
        finite = [row for row in rows if cell_number(row, "n")]
        (last,) = [row for row in rows if not cell_number(row, "n")]
        x, y = [cell_number(row, "n") for row in finite], [_share(row) for row in finite]
        low = [max(v - cell_number(row, "low"), 0) for row, v in zip(finite, y, strict=True)]
        high = [max(cell_number(row, "high") - v, 0) for row, v in zip(finite, y, strict=True)]
        axes.errorbar(
            x, y, [low, high], color=colour, marker="o", ms=4, mfc="white", lw=1, label=name
        )
        axes.axhline(_share(last), color=colour, lw=0.8, ls="--")
        axes.axhspan(cell_number(last, "low"), cell_number(last, "high"), color=colour, alpha=0.12)
    axes.set_xscale("log", base=2)
    axes.set_ylim(-0.03, 1.05)
    heading(
        axes, "MP of growing linear RNNs; dashed: the limits", axes.get_legend_handles_labels()[0]
    )
    return axes


@register_figure(
    "large-networks", "First paper, section 3.3: what MP tends to in large networks", 400,
    FigureLayout((_panel,), height=4.4), tables=("curves",),
)  # fmt: skip
def large_networks(run: Run) -> Numbers:
    """Limits of all small digraphs, and MP at n = 8 … 64 of some."""
    curves: Rows = []
    texts = []
    for name, cells in CURVES.items():
        T = len(cells)
        own: list[dict[str, Any]] = []
        for n in (0, *run.some(_SIZES)):
            problem = problem_of(cells, n or 2 * T, T)
            own.append({"curve": name, "n": n, **_measured(run, problem, not n)})
        curves = [*curves, *own]
        if len(own) > 2:
            texts.append(f"* {name}: {_approach(own)}.")
        run.say(f"{name}: {_share(own[0]):.3f} in the limit")
    rows = _table(run)
    below = [row for row in rows if row["N"] != "open" and cell_number(row, "high") < 1]
    lines = [
        f"{len(rows)} digraphs; {len(below)} have a limit below 1 with 95 % confidence.", "",
        "MP_n = MP_∞ + c n^-a:", "", *texts, "", markdown_table(rows), "", markdown_table(curves),
    ]  # fmt: skip
    return Numbers(rows, "# Large networks\n\n" + "\n".join(lines), more={"curves": curves})
