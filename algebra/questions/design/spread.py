"""The most spread allocation: its fullest row (or column) has the fewest learnable weights."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from algebra.errors import InputError
from algebra.given import known_name
from algebra.matroids.capped import Dual
from algebra.matroids.optimum import RelaxationMaker
from algebra.questions.design.cheapest import cheapest
from algebra.questions.design.demand import LINES, Demand, NoDesign, line_of
from algebra.questions.design.result import CostEvidence, Design, SpreadEvidence, fullest
from algebra.questions.design.ties import spread_out

if TYPE_CHECKING:
    from algebra.questions.design.goals import SearchOptions


def most_spread(
    demand: Demand,
    line: str = "row",
    relaxation: RelaxationMaker | None = None,
    seconds: float | None = None,
) -> Design:
    """The cheapest of the allocations whose fullest row (or column) has the fewest weights.

    Parameters
    ----------
    demand : Demand
        Without caps on the kind of `line`.
    line : {"row", "column", "matrix"}
    relaxation, seconds
        As for `algebra.questions.design.cheapest.cheapest`.

    Notes
    -----
    The smallest feasible cap is found by bisection: an infeasible cap is refused with a dual
    solution that proves it, so the next larger one is the smallest.

    Examples
    --------
    >>> from algebra.questions.design.demand import checked_demand
    >>> from algebra.networks.feedforward import LinearEstimator
    >>> most_spread(checked_demand(LinearEstimator(q=3, d=2, m=2))).value
    Fraction(2, 1)
    """
    known_name(line, "line", LINES)
    if any(kind == line for kind, _ in demand.caps):
        raise InputError(f"goal 'spread' finds the least cap of a {line}: do not give one")

    def under(number: int) -> Design:
        return cheapest(with_cap(demand, line, number), relaxation, seconds, goal="spread")

    low = least_cap(demand, line)
    reason = f"each {line} has at most one learnable weight"
    if low > 1:
        reason = f"{low} weights of one {line} must learn"
    refutation: Dual | None = None
    free = spread_out(demand, cheapest(demand, relaxation, seconds, goal="spread"))
    high = fullest(free.allocation, line)
    while low < high:
        middle = (low + high) // 2
        try:
            high = min(middle, fullest(under(middle).allocation, line))
        except NoDesign as none:
            low, refutation = middle + 1, none.dual
            reason = f"with one less, {none}"
    best = spread_out(demand, under(high))
    proof = reason
    if best.cost_bound < best.cost:
        proof += f"; its cost is {best.cost}, and at least {best.cost_bound} with as few"
    assert isinstance(best.evidence, CostEvidence)
    value = Fraction(high)
    return replace(
        best, value=value, bound=value, proof=proof, measure=f"weights in the fullest {line}",
        line=line, evidence=SpreadEvidence(best.evidence.dual, refutation),
    )  # fmt: skip


def least_cap(demand: Demand, line: str) -> int:
    """The least cap that the weights that must learn permit: 1 if none must."""
    return max(Counter(line_of(c, line) for c in demand.must).values(), default=1)


def with_cap(demand: Demand, line: str, number: int) -> Demand:
    """The demand with a further cap, in the order of `LINES`, as in every demand."""
    caps = {**dict(demand.caps), line: number}
    return replace(demand, caps=tuple((kind, caps[kind]) for kind in LINES if kind in caps))


def search_spread(demand: Demand, options: SearchOptions) -> Design:
    """The search of goal "spread"."""
    return most_spread(demand, options.line, options.relaxation, options.seconds)
