"""What is printed of results besides their text and their explanation, and the options for it."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from algebra.time_limits import LimitReached
from matchprob.api.capacity import capacity
from matchprob.api.certify import certify, decide, inspect, verify
from matchprob.api.designs.design import design
from matchprob.api.designs.repair import repair, robust
from matchprob.api.estimate import compare, count, estimate
from matchprob.api.identify import identify
from matchprob.api.profile import profile
from matchprob.api.surveys import atlas, audit
from matchprob.api.train import train
from matchprob.cli.commands import Answer, presents
from matchprob.cli.options import UNFINISHED, say, write
from matchprob.verbs.parameters import parameter_names

if TYPE_CHECKING:
    from rich.console import Console

Show = Callable[["Console", Any], None]


def _text_by(load: Callable[[], Show]) -> Callable[[Answer], None]:
    """A presenter that differs in the text alone; its code is loaded when it is used."""
    return lambda answer: answer.tell(show=load())


def _capacities() -> Show:
    from matchprob.report.capacity import print_capacity

    return print_capacity


def _losses() -> Show:
    from matchprob.report.repair import print_robustness

    return print_robustness


def _repairs() -> Show:
    from matchprob.report.repair import print_repair

    return print_repair


def _designs() -> Show:
    from matchprob.report.design import print_design

    return lambda page, found: print_design(page, found.design)


def _trained() -> Show:
    from matchprob.report.train import print_training

    return print_training


def _profiles() -> Show:
    from matchprob.report.profile import print_profile

    return print_profile


def _estimates() -> Show:
    from matchprob.report.estimate import print_estimate

    return print_estimate


def _checks() -> Show:
    from matchprob.report.certificate import print_verification

    return print_verification


for _verb, _load in (
    (capacity, _capacities), (repair, _repairs), (design, _designs), (train, _trained),
    (estimate, _estimates), (verify, _checks),
):  # fmt: skip
    presents(_verb)(_text_by(_load))


@presents(robust)
def _robust(answer: Answer) -> None:
    answer.tell(names=parameter_names(answer.arguments["question"]), show=_losses())


@presents(identify)
def _identify(answer: Answer) -> None:
    from matchprob.explain.identification import explain_identification

    answer.tell(explain_identification(answer.found, answer.file, answer.arguments["timeout"]))


@presents(audit)
def _audit(answer: Answer) -> None:
    from matchprob.report.audit import print_audit

    answer.tell(names=answer.arguments["question"].names, show=print_audit)


@presents(atlas)
def _atlas(answer: Answer) -> None:
    from matchprob.report.audit import print_atlas

    answer.tell(names=answer.arguments["question"].names, show=print_atlas)


@presents(profile)
def _profile(answer: Answer) -> None:
    from matchprob.explain.costs import explain_profile

    names = answer.found.profiles[0].problem.names
    answer.tell(explain_profile(answer.found, answer.file), names, _profiles())


@presents(compare)
def _compare(answer: Answer) -> None:
    from matchprob.explain.trials import explain_comparison
    from matchprob.report.estimate import print_comparison

    names = answer.found.first.problem.names
    answer.tell(explain_comparison(answer.found, answer.file), names, print_comparison)


@presents(decide)
def _decide(answer: Answer) -> None:
    from matchprob.explain.decision import explain_decision

    asked = answer.arguments
    index, seed, instance = asked["index"], asked["seed"], asked.get("instance")
    trial = f"--index {index}" + (f" --seed {seed}" if seed else "")
    name = f"trial {index} of seed {seed}"
    if instance:
        trial, name = f"--instance {shlex.quote(str(instance))}", str(instance)

    def show(page: Console, found: Any) -> None:
        page.print(f"{name}: {found}")
        if found.note:
            page.print(f"  {found.note}")

    why = explain_decision(answer.found, answer.file, trial)
    answer.tell(why, asked["question"].names, show, index=index)


@presents(count)
def _count(
    answer: Answer,
    *,
    solutions: Annotated[
        bool,
        typer.Option("--solutions", help="Show each real solution, enclosed, and what it costs."),
    ] = False,
    monodromy: Annotated[
        bool,
        typer.Option(
            "--monodromy",
            help="Show the monodromy group of the solutions: its order, its blocks, and whether "
            "formulas with radicals can give them.",
        ),
    ] = False,
) -> None:
    from matchprob.api import estimate as verbs
    from matchprob.explain.trials import explain_counts
    from matchprob.report.enclosures import enclosure_data, print_enclosures
    from matchprob.report.estimate import print_counts, print_group, print_solutions

    found = answer.found
    more: dict[str, Any] = {}
    costs = group = None
    if solutions:
        from numeric.solutions import solution_costs

        costs = [
            solution_costs(found.instance(c), c.solutions) if c.solutions else []
            for c in found.instances
        ]
        boxes = verbs.enclosures(found)
        polynomials = verbs.minimal_polynomials(found)
        more["instances"] = found.to_dict()["instances"]
        for entry, *own in zip(more["instances"], costs, boxes, polynomials, strict=True):
            entry["solutions"] = [
                {**cost.to_dict(), **enclosure_data(box, over_q)}
                for cost, box, over_q in zip(*own, strict=True)
            ]
    if monodromy:
        group = verbs.monodromy_group(found, timeout=answer.arguments["timeout"])
        more["monodromy"] = group.to_dict()

    def show(page: Console, found: Any) -> None:
        print_counts(page, found)
        if group is not None:
            print_group(page, group)
        if costs is not None:
            print_enclosures(page, found, boxes, polynomials)
            print_solutions(page, found, costs)

    why = explain_counts(found, answer.file, shown=solutions)
    answer.tell(why, answer.arguments["question"].names, show, **more)


@presents(certify, LimitReached)
def _certify(answer: Answer) -> None:
    from matchprob.explain.certificate import explain_certificate, explain_unfinished
    from matchprob.report.certificate import print_certificate

    found, asked = answer.found, answer.arguments
    question, timeout = asked["question"], asked["timeout"]
    if isinstance(found, LimitReached):
        why = explain_unfinished(question, found, answer.file, timeout)
        nothing = {
            "verdict": "undecided",
            "rule": "the ranks were not found in time",
            "equations": None,
            "rank": None,
            "generic_root_count": None,
            "seed": asked["seed"],
            "tried": [str(found)],
        }
        answer.tell_data(nothing, why, question.names)
        say("matchprob: undecided: the time limit was met before the ranks were known")
        raise typer.Exit(UNFINISHED)
    why = explain_certificate(found, answer.file, timeout, asked["search"])
    sure = found.root_count_certainty
    answer.tell(
        why, question.names, print_certificate,
        generic_root_count_certainty=sure and sure.to_dict(),
    )  # fmt: skip


@presents(inspect)
def _inspect(
    answer: Answer,
    *,
    equations: Annotated[
        bool, typer.Option("--equations", help="Print the equations, learnable weights in [].")
    ] = False,
    core: Annotated[
        bool, typer.Option("--core", help="Print the core: what elimination leaves of them.")
    ] = False,
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
) -> None:
    from matchprob.explain.structure import explain_structure
    from matchprob.report import inspection

    found, asked = answer.found, answer.arguments
    question, seed, own = asked["question"], asked["seed"], asked.get("instance")
    more: dict[str, Any] = {}
    exported = written = left = None
    if export:
        from algebra.time_limits import limited
        from matchprob.api.equations import export as exports
        from matchprob.io.languages import language_of

        language = language_of(export.suffix)
        with limited(asked.get("timeout", math.inf)):
            exported = exports.export(
                question, form, to=language, instance=own, seed=seed, index=index
            )
        more["export"] = exported.to_dict()
    if equations:
        written = inspection.written(found, question, own)
        more["equations"] = inspection.equations_data(found, written)
    if core:
        # Loaded here: SymPy takes longer than most inspections.
        from matchprob.api.equations.symbolic import shown_core

        left = shown_core(question, found, own, seed)
        if left is not None:
            more["core"] = left.to_dict()

    def show(page: Console, found: Any) -> None:
        inspection.print_inspection(page, found, question, seed)
        if written is not None:
            inspection.print_equations(page, found, *written)
        if left is not None:
            inspection.print_core(page, left)

        if exported:
            inspection.print_names(page, exported)

    why = explain_structure(found, answer.file, core_shown=core)
    answer.tell(why, question.names, show, **more)
    if export and exported:
        write(export, exported.text)
