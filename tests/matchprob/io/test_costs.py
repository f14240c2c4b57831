"""Costs and marks from tables and edge lists."""

from fractions import Fraction

import pytest

from algebra.networks.feedforward import LinearEstimator
from algebra.problems.names import Names
from matchprob.io.costs import read_cells, read_costs
from tests.refusals import refuses

NAMES = Names(LinearEstimator(q=2, d=2, m=2), {"inputs": ["PV", "SST"]})


@pytest.fixture
def write(file):
    """A function from a table to the option that names its file."""
    return lambda text: [f"W={file(text, 't.csv')}"]


def test_costs_are_exact(write):
    """Decimals and fractions are read exactly, from a table and from an edge list."""
    table = read_costs(write("1,5/2\n0.1,4\n"), NAMES)
    assert table["W", 0, 1] == Fraction(5, 2)
    assert table["W", 1, 0] == Fraction(1, 10)
    edges = read_costs(write("pre,post,cost\n1,0,5/2\n0,1,0.1\n"), NAMES)
    assert edges == {("W", 0, 1): Fraction(5, 2), ("W", 1, 0): Fraction(1, 10)}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1,2\n", "1×2, but W is 2×2"),
        ("1,2\n3\n", "different lengths"),
        ("1,2\n3,x\n", "row 1, column 1"),
        ("pre,post\n0,1\n", "needs a column `cost`"),
        ("pre,post,cost\n0,9,1\n", "`post` 9 is outside"),
    ],
)
def test_costs_of_another_shape_are_refused(write, text, words):
    """Tables of another shape, bad entries and incomplete edge lists are refused."""
    refuses(words, read_costs, write(text), NAMES)


def test_marks_of_weights(write):
    """A 1 in a table, or an edge, marks a weight; other entries and missing files are refused."""
    assert read_cells(write("0,1\n0,0\n"), NAMES) == [("W", 0, 1)]
    assert read_cells(write("pre,post\n0,1\n"), NAMES) == [("W", 1, 0)]
    refuses("is not 0 or 1", read_cells, write("0,2\n0,0\n"), NAMES)
    refuses("no matrix 'V'", read_cells, ["V=x.csv"], NAMES)
    refuses(r"--must .*No such file", read_cells, ["W=nowhere.csv"], NAMES)
