"""The second paper's Theorem 3: how sparse frozen weights may be."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
from matchprob.plugins.papers.figures.papers.sparse_masks import SparseSuccess, sparse_success
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from matchprob.plugins.papers.figures import Numbers, Run, register_figure
from matchprob.plugins.papers.figures.curves import FigureLayout
from matchprob.plugins.papers.figures.tables import (
    Row,
    Rows,
    Tables,
    cell_number,
    groups,
    markdown_report,
)
from matchprob.report.drawing.palette import INK, SERIES
from matchprob.report.drawing.style import heading, tidy

_SPARSE_SIZES = (4, 6, 8, 12, 16, 24)
_FACTORS = (1.0, 1.25, 1.5, 2.0)


_WIDER = 8


def _marks(d: int) -> dict[str, float]:
    """The paper's density, the conjectured one, and the least without empty columns."""
    return {"√(log d/d)": sqrt(log(d) / d), "log d/d": log(d) / d, "2 log d/d": 2 * log(d) / d}


def _curve(axes: Axes, rows: Rows, label: str, colour: str) -> list[float]:
    xs = [cell_number(row, "density") for row in rows]
    shares = [cell_number(row, "successes") / cell_number(row, "trials") for row in rows]
    axes.plot(xs, shares, color=colour, lw=1.2, label=label)
    for x, row in zip(xs, rows, strict=True):
        axes.plot([x, x], [cell_number(row, "low"), cell_number(row, "high")], color=colour, lw=0.8)
    return shares


def _draw_square(axes: Axes, tables: Tables) -> Axes:
    square = [row for row in tables[""] if cell_number(row, "width") == cell_number(row, "d") ** 2]
    for colour, (d, rows) in zip(SERIES, groups(square, "d").items(), strict=False):
        shares = _curve(axes, rows, f"d = {d}", colour)
        for value, marker in zip(_marks(int(d)).values(), "s^o", strict=True):
            height = float(np.interp(value, [cell_number(row, "density") for row in rows], shares))
            axes.plot(value, height, marker, color=colour, mec=INK, ms=5, zorder=3)
    signs = [
        Line2D([], [], color=INK, ls="", marker=marker, mfc="white", ms=5, label=f"p = {name}")
        for name, marker in zip(_marks(4), "s^o", strict=True)
    ]
    return _finish(axes, "w = d²: square hidden systems", signs)


def _draw_wider(axes: Axes, tables: Tables) -> Axes:
    wider = [row for row in tables[""] if cell_number(row, "d") == _WIDER]
    for colour, rows in zip(SERIES, groups(wider, "width").values(), strict=False):
        factor = cell_number(rows[0], "width") / _WIDER**2
        _curve(axes, rows, "w = d²" if factor == 1 else f"w = {factor:g} d²", colour)
    return _finish(axes, f"d = {_WIDER}, wider nets", [])


def _finish(axes: Axes, title: str, signs: list[Line2D]) -> Axes:
    bars: list[Artist] = [Line2D([], [], color=INK, lw=0.8, label="bars: 95 % intervals")]
    axes.set_ylim(-0.03, 1.05)
    tidy(axes, "share p of nonzero frozen weights", "probability of success")
    heading(axes, title, [*axes.get_legend_handles_labels()[0], *signs, *bars])
    return axes


@register_figure(
    "norm-sparse", "Second paper, Theorem 3: sparsity at which scales suffice", 400,
    FigureLayout((_draw_square, _draw_wider), 7.5, 3.6, columns=2),
)  # fmt: skip
def norm_sparse(run: Run) -> Numbers:
    """Probability that sparse frozen matrices still realize every target, by matchings."""
    densities = run.some([k / 40 for k in range(2, 41, 2)])
    rows: list[Row] = []
    lines = [
        f"{run.trials} random masks a point, seed {run.seed}. A point is a success where the "
        "zero pattern has a covering matching, that is where generic values realize every "
        "target.",
        "",
    ]

    def curve(d: int, width: int) -> list[SparseSuccess]:
        points = [sparse_success(d, width, p, run.trials, run.seed) for p in densities]
        run.say(f"d = {d}, w = {width}: " + " ".join(f"{point.share:.2f}" for point in points))
        for p in points:
            rows.append({
                "d": d, "width": width, "density": p.density, "trials": p.trials,
                "successes": p.successes, "low": round(p.interval.low, 4),
                "high": round(p.interval.high, 4),
            })  # fmt: skip
        return points

    for d in _SPARSE_SIZES:
        points = curve(d, d * d)
        half = next((p.density for p in points if p.share >= 0.5), None)
        lines.append(
            f"* d = {d}, w = d²: half of the masks succeed from p ≈ {half}; "
            + ", ".join(f"{name} = {value:.2f}" for name, value in _marks(d).items())
        )
    for factor in _FACTORS:
        if factor > 1 or _WIDER not in _SPARSE_SIZES:
            curve(_WIDER, round(factor * _WIDER**2))
    lines += [
        "",
        "At w = d² no hidden unit may lose all inputs or outputs: 2 d² (1 − p)^d must be small, "
        "p ≥ (2 + o(1)) log d/d. So Θ(log d/d), the paper's conjecture (Remark 3), cannot be "
        "improved at this width, and the curves rise there, not at the proved √(log d/d). Extra "
        "width lowers the threshold.",
    ]
    return Numbers(
        rows, markdown_report("Second paper, Theorem 3: sparse frozen matrices", lines, rows)
    )
