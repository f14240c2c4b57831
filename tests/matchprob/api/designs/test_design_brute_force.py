"""Every goal against brute force over all allocations of every small net.

The atlas gives the verdict of every orbit; together its orbits contain all allocations.
"""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from algebra.families.certify import certify
from algebra.plugins.papers.atlas import atlas
from algebra.problems.symmetry import SymmetryGroup
from algebra.questions.design.maximal import NoneMaximal
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.ranks.jacobian import all_cells
from matchprob import Allocation, LinearRNN, Problem, design, estimate, repair, robust
from tests.refusals import refuses

# The atlas of nets with at most three hidden units: at most 126 allocations of W each.
NETS = [
    LinearRNN(n=n, T=T, b=b, d=d, m=m)
    for n, T, b, d, m in product((1, 2, 3), (2, 3), (1, 2), (1, 2), (1, 2, 3))
    if d * m <= min(6, max(1, n * n - 1))
]
QUICK = [
    LinearRNN(n=2, T=2, b=1, d=1, m=2),
    LinearRNN(n=3, T=2, b=1, d=1, m=2),
    LinearRNN(n=3, T=3, b=1, d=1, m=3),
]
PLACE = {"row": 1, "column": 2}
# Racing all designs of the one larger net without a maximal one takes ten minutes.
_LARGEST_RACE = 4


def verdicts_of_all(network):
    """All allocations of as many weights of W as there are equations, with their verdicts."""
    size = network_rank(network).rank
    group = SymmetryGroup(network, ["W"])
    found = atlas(
        network, size, matrices=["W"], decide=lambda p: certify(p, search=0.0, timeout=20.0)
    )
    verdicts = {}
    position = {cell: k for k, cell in enumerate(group.cells)}
    for entry in found.entries:
        for image in group.orbit([position[c] for c in entry.cells]):
            verdicts[tuple(group.cells[k] for k in image)] = entry.verdict
    return verdicts


def fullest(cells, line):
    """The largest number of cells in one row, or column."""
    keys = [c[PLACE[line]] for c in cells]
    return max(keys.count(k) for k in keys)


def lines(cells, line):
    """The number of rows, or columns, with a cell."""
    return len({c[PLACE[line]] for c in cells})


def check_goals(network, seed):
    """Compare the design of every goal, with random costs, with the best of all allocations."""
    verdicts = verdicts_of_all(network)
    size = len(next(iter(verdicts)))
    rng = np.random.default_rng(seed)
    cells = [c for c in all_cells(network) if c[0] == "W"]
    costs = {cell: Fraction(int(rng.integers(1, 25)), 2) for cell in cells}
    problem = Problem(network, {})

    def price(chosen):
        return sum(costs[c] for c in chosen)

    def designed(**options):
        return design(problem, matrices=["W"], costs=costs, **options)

    able = [chosen for chosen, verdict in verdicts.items() if verdict != "minimal"]
    if not able:
        refuses("no allocation", designed)
        return
    assert designed().cost == min(map(price, able))
    for row, column in product((1, 2, None), (1, 2, None)):
        caps = {line: k for line, k in (("row", row), ("column", column)) if k is not None}
        kept = [c for c in able if all(fullest(c, line) <= k for line, k in caps.items())]
        if kept:
            found = designed(caps=caps)
            assert found.cost == min(map(price, kept))
            assert found.is_optimal
        else:
            refuses("no allocation", designed, caps=caps)
    for line in ("row", "column"):
        spread = designed(goal="spread", line=line)
        best = min((fullest(c, line), price(c)) for c in able)
        assert (spread.value, spread.cost) == best
        few = designed(goal="neurons", line=line)
        assert (few.value, few.cost) == min((lines(c, line), price(c)) for c in able)
        assert few.is_optimal
    best = [price(c) for c in able if verdicts[c] == "maximal"]
    if best:
        found = designed(goal="maximal")
        assert found.cost == min(best)
        assert found.is_optimal
        assert verdicts[found.allocation.cells] == "maximal"
        probable = designed(goal="probable")
        assert probable.value == 1
        assert verdicts[probable.allocation.cells] == "maximal"
    else:
        refuses("", designed, goal="maximal", error=NoneMaximal)
        if size > _LARGEST_RACE:
            check_repairs(network, verdicts, able, size)
            return
        probable = designed(goal="probable", candidates=200, trials=256)
        assert probable.design.exhaustive
        # Renaming units does not change MP: one estimate of many trials for each orbit.
        group = SymmetryGroup(network, ["W"])
        first = {c: group.canonical(Allocation.from_cells(network, c)) for c in able}
        long = {a: estimate(Problem.of(a), 300, seed=5).estimate for a in set(first.values())}
        assert long[first[probable.allocation.cells]] >= max(long.values()) - 0.1
    check_repairs(network, verdicts, able, size)


def check_repairs(network, verdicts, able, size):
    """Compare repairs with the nearest allocations, and robustness with all losses of weights."""
    maximal = [set(c) for c in able if verdicts[c] == "maximal"]
    done = set()
    for chosen, verdict in verdicts.items():
        if (verdict, lines(chosen, "row"), lines(chosen, "column")) in done:
            continue
        done.add((verdict, lines(chosen, "row"), lines(chosen, "column")))
        problem = Problem.of(Allocation.from_cells(network, chosen))
        for goal, targets in (("positive", [set(c) for c in able]), ("maximal", maximal)):
            if not targets:
                continue
            done_repair = repair(problem, goal=goal, forbidden=[], seconds=30.0)
            moves = done_repair.repair.moves if done_repair.repair else 0
            assert moves == min(len(set(chosen) - t) for t in targets)
            good = {"maximal"} if goal == "maximal" else {"maximal", "intermediate", "undecided"}
            assert done_repair.after.verdict in good
    cells = [c for c in all_cells(network) if c[0] == "W"]
    if size + 1 <= len(cells):
        base = next(iter(able))
        more = [*base, next(c for c in cells if c not in base)]
        allocation = Allocation.from_cells(network, more)
        found = robust(Problem.of(allocation))
        smallest = next(
            k
            for k in range(1, size + 2)
            if any(
                allocation_rank(allocation.without(lost)).rank < size
                for lost in combinations(more, k)
            )
        )
        assert found.is_exact
        assert found.survives == smallest - 1


@pytest.mark.parametrize("network", QUICK, ids=str)
def test_every_goal_is_the_brute_force_optimum(network):
    """All goals, repairs and losses agree with the best of all allocations of three small nets."""
    check_goals(network, seed=0)


@pytest.mark.long
@pytest.mark.parametrize("network", NETS, ids=str)
def test_every_goal_on_every_net_of_the_atlas(network):
    """They agree for every net with up to three hidden units, with other costs."""
    check_goals(network, seed=1)
