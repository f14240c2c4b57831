"""The verb that trains: train."""

from __future__ import annotations

from typing import Annotated

import typer

from matchprob.cli.options import (
    ProblemFile,
    Shown,
    TrialOptions,
    Trials,
    finish,
)


def _optimizer_names(incomplete: str) -> list[str]:
    """For a shell that completes."""
    from numeric.training.descent import OPTIMIZERS

    return [name for name in OPTIMIZERS if name.startswith(incomplete)]


def train(
    problem: ProblemFile,
    optimizer: Annotated[
        str,
        typer.Option(
            help="gd (gradient descent), adam or levenberg-marquardt; all see all samples.",
            autocompletion=_optimizer_names,
        ),
    ] = "adam",
    trials: Trials = 200,
    steps: Annotated[
        int | None, typer.Option(help="Most steps of a run; thousands by default.", min=1)
    ] = None,
    restarts: Annotated[
        int, typer.Option(help="Runs from weights drawn again, after the student's own.", min=0)
    ] = 0,
    rate: Annotated[
        float | None, typer.Option(help="Size of the steps; levenberg-marquardt has none.")
    ] = None,
    *,
    asked: TrialOptions,
    shown: Shown,
) -> None:
    """Train on random instances: which of the matches that exist are found."""
    from matchprob.api import train as verbs
    from matchprob.io import files
    from matchprob.io.progress import counter
    from matchprob.report.train import print_training

    files.check_outputs([problem], plot=shown.plot, store=asked.store)
    done = 0
    with counter("counting, then training") as tell:

        def advance(_: object) -> None:
            nonlocal done
            done += 1
            tell(done, 2 * trials)

        found = verbs.train(
            problem,
            trials,
            optimizer=optimizer,
            steps=steps,
            restarts=restarts,
            rate=rate,
            advance=advance,
            trained=advance,
            **asked.keywords(),
        )
    why = found.explain(str(problem))
    shown.tell(found, why, found.problem.names, print_training)
    finish(found.trials, trials, "trials", "train", asked.store, found.trouble)
