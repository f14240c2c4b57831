"""Figures of the second paper: the experiments of its Appendix E."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import asdict
from statistics import median

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from matchprob.figures import Reproduction, Run, register_figure
from matchprob.figures.points import markdown_table
from matchprob.report.drawing.palette import BLUE, INK, ORANGE, ROSE, SKY, VERMILION
from matchprob.report.drawing.style import heading, new_panels, tidy
from numeric.normalization.experiment import ALGORITHMS, Setting, run_setting

_DIMENSIONS = (5, 10, 15, 20, 25)
_FIXED = 25
# 601 = d² − d + 1 units suffice with all scales, 625 = d² with those of hidden units.
_WIDTHS = (25, 50, 100, 200, 300, 400, 500, 575, 601, 625, 700, 800)
_LABELS = {
    "adam": "scales and shifts by Adam",
    "target": "constructed from the target",
    "both": "the same with the second layer's scales",
    "dense": "constructed from a trained dense net",
    "trained": "the trained dense net",
}
_COLOURS = {"adam": BLUE, "target": VERMILION, "both": ORANGE, "dense": ROSE, "trained": INK}
# Below this an error is rounding: drawn there, on a logarithmic axis.
_FLOOR = 1e-28


class _Kept:
    """Results kept in the run's file, so that the same run goes on from there."""

    def __init__(self, run: Run) -> None:
        self._file = sqlite3.connect(run.store)
        self._file.execute(
            "CREATE TABLE IF NOT EXISTS normalization (setting TEXT PRIMARY KEY, result TEXT)"
        )

    def close(self) -> None:
        self._file.close()

    def find(self, key: str) -> dict[str, float] | None:
        row = self._file.execute(
            "SELECT result FROM normalization WHERE setting = ?", (key,)
        ).fetchone()
        if row is None:
            return None
        result = json.loads(row[0])
        # Files of version 0.1 call Adam's result by the paper's word.
        if "sgd" in result:
            result["adam"] = result.pop("sgd")
        return result

    def keep(self, key: str, result: Mapping[str, float]) -> None:
        with self._file:
            self._file.execute(
                "INSERT OR REPLACE INTO normalization VALUES (?, ?)", (key, json.dumps(result))
            )


def _key(setting: Setting) -> str:
    return json.dumps(asdict(setting), sort_keys=True)


def _compute(run: Run, settings: Sequence[Setting]) -> dict[Setting, dict[str, float]]:
    """Results of all settings; an interrupt leaves what is done so far."""
    out: dict[Setting, dict[str, float]] = {}
    with closing(_Kept(run)) as kept:
        left = []
        for setting in dict.fromkeys(settings):
            known = kept.find(_key(setting))
            if known is None:
                left.append(setting)
            else:
                out[setting] = known
        try:
            for setting, result in zip(left, _map(run.workers, left), strict=True):
                kept.keep(_key(setting), result)
                out[setting] = result
                run.say(
                    f"d = {setting.d:<3} w = {setting.width:<4} density {setting.density:g} "
                    f"repeat {setting.repeat}: "
                    + ", ".join(f"{name} {result[name]:.2e}" for name in ALGORITHMS)
                )
        except KeyboardInterrupt:
            pass
    return out


def _map(workers: int, settings: Sequence[Setting]) -> Iterable[dict[str, float]]:
    if workers == 1:
        yield from map(run_setting, settings)
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(run_setting, settings)


def _curves(
    results: Mapping[Setting, Mapping[str, float]],
    settings: Sequence[Setting],
    panel: str,
    x: str,
) -> list[dict[str, object]]:
    """One row for each x and algorithm: median, least and largest error over the repeats."""
    rows: list[dict[str, object]] = []
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
                    "median": f"{median(errors):.3e}", "least": f"{errors[0]:.3e}",
                    "largest": f"{errors[-1]:.3e}",
                    "variance": f"{median(r['variance'] for r in done):.3e}",
                }
            )  # fmt: skip
    return rows


def _draw(axes: Axes, rows: Sequence[Mapping[str, object]], xlabel: str, title: str) -> None:
    for name in ALGORITHMS:
        own = [row for row in rows if row["algorithm"] == name]
        xs = [float(str(row["x"])) for row in own]
        low, middle, high = (
            [max(float(str(row[key])), _FLOOR) for row in own]
            for key in ("least", "median", "largest")
        )
        style = "--" if name == "trained" else "-"
        axes.plot(xs, middle, style, color=_COLOURS[name], marker="o", ms=3, label=_LABELS[name])
        for x, bottom, top in zip(xs, low, high, strict=True):
            axes.plot([x, x], [bottom, top], color=_COLOURS[name], lw=0.8)
    first = [row for row in rows if row["algorithm"] == ALGORITHMS[0]]
    axes.plot(
        [float(str(row["x"])) for row in first],
        [float(str(row["variance"])) for row in first],
        ":", color=SKY, label="the best constant",
    )  # fmt: skip
    axes.set_yscale("log")
    tidy(axes, xlabel, "mean squared test error")
    bars = Line2D([], [], color=INK, lw=0.8, label="bars: all runs")
    heading(axes, title, [*axes.get_legend_handles_labels()[0], bars])


def _settings(run: Run, density: float) -> tuple[list[Setting], list[Setting]]:
    """Settings of the left panel (target width varies) and the right one (hidden width)."""
    repeats = range(run.trials)
    left = [Setting(d, d * d, density, run.seed, r) for d in _DIMENSIONS for r in repeats]
    right = [Setting(_FIXED, w, density, run.seed, r) for w in _WIDTHS for r in repeats]
    return left, right


def _median(rows: Sequence[Mapping[str, object]], x: float, name: str) -> float:
    for row in rows:
        if row["x"] == x and row["algorithm"] == name:
            return float(str(row["median"]))
    return float("nan")


def _remarks(left: Sequence[Mapping[str, object]], right: Sequence[Mapping[str, object]]) -> str:
    """What the numbers say of the paper's statements."""
    lines = []
    xs = sorted({float(str(row["x"])) for row in left})
    wins = [x for x in xs if _median(left, x, "target") < _median(left, x, "adam")]
    lines.append(
        f"* Constructed from the target against Adam, w = d²: smaller median error for d in "
        f"{[int(x) for x in wins]} of {[int(x) for x in xs]}."
    )
    wins = [x for x in xs if _median(left, x, "dense") < _median(left, x, "adam")]
    lines.append(f"* Constructed from the trained dense net against Adam: smaller for d in "
                 f"{[int(x) for x in wins]}.")  # fmt: skip
    widths = sorted({float(str(row["x"])) for row in right})
    trained = [w for w in widths if _median(right, w, "adam") < _median(right, w, "target")]
    beaten = [w for w in widths if w not in trained]
    lines.append(
        f"* d = {_FIXED}, width varied: Adam is better for w in {[int(w) for w in trained]}, the "
        f"construction for w in {[int(w) for w in beaten]} (d² = {_FIXED**2})."
    )
    both = [w for w in widths if _median(right, w, "both") < 1e-15]
    lines.append(
        f"* With the second layer's scales the error is rounding for w in {[int(w) for w in both]} "
        f"(d² − d + 1 = {_FIXED**2 - _FIXED + 1})."
    )
    return "\n".join(lines)


_NOTES = """
* Twenty thousand Gaussian samples for training and as many for the test (the paper: a million
  each), 40 epochs of Adam with mini-batches of 128 and a falling step (the paper: SGD, best of
  three schedules). Bands show all runs, lines medians; the paper drops the best and the worst.
* Weights have variance 1/(nonzero inputs of a unit) and normalization is that of inference, a scale
  and a shift, as in the theorems.
* The construction is exact on a ball of radius √d + 6, which holds all samples. Below w = d² it
  uses the pseudo-inverse, as the paper does. Errors of 1e-25 are rounding in double precision.
"""


@register_figure("norm-fig4", "Second paper, Figure 4: constructed against trained", 5)
def norm_fig4(run: Run) -> Reproduction:
    """Errors against the target's width (w = d²), and against the hidden width (d = 25)."""
    left, right = _settings(run, 1.0)
    results = _compute(run, [*left, *right])
    rows = [_curves(results, left, "width d", "d"), _curves(results, right, "width w", "width")]
    picture, (first, second) = new_panels(1, 2, 10, 4.4)
    _draw(first, rows[0], "width d of the target; hidden width d²", "Figure 4, left")
    _draw(second, rows[1], "hidden width w", f"Figure 4, right: d = {_FIXED}; dotted: w = d²")
    second.axvline(_FIXED**2, color=INK, lw=0.6, ls=(0, (1, 3)))
    text = "\n".join([
        "# Second paper, Figure 4: normalization parameters constructed and trained", "",
        f"{run.trials} runs a point, seed {run.seed}.", "", _remarks(*rows), _NOTES,
        markdown_table([*rows[0], *rows[1]]), "",
    ])  # fmt: skip
    finished = len(results) == len({*left, *right})
    return Reproduction(picture, [*rows[0], *rows[1]], text, finished)


@register_figure("norm-fig5", "Second paper, Figure 5: the same with sparse frozen weights", 5)
def norm_fig5(run: Run) -> Reproduction:
    """Figure 4 with 20 % and with 5 % of the frozen weights nonzero."""
    densities = (0.2, 0.05)
    plans = {density: _settings(run, density) for density in densities}
    every = [s for pair in plans.values() for panel in pair for s in panel]
    results = _compute(run, every)
    picture, grid = new_panels(2, 2, 10, 8.4)
    rows: list[dict[str, object]] = []
    said = []
    for k, (density, (left, right)) in enumerate(plans.items()):
        axes = grid[2 * k : 2 * k + 2]
        own = [
            _curves(results, left, f"p = {density}, width d", "d"),
            _curves(results, right, f"p = {density}, width w", "width"),
        ]
        share = f"{density:.0%} of the weights nonzero"
        _draw(axes[0], own[0], "width d of the target; hidden width d²", f"Figure 5, {share}")
        _draw(axes[1], own[1], "hidden width w", f"Figure 5, {share}, d = {_FIXED}")
        said += [f"With {share}:", "", _remarks(*own), ""]
        rows += [*own[0], *own[1]]
    text = "\n".join([
        "# Second paper, Figure 5: sparse frozen weights", "",
        f"{run.trials} runs a point, seed {run.seed}.", "", *said,
        "A hidden unit has no input or no output with probability about 2(1 − p)^d: for d = 25",
        "that is 0.8 % at p = 0.2, some 5 of 625 units, and 55 % at p = 0.05. At w = d² none can",
        "be spared, so the construction is an approximation there; wider nets are exact at p = 0.2",
        "(`reproduce norm-sparse` has the threshold).", _NOTES, markdown_table(rows), "",
    ])  # fmt: skip
    return Reproduction(picture, rows, text, len(results) == len(set(every)))
