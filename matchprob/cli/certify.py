"""Verbs that decide exactly: inspect, certify, verify, audit, atlas."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from algebra.errors import InputError
from algebra.problems.problem import Problem
from algebra.time_limits import LimitReached
from matchprob.cli.identify import ModelOptions
from matchprob.cli.options import (
    UNFINISHED,
    InstanceFile,
    Json,
    NetworkFile,
    Picture,
    ProblemFile,
    Seed,
    Shown,
    Timeout,
    answer,
    console,
    print_json,
    say,
    sentences,
    write,
)


@dataclass(frozen=True)
class AskedModel(ModelOptions):
    """The problem of an ONNX file without a problem file."""

    learn: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Of an ONNX file: parameters that learn; repeatable."),
    ] = None
    m: Annotated[int | None, typer.Option("--m", help="Of an ONNX file: samples.", min=1)] = None

    def question(self, path: Path) -> Problem:
        """The problem of a problem file, or of a model and these options."""
        from matchprob.api.question import as_problem, model_problem

        if path.suffix != ".onnx":
            if self.learn or self.m or any(self.keywords().values()):
                raise InputError(
                    f"{path}: --learn, --m, --size, --constant and --output are for ONNX files; a "
                    "problem file says them itself"
                )
            return as_problem(path)
        return model_problem(path, self.learn or [], self.m, **self.keywords())


def inspect(
    problem: ProblemFile,
    *,
    asked: AskedModel,
    picture: Picture,
    all_forms: Annotated[
        bool, typer.Option("--all-forms", help="Eliminate every form of the system.")
    ] = False,
    equations: Annotated[
        bool, typer.Option("--equations", help="Print the equations, learnable weights in [].")
    ] = False,
    core: Annotated[
        bool, typer.Option("--core", help="Print the core: what elimination leaves of them.")
    ] = False,
    instance: InstanceFile = None,
    timeout: Timeout = math.inf,
    export: Annotated[
        Path | None,
        typer.Option(
            "--export",
            metavar="FILE",
            help="Write one instance's equations for another program; the suffix says which: "
            ".ms .phc .jl .m2 .sing .magma .sage .py.",
        ),
    ] = None,
    form: Annotated[
        str,
        typer.Option("--form", help="With --export: core, B, D, forward, backward, sums, direct."),
    ] = "core",
    index: Annotated[int, typer.Option("--index", help="With --export: the trial.", min=0)] = 0,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Show the equations an allocation leads to, and their structure."""
    from matchprob.api import certify as exact
    from matchprob.api.given import as_instance
    from matchprob.explain.structure import explain_structure
    from matchprob.io import files
    from matchprob.report import inspection
    from matchprob.report.explanation import print_explanation

    files.check_outputs([problem, *([instance] if instance else [])], export, plot=picture.plot)
    question = asked.question(problem)
    own = as_instance(instance, question).numbers if instance else None
    exported = None
    if export:
        from algebra.time_limits import limited
        from matchprob.api.equations import export as exports
        from matchprob.io.languages import language_of

        language = language_of(export.suffix)
        with limited(timeout):
            exported = exports.export(
                question, form, to=language, instance=instance, seed=seed, index=index
            )
    found = exact.inspect(question, seed=seed, all_forms=all_forms, instance=own, timeout=timeout)
    written = inspection.written(found, question, own) if equations else None
    left = None
    if core:
        # Loaded here: SymPy takes longer than most inspections.
        from matchprob.api.equations.symbolic import shown_core

        left = shown_core(question, found, own, seed)
    why = explain_structure(found, str(problem), core_shown=core)
    if as_json:
        told: dict[str, Any] = {"export": exported.to_dict()} if exported else {}
        if equations:
            told["equations"] = inspection.equations_data(found, written)
        if left is not None:
            told["core"] = left.to_dict()
        print_json(
            {
                **found.to_dict(),
                **told,
                "seed": seed,
                **sentences(why, question.names),
            }
        )
    else:
        inspection.print_inspection(console(question.names), found, question, seed)
        if written is not None:
            inspection.print_equations(console(question.names), found, *written)
        if left is not None:
            inspection.print_core(console(question.names), left)
        print_explanation(console(question.names), why)
        if exported:
            inspection.print_names(console(question.names), exported)
    if export and exported:
        files.write_text(export, exported.text)
        say(f"wrote {export}")
    picture.draw(found)


def certify(
    problem: ProblemFile,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the certificate (JSON).")
    ] = None,
    seed: Seed = 0,
    timeout: Timeout = 120.0,
    search: Annotated[
        float, typer.Option(help="Seconds to look for an instance without real solutions.")
    ] = 2.0,
    *,
    asked: AskedModel,
    shown: Shown,
) -> None:
    """Decide whether an allocation is maximal, minimal or in between."""
    from matchprob.api import certify as exact
    from matchprob.explain.certificate import explain_certificate, explain_unfinished
    from matchprob.io import files
    from matchprob.report.certificate import print_certificate

    files.check_outputs([problem], out, plot=shown.plot)
    question = asked.question(problem)
    try:
        found = exact.certify(question, seed=seed, timeout=timeout, search=search)
    except LimitReached as over:
        why = explain_unfinished(question, over, shlex.quote(str(problem)), timeout)
        nothing = {
            "verdict": "undecided",
            "rule": "the ranks were not found in time",
            "equations": None,
            "rank": None,
            "generic_root_count": None,
            "seed": seed,
            "tried": [str(over)],
        }
        answer(nothing, why, question.names, lambda page: None, as_json=shown.as_json)
        say("matchprob: undecided: the time limit was met before the ranks were known")
        raise typer.Exit(UNFINISHED) from None
    why = explain_certificate(found, shlex.quote(str(problem)), timeout, search)
    sure = found.root_count_certainty
    shown.tell(
        found, why, question.names, print_certificate,
        generic_root_count_certainty=sure and sure.to_dict(),
    )  # fmt: skip
    write(out, found.to_json)


def verify(
    certificate: Annotated[Path, typer.Argument(help="Certificate or other proof (JSON).")],
    seed: Annotated[int, typer.Option(help="New points and primes follow from it.", min=0)] = 1,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The ONNX file that a proof names and is too large to hold."
        ),
    ] = None,
    timeout: Timeout = 60.0,
    as_json: Json = False,
) -> None:
    """Check a proof from scratch; status 3 where it does not hold or a limit was met."""
    from matchprob.api import certify as exact
    from matchprob.report.certificate import print_verification

    found = exact.verify(certificate, model=model, seed=seed, timeout=timeout)
    why = found.explain(str(certificate))
    answer(
        {**found.to_dict(), "seed": seed}, why, None,
        lambda page: print_verification(page, found), as_json=as_json,
    )  # fmt: skip
    if not found.holds:
        if found.is_unfinished:
            limit = next(c for c in found.checks if c.status == "unfinished")
            say(f"matchprob: {certificate}: not finished, nothing is known of it: {limit.text}")
        else:
            failed = next(c for c in found.checks if c.status == "failed")
            say(f"matchprob: {certificate}: does not hold at {failed.place}: {failed.text}")
        raise typer.Exit(UNFINISHED)


def audit(
    problem: NetworkFile,
    matrix: Annotated[
        list[str] | None,
        typer.Option("--matrix", help="Where the weights learn; each matrix by default."),
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(
            help="Random allocations in all, shared out among the matrices; all by default.",
            min=1,
        ),
    ] = None,
    budget: Annotated[int | None, typer.Option(help="Learnable weights; dm by default.")] = None,
    corrected: Annotated[
        bool, typer.Option("--corrected", help="Audit the corrected theorems too (slower).")
    ] = False,
    timeout: Timeout = math.inf,
    *,
    shown: Shown,
    seed: Seed = 0,
) -> None:
    """Hold the papers' theorems, as stated, against the exact verdict."""
    from matchprob.api import surveys
    from matchprob.api.question import network_of
    from matchprob.io import files
    from matchprob.io.progress import counter
    from matchprob.report.audit import print_audit

    files.check_outputs([problem], plot=shown.plot)
    question = network_of(problem)
    with counter("auditing") as progress:
        found = surveys.audit(
            question,
            matrices=matrix,
            count=count,
            budget=budget,
            corrected=corrected,
            timeout=timeout,
            seed=seed,
            progress=progress,
        )
    why = found.explain(str(problem))
    names = question.names
    shown.tell(found, why, names, print_audit)
    if found.is_partial:
        say(
            f"matchprob: stopped after {found.checked} of {found.requested} allocations; the "
            "result above is of these"
        )
        raise typer.Exit(UNFINISHED)


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
    transposition: Annotated[
        bool,
        typer.Option(
            "--transposition", help="Count an allocation and its transpose, where alike, as one."
        ),
    ] = False,
    timeout: Timeout = math.inf,
    *,
    shown: Shown,
    seed: Seed = 0,
) -> None:
    """Certify every allocation of a small net, up to the symmetries that preserve MP."""
    from matchprob.api import surveys
    from matchprob.api.question import network_of
    from matchprob.io import files
    from matchprob.io.progress import counter
    from matchprob.report.audit import print_atlas

    files.check_outputs([problem], table, plot=shown.plot, store=store)
    question = network_of(problem)
    with counter("certifying") as progress:
        found = surveys.atlas(
            question, budget, matrices=matrix, store=store, search=search,
            transposition=transposition, timeout=timeout, seed=seed, progress=progress,
        )  # fmt: skip
    why = found.explain(str(problem))
    names = question.names
    shown.tell(found, why, names, print_atlas)
    write(table, found.to_csv)
    if len(found.entries) < found.orbits:
        kept = f"kept in {store}; the same command goes on" if store else "not kept: use --store"
        say(f"matchprob: stopped after {len(found.entries)} of {found.orbits} orbits, {kept}")
        raise typer.Exit(UNFINISHED)
