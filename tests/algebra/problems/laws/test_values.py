"""Measured weights: which are accepted, which are exact numbers, and what is drawn."""

from fractions import Fraction
from math import nan

import numpy as np
import pytest
from flint import fmpq

from algebra.problems.files import problem_from_dict
from algebra.problems.laws.values import StudentSupport, Values, masks_of, pins, residue, restrict
from matchprob import Distribution, LinearRNN, Problem
from tests.refusals import refuses

NET = LinearRNN(n=2, T=2, b=1, d=1, m=2)
EYE = [[1, 0], [0, 1]]


def _problem(values, **more):
    return Problem(NET, {"W": EYE}, values=values, **more)


def test_numbers_are_exact():
    """Fractions and decimals are exact; missing entries are not measured."""
    values = Values.read({"W": [["1/3", "0.1"], [None, 0.25]], "B": [[nan], [" "]]}, NET)
    assert values.numbers == {
        ("W", 0, 0): Fraction(1, 3),
        ("W", 0, 1): Fraction(1, 10),
        ("W", 1, 1): Fraction(1, 4),
    }
    # In a file 0.1 is 1/10, not the double.
    data = {**Problem(NET, {"W": EYE}).to_dict(), "values": {"D": [[0.1, 1]]}}
    assert problem_from_dict(data).values.numbers["D", 0, 0] == Fraction(1, 10)


def test_which_weights_are_exact_numbers():
    """Measured weights are fixed without jitter; with relative jitter only a measured 0."""
    given = {"W": [[1, 2], [0, 4]], "D": [[0, "1/2"]]}
    assert set(pins(_problem(given).student())) == {
        ("W", 0, 1), ("W", 1, 0), ("D", 0, 0), ("D", 0, 1)
    }  # fmt: skip
    assert not pins(_problem({**given, "jitter": 0.1}).student())
    relative = _problem({**given, "jitter": {"relative": "1/10"}})
    assert set(pins(relative.student())) == {("W", 1, 0), ("D", 0, 0)}
    assert relative.values.pinned(())
    assert not Problem(NET, {"W": EYE}).values
    refuses("design is about generic weights", relative.need_generic, "design")


def test_values_survive_a_file():
    """A problem with measured weights is unchanged by plain data, and differs from one without."""
    for jitter in (0, "1/8", {"relative": 0.5}):
        problem = _problem({"W": [["1/3", None], [0, -2]], "jitter": jitter})
        assert problem_from_dict(problem.to_dict()) == problem
        assert problem.digest != Problem(NET, {"W": EYE}).digest
    assert "values" not in Problem(NET, {"W": EYE}).to_dict()


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"V": [[1]]}, "[values] names `V`"),
        ({"W": [[1, 2]]}, "it must be 2×2"),
        ({"W": [[1, "x"], [1, 1]]}, "`values.W[0][1]`: 'x' is no number"),
        ({"W": 3}, "must be rows of numbers"),
        ({"jitter": -1, "W": EYE}, "`values.jitter` (-1) must be a number, at least 0"),
        ({"jitter": {"share": 1}, "W": EYE}, "{ relative = number }"),
        ([1], "must map the names of matrices"),
    ],
)
def test_wrong_values(values, text):
    """Refused with the entry and the required form."""
    assert text in str(refuses("", _problem, values))


def test_values_go_with_zeros_and_signs():
    """No number but 0 at absent weights, none of the wrong sign, none with updates."""
    refuses("weight that does not exist", _problem, {"W": [[1, 2], [1, 1]]}, support={"W": EYE})
    kept = _problem({"W": [[1, 0], [0, 1]]}, support={"W": EYE})
    assert set(kept.values.numbers) == {("W", 0, 0), ("W", 1, 1)}
    refuses("its sign", _problem, {"W": [[1, 2], [1, 1]]}, distribution=Distribution(signs=[1, -1]))
    refuses("add a jitter", Problem, NET, {"W": {"lora": 1}}, values={"D": [[1, 1]]})


def test_restricting_a_student():
    """Zeros and numbers of a student, over any ring; a teacher has the zeros only."""
    support = StudentSupport({"W": np.array(EYE)}, {("W", 0, 0): Fraction(-1, 3)})
    student, teacher = {"W": np.full((2, 2), 5)}, {"W": np.full((2, 2), 5)}
    restrict(student, support, residue(101))
    restrict(teacher, masks_of(support), residue(101))
    assert student["W"].tolist() == [[-pow(3, -1, 101) % 101, 0], [0, 5]]
    assert teacher["W"].tolist() == [[5, 0], [0, 5]]
    assert support.bits == 2
    refuses("divisible by the prime", residue(3), fmpq(1, 3))
