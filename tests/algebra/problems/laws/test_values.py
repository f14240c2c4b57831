"""Measured weights: which are accepted, which are exact numbers, and what is drawn."""

import json
import random
from fractions import Fraction
from math import nan, prod

import numpy as np
import pytest
from flint import fmpq, fmpz

from algebra.families.certify import certify
from algebra.families.verify import verify
from algebra.linalg.primes import ChosenNumbers, random_prime
from algebra.problems.files import problem_from_dict
from algebra.problems.laws.pinned import (
    StudentSupport,
    given_numbers,
    masks_of,
    pins,
    prime_for,
    residue,
    restrict,
)
from algebra.problems.laws.values import Values
from algebra.questions.premises import need_generic
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
    refuses("design is about generic weights", need_generic, relative, "design")


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


def test_primes_divide_no_given_number():
    """Neither numerators nor denominators, not even if they contain every prime tried before."""
    used, primes = 1, []
    for _ in range(5):
        support = StudentSupport({}, {("B", 0, 0): Fraction(used, 2**40 * (used + 2))})
        p = prime_for(support, random.Random("a"))
        assert used % p
        assert (used + 2) % p
        assert 0 <= residue(p)(fmpq(used, used + 2)) < p
        primes.append(p)
        used *= p
    # The primes depend on the numbers, too: nobody knows them beforehand.
    assert len(set(primes)) == 5


def test_short_primes_that_all_divide_are_replaced_by_longer_ones():
    """A product of all primes of one length leaves none of this length, and the next is used."""
    every = prod(p for p in range(2**22 + 1, 2**22 + 4000, 2) if fmpz(p).is_prime())
    given = ChosenNumbers(frozenset({every}), "digest")
    assert all(every % given.prime(random.Random(k), 23) for k in range(20))
    assert given_numbers({}).prime(random.Random("a")) == random_prime(random.Random("a"))


@pytest.mark.parametrize("text", ["1/1258385021", "1519908349/1519908350", "1314864601/1314864602"])
def test_values_that_contain_default_primes_change_no_verdict(text):
    """With such a value N is 2, and the genuine file holds; a claimed N of 1 does not."""
    problem = _problem({"B": [[text], [1]]})
    data = json.loads(json.dumps(certify(problem).to_dict()))
    assert (data["verdict"], data["generic_root_count"]) == ("intermediate", 2)
    assert verify(data).holds
    evidence = {
        **data["evidence"],
        "root_count": {**data["evidence"]["root_count"], "value": 1, "blocks": []},
    }
    del evidence["no_real_root"]
    false = {**data, "verdict": "maximal", "generic_root_count": 1, "evidence": evidence}
    checks = verify(false).checks
    assert (checks[-1].status, checks[-1].place) == ("failed", "evidence.root_count")
