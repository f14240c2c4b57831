"""Designs from problem files: what may learn, what it costs, and the best allocation."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from algebra.design import proof as design_certificate
from algebra.design.cheapest import Design, cheapest, most_spread
from algebra.design.demand import Demand, demand
from algebra.design.maximal import cheapest_maximal
from algebra.design.neurons import fewest_neurons
from algebra.errors import InputError
from algebra.networks.normalization import refuse
from algebra.problems.allocation import Cell
from algebra.problems.problem import Problem, load_problem
from algebra.ranks.jacobian import all_cells
from matchprob.api.probable import most_probable
from numeric.cap_relaxation import linear_relaxation
from numeric.tracking.root_count import monodromy_root_count

GOALS = ("cheapest", "spread", "neurons", "maximal", "probable")


def allowed_cells(problem: Problem) -> list[Cell]:
    """The weights that may learn: those of [learnable], all that exist where it is empty."""
    if problem.is_random:
        raise InputError("a design chooses among weights: [learnable] must not be random")
    if not problem.learnable:
        return all_cells(problem.network, problem.support)
    return list(problem.allocation.cells)


def network_of(question: Problem | str | Path) -> Problem:
    """A problem; in a file [learnable] may be missing."""
    if isinstance(question, Problem):
        return question
    return load_problem(question, need_learnable=False)


@dataclass(frozen=True)
class Wishes:
    """What a user asks of a design, as the options of the verbs say it.

    Attributes
    ----------
    costs : mapping of cell to Fraction
    must, forbidden : sequence of cells
    matrices : sequence of str
        Only these may learn; all where empty.
    caps : mapping of str to int
    budget : int or None
    """

    costs: Mapping[Cell, Fraction]
    must: Sequence[Cell] = ()
    forbidden: Sequence[Cell] = ()
    matrices: Sequence[str] = ()
    caps: Mapping[str, int] | None = None
    budget: int | None = None

    def demand(self, problem: Problem, allowed: Sequence[Cell], seed: int, **more: Any) -> Demand:
        """The checked demand on a problem's network."""
        network = problem.network
        refuse(network, "design")
        if not network.is_linear:
            raise InputError(
                f"a {network.title} network has no minimal allocations: every one is free of MP = 0"
            )
        for name in self.matrices:
            if name not in network.shapes:
                raise InputError(
                    f"there is no matrix `{name}` in a {network.title}; it has "
                    + ", ".join(network.shapes)
                )
        if self.matrices:
            allowed = [cell for cell in allowed if cell[0] in self.matrices]
        options: dict[str, Any] = {
            "allowed": allowed,
            "forbidden": list(self.forbidden),
            "must": list(self.must),
            "costs": dict(self.costs),
            "caps": dict(self.caps or {}),
            "budget": self.budget,
            "support": problem.support,
            "seed": seed,
        }
        return demand(network, **{**options, **more})


def design(
    question: Problem | str | Path,
    *,
    goal: str = "cheapest",
    budget: int | None = None,
    costs: Mapping[Cell, Fraction] | None = None,
    must: Sequence[Cell] = (),
    forbidden: Sequence[Cell] = (),
    matrices: Sequence[str] = (),
    caps: Mapping[str, int] | None = None,
    line: str = "row",
    seconds: float = 60.0,
    timeout: float = 3.0,
    candidates: int = 16,
    trials: int = 1024,
    workers: int = 1,
    seed: int = 0,
) -> tuple[Design, Problem]:
    """Choose an allocation that is not minimal.

    Parameters
    ----------
    question : Problem, str or Path
        Its [learnable] weights are the ones to choose among; all of them where it is empty.
    goal : {"cheapest", "spread", "neurons", "maximal", "probable"}, optional
        Least cost; least cost among those whose fullest line is as empty as can be; fewest
        neurons that learn at all, then least cost; least cost among the certified maximal;
        highest match probability (`matchprob.api.probable`).
    budget : int, optional
        Number of weights; that of the independent equations by default.
    costs : mapping of cell to Fraction, optional
        1 for each weight not named.
    must, forbidden : sequence of cells, optional
        Weights that learn in any case, or in none.
    matrices : sequence of str, optional
        Only weights of these matrices learn; of all by default.
    caps : mapping, optional
        At most so many in each "row", "column", "matrix"; any of the three at once.
    line : {"row", "column"}, optional
        What 'spread' spreads over, and what 'neurons' counts: those that receive (rows) or
        send (columns).
    seconds : float, optional
        Time for a search; the result says how far it got.
    timeout : float, optional
        Seconds for one root count ('maximal', 'probable').
    candidates, trials, workers : int, optional
        For 'probable': designs raced, trials of each at most, processes.
    seed : int, optional

    Returns
    -------
    design : Design
    problem : Problem
        The same problem with the chosen allocation.

    Examples
    --------
    >>> from algebra.networks.base import LinearEstimator
    >>> found, problem = design(Problem(LinearEstimator(q=3, d=2, m=2), {}))
    >>> found.cost
    Fraction(4, 1)
    """
    problem = network_of(question)
    if goal not in GOALS:
        raise InputError(f"`goal` ({goal!r}) must be one of " + ", ".join(GOALS))
    if line not in ("row", "column"):
        raise InputError(f"`line` ({line!r}) must be row or column")
    wishes = Wishes(dict(costs or {}), must, forbidden, matrices, caps, budget)
    asked = wishes.demand(problem, allowed_cells(problem), seed)
    found: Design
    if goal == "spread":
        found = most_spread(asked, line, linear_relaxation, seconds)
    elif goal == "neurons":
        found = fewest_neurons(asked, line, relaxation=linear_relaxation, seconds=seconds)
    elif goal == "maximal":
        found = cheapest_maximal(
            asked, relaxation=linear_relaxation, seconds=seconds, timeout=timeout,
            fallback=partial(monodromy_root_count, timeout=timeout),
        )  # fmt: skip
    elif goal == "probable":
        found = most_probable(
            problem, asked, candidates=candidates, trials=trials, seconds=seconds,
            timeout=timeout, workers=workers,
        )  # fmt: skip
    else:
        found = cheapest(asked, "cheapest", linear_relaxation, seconds)
    return found, problem.with_allocation(found.allocation)


def proof_of(
    question: Problem | str | Path, found: Design, wishes: Wishes, seed: int = 0
) -> dict[str, Any]:
    """The content of a proof file: what was asked, what was found, why nothing is cheaper.

    `matchprob.verify` checks it.
    """
    problem = network_of(question)
    asked = wishes.demand(problem, allowed_cells(problem), seed)
    return design_certificate.design_to_dict(asked, found)


def read_table(entries: Sequence[str], option: str) -> list[tuple[str, Path, list[list[str]]]]:
    """The CSV tables of ``MATRIX=FILE`` entries."""
    out = []
    for entry in entries:
        name, equals, file = entry.partition("=")
        if not equals:
            raise InputError(f"{option} {entry!r}: give MATRIX=FILE, as in W={option[2:]}.csv")
        path = Path(file)
        try:
            with path.open(newline="", encoding="utf-8-sig") as stream:
                rows = [[cell.strip() for cell in row] for row in csv.reader(stream) if row]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise InputError(f"{option} {path}: {error}") from None
        out.append((name, path, rows))
    return out


def read_costs(entries: Sequence[str]) -> dict[Cell, Fraction]:
    """Costs of ``MATRIX=FILE`` entries: a CSV of numbers in the matrix's shape."""
    costs = {}
    for name, path, rows in read_table(entries, "--costs"):
        for i, row in enumerate(rows):
            for j, text in enumerate(row):
                try:
                    costs[name, i, j] = Fraction(text)
                except (ValueError, ZeroDivisionError):
                    raise InputError(
                        f"--costs {path}: row {i}, column {j}: {text!r} is no number"
                    ) from None
    return costs


def read_cells(entries: Sequence[str], option: str = "--must") -> list[Cell]:
    """Weights marked 1 in ``MATRIX=FILE`` entries."""
    cells: list[Cell] = []
    for name, path, rows in read_table(entries, option):
        for i, row in enumerate(rows):
            for j, text in enumerate(row):
                if text not in ("0", "1"):
                    raise InputError(
                        f"{option} {path}: row {i}, column {j}: {text!r} is not 0 or 1"
                    )
                if text == "1":
                    cells.append((name, i, j))
    return cells
