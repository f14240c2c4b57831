"""Designs as text."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from algebra.design.result import Design
from algebra.linalg.rational import float_text
from algebra.networks.limits import plural
from matchprob.api.designs.probable import ProbableDesign
from matchprob.report.tables import listed, print_masks


def print_design(out: Console, found: Design) -> None:
    """The chosen weights, their cost, and the proof of the optimum."""
    allocation = found.allocation
    caps = "".join(f", at most {number} in a {line}" for line, number in found.caps)
    title = f"{plural(allocation.size, f'{allocation.size} weight')} at cost {found.cost}{caps}"
    if isinstance(found, ProbableDesign):
        title = f"{title}, for the highest match probability"
    elif found.measure:
        title = f"{found.value} {found.measure}: {title}"
    out.print(Text(title, style="bold"))
    print_masks(out, allocation)
    out.print(f"\n  weights      {listed(allocation.cells)}")
    word = "rank       " if found.goal == "rank" else "not minimal"
    out.print(f"  {word}  proved: rank {found.rank.rank} modulo {found.rank.p}")
    what = found.measure or "cost"
    if isinstance(found, ProbableDesign):
        _print_race(out, found)
    elif found.is_optimal:
        out.print(
            f"  optimal      {found.proof}; a better design exists with probability at most "
            f"{float_text(found.error)}"
        )
    else:
        out.print(
            f"  {what} {found.value}, at least {found.bound} for any: {found.proof}; the bound is "
            f"wrong with probability at most {float_text(found.error)}"
        )


def _print_race(out: Console, found: ProbableDesign) -> None:
    """The evidence for the highest match probability, and the results of the other designs."""
    if found.race is None:
        out.print(f"  MP = 1, certified: {found.proof}")
        return
    out.print(f"  highest      {found.proof}")
    if not found.is_optimal:
        why = (
            "others are not shown to match less often: allow more --trials"
            if not found.race.is_settled
            else "other designs were not raced"
        )
        out.print(f"               not proved to be the best: {why}")
    out.print(f"\n  {'trials':>6}  {'share':>6}  {found.race.confidence:.0%} interval   weights")
    for k in found.race.ranking()[:12]:
        e = found.race.entrants[k]
        share = e.estimate.matched / max(1, e.estimate.trials)
        text = str(e.problem.allocation)
        text = text if len(text) < 60 else text[:57] + "…"
        mark = "  beaten" if e.is_beaten else ""
        out.print(
            f"  {e.estimate.trials:6d}  {share:6.3f}  [{e.interval.low:.3f}, "
            f"{e.interval.high:.3f}]  {text}{mark}",
            markup=False,
        )
