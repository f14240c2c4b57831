"""The verb of shallow ReLU nets: decide."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from matchprob.commands.common import (
    UNFINISHED,
    Json,
    ProblemFile,
    Seed,
    console,
    print_json,
    say,
)


def decide(
    problem: ProblemFile,
    index: Annotated[int, typer.Option(help="Number of the trial.", min=0)] = 0,
    seed: Seed = 0,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the evidence (JSON).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Decide one trial of a shallow ReLU net, with evidence that `verify` re-checks."""
    from matchprob import api
    from numeric.instances import draw_instance
    from numeric.relu_decision import UNDETERMINED
    from numeric.relu_decision import decide as decided

    question = api.as_problem(problem)
    found = decided(draw_instance(question, seed, index), certify=out is not None)
    if as_json:
        print_json({"index": index, "seed": seed, **found.to_dict()})
    else:
        console().print(f"trial {index} of seed {seed}: {found}")
        if found.note:
            console().print(f"  {found.note}")
    if found.verdict == UNDETERMINED:
        raise typer.Exit(UNFINISHED)
    if out is not None:
        out.write_text(json.dumps(found.certificate()), encoding="utf-8")
        say(f"wrote {out}")


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command()(decide)
