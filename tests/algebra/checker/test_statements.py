"""Statements: what is shown, what is refused, and the words of an error."""

from fractions import Fraction
from itertools import count

import pytest

from algebra.arguments.recount import SolutionCount
from algebra.checker.checks import PROBABLE, PROVED, UNFINISHED, CheckFailed
from algebra.checker.root_evidence import Recount
from algebra.checker.statements import AtNewPoints, RankAtMost, bound_text, error_words, over_points


def said(statement, seed=5):
    """Status, and what was said: place, status and text."""
    lines = []
    return statement.stated(seed, lambda *words: lines.append(words)), lines


@pytest.mark.parametrize(
    ("error", "words"),
    [(Fraction(1, 1 << 70), "rank 3: error at most 2^-70"), (Fraction(0), "rank 3: proved")],
)
def test_a_rank_at_new_points(error, words):
    """A rank that is not larger there is probable, with its error, and proved if it meets a bound;
    the seed is handed over."""
    seeds = []

    def again(seed):
        seeds.append(seed)
        return 2, error

    status = PROBABLE if error else PROVED
    assert said(RankAtMost("rank", "rank 3:", 3, again)) == (status, [("rank", status, words)])
    assert seeds == [5]


def test_a_larger_rank_is_refused_at_its_place():
    """One point of larger rank refutes the statement, and nothing is said."""
    with pytest.raises(CheckFailed, match="a new point shows rank 4 > 3") as refused:
        said(RankAtMost("equations", "", 3, lambda seed: (4, Fraction(0))))
    assert refused.value.place == "equations"


def test_points_are_added_until_the_error_is_small():
    """Errors of points multiply; the number of points is said."""
    points = ((101, k) for k in count())
    found = AtNewPoints("evidence", "nothing", points, lambda p, k: Fraction(1, 8), Fraction(1, 50))
    text = "nothing: 2 new points, error at most 2^-6"
    assert said(found) == (PROBABLE, [("evidence", PROBABLE, text)])


def test_a_point_refutes():
    """What fails at a point fails."""

    def miss(p, number):
        raise CheckFailed("evidence", f"not at {number}")

    with pytest.raises(CheckFailed, match="not at 7"):
        AtNewPoints("evidence", "", iter([(101, 7)]), miss, Fraction(1, 2)).check()


@pytest.mark.parametrize(
    ("again", "status", "text"),
    [
        (Recount(6, "by minors", True), PROVED, "N = 6 again, by minors"),
        (Recount(6, "modulo 7"), PROBABLE, "N = 6 again, modulo 7"),
        (
            Recount(None, "no time", at_least=6),
            UNFINISHED,
            "N = 6 (given); not counted again: no time",
        ),
    ],
)
def test_a_number_of_solutions(again, status, text):
    """Counted again it is proved or probable; a count that did not end decides nothing."""
    statement = SolutionCount("evidence.root_count", 6, lambda: again, "given")
    assert said(statement) == (status, [("evidence.root_count", status, text)])


@pytest.mark.parametrize("again", [Recount(5, "modulo 7"), Recount(None, "found", at_least=7)])
def test_another_number_of_solutions_is_refused(again):
    """Another count refutes, and so do more solutions than claimed."""
    with pytest.raises(CheckFailed, match="not 6"):
        SolutionCount("evidence.root_count", 6, lambda: again, "given").check()


def test_errors_are_rounded_up():
    """The power of two is not below the error."""
    assert bound_text(Fraction(3, 1 << 32)) == "2^-30"
    assert error_words(Fraction(1, 3)) == "error at most 2^-1"


def test_as_many_points_as_the_error_asks_for():
    """The errors of points multiply; a check that fails ends it."""
    asked = []

    def check(p, number):
        asked.append(number)
        return Fraction(1, 10)

    points = ((7, k) for k in range(99))
    assert over_points(points, Fraction(1, 500), check) == (Fraction(1, 1000), 3)
    assert asked == [0, 1, 2]
