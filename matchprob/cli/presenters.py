"""Printed parts of results besides their documents, and the options for these."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from algebra.documents import Document
from algebra.errors import Unrealized
from algebra.time_limits import LimitReached
from matchprob.api.certify import certify, inspect
from matchprob.api.estimate import count
from matchprob.cli.commands import Answer, presents
from matchprob.cli.options import UNFINISHED, say, write_output
from matchprob.plugins.normalization.construct import construct
from matchprob.plugins.relu.decide import decide
from matchprob.verbs.verb import LineOption

if TYPE_CHECKING:
    from rich.console import Console


@presents(decide)
def _decide(answer: Answer) -> None:
    arguments, found = answer.arguments, answer.found
    index, seed, instance = arguments["index"], arguments["seed"], arguments.get("instance")
    name = str(instance) if instance else f"trial {index} of seed {seed}"
    document = found.document()
    document = replace(document, title=f"{name}: {document.title}")
    answer.print(document=document, index=index)


@presents(count)
def _count(
    answer: Answer,
    *,
    solutions: bool = False,
    monodromy: bool = False,
) -> None:
    """Print counts.

    Parameters
    ----------
    solutions : bool, optional
        Show each real solution with its enclosure and its cost.
    monodromy : bool, optional
        Show the monodromy group of the solutions: its order, its blocks, and whether formulas with
        radicals can give them.
    """
    from matchprob.api import estimate as verbs
    from matchprob.report.documents import print_findings
    from matchprob.report.enclosures import enclosure_data, print_enclosures, print_solutions

    found = answer.found
    more: dict[str, Any] = {}
    costs = group = None
    if solutions:
        from numeric.matches.solutions import solution_costs

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

    def show(page: Console) -> None:
        if group is not None:
            print_findings(page, group.document())
        if costs is not None:
            print_enclosures(page, found, boxes, polynomials)
            print_solutions(page, found, costs)

    answer.print(show=show, **more)


@presents(certify, LimitReached)
def _certify(answer: Answer) -> None:
    found, arguments = answer.found, answer.arguments
    if isinstance(found, LimitReached):
        from algebra.certificates.explanation import explain_unfinished
        from algebra.checker.verdicts import UNDECIDED

        why = explain_unfinished(arguments["question"], found, arguments["timeout"])
        rule = "the ranks were not found in time"
        nothing = {
            "verdict": UNDECIDED,
            "rule": rule,
            "equations": None,
            "rank": None,
            "generic_root_count": None,
            "seed": arguments["seed"],
            "tried": [str(found)],
        }
        document = Document(f"{UNDECIDED}: {rule}", why=why, tone=UNDECIDED)
        answer.print_document(nothing, document)
        say("matchprob: undecided: the time limit was reached before the ranks were known")
        raise typer.Exit(UNFINISHED)
    from algebra.plugins.papers.stated import papers_say

    sure, said = found.root_count_certainty, papers_say(found.problem)
    words = "; ".join(f"{name}: {word}" for name, word in said.items() if word != "silent")
    document = found.document()
    facts = {**document.facts, "theorems": words or "silent"}
    answer.print(
        document=replace(document, facts=facts),
        theorems=said,
        generic_root_count_certainty=sure and sure.to_dict(),
    )


@presents(construct, Unrealized)
def _construct(answer: Answer) -> None:
    found, arguments = answer.found, answer.arguments
    if not isinstance(found, Unrealized):
        answer.print()
        return
    from matchprob.plugins.normalization.impossible import unrealized, what_is_missing

    document, data = unrealized(found)
    answer.print_document({**data, "seed": arguments["seed"]}, document)
    missing = what_is_missing(found, arguments["second_scales"])
    say(f"matchprob: no {missing} realize this target with this frozen network")
    raise typer.Exit(UNFINISHED)


@presents(inspect)
def _inspect(
    answer: Answer,
    *,
    export: Annotated[Path | None, LineOption(metavar="FILE")] = None,
    index: Annotated[int, LineOption(least=0)] = 0,
    integers: bool = False,
) -> None:
    """Print an inspection.

    Parameters
    ----------
    export : Path, optional
        Write one instance's equations for another program, chosen by the suffix: .ms .phc .jl
        .m2 .sing .magma .sage .py .tex.
    index : int, optional
        With --export: the trial.
    integers : bool, optional
        With --export: small integers in place of the trial's numbers.
    """
    from algebra.systems.forms import CORE
    from matchprob.report import inspection
    from matchprob.report.documents import print_findings

    found, arguments = answer.found, answer.arguments
    question, seed, own = arguments["question"], arguments["seed"], arguments.get("instance")
    more: dict[str, Any] = {}
    exported = None
    if export:
        from algebra.time_limits import limited
        from matchprob.api.equations import export as exports
        from matchprob.io.languages import language_of

        form, language = arguments.get("form") or CORE, language_of(export.suffix)
        with limited(arguments.get("timeout", math.inf)):
            exported = exports.export(
                question, form, to=language, instance=own, seed=seed, index=index,
                integers=integers,
            )  # fmt: skip
        more["export"] = exported.to_dict()

    def show(page: Console) -> None:
        if question.is_random:
            page.print(f"random allocation; this is the one of trial 0, seed {seed}")
        if found.written is not None:
            inspection.print_equations(page, found.written)
        if found.core is not None:
            inspection.print_core(page, found.core if exported is None else exported.of(found.core))
        if exported is not None:
            print_findings(page, exported.document())

    answer.print(show=show, **more)
    if export and exported:
        write_output(export, exported.text)
