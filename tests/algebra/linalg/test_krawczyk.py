"""Krawczyk's test on equations whose solutions are known."""

import pytest
from flint import acb, acb_mat, arb

from algebra.linalg.krawczyk import krawczyk_radii

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
