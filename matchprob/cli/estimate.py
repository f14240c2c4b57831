"""Verbs that solve random instances: count, estimate, compare."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from matchprob.cli.options import (
    UNFINISHED,
    Complete,
    InstanceFile,
    NoCertify,
    ProblemFile,
    Scheduler,
    Shown,
    SolverOptions,
    TrialOptions,
    Trials,
    answer,
    finish,
    say,
)

if TYPE_CHECKING:
    from rich.console import Console


def count(
    problem: ProblemFile,
    instances: Annotated[int, typer.Option(help="Number of random instances.", min=1)] = 20,
    *,
    asked: SolverOptions,
    solutions: Annotated[
        bool,
        typer.Option("--solutions", help="Show each real solution, enclosed, and what it costs."),
    ] = False,
    monodromy: Annotated[
        bool,
        typer.Option(
            "--monodromy",
            help="Show the monodromy group of the solutions: its order, its blocks, and whether "
            "formulas with radicals can give them.",
        ),
    ] = False,
    instance: InstanceFile = None,
    shown: Shown,
) -> None:
    """Count the real solutions of random instances, or of one's own."""
    from matchprob.api import estimate as verbs
    from matchprob.api.question import as_problem
    from matchprob.explain.trials import explain_counts
    from matchprob.io import files
    from matchprob.io.progress import progress
    from matchprob.report.enclosures import enclosure_data, print_enclosures
    from matchprob.report.estimate import print_counts, print_group, print_solutions

    files.check_outputs([problem, *([instance] if instance else [])], plot=shown.plot)
    question = as_problem(problem)
    wanted = 1 if instance else instances
    with progress("counting", wanted) as advance:
        found = verbs.count(
            question,
            instances,
            instance=instance,
            **asked.keywords(),
            advance=advance,
        )
    why = explain_counts(found, shlex.quote(str(problem)), shown=solutions)
    data = found.to_dict()
    costs = None
    if solutions:
        from numeric.solutions import solution_costs

        costs = [
            solution_costs(found.instance(c), c.solutions) if c.solutions else []
            for c in found.instances
        ]
        boxes = verbs.enclosures(found)
        polynomials = verbs.minimal_polynomials(found)
        for entry, *own in zip(data["instances"], costs, boxes, polynomials, strict=True):
            entry["solutions"] = [
                {**cost.to_dict(), **enclosure_data(box, over_q)}
                for cost, box, over_q in zip(*own, strict=True)
            ]

    group = None
    if monodromy:
        group = verbs.monodromy_group(found, timeout=asked.keywords()["timeout"])
        data["monodromy"] = group.to_dict()

    def show(page: Console) -> None:
        print_counts(page, found)
        if group is not None:
            print_group(page, group)
        if costs is not None:
            print_enclosures(page, found, boxes, polynomials)
            print_solutions(page, found, costs)

    answer(data, why, question.names, show, as_json=shown.as_json)
    shown.draw(found)
    finish(len(found), wanted, "instances", "count", trouble=found.trouble)


def estimate(
    problem: ProblemFile,
    trials: Trials = 1000,
    *,
    asked: TrialOptions,
    half_width: Annotated[
        float | None,
        typer.Option(
            "--half-width", help="Stop when a confidence sequence is this narrow.", metavar="H"
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            "--epsilon",
            help="Also the share of instances whose mean squared error gets below this.",
            metavar="E",
        ),
    ] = None,
    no_certify: NoCertify = False,
    complete: Complete = False,
    scheduler: Scheduler = None,
    name: Annotated[
        str | None,
        typer.Option(help="Name of the study in the store; the problem file's by default."),
    ] = None,
    shown: Shown,
) -> None:
    """Estimate the match probability, with an honest interval."""
    from matchprob.api import estimate as verbs
    from matchprob.io import files
    from matchprob.io.progress import progress
    from matchprob.report.estimate import print_estimate

    files.check_outputs([problem], plot=shown.plot, store=asked.store)
    with progress("estimating", trials, asked.confidence) as advance:
        found = verbs.estimate(
            problem,
            trials,
            certify=not no_certify,
            complete=complete,
            half_width=half_width,
            epsilon=epsilon,
            scheduler=scheduler,
            name=name,
            advance=advance,
            **asked.keywords(),
        )
    why = found.explain(str(problem))
    shown.tell(found, why, found.problem.names, print_estimate)
    if found.trouble or found.trials < found.requested:
        finish(found.trials, found.requested, "trials", "estimate", asked.store, found.trouble)
    elif found.approximate is not None and found.approximate.unsearched:
        searched = found.trials - found.approximate.unsearched
        finish(searched, found.trials, "searches", "estimate", asked.store)
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
    *,
    asked: TrialOptions,
    no_certify: NoCertify = False,
    scheduler: Scheduler = None,
    shown: Shown,
) -> None:
    """Compare two allocations of one network on common random instances."""
    from matchprob.api import estimate as verbs
    from matchprob.explain.trials import explain_comparison
    from matchprob.io import files
    from matchprob.io.progress import progress
    from matchprob.report.estimate import print_comparison

    files.check_outputs([first, second], plot=shown.plot, store=asked.store)
    with progress("comparing", 2 * trials, asked.confidence) as advance:
        found = verbs.compare(
            first,
            second,
            trials,
            certify=not no_certify,
            scheduler=scheduler,
            advance=advance,
            **asked.keywords(),
        )
    why = explain_comparison(found, shlex.join([str(first), str(second)]))
    shown.tell(found, why, found.first.problem.names, print_comparison)
    finish(
        found.trials, trials, "common trials", "compare", asked.store,
        found.first.trouble or found.second.trouble,
    )  # fmt: skip
