"""Designs from problem files: what may learn, what it costs, and the result shown."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from rich.console import Console
from rich.text import Text

from algebra.allocation import Cell
from algebra.design import Design, float_text, least_cost, most_spread
from algebra.errors import InputError
from algebra.jacobian import all_cells
from algebra.problem import Problem, load_problem
from matchprob.report import mask_text

GOALS = ("cheapest", "spread")
_WIDEST = 48


def allowed_cells(problem: Problem) -> list[Cell]:
    """The weights that may learn: those of [learnable], all that exist where it is empty."""
    if problem.is_random:
        raise InputError("a design chooses among weights: [learnable] must not be random")
    if not problem.learnable:
        return all_cells(problem.network, problem.support)
    return list(problem.allocation.cells)


def design(
    question: Problem | str | Path,
    *,
    goal: str = "cheapest",
    budget: int | None = None,
    costs: Mapping[Cell, Fraction] | None = None,
    must: Sequence[Cell] = (),
    caps: Mapping[str, int] | None = None,
    seed: int = 0,
) -> tuple[Design, Problem]:
    """Choose an allocation that is not minimal.

    Parameters
    ----------
    question : Problem, str or Path
        Its [learnable] weights are the ones to choose among; all of them where it is empty.
    goal : {"cheapest", "spread"}, optional
        Least cost, or least cost among those whose fullest row is as empty as can be.
    budget : int, optional
        Number of weights; that of the independent equations by default.
    costs : mapping of cell to Fraction, optional
        1 for each weight not named.
    must : sequence of cells, optional
        Weights that learn in any case.
    caps : mapping, optional
        At most so many in each "row", or "column", or "matrix": one of the three.
    seed : int, optional

    Returns
    -------
    design : Design
    problem : Problem
        The same problem with the chosen allocation.

    Examples
    --------
    >>> from algebra.networks import LinearEstimator
    >>> found, problem = design(Problem(LinearEstimator(q=3, d=2, m=2), {}))
    >>> found.cost
    Fraction(4, 1)
    """
    problem = (
        question if isinstance(question, Problem) else load_problem(question, need_learnable=False)
    )
    if goal not in GOALS:
        raise InputError(f"`goal` ({goal!r}) must be one of " + ", ".join(GOALS))
    caps = dict(caps or {})
    if len(caps) > 1:
        raise InputError(
            "caps on " + " and ".join(caps) + "s together are more than two matroids, for which "
            "no exact method is offered: give one kind of cap"
        )
    if not problem.network.is_linear:
        raise InputError(
            f"a {problem.network.title} network has no minimal allocations: every one is free of "
            "MP = 0"
        )
    options: dict[str, Any] = {
        "allowed": allowed_cells(problem),
        "costs": dict(costs or {}),
        "budget": budget,
        "must": list(must),
        "support": problem.support,
        "seed": seed,
    }
    if goal == "spread":
        if caps:
            raise InputError("goal 'spread' finds the least cap itself: give none")
        found = most_spread(problem.network, **options)
    else:
        cap = next(iter(caps.items()), None)
        found = least_cost(problem.network, cap=cap, **options)
    made = Problem.of(found.allocation, support=problem.support, distribution=problem.distribution)
    return found, made


def _tables(entries: Sequence[str], option: str) -> list[tuple[str, Path, list[list[str]]]]:
    out = []
    for entry in entries:
        name, equals, file = entry.partition("=")
        if not equals:
            raise InputError(f"{option} {entry!r}: give MATRIX=FILE, as in W={option[2:]}.csv")
        path = Path(file)
        try:
            with path.open(newline="", encoding="utf-8") as stream:
                rows = [[cell.strip() for cell in row] for row in csv.reader(stream) if row]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise InputError(f"{option} {path}: {error}") from None
        out.append((name, path, rows))
    return out


def read_costs(entries: Sequence[str]) -> dict[Cell, Fraction]:
    """Costs of ``MATRIX=FILE`` entries: a CSV of numbers in the matrix's shape."""
    costs = {}
    for name, path, rows in _tables(entries, "--costs"):
        for i, row in enumerate(rows):
            for j, text in enumerate(row):
                try:
                    costs[name, i, j] = Fraction(text)
                except (ValueError, ZeroDivisionError):
                    raise InputError(
                        f"--costs {path}: row {i}, column {j}: {text!r} is no number"
                    ) from None
    return costs


def read_cells(entries: Sequence[str]) -> list[Cell]:
    """Weights marked 1 in ``MATRIX=FILE`` entries."""
    cells: list[Cell] = []
    for name, path, rows in _tables(entries, "--must"):
        for i, row in enumerate(rows):
            for j, text in enumerate(row):
                if text not in ("0", "1"):
                    raise InputError(f"--must {path}: row {i}, column {j}: {text!r} is not 0 or 1")
                if text == "1":
                    cells.append((name, i, j))
    return cells


def print_design(out: Console, found: Design) -> None:
    """The chosen weights, what they cost, and how sure the optimum is."""
    allocation = found.allocation
    cap = f", at most {found.cap[1]} in a {found.cap[0]}" if found.cap else ""
    out.print(Text(f"{allocation.size} weights at cost {found.cost}{cap}", style="bold"))
    for name in allocation.matrices:
        rows, columns = allocation.network.shapes[name]
        counts = " ".join(map(str, allocation.row_counts(name)))
        out.print(f"\n{name} ({rows}×{columns}), learnable weights a row: {counts}")
        if max(rows, columns) <= _WIDEST:
            out.print(Text(mask_text(allocation, name), style="cyan"))
    out.print(f"\n  not minimal  proved: rank {found.rank.rank} modulo {found.rank.p}")
    out.print(
        f"  optimal      a weight splitting checks at {len(found.points)} random points; a better "
        f"design exists with probability at most {float_text(found.error)}"
    )


def draw(question: Problem | str | Path, found: Design) -> Figure:
    """Masks before and after: what may learn, and what does."""
    problem = (
        question if isinstance(question, Problem) else load_problem(question, need_learnable=False)
    )
    allowed = set(allowed_cells(problem))
    chosen = set(found.allocation.cells)
    names = list(problem.network.shapes)
    figure = Figure(figsize=(2.6 * len(names), 2.8), layout="constrained")
    for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        rows, columns = problem.network.shapes[name]
        picture = [
            [((name, i, j) in allowed) + ((name, i, j) in chosen) for j in range(columns)]
            for i in range(rows)
        ]
        axes.imshow(picture, cmap="Blues", vmin=0, vmax=2, interpolation="nearest")
        axes.set_title(f"{name}: {sum(c[0] == name for c in chosen)} learn", fontsize=9)
        axes.set_xticks([])
        axes.set_yticks([])
    figure.suptitle("dark: learns, light: might have", fontsize=9)
    return figure
