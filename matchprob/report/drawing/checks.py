"""Pictures of checks: of a proof, and of theorems against exact verdicts."""

from __future__ import annotations

from collections import Counter

from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from algebra.certificates.verification import Verification
from algebra.errors import InputError
from algebra.plugins.papers.audit import Audit, AuditResult
from matchprob.report.drawing.drawing import Drawing, Size
from matchprob.report.drawing.palette import ABSENT, BLUE, INK, SKY, VERMILION
from matchprob.report.drawing.style import SMALL, heading, tidy


def _checks(axes: Axes, found: Verification) -> None:
    tally = Counter(check.status for check in found.checks)
    names = list(tally)
    bars = axes.barh(names, [tally[name] for name in names], color=[_CHECKS[n] for n in names])
    axes.bar_label(bars, padding=2, fontsize=SMALL)
    axes.margins(x=0.08)
    axes.invert_yaxis()
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    tidy(axes, "checks")
    heading(axes, f"{found.verdict}: {found.outcome}")


_CHECKS = {
    "proved": BLUE, "probable": SKY, "unchecked": ABSENT,
    "unfinished": INK, "failed": VERMILION,
}  # fmt: skip


def _audit(axes: Axes, found: Audit | AuditResult) -> None:
    parts = [(a, t) for a in (found if isinstance(found, Audit) else [found]) for t in a.theorems]
    if not parts:
        raise InputError("no theorem speaks of these allocations: there is nothing to draw")
    names = [f"{t.theorem} ({a.matrix})" for a, t in parts]
    start = [0] * len(parts)
    for colour, values in (
        (BLUE, [t.agree for _, t in parts]),
        (ABSENT, [t.silent for _, t in parts]),
        (VERMILION, [t.wrong for _, t in parts]),
    ):
        axes.barh(names, values, left=start, color=colour)
        start = [a + b for a, b in zip(start, values, strict=True)]
    axes.invert_yaxis()
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    tidy(axes, "allocations")
    handles = [
        Patch(color=colour, label=label)
        for label, colour in (("agrees", BLUE), ("silent", ABSENT), ("wrong", VERMILION))
    ]
    heading(axes, "the theorems, as stated, against the exact verdict", handles)


def _audit_size(found: Audit | AuditResult) -> Size:
    parts = found if isinstance(found, Audit) else [found]
    return 6.5, 1.4 + 0.35 * max(1, sum(len(a.theorems) for a in parts))


DRAWINGS = {
    "Verification": Drawing(_checks, (5.0, 2.2)),
    "Audit": Drawing(_audit, _audit_size),
    "AuditResult": Drawing(_audit, _audit_size),
}
