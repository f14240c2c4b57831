"""Designs against brute force over all allocations of small nets."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from algebra.linalg.numbers import float_text
from algebra.questions.design.cheapest import cheapest
from algebra.questions.design.demand import checked_demand, exact_price
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.ranks.jacobian import all_cells
from matchprob import Allocation, InputError, LinearEstimator, LinearFeedForward, LinearRNN
from tests.refusals import refuses

NETS = [
    LinearEstimator(q=3, d=2, m=2),
    LinearRNN(n=2, T=2, b=1, d=1, m=2),
    LinearRNN(n=3, T=2, b=1, d=1, m=2),
    LinearRNN(n=2, T=3, b=1, d=2, m=1),
    LinearFeedForward(q=2, widths=(2,), d=2, m=2),
]


def bases(network, cells):
    """All allocations of as many weights as equations that are not minimal."""
    whole = network_rank(network).rank
    for chosen in combinations(cells, whole):
        allocation = Allocation.from_cells(network, chosen)
        if allocation_rank(allocation, upper=whole).rank == whole:
            yield allocation


def fullest_row(allocation):
    return max(c for name in allocation.matrices for c in allocation.row_counts(name))


@pytest.mark.parametrize("network", NETS, ids=str)
def test_cheapest_is_the_brute_force_optimum(network):
    """With random costs, with and without caps on the rows."""
    rng = np.random.default_rng(0)
    cells = all_cells(network)
    costs = {cell: Fraction(int(rng.integers(0, 20)), 3) for cell in cells}
    found = cheapest(checked_demand(network, costs=costs))
    everything = list(bases(network, cells))
    price = {a: sum(costs[c] for c in a.cells) for a in everything}
    assert found.cost == min(price.values())
    assert found.allocation in everything
    assert found.error < Fraction(1, 1 << 30)
    assert found.is_optimal
    for number in (1, 2, 3):
        capped = [price[a] for a in everything if fullest_row(a) <= number]
        if not capped:
            with pytest.raises(InputError, match=r"independent equations|the caps permit"):
                cheapest(checked_demand(network, costs=costs, caps={"row": number}))
        else:
            design = cheapest(checked_demand(network, costs=costs, caps={"row": number}))
            assert design.cost == min(capped)
            assert design.largest["row"] <= number


def test_allowed_must_and_budget():
    """Only allowed weights, all required ones, in the demanded number, the cheapest of the rest."""
    network = LinearRNN(n=3, T=2, b=1, d=1, m=2)
    allowed = [("W", i, j) for i in range(3) for j in range(3)]
    costs = {cell: Fraction(k) for k, cell in enumerate(allowed)}
    design = cheapest(
        checked_demand(network, allowed=allowed, costs=costs, must=[("W", 2, 2)], budget=4)
    )
    assert design.allocation.size == 4
    assert ("W", 2, 2) in design.allocation.cells
    assert design.cost == 8 + 0 + 1 + 2


def test_impossible_demands():
    """Every impossible demand is refused with its reason."""
    network = LinearEstimator(q=3, d=2, m=2)
    one_row = [("W", 0, j) for j in range(3)] + [("W", 1, 0)]
    for words, demand in (
        (r"`budget` \(3\) is too small", {"budget": 3}),
        ("only 6 weights may learn, `budget` asks for 7", {"budget": 7}),
        ("is not a weight", {"must": [("W", 5, 5)]}),
        ("take part in only 3 of 4", {"allowed": one_row}),
        ("the caps permit 2 of the 6 allowed weights, and 4 are needed", {"caps": {"row": 1}}),
        ("must be one of row, column, matrix", {"caps": {"diagonal": 1}}),
    ):
        refuses(words, lambda demand=demand: cheapest(checked_demand(network, **demand)))


def test_bounds_are_rounded_up():
    """A bound's text is never below the bound."""
    for value in (Fraction(1, 3), Fraction(1, 1 << 60), Fraction(1234, 10**9)):
        assert Fraction(float_text(value)) >= value
    assert float_text(Fraction(0)) == "0"


def test_prices_are_exact_and_of_bounded_length():
    """Valid prices; an exponent is refused before it is expanded."""
    for value, price in (("3", 3), ("-1.50", Fraction(-3, 2)), (".5", Fraction(1, 2)),
                         ("2e3", 2000), ("1E-2", Fraction(1, 100)), (" 7/21 ", Fraction(1, 3)),
                         (0.1, Fraction(0.1)), (Fraction(2, 3), Fraction(2, 3))):  # fmt: skip
        assert exact_price(value) == price
    for bad in ("", "x", "1/0", "1/2/3", "1.5/2", "2e1/3", "nan", "inf", "1_000", "e5", ".", "0x1"):
        refuses("is no number", exact_price, bad)
    for long in ("1e1000000000", "1e-1000000000", "9" * 1500, "1/" + "9" * 1500, "1" * 10**7,
                 "1e" + "9" * 10**6, "1e1001"):  # fmt: skip
        refuses("more than 1000 digits", exact_price, long)
    refuses("more than 1000 digits", exact_price, 10**2000)
    for other in (True, None, [1], float("nan"), float("inf")):
        refuses(r"no price|not finite", exact_price, other)
    refuses("must be a whole number", checked_demand, NETS[0], caps={"row": 1.5})
    assert cheapest(checked_demand(NETS[0], caps={"row": 10**30})).cost == 4
