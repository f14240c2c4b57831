"""Jobs that run in separate processes: verdicts, structure, searches, studies.

Each job is a function of plain data and of ``report(event, found)``: an event is plain data for the
front end, `found` the result object for the session.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from algebra.certificates.certificate import Certificate, certainty
from algebra.certificates.trial_costs import affordable_trials, too_costly
from algebra.certificates.verdicts import UNDECIDED
from algebra.documents import Paragraph
from algebra.errors import InputError
from algebra.families.equations import inspect_allocation
from algebra.linalg.numbers import nearest_double
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.files import problem_from_dict
from algebra.ranks.root_count_error import PROVED
from algebra.results import named
from algebra.time_limits import phases
from matchprob.api import certify as exact
from matchprob.page import immediate
from matchprob.page.state import Misplaced, pack

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
        **named(found, "verdict", "rule", "rank", "equations", "learnable"),
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
    allocation = problem.allocation
    digest = problem.digest
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


def design_job(ask: Ask, report: Report) -> None:
    """The verb design."""
    from matchprob.api.designs.design import design

    problem = problem_from_dict(ask["problem"])
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
        problem_from_dict(ask["problem"]),
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
    report({"event": "result", "marks": marks, "text": found.document().title}, found)


def answer_job(ask: Ask, report: Report) -> None:
    """The answer to a message; for bad input the event holds its place."""
    from matchprob.api.proofs.check import limit_memory
    from matchprob.page.answers import ANSWERS, MEMORY

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
    from matchprob.page.trials import stream_estimate

    stream_estimate(problem_from_dict(ask["problem"]), ask, report)


def compare_job(ask: Ask, report: Report) -> None:
    """The verb compare."""
    from matchprob.page.trials import stream_comparison

    problem, other = problem_from_dict(ask["problem"]), problem_from_dict(ask["other"])
    stream_comparison(problem, other, ask, report)


JOBS: dict[str, Callable[[Ask, Report], None]] = {
    "answer": answer_job,
    "verdict": verdict_job,
    "structure": structure_job,
    "design": design_job,
    "repair": repair_job,
    "identify": identify_job,
    "estimate": estimate_job,
    "compare": compare_job,
}
