"""What follows from an identification, what is open, and which verb to try."""

from __future__ import annotations

from typing import TYPE_CHECKING

from algebra.documents import Explanation, Step, step
from algebra.words import plural

if TYPE_CHECKING:
    from algebra.questions.identify.identification import Identification


def explain(found: Identification) -> Explanation:
    """The explanation of an identification in which single weights learn."""
    local, size = found.fibre, found.fibre.size
    known = []
    if local.dimension:
        known.append(
            f"{size} weights learn and the labels depend on them in {local.rank.rank} independent "
            f"directions: near the truth the matches form a family of dimension {local.dimension}."
        )
        if local.determined:
            number = len(local.determined)
            known.append(
                f"{plural(number, f'{number} weight')} {'is' if number == 1 else 'are'} the same "
                "in all of that family: determined near the truth."
            )
        known.append(
            "A free weight can be changed a little if others are changed to compensate for it."
        )
    else:
        known.append(
            f"All {size} weights change the labels independently (rank {local.rank.rank}): no "
            "other match lies near the truth."
            if size
            else "Nothing learns, so there is nothing to determine."
        )
    if found.alternatives is not None:
        roots = found.alternatives.root_count
        known.append(
            "Generic labels have one match only, the truth."
            if roots == 1
            else f"Generic labels have {roots} complex matches. Real data exclude those that are "
            "not real; their number differs by instance."
        )
    open_ = decided_by = ""
    steps: list[Step] = []
    if found.alternatives is None and not local.dimension and size:
        open_ = "whether there are other matches, far from the truth: their number was not found"
        if found.problem.network.equations_are == "analytic":
            decided_by = (
                "no known method: with this activation the matches are not roots of polynomials"
            )
        else:
            decided_by = "the number N of complex solutions"
        if found.out_of_time:
            steps.append(step("identify", "more time", timeout=max(600, 5 * found.timeout)))
    elif local.dimension:
        open_ = "the values of the free weights, which these data do not determine"
        decided_by = (
            f"fewer learnable weights (at most {local.rank.rank}), or more samples or outputs if "
            "the rank grows with them"
        )
        if found.problem.network.has_kinks:
            steps.append(step("record", "whether recorded units determine more", what=("units",)))
        else:
            steps.append(step("design", "an allocation of independent weights"))
    elif found.finitely_many:
        open_ = "which of finitely many matches is the truth"
        decided_by = "usually one more sample: try a larger m"
        steps.append(step("count", "the real alternatives", instances=8, solutions=True))
    return Explanation(tuple(known), open_, decided_by, tuple(steps))


def explain_updates(found: Identification) -> Explanation:
    """The explanation of an identification in which matrices learn by updates."""
    local, learning = found.fibre, found.problem.learning
    gauge = learning.size - learning.dimension
    known = [
        f"{plural(learning.size, f'{learning.size} parameter')} learn, and change "
        f"{learning.moving.size} weights within a set of dimension {learning.dimension}; the "
        f"labels depend on it in {local.rank.rank} independent directions."
    ]
    if gauge:
        known.append(
            "U and V are never determined (U G and V G⁻ᵀ give the same weights), but the weights "
            "may be."
        )
    if not local.dimension:
        known.append("No other match lies near the truth: all of these weights are determined.")
    else:
        noun = "weight" if local.parameters is None else "parameter"
        number = len((local.parameters or local).determined)
        known.append(
            f"Near the truth the matches form a family of dimension {local.dimension}; "
            f"{plural(number, f'{number} {noun}')} {'is' if number == 1 else 'are'} the same in "
            "all of it."
        )
        if noun == "parameter":
            known.append(
                "A free parameter can be changed a little if others are changed to compensate."
            )
    open_ = "" if local.dimension else "whether there are other matches, far from the truth"
    if found.problem.network.has_kinks:
        return Explanation(tuple(known), open_)
    return Explanation(
        tuple(known), open_, "", (step("certify", "whether every teacher is matched"),)
    )
