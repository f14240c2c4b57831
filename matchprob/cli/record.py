"""The verb that says what to record: record."""

from __future__ import annotations

import json
import math
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from matchprob.cli.options import (
    UNFINISHED,
    Options,
    ProblemFile,
    Seed,
    Shown,
    Timeout,
    say,
    write,
)

if TYPE_CHECKING:
    from algebra.problems.problem import Problem
    from algebra.record.result import FirstChoice


@dataclass(frozen=True)
class ThingOptions(Options):
    """What may be recorded, and what it costs."""

    what: Annotated[
        list[str] | None,
        typer.Option(help="outputs (by default), entries, samples, times or units; repeatable."),
    ] = None
    costs: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER|KIND=FILE", help="Costs, of one thing or of all of a kind; 1 each."
        ),
    ] = None
    must: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME|KIND=FILE", help="What is recorded in any case (0/1 CSV)."),
    ] = None
    forbid: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME|KIND=FILE", help="What must not be recorded (0/1 CSV)."),
    ] = None
    row_cap: Annotated[
        int | None, typer.Option(help="At most so many entries of an output.", min=0)
    ] = None
    column_cap: Annotated[
        int | None, typer.Option(help="At most so many entries of a sample.", min=0)
    ] = None
    matrix_cap: Annotated[
        int | None, typer.Option(help="At most so many of a kind or layer.", min=0)
    ] = None

    @property
    def files(self) -> list[Path]:
        """The files that it may be read from."""
        tables = (self.costs, self.must, self.forbid)
        named = [entry.partition("=")[2] for given in tables for entry in given or []]
        return [Path(name) for name in named if name]

    def read(self, problem: Problem) -> dict[str, Any]:
        """The question as the verb's function takes it, its files read."""
        from algebra.record.things import check_what, things_of
        from matchprob.io import things as tables

        kinds = check_what(self.what or ["outputs"])
        things, _ = things_of(problem.network, kinds)
        caps = {"row": self.row_cap, "column": self.column_cap, "matrix": self.matrix_cap}
        return {
            "what": kinds,
            "costs": dict(tables.read_prices(self.costs or [], things, problem.names)),
            "must": tables.read_marks(self.must or [], things, problem.names, "--must"),
            "forbidden": tables.read_marks(self.forbid or [], things, problem.names, "--forbid"),
            "caps": {kind: number for kind, number in caps.items() if number is not None},
        }


def _said(found: FirstChoice) -> None:
    """A greedy choice that leaves something to prove, at once."""
    if found.bound < found.cost:
        say(f"matchprob: {found}; the search goes on")


def record(
    problem: ProblemFile,
    *,
    things: ThingOptions,
    seconds: Annotated[
        float,
        typer.Option(help="Time for the search after a greedy choice; 0 for the choice.", min=0.0),
    ] = 60.0,
    timeout: Timeout = math.inf,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write the proof (JSON, for verify)."),
    ] = None,
    write_table: Annotated[
        Path | None,
        typer.Option("--write", metavar="FILE", help="Write what is recorded, by name (CSV)."),
    ] = None,
    shown: Shown,
    seed: Seed = 0,
) -> None:
    """Say what to record so that the data determine the weights."""
    from matchprob.api import record as api
    from matchprob.api.question import as_problem
    from matchprob.explain.recording import explain_recording
    from matchprob.io import files

    files.check_outputs([problem, *things.files], out, write_table, plot=shown.plot)
    question = as_problem(problem)
    found = api.record(
        question, **things.read(question), seconds=seconds, timeout=timeout, first=_said, seed=seed
    )
    why = explain_recording(found, shlex.quote(str(problem)))
    shown.tell(found, why, question.names, seed=seed)
    write(write_table, found.table)
    write(out, lambda: json.dumps(found.proof_file()) + "\n")
    if not found.is_optimal:
        ended = "interrupted" if found.interrupted else "out of time"
        say(
            f"matchprob: {ended}; the result above costs {found.cost}, and nothing costs less than "
            f"{found.bound}: whether anything lies between is not known"
        )
        raise typer.Exit(UNFINISHED)
