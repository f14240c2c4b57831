"""Parities agree with certificates, are counted once for each orbit, and may be unknown."""

from itertools import combinations

from algebra.families.certify import certify
from algebra.questions.design.demand import checked_demand
from algebra.questions.design.odd_counts import ParityCounter
from algebra.ranks.jacobian import all_cells
from matchprob import Allocation, LinearRNN, Problem

NET = LinearRNN(n=3, T=2, b=1, d=1, m=2)
CELLS = [c for c in all_cells(NET) if c[0] == "W"]


def test_parities_agree_with_certificates():
    """Odd exactly where the certificate says maximal; one count for each orbit."""
    parity = ParityCounter(checked_demand(NET, allowed=CELLS), 10.0)
    for pair in combinations(CELLS, 2):
        one = Allocation.from_cells(NET, pair)
        found = parity(one)
        verdict = certify(Problem.of(one), search=0.0).verdict
        assert found.odd == (verdict == "maximal")
        assert found.text.startswith("N = ")
    assert len(parity.known) < 36 / 3


def test_more_weights_than_equations_rest_on_a_part():
    """If more weights learn than needed, some of them have the odd root count."""
    parity = ParityCounter(checked_demand(NET, allowed=CELLS, budget=4), 10.0)
    found = parity(Allocation.from_cells(NET, CELLS[:4]))
    assert found.odd
    assert found.text.startswith("2 of the weights have N = 1")


def test_what_takes_too_long_is_unknown():
    """A root count that is too expensive is neither odd nor even."""
    net = LinearRNN(n=8, T=4, b=1, d=4, m=4)
    diagonal = [("W", i, (i + k) % 8) for i in range(8) for k in (0, 3)]
    parity = ParityCounter(checked_demand(net), 0.01)
    assert parity.group is None
    assert parity(Allocation.from_cells(net, diagonal)).odd is None
