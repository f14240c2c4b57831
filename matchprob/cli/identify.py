"""Verbs about what data determine and what weights can be: identify, capacity, dimension."""

from __future__ import annotations

import json
import math
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from algebra.errors import InputError, shown
from matchprob.cli.options import Options, ProblemFile, Seed, Shown, Timeout, write

ModelFile = Annotated[Path, typer.Argument(help="Model (ONNX file).", show_default=False)]


@dataclass(frozen=True)
class ModelOptions(Options):
    """How a model's file is read."""

    size: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=NUMBER", help="A size that the file gives a name only."),
    ] = None
    constant: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Tensors that are numbers and no parameters."),
    ] = None
    output: Annotated[
        str, typer.Option(help="The output that is the labels; the first by default.")
    ] = ""

    def keywords(self) -> dict[str, Any]:
        """The options as the verb's function takes them."""
        sizes = {}
        for text in self.size or []:
            name, _, number = text.partition("=")
            if not number.isdecimal():
                raise InputError(f"--size {shown(text)} must be NAME=NUMBER, such as seq=16")
            sizes[name] = int(number)
        return {"sizes": sizes, "constants": self.constant or [], "output": self.output}


def identify(
    problem: ProblemFile,
    *,
    shown: Shown,
    seed: Seed = 0,
    timeout: Timeout = 60.0,
) -> None:
    """Say which learnable weights the data determine."""
    from matchprob.api import identify as api
    from matchprob.api.question import as_problem
    from matchprob.explain.identification import explain_identification
    from matchprob.io import files

    files.check_outputs([problem], plot=shown.plot)
    question = as_problem(problem)
    found = api.identify(question, seed=seed, timeout=timeout)
    why = explain_identification(found, shlex.quote(str(problem)), timeout)
    shown.tell(found, why, question.names, seed=seed)


def capacity(
    model: ModelFile,
    *,
    learn: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="A subset: names or patterns, by commas; repeatable."),
    ] = None,
    lora: Annotated[
        str, typer.Option(metavar="RANKS", help="Low-rank updates: 1,2,4 for three subsets.")
    ] = "",
    on: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Matrices that learn by these; all by default."),
    ] = None,
    needed: Annotated[
        int | None, typer.Option(help="Samples to be fitted: the cheapest subset that does.")
    ] = None,
    m: Annotated[
        int | None, typer.Option("--m", help="Samples at which ranks are found.", min=1)
    ] = None,
    reading: ModelOptions,
    timeout: Timeout = math.inf,
    shown: Shown,
    seed: Seed = 0,
) -> None:
    """Say how many samples each subset of a model's parameters can fit."""
    from matchprob.api import capacity as api
    from matchprob.explain.capacity import explain_capacity
    from matchprob.io import files
    from matchprob.report.capacity import print_capacity

    files.check_outputs([model], plot=shown.plot)
    ranks = []
    for text in filter(None, lora.split(",")):
        if not text.strip().isdecimal():
            raise InputError(f"--lora ({text!r}) must be whole numbers by commas, such as 1,2,4")
        ranks.append(int(text))
    found = api.capacity(
        model, learn or [], lora=ranks, on=on or [], m=m, needed=needed, seed=seed,
        timeout=timeout, **reading.keywords(),
    )  # fmt: skip
    why = explain_capacity(found, shlex.quote(str(model)))
    shown.tell(found, why, None, print_capacity, seed=seed)


def dimension(
    network: Annotated[
        Path,
        typer.Argument(
            help="Problem file (TOML; only the network counts, `m` may be missing) or ONNX file.",
            show_default=False,
        ),
    ],
    *,
    filling: Annotated[
        bool, typer.Option("--filling", help="Look for the smallest filling hidden widths.")
    ] = False,
    most_width: Annotated[
        int, typer.Option("--most-width", help="The largest width looked at.", min=1)
    ] = 8,
    reading: ModelOptions,
    timeout: Timeout = math.inf,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write the proof (JSON, for verify)."),
    ] = None,
    shown: Shown,
    seed: Seed = 0,
) -> None:
    """Say how many dimensions the set of a network's functions has."""
    from matchprob.api import identify as api
    from matchprob.explain.capacity import explain_dimension
    from matchprob.io import files

    files.check_outputs([network], out, plot=shown.plot)
    found = api.dimension(
        network, filling=filling, most_width=most_width, seed=seed, timeout=timeout,
        **reading.keywords(),
    )  # fmt: skip
    text = json.dumps(found.proof_file()) + "\n" if out else ""
    why = explain_dimension(found, shlex.quote(str(network)))
    shown.tell(found, why, None, seed=seed)
    write(out, lambda: text)
