"""Verbs about what data determine: identify."""

from __future__ import annotations

import typer

from matchprob.cli.options import Json, Plot, ProblemFile, Seed, Timeout, console, print_json, say


def identify(
    problem: ProblemFile,
    plot: Plot = None,
    seed: Seed = 0,
    timeout: Timeout = 60.0,
    as_json: Json = False,
) -> None:
    """Say which learnable weights the data determine."""
    from matchprob.api import identify as api
    from matchprob.api.question import as_problem
    from matchprob.io import files

    files.check_outputs([problem], plot=plot)
    question = as_problem(problem)
    found = api.identify(question, seed=seed, timeout=timeout)
    if as_json:
        print_json({**found.to_dict(), "seed": seed})
    else:
        console().print(str(found))
    if plot:
        from matchprob.report import paint, pictures

        pictures.save(paint.figure_of(found), plot)
        say(f"wrote {plot}")


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    app.command()(identify)
