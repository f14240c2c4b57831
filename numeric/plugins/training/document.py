"""The document of a training experiment: the share of matches found, by which runs, and which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from algebra.documents import Document, Explanation, Paragraph, Step, Table, step
from algebra.results import done_of
from algebra.words import plural
from numeric.programs.losses import MSE
from numeric.statistics.intervals import ROW_DIGITS, share_text

if TYPE_CHECKING:
    from numeric.plugins.training.experiment import TrainResult

_SORTED_BY = {
    "distance": "distance of the nearest match",
    "size": "largest weight of the smallest match",
    "condition": "condition of the smallest match",
}
_OTHER = {
    "adam": "levenberg-marquardt",
    "gd": "levenberg-marquardt",
    "sgd": "levenberg-marquardt",
    "adahessian": "levenberg-marquardt",
    "levenberg-marquardt": "adam",
}


def training_document(found: TrainResult) -> Document:
    """The document of a training experiment."""
    share, settings = found.found_given_exists, found.settings
    value = share_text(share.estimate)
    facts = {
        "trials": done_of(found.trials, found.requested),
        "exists": found.exists,
        "undetermined": found.undetermined,
        "found": found.found,
        "found_given_exists": f"{value} {share.interval}",
        "optimizer": settings.optimizer,
        "steps": settings.steps,
        "rate": settings.rate,
        "restarts": settings.restarts or None,
        "from_own_weights": found.from_own_weights,
        "below_criterion": found.below_criterion,
        "false_matches": found.false_matches,
        "missed_matches": found.missed_matches,
        "seed": found.seed,
    }
    title = (
        f"found, given that a match exists: {value} {share.interval}"
        if found.trials
        else "no trial was trained"
    )
    lines = [
        f"  of {of} trials with several matches it is the {word} one in {chosen}"
        for word, (chosen, of) in (("smallest", found.smallest), ("nearest", found.nearest))
        if of
    ]
    return Document(
        title, facts, (*map(Paragraph, lines), *_tables(found)), _why(found), tone="strong"
    )


def _tables(found: TrainResult) -> list[Table]:
    """Steps and errors of runs, and the share that is found by quarters of trials."""
    spreads = {
        label: values
        for label, key, where in (
            ("steps where found", "steps", True),
            ("relative error where found", "error", True),
            ("relative error elsewhere", "error", False),
        )
        if (values := found.quantiles(key, found=where)) is not None
    }
    out = []
    if spreads:
        columns: dict[str, list[str]] = {"": list(spreads)}
        for k, heading in enumerate(("a tenth below", "half below", "a tenth above")):
            columns[heading] = [f"{values[k]:.3g}" for values in spreads.values()]
        out.append(Table(columns))
    for key, heading in _SORTED_BY.items():
        parts = found.shares_by(key)
        if len(parts) > 1:
            columns = {
                heading: [f"{part.low:.3g} to {part.high:.3g}" for part in parts],
                "found": [share_text(part.estimate, ROW_DIGITS) for part in parts],
                "interval": [str(part.interval) for part in parts],
                "trials": [str(part.exists) for part in parts],
            }
            out.append(Table(columns))
    return out


def _why(found: TrainResult) -> Explanation:
    """The explanation of a training experiment."""
    settings, seed = found.settings, found.seed
    if not found.trials:
        again = step("train", "the same call with more time", seed=seed, trials=found.requested)
        return Explanation((), "the result of training: no trial was trained", "", (again,))
    share = found.found_given_exists
    trials = plural(found.trials, f"{found.trials} trial")
    known = [f"A match exists in {found.exists} of {trials}: counted, not trained."]
    if found.exists:
        known.append(
            f"{settings.optimizer} ends at a match in {found.found} of these: if a match exists, "
            f"it is found with probability {share.interval.words} "
            f"({found.confidence:.0%} confidence)."
        )
    known.append(
        f"The papers' criterion (MSE < {MSE:g}) counts {found.below_criterion} trials as matched. "
        f"{found.false_matches} of these have no match, and {found.missed_matches} trials with a "
        "match are not among them."
    )
    open_ = decided_by = ""
    steps: list[Step] = []
    if found.undetermined:
        open_ = (
            f"whether a match exists in {found.undetermined} of {trials}; the interval is valid in "
            "both cases"
        )
        decided_by = "a complete count of each"
        steps.append(step("train", "more time for each count", seed=seed, trial_timeout=3600))
    elif found.exists > found.found:
        open_ = (
            f"whether the {found.exists - found.found} trials whose match was not found need a "
            "longer or another search"
        )
        decided_by = "more steps, restarts, or another optimizer"
    if found.is_partial:
        steps.append(step("train", "all requested trials", seed=seed, trials=found.requested))
    elif found.exists > found.found:
        if not settings.restarts:
            steps.append(step("train", "runs from other weights", seed=seed, restarts=10))
        other = _OTHER.get(settings.optimizer)
        if other:
            steps.append(step("train", "another optimizer", seed=seed, optimizer=other))
    steps.append(step("profile", "the sizes of the matches that exist", seed=seed))
    return Explanation(tuple(known), open_, decided_by, tuple(steps))
