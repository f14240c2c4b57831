"""Documents of chosen allocations and repairs: their values, and the proofs of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from algebra.checker.verdicts import MAXIMAL
from algebra.documents import Document, Explanation, Paragraph, Part, Step, Table, step
from algebra.linalg.numbers import certainty_text
from algebra.networks.protocols import HasUnits
from algebra.problems.cells import cells_text
from algebra.problems.mask_pictures import mask_pictures
from algebra.ranks.parametrized import by_parameters
from algebra.words import plural
from matchprob.api.designs.probable import ProbableDesign

if TYPE_CHECKING:
    from algebra.questions.design.ties import Ties
    from matchprob.api.designs.design import DesignResult
    from matchprob.api.designs.repair import RepairResult

# Designs of a race, and reasons of a verdict, that are listed.
_MOST_RACED = 12
_MOST_REASONS = 3
# Larger numbers of designs are printed as powers of 10; so many weights are listed.
_MANY = 100_000
_FEW = 8


def design_document(found: DesignResult) -> Document:
    """The document of a design."""
    made = found.design
    size, what = made.allocation.size, made.measure or "cost"
    caps = "".join(f", at most {number} in a {line}" for line, number in made.caps)
    title = f"{plural(size, f'{size} weight')} at cost {made.cost}{caps}"
    if isinstance(made, ProbableDesign):
        title = f"{title}, for the highest match probability"
    elif made.measure:
        title = f"{made.value} {made.measure}: {title}"
    facts: dict[str, Any] = {"goal": made.goal}
    if made.value != made.cost:
        facts["value"] = made.value
    if not made.is_optimal:
        facts["bound"] = made.bound
    facts |= {"cost": made.cost, "optimal": made.is_optimal, "learnable": size}
    facts["weights"] = cells_text(made.allocation.cells)
    parts: tuple[Part, ...] = mask_pictures(made.allocation, found.names)
    if isinstance(made, ProbableDesign):
        parts += _race(made)
        why = _why_probable(found, made)
    elif made.goal == "rank" and made.rank.rank < found.network_rank:
        why = _why_of_lower_rank(found)
    else:
        why = _why(found, what)
    document = Document(title, facts, parts, why, tone="strong")
    return document.mapped(found.names.annotate) if found.names else document


def _not_minimal(found: DesignResult) -> str:
    made = found.design
    return (
        f"Not minimal: the {made.allocation.size} weights reach all {made.rank.rank} independent "
        f"equations, proved modulo {made.rank.p}. So MP > 0."
    )


def _why(found: DesignResult, what: str) -> Explanation:
    """The explanation of a design."""
    made, known = found.design, [_not_minimal(found)]
    steps: list[Step] = []
    open_, decided_by = [], ""
    if made.goal == "rank":
        known.append(f"Every allocation that is not minimal costs at least {made.cost_bound}.")
    elif made.certificate:
        known.append(f"MP = 1: {made.certificate}.")
    if made.is_optimal and made.goal != "rank":
        known.append(
            f"No allocation is better: none that satisfies the caps has {what} below {made.bound} "
            f"({made.proof}): {certainty_text(made.error)}."
        )
        if found.ties is not None:
            known.append(_ties_text(found.ties, made.allocation.size))
    elif not made.is_optimal:
        open_.append(
            f"whether it is the best: {what} {made.value} was found, and values below {made.bound} "
            f"are excluded ({made.proof}; {certainty_text(made.error)})"
        )
        decided_by = "a design with a lower value, or a complete search"
        steps.append(step("design", "a longer search", goal=made.goal, seconds=600))
    readout = _readout_of_all(found)
    if readout and made.goal != "spread":
        known.append(
            f"All of them are in {readout}, the read-out, for which the rest of the network only "
            "gives fixed features."
        )
        steps.append(step("design", "a design whose weights are spread", goal="spread"))
    if not made.certificate:
        open_.append("whether MP = 1: this goal guarantees only MP > 0")
        is_counted = found.problem.network.equations_are != "analytic"
        decided_by = decided_by or (
            "the number N of complex solutions, which `certify` finds"
            if is_counted
            else "an output with no learnable weights (then MP < 1), or a design in which only the "
            "read-out learns (then MP = 1); otherwise trials"
        )
        steps.append(_certify_written("the design as a file, and its verdict"))
        if is_counted and made.goal not in ("maximal", "rank"):
            purpose = "a design with MP = 1, with the same options"
            steps.append(step("design", purpose, goal="maximal"))
    return Explanation(tuple(known), "; and ".join(open_), decided_by, tuple(steps))


def _ties_text(ties: Ties, size: int) -> str:
    """That a cheapest design is one of many, and what they have in common."""
    if ties.at_least == 1:
        return "It is the only one of this cost."
    number = (
        f"at least {ties.at_least:,}" if ties.at_least < _MANY
        else f"more than 10^{len(str(ties.at_least)) - 1}"
    )  # fmt: skip
    text = f"It is one of many: {number} designs cost as much. "
    text += (
        f"Of its {size} weights {len(ties.in_every)} are in every one of them"
        if ties.in_every
        else "No weight is in every one of them"
    )
    if 0 < len(ties.in_every) <= _FEW:
        text += f" ({cells_text(ties.in_every)})"
    text += (
        f", and {len(ties.in_none)} of the others in none"
        if ties.in_none
        else ", and each of the others is in some"
    )
    if 0 < len(ties.in_none) <= _FEW:
        text += f" ({cells_text(ties.in_none)})"
    return text + "; this one fills rows and columns evenly."


def _readout_of_all(found: DesignResult) -> str:
    """The matrix onto the outputs if all chosen weights, but not all others, are in it; or ""."""
    network = found.problem.network
    if not isinstance(network, HasUnits) or len(network.shapes) == 1:
        return ""
    [outputs] = [axis for axis in network.axes() if axis.name == "outputs"]
    matrix = outputs.places[0][0]
    return matrix if {name for name, _, _ in found.design.allocation.cells} == {matrix} else ""


def _certify_written(purpose: str) -> Step:
    then = step("certify", subject="best.toml")
    return Step("design", purpose, {"write": "best.toml"}, then=then)


def _why_of_lower_rank(found: DesignResult) -> Explanation:
    made, whole = found.design, found.network_rank
    known = [
        f"The {plural(made.allocation.size, f'{made.allocation.size} weight')} reach "
        f"{made.rank.rank} of the {whole} independent equations, proved modulo {made.rank.p}: "
        "minimal, MP = 0."
    ]
    open_ = ""
    if made.is_optimal:
        known.append(
            f"No allocation within the cost budget has a larger rank ({made.proof}), and none of "
            "this "
            f"rank costs less than {made.cost}: {certainty_text(made.error)}."
        )
    else:
        open_ = (
            f"whether a rank above {made.rank.rank} is within the budget; ranks above {made.bound} "
            "are not"
        )
    least = step("design", "the least cost of MP > 0")
    return Explanation(tuple(known), open_, "a longer search" if open_ else "", (least,))


def _race(made: ProbableDesign) -> tuple[Part, ...]:
    """The results of the designs that were raced."""
    race = made.race
    if race is None:
        return ()
    entrants = [race.entrants[k] for k in race.ranking()[:_MOST_RACED]]
    columns: dict[str, Sequence[Any]] = {
        "trials": [e.estimate.trials for e in entrants],
        "share": [f"{e.estimate.matched / max(1, e.estimate.trials):.3f}" for e in entrants],
        f"{race.confidence:.0%} interval": [str(e.interval) for e in entrants],
        "weights": [str(e.problem.allocation) for e in entrants],
        "": ["beaten" if e.is_beaten else "" for e in entrants],
    }
    return (Table(columns, made.proof),)


def _why_probable(found: DesignResult, made: ProbableDesign) -> Explanation:
    race, known = made.race, [_not_minimal(found)]
    if race is None:
        known.append(
            f"MP = 1, by a certificate ({made.proof}): no allocation can match more often."
        )
        steps = (
            Step(
                "design", "the certificate, for verify", {"goal": made.goal, "write": "best.toml"},
                then=step("certify", subject="best.toml", out="cert.json"),
            ),
        )  # fmt: skip
        return Explanation(tuple(known), steps=steps)
    known.append(
        f"It matched most often among {plural(made.pool, f'{made.pool} allocation')} on common "
        "instances."
    )
    if made.is_optimal:
        known.append(f"Every other was shown to be worse, at confidence {race.confidence:.0%}.")
        return Explanation(tuple(known))
    if race.is_settled:
        return Explanation(
            tuple(known),
            "whether one of the allocations that were not raced matches more often",
            "a race of all of them, or a certified maximal allocation",
            (step("design", "more of them", goal=made.goal, candidates=2 * made.pool),),
        )
    return Explanation(
        tuple(known),
        "whether it is the best: the intervals of some others overlap its interval",
        "more common trials",
        (step("design", "more trials of each", goal=made.goal, trials=8192),),
    )


def repair_document(found: RepairResult) -> Document:
    """The document of a repair."""
    done, before, after = found.repair, found.before, found.after
    facts: dict[str, Any] = {
        "moves": done.moves if done else 0,
        "bound": done.bound if done else 0,
        "before": before.verdict,
        "after": after.verdict,
    }
    if done is None or not (done.moves or done.removed):
        known = (f"No weight has to move: the allocation is {before.verdict} ({before.rule}).",)
        why = Explanation(known, steps=(step("certify", "its verdict"),))
        state = "MP = 1" if before.verdict == MAXIMAL else "MP > 0"
        return Document(f"nothing to repair: {state}", facts, (), why, tone="strong")
    facts["out"] = cells_text(done.removed)
    facts["in"] = cells_text(done.added)
    problem = by_parameters(found.problem)
    known_ = [
        f"{plural(done.moves, f'{done.moves} move')} turn{'s' * (done.moves == 1)} the allocation "
        f"from {before.verdict} ({before.rule}) to {after.verdict} ({after.rule})."
    ]
    mended = Step(
        "repair", "the new file, and its verdict", {"write": "mended.toml"},
        then=step("certify", subject="mended.toml"),
    )  # fmt: skip
    steps = [mended]
    open_ = decided_by = ""
    if done.is_optimal:
        known_.append(f"No repair has fewer moves ({done.proof}): {certainty_text(done.error)}.")
    else:
        open_ = (
            f"whether fewer than {done.moves} moves suffice: at least {done.bound} are needed "
            f"({done.proof})"
        )
        decided_by = "a complete search"
        steps.insert(0, step("repair", "a longer search", seconds=600))
    reasons = tuple(Paragraph(f"  {text}") for text in before.reasons[:_MOST_REASONS])
    title = f"{plural(done.moves, f'{done.moves} move')}: {done.reason}"
    document = Document(
        title,
        facts,
        (*reasons, *mask_pictures(done.after, problem.names)),
        Explanation(tuple(known_), open_, decided_by, tuple(steps)),
        tone="strong",
    )
    return document.mapped(problem.names.annotate) if problem.names else document
