"""Goal "rank" against every subset of small networks, and its proof against forgeries."""

import copy
import json
import random
from fractions import Fraction
from itertools import combinations

import pytest

from algebra.questions.design.cheapest import cheapest, largest_rank
from algebra.questions.design.demand import NoDesign, checked_demand, line_of
from algebra.questions.design.proof import proof_of
from algebra.questions.design.verify import DESIGN
from algebra.ranks.generic_rank import allocation_rank
from algebra.ranks.jacobian import all_cells
from matchprob import Allocation, InputError, LinearEstimator, LinearRNN
from tests.samples import many

NET = LinearRNN(n=3, T=2, b=1, d=1, m=2)
CELLS = tuple(cell for cell in all_cells(NET) if cell[0] == "W")


def asked_of(seed):
    """A random demand with a cost budget."""
    rng = random.Random(f"budgeted/{seed}")
    network = rng.choice([NET, LinearEstimator(q=3, d=2, m=2), LinearRNN(n=2, T=2, b=2, d=2, m=2)])
    cells = [c for c in all_cells(network) if c[0] == "W"]
    costs = {cell: Fraction(rng.randint(1, 12), rng.choice([1, 2])) for cell in cells}
    caps = rng.choice([{}, {}, {"row": 2}, {"column": 1}, {"row": 2, "column": 2}])
    must = rng.sample(cells, rng.choice([0, 0, 1, 2]))
    if rng.random() < 0.3:
        # Fewer weights than equations, perhaps.
        cells = rng.sample(cells, rng.randint(1, 3))
    return checked_demand(
        network, allowed=cells, costs=costs, caps=caps, must=must, cost_budget=rng.randint(1, 20)
    )


def by_listing(demand):
    """The largest rank of all sets within the budget, and its least cost."""
    best = None
    for size in range(len(demand.must), demand.equations + 1):
        for cells in combinations(demand.cells, size):
            cost = demand.cost(cells)
            if not demand.must <= set(cells) or cost > demand.cost_budget:
                continue
            lines = [
                sum(line_of(c, line) == key for c in cells) <= number
                for line, number in demand.caps
                for key in {line_of(c, line) for c in cells}
            ]
            if not cells or not all(lines):
                continue
            allocation = Allocation.from_cells(demand.network, cells)
            rank = allocation_rank(allocation, demand.support, demand.equations).rank
            if rank:
                best = max(best or (0, Fraction(0)), (rank, -cost))
    return best


@pytest.mark.parametrize("seed", range(many(30)))
def test_nothing_in_the_budget_has_a_larger_rank(seed):
    """Rank and cost are those of the best of all sets; the proof file verifies."""
    try:
        demand = asked_of(seed)
    except InputError:
        return
    best = by_listing(demand)
    try:
        found = largest_rank(demand)
    except NoDesign:
        assert best is None
        return
    assert (found.value, -found.cost) == best
    assert found.is_optimal
    assert found.cost <= demand.cost_budget
    verified = DESIGN.verify(json.loads(json.dumps(proof_of(demand, found).to_dict())))
    assert verified.holds, str(verified)


def test_all_that_is_needed_is_the_cheapest():
    """A sufficient budget gives the cheapest allocation that is not minimal."""
    costs = {cell: 1 + k for k, cell in enumerate(CELLS)}
    plain = checked_demand(NET, allowed=CELLS, costs=costs)
    least = cheapest(plain).cost
    found = largest_rank(checked_demand(NET, allowed=CELLS, costs=costs, cost_budget=least))
    assert (found.value, found.cost) == (plain.equations, least)
    less = largest_rank(checked_demand(NET, allowed=CELLS, costs=costs, cost_budget=least - 1))
    assert less.value == plain.equations - 1


def test_forgeries_fail():
    """A smaller rank, a larger budget or evidence of another goal does not verify."""
    costs = {cell: 1 + k for k, cell in enumerate(CELLS)}
    demand = checked_demand(NET, allowed=CELLS, costs=costs, cost_budget=2)
    found = largest_rank(demand)
    assert found.value == 1
    true = json.loads(json.dumps(proof_of(demand, found).to_dict()))
    assert DESIGN.verify(true).holds
    for change in (
        {"cost_budget": "1000"},
        {"cost_budget": "0"},
        {"value": "2"},
        {"size": 2},
        {"cost_bound": "1000"},
        {"evidence": {**true["evidence"], "one_more": None}},
        {"goal": "cheapest"},
    ):
        data = {**copy.deepcopy(true), **change}
        assert not DESIGN.verify(data).holds, change


def test_what_must_learn_may_be_the_best():
    """Alone, or where fewer weights may learn than there are equations: with its rank and cost."""
    first = CELLS[:1]
    for more in ({"must": first}, {"allowed": first}, {"must": first, "allowed": first}):
        demand = checked_demand(NET, cost_budget=1, **more)
        found = largest_rank(demand)
        assert (found.value, found.cost, found.bound) == (1, 1, 1)
        assert DESIGN.verify(json.loads(json.dumps(proof_of(demand, found).to_dict()))).holds


def test_a_budget_below_what_must_learn():
    """The required weights alone cost too much, or no weight is affordable: the message says so."""
    costs = dict.fromkeys(CELLS, 5)
    with pytest.raises(NoDesign, match="must learn cost 5"):
        largest_rank(checked_demand(NET, allowed=CELLS, costs=costs, must=CELLS[:1], cost_budget=4))
    with pytest.raises(NoDesign, match="no weight adds to the rank"):
        largest_rank(checked_demand(NET, allowed=CELLS, costs=costs, cost_budget=4))
    with pytest.raises(InputError, match="not be negative"):
        largest_rank(checked_demand(NET, allowed=CELLS, costs={CELLS[0]: -1}, cost_budget=4))
    with pytest.raises(InputError, match="needs a cost budget"):
        largest_rank(checked_demand(NET, allowed=CELLS))
