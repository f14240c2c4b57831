"""Evidence of linear networks."""

from algebra.families.linear.evidence import circuit_reason
from algebra.ranks.generic_rank import allocation_rank
from matchprob import Allocation, LinearFeedForward


def test_dependent_weights_are_named():
    """Two blocks and a cell violate no budget; the circuit has rank one below its size."""
    network = LinearFeedForward(q=5, widths=(5,), d=3, m=3)
    cells = [("W1", i, j) for k in (0, 2) for i in (k, k + 1) for j in (k, k + 1)]
    allocation = Allocation.from_cells(network, [*cells, ("W1", 4, 4)])
    text = circuit_reason(allocation, {}, 0)
    assert text.startswith("no budget is violated, but these")
    named = text.split(": ")[1].split()
    assert f"these {len(named)} are dependent" in text
    part = [c for c in allocation.cells if f"W1[{c[1]},{c[2]}]" in named]
    assert len(part) == len(named)
    assert allocation_rank(Allocation.from_cells(network, part)).rank == len(part) - 1
