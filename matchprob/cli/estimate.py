"""Verbs that solve random instances: count, estimate, compare."""

from __future__ import annotations

import math
import shlex
from typing import Annotated

import typer

from matchprob.cli.options import (
    UNFINISHED,
    Complete,
    Confidence,
    Dpi,
    EngineName,
    InstanceFile,
    Json,
    NoCertify,
    Plot,
    ProblemFile,
    Scheduler,
    Seed,
    StoreOption,
    Timeout,
    Trials,
    TrialTimeout,
    Width,
    WorkersOption,
    console,
    draw,
    finish,
    print_json,
    say,
    sentences,
)
from matchprob.io.sizes import DPI


def count(
    problem: ProblemFile,
    instances: Annotated[int, typer.Option(help="Number of random instances.", min=1)] = 20,
    seed: Seed = 0,
    engine: EngineName = None,
    timeout: Timeout = math.inf,
    trial_timeout: TrialTimeout = 600.0,
    solutions: Annotated[
        bool,
        typer.Option("--solutions", help="Show each real solution, enclosed, and what it costs."),
    ] = False,
    instance: InstanceFile = None,
    plot: Plot = None,
    width: Width = None,
    dpi: Dpi = DPI,
    as_json: Json = False,
) -> None:
    """Count the real solutions of random instances, or of one's own."""
    from matchprob.api import estimate as verbs
    from matchprob.api.question import as_problem
    from matchprob.explain.trials import explain_counts
    from matchprob.io import files
    from matchprob.io.progress import progress
    from matchprob.report.enclosures import enclosure_data, print_enclosures
    from matchprob.report.estimate import print_counts, print_solutions
    from matchprob.report.explanation import print_explanation

    files.check_outputs([problem, *([instance] if instance else [])], plot=plot)
    question = as_problem(problem)
    wanted = 1 if instance else instances
    with progress("counting", wanted) as advance:
        found = verbs.count(
            question,
            instances,
            seed=seed,
            engine=engine,
            instance=instance,
            timeout=timeout,
            trial_timeout=trial_timeout,
            advance=advance,
        )
    why = explain_counts(found, shlex.quote(str(problem)), shown=solutions)
    data = {
        **found.to_dict(),
        **sentences(why, question.names),
    }
    costs = None
    if solutions:
        from numeric.solutions import solution_costs

        costs = [
            solution_costs(found.instance(c), c.solutions) if c.solutions else []
            for c in found.instances
        ]
        boxes = verbs.enclosures(found)
        for entry, own, around in zip(data["instances"], costs, boxes, strict=True):
            entry["solutions"] = [
                {**cost.to_dict(), **enclosure_data(box)}
                for cost, box in zip(own, around, strict=True)
            ]
    if as_json:
        print_json(data)
    else:
        print_counts(console(question.names), found)
        if costs is not None:
            print_enclosures(console(question.names), found, boxes)
            print_solutions(console(question.names), found, costs)
        print_explanation(console(question.names), why)
    draw(found, plot, width, dpi)
    finish(len(found), wanted, "instances", "count", trouble=found.trouble)


def estimate(
    problem: ProblemFile,
    trials: Trials = 1000,
    seed: Seed = 0,
    engine: EngineName = None,
    confidence: Confidence = 0.95,
    half_width: Annotated[
        float | None,
        typer.Option(
            "--half-width", help="Stop when a confidence sequence is this narrow.", metavar="H"
        ),
    ] = None,
    timeout: Timeout = math.inf,
    trial_timeout: TrialTimeout = 600.0,
    no_certify: NoCertify = False,
    complete: Complete = False,
    store: StoreOption = None,
    workers: WorkersOption = 1,
    scheduler: Scheduler = None,
    name: Annotated[
        str | None,
        typer.Option(help="Name of the study in the store; the problem file's by default."),
    ] = None,
    plot: Plot = None,
    width: Width = None,
    dpi: Dpi = DPI,
    as_json: Json = False,
) -> None:
    """Estimate the match probability, with an honest interval."""
    from matchprob.api import estimate as verbs
    from matchprob.io import files
    from matchprob.io.progress import progress
    from matchprob.report.estimate import print_estimate
    from matchprob.report.explanation import print_explanation

    files.check_outputs([problem], plot=plot, store=store)
    with progress("estimating", trials, confidence) as advance:
        found = verbs.estimate(
            problem,
            trials,
            seed=seed,
            engine=engine,
            confidence=confidence,
            timeout=timeout,
            trial_timeout=trial_timeout,
            certify=not no_certify,
            complete=complete,
            half_width=half_width,
            store=store,
            workers=workers,
            scheduler=scheduler,
            name=name,
            advance=advance,
        )
    why = found.explain(str(problem))
    if as_json:
        print_json(
            {
                **found.to_dict(),
                **sentences(why, found.problem.names),
            }
        )
    else:
        print_estimate(console(found.problem.names), found)
        print_explanation(console(found.problem.names), why)
    draw(found, plot, width, dpi)
    if found.trouble or found.trials < found.requested:
        finish(found.trials, found.requested, "trials", "estimate", store, found.trouble)
    elif half_width is not None and found.interval().half_width > half_width:
        say(
            f"matchprob: after {found.trials} trials the half-width is "
            f"{found.interval().half_width:.4f}, not yet {half_width}: ask for more --trials"
        )
        raise typer.Exit(UNFINISHED)


def compare(
    first: ProblemFile,
    second: ProblemFile,
    trials: Trials = 1000,
    seed: Seed = 0,
    engine: EngineName = None,
    confidence: Confidence = 0.95,
    timeout: Timeout = math.inf,
    trial_timeout: TrialTimeout = 600.0,
    no_certify: NoCertify = False,
    store: StoreOption = None,
    workers: WorkersOption = 1,
    scheduler: Scheduler = None,
    plot: Plot = None,
    width: Width = None,
    dpi: Dpi = DPI,
    as_json: Json = False,
) -> None:
    """Compare two allocations of one network on common random instances."""
    from matchprob.api import estimate as verbs
    from matchprob.explain.trials import explain_comparison
    from matchprob.io import files
    from matchprob.io.progress import progress
    from matchprob.report.estimate import print_comparison
    from matchprob.report.explanation import print_explanation

    files.check_outputs([first, second], plot=plot, store=store)
    with progress("comparing", 2 * trials, confidence) as advance:
        found = verbs.compare(
            first,
            second,
            trials,
            seed=seed,
            engine=engine,
            confidence=confidence,
            timeout=timeout,
            trial_timeout=trial_timeout,
            certify=not no_certify,
            store=store,
            workers=workers,
            scheduler=scheduler,
            advance=advance,
        )
    why = explain_comparison(found, shlex.join([str(first), str(second)]))
    if as_json:
        print_json(
            {
                **found.to_dict(),
                **sentences(why, found.first.problem.names),
            }
        )
    else:
        print_comparison(console(found.first.problem.names), found)
        print_explanation(console(found.first.problem.names), why)
    draw(found, plot, width, dpi)
    finish(
        found.trials, trials, "common trials", "compare", store,
        found.first.trouble or found.second.trouble,
    )  # fmt: skip


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    for verb in (count, estimate, compare):
        app.command()(verb)
