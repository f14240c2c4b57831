"""The verb that chooses what to record: record."""

from __future__ import annotations

import json
import math
import shlex
from pathlib import Path
from typing import Annotated

import typer

from matchprob.cli.design import caps_of, tables_in
from matchprob.cli.options import (
    UNFINISHED,
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


def record(
    problem: ProblemFile,
    what: Annotated[
        list[str] | None,
        typer.Option(
            help="outputs, entries, samples, times or units; may be repeated.",
            show_default="outputs",
        ),
    ] = None,
    costs: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER|KIND=FILE", help="Costs, of one thing or of all of a kind; 1 each."
        ),
    ] = None,
    must: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME|KIND=FILE", help="What is recorded in any case (0/1 CSV)."),
    ] = None,
    forbid: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME|KIND=FILE", help="What must not be recorded (0/1 CSV)."),
    ] = None,
    row_cap: Annotated[
        int | None, typer.Option(help="At most so many entries of an output.", min=0)
    ] = None,
    column_cap: Annotated[
        int | None, typer.Option(help="At most so many entries of a sample.", min=0)
    ] = None,
    matrix_cap: Annotated[
        int | None, typer.Option(help="At most so many of a kind or layer.", min=0)
    ] = None,
    seconds: Annotated[
        float, typer.Option(help="Time for a search; the result says how far it got.", min=0.1)
    ] = 60.0,
    timeout: Timeout = math.inf,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write the proof (JSON, for verify)."),
    ] = None,
    plot: Plot = None,
    width: Width = None,
    dpi: Dpi = DPI,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Say what to record so that the data determine the weights."""
    from algebra.record.things import check_what, things_of
    from matchprob.api import record as api
    from matchprob.api.question import as_problem
    from matchprob.explain.recording import explain_recording
    from matchprob.io import files
    from matchprob.io import things as tables
    from matchprob.report.explanation import print_explanation

    files.check_outputs([problem, *tables_in(costs, must, forbid)], out, plot=plot)
    question = as_problem(problem)
    names, kinds = question.names, check_what(what or ["outputs"])
    things, _ = things_of(question.network, kinds)
    found = api.record(
        question,
        kinds,
        costs=dict(tables.read_prices(costs or [], things, names)),
        must=tables.read_marks(must or [], things, names, "--must"),
        forbidden=tables.read_marks(forbid or [], things, names, "--forbid"),
        caps=caps_of(row_cap, column_cap, matrix_cap),
        seconds=seconds,
        timeout=timeout,
        seed=seed,
    )
    why = explain_recording(found, shlex.quote(str(problem)))
    if as_json:
        print_json(
            {
                **found.to_dict(),
                "seed": seed,
                "explanation": [names.annotate(text) for text in why.lines()],
            }
        )
    else:
        console(names).print(str(found))
        print_explanation(console(names), why)
    if out:
        files.write_text(out, json.dumps(found.proof_file()) + "\n")
        say(f"wrote {out}")
    draw(found, plot, width, dpi)
    if not found.is_optimal:
        ended = "interrupted" if found.interrupted else "out of time"
        say(
            f"matchprob: {ended}: the result above costs {found.cost}, and nothing costs less "
            f"than {found.bound}; whether something lies between is not known"
        )
        raise typer.Exit(UNFINISHED)


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command()(record)
