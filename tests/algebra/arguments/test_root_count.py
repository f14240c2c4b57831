"""As many weights as equations: maximal if N is odd."""

import pytest

from algebra.arguments.root_count import ARGUMENT
from algebra.checker.checks import CheckFailed
from algebra.families.certify import certify
from algebra.families.verify import verify
from matchprob import Allocation, LinearRNN, Problem
from tests.arguments import checked
from tests.plain_data import data_of
from tests.refusals import refuses
from tests.samples import DIAGONAL, ROW

# 27 solutions.
CYCLE = Problem.of(
    Allocation.from_cells(
        LinearRNN(n=4, T=3, b=1, d=2, m=2), [("W", 0, 1), ("W", 1, 2), ("W", 2, 0), ("W", 3, 3)]
    )
)


@pytest.mark.parametrize(("problem", "number"), [(ROW, 1), (CYCLE, 27)])
def test_odd_numbers_are_maximal(msolve, problem, number):
    """One solution, and twenty-seven; the sentence names them, and the file verifies."""
    found = certify(problem)
    assert (found.verdict, found.generic_root_count) == ("maximal", number)
    assert set(found.evidence) == {"network_rank", "allocation_rank", "root_count"}
    assert ("exactly one" if number == 1 else "N = 27") in found.why
    assert verify(data_of(problem)).holds


def test_even_numbers_decide_nothing():
    """The diagonal has N = 2: the check refuses it as an argument for MP = 1."""
    found = certify(DIAGONAL, search=0)
    assert (found.verdict, found.generic_root_count) == ("undecided", 2)
    refuses("even", checked, ARGUMENT, DIAGONAL, roots_of(2), error=CheckFailed)


def test_another_odd_number_is_counted_again():
    """N = 3 of the diagonal is false."""
    refuses("counted again", checked, ARGUMENT, DIAGONAL, roots_of(3), error=CheckFailed)


def roots_of(number):
    """A claimed count."""
    from algebra.checker.root_evidence import RootEvidence

    return RootEvidence(number, "quotient degree", "B", (number,), (), 0)
