r"""The cheapest allocation that is not minimal.

An allocation is not minimal exactly where its columns of the generic Jacobian have the rank ρ of
the whole network's (`algebra.ranks.jacobian`): the non-minimal allocations of ρ weights are the
bases of a linear matroid.  Without caps a greedy choice is cheapest; with caps on the rows, or
the columns, or the matrices, weighted matroid intersection is
(`algebra.matroids.intersection`); with several kinds of caps at once a branch and bound is
(`algebra.matroids.branch_and_bound`).

What is proved.  The matroid is computed at random points over GF(p).  Sets that are independent
there are independent generically, so the design is *surely* not minimal.  That nothing cheaper
exists: let B be a cheapest basis generically, a set that does not depend on the random point.
Unless B is dependent there, which happens with a probability below `deficit_error`, the design
found at this point costs no more than B.  With k independent points, of which the cheapest
design is taken, the bound is its k-th power.  At the second point nothing is searched anew where
the first one's dual solution (a weight splitting, or the leaves of a tree) holds there too.
"""

from __future__ import annotations

from fractions import Fraction

from algebra.design.demand import Demand, NoDesign, SearchUnfinished
from algebra.design.evidence import CostEvidence
from algebra.design.goals import SearchOptions
from algebra.design.reasons import crossing_text, shortage_text
from algebra.design.result import Design, allocation_of, design_of
from algebra.matroids.branch_and_bound import Tree
from algebra.matroids.intersection import Shortage
from algebra.matroids.optimum import TARGET, RelaxationMaker, optimum_over_points


def cheapest(
    asked: Demand,
    relaxation: RelaxationMaker | None = None,
    seconds: float | None = None,
    *,
    goal: str = "cheapest",
) -> Design:
    """The cheapest allocation that is not minimal.

    Parameters
    ----------
    asked : Demand
    relaxation : callable, optional
        Makes the relaxation that guides the search where there are several kinds of caps
        (`numeric.cap_relaxation.linear_relaxation`); what it says is checked exactly.
    seconds : float, optional
        Time for that search; the bound of the result says what was reached.
    goal : str, optional
        Name of the result.

    Raises
    ------
    NoDesign
        Where no such allocation exists, with the reason.
    SearchUnfinished
        Where none was found in time, nor shown that there is none.

    Examples
    --------
    >>> from algebra.design.demand import demand
    >>> from algebra.networks.linear import LinearEstimator
    >>> net = LinearEstimator(q=3, d=2, m=2)
    >>> cheapest(demand(net, costs={("W", 0, 0): 9})).allocation.row_counts("W")
    [2, 2]
    """
    best, points, error = optimum_over_points(asked, TARGET, relaxation, seconds)
    if best.elements is None:
        if best.bound is not None:
            raise SearchUnfinished(
                f"no allocation under these caps was found in {best.nodes} branches of the search, "
                "nor was it shown that there is none: allow more with --seconds, or loosen a cap"
            )
        if isinstance(best.dual, Shortage):
            raise NoDesign(shortage_text(best.dual, asked), best.dual)
        raise NoDesign(crossing_text(asked, best), best.dual)
    assert best.bound is not None
    proof = f"a weight splitting checks at {len(points)} random points"
    if isinstance(best.dual, Tree):
        leaves = len(best.dual.leaves)
        tree = "one set of multipliers" if leaves == 1 else f"a tree of {leaves} multiplier sets"
        proof = f"{tree} checks at {len(points)} random points"
    bound = Fraction(best.bound, asked.unit) + asked.cost(sorted(asked.must))
    return design_of(
        asked, allocation_of(asked, best.elements), goal, error, points,
        bound=bound, cost_bound=bound, proof=proof, evidence=CostEvidence(best.dual),
    )  # fmt: skip


def search(asked: Demand, options: SearchOptions) -> Design:
    """The search of goal "cheapest"."""
    return cheapest(asked, options.relaxation, options.seconds)
