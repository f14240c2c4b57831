"""Figure 3b of the first paper: shallow ReLU nets, decided instead of optimized.

Settings (Appendix E): q = 6, d = 4, m = 6, r = dm = 24 learnable weights of W1, drawn anew for
each trial in the first k rows, each of which gets one at least.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import log2

from matplotlib.artist import Artist
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from algebra.networks.relu import ShallowReLU
from algebra.problems.problem import Problem
from algebra.problems.random_cells import RandomCells
from algebra.relu.patterns import patterns_left
from matchprob.figures import Reproduction, Run, register_figure
from matchprob.figures.points import (
    Measured,
    Point,
    draw_curve,
    increases,
    is_finished,
    markdown_table,
    marks,
    measure,
    shifts,
)
from matchprob.report.drawing.palette import INK, SERIES
from matchprob.report.drawing.style import heading, new_figure, tidy

_SIZES = (8, 10, 12)
_D, _M, _Q, _R = 4, 6, 6, 24
# The paper's criterion, by a first- and a second-order method.
_CRITERIA = ("adam", "levenberg-marquardt")


def _points(n: int) -> list[Point]:
    network = ShallowReLU(q=_Q, n=n, d=_D, m=_M)
    return [
        Point(k, Problem(network, {"W1": RandomCells(budget=_R, rows=k)}), "complementarity")
        for k in range(4, n + 1)
    ]


@register_figure("fig3b", "First paper, Figure 3b: shallow ReLU, q = 6, d = 4, m = 6", 200)
def fig3b(run: Run) -> Reproduction:
    """MP against the rows used, for n = 8, 10, 12; each trial decided."""
    curves = {f"n = {n}": _points(n) for n in _SIZES}
    measured = measure(replace(run, baseline=0), curves)
    claims: dict[str, dict[str, list[Measured]]] = {}
    if run.baseline:
        short = replace(run, trials=min(run.baseline, run.trials), baseline=0)
        # The paper's curve for the smallest net is enough to judge its criterion.
        first = f"n = {_SIZES[0]}"
        for method in _CRITERIA:
            points = [replace(point, engine=method) for point in curves[first]]
            claims[method] = measure(short, {first: points})
    rows = _rows(measured, claims)
    picture = _draw(measured, claims)
    wanted = sum(len(points) for points in curves.values())
    finished = is_finished(run, measured, wanted)
    return Reproduction(picture, rows, _text(run, measured, rows), finished)


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
) -> list[dict[str, object]]:
    rows = []
    for name, points in measured.items():
        for m in points:
            row: dict[str, object] = {
                key: value
                for key, value in m.row(name).items()
                if not key.startswith(("baseline", "certified"))
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


def _draw(
    measured: Mapping[str, Sequence[Measured]],
    claims: Mapping[str, Mapping[str, Sequence[Measured]]],
) -> Picture:
    picture = new_figure(6, 4)
    axes = picture.subplots()
    some = {name: points for name, points in measured.items() if points}
    every = [m for points in some.values() for m in points]
    xs = [m.point.x for m in every] or [0.0]
    apart = shifts(len(some), max(xs) - min(xs))
    handles: list[Artist] = []
    for colour, (name, points), shift in zip(SERIES, some.items(), apart, strict=False):
        draw_curve(axes, points, name, colour, shift=shift)
        handles.append(Line2D([], [], color=colour, lw=1.2, label=name))
    for mark, (method, curves) in zip("x+", claims.items(), strict=False):
        for name, points in curves.items():
            done = [c for c in points if c.estimate.trials]
            share = [
                sum(bool(c.paper_match) for c in p.estimate.counts) / p.estimate.trials
                for p in done
            ]
            xs = [p.point.x for p in done]
            label = f"{name}: MSE < 0.01, {method}"
            handles += axes.plot(xs, share, mark, color=INK, ls=":", lw=0.8, ms=5, label=label)
    axes.set_ylim(bottom=-0.01)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    tidy(axes, "rows used", "match probability")
    title = "Figure 3b: shallow ReLU, q = 6, d = 4, m = 6, 24 weights of W1"
    heading(axes, title, [*handles, *marks(every)])
    return picture


def _text(
    run: Run, measured: Mapping[str, Sequence[Measured]], rows: Sequence[dict[str, object]]
) -> str:
    lines = [
        "# Figure 3b: shallow ReLU, q = 6, d = 4, m = 6",
        "",
        f"{run.trials} trials a point, seed {run.seed}.",
        "",
    ]
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
    return "\n".join([*lines, "", markdown_table(rows), ""])
