"""Variants of a problem file: one entry takes several values."""

import pytest

from algebra.problems.variants import read_variants, variants
from matchprob import LinearRNN, Problem, RandomCells
from tests.refusals import refuses
from tests.samples import DIAGONAL

FILE = """
[network]
kind = "lrnn"
n = 4
T = 2
b = 1
d = 1
m = 2
[learnable]
W = { random = { budget = 2 } }
"""


def test_an_entry_of_a_file(tmp_path):
    """A name that is unique, or a place; sizes, numbers of random cells and laws."""
    path = tmp_path / "random.toml"
    path.write_text(FILE, encoding="utf-8")
    assert [p.network.n for p in variants(path, "n", (3, 5))] == [3, 5]
    budgets = [p.learnable["W"].budget for p in variants(path, "budget", (1, 2))]
    assert budgets == [1, 2]
    laws = variants(path, "distribution.weights", ("normal", "uniform"))
    assert [p.distribution.weights for p in laws] == ["normal", "uniform"]
    (scaled,) = variants(path, "distribution.scale.W", ("1/2",))
    assert scaled.distribution.scale["W"] == 1 / 2


def test_an_entry_of_a_problem():
    """A problem has the entries that its file would have."""
    problem = Problem(LinearRNN(n=3, T=2, b=1, d=1, m=2), {"W": RandomCells(budget=2)})
    assert [p.network.n for p in variants(problem, "n", (3, 6))] == [3, 6]


@pytest.mark.parametrize(
    "text", ["n", "n=", "n=1,,2", "=3", "n=2,2", 3, "n=" + ",".join(map(str, range(2_000)))]
)
def test_what_is_no_list_of_values(text):
    """The message echoes it."""
    refuses("`sweep`", read_variants, text)


def test_entries_that_are_refused(tmp_path):
    """No such entry, one of several, a value that the problem does not take: each by its name."""
    refuses("no entry `q`", variants, DIAGONAL, "q", (1,))
    refuses("no entry `network`", variants, DIAGONAL, "network", (1,))
    refuses("weights = 'cauchy'", variants, DIAGONAL, "distribution.weights", ("cauchy",))
    refuses("n = 3: `learnable.W` is 2", variants, DIAGONAL, "n", (3,))
    refuses("n = -1", variants, DIAGONAL, "n", (-1,))
    path = tmp_path / "two.toml"
    path.write_text(FILE + "B = { random = { budget = 1 } }\n", encoding="utf-8")
    refuses("learnable.W.random.budget", variants, path, "budget", (1,))
    refuses("no such file", variants, tmp_path / "none.toml", "n", (1,))
