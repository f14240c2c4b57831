"""Verbs about an allocation that is there: repair, robust."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from matchprob.cli import options
from matchprob.cli.design import DemandArguments, Out, SearchArguments, Write, is_table
from matchprob.cli.options import ProblemFile, Seed, Shown, Timeout


def repair(
    problem: ProblemFile,
    goal: Annotated[
        str | None,
        typer.Option(
            help="positive (MP > 0) or maximal; by default positive where MP = 0, else maximal."
        ),
    ] = None,
    *,
    demand: DemandArguments,
    search: SearchArguments,
    write: Write = None,
    out: Out = None,
    shown: Shown,
    seed: Seed = 0,
) -> None:
    """Move the fewest weights so that MP > 0, or so that MP = 1."""
    from algebra.ranks.parametrized import by_parameters
    from matchprob.api.designs import repair as repairs
    from matchprob.api.question import as_problem
    from matchprob.io import files
    from matchprob.report.repair import print_repair

    files.check_outputs([problem, *demand.files], write, out, plot=shown.plot)
    question = as_problem(problem)
    names = by_parameters(question).names
    found = repairs.repair(
        question,
        goal=goal,
        seed=seed,
        **demand.read(names),
        **search.keywords(),
    )
    why = found.explain(str(problem))
    shown.tell(found, why, names, print_repair, seed=seed)
    options.write(write, found.edges if is_table(write) else found.problem.to_toml)
    options.write(out, found.after.to_json, f": {found.after.verdict}, {found.after.rule}")


def robust(
    problem: ProblemFile,
    seconds: Annotated[
        float, typer.Option(help="Time for the search; the result says how far it got.", min=0.1)
    ] = 30.0,
    timeout: Timeout = math.inf,
    *,
    shown: Shown,
    seed: Seed = 0,
) -> None:
    """Tell how many learnable weights may be lost before MP drops to 0."""
    from algebra.ranks.parametrized import by_parameters
    from matchprob.api.designs import repair as repairs
    from matchprob.api.question import as_problem
    from matchprob.io import files
    from matchprob.report.repair import print_robustness

    files.check_outputs([problem], plot=shown.plot)
    question = as_problem(problem)
    found = repairs.robust(question, seconds=seconds, timeout=timeout, seed=seed)
    why = found.explain(str(problem))
    shown.tell(found, why, by_parameters(question).names, print_robustness, seed=seed)
