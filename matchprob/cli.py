"""The command line: ``matchprob VERB PROBLEM.toml``.

One JSON object on stdout with ``--json``, readable tables otherwise; progress and
messages on stderr.  Exit status: 0 done, 2 bad input, 3 the work could not be finished
(and says what is kept), 1 a bug.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from algebra.errors import InputError

BAD_INPUT, UNFINISHED, BUG = 2, 3, 1

app = typer.Typer(
    name="matchprob",
    help="Which weights should learn? Exact and numerical algebra of match probability.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

ProblemFile = Annotated[Path, typer.Argument(help="Problem file (TOML).", show_default=False)]
NetworkFile = Annotated[
    Path,
    typer.Argument(help="Problem file (TOML); only the network counts.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]
Seed = Annotated[int, typer.Option(help="Everything random follows from it.", min=0)]
Plot = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Draw a picture (.png or .svg)."),
]
EngineName = Annotated[str, typer.Option("--engine", help="Solver of the instances.")]
Timeout = Annotated[float, typer.Option(help="Seconds for one hard computation.", min=0.1)]


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    if version:
        from matchprob import __version__

        typer.echo(f"matchprob {__version__}")
        raise typer.Exit


@app.command()
def inspect(
    problem: ProblemFile,
    plot: Plot = None,
    all_forms: Annotated[
        bool, typer.Option("--all-forms", help="Eliminate every form of the system.")
    ] = False,
    equations: Annotated[
        bool, typer.Option("--equations", help="Print the equations themselves.")
    ] = False,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Show the equations an allocation leads to, and their structure."""
    from matchprob import api, plots, report

    question = api.as_problem(problem)
    if plot:
        plots.check_target(plot)
    found = api.inspect(question, seed=seed, all_forms=all_forms)
    if as_json:
        _print_json({**found.to_dict(), "seed": seed})
    else:
        report.print_inspection(console(), found, question, seed)
        if equations:
            report.print_equations(console(), found, question)
    if plot:
        plots.save(plots.incidence(found), plot)
        _say(f"wrote {plot}")


@app.command()
def certify(
    problem: ProblemFile,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the certificate (JSON).")
    ] = None,
    seed: Seed = 0,
    timeout: Timeout = 60.0,
    search: Annotated[
        float, typer.Option(help="Seconds to look for an instance without real solutions.")
    ] = 2.0,
    as_json: Json = False,
) -> None:
    """Decide whether an allocation is maximal, minimal or in between."""
    from matchprob import api, files, report

    question = api.as_problem(problem)
    if out:
        files.check_target(out)
    found = api.certify(question, seed=seed, timeout=timeout, search=search)
    if out:
        files.write_text(out, found.to_json())
        _say(f"wrote {out}")
    if as_json:
        _print_json(found.to_dict())
    else:
        report.print_certificate(console(), found)


@app.command()
def verify(
    certificate: Annotated[Path, typer.Argument(help="Certificate (JSON).")],
    seed: Annotated[int, typer.Option(help="New points and primes follow from it.", min=0)] = 1,
    timeout: Timeout = 60.0,
    as_json: Json = False,
) -> None:
    """Check a certificate from scratch; status 3 where it does not hold."""
    from matchprob import api, report

    found = api.verify(certificate, seed=seed, timeout=timeout)
    if as_json:
        _print_json({**found.to_dict(), "seed": seed})
    else:
        report.print_verification(console(), found)
    if not found.holds:
        failed = next(c for c in found.checks if c.status == "failed")
        _say(f"matchprob: {certificate}: does not hold at {failed.place}: {failed.text}")
        raise typer.Exit(UNFINISHED)


@app.command()
def count(
    problem: ProblemFile,
    instances: Annotated[int, typer.Option(help="Number of random instances.", min=1)] = 20,
    seed: Seed = 0,
    engine: EngineName = "phcpy",
    timeout: Timeout = 600.0,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Count the real solutions of random instances."""
    from matchprob import api, plots, report
    from matchprob.progress import progress

    question = api.as_problem(problem)
    if plot:
        plots.check_target(plot)
    with progress("counting", instances) as advance:
        found = api.count(
            question, instances, seed=seed, engine=engine, timeout=timeout, advance=advance
        )
    if as_json:
        _print_json(found.to_dict())
    else:
        report.print_counts(console(), found)
    if plot:
        plots.save(plots.histogram(found.histogram, str(question.network)), plot)
        _say(f"wrote {plot}")
    _finish(len(found), instances, "instances", "count")


@app.command()
def estimate(
    problem: ProblemFile,
    trials: Annotated[int, typer.Option(help="Number of random trials.", min=1)] = 1000,
    seed: Seed = 0,
    engine: EngineName = "phcpy",
    confidence: Annotated[float, typer.Option(help="Level of the interval.")] = 0.95,
    timeout: Timeout = 600.0,
    no_certify: Annotated[
        bool,
        typer.Option("--no-certify", help="Compute trials even of certified allocations."),
    ] = False,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Estimate the match probability, with an honest interval."""
    from matchprob import api, plots, report
    from matchprob.progress import progress

    question = api.as_problem(problem)
    if plot:
        plots.check_target(plot)
    with progress("estimating", trials) as advance:
        found = api.estimate(
            question,
            trials,
            seed=seed,
            engine=engine,
            confidence=confidence,
            timeout=timeout,
            certify=not no_certify,
            advance=advance,
        )
    if as_json:
        _print_json(found.to_dict())
    else:
        report.print_estimate(console(), found)
    if plot:
        title = f"MP {report.percent(found)}" if found.trials else ""
        plots.save(plots.histogram(found.histogram, str(question.network), title), plot)
        _say(f"wrote {plot}")
    _finish(found.trials, trials, "trials", "estimate")


@app.command()
def audit(
    problem: NetworkFile,
    matrix: Annotated[
        list[str] | None,
        typer.Option("--matrix", help="Where the weights learn; each matrix by default."),
    ] = None,
    count: Annotated[
        int | None, typer.Option(help="Random allocations; all of them by default.", min=1)
    ] = None,
    budget: Annotated[int | None, typer.Option(help="Learnable weights; dm by default.")] = None,
    corrected: Annotated[
        bool, typer.Option("--corrected", help="Audit the corrected theorems too (slower).")
    ] = False,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Hold the papers' theorems, as stated, against the exact verdict."""
    from matchprob import api, report
    from matchprob.progress import counter

    with counter("auditing") as progress:
        found = api.audit(
            problem,
            matrices=matrix,
            count=count,
            budget=budget,
            corrected=corrected,
            seed=seed,
            progress=progress,
        )
    if as_json:
        _print_json(api.audit_to_dict(found, seed))
    else:
        report.print_audit(console(), found)


@app.command()
def atlas(
    problem: NetworkFile,
    budget: Annotated[int, typer.Option(help="Number of learnable weights.", min=1)],
    matrix: Annotated[
        list[str] | None, typer.Option("--matrix", help="Where the weights may lie.")
    ] = None,
    store: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep entries here; taken up again.")
    ] = None,
    table: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write the table.")
    ] = None,
    search: Annotated[
        float, typer.Option(help="Seconds an orbit to look for an instance without real roots.")
    ] = 2.0,
    plot: Plot = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Certify every allocation of a small net, up to the symmetries that preserve MP."""
    from matchprob import api, files, plots, report
    from matchprob.progress import counter

    for target in (store, table):
        if target:
            files.check_target(target)
    if plot:
        plots.check_target(plot)
    with counter("certifying") as progress:
        found = api.atlas(
            problem, budget, matrices=matrix, store=store, search=search, seed=seed,
            progress=progress,
        )  # fmt: skip
    if table:
        files.write_text(table, found.to_csv())
        _say(f"wrote {table}")
    if as_json:
        _print_json(found.to_dict())
    else:
        report.print_atlas(console(), found)
    if plot:
        plots.save(plots.atlas(found), plot)
        _say(f"wrote {plot}")
    if len(found.entries) < found.orbits:
        kept = f"kept in {store}; the same command goes on" if store else "not kept: use --store"
        _say(f"matchprob: interrupted after {len(found.entries)} of {found.orbits} orbits, {kept}")
        raise typer.Exit(UNFINISHED)


def console() -> Console:
    """Where results are printed."""
    # Piped output has no width of its own; 80 columns would fold tables.
    return Console(highlight=False, width=None if sys.stdout.isatty() else 110)


def _say(text: str) -> None:
    typer.echo(text, err=True)


def _print_json(data: dict[str, Any]) -> None:
    typer.echo(json.dumps(data))


def _finish(done: int, wanted: int, noun: str, verb: str) -> None:
    """Status 3 where an interrupt left the work unfinished."""
    if done < wanted:
        _say(
            f"matchprob: interrupted after {done} of {wanted} {noun}; the result above is of "
            f"these. {verb.capitalize()} trial i of a seed is always the same: ask again to "
            "have them all"
        )
        raise typer.Exit(UNFINISHED)


def run(command: Callable[[], Any]) -> int:
    """Run a command line, with every error told in one line; the exit status."""
    try:
        result = command()
    except InputError as error:
        _say(f"matchprob: {error}")
        return BAD_INPUT
    except typer.Exit as leaving:
        return leaving.exit_code
    except (KeyboardInterrupt, typer.Abort):
        _say("matchprob: interrupted; nothing was kept")
        return UNFINISHED
    except BrokenPipeError:
        # The reader of our output went away; that is its business.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        # A usage error: typer keeps its class private, so it is known by what it can do.
        if hasattr(error, "show") and hasattr(error, "exit_code"):
            error.show()
            return int(error.exit_code)
        # The last resort: a bug, told in one line.
        if os.environ.get("MATCHPROB_DEBUG"):
            traceback.print_exc()
        name = type(error).__name__
        _say(
            f"matchprob: this is a bug: {name}: {error} (set MATCHPROB_DEBUG=1 for the "
            "traceback and report it)"
        )
        return BUG
    return result if isinstance(result, int) else 0


def main() -> None:
    """Entry point of the console script."""
    sys.exit(run(lambda: app(standalone_mode=False)))


if __name__ == "__main__":
    main()
