"""Published dimensions: a sample of the table, with all defects, is computed again."""

import pytest

from benchmarks.published_dimensions import attention, attention_dimension, rank_of, rows

ROWS = rows()


def test_there_are_enough():
    """More than 500 rows, of twelve sources, few networks twice."""
    assert len({row.what for row in ROWS}) > 600
    assert len(ROWS) > 500
    assert len({row.source for row in ROWS}) == 12


@pytest.mark.parametrize("row", ROWS[::13] + [r for r in ROWS if r.source in ("KTB", "O")],
                         ids=lambda row: f"{row.source}: {row.what}")  # fmt: skip
def test_sample(row):
    """The computed dimension is the published one."""
    assert row.find() == row.published


def test_defects_of_sums_of_powers():
    """The four exceptions of Alexander and Hirschowitz above squares are among the rows."""
    found = [row for row in ROWS if row.what in
             ("x^4, widths (3, 5, 1)", "x^4, widths (4, 9, 1)", "x^4, widths (5, 14, 1)",
              "x^3, widths (5, 7, 1)")]  # fmt: skip
    assert [row.published for row in found] == [34, 14, 34, 69]
    assert all(row.find() == row.published for row in found)


def test_lightning_attention_has_one_less():
    """V and KᵀQ share a scale where no softmax fixes it."""
    for d, a in ((2, 1), (3, 2), (4, 4)):
        softmax = rank_of(attention(1, d, a, True))
        assert softmax == a * (2 * d - a) + d * d == attention_dimension(1, d, a, True)
        assert rank_of(attention(1, d, a, False)) == softmax - 1
