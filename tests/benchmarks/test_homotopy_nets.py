"""The nets on which engines are compared."""

import pytest

from algebra.problems.allocation import Allocation
from benchmarks.bench_homotopy import NETS
from numeric.equations.chain import make_chain


@pytest.mark.parametrize("name", NETS)
def test_paths_can_be_followed(name):
    """Each net has as many weights as equations, and generically independent ones."""
    network, cells = NETS[name]
    assert make_chain(Allocation.from_cells(network, cells)).unknowns == len(cells)
