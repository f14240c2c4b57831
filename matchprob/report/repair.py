"""Repairs and losses as text."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from algebra.design.robustness import Robustness
from algebra.linalg.rational import float_text
from algebra.networks.limits import plural, some
from matchprob.api.designs.repair import RepairResult
from matchprob.report.tables import listed, print_masks

# Rows and columns that are named.
_MOST_LINES = 12


def print_repair(out: Console, found: RepairResult) -> None:
    """The state before, the moves with their reasons, the state after."""
    out.print(Text(f"before  {found.before.verdict}: {found.before.rule}", style="bold"))
    for reason in found.before.reasons[:3]:
        out.print(f"        {reason}")
    done = found.repair
    if done is None or (not done.moves and not done.removed):
        out.print("\nnothing has to move")
        return
    out.print(f"\n{plural(done.moves, f'{done.moves} move')}: {done.reason}")
    out.print(f"  out  {listed(done.removed)}")
    out.print(f"  in   {listed(done.added)}")
    print_masks(out, done.after)
    out.print()
    out.print(Text(f"after   {found.after.verdict}: {found.after.rule}", style="bold"))
    if done.is_optimal:
        out.print(
            f"fewest  {done.proof}; fewer would do with probability at most "
            f"{float_text(done.error)}"
        )
    else:
        out.print(f"        at least {done.bound} moves for any repair; {done.proof}")


def print_robustness(out: Console, found: Robustness) -> None:
    """The weights that may be lost, and those that may not."""
    size = found.allocation.size
    error = float_text(found.error)
    wrong = f" (wrong with probability at most {error})" if found.error else " (proved)"
    out.print(Text(str(found), style="bold"))
    out.print(f"\n  weights    {size}, for {found.equations} independent equations")
    out.print(
        f"  survived   any {found.survives} of them lost: proved"
        if found.survives
        else "  survived   no loss for sure"
    )
    out.print(
        f"  fatal      {listed(found.fatal)}: without {'it' if len(found.fatal) == 1 else 'them'} "
        f"MP = 0{wrong}"
    )
    alone = f"all {size}" if len(found.coloops) == size else listed(found.coloops)
    out.print(f"  coloops    {alone} (each fatal alone)")
    if len(found.coloops) == size:
        return
    lines = some(found.lines, _MOST_LINES) or "none"
    out.print(f"  lines      {lines} (fatal where all their weights are lost)")
