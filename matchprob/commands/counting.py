"""Verbs that solve random instances: count, estimate."""

from __future__ import annotations

from typing import Annotated

import typer

from matchprob.commands.common import (
    EngineName,
    Json,
    Plot,
    ProblemFile,
    Seed,
    Timeout,
    console,
    finish,
    print_json,
    say,
)


def count(
    problem: ProblemFile,
    instances: Annotated[int, typer.Option(help="Number of random instances.", min=1)] = 20,
    seed: Seed = 0,
    engine: EngineName = "phcpy",
    timeout: Timeout = 600.0,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Count the real solutions of random instances."""
    from matchprob import api, plots, report
    from matchprob.progress import progress

    question = api.as_problem(problem)
    if plot:
        plots.check_target(plot)
    with progress("counting", instances) as advance:
        found = api.count(
            question, instances, seed=seed, engine=engine, timeout=timeout, advance=advance
        )
    if as_json:
        print_json(found.to_dict())
    else:
        report.print_counts(console(), found)
    if plot:
        plots.save(plots.histogram(found.histogram, str(question.network)), plot)
        say(f"wrote {plot}")
    finish(len(found), instances, "instances", "count")


def estimate(
    problem: ProblemFile,
    trials: Annotated[int, typer.Option(help="Number of random trials.", min=1)] = 1000,
    seed: Seed = 0,
    engine: EngineName = "phcpy",
    confidence: Annotated[float, typer.Option(help="Level of the interval.")] = 0.95,
    timeout: Timeout = 600.0,
    no_certify: Annotated[
        bool,
        typer.Option("--no-certify", help="Compute trials even of certified allocations."),
    ] = False,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Estimate the match probability, with an honest interval."""
    from matchprob import api, plots, report
    from matchprob.progress import progress

    question = api.as_problem(problem)
    if plot:
        plots.check_target(plot)
    with progress("estimating", trials) as advance:
        found = api.estimate(
            question,
            trials,
            seed=seed,
            engine=engine,
            confidence=confidence,
            timeout=timeout,
            certify=not no_certify,
            advance=advance,
        )
    if as_json:
        print_json(found.to_dict())
    else:
        report.print_estimate(console(), found)
    if plot:
        title = f"MP {report.percent(found)}" if found.trials else ""
        plots.save(plots.histogram(found.histogram, str(question.network), title), plot)
        say(f"wrote {plot}")
    finish(found.trials, trials, "trials", "estimate")


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    for verb in (count, estimate):
        app.command()(verb)
