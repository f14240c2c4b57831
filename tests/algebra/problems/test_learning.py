"""All that learns: cells first, then the parameters of updates."""

import pytest

from algebra.errors import InputError
from algebra.problems.problem import Problem
from tests.algebra.problems.test_updates import NET


def test_cells_and_updates_together():
    """Parameters are the cells first; what moves is a union of masks; questions of cells refuse."""
    problem = Problem(NET, {"W": {"gain": "rows"}, "D": [[1, 0, 0], [0, 0, 1]]})
    learning = problem.learning
    assert learning.names == ["D[0,0]", "D[1,2]", "g_W[0]", "g_W[1]", "g_W[2]"]
    assert learning.size == learning.dimension == 5
    assert learning.moving.size == 2 + 9
    assert learning.matrices == ("D", "W")
    with pytest.raises(InputError, match=r'W learns by \{ gain = "rows" \}: this question'):
        _ = problem.allocation
