r"""The cheapest non-minimal allocation, or one of the largest rank within a cost budget.

An allocation is not minimal if and only if its columns of the generic Jacobian have the rank ρ of
the whole network's (`algebra.ranks.jacobian`): the non-minimal allocations of ρ weights are the
bases of a linear matroid.  Without caps a greedy choice is cheapest; with caps on the rows, or the
columns, or the matrices, weighted matroid intersection is used (`algebra.matroids.intersection`);
with several kinds of caps at once branch and bound (`algebra.matroids.branch_and_bound`).

Proof.  The matroid is computed at random points over GF(p).  Sets that are independent there are
independent generically, so the design is *certainly* not minimal.  That nothing cheaper exists: let
B be a cheapest generic basis, a set that does not depend on the random point.  Unless B is
dependent there, which happens with a probability below `deficit_error`, the design found at this
point costs no more than B.  With k independent points, of which the cheapest design is taken, the
bound is the k-th power.  At later points there is no new search if the first point's dual solution
(a weight splitting, or the leaves of a tree) holds there too.

**A cost budget.**  A design of rank k consists of k independent weights (and those that must learn
but are dependent).  The cheapest, of cost f(k), is computed in the same way, with sets of k columns
in place of bases: intersection and dual solutions bound sets of every size.  f is non-decreasing,
since a part of an independent set keeps the caps and costs no more (costs are not negative). So the
largest k with f(k) within the budget is found by bisection; f(k + 1) above the budget, or no k + 1
under the caps, proves it.  With the rank of the whole network MP > 0; with less, MP = 0.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from algebra.errors import InputError
from algebra.matroids.branch_and_bound import Tree
from algebra.matroids.capped import Dual
from algebra.matroids.intersection import Shortage
from algebra.matroids.optimum import TARGET, RelaxationMaker, optimum_over_points
from algebra.questions.design.demand import Demand, NoDesign, SearchUnfinished
from algebra.questions.design.reasons import crossing_text, shortage_text
from algebra.questions.design.result import (
    CostEvidence,
    Design,
    RankEvidence,
    allocation_of,
    design_of,
)
from algebra.questions.design.ties import spread_out

if TYPE_CHECKING:
    from algebra.questions.design.goals import SearchOptions


def cheapest(
    demand: Demand,
    relaxation: RelaxationMaker | None = None,
    seconds: float | None = None,
    *,
    goal: str = "cheapest",
) -> Design:
    """The cheapest allocation that is not minimal.

    Parameters
    ----------
    demand : Demand
    relaxation : callable, optional
        Makes the relaxation that guides the search if there are several kinds of caps, as
        `numeric.questions.design.cap_relaxation` does; its results are checked exactly.
    seconds : float, optional
        Time for the search; the result's bound says what was proved.
    goal : str, optional
        Name of the result.

    Raises
    ------
    NoDesign
        If no such allocation exists, with the reason.
    SearchUnfinished
        If none was found in time, and its absence was not proved either.

    Examples
    --------
    >>> from algebra.questions.design.demand import checked_demand
    >>> from algebra.networks.feedforward import LinearEstimator
    >>> net = LinearEstimator(q=3, d=2, m=2)
    >>> cheapest(checked_demand(net, costs={("W", 0, 0): 9})).allocation.row_counts("W")
    [2, 2]
    """
    best, points, error = optimum_over_points(demand, TARGET, relaxation, seconds)
    if best.elements is None:
        if best.bound is not None:
            raise SearchUnfinished(
                f"no allocation under these caps was found in {best.nodes} branches of the search, "
                "nor was it shown that there is none: raise `seconds`, or a cap"
            )
        if isinstance(best.dual, Shortage):
            raise NoDesign(shortage_text(best.dual, demand), best.dual)
        raise NoDesign(crossing_text(demand, best), best.dual)
    assert best.bound is not None
    proof = f"a weight splitting checks at {len(points)} random points"
    if isinstance(best.dual, Tree):
        leaves = len(best.dual.leaves)
        tree = "one set of multipliers" if leaves == 1 else f"a tree of {leaves} multiplier sets"
        proof = f"{tree} checks at {len(points)} random points"
    bound = Fraction(best.bound, demand.unit) + demand.cost(sorted(demand.must))
    return design_of(
        demand, allocation_of(demand, best.elements), goal, error, points,
        bound=bound, cost_bound=bound, proof=proof, evidence=CostEvidence(best.dual),
    )  # fmt: skip


def of_rank(demand: Demand, rank: int) -> Demand:
    """The demand with this rank in place of the network's."""
    return replace(demand, size=rank + demand.extra, equations=rank)


def largest_rank(
    demand: Demand,
    relaxation: RelaxationMaker | None = None,
    seconds: float | None = None,
) -> Design:
    """The cheapest of the allocations of the largest rank within the cost budget.

    Parameters
    ----------
    demand : Demand
        With a cost budget, and as many weights as equations.
    relaxation, seconds
        As for `cheapest`; `seconds` is for each rank that is tried.

    Raises
    ------
    NoDesign
        If no weight must learn, and not a single one fits the budget.

    Examples
    --------
    >>> from algebra.questions.design.demand import checked_demand
    >>> from algebra.networks.feedforward import LinearEstimator
    >>> demand = checked_demand(LinearEstimator(q=3, d=2, m=2), cost_budget=3)
    >>> largest_rank(demand).value
    Fraction(3, 1)
    """
    budget = demand.cost_budget
    if budget is None:
        raise InputError("goal 'rank' needs a cost budget: give `cost_budget`")
    if any(price < 0 for price in demand.prices.values()):
        raise InputError("`costs` must not be negative if there is a cost budget")
    least = len(demand.must) - demand.extra
    spent = demand.cost(sorted(demand.must))
    if spent > budget:
        raise NoDesign(
            f"the weights that must learn cost {spent}, more than the cost budget of {budget}"
        )

    def within_budget(rank: int) -> tuple[Design | None, Dual | None, bool]:
        """A design of this rank, the refutation if there is none, and whether it is refuted."""
        try:
            found = cheapest(of_rank(demand, rank), relaxation, seconds, goal="rank")
        except NoDesign as none:
            return None, none.dual, True
        except SearchUnfinished:
            return None, None, False
        if found.cost <= budget:
            return found, None, False
        assert isinstance(found.evidence, CostEvidence)
        return None, found.evidence.dual, found.cost_bound > budget

    best: Design | None = None
    # What must learn is a design itself, if there is anything.
    low, high = max(0, least - 1), demand.equations + 1
    refutations: dict[int, Dual | None] = {high: None}
    while high - low > 1:
        middle = (low + high) // 2
        found, dual, is_refuted = within_budget(middle)
        if found is not None:
            best, low = found, middle
        else:
            high = middle
            if is_refuted:
                refutations[middle] = dual
    if best is None:
        raise NoDesign(
            f"within the cost budget of {budget} no weight adds to the rank of those that must "
            f"learn (rank {least}, cost {spent})"
        )
    # Ranks that no search refuted may still be possible.
    bound = min(refutations) - 1
    proof = f"a rank of {low + 1} costs more than {budget} or violates a cap"
    # Each refutation is wrong with a probability below the target.
    error = best.error + TARGET
    if low == demand.equations:
        proof, error = f"the network's own rank is {low}", best.error
    return replace(
        best, error=error, value=Fraction(low), bound=Fraction(bound), proof=proof,
        measure="independent weights", evidence=_evidence(best, refutations.get(low + 1)),
    )  # fmt: skip


def _evidence(best: Design, refutation: Dual | None) -> RankEvidence:
    assert isinstance(best.evidence, CostEvidence)
    return RankEvidence(best.evidence.dual, refutation)


def search_cheapest(demand: Demand, options: SearchOptions) -> Design:
    """The search of goals "cheapest" and, within a cost budget, "rank"."""
    if demand.cost_budget is not None:
        return largest_rank(demand, options.relaxation, options.seconds)
    return spread_out(demand, cheapest(demand, options.relaxation, options.seconds))
