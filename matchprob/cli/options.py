"""What the verbs share: options, output, exit statuses."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from algebra.errors import InputError
from matchprob.io.sizes import DPI, check_dpi, inches

if TYPE_CHECKING:
    from rich.console import Console

    from algebra.problems.names import Names
    from algebra.results import Explanation, Result

BAD_INPUT, UNFINISHED, BUG = 2, 3, 1
# Verbs of trials that can be kept.
_STORING = ("estimate", "compare", "profile", "train")


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
        help="Of the picture on paper (85mm, 3.5in); by default as wide as it needs.",
    ),
]  # fmt: skip
NoTitle = Annotated[
    bool,
    typer.Option("--no-title", help="No title in the picture: a caption says it. Panels: a, b, …"),
]
Dpi = Annotated[int, typer.Option("--dpi", callback=check_dpi, help="Dots per inch of a .png.")]
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


@dataclass(frozen=True)
class Options:
    """Options that several verbs share: one parameter of a command, its fields on the line."""

    def keywords(self) -> dict[str, Any]:
        """The options as the verb's function takes them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True)
class SolverOptions(Options):
    """What is said to the solver of random instances."""

    seed: Seed = 0
    engine: EngineName = None
    timeout: Timeout = math.inf
    trial_timeout: TrialTimeout = 600.0


@dataclass(frozen=True)
class TrialOptions(SolverOptions):
    """How trials are counted, and where they are kept."""

    confidence: Confidence = 0.95
    store: StoreOption = None
    workers: WorkersOption = 1


@dataclass(frozen=True)
class Picture(Options):
    """The picture of a result."""

    plot: Plot = None
    width: Width = None
    dpi: Dpi = DPI
    no_title: NoTitle = False

    def draw(self, found: Result) -> None:
        """Draw it, where one is asked for."""
        if self.plot is None:
            given = (
                ("--width", self.width is not None),
                ("--dpi", self.dpi != DPI),
                ("--no-title", self.no_title),
            )
            for option in [name for name, is_given in given if is_given][:1]:
                say(f"matchprob: {option} is of a picture, and none is asked for: add --plot FILE")
            return
        from matchprob.report.drawing import paint

        paint.write(found, self.plot, self.width, self.dpi, has_title=not self.no_title)
        say(f"wrote {self.plot}")


@dataclass(frozen=True)
class Shown(Picture):
    """How a result is told: as text or as one JSON object, and as a picture."""

    as_json: Json = False

    def tell(
        self,
        found: Result,
        why: Explanation,
        names: Names | None,
        show: Callable[[Console, Any], None] = lambda page, found: page.print(str(found)),
        **more: Any,
    ) -> None:
        """Tell and draw a result; `more` is what its JSON object has besides."""
        data = {**found.to_dict(), **more}  # type: ignore[attr-defined]
        answer(data, why, names, lambda page: show(page, found), as_json=self.as_json)
        self.draw(found)


def write(path: Path | None, text: Callable[[], str], note: str = "") -> None:
    """Write a file, where one is asked for, and say so."""
    if path is not None:
        from matchprob.io import files

        files.write_text(path, text())
        say(f"wrote {path}{note}")


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameters of `Options` stand on the command line as their fields.

    Typer reads a command's signature and its annotations: those of what is returned name the
    fields, in the parameters' place; a call puts the groups together again.
    """
    hints = get_type_hints(command, include_extras=True)
    groups = {
        name: kind
        for name, kind in hints.items()
        if isinstance(kind, type) and issubclass(kind, Options)
    }
    shown: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        group = groups.get(parameter.name)
        if group is None:
            annotation = hints[parameter.name]
            shown.append(parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=annotation))
            continue
        inner = get_type_hints(group, include_extras=True)
        shown += [
            Parameter(f.name, Parameter.KEYWORD_ONLY, default=f.default, annotation=inner[f.name])
            for f in fields(group)
        ]

    @wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    del run.__wrapped__  # type: ignore[attr-defined]
    run.__signature__ = Signature(shown)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return run


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


def sentences(why: Explanation, names: Names | None = None) -> dict[str, Any]:
    """An explanation as the field of ``--json``, and the names of units, where there are some.

    Sentences have the names in place of indices.  Everything else keeps its indices: rows and
    columns of each matrix are the positions in ``names``.
    """
    lines = why.lines()
    if not names:
        return {"explanation": lines}
    told = {
        matrix: {"rows": names.rows(matrix), "columns": names.columns(matrix)}
        for matrix in names.network.shapes
    }
    return {"names": told, "explanation": [names.annotate(text) for text in lines]}


def put(text: str) -> None:
    """A text on stdout as it is."""
    # typer's echo writes past a replaced stdout.
    sys.stdout.write(text)
    sys.stdout.flush()


def answer(
    data: dict[str, Any],
    why: Explanation,
    names: Names | None,
    show: Callable[[Console], None],
    *,
    as_json: bool,
) -> None:
    """A result and its explanation: one JSON object, or as a person reads them."""
    if as_json:
        print_json({**data, **sentences(why, names)})
        return
    from matchprob.report.explanation import print_explanation

    page = console(names)
    show(page)
    print_explanation(page, why)


def _held(store: Path) -> str:
    """What a store holds, counted in it: what was finished and what was kept may differ."""
    from numeric.studies.store import Store

    try:
        with Store(store, create=False, write=False) as opened:
            studies = opened.studies()
    except InputError as error:
        return f"what is kept is not known: {error}"
    trials = sum(study.trials for study in studies)
    of = f" of {len(studies)} studies" if len(studies) > 1 else ""
    return f"{store} holds {trials} trial{'s' * (trials != 1)}{of}"


def finish(
    done: int,
    wanted: int,
    noun: str,
    verb: str,
    store: Path | None = None,
    trouble: str = "",
) -> None:
    """Status 3 where an interrupt or `trouble` left the work unfinished."""
    if trouble or done < wanted:
        why = f"{trouble}:" if trouble else "interrupted after"
        what = f"the result above is of these {done}" if done else "there is no result"
        again = f"{verb.capitalize()} trial i of a seed is always the same: ask again to have them"
        kept = (
            f"{_held(store)}; the same command goes on"
            if store
            else f"{again} all, or use --store"
            if verb in _STORING
            else f"{again} all"
        )
        say(f"matchprob: {why} {done} of {wanted} {noun}; {what}. {kept}")
        raise typer.Exit(UNFINISHED)
