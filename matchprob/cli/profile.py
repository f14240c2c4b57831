"""The verb of bounded matches: profile."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from matchprob.cli.options import (
    Shown,
    TrialOptions,
    Trials,
    finish,
)


def _numbers(text: str | None) -> list[float] | None:
    """Numbers between commas."""
    from algebra.errors import InputError

    if text is None:
        return None
    try:
        return [float(part) for part in text.replace(",", " ").split()]
    except ValueError:
        raise InputError(
            f"--bounds {text!r} must be numbers between commas, as in 0.5,1,2"
        ) from None


def profile(
    problems: Annotated[
        list[Path],
        typer.Argument(
            help="Problem files (TOML); several must be of one network.",
            metavar="PROBLEM...",
            show_default=False,
        ),
    ],
    by: Annotated[
        str,
        typer.Option(
            help="What is bounded: size (largest weight), change (largest change), norm "
            "(Euclidean length of the change), condition (condition number)."
        ),
    ] = "size",
    bounds: Annotated[
        str | None,
        typer.Option(help="Where points are wanted, as in 0.5,1,2; the steps by default."),
    ] = None,
    trials: Trials = 1000,
    *,
    asked: TrialOptions,
    shown: Shown,
) -> None:
    """Match probability as a function of what a match may cost."""
    from matchprob.api import profile as verbs
    from matchprob.explain.costs import explain_profile
    from matchprob.io import files
    from matchprob.io.progress import progress
    from matchprob.report.profile import print_profile

    files.check_outputs(problems, plot=shown.plot, store=asked.store)
    with progress("counting", len(problems) * trials) as advance:
        found = verbs.profile(
            *problems,
            by=by,
            bounds=_numbers(bounds),
            trials=trials,
            advance=advance,
            **asked.keywords(),
        )
    why = explain_profile(found, shlex.join(map(str, problems)))
    shown.tell(found, why, found.profiles[0].problem.names, print_profile)
    finish(found.trials, trials, "trials", "profile", asked.store, found.trouble)
