"""Krawczyk's test on equations whose solutions are known."""

import pytest
from flint import acb, acb_mat, arb, arb_mat, ctx

from algebra.linalg.krawczyk import ball, krawczyk_radii, newton_limit, part_of, regular_part

TINY = arb(2) ** -50


def quadratic(c):
    """x² − c."""
    return lambda x: (acb_mat(1, 1, [x[0] ** 2 - c]), acb_mat(1, 1, [2 * x[0]]))


def test_a_polydisc_holds_the_solution():
    """√2 and i lie in the balls about points near them, which hold no other root."""
    for c, near, root in ((2, acb(1.4142), acb(2).sqrt()), (-1, acb(1e-4, 0.9999), acb(0, 1))):
        [radius] = krawczyk_radii(quadratic(c), [near], (2, 64), TINY)
        assert abs(root - near) < radius
        assert abs(-root - near) > radius


@pytest.mark.parametrize(("c", "start"), [(2, 0.3), (2, 0.0), (0, 1e-3)])
def test_nothing_is_shown_without_a_simple_solution(c, start):
    """Far from a root, where the derivative vanishes, and near a double root."""
    assert krawczyk_radii(quadratic(c), [acb(start)], (2,), TINY) is None


def test_two_equations():
    """A circle and a line: the enclosed point satisfies both."""

    def at(z):
        x, y = z
        return acb_mat([[x**2 + y**2 - 1], [x - y]]), acb_mat([[2 * x, 2 * y], [acb(1), acb(-1)]])

    point = [acb(0.7071), acb(0.7072)]
    radii = krawczyk_radii(at, point, (4,), TINY)
    root = (acb(1) / 2).sqrt()
    assert all(abs(root - z) < q for z, q in zip(point, radii, strict=True))


def test_newton_converges_to_simple_solutions_only():
    """To √2 from a real and a complex point; not to the double root of x², nor where f' = 0."""
    with ctx.workprec(128):
        goal = arb(2) ** -76
        for start in (arb(1), acb(1, 0.1)):
            [found] = newton_limit(quadratic(2), [start], 20, goal, arb(1))
            assert abs(found - arb(2).sqrt()) < goal
        assert newton_limit(quadratic(0), [acb(0.5)], 200, goal, arb(0)) is None
        assert newton_limit(quadratic(2), [acb(0)], 20, goal, arb(1)) is None


def test_real_points_have_intervals():
    """About a real point the box is one of intervals: it holds √2."""

    def at(x):
        return arb_mat([[x[0] ** 2 - 2]]), arb_mat([[2 * x[0]]])

    [radius] = krawczyk_radii(at, [arb(1.4142)], (2,), TINY)
    assert ball(arb(1.4142), radius).contains(arb(2).sqrt())
    assert ball(acb(0), arb(1)).contains(acb(0.7, 0.7))


def test_regular_part():
    """Equations that are 0 are left out, unknowns with large slopes are taken; or None."""
    F = arb_mat([[1], [0], [2]])
    J = arb_mat([[0, 1, 3], [0, 0, 0], [0, 2, 6.5]])
    assert regular_part(F, J) == ([0, 2], [1, 2])
    assert regular_part(F, arb_mat([[0, 1, 3], [0, 0, 0], [0, 2, 6]])) is None
    assert regular_part(arb_mat([[0]]), arb_mat([[0, 0]])) == ([], [])
    assert regular_part(arb_mat([[1]]), arb_mat([[0, 0]])) is None
    at = part_of(
        lambda x: (arb_mat([[x[0] * x[1]]]), arb_mat([[x[1], x[0]]])), [2, arb(3)], [0], [1]
    )
    assert at([arb(5)])[0][0, 0] == 10
