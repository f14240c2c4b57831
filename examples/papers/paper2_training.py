"""Figures of the second paper: the experiments of its Appendix E."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from statistics import median

from matchprob.plugins.papers.figures.papers.normalization_experiment import (
    ALGORITHMS,
    Setting,
    run_setting,
)
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from matchprob.plugins.papers.figures import Numbers, Run, register_figure
from matchprob.plugins.papers.figures.curves import FigureLayout, Panel
from matchprob.plugins.papers.figures.experiments import Result, compute
from matchprob.plugins.papers.figures.tables import (
    Row,
    Rows,
    Tables,
    cell_number,
    markdown_table,
    rounded,
)
from matchprob.report.drawing.palette import BLUE, INK, ORANGE, ROSE, SKY, VERMILION
from matchprob.report.drawing.style import heading, tidy

_DIMENSIONS = (5, 10, 15, 20, 25)
_FIXED = 25
# 601 = d² − d + 1 units suffice with all scales, 625 = d² with those of hidden units.
_WIDTHS = (25, 50, 100, 200, 300, 400, 500, 575, 601, 625, 700, 800)
_LABELS = {
    "adam": "trained by Adam",
    "sgd": "trained by SGD",
    "target": "constructed from the target",
    "both": "the same, both layers' scales",
    "dense": "constructed from a dense net",
    "trained": "the trained dense net",
}
_COLOURS = {
    "adam": BLUE,
    "sgd": SKY,
    "target": VERMILION,
    "both": ORANGE,
    "dense": ROSE,
    "trained": INK,
}
_MARKS = {"adam": "o", "sgd": "v", "target": "s", "both": "^", "dense": "D", "trained": ""}
# Below this an error is rounding: drawn there, on a logarithmic axis.
_FLOOR = 1e-28


def _key(setting: Setting) -> tuple[str, int]:
    """What the store calls it: the setting without its repeat, and that."""
    done = asdict(setting)
    repeat = done.pop("repeat")
    return json.dumps({**done, "experiment": "normalization"}, sort_keys=True), repeat


def _compute(run: Run, settings: Sequence[Setting]) -> dict[Setting, Result]:
    """Results of all settings; an interrupt leaves what is done so far."""

    def told(setting: Setting, result: Result) -> None:
        run.say(
            f"d = {setting.d:<3} w = {setting.width:<4} density {setting.density:g} "
            f"repeat {setting.repeat}: "
            + ", ".join(f"{name} {result[name]:.2e}" for name in ALGORITHMS)
        )

    return compute(run, settings, _key, run_setting, told)


def _curves(
    results: Mapping[Setting, Result],
    settings: Sequence[Setting],
    panel: str,
    x: str,
) -> list[Row]:
    """One row for each x and algorithm: median, least and largest error over the repeats."""
    rows: list[Row] = []
    values = sorted({getattr(s, x) for s in settings})
    for value in values:
        done = [results[s] for s in settings if getattr(s, x) == value and s in results]
        if not done:
            continue
        for name in ALGORITHMS:
            errors = sorted(result[name] for result in done)
            rows.append(
                {
                    "panel": panel, "x": value, "algorithm": name, "runs": len(errors),
                    "median": rounded(median(errors)), "least": rounded(errors[0]),
                    "largest": rounded(errors[-1]),
                    "variance": rounded(median(r["variance"] for r in done)),
                }
            )  # fmt: skip
    return rows


def _panel(panel: str, xlabel: str, title: str) -> Panel:
    """Draws the rows of that panel: medians, with bars over all runs."""

    def draw(axes: Axes, tables: Tables) -> Axes:
        rows = [row for row in tables[""] if row["panel"] == panel]
        axes.set_yscale("log")
        tidy(axes, xlabel, "mean squared test error")
        for name in ALGORITHMS:
            own = [row for row in rows if row["algorithm"] == name]
            xs = [cell_number(row, "x") for row in own]
            low, middle, high = (
                [max(cell_number(row, key), _FLOOR) for row in own]
                for key in ("least", "median", "largest")
            )
            style = "--" if name == "trained" else "-"
            colour = _COLOURS[name]
            axes.plot(xs, middle, style, color=colour, marker=_MARKS[name], ms=3.5, lw=1.2,
                      label=_LABELS[name])  # fmt: skip
            axes.vlines(xs, low, high, color=colour, lw=0.8)
        first = [row for row in rows if row["algorithm"] == ALGORITHMS[0]]
        axes.plot(
            [cell_number(row, "x") for row in first],
            [cell_number(row, "variance") for row in first],
            ":", color=INK, lw=1.0, label="the best constant",
        )  # fmt: skip
        more = []
        if panel.endswith("width w"):
            more = [axes.axvline(_FIXED**2, color=INK, lw=0.7, ls=(0, (1, 3)), label="w = d²")]
        else:
            axes.set_xticks(sorted({cell_number(row, "x") for row in rows}))
        handles = axes.get_legend_handles_labels()[0]
        handles = [h for h in handles if h not in more]
        if any(row["runs"] > 1 for row in rows):
            more.append(Line2D([], [], color=INK, lw=0.8, label="bars: all runs"))
        heading(axes, title, [*handles, *more])
        return axes

    return draw


def _settings(run: Run, density: float) -> tuple[list[Setting], list[Setting]]:
    """Settings of the left panel (target width varies) and the right one (hidden width)."""
    repeats = range(run.trials)
    left = [Setting(d, d * d, density, run.seed, r) for d in run.some(_DIMENSIONS) for r in repeats]
    right = [Setting(_FIXED, w, density, run.seed, r) for w in run.some(_WIDTHS) for r in repeats]
    return left, right


def _median(rows: Rows, x: float, name: str) -> float:
    for row in rows:
        if row["x"] == x and row["algorithm"] == name:
            return cell_number(row, "median")
    return float("nan")


def _remarks(left: Rows, right: Rows) -> str:
    """What the numbers say of the paper's statements."""
    lines = []
    xs = sorted({float(str(row["x"])) for row in left})
    widths = sorted({float(str(row["x"])) for row in right})
    for trained, name in (("adam", "Adam"), ("sgd", "SGD")):
        wins, dense = (
            [int(x) for x in xs if _median(left, x, constructed) < _median(left, x, trained)]
            for constructed in ("target", "dense")
        )
        beaten = [w for w in widths if not _median(right, w, trained) < _median(right, w, "target")]
        lines += [
            f"* Constructed from the target against {name}, w = d²: smaller median error for d in "
            f"{wins} of {[int(x) for x in xs]}; constructed from the trained dense net: for d in "
            f"{dense}.",
            f"* d = {_FIXED}, width varied: {name} is better for w in "
            f"{[int(w) for w in widths if w not in beaten]}, the construction for w in "
            f"{[int(w) for w in beaten]} (d² = {_FIXED**2}).",
        ]
    fewer = [w for w in widths if _median(right, w, "sgd") < _median(right, w, "adam")]
    lines.append(f"* SGD has a smaller median error than Adam for w in {[int(w) for w in fewer]}.")
    both = [w for w in widths if _median(right, w, "both") < 1e-15]
    lines.append(
        f"* With the second layer's scales the error is rounding for w in {[int(w) for w in both]} "
        f"(d² − d + 1 = {_FIXED**2 - _FIXED + 1})."
    )
    return "\n".join(lines)


_NOTES = """
* A million Gaussian samples for training, as in the paper, which each run sees once, in batches of
  128; 20,000 for the test (a standard error of 1 to 2 % of an error). SGD has momentum 0.9 and a
  rate of 0.03, and as in the paper the best of three schedules (constant, half a cosine,
  exponential), here by its error on training samples; Adam has rate 0.01, which falls to a tenth
  (`benchmarks/bench_optimizers.py` has the errors of other rates). Bars show all runs, lines
  medians; the paper drops the best and the worst.
* Weights have variance 1/(nonzero inputs of a unit) and normalization is that of inference, a scale
  and a shift, as in the theorems.
* The construction is exact on a ball of radius √d + 6, which holds all samples. Below w = d² it
  uses the pseudo-inverse, as the paper does. Errors of 1e-25 are rounding in double precision.
"""


_WIDTH_D, _WIDTH_W = "width d of the target; hidden width d²", "hidden width w"
_DENSITIES = (0.2, 0.05)


def _named(density: float, width: str) -> str:
    """A panel's name in the table."""
    return width if density == 1 else f"p = {density}, {width}"


def _panels(density: float, title: Callable[[str], str]) -> tuple[Panel, Panel]:
    return (
        _panel(_named(density, "width d"), _WIDTH_D, title("w = d²")),
        _panel(_named(density, "width w"), _WIDTH_W, title(f"d = {_FIXED}")),
    )


def _sparse_title(density: float) -> Callable[[str], str]:
    return lambda which: f"Figure 5, {density:.0%} nonzero, {which}"


@register_figure(
    "norm-fig4", "Second paper, Figure 4: constructed against trained", 5,
    FigureLayout(
        _panels(1, lambda which: f"Figure 4, {which}"), 7.5, 3.4, columns=2, has_one_legend=True
    ),
)  # fmt: skip
def norm_fig4(run: Run) -> Numbers:
    """Errors against the target's width (w = d²), and against the hidden width (d = 25)."""
    left, right = _settings(run, 1.0)
    results = _compute(run, [*left, *right])
    rows = [_curves(results, left, "width d", "d"), _curves(results, right, "width w", "width")]
    text = "\n".join([
        "# Second paper, Figure 4: normalization parameters constructed and trained", "",
        f"{run.trials} runs a point, seed {run.seed}.", "", _remarks(*rows), _NOTES,
        markdown_table([*rows[0], *rows[1]]), "",
    ])  # fmt: skip
    finished = len(results) == len({*left, *right})
    return Numbers([*rows[0], *rows[1]], text, finished)


@register_figure(
    "norm-fig5", "Second paper, Figure 5: the same with sparse frozen weights", 5,
    FigureLayout(
        tuple(p for density in _DENSITIES for p in _panels(density, _sparse_title(density))),
        7.5, 6.2, columns=2, has_one_legend=True,
    ),
)  # fmt: skip
def norm_fig5(run: Run) -> Numbers:
    """Figure 4 with 20 % and with 5 % of the frozen weights nonzero."""
    plans = {density: _settings(run, density) for density in _DENSITIES}
    every = [s for pair in plans.values() for panel in pair for s in panel]
    results = _compute(run, every)
    rows: list[Row] = []
    said = []
    for density, (left, right) in plans.items():
        own = [
            _curves(results, left, _named(density, "width d"), "d"),
            _curves(results, right, _named(density, "width w"), "width"),
        ]
        said += [f"With {density:.0%} of the weights nonzero:", "", _remarks(*own), ""]
        rows += [*own[0], *own[1]]
    text = "\n".join([
        "# Second paper, Figure 5: sparse frozen weights", "",
        f"{run.trials} runs a point, seed {run.seed}.", "", *said,
        "A hidden unit has no input or no output with probability about 2(1 − p)^d: for d = 25",
        "that is 0.8 % at p = 0.2, some 5 of 625 units, and 55 % at p = 0.05. At w = d² none can",
        "be spared, so the construction is an approximation there; wider nets are exact at p = 0.2",
        "(`reproduce norm-sparse` has the threshold).", _NOTES, markdown_table(rows), "",
    ])  # fmt: skip
    return Numbers(rows, text, len(results) == len(set(every)))
