"""Rational instances solved exactly."""

import sympy
from flint import fmpq

from algebra.families.linear.witness import find_witness, solve_exactly
from algebra.systems.instances import rational_instance
from algebra.systems.root_count import generic_root_count
from tests.samples import DIAGONAL


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
    for index in range(25):
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
    assert (witness["complex"], witness["real"]) == (2, 0)
