"""Section B.1.1 and the warm-up of the first paper: networks small enough for exact results."""

from __future__ import annotations

from itertools import combinations

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from algebra.networks.feedforward import LinearEstimator
from algebra.networks.recurrent import LinearRNN
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from matchprob.api.certify import certify
from matchprob.plugins.papers.figures import Numbers, Run, register_figure
from matchprob.plugins.papers.figures.curves import FigureLayout, matched_share
from matchprob.plugins.papers.figures.points import CurvePoint, measure
from matchprob.plugins.papers.figures.tables import Tables, cell_number, groups, markdown_report
from matchprob.report.drawing.palette import BLUE, INK, SKY, VERMILION
from matchprob.report.drawing.style import heading, name_ticks, tidy
from numeric.statistics.estimate import Estimate

_PAPER = {"diagonal": 0.74, "off-diagonal": 0.83}
# By the closed form, 2·10⁷ draws: benchmarks/closed_form_b11.py; standard error 0.0001.
_TRUE = {"diagonal": 0.7153, "off-diagonal": 0.8289}
# The paper prints two digits.
_PRINTED = 0.005


def _draw_b11(axes: Axes, tables: Tables) -> Axes:
    rows = tables[""]
    for k, row in enumerate(rows):
        value, name = matched_share(row), str(row["curve"])
        face = SKY if row["certified"] and value else "white"
        axes.bar(k, value, color=face, edgecolor=SKY, width=0.6)
        if not row["certified"]:
            low, high = (
                max(value - cell_number(row, "low"), 0),
                max(cell_number(row, "high") - value, 0),
            )
            axes.errorbar(k, value, [[low], [high]], color=INK, capsize=3)
        if name in _PAPER:
            axes.plot(k, _PAPER[name], "x", color=VERMILION, mew=1.5)
            width = [k - 0.25, k + 0.25]
            axes.plot(width, [_TRUE[name]] * 2, color=BLUE, lw=1)
    axes.set_ylim(0, 1.08)
    name_ticks(axes, range(len(rows)), [str(row["curve"]) for row in rows])
    tidy(axes, "", "match probability")
    heading(axes, "Section B.1.1: two weights learn", [
        Patch(facecolor=SKY, edgecolor=SKY, label="certified: exact"),
        Patch(facecolor="white", edgecolor=SKY, label="estimate, 95 % interval"),
        Line2D([], [], color=BLUE, lw=1, label="closed form"),
        Line2D([], [], color=VERMILION, ls="", marker="x", mew=1.5, label="printed in the paper"),
    ])  # fmt: skip
    return axes


def _draw_warmup(axes: Axes, tables: Tables) -> Axes:
    kinds = groups(tables[""], "curve")
    for k, rows in enumerate(kinds.values()):
        certified = all(row["certified"] for row in rows)
        value = max(map(matched_share, rows))
        axes.bar(k, value, color=SKY if certified else "white", edgecolor=SKY, width=0.6)
    axes.set_ylim(0, 1.08)
    name_ticks(axes, range(len(kinds)), list(kinds))
    tidy(axes, "learnable weights in the two rows", "match probability")
    heading(axes, "Section 2.1: linear estimator, q = 3, d = 2, m = 2", [
        Patch(facecolor=SKY, edgecolor=SKY, label="certified: exact, the most of its allocations"),
    ])  # fmt: skip
    return axes


def judgement(name: str, found: Estimate) -> str:
    """What a run and the paper's number say of the true value, each with its own error.

    Notes
    -----
    The paper's trials are unknown.  A share of k trials lies within 1.96 sqrt(p (1 - p)/k) of the
    true p in 95 of 100 cases, and is printed to within 0.005: a number as far away as the paper's
    is no surprise up to the k at which the two together reach it.
    """
    if name not in _PAPER:
        return "."
    true, printed, interval = _TRUE[name], _PAPER[name], found.interval()
    here = "holds" if true in interval else "misses, as one interval in twenty does,"
    gap = abs(printed - true) - _PRINTED
    if gap <= 0:
        paper = f"the paper's {printed} is the true value to its two digits"
    else:
        most = int(1.96**2 * true * (1 - true) / gap**2)
        paper = (
            f"the paper's {printed} is {printed - true:+.3f} away: within sampling error if it "
            f"rests on at most {most} trials, which it does not say"
        )
    return f", an interval that {here} the true {true:.4f}; {paper}."


@register_figure(
    "b11", "First paper, section B.1.1: two weights of a 2×2 linear RNN", 20_000,
    FigureLayout((_draw_b11,), height=3.4),
)  # fmt: skip
def b11(run: Run) -> Numbers:
    """The six allocations of two weights: four maximal, two in between."""
    network = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    names = {
        ((0, 0), (0, 1)): "row 0",
        ((1, 0), (1, 1)): "row 1",
        ((0, 0), (1, 0)): "column 0",
        ((0, 1), (1, 1)): "column 1",
        ((0, 0), (1, 1)): "diagonal",
        ((0, 1), (1, 0)): "off-diagonal",
    }
    curves = {}
    for pair, name in names.items():
        allocation = Allocation.from_cells(network, [("W", i, j) for i, j in pair])
        curves[name] = [CurvePoint(0, Problem.of(allocation), "homotopy", {"complete": True})]
    certified = {name: certify(points[0].problem) for name, points in curves.items()}
    for name, points in curves.items():
        if certified[name].verdict == "maximal":
            curves[name] = [CurvePoint(0, points[0].problem)]
    measured = measure(run, curves)
    rows = [m.row(name) for name, ms in measured.items() for m in ms]
    lines = []
    for name, ms in measured.items():
        for m in ms:
            verdict = certified[name].verdict
            if m.is_certified:
                lines.append(f"* {name}: certified {verdict}, MP = {m.estimate.certified:.0f}.")
                continue
            i = m.estimate.interval()
            lines.append(
                f"* {name}: certified {verdict}; {m.estimate.value_text} [{i.low:.4f}, "
                f"{i.high:.4f}] from {m.estimate.trials} trials{judgement(name, m.estimate)}"
            )
    lines += [
        "",
        "The paper's four maximal allocations are confirmed by proof. It gives its two other "
        "numbers without the number of trials or an interval, so each is held against the true "
        "value (by the discriminant, 2·10⁷ draws, standard error 0.0001; "
        "`benchmarks/closed_form_b11.py`), not against this run. Every instance here has both "
        "complex solutions certified.",
    ]
    title = "Section B.1.1: n = 2, T = 2, b = d = 1, m = 2, two weights of W"
    done = sum(m.estimate.trials == run.trials for ms in measured.values() for m in ms)
    return Numbers(rows, markdown_report(title, lines, rows), done == len(curves))


@register_figure(
    "warmup", "First paper, section 2.1: the linear estimator", 200,
    FigureLayout((_draw_warmup,), 5.0, 3.2),
)  # fmt: skip
def warmup(run: Run) -> Numbers:
    """All allocations of dm weights of a linear estimator: MP is 0 or 1, by verdict."""
    network = LinearEstimator(q=3, d=2, m=2)
    rows_, columns = network.shapes["W"]
    cells = [("W", i, j) for i in range(rows_) for j in range(columns)]
    curves: dict[str, list[CurvePoint]] = {}
    groups: dict[tuple[int, ...], list[Problem]] = {}
    for chosen in combinations(cells, network.outputs):
        allocation = Allocation.from_cells(network, chosen)
        counts = tuple(sorted(allocation.row_counts("W"), reverse=True))
        groups.setdefault(counts, []).append(Problem.of(allocation))
    for counts, problems in groups.items():
        curves[" + ".join(map(str, counts))] = [CurvePoint(k, p) for k, p in enumerate(problems)]
    measured = measure(run, curves)
    rows = [m.row(name) for name, ms in measured.items() for m in ms]
    lines = []
    for name, ms in measured.items():
        values = {m.estimate.matched / m.estimate.trials for m in ms if m.estimate.trials}
        certified = all(m.is_certified for m in ms)
        lines.append(
            f"* {name} weights in the rows: {len(ms)} allocations, MP {sorted(values)}"
            + (", all by verdict." if certified else ".")
        )
    lines += [
        "",
        "As the paper says: with m learnable weights in every row the rows are m × m linear "
        "systems and MP = 1; with more than m in one row another has too few and MP = 0.",
    ]
    title = "Section 2.1: linear estimator, q = 3, d = 2, m = 2, four weights learn"
    done = all(m.estimate.trials == run.trials for ms in measured.values() for m in ms)
    return Numbers(rows, markdown_report(title, lines, rows), done)
