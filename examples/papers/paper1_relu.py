"""Figure 3b of the first paper: shallow ReLU nets, decided instead of optimized.

Settings (Appendix E): q = 6, d = 4, m = 6, r = dm = 24 learnable weights of W1, drawn anew for
each trial in the first k rows, each of which gets one at least.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import comb, log2
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.problem import Problem
from algebra.problems.random_cells import RandomCells
from matchprob.plugins.papers.figures import Numbers, Run, register_figure
from matchprob.plugins.papers.figures.curves import FigureLayout, draw_curves
from matchprob.plugins.papers.figures.points import (
    CurvePoint,
    Measured,
    increases,
    is_finished,
    measure,
)
from matchprob.plugins.papers.figures.tables import (
    Row,
    Tables,
    cell_number,
    groups,
    markdown_report,
)
from matchprob.report.drawing.palette import INK, ROSE, SKY
from matchprob.report.drawing.style import tidy

_SIZES = (8, 10, 12)
_D, _M, _Q, _R = 4, 6, 6, 24
# The paper's criterion, by first- and second-order methods; the paper's is AdaHessian.
_CRITERIA = ("adahessian", "sgd", "adam", "levenberg-marquardt")
# The mark, line and colour of each, which no curve has.
_LOOKS: dict[str, tuple[str, Any, str]] = {
    "adahessian": ("*", "--", SKY),
    "sgd": ("v", "-.", ROSE),
    "adam": ("x", ":", INK),
    "levenberg-marquardt": ("P", "--", INK),
}


def patterns_left(row_counts: Sequence[int], d: int, m: int) -> int:
    """Number of the 2^(km) patterns that both lemmas leave.

    Notes
    -----
    Counted sample by sample, the state being the numbers of samples on which each unit must still
    be active; the order of units does not matter, so the state is a sorted tuple.
    """

    @cache
    def count(samples: int, owed: tuple[int, ...]) -> int:
        if max(owed, default=0) > samples:
            return 0
        if samples == 0:
            return 1
        kinds = sorted(set(owed))
        return choose(samples, owed, tuple(kinds), (), 0)

    def choose(
        samples: int, owed: tuple[int, ...], kinds: tuple[int, ...], left: tuple[int, ...], on: int
    ) -> int:
        if not kinds:
            return count(samples - 1, tuple(sorted(left))) if on >= d else 0
        kind, size = kinds[0], owed.count(kinds[0])
        return sum(
            comb(size, a)
            * choose(
                samples,
                owed,
                kinds[1:],
                (*left, *(max(kind - 1, 0),) * a, *(kind,) * (size - a)),
                on + a,
            )
            for a in range(size + 1)
        )

    return count(m, tuple(sorted(row_counts)))


def _points(n: int) -> list[CurvePoint]:
    network = ShallowReLU(q=_Q, n=n, d=_D, m=_M)
    return [
        CurvePoint(k, Problem(network, {"W1": RandomCells(budget=_R, rows=k)}), "complementarity")
        for k in range(4, n + 1)
    ]


def _judged(truth: Measured, claim: Measured | None) -> dict[str, int]:
    """The paper's verdicts against the decisions on the same instances."""
    out = {"trials": 0, "claimed": 0, "false": 0, "missed": 0}
    if claim is None:
        return out
    for a, b in zip(truth.estimate.counts, claim.estimate.counts, strict=False):
        out["trials"] += 1
        out["claimed"] += bool(b.paper_match)
        out["false"] += bool(b.paper_match) and a.outcome == "unmatched"
        out["missed"] += not b.paper_match and a.outcome == "matched"
    return out


def _rows(
    measured: Mapping[str, Sequence[Measured]],
    claims: Mapping[str, Mapping[str, Sequence[Measured]]],
) -> list[Row]:
    rows: list[Row] = []
    for name, points in measured.items():
        for m in points:
            row: dict[str, object] = {
                key: value
                for key, value in m.row(name).items()
                if not key.startswith(("baseline", "certified_"))
            }
            k = int(m.point.x)
            # Weights spread evenly: the most patterns that Lemmas D.3 and D.4 leave for k rows.
            spread = [_R // k + (i < _R % k) for i in range(k)]
            left = patterns_left(spread, _D, _M)
            row["log2_patterns"] = k * _M
            row["log2_patterns_left"] = round(log2(left), 1) if left else None
            for method in _CRITERIA:
                other = claims.get(method, {}).get(name, [])
                claim = next((c for c in other if c.point.x == m.point.x), None)
                row |= {f"{method}_{key}": n for key, n in _judged(m, claim).items()}
            rows.append(row)
    return rows


def _text(run: Run, measured: Mapping[str, Sequence[Measured]], rows: Sequence[Row]) -> str:
    lines = [f"{run.trials} trials a point, seed {run.seed}.", ""]
    for name, points in measured.items():
        trials = sum(m.estimate.trials for m in points)
        open_ = sum(m.estimate.undetermined for m in points)
        lines.append(
            f"* {name}: {trials} trials decided, {open_} undetermined. A match has an exact "
            "rational witness; without one every activation pattern is refuted. "
            f"The paper sees MP grow with the rows used; here {increases(points)}."
        )
    for method in _CRITERIA:
        tried = sum(int(str(row[f"{method}_trials"])) for row in rows)
        if tried:
            false, missed = (
                sum(int(str(row[f"{method}_{key}"])) for row in rows) for key in ("false", "missed")
            )
            lines.append(
                f"* The paper's criterion (MSE < 0.01), 100 starts of {method}, on {tried} of the "
                f"same instances: {false} false matches, {missed} matches missed."
            )
    lines.append(
        "* Patterns that Lemmas D.3 and D.4 leave grow with the rows used: `log2_patterns_left`, "
        "for weights spread evenly, of `log2_patterns`."
    )
    return markdown_report("Figure 3b: shallow ReLU, q = 6, d = 4, m = 6", lines, rows)


def _judged_by(method: str, rows: Sequence[Row]) -> list[Row]:
    """The rows with trials of a method; tables of earlier runs may have no column of it."""
    return [
        row for row in rows if row.get(f"{method}_trials") and cell_number(row, f"{method}_trials")
    ]


def _draw(axes: Axes, tables: Tables) -> Axes:
    rows = tables[""]
    tidy(axes, "rows used", "match probability")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    claims: list[Artist] = []
    for method, (mark, line, colour) in _LOOKS.items():
        judged = _judged_by(method, rows)
        if judged:
            label = f"{judged[0]['curve']}: MSE < 0.01, {method}"
            xs = [cell_number(row, "x") for row in judged]
            ys = [
                cell_number(row, f"{method}_claimed") / cell_number(row, f"{method}_trials")
                for row in judged
            ]
            looks: dict[str, Any] = {
                "marker": mark, "color": colour, "ls": line, "lw": 1.2, "ms": 6, "zorder": 1,
            }  # fmt: skip
            axes.plot(xs, ys, **looks)
            claims.append(Line2D([], [], label=label, **looks))
    title = "Figure 3b: shallow ReLU, q = 6, d = 4, m = 6, 24 weights of W1"
    draw_curves(axes, groups(rows, "curve"), title, more=claims)
    most = max((cell_number(row, "high") for row in rows), default=1.0)
    shown = max((cell_number(row, f"{m}_claimed") / cell_number(row, f"{m}_trials")
                 for m in _CRITERIA for row in _judged_by(m, rows)), default=0.0)  # fmt: skip
    axes.set_ylim(-0.02, 1.05 * max(most, shown))
    return axes


@register_figure(
    "fig3b",
    "First paper, Figure 3b: shallow ReLU, q = 6, d = 4, m = 6",
    200,
    FigureLayout((_draw,)),
    curves=tuple(f"n = {n}" for n in _SIZES),
)
def fig3b(run: Run) -> Numbers:
    """MP against the rows used, for n = 8, 10, 12; each trial decided."""
    curves = {f"n = {n}": run.some(_points(n)) for n in _SIZES}
    measured = measure(replace(run, baseline=0), curves)
    claims: dict[str, dict[str, list[Measured]]] = {}
    if run.baseline:
        short = replace(run, trials=min(run.baseline, run.trials), baseline=0, curve_trials={})
        # The paper's curve for the smallest net is enough to judge its criterion.
        first = f"n = {_SIZES[0]}"
        for method in _CRITERIA:
            points = [replace(point, engine=method) for point in curves[first]]
            claims[method] = measure(short, {first: points})
    rows = _rows(measured, claims)
    wanted = sum(len(points) for points in curves.values())
    return Numbers(rows, _text(run, measured, rows), is_finished(run, measured, wanted))
