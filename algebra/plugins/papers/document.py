"""What surveys say: where theorems are wrong, and the verdicts of all allocations of a budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from algebra.checker.verdicts import INTERMEDIATE, MAXIMAL, MINIMAL, UNDECIDED
from algebra.documents import Document, Explanation, Paragraph, Part, Step, Table, TextPicture, step
from algebra.linalg.numbers import float_text
from algebra.plugins.papers.theorems.statements import THEOREMS
from algebra.problems.allocation import Allocation
from algebra.problems.mask_pictures import WIDEST, mask_rows
from algebra.results import done_of
from algebra.words import plural

if TYPE_CHECKING:
    from algebra.plugins.papers.atlas import Atlas
    from algebra.plugins.papers.audit import AuditResult, Counterexample

# Most characters of all masks of an allocation in a row of a table.
_WIDEST_MASKS = 48
_MEANING = {
    MAXIMAL: "maximal: MP = 1",
    INTERMEDIATE: "intermediate: 0 < MP < 1",
    MINIMAL: "minimal: MP = 0",
    UNDECIDED: "undecided: MP > 0, and whether MP = 1 is open",
}


def audit_parts(found: AuditResult) -> tuple[Part, ...]:
    """A table of the theorems on one matrix, and the smallest allocations that refute them."""
    share = f" of {found.total}" if found.checked < found.total else ""
    title = (
        f"{found.network}; {plural(found.budget, f'{found.budget} weight')} of {found.matrix}: "
        f"{found.checked}{share} allocations, {found.minimal} minimal"
    )
    if not found.theorems:
        return (Paragraph(f"{title}; no theorem applies ({'; '.join(_why_silent(found))})"),)
    wrong = [(t.says_maximal_but_minimal, t.says_minimal_but_not) for t in found.theorems]
    columns: dict[str, Sequence[Any]] = {
        "theorem": [t.theorem for t in found.theorems],
        "agree": [t.agree for t in found.theorems],
        "silent": [t.silent for t in found.theorems],
        "maximal, but minimal": [number for number, _ in wrong],
        "minimal, but not": [number for _, number in wrong],
    }
    tones = {
        name: ["bad" if number else "" for number in columns[name]]
        for name in ("maximal, but minimal", "minimal, but not")
    }
    examples = [part for t in found.theorems for e in t.examples for part in _example(found, e)]
    return (Table(columns, title, tones), *examples)


def _why_silent(found: AuditResult) -> list[str]:
    """Why no theorem of the paper applies to this number of weights in a matrix."""
    about = [t for t in THEOREMS.values() if found.matrix in t.matrices(found.network)]
    if not about:
        return [f"none is about {found.matrix}"]
    gaps = [gap for t in about for gap in t.gaps(found.network)]
    outputs = found.network.outputs
    if any(not t.any_size for t in about) and found.budget != outputs:
        gaps.append(f"they need r = dm = {outputs}, but r = {found.budget}")
    return list(dict.fromkeys(gaps))


def _example(found: AuditResult, example: Counterexample) -> tuple[Part, ...]:
    """An allocation that refutes a theorem, its ranks and the points used."""
    allocation = Allocation.from_cells(found.network, example.cells)
    primes = ", ".join(str(p) for p in dict.fromkeys(p for p, _ in example.points))
    where = f"at a point modulo {primes}, so it is proved"
    if example.rank < example.equations:
        where = f"at {len(example.points)} random points, modulo {primes}"
    text = (
        f"  {example.theorem} wrongly says {example.says} for {allocation}: rank {example.rank} "
        f"of {example.equations} {where}"
    )
    if max(found.network.shapes[found.matrix]) > WIDEST:
        return (Paragraph(text),)
    return (TextPicture(mask_rows(allocation, found.matrix), text),)


def audit_explanation(parts: Sequence[AuditResult], seed: int) -> Explanation:
    """The result on the theorems, and what it does not cover."""
    known = []
    is_wrong = False
    for part in parts:
        for theorem in part.theorems if part.checked else ():
            if not theorem.wrong:
                continue
            is_wrong = True
            statements = [
                f"{number} are called {word} and are {truth}"
                for number, word, truth in (
                    (theorem.says_maximal_but_minimal, MAXIMAL, "minimal (MP = 0)"),
                    (theorem.says_minimal_but_not, MINIMAL, "not (MP > 0)"),
                )
                if number
            ]
            known.append(
                f"Theorem {theorem.theorem}, as stated, is wrong for {part.budget} weights of "
                f"{part.matrix}: of {theorem.checked} checked, {' and '.join(statements)}."
            )
    checked = sum(part.checked for part in parts)
    if checked and not any(part.theorems for part in parts):
        known.append(
            "No theorem applies to any of the allocations checked: their assumptions do not hold "
            "for this network and number of weights, and only the rank decides."
        )
    elif checked and not is_wrong:
        silent = sum(t.silent for p in parts for t in p.theorems)
        where = (
            f"; in {plural(silent, f'{silent} case')} they are silent, and only the rank decides"
        )
        known.append(
            f"No theorem is wrong for the {plural(checked, f'{checked} allocation')} checked"
            f"{where * bool(silent)}."
        )
    if checked:
        error = max(part.error_bound for part in parts)
        known.append(
            "The reference is the generic rank; the probability that it is wrong for any of them "
            f"is at most {float_text(error)}."
            if error
            else "The reference is the generic rank, proved for all of them."
        )
    left = sum(part.total for part in parts) - checked
    open_, decided_by, steps = "", "", list[Step]()
    if left > 0 or not checked:
        open_ = (
            f"the other {plural(left, f'{left} allocation')} of these budgets"
            if checked
            else "everything: no allocation was checked"
        )
        decided_by = "a larger or another sample; the smallest nets can be audited completely"
        steps.append(step("audit", "a larger sample", count=max(10 * checked, 1000), seed=seed))
    if is_wrong:
        purpose = "the same with the corrected theorems"
        steps.append(step("audit", purpose, corrected=True, seed=seed))
    return Explanation(tuple(known), open_, decided_by, tuple(steps))


def atlas_document(found: Atlas) -> Document:
    """The document of an atlas: one row for each orbit, and the totals."""
    totals = ", ".join(f"{v} {k}" for k, v in found.totals.items())
    allocations = sum(e.orbit for e in found.entries)
    network = f"{found.network}, n → ∞" if found.limit else f"{found.network}"
    title = (
        f"{network}; {plural(found.budget, f'{found.budget} weight')} of "
        f"{', '.join(found.matrices)}: {plural(allocations, f'{allocations} allocation')} in "
        f"{done_of(len(found.entries), found.orbits)} orbits; {totals}"
    )
    facts = {
        "network": network,
        "budget": found.budget,
        "allocations": allocations,
        "orbits": done_of(len(found.entries), found.orbits),
        **found.totals,
        "seed": found.seed,
    }
    columns: dict[str, Sequence[Any]] = {
        **_allocations(found),
        "orbit": [e.orbit for e in found.entries],
        "rank": [e.rank for e in found.entries],
        "N": [e.root_count for e in found.entries],
        "verdict": [e.verdict for e in found.entries],
        "rule": [e.rule for e in found.entries],
    }
    table = Table(columns, tones={"verdict": [e.verdict for e in found.entries]})
    return Document(title, facts, (table,), _atlas_explanation(found), tone="strong")


def _allocations(found: Atlas) -> dict[str, Sequence[str]]:
    """The masks of small matrices, row by row, one column for each; else lists of cells.

    Lists of cells begin alike, so they look equal where a table is too wide for its page.
    """
    made = [Allocation.from_cells(found.network, entry.cells) for entry in found.entries]
    shapes = [found.network.shapes[name] for name in found.matrices]
    if sum(rows * (columns + 1) for rows, columns in shapes) > _WIDEST_MASKS:
        return {"allocation": [str(one) for one in made]}
    return {name: [" ".join(mask_rows(one, name)) for one in made] for name in found.matrices}


def _atlas_explanation(found: Atlas) -> Explanation:
    """What all allocations of a budget are."""
    totals = found.totals
    done = sum(totals.values())
    known = [
        f"{totals[verdict]} of {plural(done, f'{done} allocation')} "
        f"{'is' if totals[verdict] == 1 else 'are'} {meaning}."
        for verdict, meaning in _MEANING.items()
        if totals.get(verdict)
    ]
    if done:
        known.append(
            "Allocations that a symmetry of the network maps to each other have the same MP: one "
            "allocation of each orbit was certified."
        )
    again: dict[str, Any] = {
        "budget": found.budget, "matrix": found.matrices, "seed": found.seed,
    }  # fmt: skip
    if found.limit:
        known.append(
            "Verdicts are on what MP tends to as the number n of hidden units grows, which depends "
            f"on the digraph of the cells only. W is shown with {2 * found.budget} units, as many "
            f"as {plural(found.budget, f'{found.budget} cell')} can need."
        )
        again["limit"] = True
    steps: list[Step] = []
    open_, decided = [], []
    if found.is_partial:
        left = found.orbits - len(found.entries)
        open_.append(f"{plural(left, f'{left} orbit')} of {found.orbits}, not begun")
        decided.append("more time")
        purpose = "the same command again, which continues where it stopped"
        steps.append(step("atlas", purpose, **again, store="atlas.json"))
    if totals.get(UNDECIDED) and found.limit:
        open_.append(
            "the undecided ones: their limits consist of several systems, of one in which some "
            "labels are 0, or of equations that are not known"
        )
        decided.append("trials")
        steps.append(step("atlas", "estimates of these limits", **again, trials=200))
    elif totals.get(UNDECIDED):
        open_.append("the undecided ones, which neither parity nor a witness decides")
        decided.append("instances without real solutions, found with more time")
        steps.append(step("atlas", "a longer search for each orbit", **again, search=60))
    if totals.get(MAXIMAL) and found.network.rank_decides and not found.limit:
        steps.append(step("design", "an allocation with MP = 1, chosen by cost", goal="maximal"))
    return Explanation(tuple(known), "; ".join(open_), "; ".join(decided), tuple(steps))
