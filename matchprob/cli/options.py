"""What the verbs share: options, output, exit statuses."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from matchprob.io.sizes import check_dpi, inches

if TYPE_CHECKING:
    from rich.console import Console

    from algebra.problems.names import Names
    from algebra.results import Result

BAD_INPUT, UNFINISHED, BUG = 2, 3, 1


def _engine_names(incomplete: str) -> list[str]:
    """For a shell that completes."""
    from numeric.engines.base import engines

    return [name for name in engines() if name.startswith(incomplete)]


ProblemFile = Annotated[Path, typer.Argument(help="Problem file (TOML).", show_default=False)]
NetworkFile = Annotated[
    Path,
    typer.Argument(help="Problem file (TOML); only the network counts.", show_default=False),
]
InstanceFile = Annotated[
    Path | None,
    typer.Option(
        "--instance",
        metavar="FILE",
        help="One's own instance (TOML): weights, samples, and a teacher or labels.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]
Seed = Annotated[int, typer.Option(help="Everything random follows from it.", min=0)]
Plot = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Draw a picture (.png, .svg or .pdf)."),
]


def _width(text: str | None) -> str | None:
    """Refused before any work is done."""
    if text is not None:
        inches(text)
    return text


Width = Annotated[
    str | None,
    typer.Option(
        "--width", metavar="WIDTH", callback=_width,
        help="Of the picture on paper (85mm, 3.5in); what fits by default.",
    ),
]  # fmt: skip
Dpi = Annotated[int, typer.Option("--dpi", callback=check_dpi, help="Dots of an inch, for .png.")]
EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine",
        help="Solver of the instances; the network's own by default. {engines}",
        autocompletion=_engine_names,
    ),
]
Trials = Annotated[int, typer.Option(help="Number of random trials.", min=1)]
Confidence = Annotated[float, typer.Option(help="Level of the interval.")]
NoCertify = Annotated[
    bool, typer.Option("--no-certify", help="Compute trials even of certified allocations.")
]
Complete = Annotated[
    bool,
    typer.Option("--complete", help="Count every solution, even where one decides the match."),
]
StoreOption = Annotated[
    Path | None,
    typer.Option("--store", metavar="FILE", help="Keep trials in this file; taken up again."),
]
WorkersOption = Annotated[int, typer.Option("--workers", help="Processes.", min=1)]
Scheduler = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Dask scheduler (tcp://…) instead of own processes."),
]
Timeout = Annotated[
    float, typer.Option(help="Seconds for the whole call; what is known by then is reported.")
]
TrialTimeout = Annotated[
    float, typer.Option("--trial-timeout", help="Seconds for one trial in the engine.")
]


def console(names: Names | None = None) -> Console:
    """Where results are printed; with names of units these are put in for indices."""
    from matchprob.io.page import Page

    return Page(names)


def say(text: str) -> None:
    """A message on stderr."""
    typer.echo(text, err=True)


def print_json(data: dict[str, Any]) -> None:
    """The one JSON object on stdout."""
    put(json.dumps(data) + "\n")


def put(text: str) -> None:
    """A text on stdout as it is."""
    # typer's echo writes past a replaced stdout.
    sys.stdout.write(text)
    sys.stdout.flush()


def draw(found: Result, plot: Path | None, width: str | None, dpi: int) -> None:
    """The picture of a result, where one is asked for."""
    if plot is None:
        return
    from matchprob.report.drawing import paint

    paint.write(found, plot, width, dpi)
    say(f"wrote {plot}")


def finish(
    done: int,
    wanted: int,
    noun: str,
    verb: str,
    store: Path | None = None,
    trouble: str = "",
) -> None:
    """Status 3 where an interrupt or `trouble` left the work unfinished."""
    if trouble:
        say(f"matchprob: {trouble}; the result above is of {done} of {wanted} {noun}")
        raise typer.Exit(UNFINISHED)
    if done < wanted:
        kept = (
            f"kept in {store}; the same command goes on"
            if store
            else f"{verb.capitalize()} trial i of a seed is always the same: ask again to have "
            "them all, or use --store"
        )
        say(
            f"matchprob: interrupted after {done} of {wanted} {noun}; the result above is of "
            f"these. {kept}"
        )
        raise typer.Exit(UNFINISHED)
