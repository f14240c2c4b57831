"""Disc arithmetic encloses: exact members of the inputs give members of the results."""

from __future__ import annotations

import numpy as np
import pytest
from flint import acb, acb_mat, arb, ctx

from numeric.chains import discs as balls


def members(rng, mid, rad):
    """Exact points of discs: the centre, and points on the rim."""
    angle = np.exp(2j * np.pi * rng.uniform(size=mid.shape))
    # A hair inside the rim, so that rounding of the point itself does not matter.
    return mid + rad * (1 - 1e-9) * angle


def exact(array):
    return acb_mat(array.shape[0], array.shape[1], [acb(z.real, z.imag) for z in array.ravel()])


def inside(value, mid, rad):
    return abs(value - acb(mid.real, mid.imag)) <= arb(float(rad))


@pytest.mark.parametrize("add", [False, True])
def test_matmul_encloses(add):
    """Products of members lie in the product's discs, also where much cancels."""
    rng = np.random.default_rng(0)
    ctx.prec = 200
    for scale in (1.0, 1e-8, 1e8):
        n, k, m = 3, 4, 2
        a = scale * (rng.standard_normal((n, k)) + 1j * rng.standard_normal((n, k)))
        b = rng.standard_normal((k, m)) + 1j * rng.standard_normal((k, m))
        a[:, 1], b[1] = -a[:, 0], b[0]
        ar, br = 1e-12 * rng.uniform(size=a.shape), 1e-3 * rng.uniform(size=b.shape)
        c = np.ones((n, m), complex)
        cr = np.full((n, m), 0.25)
        first = c.copy()
        out, rad = c.ravel().copy(), cr.ravel().copy()
        balls.matmul(a.ravel(), ar.ravel(), b.ravel(), br.ravel(), out, rad, n, k, m, add)
        for _ in range(20):
            x, y = members(rng, a, ar), members(rng, b, br)
            value = exact(x) * exact(y)
            if add:
                value = value + exact(members(rng, first, cr))
            for i in range(n):
                for j in range(m):
                    assert inside(value[i, j], out[i * m + j], rad[i * m + j])
    ctx.prec = 53


def test_approximate_inverse():
    """A regular matrix is inverted, a singular one refused."""
    rng = np.random.default_rng(1)
    J = rng.standard_normal((6, 6)) + 1j * rng.standard_normal((6, 6))
    C, work = np.zeros_like(J), np.zeros_like(J)
    assert balls.approximate_inverse(J, C, work)
    assert np.allclose(C @ J, np.eye(6))
    J[3] = 0
    assert not balls.approximate_inverse(J, C, work)


def test_newton_step_is_an_upper_bound():
    """|C F| of members is below the bound, which is not far above."""
    rng = np.random.default_rng(2)
    ctx.prec = 200
    C = rng.standard_normal((5, 5)) + 1j * rng.standard_normal((5, 5))
    f = 1e-9 * (rng.standard_normal(5) + 1j * rng.standard_normal(5))
    fr = 1e-12 * rng.uniform(size=5)
    step = np.zeros(5)
    balls.newton_step(C, f, fr, step)
    for _ in range(20):
        value = exact(C) * exact(members(rng, f, fr)[:, None])
        for v in range(5):
            assert abs(value[v, 0]) <= arb(float(step[v]))
    assert (step < 2 * np.abs(C @ f) + 1e-10).all()
    ctx.prec = 53


def test_contracts_says_what_balls_say():
    """The contraction test agrees with ball arithmetic, save for a narrow margin."""
    rng = np.random.default_rng(3)
    ctx.prec = 200
    n = 4
    room = np.zeros(n, complex), np.zeros((n, n)), np.zeros((n, n + 1), np.int64)
    verdicts = set()
    for trial in range(60):
        J = np.eye(n) * 2 + 0.3 * (rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n)))
        J[0, 2] = 0
        Jr = 10.0 ** rng.uniform(-12, 0) * rng.uniform(size=(n, n))
        Jr[0, 2] = 0
        C = np.linalg.inv(J)
        rho = rng.uniform(0.5, 1.5, n)
        step = rho * 10.0 ** rng.uniform(-6, 0)
        found = balls.contracts(C, J, Jr, rho, step, *room)
        boxes = acb_mat(
            n, n, [
                acb(arb(z.real, float(q)), arb(z.imag, float(q)))
                for z, q in zip(J.ravel(), Jr.ravel(), strict=True)
            ],
        )  # fmt: skip
        R = exact(C) * boxes
        bounds = []
        for i in range(n):
            total = arb(float(step[i]))
            for j in range(n):
                entry = R[i, j] - 1 if i == j else R[i, j]
                total += abs(entry).abs_upper() * arb(float(rho[j]))
            bounds.append(float(total.mid()) / rho[i])
        # Squares enclose discs and discs do not enclose squares: √2 lies between.
        if found:
            centre = exact(C) * exact(J)
            for i in range(n):
                least = float(step[i]) + sum(
                    float(abs(centre[i, j] - (1 if i == j else 0)).mid()) * rho[j] for j in range(n)
                )
                assert least < rho[i]
        if max(bounds) < 0.7:
            assert found
        verdicts.add((bool(found), trial >= 0))
    assert {v for v, _ in verdicts} == {True, False}
    ctx.prec = 53
