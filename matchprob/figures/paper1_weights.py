"""The first paper's allocations again, when weights are bounded, and when they must be found.

Three groups: section B.1.1 (two weights of a 2×2 linear RNN); linear RNNs of Figure 2a's size
(n = 8, T = m = 4, b = 1, d = 4, sixteen weights of W) in the first 4 … 8 rows; a shallow ReLU
net of Figure 3b's (q = 6, n = 8, d = 4, m = 6, twenty-four weights of W1).

Of each number of rows one allocation stands for all: the first that was drawn (seed 0, under the
paper's caps) that is not minimal and whose generic root count N is within reach, so that every
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
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from algebra.networks.recurrent import LinearRNN
from algebra.networks.relu import ShallowReLU
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.problems.random_cells import RandomCells
from matchprob.api.profile import profile
from matchprob.api.train import train
from matchprob.figures import Reproduction, Run, register_figure
from matchprob.figures.points import markdown_table
from matchprob.io.progress import progress
from matchprob.report.drawing.palette import BLUE, INK, ORANGE, ROSE, SKY, VERMILION
from matchprob.report.drawing.style import heading, new_figure, shared_legend, tidy
from numeric.profiles.profile import Profile, ProfileResult
from numeric.training.experiment import Share, TrainResult

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
OPTIMIZERS = {"gd": VERMILION, "adam": ORANGE, "levenberg-marquardt": BLUE}
# Trials that a point of the last panel needs.
_LEAST = 10
# Bounds of the table.
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


def cases() -> list[Case]:
    """All of them, in the order of the pictures."""
    small = {
        "diagonal": [[1, 0], [0, 1]],
        "off-diagonal": [[0, 1], [1, 0]],
        "one row": [[1, 1], [0, 0]],
    }
    out = [Case("B.1.1", name, Problem(SMALL_NET, {"W": mask})) for name, mask in small.items()]
    for rows, columns in ROWS.items():
        cells = [("W", i, j) for i, row in enumerate(columns) for j in row]
        problem = Problem.of(Allocation.from_cells(LARGE_NET, cells))
        slow = rows == max(ROWS)
        engine = "multistart" if slow else None
        out.append(Case("n = 8", f"{rows} rows", problem, 0.05 if slow else 0.25, engine))
    relu = Problem(ShallowReLU(q=6, n=8, d=4, m=6), {"W1": RandomCells(budget=24, rows=8)})
    out.append(Case("ReLU", "ReLU net", relu, 0.25))
    return out


@register_figure(
    "weights",
    "First paper: its allocations under bounds, and found by training",
    1000,
    ("training",),
)
def weights(run: Run) -> Reproduction:
    """MP against the largest weight allowed, and what three optimizers find of it."""
    done: list[_Done] = []
    every = cases()
    with suppress(KeyboardInterrupt):
        for case in every:
            _measure(run, case, done)
    rows = [_row(one) for one in done]
    return Reproduction(
        _draw_sizes(done),
        rows,
        _text(run, done),
        len(done) == len(every) and len(done[-1].trained) == len(OPTIMIZERS),
        {"training": _draw_training([one for one in done if one.trained])},
    )


def _measure(run: Run, case: Case, done: list[_Done]) -> None:
    """Profile and train one case; what is there of it is put behind those done.

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


def _row(done: _Done) -> dict[str, object]:
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
        row[f"false_{optimizer}"] = one.false_matches if one else ""
    return row


def _draw_sizes(done: Sequence[_Done]) -> Picture:
    """MP against the largest weight allowed: one panel a group."""
    picture = new_figure(7.5, 3.0)
    groups = list(dict.fromkeys(one.case.group for one in done))
    panels = np.atleast_1d(picture.subplots(1, max(1, len(groups)), sharey=True))
    bounds = np.geomspace(0.1, 1e4, 400)
    for axes, group in zip(panels, groups, strict=False):
        some = [one for one in done if one.case.group == group]
        for colour, one in zip(_COLOURS, some, strict=False):
            own = _of(one.profile)
            points = [own.at(float(b)) for b in bounds]
            low = np.array([p.matched / own.trials for p in points])
            open_ = any(p.undetermined for p in points)
            label = f"{one.case.name}, at least" if open_ else one.case.name
            axes.step(bounds, low, where="post", color=colour, lw=1.2, label=label)
            if not open_:
                axes.fill_between(
                    bounds, [p.interval.low for p in points], [p.interval.high for p in points],
                    step="post", color=colour, alpha=0.15, lw=0,
                )  # fmt: skip
        axes.set_xscale("log")
        axes.set_xlim(bounds[0], bounds[-1])
        axes.set_ylim(-0.02, 1.03)
        tidy(axes, "largest |weight| allowed", "match probability" if axes is panels[0] else "")
        heading(axes, group, axes.get_legend_handles_labels()[0])
    return picture


def _draw_training(done: Sequence[_Done]) -> Picture:
    """Found by training beside exists; and the found share against the nearest match's distance."""
    picture = new_figure(7.5, 3.4)
    left, right = picture.subplots(1, 2, width_ratios=(3, 2))
    width = 0.2
    for k, one in enumerate(done):
        first = next(iter(one.trained.values()))
        left.bar(k - 1.5 * width, first.exists / first.trials, width, color=INK, alpha=0.3)
        for j, (optimizer, colour) in enumerate(OPTIMIZERS.items()):
            trained = one.trained.get(optimizer)
            if trained is not None:
                share = trained.found / trained.trials
                left.bar(k + (j - 0.5) * width, share, width, color=colour)
    left.set_xticks(range(len(done)), [one.case.name for one in done], rotation=35, ha="right")
    left.set_ylim(0, 1.03)
    tidy(left, "", "share of trials")
    heading(left, "a match exists, and is found")
    _draw_distances(right, done)
    handles = [left.bar(0, 0, color=INK, alpha=0.3, label="a match exists")]
    handles += [left.bar(0, 0, color=c, label=f"found by {name}") for name, c in OPTIMIZERS.items()]
    shared_legend(picture, handles)  # type: ignore[arg-type]
    return picture


def _draw_distances(axes: Axes, done: Sequence[_Done]) -> None:
    """Found share of matches by the distance of the nearest, for each group of linear networks."""
    edges = np.geomspace(0.1, 1e3, 9)
    for group, line in (("B.1.1", "o-"), ("n = 8", "s--")):
        some = [one for one in done if one.case.group == group]
        for optimizer, colour in OPTIMIZERS.items():
            known = [
                (t.distance, t.found)
                for one in some
                if optimizer in one.trained
                for t in one.trained[optimizer].trained
                if t.exists and t.distance is not None
            ]
            xs, ys = [], []
            for low, high in pairwise(edges):
                inside = [found for distance, found in known if low <= distance < high]
                if len(inside) >= _LEAST:
                    xs.append(float(np.sqrt(low * high)))
                    ys.append(sum(inside) / len(inside))
            axes.plot(xs, ys, line, color=colour, ms=3.5, lw=1.1)
    axes.set_xscale("log")
    axes.set_ylim(-0.02, 1.03)
    tidy(axes, "distance of the nearest match", "found, given that one exists")
    heading(axes, "solid: B.1.1; dashed: n = 8")


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
