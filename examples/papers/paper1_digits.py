"""Figure 3c of the first paper: a shallow ReLU net on structured data.

Settings (Appendix E): n = 1000 hidden units, m samples, d = 10 classes, r = dm learnable weights
of W1 in the first k rows; Adam.  The paper takes m = 1000 images of MNIST (q = 784), which must
be given by ``--data``; without it the bundled digits (q = 64) and m = 200 serve.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from typing import Any

from matchprob.plugins.papers.figures.papers.classification import (
    Classified,
    Samples,
    classify,
    load_digits,
    load_idx,
)
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from matchprob.io.progress import counter
from matchprob.plugins.papers.figures import Numbers, Run, register_figure
from matchprob.plugins.papers.figures.curves import FigureLayout
from matchprob.plugins.papers.figures.experiments import compute
from matchprob.plugins.papers.figures.tables import (
    Row,
    Tables,
    cell_number,
    groups,
    markdown_report,
)
from matchprob.report.drawing.palette import INK, SERIES
from matchprob.report.drawing.style import heading, tidy
from numeric.statistics.intervals import proportion_interval

_UNITS = 1000
# Multiples of the fewest rows that hold the weights.
_SHARES = (1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0)


def _draw(axes: Axes, tables: Tables) -> Axes:
    rows = tables[""]
    sizes = groups([row for row in rows if row["trials"]], "weights")
    for colour, (weights, done) in zip(SERIES, sizes.items(), strict=False):
        xs = [cell_number(row, "rows") for row in done]
        shares = [cell_number(row, "matched") / cell_number(row, "trials") for row in done]
        lows = [share - cell_number(row, "low") for share, row in zip(shares, done, strict=True)]
        axes.errorbar(xs, shares, [lows, [0.0] * len(lows)], color=colour, capsize=2, lw=0.8)
        label = f"r = {weights}"
        axes.plot(xs, shares, "^-", color=colour, mfc="white", lw=1.2, ms=5, label=label)
    axes.set_xscale("log")
    axes.set_ylim(-0.03, 1.05)
    ticks = sorted({int(cell_number(row, "rows")) for row in rows})
    tidy(axes, "rows used", "match probability, at least")
    axes.set_xticks(_apart(ticks), minor=False)
    axes.set_xticks([], minor=True)
    axes.xaxis.set_major_formatter("{x:.0f}")
    title = f"Figure 3c: {rows[0]['samples']}, n = {_UNITS}, m = {rows[0]['m']}" if rows else ""
    bars = Line2D(
        [], [], color=INK, marker="_", ls="", mew=0.8, label="lower end of the 95 % interval"
    )
    heading(axes, title, [*axes.get_legend_handles_labels()[0], bars])
    return axes


def _apart(ticks: list[int]) -> list[int]:
    """Those of which each is half as large again as the one before."""
    out: list[int] = []
    for tick in ticks:
        if not out or tick >= 1.5 * out[-1]:
            out.append(tick)
    return out


@register_figure(
    "fig3c", "First paper, Figure 3c: shallow ReLU, n = 1000, classes of images", 10,
    FigureLayout((_draw,)),
)  # fmt: skip
def fig3c(run: Run) -> Numbers:
    """Share of trials in which Adam finds verified weights, against the rows used."""
    samples = load_idx(run.data) if run.data else load_digits()
    m = min(1000 if run.data else 200, samples.X.shape[1])
    q = len(samples.X)
    budgets = sorted({min(samples.classes * m, _UNITS * q), min(2 * m, _UNITS * q)})
    points = []
    for budget in budgets:
        fewest = -(-budget // q)
        ks = {min(_UNITS, budget, round(fewest * share)) for share in run.some(_SHARES)}
        points += [(budget, k) for k in sorted(ks)]
    rows: list[Row] = []
    finished = True
    for budget, k in points:
        found = _point(run, samples, m=m, budget=budget, rows=k)
        finished &= len(found) == run.trials
        matched = sum(c.matched for c in found)
        low = proportion_interval(matched, 0, len(found) - matched).low
        rows.append(
            {
                "samples": samples.name,
                "m": m,
                "weights": budget,
                "rows": k,
                "trials": len(found),
                "matched": matched,
                "low": round(low, 4),
                "high": 1.0,
                "right": round(sum(c.right for c in found) / max(m * len(found), 1), 4),
                "steps": round(sum(c.steps for c in found) / max(len(found), 1)),
                "exact": sum(c.exact for c in found),
            }
        )
        run.say(f"r = {budget:<6} k = {k:<5} {matched} of {len(found)} matched, certified")
        if not finished:
            break
    title = f"Figure 3c: {samples.name}, n = {_UNITS}, m = {m}"
    text = markdown_report(
        title,
        [
            f"{run.trials} trials a point, seed {run.seed}. Matched: all {m} samples classified "
            "rightly, proved by a rounding error bound or over Q. A trial without a match is "
            "undetermined: Adam found none; so the interval ends at 1.",
            "",
            "* `right`: share of samples classified rightly; `exact`: samples whose margin was "
            "below the rounding error bound.",
            f"* The paper's rule r = dm gives {budgets[-1]} weights for {m} samples; 2m weights "
            "show more. The paper reports MP 1 from 40 rows on, for MNIST with m = 1000.",
        ],
        rows,
    )
    return Numbers(rows, text, finished)


def _point(run: Run, samples: Samples, *, m: int, budget: int, rows: int) -> list[Classified]:
    done = {
        "experiment": "classification", "samples": samples.name, "shape": samples.X.shape,
        "m": m, "units": _UNITS, "budget": budget, "rows": rows, "seed": run.seed,
    }  # fmt: skip
    name = json.dumps(done, sort_keys=True)
    known = 0
    with counter(f"k = {rows}") as advance:

        def told(index: int, result: dict[str, Any]) -> None:
            nonlocal known
            known += 1
            if advance is not None:
                advance(known, run.trials)

        found = compute(
            run, range(run.trials), lambda index: (name, index),
            partial(_trial, samples, m, budget, rows, run.seed), told,
        )  # fmt: skip
    return [Classified(**found[index]) for index in sorted(found)]


def _trial(
    samples: Samples, m: int, budget: int, rows: int, seed: int, index: int
) -> dict[str, Any]:
    return asdict(
        classify(samples, m=m, n=_UNITS, budget=budget, rows=rows, seed=seed, index=index)
    )
