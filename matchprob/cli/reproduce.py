"""The verb that makes the papers' figures again: reproduce."""

from __future__ import annotations

import csv
import io
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from matchprob.cli.options import (
    UNFINISHED,
    Dpi,
    Json,
    Seed,
    Width,
    WorkersOption,
    print_json,
    put,
    say,
)
from matchprob.io.sizes import DPI, inches


class Suffix(StrEnum):
    """Formats of pictures."""

    png = "png"
    svg = "svg"
    pdf = "pdf"


def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="Figure; without one they are listed.", show_default=False)
    ] = None,
    trials: Annotated[
        int | None, typer.Option(help="For each point; minutes by default.", min=1)
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where files go.")] = Path(
        "figures"
    ),
    store: Annotated[
        Path | None,
        typer.Option("--store", metavar="FILE", help="Trials; DIR/NAME.sqlite by default."),
    ] = None,
    baseline: Annotated[
        int,
        typer.Option(help="Trials a point given to the paper's own method too.", min=0),
    ] = 0,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", help="MNIST's IDX files, for fig3c."),
    ] = None,
    suffix: Annotated[Suffix, typer.Option("--format", help="Of the picture.")] = Suffix.png,
    width: Width = None,
    dpi: Dpi = DPI,
    workers: WorkersOption = 1,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Make a figure or table of the papers again, with intervals and certificates."""
    from algebra.errors import InputError
    from matchprob.figures import Run, figures, find_figure
    from matchprob.io import files
    from matchprob.report.drawing.style import grow, on_paper, save

    if name is None:
        known = figures().values()
        if as_json:
            print_json({"figures": {f.name: f.title for f in known}, "seed": seed})
        else:
            for figure in known:
                put(f"{figure.name:<12} {figure.title}\n")
        return
    figure = find_figure(name)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--out {out}: {error.strerror}") from None
    picture, table, text = (out / f"{name}.{ending}" for ending in (suffix.value, "csv", "md"))
    extra = {more: out / f"{name}-{more}.{suffix.value}" for more in figure.more}
    files.check_outputs([], table, text, *extra.values(), plot=picture, store=store)
    run = Run(
        trials=trials or figure.trials,
        seed=seed,
        store=store or out / f"{name}.sqlite",
        workers=workers,
        baseline=baseline,
        say=say,
        data=data,
    )
    with on_paper(None if width is None else inches(width)):
        made = figure.make(run)
    for drawn in (made.picture, *made.more.values()):
        grow(drawn)
    if as_json:
        print_json(
            {"figure": name, "trials": run.trials, "seed": seed, "finished": made.finished,
             "points": made.rows}
        )  # fmt: skip
    else:
        put(made.text + "\n")
    save(made.picture, picture, dpi)
    for more, drawn in made.more.items():
        save(drawn, extra[more], dpi)
    files.write_text(text, made.text)
    if made.rows:
        lines = io.StringIO()
        writer = csv.DictWriter(lines, list(made.rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(made.rows)
        files.write_text(table, lines.getvalue())
    written = [picture, *(extra[more] for more in made.more), text, *([table] if made.rows else [])]
    say("wrote " + ", ".join(map(str, written)))
    if not made.finished:
        say(f"matchprob: interrupted; trials are kept in {run.store}, the same command goes on")
        raise typer.Exit(UNFINISHED)


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command()(reproduce)
