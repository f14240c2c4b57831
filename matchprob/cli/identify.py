"""Verbs about what data determine: identify."""

from __future__ import annotations

import shlex

import typer

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
    sentences,
)
from matchprob.io.sizes import DPI


def identify(
    problem: ProblemFile,
    plot: Plot = None,
    width: Width = None,
    dpi: Dpi = DPI,
    seed: Seed = 0,
    timeout: Timeout = 60.0,
    as_json: Json = False,
) -> None:
    """Say which learnable weights the data determine."""
    from matchprob.api import identify as api
    from matchprob.api.question import as_problem
    from matchprob.explain.identification import explain_identification
    from matchprob.io import files
    from matchprob.report.explanation import print_explanation

    files.check_outputs([problem], plot=plot)
    question = as_problem(problem)
    found = api.identify(question, seed=seed, timeout=timeout)
    why = explain_identification(found, shlex.quote(str(problem)), timeout)
    if as_json:
        print_json(
            {
                **found.to_dict(),
                "seed": seed,
                **sentences(why, question.names),
            }
        )
    else:
        console(question.names).print(str(found))
        print_explanation(console(question.names), why)
    draw(found, plot, width, dpi)


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    app.command()(identify)
