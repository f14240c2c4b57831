"""More weights than equations: a part with odd N, in three rounds of counting."""

import pytest

from algebra.arguments import sub_allocation
from algebra.arguments.case import Case
from algebra.arguments.certify import generic_ranks
from algebra.arguments.order import Attempt
from algebra.arguments.sub_allocation import ARGUMENT, parts_of, search
from algebra.certificates.tools import Effort
from algebra.checker.checks import CheckFailed
from algebra.ranks.generic_rank import allocation_rank
from algebra.systems.root_count import RootCountError
from matchprob import Allocation, LinearRNN, Problem
from tests.arguments import checked
from tests.refusals import refuses
from tests.samples import NET

WHOLE = Problem(NET, {"W": [[1, 1], [1, 1]]})
# All parts of three weights have even N.
EVEN = Problem.of(
    Allocation.from_cells(
        LinearRNN(n=5, T=4, b=2, d=3, m=1),
        [("W", 0, 4), ("W", 3, 1), ("W", 3, 3), ("W", 4, 0), ("W", 4, 4)],
    )
)


def case_of(problem):
    return Case(problem, Effort(), generic_ranks(problem, 0), problem.features)


def rounds(case, number):
    """The results of so many searches."""
    for _ in range(number):
        case.begin(Attempt(ARGUMENT.name), ARGUMENT)
        yield search(case)


def test_a_row_is_maximal_in_the_whole():
    """Both weights of a row determine each other; the check counts the part again."""
    [found] = rounds(case_of(WHOLE), 1)
    assert found.verdict == "maximal"
    assert found.roots.value % 2 == 1
    assert allocation_rank(found.evidence, {}, 2, 1).rank == found.evidence.size == 2
    status, said = checked(ARGUMENT, WHOLE, found.evidence, equations=2, roots=found.roots.value)
    assert status in ("proved", "probable")
    assert said[0][0] == "evidence.sub_allocation"


def test_a_dependent_part_is_no_basis():
    """One weight is not as many as two equations."""
    part = Allocation.from_cells(NET, [("W", 0, 0)])
    refuses(
        "no basis", checked, ARGUMENT, WHOLE, part, equations=2, roots=1, error=CheckFailed
    )  # fmt: skip


def test_even_parts_are_counted_once(msolve):
    """Ten parts, none odd; a later round has nothing left to count."""
    case = case_of(EVEN)
    assert list(rounds(case, 3)) == [None, None, None]
    parts = parts_of(case)
    assert (parts.even, parts.left) == (10, [])
    assert case.tried[ARGUMENT.name].startswith("10 sub-allocations of 3 weights")


def test_what_is_out_of_reach_is_tried_again(monkeypatch):
    """A part that was not counted in time waits for the next round, and is named at the end."""
    tried = []

    def late(part, *args, **options):
        tried.append(part)
        raise RootCountError("too slow")

    monkeypatch.setattr("algebra.systems.root_count.generic_root_count", late)
    case = case_of(WHOLE)
    assert list(rounds(case, 2)) == [None, None]
    assert case.left_out
    assert "out of reach" in case.tried[ARGUMENT.name]
    assert len(tried) == 2 * len(set(tried))


@pytest.mark.parametrize("problem", [Problem(NET, {"W": [[1, 1], [0, 0]]})])
def test_without_surplus_there_are_no_parts(problem):
    """As many weights as equations are counted as a whole."""
    assert list(rounds(case_of(problem), 1)) == [None]
    assert sub_allocation.PLACE == "evidence.sub_allocation"
