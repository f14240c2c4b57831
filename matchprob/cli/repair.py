"""Verbs about an allocation that is there: repair, robust."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from matchprob.cli.design import (
    ColumnCap,
    Costs,
    CountTimeout,
    Forbid,
    Matrix,
    MatrixCap,
    Must,
    Out,
    RowCap,
    Seconds,
    Write,
    caps_of,
    tables_in,
)
from matchprob.cli.options import (
    Dpi,
    Json,
    Plot,
    ProblemFile,
    Seed,
    Timeout,
    Width,
    console,
    draw,
    print_json,
    say,
)
from matchprob.io.sizes import DPI


def repair(
    problem: ProblemFile,
    goal: Annotated[
        str | None,
        typer.Option(
            help="positive (MP > 0) or maximal; by default positive where MP = 0, else maximal."
        ),
    ] = None,
    costs: Costs = None,
    must: Must = None,
    forbid: Forbid = None,
    matrix: Matrix = None,
    row_cap: RowCap = None,
    column_cap: ColumnCap = None,
    matrix_cap: MatrixCap = None,
    seconds: Seconds = 60.0,
    count_timeout: CountTimeout = 3.0,
    timeout: Timeout = math.inf,
    write: Write = None,
    out: Out = None,
    plot: Plot = None,
    width: Width = None,
    dpi: Dpi = DPI,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Move the fewest weights so that MP > 0, or so that MP = 1."""
    from matchprob.api.designs import repair as repairs
    from matchprob.api.question import as_problem
    from matchprob.io import costs as tables
    from matchprob.io import files
    from matchprob.report import repair as repair_report
    from matchprob.report.explanation import print_explanation

    files.check_outputs([problem, *tables_in(costs, must, forbid)], write, out, plot=plot)
    question = as_problem(problem)
    names = question.names
    found = repairs.repair(
        question,
        goal=goal,
        costs=dict(tables.read_costs(costs or [], names)),
        must=tables.read_cells(must or [], names),
        forbidden=tables.read_cells(forbid or [], names, "--forbid"),
        matrices=matrix or [],
        caps=caps_of(row_cap, column_cap, matrix_cap),
        seconds=seconds,
        count_timeout=count_timeout,
        timeout=timeout,
        seed=seed,
    )
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
        repair_report.print_repair(console(names), found)
        print_explanation(console(names), why)
    if write:
        files.write_text(write, found.problem.to_toml())
        say(f"wrote {write}")
    if out:
        files.write_text(out, found.after.to_json())
        say(f"wrote {out}: {found.after.verdict}, {found.after.rule}")
    draw(found, plot, width, dpi)


def robust(
    problem: ProblemFile,
    seconds: Seconds = 30.0,
    timeout: Timeout = math.inf,
    plot: Plot = None,
    width: Width = None,
    dpi: Dpi = DPI,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Tell how many learnable weights may be lost before MP drops to 0."""
    from matchprob.api.designs import repair as repairs
    from matchprob.api.question import as_problem
    from matchprob.io import files
    from matchprob.report import repair as repair_report
    from matchprob.report.explanation import print_explanation

    files.check_outputs([problem], plot=plot)
    question = as_problem(problem)
    found = repairs.robust(question, seconds=seconds, timeout=timeout, seed=seed)
    why = found.explain(str(problem))
    if as_json:
        print_json(
            {
                **found.to_dict(),
                "seed": seed,
                "explanation": [question.names.annotate(text) for text in why.lines()],
            }
        )
    else:
        repair_report.print_robustness(console(question.names), found)
        print_explanation(console(question.names), why)
    draw(found, plot, width, dpi)


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    for verb in (repair, robust):
        app.command()(verb)
