"""Results of training: which of the existing matches were found."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from algebra.networks.limits import plural
from matchprob.report.tables import table
from numeric.training.experiment import MSE, TrainResult

_SORTED_BY = {
    "distance": "distance of the nearest match",
    "size": "largest weight of the smallest match",
    "condition": "condition of the smallest match",
}


def print_training(out: Console, found: TrainResult) -> None:
    """The share that is found, how, which matches, and the result of the papers' criterion."""
    if not found.trials:
        out.print("no trial was trained")
        return
    share, s = found.found_given_exists, found.settings
    value = "–" if share.estimate is None else f"{share.estimate:.4f}"
    low, high = share.interval.low, share.interval.high
    out.print(Text(f"found, given that a match exists: {value} [{low:.4f}, {high:.4f}]", "bold"))
    out.print(
        f"  {plural(found.trials, f'{found.trials} trial')}, seed {found.seed}: a match exists in "
        f"{found.exists}, is found in {found.found}"
        + (f"; open in {found.undetermined}" if found.undetermined else "")
    )
    restarts = f", {plural(s.restarts, f'{s.restarts} restart')}" if s.restarts else ""
    rate = "" if s.rate is None else f", rate {s.rate:g}"
    out.print(
        f"  {s.optimizer}, at most {s.steps} steps{rate}{restarts}; {found.from_own_weights} found "
        "from the student's own weights"
    )
    for label, key, where in (
        ("steps where found", "steps", True),
        ("relative error where found", "error", True),
        ("relative error elsewhere", "error", False),
    ):
        values = found.quantiles(key, found=where)
        if values is not None:
            q10, q50, q90 = (f"{v:.3g}" for v in values)
            out.print(f"  {label:<27} half below {q50}, a tenth below {q10}, above {q90}")
    for label, (chosen, of) in (("smallest", found.smallest), ("nearest", found.nearest)):
        if of:
            out.print(f"  of {of} trials with several matches it is the {label} one in {chosen}")
    out.print(
        f"  the papers' criterion (MSE < {MSE:g}) calls {found.below_criterion} trials matched: "
        f"{found.false_matches} of these have no match; it misses {found.missed_matches} that do"
    )
    columns = ("found", "interval", "trials")
    for key, title in _SORTED_BY.items():
        parts = found.shares_by(key)
        if len(parts) < 2:
            continue
        out.print()
        grid = table(title, *columns, right=(title, *columns))
        for part in parts:
            grid.add_row(
                f"{part.low:.3g} to {part.high:.3g}", f"{part.estimate:.3f}", str(part.interval),
                str(part.exists),
            )  # fmt: skip
        out.print(grid)
