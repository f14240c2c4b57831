"""Jobs that run in separate processes: verdicts, structure, searches, studies.

Each job is a function of plain data and of ``report(event, found)``: an event is plain data for the
front end, `found` the result object for the session.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from algebra.certificates.certificate import Certificate, certainty
from algebra.certificates.trial_costs import affordable_trials, too_costly
from algebra.checker.verdicts import UNDECIDED
from algebra.documents import Paragraph
from algebra.errors import InputError
from algebra.families.equations import inspect_allocation
from algebra.linalg.numbers import nearest_double
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.files import problem_from_dict
from algebra.problems.names import Names
from algebra.problems.problem import Problem
from algebra.questions.identify.freedom import by_matrix
from algebra.ranks.parametrized import by_parameters
from algebra.ranks.root_count_error import PROVED
from algebra.results import named
from algebra.time_limits import phases
from matchprob.api import certify as exact
from matchprob.plugins.page import immediate
from matchprob.plugins.page.state import Misplaced, pack

if TYPE_CHECKING:
    from algebra.plugins.circuits.result import Recording

_UNWRITTEN = "Equations in the parameters of updates are those of the command `inspect`."
# Seconds between two progress events.
_PULSE = 0.4

Ask = Mapping[str, Any]
Report = Callable[..., None]


@contextmanager
def watched_phases(report: Report) -> Iterator[Report]:
    """Report the phases of the work inside as events; yields a `report` for the work itself."""
    lock, done, began = threading.Lock(), threading.Event(), time.monotonic()

    def one_at_a_time(event: dict[str, Any], found: Any = None) -> None:
        with lock:
            report(event, found)

    def pulse() -> None:
        sent = ""
        while not done.wait(_PULSE):
            now = phases()
            name = now[-1][0] if now else ""
            if name and name != sent:
                sent = name
                one_at_a_time({"event": "phase", "text": name, "seconds": time.monotonic() - began})

    thread = threading.Thread(target=pulse, daemon=True)
    thread.start()
    try:
        yield one_at_a_time
    finally:
        done.set()
        thread.join(1.0)


def verdict_data(found: Certificate) -> dict[str, Any]:
    """A verdict in the page's format: what its document says, and numbers that the page marks."""
    count = found.root_count_certainty
    is_proved = not found.error_bound and (count is None or count.kind == PROVED)
    sure = "undecided" if found.verdict == UNDECIDED else "proved" if is_proved else "probable"
    document = found.document()
    texts = [part.text.strip() for part in document.parts if isinstance(part, Paragraph)]
    return {
        "digest": found.problem.digest,
        **named(found, "verdict", "rule", "rank", "equations", "learnable", "out_of_time"),
        "sure": sure,
        "certainty": certainty(found),
        "roots": found.generic_root_count,
        "roots_at_least": found.root_count_at_least,
        "error": nearest_double(found.error_bound),
        "trials": affordable_trials(found.problem, found.generic_root_count),
        "too_costly": " ".join(too_costly(found.problem, found.generic_root_count)),
        "paragraphs": [*document.why.sentences(), *texts],
    }


def verdict_job(ask: Ask, report: Report) -> None:
    """Certify: requested by the page after every change, and by the button Certify."""
    problem = problem_from_dict(ask["problem"])
    limits = {"timeout": ask["timeout"], "search": ask["search"]}
    found = exact.certify(problem, seed=ask["seed"], **limits)
    report({"event": "verdict", **verdict_data(found), "limits": limits}, found)


def structure_job(ask: Ask, report: Report) -> None:
    """Inspect: the core that elimination leaves, and the blocks if they take long."""
    problem = problem_from_dict(ask["problem"])
    digest = problem.digest
    if problem.updates:
        told = {"forms": [], "skipped": [_UNWRITTEN], "text": _UNWRITTEN}
        report({"event": "structure", "digest": digest, **told})
        return
    allocation = problem.allocation
    if ask.get("blocks") and allocation.network.chain() is not None:
        # Reported before elimination, which may take long.
        blocks = immediate.blocks_of(problem, ask["seed"])
        report({"event": "blocks", "digest": digest, "blocks": blocks})
    found = inspect_allocation(allocation, problem.support, seed=ask["seed"])
    report(
        {
            "event": "structure",
            "digest": digest,
            "forms": [form.to_dict() for form in found.forms],
            "skipped": list(found.skipped),
            "text": str(found),
        }
    )


def _cells(data: Any) -> list[Cell]:
    return [(str(name), int(i), int(j)) for name, i, j in data]


def _masks(allocation: Allocation) -> dict[str, str]:
    return {name: pack(allocation.masks[name]) for name in allocation.matrices}


def _mark(look: str, words: str, cells: Iterable[Cell]) -> dict[str, Any]:
    """What the page draws on weights, and says of them."""
    return {"look": look, "words": words, "cells": [list(cell) for cell in cells]}


def _need_cells(problem: Problem, verb: str) -> Problem:
    """Refuse to choose cells where others are parameters of updates, which are not painted."""
    if problem.updates:
        raise InputError(
            f"the page paints single weights, and {problem.learns} learns: use the command "
            f"`{verb}`, which chooses parameters"
        )
    return problem


def _free(names: Names, cells: Sequence[Cell], free: Sequence[Cell]) -> list[dict[str, Any]]:
    """A list for each matrix or table of parameters: which are free, and which are not."""
    return [
        {
            "title": f"{name}: {len(own)} of {len(own) + len(others)} free",
            "parts": [["free", own], ["determined", others]],
        }
        for name, (own, others) in by_matrix(names, cells, free).items()
    ]


def _units(found: Recording) -> list[list[Any]]:
    """The rows (axis 0) and columns (axis 1) of matrices that are units which are recorded."""
    network = found.problem.network
    axes = {axis.name: axis.places for axis in network.axes()} if hasattr(network, "axes") else {}
    return [
        [matrix, axis, element.unit]
        for element in (*found.recorded, *found.stimulated)
        if element.unit is not None and element.kind != "entries"
        for matrix, axis in axes.get(element.axis, ())
    ]


def design_job(ask: Ask, report: Report) -> None:
    """The verb design."""
    from matchprob.api.designs.design import design

    problem = _need_cells(problem_from_dict(ask["problem"]), "design")
    found = design(
        problem,
        among=ask["among"],
        goal=ask["goal"],
        budget=ask["budget"],
        must=_cells(ask["must"]),
        forbidden=_cells(ask["never"]),
        matrices=ask["matrices"],
        caps=ask["caps"],
        line=ask["line"],
        seconds=ask["seconds"],
        seed=ask["seed"],
    )
    learnable, marks = _masks(found.allocation), []
    if found.ties is not None:
        every, none = found.ties.in_every, found.ties.in_none
        decided = {*every, *found.demand.must}
        some = [cell for cell in found.allocation.cells if cell not in decided]
        marks = [
            _mark("forced", "in every cheapest design", every),
            _mark("exchangeable", "in this design, not in all as cheap", some),
            _mark("excluded", "in no cheapest design", none),
        ]
    text = found.document().title
    report({"event": "result", "learnable": learnable, "marks": marks, "text": text}, found)


def repair_job(ask: Ask, report: Report) -> None:
    """The verb repair."""
    from matchprob.api.designs.repair import repair

    found = repair(
        _need_cells(problem_from_dict(ask["problem"]), "repair"),
        goal=ask["goal"],
        must=_cells(ask["must"]),
        forbidden=_cells(ask["never"]),
        seconds=ask["seconds"],
        seed=ask["seed"],
    )
    text = f"{found.document().title} ({found.before.verdict} → {found.after.verdict})"
    report({"event": "result", "learnable": _masks(found.problem.allocation), "text": text}, found)


def identify_job(ask: Ask, report: Report) -> None:
    """The verb identify."""
    from matchprob.api.identify import identify

    found = identify(problem_from_dict(ask["problem"]), seed=ask["seed"], timeout=ask["timeout"])
    marks = [
        _mark("determined", "determined by the data", found.fibre.determined),
        _mark("free", "free: the data do not determine it", found.fibre.free),
    ]
    by_count: dict[int, list[Cell]] = {}
    for cell, count in (found.alternatives.values if found.alternatives else {}).items():
        by_count.setdefault(count, []).append(cell)
    for count, cells in sorted(by_count.items()):
        if count > 1:
            marks.append(_mark("determined", f"determined up to {count} values", cells))
    own, moved = found.fibre.parameters or found.fibre, by_parameters(found.problem)
    lists = _free(moved.names, moved.allocation.cells, own.free)
    text = found.document().title
    report({"event": "result", "marks": marks, "lists": lists, "text": text}, found)


def record_job(ask: Ask, report: Report) -> None:
    """The verb record."""
    from matchprob.plugins.circuits.record import record

    found = record(
        problem_from_dict(ask["problem"]),
        ask["elements"],
        target=ask["target"],
        noise=ask["noise"],
        seconds=ask["seconds"],
        seed=ask["seed"],
    )
    chosen = [["recorded", list(found.names)], ["driven", list(found.driven)]]
    lists = [{"title": f"record {found.counted}", "parts": chosen}]
    if found.aim is not None:
        of = [[state.title for state in found.target if state.is_determined is k] for k in (0, 1)]
        title = f"target: {len(of[1])} of {len(found.target)} determined"
        lists.append({"title": title, "parts": [["free", of[0]], ["determined", of[1]]]})
    else:
        lists += _free(found.problem.names, found.question.allocation.cells, found.free)
    text = found.document().title
    report({"event": "result", "lists": lists, "units": _units(found), "text": text}, found)


def answer_job(ask: Ask, report: Report) -> None:
    """The answer to a message; for bad input the event holds its place."""
    from matchprob.api.proofs.check import limit_memory
    from matchprob.plugins.page.answers import ANSWERS, MEMORY

    limit_memory(MEMORY)
    try:
        for data in ANSWERS[ask["what"]](ask):
            report({"event": "answer", "data": data})
    except Misplaced as error:
        report({"event": "refused", "text": str(error), "place": error.place, "line": error.line})
    except InputError as error:
        report({"event": "refused", "text": str(error), "place": None, "line": None})


def estimate_job(ask: Ask, report: Report) -> None:
    """The verb estimate, with its interval as it narrows."""
    from matchprob.plugins.page.trials import stream_estimate

    stream_estimate(problem_from_dict(ask["problem"]), ask, report)


def compare_job(ask: Ask, report: Report) -> None:
    """The verb compare."""
    from matchprob.plugins.page.trials import stream_comparison

    problem, other = problem_from_dict(ask["problem"]), problem_from_dict(ask["other"])
    stream_comparison(problem, other, ask, report)


JOBS: dict[str, Callable[[Ask, Report], None]] = {
    "answer": answer_job,
    "verdict": verdict_job,
    "structure": structure_job,
    "design": design_job,
    "repair": repair_job,
    "identify": identify_job,
    "record": record_job,
    "estimate": estimate_job,
    "compare": compare_job,
}
