"""The verb that chooses an allocation: design."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Annotated

import typer

from algebra.design.goals import goals_text
from algebra.errors import InputError
from matchprob.api.designs.goals import GOALS
from matchprob.cli.options import (
    Dpi,
    Json,
    NetworkFile,
    Plot,
    Seed,
    Timeout,
    Width,
    WorkersOption,
    console,
    draw,
    print_json,
    say,
)
from matchprob.io.sizes import DPI

Costs = Annotated[
    list[str] | None,
    typer.Option(metavar="MATRIX=FILE", help="Costs of a matrix's weights (CSV); 1 each."),
]
Must = Annotated[
    list[str] | None,
    typer.Option(metavar="MATRIX=FILE", help="Weights that learn in any case (0/1 CSV)."),
]
Forbid = Annotated[
    list[str] | None,
    typer.Option(metavar="MATRIX=FILE", help="Weights that must not learn (0/1 CSV)."),
]
Matrix = Annotated[
    list[str] | None, typer.Option(help="Only weights of this matrix learn; may be repeated.")
]
RowCap = Annotated[int | None, typer.Option(help="At most so many in a row.", min=0)]
ColumnCap = Annotated[int | None, typer.Option(help="At most so many in a column.", min=0)]
MatrixCap = Annotated[int | None, typer.Option(help="At most so many in a matrix.", min=0)]
Seconds = Annotated[
    float, typer.Option(help="Time for a search; the result says how far it got.", min=0.1)
]
CountTimeout = Annotated[
    float, typer.Option("--count-timeout", help="Seconds for one root count.", min=0.1)
]
Write = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the result as a problem file.")
]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write its certificate (JSON).")
]


def caps_of(row: int | None, column: int | None, matrix: int | None) -> dict[str, int]:
    """The caps that were given."""
    caps = {"row": row, "column": column, "matrix": matrix}
    return {line: number for line, number in caps.items() if number is not None}


def tables_in(*options: list[str] | None) -> list[Path]:
    """Files that options of the form ``MATRIX=FILE`` name."""
    return [Path(entry.partition("=")[2]) for given in options for entry in given or []]


def design(
    problem: NetworkFile,
    goal: Annotated[
        str,
        typer.Option(help=goals_text(GOALS)),
    ] = "cheapest",
    budget: Annotated[
        int | None, typer.Option(help="Weights that learn; as many as equations by default.")
    ] = None,
    costs: Costs = None,
    must: Must = None,
    forbid: Forbid = None,
    matrix: Matrix = None,
    row_cap: RowCap = None,
    column_cap: ColumnCap = None,
    matrix_cap: MatrixCap = None,
    by: Annotated[str, typer.Option(help="row or column: what a neuron is, what is spread.")] = (
        "row"
    ),
    seconds: Seconds = 60.0,
    count_timeout: CountTimeout = 3.0,
    timeout: Timeout = math.inf,
    candidates: Annotated[int, typer.Option(help="Designs raced at most (probable).", min=1)] = 16,
    trials: Annotated[int, typer.Option(help="Trials of each at most (probable).", min=1)] = 1024,
    workers: WorkersOption = 1,
    write: Write = None,
    out: Out = None,
    proof: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write why nothing is cheaper (JSON, for verify)."),
    ] = None,
    plot: Plot = None,
    width: Width = None,
    dpi: Dpi = DPI,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Choose the best allocation among the [learnable] weights."""
    from matchprob.api.certify import certify
    from matchprob.api.designs import design as designs
    from matchprob.api.designs.design import network_of
    from matchprob.io import costs as tables
    from matchprob.io import files
    from matchprob.report import design as design_report
    from matchprob.report.explanation import print_explanation

    files.check_outputs([problem, *tables_in(costs, must, forbid)], write, out, proof, plot=plot)
    if proof and goal in GOALS and not GOALS[goal].proof:
        raise InputError(f"--proof: goal {goal!r} has none; --out certifies the result")
    question = network_of(problem)
    names = question.names
    found = designs.design(
        question,
        goal=goal,
        budget=budget,
        costs=dict(tables.read_costs(costs or [], names)),
        must=tables.read_cells(must or [], names),
        forbidden=tables.read_cells(forbid or [], names, "--forbid"),
        matrices=matrix or [],
        caps=caps_of(row_cap, column_cap, matrix_cap),
        line=by,
        seconds=seconds,
        count_timeout=count_timeout,
        timeout=timeout,
        candidates=candidates,
        trials=trials,
        workers=workers,
        seed=seed,
    )
    certificate = certify(found.problem, seed=seed) if out else None
    why = found.explain(str(problem))
    if as_json:
        print_json(
            {
                **found.to_dict(),
                "seed": seed,
                "explanation": [names.annotate(text) for text in why.lines()],
            }
        )
    else:
        design_report.print_design(console(names), found.design)
        print_explanation(console(names), why)
    if write:
        files.write_text(write, found.problem.to_toml())
        say(f"wrote {write}")
    if out and certificate:
        files.write_text(out, certificate.to_json())
        say(f"wrote {out}: {certificate.verdict}, {certificate.rule}")
    if proof:
        files.write_text(proof, json.dumps(found.proof()) + "\n")
        say(f"wrote {proof}")
    draw(found, plot, width, dpi)


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command()(design)
