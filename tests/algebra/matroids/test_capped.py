"""Problems under caps: their floor, parts of them, and which sets keep the caps."""

from itertools import combinations

import numpy as np
import pytest

from algebra.matroids.capped import CappedProblem

P = 101
COLUMNS = np.array([[1, 0, 1, 2, 3], [0, 1, 1, 5, 7]])
ROWS, LINES = ([0, 0, 1, 1, 1], [1, 2]), ([0, 1, 0, 1, 0], [2, 1])
ASKED = CappedProblem(COLUMNS, P, [ROWS, LINES], [4, -1, 2, 7, 3], 2)


def test_no_set_costs_less_than_the_floor():
    """The floor is the sum of the cheapest, without caps and independence."""
    costs = [sum(ASKED.costs[e] for e in chosen) for chosen in combinations(range(5), 2)]
    assert ASKED.floor == min(costs) == 1


@pytest.mark.parametrize("elements", list(combinations(range(5), 3)))
def test_caps_are_kept_or_not(elements):
    """They agree with the counts of each system."""
    fits = all(
        (np.bincount([group[e] for e in elements], minlength=2) <= caps).all()
        for group, caps in (ROWS, LINES)
    )
    assert ASKED.keeps_caps(elements) == fits


def test_a_part_keeps_its_elements_names():
    """Columns, costs and groups of the chosen elements; the caps do not change."""
    part = ASKED.inside([1, 4])
    assert part.columns.tolist() == [[0, 3], [1, 7]]
    assert list(part.costs) == [-1, 3]
    assert [list(group) for group, _ in part.systems] == [[0, 1], [1, 0]]
    assert [caps for _, caps in part.systems] == [[1, 2], [2, 1]]
    assert part.size == ASKED.size
    assert part.matroid.rank() == 2
