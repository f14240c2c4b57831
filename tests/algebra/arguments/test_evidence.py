"""Evidence of linear networks in files: one argument at most, for its verdict, drawable numbers."""

import numpy as np
import pytest
from flint import fmpq

from algebra.arguments.evidence import need_drawn, read_argued
from algebra.checker.checks import CheckFailed
from algebra.checker.claim import Claim
from algebra.problems.laws.distribution import Distribution
from matchprob import LinearRNN, Problem
from numeric.trials.instances import draw_instance
from tests.plain_data import changed, data_of
from tests.refusals import refuses
from tests.samples import DIAGONAL, NET, ROW, SEVEN


@pytest.fixture(scope="module")
def between():
    return data_of(DIAGONAL)


def read(data):
    """The evidence of a file."""
    return read_argued(Claim.from_dict(data, ""))


def test_the_argument_of_a_file_is_found(between):
    """By the name of its evidence; N and ranks alone are no argument."""
    found = read(between)
    assert found.argument.name == "no_real_root"
    assert isinstance(found.value, found.argument.form)
    assert found.ranks.root_count.value == 2
    for problem in (ROW, SEVEN):
        other = read(data_of(problem))
        assert (other.argument, other.value) == (None, None)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("whole_column", 0, "has no place|does not belong"),
        ("teacher_reached", {}, "has no place|does not belong"),
        ("oracle", 1, ""),
    ],
)
def test_other_evidence_beside_it_is_refused(between, name, value, words):
    """A second argument, one for another verdict, and a name that is none."""
    forged = changed(between, ("evidence", name), value)
    refuses(words, read, forged, error=CheckFailed)


def test_an_argument_is_for_its_verdicts(between):
    """What shows MP < 1 has no place beside "maximal" or "minimal"."""
    for verdict in ("maximal", "minimal"):
        failure = refuses(verdict, read, changed(between, ("verdict",), verdict), error=CheckFailed)
        assert failure.place == "evidence.no_real_root"


def rationals(matrices):
    """Matrices of doubles as exact numbers."""
    exact = np.frompyfunc(lambda value: fmpq(*float(value).as_integer_ratio()), 1, 1)
    return {name: exact(matrix) for name, matrix in matrices.items()}


def test_instances_that_can_be_drawn():
    """Those that are drawn pass; a structural zero or a sign that is broken is named."""
    learn, mask = {"W": [[1, 0], [0, 0]]}, {"W": [[1, 1], [0, 1]]}
    problem = Problem(NET, learn, mask, Distribution(signs={"D": [[1, -1]]}))
    drawn = draw_instance(problem, 0, 0)
    weights, teacher = rationals(drawn.weights), rationals(drawn.teacher)
    need_drawn(problem, weights, teacher, "evidence.no_real_root")
    for name, cell, value in (("W", (1, 0), 1), ("D", (0, 1), 2)):
        wrong = {n: m.copy() for n, m in teacher.items()}
        wrong[name][cell] = fmpq(value)
        failure = refuses("", need_drawn, problem, weights, wrong, "witness", error=CheckFailed)
        assert failure.place.startswith(f"witness.teacher.{name}")


def test_exact_numbers_of_a_problem_are_those_of_the_instance():
    """A pinned weight has its value in the student; the teacher is free."""
    net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    problem = Problem(net, {"W": [[1, 0], [0, 1]]}, values={"B": [[0.5], [2]]})
    drawn = draw_instance(problem, 0, 0)
    weights, teacher = rationals(drawn.weights), rationals(drawn.teacher)
    need_drawn(problem, weights, teacher, "witness")
    weights["B"][0, 0] = fmpq(3)
    failure = refuses("", need_drawn, problem, weights, teacher, "witness", error=CheckFailed)
    assert failure.place.startswith("witness.weights")
