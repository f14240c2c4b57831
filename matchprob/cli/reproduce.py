"""The verb that computes the papers' figures: reproduce."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from matchprob.cli.options import (
    UNFINISHED,
    Dpi,
    Json,
    NoTitle,
    Width,
    print_json,
    put,
    say,
)
from matchprob.io.sizes import DPI, inches
from matchprob.verbs import parameters as common
from matchprob.verbs.verb import LineArgument, LineOption

# Of a first look.
_QUICK_POINTS = 2
_QUICK_TRIALS = 40


@contextmanager
def _kept_in(store: Path) -> Iterator[None]:
    """An interrupt, or a lack of memory, says that the store has what is finished."""
    from algebra.errors import Unfinished

    try:
        yield
    except (KeyboardInterrupt, MemoryError) as end:
        if not store.exists():
            raise
        why = "out of memory" if isinstance(end, MemoryError) else "interrupted"
        raise Unfinished(
            f"{why}; what is finished is kept in {store}, the same command goes on"
        ) from None


class Suffix(StrEnum):
    """Formats of pictures."""

    png = "png"
    svg = "svg"
    pdf = "pdf"


def reproduce(
    name: Annotated[str | None, LineArgument()] = None,
    trials: Annotated[Sequence[str] | None, LineOption(metavar="[CURVE:]N")] = None,
    points: Annotated[int | None, LineOption(least=1)] = None,
    quick: bool = False,
    out: Annotated[Path, LineOption(metavar="DIR")] = Path("figures"),
    store: Annotated[Path | None, LineOption(metavar="FILE")] = None,
    baseline: Annotated[int, LineOption(least=0)] = 0,
    data: Annotated[Path | None, LineOption(metavar="DIR")] = None,
    kept: Annotated[Path | None, LineOption(flag="--from", metavar="DIR")] = None,
    suffix: Annotated[Suffix, LineOption(flag="--format")] = Suffix.png,
    width: Width = None,
    dpi: Dpi = DPI,
    no_title: NoTitle = False,
    workers: common.Workers = 1,
    seed: common.Seed = 0,
    as_json: Json = False,
) -> None:
    """Compute a figure or table of the papers, with intervals and certificates.

    Parameters
    ----------
    name : str, optional
        Name of the figure; without it figures are listed.
    trials : sequence of str, optional
        Number of trials for each point, or n=16:1000 for those of one curve; repeatable.  By
        default as many as take a few minutes.
    points : int, optional
        Largest number of points on each curve; all by default.
    quick : bool, optional
        A first look: at most two points on each curve, and 40 trials for each, unless given.
    out : Path, optional
        Folder for the files.
    store : Path, optional
        Store of the trials; DIR/NAME.sqlite by default.
    baseline : int, optional
        Number of trials for each point by the paper's own method.
    data : Path, optional
        MNIST's IDX files, for fig3c.
    kept : Path, optional
        Draw the tables that a run wrote to this folder; no trials.
    suffix : Suffix, optional
        Format of the picture.
    """
    from algebra.errors import InputError
    from matchprob.io import files
    from matchprob.plugins.papers.figures import Run, figures, find_figure
    from matchprob.plugins.papers.figures.tables import write_table
    from matchprob.report.drawing.style import on_paper, save

    if name is None:
        known = figures().values()
        if as_json:
            print_json({"figures": {f.name: f.title for f in known}, "seed": seed})
        else:
            for figure in known:
                put(f"{figure.name:<12} {figure.title}\n")
        return
    figure = find_figure(name)
    if kept and (trials or points or quick or store or baseline or data):
        raise InputError(
            f"--from {kept} draws what was computed before: it does not go with --trials, "
            "--points, --quick, --store, --baseline, --data"
        )
    every, single = figure.trials_of(trials or ())
    if quick:
        every = every if trials else min(every, _QUICK_TRIALS)
        points = points or _QUICK_POINTS
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--out {out}: {error.strerror}") from None
    pictures = {figure.file(out, p.name, suffix.value): p for p in figure.pictures}
    parts = {part: figure.file(out, part, "csv") for part in ("", *figure.tables)}
    text = figure.file(out, "", "md")
    new = [] if kept else [*parts.values(), text]
    files.check_outputs([], *pictures, *new, store=store)
    finished = True
    if kept:
        tables = figure.read(kept)
        if as_json:
            print_json({"figure": name, "seed": seed, "points": tables[""]})
    else:
        run = Run(
            trials=every,
            curve_trials=single,
            seed=seed,
            store=store or out / f"{name}.sqlite",
            workers=workers,
            baseline=baseline,
            say=say,
            data=data,
            points=points,
        )
        with _kept_in(run.store):
            numbers = figure.compute(run)
        tables, finished = numbers.tables, numbers.finished
        if as_json:
            print_json(
                {"figure": name, "trials": run.trials, "curve_trials": single, "seed": seed,
                 "finished": finished, "points": tables[""]}
            )  # fmt: skip
        else:
            put(numbers.text + "\n")
        for part, path in parts.items():
            write_table(path, tables[part])
        files.write_text(text, numbers.text)
    with on_paper(None if width is None else inches(width)):
        for path, picture in pictures.items():
            save(picture.draw(tables, has_titles=not no_title), path, dpi)
    say("wrote " + ", ".join(map(str, [*pictures, *new])))
    if not finished:
        say(f"matchprob: interrupted; trials are kept in {run.store}, the same command goes on")
        raise typer.Exit(UNFINISHED)
