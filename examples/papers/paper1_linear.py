"""Figures 2a, 2b and 3a of the first paper: MP against the rows that an allocation uses.

Settings (Appendix E): linear RNN with T = m = n/2, b = 1 and d = 4 (2a) or d = n/4 (2b), all
random numbers normal with normalized variance; for every trial an allocation of dm weights
drawn anew in the first k rows of W under the caps of Theorem 3.4, at most Tb a row.  Three
linear layers with q = 4, d = 6, m = 4 (3a), 8 weights a layer in the first k rows (columns for
the first layer) under the caps of Theorem 4.1.

A matched trial has a certified real solution, found by Gauss–Newton runs, or among the ends of some
complex paths.  Where none is found all solutions are counted, if their number is known within 20 s:
a trial without one is unmatched.  Elsewhere (three layers: 24 equations of degree 3) a trial in
which none is found is undetermined, not unmatched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from algebra.networks.feedforward import LinearFeedForward
from algebra.networks.recurrent import LinearRNN
from algebra.problems.problem import Problem
from algebra.problems.random_cells import RandomCells
from matchprob.plugins.papers.figures import Numbers, Run, register_figure
from matchprob.plugins.papers.figures.curves import FigureLayout, Panel, draw_curves
from matchprob.plugins.papers.figures.points import (
    CurvePoint,
    Measured,
    increases,
    is_finished,
    measure,
)
from matchprob.plugins.papers.figures.tables import Tables, groups, markdown_report
from matchprob.report.drawing.style import tidy

# Up to this size the paper's method is tried too: beyond, fsolve takes minutes a trial.
_JUDGED = 8
_ROOT_TIMEOUT = 20.0
# The paper has 1,000 trials a point, and 100 from this size on.
_LARGE = 16
_TITLE_2A = "Figure 2a: d = 4, T = m = n/2, b = 1"
_TITLE_2B = "Figure 2b: d = n/4, T = m = n/2, b = 1"
_TITLE_3A = "Figure 3a: q = 4, d = 6, m = 4, three linear layers, 8 weights a layer"


def _lrnn_points(n: int, d: int) -> list[CurvePoint]:
    T = m = n // 2
    network = LinearRNN(n=n, T=T, b=1, d=d, m=m)
    r = d * m
    points = []
    for k in range(-(-r // T), min(n, r) + 1):
        cells = RandomCells(budget=r, rows=k, max_per_row=T, max_per_column=min(T * d, n))
        problem = Problem(network, {"W": cells})
        settings = {"root_timeout": _ROOT_TIMEOUT}
        share = 0.1 if n >= _LARGE else 1.0
        points.append(CurvePoint(k / n, problem, "homotopy", settings, n <= _JUDGED, share))
    return points


def _panel(title: str, xlabel: str = "rows used, share of n") -> Panel:
    def draw(axes: Axes, tables: Tables) -> Axes:
        tidy(axes, xlabel, "match probability")
        return draw_curves(axes, groups(tables[""], "curve"), title)

    return draw


def _baseline_text(curves: Mapping[str, Sequence[Measured]]) -> str:
    tried = sum(m.baseline.trials for ms in curves.values() for m in ms if m.baseline)
    missed = sum(m.missed for ms in curves.values() for m in ms)
    if not tried:
        return ""
    return (
        f"* Crosses: the paper's method (fsolve, up to 400 starts) on {tried} of the same "
        f"instances. In {missed} of them it finds no solution where one is certain: its curve is "
        "pulled down.\n"
    )


def _certified_text(measured: Sequence[Measured]) -> str:
    total = sum(m.estimate.trials for m in measured)
    maximal = sum(m.kinds["certified maximal"] for m in measured)
    minimal = sum(m.kinds["certified minimal"] for m in measured)
    open_ = sum(m.estimate.undetermined for m in measured)
    return (
        f"{total} trials: {maximal} settled by a maximal verdict, {minimal} by a minimal one, "
        f"{open_} undetermined"
    )


def _text(run: Run, title: str, curves: Mapping[str, Sequence[Measured]], remarks: str) -> str:
    trials = {name: {m.estimate.trials for m in found} for name, found in curves.items() if found}
    said = "; ".join(f"{name}: {' or '.join(map(str, sorted(n)))}" for name, n in trials.items())
    lines = [f"Trials a point: {said}. Seed {run.seed}.", ""]
    for name, measured in curves.items():
        if measured:
            lines.append(f"* {name}: {_certified_text(measured)}; {increases(measured)}.")
    lines.append(_baseline_text(curves) + remarks)
    rows = [m.row(name) for name, measured in curves.items() for m in measured]
    return markdown_report(title, lines, rows)


_REMARKS_2 = """\
* Each trial draws its own allocation, so points are estimates, also where every allocation drawn
  is certified maximal (`certified_maximal`). Bars are 95 % Clopper–Pearson intervals in which an
  undetermined trial counts as unmatched below and as matched above.
* The paper draws 1,000 trials and a line without intervals. Its leftmost point uses as few rows
  as Theorem 3.4 allows: there the allocations are those of Theorem 3.5 and MP is 1, which a
  curve that "increases with rows" must first leave.
* Allocations that the caps of Theorem 3.4 allow may still be minimal (a deficient rank that no
  row or column count shows); such draws are certified unmatched here and lower the curve, where a
  solver only reports that it found nothing.
* The paper assumes Td ≤ n (section 3), and these nets do not have it: Td = 2n in Figure 2a, and
  n²/8 > n in Figure 2b for n = 12 and 16. A column then holds at most n weights, not Td.
* A matched trial has a certified real solution, found by Gauss–Newton runs or among some of its
  complex ones; only where none is found are all counted. Where their number takes longer than
  20 s such a trial is undetermined. Triangles are certified lower bounds: trials with a certain
  solution.
"""


@register_figure(
    "fig2a", "First paper, Figure 2a: linear RNN, d = 4, T = m = n/2, b = 1", 50,
    FigureLayout((_panel(_TITLE_2A),)), curves=("n = 8", "n = 12", "n = 16"),
)  # fmt: skip
def fig2a(run: Run) -> Numbers:
    """MP against the share of rows used, for n = 8, 12, 16."""
    curves = {f"n = {n}": _lrnn_points(n, 4) for n in (8, 12, 16)}
    return _numbers(run, curves, _TITLE_2A, _REMARKS_2)


@register_figure(
    "fig2b", "First paper, Figure 2b: linear RNN, d = n/4, T = m = n/2, b = 1", 50,
    FigureLayout((_panel(_TITLE_2B),)), curves=("n = 8", "n = 12", "n = 16"),
)  # fmt: skip
def fig2b(run: Run) -> Numbers:
    """The same with d = n/4, for n = 8, 12, 16."""
    curves = {f"n = {n}": _lrnn_points(n, n // 4) for n in (8, 12, 16)}
    return _numbers(run, curves, _TITLE_2B, _REMARKS_2)


def _numbers(run: Run, curves: dict[str, list[CurvePoint]], title: str, remarks: str) -> Numbers:
    curves = {name: run.some(points) for name, points in curves.items()}
    measured = measure(run, curves)
    rows = [m.row(name) for name, found in measured.items() for m in found]
    wanted = sum(len(points) for points in curves.values())
    text = _text(run, title, measured, remarks)
    return Numbers(rows, text, is_finished(run, measured, wanted))


def _layer_points(n: int) -> list[CurvePoint]:
    network = LinearFeedForward(q=4, widths=(n, n), d=6, m=4)
    points = []
    for k in range(2, 9):
        learn = {
            "W1": RandomCells(budget=8, columns=min(k, 4), max_per_row=4, max_per_column=6),
            "W2": RandomCells(budget=8, rows=min(k, n), max_per_row=4, max_per_column=6),
            "W3": RandomCells(budget=8, rows=min(k, 6), max_per_row=4, max_per_column=6),
        }
        settings = {"root_timeout": _ROOT_TIMEOUT}
        points.append(CurvePoint(k, Problem(network, learn), "homotopy", settings))
    return points


_REMARKS_3A = """\
* Matched trials have a certified real solution. Unmatched ones have a minimal allocation, or a
  complete count of solutions of which none is real. Trials that neither decides are undetermined.
* The first layer has four columns and the last six rows: beyond these k limits only what is left.
  Theorem 4.1's counts are necessary, not sufficient (`docs/theorems.md`): draws that satisfy them
  and are minimal all the same are certified unmatched.
"""


@register_figure(
    "fig3a", "First paper, Figure 3a: three linear layers, 8 weights a layer", 50,
    FigureLayout((_panel(_TITLE_3A, "rows used (columns in the first layer)"),)),
    curves=("n = 6", "n = 8", "n = 10"),
)  # fmt: skip
def fig3a(run: Run) -> Numbers:
    """MP against the rows (columns in the first layer) used, for n = 6, 8, 10."""
    curves = {f"n = {n}": _layer_points(n) for n in (6, 8, 10)}
    return _numbers(run, curves, _TITLE_3A, _REMARKS_3A)
