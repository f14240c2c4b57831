"""Results on many allocations: of an audit and an atlas."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from algebra.networks.limits import plural
from algebra.problems.allocation import Allocation
from algebra.surveys.atlas import Atlas
from algebra.surveys.audit import Audit, Counterexample
from matchprob.report.tables import STYLES, WIDEST, mask_text, table


def print_audit(out: Console, found: Audit) -> None:
    """Where the theorems agree, are silent, or are wrong."""
    for result in found:
        share = f" of {result.total}" if result.checked < result.total else ""
        out.print(
            Text(
                f"{result.network}; {plural(result.budget, f'{result.budget} weight')} of "
                f"{result.matrix}: "
                f"{result.checked}{share} allocations, {result.minimal} minimal",
                style="bold",
            )
        )
        if not result.theorems:
            out.print("  no theorem speaks of these")
            continue
        numbers = ("agree", "silent", "maximal, but minimal", "minimal, but not")
        grid = table("theorem", *numbers, right=numbers)
        for t in result.theorems:
            wrong = (t.says_maximal_but_minimal, t.says_minimal_but_not)
            grid.add_row(
                t.theorem,
                str(t.agree),
                str(t.silent),
                *(Text(str(w), style="bold red" if w else "") for w in wrong),
            )
        out.print(grid)
        for t in result.theorems:
            for found_wrong in t.examples:
                example = Allocation.from_cells(result.network, found_wrong.cells)
                out.print(f"  {t.theorem} says {found_wrong.says}, wrongly, of {example}")
                if max(result.network.shapes[result.matrix]) <= WIDEST:
                    shown = mask_text(example, result.matrix).replace("\n", "\n    ")
                    out.print(Text(f"    {shown}", style="cyan"))
                out.print(f"    {_rank_shown(found_wrong)}")
        bound = result.error_bound
        out.print(
            f"  minimal verdicts: error at most {bound.numerator / bound.denominator:.1e} over all"
        )


def _rank_shown(example: Counterexample) -> str:
    """The ranks that refute a theorem, and the points at which they were computed."""
    primes = ", ".join(str(p) for p in dict.fromkeys(p for p, _ in example.points))
    if example.rank < example.equations:
        where = f"at {len(example.points)} random points, modulo {primes}"
    else:
        where = f"at a point modulo {primes}, so it is proved"
    return f"rank {example.rank} of {example.equations} {where}"


def print_atlas(out: Console, found: Atlas) -> None:
    """One line per orbit, and the totals."""
    out.print(Text(str(found.network), style="bold"))
    grid = table(
        "allocation", "orbit", "rank", "N", "verdict", "rule", right=("orbit", "rank", "N")
    )
    for e in found.entries:
        grid.add_row(
            str(Allocation.from_cells(found.network, e.cells)),
            str(e.orbit),
            str(e.rank),
            "–" if e.root_count is None else str(e.root_count),
            Text(e.verdict, style=STYLES[e.verdict]),
            e.rule,
        )
    out.print(grid)
    totals = ", ".join(f"{v} {k}" for k, v in found.totals.items())
    allocations = sum(e.orbit for e in found.entries)
    orbits = plural(len(found.entries), f"{len(found.entries)} orbit")
    out.print(f"{plural(allocations, f'{allocations} allocation')} in {orbits}: {totals}")
