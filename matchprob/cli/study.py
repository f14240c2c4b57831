"""Verbs of kept trials: study list, show, export, rename, merge."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from matchprob.cli.commands import plain_command
from matchprob.cli.options import Json, Whole, console, print_json, print_report, put, say
from matchprob.verbs.verb import LineArgument, LineOption

if TYPE_CHECKING:
    from rich.console import Console

    from algebra.problems.problem import Problem
    from numeric.studies.store import StudyInfo

StoreFile = Annotated[Path, LineArgument("Store (SQLite).")]
StudyName = Annotated[
    str | None,
    LineArgument("Number, name, or beginning of the key; the only one by default."),
]

studies = typer.Typer(
    no_args_is_help=True, help="Trials kept in a store: list, show, export, rename, merge."
)


def list_studies(store: StoreFile, as_json: Json = False, is_whole: Whole = False) -> None:
    """List the studies of a store."""
    from numeric.studies.differences import study_differences
    from numeric.studies.store import Store

    with Store(store, write=False) as opened:
        found = opened.studies()
    if as_json:
        own = study_differences(found, look_alike)
        print_json(
            {"studies": [{**s.to_dict(), "apart": a} for s, a in zip(found, own, strict=True)]}
        )
    else:
        print_report(lambda page: print_studies(page, found), is_whole=is_whole)


def show(
    store: StoreFile,
    study: StudyName = None,
    as_json: Json = False,
    is_whole: Whole = False,
) -> None:
    """Show a study: its problem, and the estimate of the trials done."""
    from matchprob.api.studies import estimate_of
    from matchprob.report.documents import print_findings
    from numeric.studies.store import Store

    with Store(store, write=False) as opened:
        opened.check()
        info, found = estimate_of(opened, study)
    if as_json:
        print_json({**info.to_dict(), **found.to_dict()})
        return

    def write_facts(out: Console) -> None:
        out.print(f"study {info.id}" + (f", {info.name}" if info.name else ""), markup=False)
        out.print(info.toml, markup=False)
        print_findings(out, found.document())
        if found.trials < info.trials:
            out.print(f"  {info.trials - found.trials} more trials are stored after a gap")

    print_report(write_facts, is_whole=is_whole)


def export_study(
    store: StoreFile,
    study: StudyName = None,
    out: Annotated[Path | None, LineOption(metavar="FILE")] = None,
    as_json: Annotated[bool, LineOption(flag="--json")] = False,
) -> None:
    """Write the trials of a study as a table.

    Parameters
    ----------
    out : Path, optional
        A .csv or .parquet file; by default CSV on stdout.
    as_json : bool, optional
        Write the study and its trials as one JSON object to stdout.
    """
    from algebra.errors import InputError
    from matchprob.api.studies import study_of, trial_columns, write_parquet
    from matchprob.io import files
    from numeric.studies.store import Store

    if out is not None:
        if as_json:
            raise InputError("--json writes to stdout: give either --json or --out")
        if out.suffix not in (".csv", ".parquet"):
            raise InputError(f"--out {out}: the name must end in .csv or .parquet")
        files.check_outputs([store], out)
    with Store(store, write=False) as opened:
        info = study_of(opened, study)
        columns = trial_columns(opened, study)
    if as_json:
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        print_json({"study": info.to_dict(), "trials": rows})
        return
    if out is not None and out.suffix == ".parquet":
        write_parquet(columns, out)
    else:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        if out is None:
            put(text.getvalue())
            return
        files.write_text(out, text.getvalue())
    say(f"wrote {out}")


def rename(
    store: StoreFile,
    study: Annotated[str, LineArgument()],
    name: Annotated[str, LineArgument()],
    as_json: Json = False,
) -> None:
    """Give a study a name.

    Parameters
    ----------
    study : str
        Number, name, or beginning of the key.
    name : str
        Its new name.
    """
    from numeric.studies.store import Store

    with Store(store, create=False) as opened:
        info = opened.find(study)
        opened.rename(info.id, name)
    if as_json:
        print_json({"id": info.id, "name": name})
    else:
        console().print(f"study {info.id} is called {name}", markup=False)


def merge(
    store: StoreFile,
    others: Annotated[list[Path], LineArgument()],
    as_json: Json = False,
) -> None:
    """Add the trials of other stores to the first.

    Parameters
    ----------
    others : list of Path
        Stores whose trials are added.
    """
    from algebra.words import plural
    from numeric.studies.store import Store

    total = {"studies": 0, "trials": 0}
    with Store(store, create=True) as target:
        for path in others:
            with Store(path, write=False) as source:
                for key, value in target.merge(source).items():
                    total[key] += value
    if as_json:
        print_json(total)
    else:
        count = total["studies"]
        taken = f"{count} {'study' if count == 1 else 'studies'} and " + plural(
            total["trials"], f"{total['trials']} trial"
        )
        console().print(f"{taken} taken in")


for _name, _function in (
    ("list", list_studies), ("show", show), ("export", export_study), ("rename", rename),
    ("merge", merge),
):  # fmt: skip
    studies.command(_name)(plain_command(_function))


def look_alike(problem: Problem) -> tuple[str, str]:
    """The properties of a problem shown in every list of studies."""
    return str(problem.network), problem.learns


def print_studies(out: Console, studies: Sequence[StudyInfo]) -> None:
    """One line per study, with its differences from those that look alike."""
    from rich.text import Text

    from algebra.problems.files import problem_from_dict
    from matchprob.report.documents import table
    from numeric.studies.differences import study_differences

    numbers = ("id", "seed", "trials", "matched", "not", "?")
    grid = table("id", "name", "key", "what", "engine", *numbers[1:], right=numbers)
    for s, own in zip(studies, study_differences(studies, look_alike), strict=True):
        problem = problem_from_dict(s.work["problem"])
        what = f"{problem.network}; {problem.learns}" + (f": {own}" if own else "")
        grid.add_row(
            str(s.id), Text(s.name), s.key[:8], Text(what),
            s.work["settings"]["engine"], str(s.work["seed"]), str(s.trials), str(s.matched),
            str(s.unmatched), str(s.undetermined),
        )  # fmt: skip
    out.print(grid)
