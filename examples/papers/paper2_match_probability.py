"""Scales and shifts against ordinary weights, in the first paper's terms."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from algebra.plugins.normalization.network import NormNet
from algebra.problems.problem import Problem
from algebra.problems.random_cells import RandomCells
from matchprob.api.certify import certify
from matchprob.plugins.papers.figures import Numbers, Run, register_figure
from matchprob.plugins.papers.figures.curves import FigureLayout, Panel, draw_curves
from matchprob.plugins.papers.figures.points import CurvePoint, Measured, measure
from matchprob.plugins.papers.figures.tables import (
    Row,
    Tables,
    cell_number,
    groups,
    markdown_report,
)
from matchprob.report.drawing.palette import BLUE, ORANGE, ROSE, SKY, VERMILION
from matchprob.report.drawing.style import tidy

# Branch and bound over activation patterns takes up to 0.1 s a trial.
_WIDTHS = {"linear": (1, 2, 3, 4, 5, 6), "relu": (1, 2, 3, 4, 5)}
_SAMPLES = (2, 3)
_SCALES = ("g1", "g2")
_EVERYTHING = ("g1", "g2", "b1", "b2")
_HIDDEN = ("g1", "b1", "b2")
_COLOURS = {
    "all scales": BLUE,
    "as many ordinary weights": SKY,
    "all scales and shifts": VERMILION,
    "as many ordinary weights as both": ORANGE,
    "hidden scales, all shifts": ROSE,
    "as many weights of W1": SKY,
}


def ordinary_weights(network: NormNet, budget: int) -> dict[str, RandomCells]:
    """A budget of random cells, half in W1 and half in W2 as far as these have room."""
    sizes = {name: rows * columns for name, (rows, columns) in network.shapes.items()}
    first = min(budget // 2, sizes["W1"])
    second = min(budget - first, sizes["W2"])
    return {"W1": RandomCells(min(budget - second, sizes["W1"])), "W2": RandomCells(second)}


def allocations(network: NormNet) -> dict[str, dict[str, Any]]:
    """The compared allocations of a network with one hidden layer.

    With ReLU ordinary weights are taken from W1: products with weights of W2 have no exact
    engine.
    """
    shapes = network.shapes
    few, many = (sum(shapes[n][0] for n in names) for names in (_SCALES, _EVERYTHING))
    out: dict[str, dict[str, Any]] = {"all scales": dict.fromkeys(_SCALES, "all")}
    if network.is_linear:
        out["as many ordinary weights"] = ordinary_weights(network, few)
    else:
        rows, columns = shapes["W1"]
        out["as many weights of W1"] = {"W1": RandomCells(min(few, rows * columns))}
        out["hidden scales, all shifts"] = dict.fromkeys(_HIDDEN, "all")
    out["all scales and shifts"] = dict.fromkeys(_EVERYTHING, "all")
    if network.is_linear:
        out["as many ordinary weights as both"] = ordinary_weights(network, many)
    return out


def _panel(kind: str, m: int) -> Panel:
    def draw(axes: Axes, tables: Tables) -> Axes:
        rows = [row for row in tables[""] if row["net"] == kind and row["m"] == m]
        axes.set_xticks(sorted({int(cell_number(row, "x")) for row in rows}))
        tidy(axes, "hidden width w", "match probability")
        title = f"{'ReLU' if kind == 'relu' else kind}, target 2×2, m = {m}"
        return draw_curves(axes, groups(rows, "curve"), title, colours=_COLOURS)

    return draw


@register_figure(
    "norm-mp", "Match probability of scales and shifts against ordinary weights", 200,
    FigureLayout(tuple(_panel(kind, m) for kind in _WIDTHS for m in _SAMPLES), 7.5, 7.4, columns=2),
)  # fmt: skip
def norm_mp(run: Run) -> Numbers:
    """MP against the hidden width, target 2×2, linear and ReLU nets, for 2 and 3 samples."""
    rows: list[Row] = []
    lines = [
        f"Target 2×2 with shifts, frozen net of hidden width w; {run.trials} trials a point, "
        f"seed {run.seed}.",
        "",
    ]
    done = wanted = 0
    for kind, m in ((kind, m) for kind in _WIDTHS for m in _SAMPLES):
        curves: dict[str, list[CurvePoint]] = {}
        for w in run.some(_WIDTHS[kind]):
            network = NormNet.square(d=2, depth=1, width=w, m=m, activation=kind)
            engine = "homotopy" if network.is_linear else "relu-exact"
            for name, learn in allocations(network).items():
                point = CurvePoint(w, Problem(network, learn), engine, {"timeout": 60.0})
                curves.setdefault(name, []).append(point)
        wanted += sum(len(points) for points in curves.values())
        for name, found in measure(run, curves).items():
            rows += [{"net": kind, "m": m, **point.row(name)} for point in found]
            done += sum(point.estimate.trials == run.trials for point in found)
            if found and not found[0].point.problem.is_random:
                lines.append(f"* {kind}, m = {m}, {name}: {_threshold(found)}.")
    lines += [
        "",
        "Linear nets: scales and shifts jump from 0 to 1, both by certificate (filled points). As",
        "many ordinary weights at random cells of W1 and W2 are sometimes minimal, a row or column",
        "being too full, and often in between.",
        "",
        "ReLU nets: what no certificate settles is decided instance by instance, in rationals.",
        "With shifts, units that switch between samples match more than the theorem's linear",
        "regime: hidden scales and all shifts have MP > 0 below the width that realizes every",
        "target. Without shifts (all scales) they match less.",
    ]
    text = markdown_report("Normalization layers in the first paper's terms", lines, rows)
    return Numbers(rows, text, done == wanted)


def _threshold(measured: list[Measured]) -> str:
    """Certified verdicts by width, in words."""
    verdicts = {int(m.point.x): certify(m.point.problem).verdict for m in measured}
    parts = []
    for verdict in dict.fromkeys(verdicts.values()):
        widths = [w for w, v in verdicts.items() if v == verdict]
        parts.append(f"{verdict} for w = {', '.join(map(str, widths))}")
    return "; ".join(parts)
