"""Maximal minors by hand, and against FLINT's determinants."""

from itertools import combinations

from flint import fmpz_mat
from hypothesis import given
from hypothesis import strategies as st

from algebra.linalg.minors import maximal_minors


def test_minors_by_hand():
    """Maximal minors without and with the last column, of a matrix of numbers."""
    assert maximal_minors([[1, 2], [3, 5], [7, 11]]) == ([1, 3, 7], [-1, -3, -2])
    assert maximal_minors([[1, 2, 0], [3, 5, 1]]) == ([-1], [])


@given(
    st.integers(1, 4).flatmap(
        lambda columns: st.lists(
            st.lists(st.integers(-9, 9), min_size=columns, max_size=columns),
            min_size=columns,
            max_size=5,
        )
    )
)
def test_minors_are_determinants(matrix):
    """One for each set of as many rows as there are columns, in any order."""
    chosen = combinations(matrix, len(matrix[0]))
    expected = sorted(int(fmpz_mat([list(row) for row in rows]).det()) for rows in chosen)
    assert sorted(maximal_minors(matrix)[1]) == expected
