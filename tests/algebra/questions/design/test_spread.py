"""The most spread allocations against brute force over all allocations of small nets."""

from itertools import combinations

import pytest

from algebra.questions.design.demand import checked_demand
from algebra.questions.design.result import fullest
from algebra.questions.design.spread import most_spread
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.ranks.jacobian import all_cells
from matchprob import Allocation, LinearEstimator, LinearFeedForward, LinearRNN
from tests.refusals import refuses

NETS = [
    LinearEstimator(q=3, d=2, m=2),
    LinearRNN(n=3, T=2, b=1, d=1, m=2),
    LinearRNN(n=2, T=3, b=1, d=2, m=1),
    LinearFeedForward(q=2, widths=(2,), d=2, m=2),
]


@pytest.mark.parametrize("line", ["row", "column", "matrix"])
@pytest.mark.parametrize("network", NETS, ids=str)
def test_brute_force(network, line):
    """No allocation that is not minimal has an emptier fullest line, must or no must."""
    cells = all_cells(network)
    size = network_rank(network).rank
    able = [
        allocation
        for chosen in combinations(cells, size)
        if allocation_rank(allocation := Allocation.from_cells(network, chosen)).rank == size
    ]
    for must in ([], cells[:2]):
        kept = [fullest(a, line) for a in able if set(must) <= set(a.cells)]
        if kept:
            found = most_spread(checked_demand(network, must=must, budget=size), line)
            assert found.value == found.bound == min(kept) == fullest(found.allocation, line)


def test_its_own_line_takes_no_cap():
    """A cap on the line that is spread is a contradiction; unknown lines are refused."""
    refuses("do not give one", most_spread, checked_demand(NETS[0], caps={"row": 2}))
    refuses("must be one of row, column, matrix", most_spread, checked_demand(NETS[0]), "diagonal")
