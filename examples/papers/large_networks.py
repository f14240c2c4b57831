"""What MP tends to as a linear RNN grows: limits of all small digraphs of cells, and the way there.

The first paper (section 3.3) anticipates that "for large networks the match probability for all
allocations will approach 1".  For a fixed number r of learnable weights of W it has a limit that
depends on the digraph of their cells (`algebra.networks.large`), and the limit may be below 1.

Tables: all digraphs of r cells, with as many equations as cells; some of them with more trials, to
which MP_n = MP_∞ + c x(n) is fitted; random allocations, of a fixed number of cells, and of a
number that grows with n, which are only simulated.  Trials at n units are decided by
`numeric.plugins.papers.large_networks`: those of `estimate`, in less time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from algebra.certificates.certificate import Certificate
from algebra.checker.verdicts import MAXIMAL, MINIMAL, UNDECIDED
from algebra.networks.large import LargeNetwork
from algebra.networks.protocols import jacobian_of
from algebra.networks.recurrent import LinearRNN
from algebra.plugins.papers.limits import limit_verdict
from algebra.problems.problem import ALL, Problem
from algebra.problems.random_cells import RandomCells
from algebra.results import named
from algebra.systems.root_count import generic_root_count
from matchprob.api.certify import certify, verify
from matchprob.api.estimate import estimate
from matchprob.plugins.papers.figures import Numbers, Run, register_figure
from matchprob.plugins.papers.figures.curves import FigureLayout
from matchprob.plugins.papers.figures.experiments import Task, compute
from matchprob.plugins.papers.figures.tables import (
    Rows,
    Tables,
    cell_number,
    groups,
    markdown_table,
)
from matchprob.report.drawing.palette import SERIES
from matchprob.report.drawing.style import heading, tidy
from numeric.plugins.papers.large_networks import MatchCounts, count_matches, count_trials
from numeric.statistics.estimate import Estimate, any_of
from numeric.statistics.intervals import proportion_interval
from numeric.trials.instances import draw_instance

Cells = tuple[tuple[int, int], ...]
_SIZES = (8, 16, 32, 64)


@dataclass(frozen=True)
class _Curve:
    """A digraph with more trials; T = r, b = d = 1; the limit of MP where a proof has it.

    ``roots`` are √n of more units, whose numbers are drawn as normal ones; none where solutions
    are then too close to infinity to be counted.
    """

    name: str
    cells: Cells
    limit: float | None = None
    roots: tuple[int, ...] = (32, 128)


_CURVES = (
    _Curve("3 disjoint cells", ((0, 1), (2, 3), (4, 5))),
    _Curve("diagonal of 3", ((0, 0), (1, 1), (2, 2)), 0.5, ()),
    _Curve("3-cycle", ((0, 1), (1, 2), (2, 0))),
    _Curve("path of 2, and a cell", ((0, 1), (1, 2), (3, 4))),
    _Curve("2 loops", ((0, 0), (1, 1)), 0.5),
    _Curve("loop, and a cell", ((0, 0), (1, 2)), 0.5),
)
_FAR = (*_SIZES, 128)
# The laws MP_n = MP_∞ + c x that are fitted besides the best power.
_LAWS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "n^-1": lambda n: n**-1.0,
    "n^-1/2": lambda n: n**-0.5,
    "n^-1/2 log n": lambda n: n**-0.5 * np.log(n),
}
_POWERS = [0.01 * k for k in range(2, 301)]
# r, and T, b, d of the tables of all digraphs; m = r / d.  With r = 1 and two labels MP is 0, and
# (4, 3, 2, 2) and (4, 4, 2, 2) take too long.
_TABLES = ((1, 2, 1, 1), (1, 3, 1, 1), (1, 4, 1, 1), (2, 2, 1, 1), (2, 3, 1, 1), (2, 4, 1, 1),
           (2, 2, 2, 2), (2, 3, 2, 2), (2, 4, 2, 2), (3, 2, 1, 1), (3, 3, 1, 1), (3, 4, 1, 1),
           (3, 2, 2, 2), (3, 3, 2, 2), (3, 4, 2, 2), (4, 2, 1, 1), (4, 3, 1, 1), (4, 4, 1, 1),
           (4, 2, 2, 2))  # fmt: skip
# Where a trial of a network takes a second, as there are more weights than equations.
_LIMITS_ALONE = ((3, 4, 2, 2),)
# √n at which digraphs are tried whose limit has no known equations.
_ROOT = 100
_ODD_SUBSET = "fewer cells"


@dataclass(frozen=True)
class _Task:
    """Trials of a digraph at so many units n, of each; without sizes, of the limit."""

    cells: Cells
    T: int
    b: int
    d: int
    sizes: tuple[int, ...]
    trials: int
    seed: int

    def problem(self, n: int = 0) -> Problem:
        """That of n units; of a limit, the smallest number that holds the cells."""
        least = max(1 + max(unit for cell in self.cells for unit in cell), self.T * self.b)
        return problem_of(self.cells, n or least, self.T, self.b, self.d)

    @property
    def seeds(self) -> list[int]:
        """Different trials for each n: of one seed the first entries of the matrices are equal."""
        return [1000 * self.seed + n for n in self.sizes]


def digraphs(r: int) -> list[Cells]:
    """All sets of r cells up to a renaming of the units, with as few units as possible.

    Examples
    --------
    >>> [len(digraphs(r)) for r in (1, 2, 3)]
    [2, 9, 37]
    """
    level: set[Cells] = {()}
    for _ in range(r):
        level = {_least((*cells, cell)) for cells in level for cell in _more(cells)}
    return sorted(level)


def _more(cells: Cells) -> Iterator[tuple[int, int]]:
    units = len({unit for cell in cells for unit in cell})
    for i in range(units + 1):
        for j in range(units + 1 + (i == units)):
            if (i, j) not in cells:
                yield i, j


def _least(cells: Cells) -> Cells:
    units = sorted({unit for cell in cells for unit in cell})
    named = (dict(zip(units, order, strict=True)) for order in permutations(range(len(units))))
    return min(tuple(sorted((name[i], name[j]) for i, j in cells)) for name in named)


def problem_of(cells: Cells, n: int, T: int, b: int = 1, d: int = 1) -> Problem:
    """A linear RNN in which these cells of W learn, with at most as many labels as cells."""
    mask = np.zeros((n, n), np.int8)
    mask[tuple(np.array(cells).T)] = 1
    return Problem(LinearRNN(n=n, T=T, b=b, d=d, m=len(cells) // d), {"W": mask})


def reversed_cells(cells: Cells) -> Cells:
    """The digraph with all arrows reversed: of b = d = 1 it has the same law, by transposition."""
    return _least(tuple((j, i) for i, j in cells))


def limit_of_two_steps(cells: Cells) -> float:
    """The limit of T = 2, b = d = 1, r ≥ 2 cells and m ≥ 2 (Theorem 18 on the page).

    Examples
    --------
    >>> limit_of_two_steps(((0, 0), (1, 1), (2, 2))), limit_of_two_steps(((0, 0), (1, 1), (1, 2)))
    (0.75, 1.0)
    """
    loops = {i for i, j in cells if i == j}
    others = [cell for cell in cells if cell[0] != cell[1]]
    is_apart = len(others) == 1 and loops.isdisjoint(others[0])
    return 1 - 2.0 ** (1 - len(cells)) if not others or is_apart else 1.0


def _work(task: _Task) -> dict[str, Any]:
    """The outcomes of a task, one for each of its sizes."""
    if not task.sizes:
        return _limit(task)
    if task.sizes[0] > max(_FAR):
        return {"counts": [_far(task, math.isqrt(n)) for n in task.sizes]}
    problems = [task.problem(n) for n in task.sizes]
    return {"counts": list(map(asdict, count_trials(problems, task.trials, task.seeds)))}


def _limit(task: _Task) -> dict[str, Any]:
    problem, seed, trials = task.problem(), 1000 * task.seed, task.trials
    proved = limit_verdict(problem, _verified, seed)
    out, found = {"verdict": proved.verdict, "growths": "open"}, proved.limit
    surplus = len(task.cells) > jacobian_of(problem.network).label_dimension_bound
    if found is None and surplus:
        return out | {"counts": [asdict(MatchCounts(0, 0, trials, None))]}
    if found is None:
        return out | {"counts": [_far(task, _ROOT)]}
    several = " + ".join(map(str, found.counts)) or "not joined"
    out["growths"] = _ODD_SUBSET if found.counts and surplus else several
    if proved.verdict in (MAXIMAL, MINIMAL):
        matched = trials if proved.verdict == MAXIMAL else 0
        counts = MatchCounts(matched, trials - matched, 0, None, certified=True)
        return out | {"counts": [asdict(counts)]}
    parts = found.deciding
    # Of labels that are 0 every trial is decided over Q, which takes longer.
    if any(part.teacher is not None for part in parts):
        trials = -(-trials // 2)
    mp = any_of([_whole(estimate(part, trials, seed=seed), trials) for part in parts])
    counts = MatchCounts(mp.matched, mp.unmatched, mp.undetermined, None)
    return out | {"counts": [asdict(counts)]}


def _verified(part: Problem) -> Certificate:
    """The verdict on a part, which must verify."""
    found = certify(part)
    if found.verdict != UNDECIDED and not verify(found).holds:
        raise RuntimeError(f"the verdict {found.verdict} on {part.network} was not verified")
    return found


def _far(task: _Task, root: int) -> dict[str, Any]:
    """Trials at n = root² units, with numbers P, Q, G, H that are independent normal ones."""
    T, b, d, m = task.T, task.b, task.d, len(task.cells) // task.d
    network = LargeNetwork(cells=task.cells, T=T, b=b, d=d, m=m, root=root)
    problem, seed = Problem(network, {"W": ALL}), 1000 * task.seed + root**2
    drawn = (draw_instance(problem, seed, index) for index in range(task.trials))
    N = generic_root_count(problem.allocation, seed=seed).value
    return asdict(count_matches(problem, drawn, task.trials, N))


def _numbers(found: dict[str, Any], n: int | None = None) -> dict[str, Any]:
    """Columns of a result; at n units their names end with n."""
    interval = proportion_interval(found["matched"], found["unmatched"], found["undetermined"])
    trials = found["matched"] + found["unmatched"] + found["undetermined"]
    low, high = (1.0, 1.0) if found["certified"] else (interval.low, interval.high)
    if found["certified"] and not found["matched"]:
        low = high = 0.0
    mp = found["matched"] / trials
    end = "" if n is None else n
    columns = {"mp": mp, "low": low, "high": high}
    rounded = {f"{name}{end}": round(value, 4) for name, value in columns.items()}
    # Where many trials are open there is an interval alone.
    return rounded | ({f"mp{end}": ""} if 10 * found["undetermined"] > trials else {})


def _table(run: Run) -> Rows:
    """The limits of all digraphs: N of each growth, and MP there and at finite n."""
    rows = []
    for r, T, b, d in run.some(_TABLES):
        # The longest: more cells than equations, and many solutions.
        is_long = r > T or (d > 1 and r > 2)
        trials = max(1, run.trials // (160 if is_long else 80 if r == 4 else 20))
        every = [c for c in digraphs(r) if max(b, d) > 1 or c <= reversed_cells(c)]
        sizes = (_SIZES[0], _SIZES[-1]) if is_long else _SIZES
        limits = {c: _Task(c, T, b, d, (), 2 * trials, run.seed) for c in run.some(every)}
        finite = {c: _Task(c, T, b, d, sizes, trials, run.seed) for c in limits}
        if (r, T, b, d) in _LIMITS_ALONE:
            finite = {}
        found = _computed(run, [*limits.values(), *finite.values()], _work)
        for cells, task in limits.items():
            (limit,) = found[task]["counts"]
            own = found[finite[cells]]["counts"] if finite else [{"root_count": None}]
            row: dict[str, Any] = {
                "cells": " ".join(f"{i}-{j}" for i, j in cells), "r": r, "T": T, "b": b, "d": d,
                "growths": found[task]["growths"], "N": own[-1]["root_count"] or "",
                "N8": own[0]["root_count"] or "",
                "verdict": found[task]["verdict"], "exact": int(limit["certified"]),
                **_numbers(limit),
            }  # fmt: skip
            if row["mp"] == "" and (T, b, d) == (2, 1, 1):
                known = limit_of_two_steps(cells)
                row |= {"exact": 1, "mp": known, "low": known, "high": known}
            at = dict(zip(sizes, own, strict=True)) if finite else {}
            for n in _SIZES:
                blank = {f"mp{n}": "", f"low{n}": "", f"high{n}": ""}
                row |= _numbers(at[n], n) if n in at else blank
            rows.append(row)
        run.say(f"r = {r}, T = {T}, b = {b}, d = {d}: {len(rows)} digraphs in all")
    return rows


def _computed(
    run: Run, tasks: Sequence[Task], work: Callable[[Task], dict[str, Any]]
) -> dict[Task, dict[str, Any]]:
    found = compute(run, tasks, lambda task: (repr(task), 0), work)
    if not found.keys() >= set(tasks):
        # What is finished is kept, as the command says.
        raise KeyboardInterrupt
    return found


def _curves(run: Run) -> Rows:
    """Trials at many n of some digraphs; n = 0 is the limit."""
    rows: list[dict[str, Any]] = []
    for curve in _CURVES:
        sizes = run.some((*_FAR, *(root**2 for root in curve.roots)))
        near, T = tuple(n for n in sizes if n <= max(_FAR)), len(curve.cells)
        groups_of = [near, *((n,) for n in sizes[len(near) :])]
        tasks = [_Task(curve.cells, T, 1, 1, own, run.trials, run.seed) for own in groups_of]
        limit = _Task(curve.cells, T, 1, 1, (), 2 * run.trials, run.seed)
        found = _computed(run, [*tasks, *([limit] if curve.limit is None else [])], _work)
        if curve.limit is None:
            last = {"n": 0, "trials": limit.trials, **_numbers(found[limit]["counts"][0])}
        else:
            last = {"n": 0, "trials": 0, **dict.fromkeys(("mp", "low", "high"), curve.limit)}
        own = [last] + [
            {"n": n, "trials": run.trials, **_numbers(counts)}
            for task in tasks
            for n, counts in zip(task.sizes, found[task]["counts"], strict=True)
        ]
        run.say(f"{curve.name}: {last['mp']:.3f} in the limit")
        rows += [{"curve": curve.name, **row} for row in own]
    return rows


def misfit(rows: Rows, law: Callable[[np.ndarray], np.ndarray]) -> tuple[float, float, float]:
    """χ², c and its standard error of MP_n = MP_∞ + c x(n), by least squares.

    Parameters
    ----------
    rows : sequence of mapping
        With n (0 is the limit), mp, and trials (0 if the limit is known).
    law : callable
        x.
    """
    n, mp, trials = (
        np.array([cell_number(row, key) for row in rows]) for key in ("n", "mp", "trials")
    )
    p = (mp * trials + 1) / (trials + 2)
    # A known limit has a weight that no trial changes.
    weight = np.where(trials > 0, trials / (p * (1 - p)), 1e9)
    A = np.stack([np.ones(len(n)), np.where(n > 0, law(np.maximum(n, 2)), 0.0)], 1)
    covariance = np.linalg.inv(A.T @ (weight[:, None] * A))
    best = covariance @ (A.T @ (weight * mp))
    chi = weight @ (mp - A @ best) ** 2
    return float(chi), float(best[1]), float(covariance[1, 1] ** 0.5)


def _power(a: float, n: np.ndarray) -> np.ndarray:
    return n**-a


def approach(rows: Rows) -> Rows:
    """The power a of MP_n = MP_∞ + c n^-a with its 95 % interval, and the misfits of other laws.

    ``away`` is the distance of MP at n = 64 from the fit, in standard errors of its trials.
    """
    chis = [misfit(rows, partial(_power, a))[0] for a in _POWERS]
    inside = [a for a, chi in zip(_POWERS, chis, strict=True) if chi < min(chis) + 3.84]
    best = _POWERS[int(np.argmin(chis))]
    laws: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        f"n^-{best:.2f}": partial(_power, best),
        **_LAWS,
    }
    out = []
    for name, law in laws.items():
        chi, c, error = misfit(rows, law)
        at = [row for row in rows if row["n"] == 64] or rows[-1:]
        p, trials = cell_number(at[0], "mp"), cell_number(at[0], "trials")
        own = ((p * trials + 1) * (trials - p * trials + 1) / (trials + 2) ** 2 / trials) ** 0.5
        n = np.array(cell_number(at[0], "n"))
        away = (p - cell_number(rows[0], "mp") - c * float(law(n))) / own
        out.append({
            "curve": rows[0]["curve"], "law": name, "c": round(c, 3), "error": round(error, 3),
            "chi2": round(chi, 1), "freedom": len(rows) - 2, "away": round(away, 1),
            "power_low": round(inside[0], 2), "power_high": round(inside[-1], 2),
        })  # fmt: skip
    return out


@dataclass(frozen=True)
class _Random:
    """Trials of r random cells of W at n units, or of the limit (n = 0); m = T."""

    curve: str
    r: int
    n: int
    T: int
    d: int
    trials: int
    seed: int


def _random(run: Run) -> Rows:
    """Random allocations: r fixed beside the limit; r = n and n log n as in Figure 2."""
    trials = max(1, run.trials // 80)
    tasks = []
    for r in run.some(range(2, 7)):
        # Six cells have up to hundreds of solutions at finite n.
        for n in (0, *(() if r > 5 else run.some((16, 64)))):
            own = trials if n else max(1, run.trials // (10 if r > 5 else 5))
            tasks.append(_Random("r fixed", r, n, r, 1, own, run.seed))
    growing: dict[str, Callable[[int], int]] = {
        "r = n": lambda n: 2,
        "r = n log n": lambda n: round(2 * math.log(n)),
    }
    for name, outputs in growing.items():
        for n in run.some((4, 8, 12)):
            T, d = n // 2, outputs(n)
            tasks.append(_Random(name, d * T, n, T, d, trials, run.seed))
    found = _computed(run, tasks, _tried)
    run.say(f"{len(tasks)} numbers of random cells")
    return [found[task] for task in tasks]


def _tried(task: _Random) -> dict[str, Any]:
    """The row of random cells."""
    r, n, T, d = task.r, task.n, task.T, task.d
    network = LinearRNN(n=n or 2 * r, T=T, b=1, d=d, m=T)
    random, more = RandomCells(budget=r), dict[str, Any]()
    if task.curve != "r fixed":
        random = RandomCells(budget=r, max_per_row=T, max_per_column=min(T * d, n))
        more = {"trial_timeout": 60.0}
    problem = Problem(network, {"W": random})
    found = _whole(estimate(problem, task.trials, seed=task.seed, limit=not n, **more), task.trials)
    counts = named(found, "matched", "unmatched", "undetermined")
    return {
        "curve": task.curve, "r": r, "n": n, "T": T, "d": d, "trials": found.trials,
        "undetermined": found.undetermined,
        **_numbers(counts | {"certified": found.certified is not None}),
    }  # fmt: skip


def _whole(found: Estimate, trials: int) -> Estimate:
    """An estimate with all its trials; one that was interrupted must not be kept as a result."""
    if found.trials < trials:
        raise KeyboardInterrupt
    return found


def _panel(axes: Axes, tables: Tables) -> Axes:
    tidy(axes, "hidden units n", "match probability")
    for colour, (name, rows) in zip(
        SERIES, groups(tables["curves"], "curve").items(), strict=False
    ):
        finite = [row for row in rows if cell_number(row, "n")]
        (last,) = [row for row in rows if not cell_number(row, "n")]
        x, y, low, high = (
            np.array([cell_number(row, key) for row in finite])
            for key in ("n", "mp", "low", "high")
        )
        axes.errorbar(
            x, y, [y - low, high - y], color=colour, marker="o", ms=4, mfc="white", lw=1, label=name
        )
        axes.axhline(cell_number(last, "mp"), color=colour, lw=0.8, ls="--")
        axes.axhspan(cell_number(last, "low"), cell_number(last, "high"), color=colour, alpha=0.12)
    axes.set_xscale("log", base=2)
    sizes = sorted({row["n"] for row in tables["curves"] if row["n"]})
    axes.set_xticks(sizes, [f"{n}" for n in sizes])
    axes.set_ylim(0.4, 1.02)
    heading(axes, "Growing linear RNNs; dashed: limits", axes.get_legend_handles_labels()[0])
    return axes


@register_figure(
    "large-networks", "First paper, section 3.3: what MP tends to in large networks", 2000,
    FigureLayout((_panel,), height=4.4), tables=("curves", "approach", "random"),
)  # fmt: skip
def large_networks(run: Run) -> Numbers:
    """Limits of all small digraphs, and MP at n = 8 … 64."""
    curves = _curves(run)
    known = [own for own in groups(curves, "curve").values() if len(own) > 2]
    fits = [row for own in known for row in approach(own)]
    rows = _table(run)
    random = _random(run)
    tables = (fits, curves, random, rows)
    text = "\n\n".join(
        ["# Large networks", *_summary(rows), "MP_n = MP_∞ + c x(n):", *map(markdown_table, tables)]
    )
    more = {"curves": curves, "approach": fits, "random": random}
    return Numbers(rows, text, more=more)


def _summary(rows: Rows) -> list[str]:
    """What the tables of all digraphs show."""
    known = [row for row in rows if row["growths"] != "open" or row["exact"]]
    sure = [row for row in known if row["exact"] and row["mp"] == 1]
    below = [row for row in known if row["high"] < 1]
    out = [
        f"{len(rows)} digraphs: the limit of MP is exactly 1 for {len(sure)}, below 1 with 95 % "
        f"confidence for {len(below)}; of {len(rows) - len(known)} the equations are not known.",
    ]
    for key in dict.fromkeys((row["r"], row["T"], row["b"], row["d"]) for row in rows):
        own = [row for row in known if (row["r"], row["T"], row["b"], row["d"]) == key]
        tried = [row for row in own if row["mp"] != ""]
        if tried:
            last = min(tried, key=lambda row: cell_number(row, "mp"))
            ones = sum(bool(row["exact"]) and row["mp"] == 1 for row in own)
            r, T, b, d = key
            out.append(
                f"* r = {r}, T = {T}, b = {b}, d = {d}: {ones} of {len(own)} have the limit 1; the "
                f"smallest is that of {last['cells']}, {last['mp']} [{last['low']}, {last['high']}]"
            )
    return out
