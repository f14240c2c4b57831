"""The verb that chooses an allocation: design."""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from algebra.design.goals import goals_text
from algebra.errors import InputError
from algebra.time_limits import LimitReached, OutOfTime, within
from matchprob.api.designs.goals import GOALS
from matchprob.cli import options
from matchprob.cli.options import (
    NetworkFile,
    Options,
    Seed,
    Shown,
    Timeout,
    WorkersOption,
)

if TYPE_CHECKING:
    from algebra.problems.names import Names

Write = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Write the result: a problem file, or (.csv) the weights as edges."
    ),
]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write its certificate (JSON).")
]


def is_table(path: Path | None) -> bool:
    """Whether a table is to be written, not a problem file."""
    return path is not None and path.name.endswith(".csv")


@dataclass(frozen=True)
class DemandArguments(Options):
    """What an allocation must be like, and what it costs."""

    costs: Annotated[
        list[str] | None,
        typer.Option(metavar="MATRIX=FILE", help="Costs of a matrix's weights (CSV); 1 each."),
    ] = None
    must: Annotated[
        list[str] | None,
        typer.Option(metavar="MATRIX=FILE", help="Weights that learn in any case (0/1 CSV)."),
    ] = None
    forbid: Annotated[
        list[str] | None,
        typer.Option(metavar="MATRIX=FILE", help="Weights that must not learn (0/1 CSV)."),
    ] = None
    matrix: Annotated[
        list[str] | None, typer.Option(help="Only weights of this matrix learn; may be repeated.")
    ] = None
    row_cap: Annotated[int | None, typer.Option(help="At most so many in a row.", min=0)] = None
    column_cap: Annotated[int | None, typer.Option(help="At most so many in a column.", min=0)] = (
        None
    )
    matrix_cap: Annotated[int | None, typer.Option(help="At most so many in a matrix.", min=0)] = (
        None
    )

    @property
    def files(self) -> list[Path]:
        """The files that it is read from."""
        tables = (self.costs, self.must, self.forbid)
        return [Path(entry.partition("=")[2]) for given in tables for entry in given or []]

    def read(self, names: Names) -> dict[str, Any]:
        """The demand as the verbs' functions take it, its files read."""
        from matchprob.io import costs as tables

        caps = {"row": self.row_cap, "column": self.column_cap, "matrix": self.matrix_cap}
        return {
            "costs": dict(tables.read_costs(self.costs or [], names)),
            "must": tables.read_cells(self.must or [], names),
            "forbidden": tables.read_cells(self.forbid or [], names, "--forbid"),
            "matrices": self.matrix or [],
            "caps": {line: number for line, number in caps.items() if number is not None},
        }


@dataclass(frozen=True)
class SearchArguments(Options):
    """How long is searched."""

    seconds: Annotated[
        float, typer.Option(help="Time for a search; the result says how far it got.", min=0.1)
    ] = 60.0
    count_timeout: Annotated[
        float, typer.Option("--count-timeout", help="Seconds for one root count.", min=0.1)
    ] = 3.0
    timeout: Timeout = math.inf


def design(
    problem: NetworkFile,
    goal: Annotated[
        str | None,
        typer.Option(help=goals_text(GOALS)),
    ] = None,
    budget: Annotated[
        int | None, typer.Option(help="Weights that learn; as many as equations by default.")
    ] = None,
    cost_budget: Annotated[
        str | None,
        typer.Option(
            "--cost-budget",
            metavar="C",
            help="All weights cost this at most: the largest rank within it (goal rank).",
        ),
    ] = None,
    *,
    among: Annotated[
        str, typer.Option(help="learnable: choose in [learnable]; all: every weight that exists.")
    ] = "learnable",
    demand: DemandArguments,
    by: Annotated[str, typer.Option(help="row or column: what a neuron is, what is spread.")] = (
        "row"
    ),
    search: SearchArguments,
    candidates: Annotated[int, typer.Option(help="Designs raced at most (probable).", min=1)] = 16,
    trials: Annotated[int, typer.Option(help="Trials of each at most (probable).", min=1)] = 1024,
    workers: WorkersOption = 1,
    write: Write = None,
    out: Out = None,
    proof: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write why nothing is cheaper (JSON, for verify)."),
    ] = None,
    shown: Shown,
    seed: Seed = 0,
) -> None:
    """Choose the best allocation among the [learnable] weights."""
    from algebra.ranks.parametrized import by_parameters
    from matchprob.api.certify import certify
    from matchprob.api.designs import design as designs
    from matchprob.api.question import network_of
    from matchprob.io import files
    from matchprob.report.design import print_design

    files.check_outputs([problem, *demand.files], write, out, proof, plot=shown.plot)
    goal = designs.chosen_goal(goal, budget, cost_budget)
    if proof and not GOALS[goal].proof:
        raise InputError(f"--proof: goal {goal!r} has none; --out certifies the result")
    began = time.monotonic()
    question = network_of(problem)
    names = by_parameters(question).names
    found = designs.design(
        question,
        among=among,
        goal=goal,
        budget=budget,
        cost_budget=cost_budget,
        line=by,
        candidates=candidates,
        trials=trials,
        workers=workers,
        seed=seed,
        **demand.read(names),
        **search.keywords(),
    )
    why = found.explain(str(problem))
    shown.tell(found, why, names, lambda page, found: print_design(page, found.design), seed=seed)
    options.write(write, found.edges if is_table(write) else found.problem.to_toml)
    options.write(proof, lambda: json.dumps(found.proof()) + "\n")
    if out:
        try:
            with within(search.timeout - (time.monotonic() - began)):
                certificate = certify(found.problem, seed=seed)
        except OutOfTime as over:
            raise LimitReached(f"{out} is not written, the design is above: {over}") from None
        note = f": {certificate.verdict}, {certificate.rule}"
        options.write(out, certificate.to_json, note)
