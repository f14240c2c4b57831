"""Rational instances solved exactly."""

import pytest
import sympy
from flint import fmpq

from algebra.arguments.no_real_root import ARGUMENT, PLACE
from algebra.arguments.solved_instances import find_witness, solve_exactly
from algebra.arguments.witness import Witness
from algebra.checker.checks import PROVED, CheckFailed
from algebra.checker.network_ranks import context_of
from algebra.systems.instances import rational_instance
from algebra.systems.root_count import generic_root_count
from matchprob import LinearRNN, Problem
from tests.arguments import checked
from tests.plain_data import changed, value_at, without
from tests.refusals import refuses
from tests.samples import DIAGONAL, many


def discriminant_sign(student, teacher, X):
    """Sign of b² − 4ac of the quadratic in W[0,0], by SymPy from the network itself."""
    net = DIAGONAL.network
    x, y = sympy.symbols("x y")
    rational = {
        k: sympy.Matrix(*v.shape, [sympy.Rational(int(e.p), int(e.q)) for e in v.ravel()])
        for k, v in student.items()
    }
    W = sympy.Matrix([[x, rational["W"][0, 1]], [rational["W"][1, 0], y]])
    goal = [
        (sum((teacher["D"] @ power @ teacher["B"]).ravel(), fmpq(0)))
        for power in (teacher["W"], teacher["W"] @ teacher["W"])
    ]
    assert net.T == 2
    D, B = rational["D"], rational["B"]
    first = (D * W * B)[0] - sympy.Rational(int(goal[0].p), int(goal[0].q))
    second = (D * W * W * B)[0] - sympy.Rational(int(goal[1].p), int(goal[1].q))
    quadratic = sympy.Poly(second.subs(y, sympy.solve(first, y)[0]), x)
    return sympy.sign(quadratic.discriminant())


def test_exact_counts_agree_with_the_discriminant():
    """B.1.1 diagonal: two real solutions if and only if the discriminant is positive."""
    for index in range(many(25)):
        student, teacher, X = rational_instance(DIAGONAL, 3, index)
        if (X[0, 0] * X[1, 1] - X[0, 1] * X[1, 0]) == 0:
            continue
        Y = DIAGONAL.network.forward(teacher, X)
        try:
            sign = discriminant_sign(student, teacher, X)
        except (IndexError, sympy.PolynomialError):
            continue
        found = solve_exactly(DIAGONAL, student, X, Y, 10)
        if found is not None and found.complex == 2:
            assert len(found.roots) == (2 if sign > 0 else 0)


def test_witness_has_no_real_solution():
    """The returned instance has N complex solutions and no real one."""
    roots = generic_root_count(DIAGONAL.allocation)
    witness, tried = find_witness(DIAGONAL, roots, 0, 20.0)
    assert witness is not None
    assert tried == ""
    assert (witness.complex, witness.real) == (2, 0)


MIXED = Problem(
    LinearRNN(n=3, T=2, b=1, d=2, m=2),
    {"W": [[0, 1, 0], [0, 0, 0], [0, 1, 0]], "B": [[0], [1], [0]], "D": [[0, 0, 1], [0, 0, 0]]},
)


@pytest.fixture(scope="module")
def witnesses(msolve):
    found = {}
    for name, problem in (("one unknown", DIAGONAL), ("several", MIXED)):
        roots = generic_root_count(problem.allocation, problem.support)
        witness, text = find_witness(problem, roots, 0, 20.0)
        assert witness is not None, text
        found[name] = (problem, witness.to_dict(), roots.value)
    return found


def said(problem, witness, expected):
    read = Witness.from_dict(witness, PLACE, context_of(problem))
    checks = checked(ARGUMENT, problem, read, roots=expected)[1]
    return [check for check in checks if check[0] != "evidence.root_count"]


@pytest.mark.parametrize("name", ["one unknown", "several"])
def test_true_witnesses_pass(name, witnesses):
    """All statements are proved; one by Sturm's theorem."""
    checks = said(*witnesses[name])
    assert {status for _, status, _ in checks} == {PROVED}
    assert "Sturm" in checks[1][2]


@pytest.mark.parametrize("name", ["one unknown", "several"])
def test_tampered_witnesses_fail(name, witnesses):
    """Another number, another label, other unknowns: each fails."""
    problem, witness, expected = witnesses[name]
    refuses("", said, problem, witness, expected + 2, error=CheckFailed)
    for place, value in (
        (("real",), 2),
        (("complex",), expected + 1),
        (("unknowns",), ["W_0_1"]),
        (("X", 0), ["0"] * problem.network.m),
    ):
        refuses("", said, problem, changed(witness, place, value), expected, error=CheckFailed)


def test_a_false_parametrization_fails(witnesses):
    """Points that do not solve the core, or that are not proper, are found."""
    problem, witness, expected = witnesses["several"]
    assert "parametrization" in witness
    place = ("parametrization", "numerators", 0, 0)
    moved = changed(witness, place, str(int(value_at(witness, place)) + 1))
    refuses("do not solve", said, problem, moved, expected, error=CheckFailed)
    fewer = without(witness, ("parametrization", "numerators", -1))
    refuses("proper parametrization", said, problem, fewer, expected, error=CheckFailed)
