"""What the comparison of principles with match probabilities says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from algebra.documents import Document, Explanation, Part, Step, Table, step
from algebra.results import done_of
from algebra.words import plural

if TYPE_CHECKING:
    from numeric.plugins.papers.principles.correlation import RankCorrelation
    from numeric.plugins.papers.principles.survey import PrincipleSurvey

# Rows of the table of contradictions.
_MOST = 12


def survey_document(found: PrincipleSurvey) -> Document:
    """The document of a survey."""
    number = len(found.classes)
    facts = {
        "network": str(found.network),
        "matrices": " ".join(found.matrices),
        "budget": found.budget,
        "classes": done_of(found.checked, found.requested),
        "minimal": found.minimal,
        "maximal": found.maximal,
        "between": number,
        "trials": found.trials,
        "seed": found.seed,
    }
    principles = [t for t in found.tau if t.is_principle]
    said = "; ".join(f"{t.predictor} {_tau(t)}" for t in principles if t.value is not None)
    title = f"{number} class{'es' * (number != 1)} between minimal and maximal"
    title += f"; Kendall's τ of MP with {said}" if said else ""
    if not number:
        return Document(title, facts, (), _why(found), "strong")
    parts: list[Part] = [_classes(found), _correlations(found)]
    if found.contradictions:
        parts.append(_contradictions(found))
    return Document(title, facts, tuple(parts), _why(found), "strong")


def _tau(found: RankCorrelation) -> str:
    if found.value is None or found.low is None or found.high is None:
        return "–"
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"


def _classes(found: PrincipleSurvey) -> Table:
    estimates = [c.estimate for c in found.classes]
    names = [t.predictor for t in found.tau if t.is_principle or t.predictor == "N"]
    columns: dict[str, list[Any]] = {
        "": list(range(len(found.classes))),
        "allocation": [str(c.allocation) for c in found.classes],
        **{name: list(found.values_of(name)) for name in names},
        "MP": [e.value_text for e in estimates],
        "interval": [str(e.interval()) for e in estimates],
    }
    return Table(columns, "classes of allocations, one of each")


def _correlations(found: PrincipleSurvey) -> Table:
    agreeing = [found.agreeing(t.predictor) if t.is_principle else None for t in found.tau]
    wrong = [
        sum(c.principle == t.predictor for c in found.contradictions) if t.is_principle else None
        for t in found.tau
    ]
    columns: dict[str, list[Any]] = {
        "number": [t.predictor for t in found.tau],
        "principle": ["yes" if t.is_principle else "" for t in found.tau],
        "Kendall's τ": ["–" if t.value is None else f"{t.value:.2f}" for t in found.tau],
        f"{found.confidence:.0%} interval": [
            "–" if t.low is None or t.high is None else f"[{t.low:.2f}, {t.high:.2f}]"
            for t in found.tau
        ],
        "pairs right": agreeing,
        "pairs wrong": wrong,
    }
    title = (
        f"{len(found.ordered)} of {plural(found.pairs, f'{found.pairs} pair')} are ordered on "
        "common trials"
    )
    return Table(columns, title)


def _contradictions(found: PrincipleSurvey) -> Table:
    shown = sorted(found.contradictions, key=lambda c: c.pair.p_value)[:_MOST]
    return Table(
        {
            "principle": [c.principle for c in shown],
            "class": [c.pair.better for c in shown],
            "has": [c.numbers[0] for c in shown],
            "and beats class": [c.pair.worse for c in shown],
            "which has": [c.numbers[1] for c in shown],
            "difference": [f"{c.pair.difference:+.3f}" for c in shown],
            "interval": [f"[{c.pair.low:+.3f}, {c.pair.high:+.3f}]" for c in shown],
            "p": [f"{c.pair.p_value:.1e}" for c in shown],
        },
        "pairs that contradict a principle, corrected for the number of pairs"
        + (f" (the first {_MOST})" if len(found.contradictions) > _MOST else ""),
    )


def _why(found: PrincipleSurvey) -> Explanation:
    """What the numbers show, and what they do not."""
    known, steps = [], list[Step]()
    for t in found.tau:
        if not t.is_principle or t.value is None or t.low is None or t.high is None:
            continue
        wrong = sum(c.principle == t.predictor for c in found.contradictions)
        right = found.agreeing(t.predictor)
        tendency = "holds on average here" if t.low > 0 else "is not shown to hold even on average"
        if t.high < 0:
            tendency = "is reversed on average here"
        known.append(
            f"The principle of {t.predictor} {tendency}: of the pairs that are ordered on common "
            f"trials it orders {right} rightly and {wrong} wrongly."
        )
    if found.classes:
        known.append(
            "The classes are those of this network and budget; the interval of τ says how it "
            "varies with the classes and the trials, not that it is the same for other networks."
        )
        again: dict[str, Any] = {
            "budget": found.budget,
            "matrix": found.matrices,
            "seed": found.seed,
        }
        steps.append(step("audit", "narrower", principles=True, trials=4 * found.trials, **again))
    undetermined = sum(c.estimate.undetermined for c in found.classes)
    open_, decided = "", ""
    if found.is_partial:
        open_ = f"{found.requested - found.checked} of {found.requested} classes, not finished"
        decided = "more time; the same command with --store continues"
    elif undetermined:
        open_ = f"{plural(undetermined, f'{undetermined} trial')}, undetermined"
        decided = "a longer time limit for a trial"
    return Explanation(tuple(known), open_, decided, tuple(steps))
