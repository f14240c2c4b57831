"""The first paper's allocations with bounded weights, and with matches found by training.

Three groups: section B.1.1 (two weights of a 2×2 linear RNN); linear RNNs of Figure 2a's size
(n = 8, T = m = 4, b = 1, d = 4, sixteen weights of W) in the first 4 … 8 rows; a shallow ReLU
net of Figure 3b's (q = 6, n = 8, d = 4, m = 6, twenty-four weights of W1).

For each number of rows one allocation is representative: the first that was drawn (seed 0, under
the paper's caps) that is not minimal and whose generic root count N is within reach, so that every
instance can be counted completely; a curve is a property of that allocation, not of the number.  In
eight rows N is out of reach for all of 38 draws: the first is taken, and its matches are those that
400 Newton starts find, certified, so that its curve is a lower bound.  The ReLU allocation is
drawn anew for each trial, as in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from math import inf

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullFormatter

from algebra.networks.recurrent import LinearRNN
from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.problems.random_cells import RandomCells
from matchprob.io.progress import progress
from matchprob.plugins.papers.figures import Numbers, Run, register_figure
from matchprob.plugins.papers.figures.curves import FigureLayout, Panel
from matchprob.plugins.papers.figures.tables import (
    Row,
    Tables,
    cell_number,
    groups,
    markdown_table,
    rounded,
)
from matchprob.plugins.training.profile import profile
from matchprob.plugins.training.train import OptimizerName, train
from matchprob.report.drawing.palette import BLUE, INK, ORANGE, ROSE, SKY, VERMILION
from matchprob.report.drawing.style import heading, name_ticks, tidy
from numeric.plugins.training.experiment import Share, TrainResult
from numeric.plugins.training.profiles.profile import Profile, ProfileResult
from numeric.statistics.intervals import proportion_interval

# Columns that learn, row by row; N = 1, 3, 41, 72, and out of reach.
ROWS = {
    4: [[0, 2, 5, 7], [0, 3, 5, 7], [2, 3, 5, 7], [1, 2, 3, 7]],
    5: [[1, 2, 6], [0, 1, 4, 6], [6], [0, 1, 2, 3], [1, 2, 5, 6]],
    6: [[1, 3, 5, 7], [5, 7], [0, 1, 2, 4], [0], [6, 7], [1, 2, 6]],
    7: [[1, 3, 5, 7], [5], [1], [0, 4, 5], [0, 4], [6], [1, 2, 3, 6]],
    8: [[0, 6, 7], [2, 5], [1], [0], [5, 6], [0, 1, 2, 3], [1, 5], [3]],
}
SMALL_NET = LinearRNN(n=2, T=2, b=1, d=1, m=2)
LARGE_NET = LinearRNN(n=8, T=4, b=1, d=4, m=4)
OPTIMIZERS: dict[OptimizerName, str] = {
    "gd": VERMILION,
    "adam": ORANGE,
    "levenberg-marquardt": BLUE,
}
# Trials that a point of the last panel needs.
_LEAST = 10
# Of the right panel: a group's line, mark and side; ranges of distances.
_GROUPS = {"B.1.1": ("-", "o", -0.4), "n = 8": ("--", "s", 0.4)}
_EDGES = np.geomspace(0.1, 1e3, 9)
# Bounds of the curves, and of the table.
_AT = np.geomspace(0.1, 1e4, 201)
_BOUNDS = (1.0, 3.0, 10.0)
_COLOURS = (BLUE, VERMILION, ORANGE, ROSE, SKY, INK)


@dataclass(frozen=True)
class Case:
    """One allocation, or one law of allocations.

    Attributes
    ----------
    group, name : str
    problem : Problem
    share : float
        Of a run's trials: some are slower.
    engine : str or None
        None for the network's own.
    """

    group: str
    name: str
    problem: Problem
    share: float = 1.0
    engine: str | None = None


@dataclass(frozen=True)
class _Done:
    case: Case
    profile: ProfileResult
    trained: dict[str, TrainResult]


def cases(numbers: Sequence[int] = tuple(ROWS)) -> list[Case]:
    """In the order of the pictures; of `ROWS` those of so many rows."""
    small = {
        "diagonal": [[1, 0], [0, 1]],
        "off-diagonal": [[0, 1], [1, 0]],
        "one row": [[1, 1], [0, 0]],
    }
    out = [Case("B.1.1", name, Problem(SMALL_NET, {"W": mask})) for name, mask in small.items()]
    for rows in numbers:
        columns = ROWS[rows]
        cells = [("W", i, j) for i, row in enumerate(columns) for j in row]
        problem = Problem.of(Allocation.from_cells(LARGE_NET, cells))
        slow = rows == max(ROWS)
        engine = "multistart" if slow else None
        out.append(Case("n = 8", f"{rows} rows", problem, 0.05 if slow else 0.25, engine))
    relu = Problem(ShallowReLU(q=6, n=8, d=4, m=6), {"W1": RandomCells(budget=24, rows=8)})
    out.append(Case("ReLU", "ReLU net", relu, 0.25))
    return out


def _measure(run: Run, case: Case, done: list[_Done]) -> None:
    """Profile and train one case; its results are appended to `done`.

    Raises
    ------
    KeyboardInterrupt
        Where the work was interrupted.
    """
    trials = max(1, int(run.trials * case.share))
    with progress(case.name, trials) as advance:
        found = profile(
            case.problem, trials=trials, seed=run.seed, engine=case.engine, store=run.store,
            workers=run.workers, advance=advance,
        )  # fmt: skip
    run.say(f"{case.name:<14} {found}")
    if found.trials:
        done.append(_Done(case, found, {}))
    if found.is_partial:
        raise KeyboardInterrupt
    for optimizer in OPTIMIZERS:
        one = train(
            case.problem, trials, optimizer=optimizer, seed=run.seed, engine=case.engine,
            store=run.store, workers=run.workers,
        )  # fmt: skip
        run.say(f"{case.name:<14} {one}")
        if one.is_partial:
            raise KeyboardInterrupt
        done[-1].trained[optimizer] = one


def _of(found: ProfileResult) -> Profile:
    return found.profiles[0]


def _found(done: _Done, optimizer: str) -> Share | None:
    """What an optimizer finds of the matches that exist; None where that is not known."""
    trained = done.trained.get(optimizer)
    share = trained.found_given_exists if trained else None
    return share if share is not None and share.exists else None


def _row(done: _Done) -> Row:
    own = _of(done.profile)
    row: dict[str, object] = {"group": done.case.group, "allocation": done.case.name}
    row["trials"] = own.trials
    for bound in (*_BOUNDS, inf):
        point = own.at(bound)
        name = "any" if bound == inf else f"{bound:g}"
        row[f"within_{name}"] = "" if point.estimate is None else round(point.estimate, 4)
        row[f"within_{name}_low"] = round(point.interval.low, 4)
        row[f"within_{name}_high"] = round(point.interval.high, 4)
    row["undetermined"] = own.at(inf).undetermined
    for optimizer in OPTIMIZERS:
        one, share = done.trained.get(optimizer), _found(done, optimizer)
        values: tuple[float | None, ...] = (None,) * 3
        if share is not None:
            values = (share.estimate, share.interval.low, share.interval.high)
        for key, value in zip(("", "_low", "_high"), values, strict=True):
            row[f"found_{optimizer}{key}"] = "" if value is None else round(value, 4)
        row[f"found_by_{optimizer}"] = one.found if one else ""
        row[f"false_{optimizer}"] = one.false_matches if one else ""
    first = next(iter(done.trained.values()), None)
    row["exists"] = first.exists if first else ""
    return row


def _text(run: Run, done: Sequence[_Done]) -> str:
    lines = [
        "# The first paper's allocations under bounds, and found by training",
        "",
        f"Seed {run.seed}. Largest weight of the smallest match, from certified complete counts; "
        "training from the student's own weights, full batch, default steps and rates; found means "
        "that the end lies in Newton's basin of a certified match (ReLU: its cell has a witness).",
        "",
    ]
    table: list[dict[str, object]] = []
    for one in done:
        own = _of(one.profile)
        line: dict[str, object] = {"allocation": f"{one.case.group}, {one.case.name}"}
        line["trials"] = own.trials
        for bound in (*_BOUNDS, inf):
            p = own.at(bound)
            sign = "≥ " if p.undetermined else ""
            share = p.matched / max(1, own.trials)
            name = "any weights" if bound == inf else f"within {bound:g}"
            line[name] = f"{sign}{share:.3f} {p.interval}"
        for optimizer in OPTIMIZERS:
            found = _found(one, optimizer)
            text = "–" if found is None else f"{found.estimate:.3f} {found.interval}"
            line[f"{optimizer} finds"] = text
        table.append(line)
    lines += [markdown_table(table), ""]
    lines.append(
        "MSE < 0.01 at the end of training: trials so called, of them without a match, and"
    )
    lines.append("trials with a match that are missed.")
    lines.append("")
    criterion = [
        {
            "allocation": f"{one.case.group}, {one.case.name}",
            **{
                name: f"{t.below_criterion} of {t.trials}, {t.false_matches} false, "
                f"{t.missed_matches} missed"
                for name, t in one.trained.items()
            },
        }
        for one in done
        if len(one.trained) == len(OPTIMIZERS)
    ]
    lines += [markdown_table(criterion), ""]
    return "\n".join(lines)


def _sizes(done: Sequence[_Done]) -> list[Row]:
    """MP against the largest weight allowed, at a fixed set of bounds."""
    rows: list[Row] = []
    for one in done:
        own = _of(one.profile)
        points = [own.at(float(bound)) for bound in _AT]
        for bound, p in zip(_AT, points, strict=True):
            rows.append({
                "group": one.case.group, "allocation": one.case.name, "bound": rounded(bound),
                "trials": own.trials, "matched": p.matched, "undetermined": p.undetermined,
                "low": round(p.interval.low, 4), "high": round(p.interval.high, 4),
            })  # fmt: skip
    return rows


def _distances(done: Sequence[_Done]) -> list[Row]:
    """Found share of matches by the distance of the nearest, for each group of linear networks."""
    rows: list[Row] = []
    for group in _GROUPS:
        some = [one for one in done if one.case.group == group]
        for optimizer in OPTIMIZERS:
            known = [
                (t.distance, t.found)
                for one in some
                if optimizer in one.trained
                for t in one.trained[optimizer].trained
                if t.exists and t.distance is not None
            ]
            for low, high in pairwise(_EDGES):
                inside = [found for distance, found in known if low <= distance < high]
                if len(inside) >= _LEAST:
                    share = proportion_interval(sum(inside), len(inside) - sum(inside))
                    rows.append({
                        "group": group, "optimizer": optimizer, "from": rounded(low),
                        "to": rounded(high), "matches": len(inside), "found": sum(inside),
                        "low": round(share.low, 4), "high": round(share.high, 4),
                    })  # fmt: skip
    return rows


def _panel(group: str) -> Panel:
    """MP of a group's allocations against the largest weight allowed."""

    def draw(axes: Axes, tables: Tables) -> Axes:
        some = [row for row in tables["sizes"] if row["group"] == group]
        handles: list[Artist] = []
        for colour, (name, rows) in zip(_COLOURS, groups(some, "allocation").items(), strict=False):
            xs = [cell_number(row, "bound") for row in rows]
            ys = [cell_number(row, "matched") / cell_number(row, "trials") for row in rows]
            open_ = any(row["undetermined"] for row in rows)
            label = f"{name}, at least" if open_ else name
            handles += axes.step(
                xs, ys, where="post", color=colour, lw=1.2, ls="--" if open_ else "-", label=label
            )
            if not open_:
                low, high = ([cell_number(row, key) for row in rows] for key in ("low", "high"))
                axes.fill_between(xs, low, high, step="post", color=colour, alpha=0.15, lw=0)
        if any(not row["undetermined"] for row in some):
            handles.append(Patch(color=INK, alpha=0.15, lw=0, label="95 % interval"))
        axes.set_xscale("log")
        axes.set_xlim(_AT[0], _AT[-1])
        axes.set_xticks([10.0**k for k in range(-1, 5)])
        axes.set_ylim(-0.02, 1.03)
        tidy(axes, "largest |weight| allowed", "match probability")
        heading(axes, group, handles)
        return axes

    return draw


def _draw_training(axes: Axes, tables: Tables) -> Axes:
    """Shares of trials with a match, and of those in which training finds one."""
    rows = [row for row in tables[""] if any(row[f"found_by_{name}"] != "" for name in OPTIMIZERS)]
    width = 0.2
    handles: list[Artist] = [Patch(color=INK, alpha=0.3, label="a match exists")]
    handles += [Patch(color=c, label=f"found by {name}") for name, c in OPTIMIZERS.items()]
    for k, row in enumerate(rows):
        trials = cell_number(row, "trials")
        axes.bar(k - 1.5 * width, cell_number(row, "exists") / trials, width, color=INK, alpha=0.3)
        for j, (optimizer, colour) in enumerate(OPTIMIZERS.items()):
            if row[f"found_by_{optimizer}"] != "":
                share = cell_number(row, f"found_by_{optimizer}") / trials
                axes.bar(k + (j - 0.5) * width, share, width, color=colour)
    name_ticks(axes, range(len(rows)), [str(row["allocation"]) for row in rows])
    axes.set_ylim(0, 1.03)
    tidy(axes, "", "share of trials")
    heading(axes, "a match exists, and is found", handles)
    return axes


def _draw_distances(axes: Axes, tables: Tables) -> Axes:
    """Found share against the nearest match's distance."""
    rows = tables["distances"]
    handles: list[Artist] = []
    for group, (line, mark, side) in _GROUPS.items():
        for j, (optimizer, colour) in enumerate(OPTIMIZERS.items()):
            own = [r for r in rows if r["group"] == group and r["optimizer"] == optimizer]
            # Bars stand a little apart, each inside its range of distances.
            shift = 1.06 ** (2 * j - 2 + side)
            xs = [shift * (cell_number(r, "from") * cell_number(r, "to")) ** 0.5 for r in own]
            ys = [cell_number(r, "found") / cell_number(r, "matches") for r in own]
            axes.plot(xs, ys, line, marker=mark, color=colour, ms=3.5, lw=1.1)
            axes.vlines(xs, [r["low"] for r in own], [r["high"] for r in own], color=colour, lw=0.7)
        handles.append(Line2D([], [], color=INK, ls=line, marker=mark, ms=3.5, lw=1.1, label=group))
    handles.append(Line2D([], [], color=INK, lw=0.7, label="95 % interval"))
    axes.set_xscale("log")
    axes.set_xlim(_EDGES[0], _EDGES[-1])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_ylim(-0.02, 1.03)
    tidy(axes, "distance of the nearest match", "found, given that one exists")
    heading(axes, "of matches so far away, found", handles)
    return axes


@register_figure(
    "weights",
    "First paper: its allocations under bounds, and found by training",
    1000,
    FigureLayout(tuple(map(_panel, ("B.1.1", "n = 8", "ReLU"))), 7.5, 3.0, columns=3),
    FigureLayout((_draw_training, _draw_distances), 7.5, 3.4, 2, (3, 2), name="training"),
    tables=("sizes", "distances"),
)
def weights(run: Run) -> Numbers:
    """MP against the largest weight allowed, and what three optimizers find of it."""
    done: list[_Done] = []
    every = cases(run.some(list(ROWS)))
    with suppress(KeyboardInterrupt):
        for case in every:
            _measure(run, case, done)
    return Numbers(
        [_row(one) for one in done],
        _text(run, done),
        len(done) == len(every) and len(done[-1].trained) == len(OPTIMIZERS),
        {"sizes": _sizes(done), "distances": _distances(done)},
    )
