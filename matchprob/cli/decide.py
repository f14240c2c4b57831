"""The verb of shallow ReLU nets: decide."""

from __future__ import annotations

import json
import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from matchprob.cli.options import (
    UNFINISHED,
    InstanceFile,
    Json,
    ProblemFile,
    Seed,
    Timeout,
    answer,
    write,
)

if TYPE_CHECKING:
    from rich.console import Console


def decide(
    problem: ProblemFile,
    index: Annotated[int, typer.Option(help="Number of the trial.", min=0)] = 0,
    seed: Seed = 0,
    instance: InstanceFile = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the evidence (JSON).")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Believe floating point where it is beyond doubt.")
    ] = False,
    timeout: Timeout = math.inf,
    as_json: Json = False,
) -> None:
    """Decide one trial of a shallow ReLU net, with evidence that `verify` re-checks."""
    from algebra.errors import InputError
    from matchprob.api import certify as exact
    from matchprob.api.question import as_problem
    from matchprob.explain.decision import explain_decision
    from matchprob.io import files
    from numeric.relu.decision import UNDETERMINED

    if quick and out is not None:
        raise InputError("`--quick` leaves no evidence to write: leave out one of it and `--out`")
    files.check_outputs([problem, *([instance] if instance else [])], out)
    question = as_problem(problem)
    found = exact.decide(
        question, index, seed=seed, instance=instance, certify=not quick, timeout=timeout
    )
    trial = f"--index {index}" + (f" --seed {seed}" if seed else "")
    name = f"trial {index} of seed {seed}"
    if instance:
        trial, name = f"--instance {shlex.quote(str(instance))}", str(instance)
    why = explain_decision(found, shlex.quote(str(problem)), trial)

    def show(page: Console) -> None:
        page.print(f"{name}: {found}")
        if found.note:
            page.print(f"  {found.note}")

    data = {"index": index, "seed": seed, **found.to_dict()}
    answer(data, why, question.names, show, as_json=as_json)
    if found.verdict == UNDETERMINED:
        raise typer.Exit(UNFINISHED)
    write(out, lambda: json.dumps(found.certificate()))
