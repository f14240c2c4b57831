"""The compiled parts of Krawczyk's test agree with balls of high precision."""

import numpy as np
from flint import acb, acb_mat, arb, ctx

from numeric.certification import krawczyk_kernel as kernel
from numeric.equations.discs import Discs
from tests.numeric.equations.test_discs import exact, members


def test_approximate_inverse():
    """A regular matrix is inverted, a singular one refused."""
    rng = np.random.default_rng(1)
    J = rng.standard_normal((6, 6)) + 1j * rng.standard_normal((6, 6))
    C, work = np.zeros_like(J), np.zeros_like(J)
    assert kernel.approximate_inverse(J, C, work)
    assert np.allclose(C @ J, np.eye(6))
    J[3] = 0
    assert not kernel.approximate_inverse(J, C, work)


def test_newton_step_is_an_upper_bound():
    """|C F| of members is below the bound, which is only slightly larger."""
    rng = np.random.default_rng(2)
    ctx.prec = 200
    C = rng.standard_normal((5, 5)) + 1j * rng.standard_normal((5, 5))
    f = 1e-9 * (rng.standard_normal(5) + 1j * rng.standard_normal(5))
    fr = 1e-12 * rng.uniform(size=5)
    step = np.zeros(5)
    kernel.newton_step(C, Discs(f, fr), step)
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
    verdicts = set()
    for trial in range(60):
        J = np.eye(n) * 2 + 0.3 * (rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n)))
        J[0, 2] = 0
        Jr = 10.0 ** rng.uniform(-12, 0) * rng.uniform(size=(n, n))
        Jr[0, 2] = 0
        C = np.linalg.inv(J)
        rho = rng.uniform(0.5, 1.5, n)
        step = rho * 10.0 ** rng.uniform(-6, 0)
        buffers = kernel.make_krawczyk_buffers(n)._replace(C=C, rho=rho, step=step)
        found = kernel.contracts(buffers, Discs(J, Jr))
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
