"""Verdicts and their evidence; the checks of a verification."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from algebra.certificates.certificate import Certificate
from algebra.certificates.checks import Verification
from algebra.networks.limits import plural
from matchprob.report.tables import STYLES, table


def print_certificate(out: Console, found: Certificate) -> None:
    """A verdict and its evidence."""
    out.print(Text(found.verdict, style=STYLES[found.verdict]), Text(f"  {found.rule}"), sep="")
    what = "parameter" if found.problem.updates else "weight"
    rows: list[tuple[str, Any]] = [
        ("equations", f"{found.equations} (generic rank of the network's Jacobian)"),
        (
            "rank",
            f"{found.rank} of " + plural(found.learnable, f"{found.learnable} learnable {what}"),
        ),
    ]
    if found.generic_root_count is not None:
        rows.append(("generic root count", found.generic_root_count))
    rows.append(("certainty", certainty(found)))
    said = [f"{name}: {word}" for name, word in found.theorems.items() if word != "silent"]
    rows.append(("papers' statements", "; ".join(said) or "they say nothing of it"))
    grid = table("", "")
    grid.show_header = False
    for key, value in rows:
        grid.add_row(Text(f"  {key}", style="dim"), str(value))
    out.print(grid)
    for text in (*found.reasons, *found.notes, *found.tried):
        out.print(f"  {text}", markup=False)


def certainty(found: Certificate) -> str:
    """What is proved and what is not."""
    bound = found.error_bound
    if bound:
        text = f"rank: error at most {bound.numerator / bound.denominator:.1e}"
    elif not found.prime:
        return "proved"
    else:
        text = f"rank proved modulo {found.prime}"
    if found.root_count_certainty is not None:
        text += f"; N {found.root_count_certainty.text}"
    return text


def print_verification(out: Console, found: Verification) -> None:
    """Every check with its status."""
    style = STYLES.get(found.verdict, "") if found.holds else "bold red"
    style = "yellow" if found.is_unfinished else style
    out.print(Text(f"{found.verdict}: {found.outcome}", style=style))
    grid = table("status", "place", "what")
    for check in found.checks:
        colour = {"proved": "green", "failed": "bold red"}.get(check.status, "yellow")
        grid.add_row(Text(check.status, style=colour), check.place, Text(check.text))
    out.print(grid)
