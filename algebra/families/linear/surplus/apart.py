"""Arguments that stand beside no other, and have a count of their own."""

from __future__ import annotations

from collections.abc import Callable

from algebra.families.linear.surplus.critical import check_critical
from algebra.families.linear.surplus.infinity import check_infinity
from algebra.families.linear.surplus.partial_products import check_fixed_products

# By the name of the evidence: its check, and what follows, for MP = 1, and perhaps for MP < 1.  A
# check takes problem, evidence, number of equations, seed, seconds and `say`; it returns a status.
APART: dict[str, tuple[Callable[..., str], *tuple[str, ...]]] = {
    "at_infinity": (
        check_infinity,
        "an odd number of solutions at infinity, so a real one is always near: MP = 1",
    ),
    "partial_products": (
        check_fixed_products,
        "an odd number of students with fixed entries, so one is real: MP = 1",
    ),
    "critical_points": (
        check_critical,
        "an odd number of critical points of the distance, so one is real: MP = 1",
        "not minimal, so MP > 0; near the instance no real student is nearest to a point: MP < 1",
    ),
}
