"""The second paper's Theorem 3: how sparse frozen weights may be."""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from matchprob.figures import Reproduction, Run, register_figure
from matchprob.figures.points import markdown_table
from matchprob.report.drawing.palette import INK, SERIES
from matchprob.report.drawing.style import heading, new_panels, tidy
from numeric.normalization.sparse_masks import SparseSuccess, sparse_success

_SPARSE_SIZES = (4, 6, 8, 12, 16, 24)
_FACTORS = (1.0, 1.25, 1.5, 2.0)


def _marks(d: int) -> dict[str, float]:
    """The paper's density, the conjectured one, and what no empty column asks for."""
    return {"√(log d/d)": sqrt(log(d) / d), "log d/d": log(d) / d, "2 log d/d": 2 * log(d) / d}


@register_figure("norm-sparse", "Second paper, Theorem 3: sparsity at which scales suffice", 400)
def norm_sparse(run: Run) -> Reproduction:
    """Probability that sparse frozen matrices still realize every target, by matchings."""
    densities = [k / 40 for k in range(2, 41, 2)]
    picture, (first, second) = new_panels(1, 2, 10, 4.2)
    rows: list[dict[str, object]] = []
    lines = ["# Second paper, Theorem 3: sparse frozen matrices", "",
             f"{run.trials} random masks a point, seed {run.seed}. A point is a success where the "
             "zero pattern has a covering matching, that is where generic values realize every "
             "target.", ""]  # fmt: skip

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

    def draw(axes: Axes, points: Sequence[SparseSuccess], label: str, colour: str) -> None:
        axes.plot([p.density for p in points], [p.share for p in points], color=colour, label=label)
        for p in points:
            axes.plot([p.density] * 2, [p.interval.low, p.interval.high], color=colour, lw=0.8)

    for k, d in enumerate(_SPARSE_SIZES):
        colour = SERIES[k]
        points = curve(d, d * d)
        draw(first, points, f"d = {d}", colour)
        shares = [p.share for p in points]
        for value, marker in zip(_marks(d).values(), "s^o", strict=True):
            height = float(np.interp(value, densities, shares))
            first.plot(value, height, marker, color=colour, mec=INK, ms=5)
        half = next((p.density for p in points if p.share >= 0.5), None)
        lines.append(
            f"* d = {d}, w = d²: half of the masks succeed from p ≈ {half}; "
            + ", ".join(f"{name} = {value:.2f}" for name, value in _marks(d).items())
        )
    for k, factor in enumerate(_FACTORS):
        d = 8
        draw(second, curve(d, round(factor * d * d)), f"w = {factor:g} d²", SERIES[k])
    signs: list[Artist] = [
        Line2D([], [], color=INK, ls="", marker=marker, mfc="white", ms=5, label=f"p = {name}")
        for name, marker in zip(_marks(4), "s^o", strict=True)
    ]
    bars = Line2D([], [], color=INK, lw=0.8, label="bars: 95 % intervals")
    for axes, title, more in (
        (first, "w = d²: square hidden systems", signs), (second, "d = 8, wider nets", []),
    ):  # fmt: skip
        tidy(axes, "share p of nonzero frozen weights", "probability of success")
        heading(axes, title, [*axes.get_legend_handles_labels()[0], *more, bars])
    lines += [
        "",
        "At w = d² no hidden unit may lose all inputs or outputs: 2 d² (1 − p)^d must be small, "
        "p ≥ (2 + o(1)) log d/d. So Θ(log d/d), the paper's conjecture (Remark 3), cannot be "
        "improved at this width, and the curves rise there, not at the proved √(log d/d). Extra "
        "width lowers the threshold.",
        "", markdown_table(rows), "",
    ]  # fmt: skip
    return Reproduction(picture, rows, "\n".join(lines))
