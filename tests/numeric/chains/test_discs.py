"""Disc arithmetic encloses: exact members of the inputs give members of the results."""

from __future__ import annotations

import numpy as np
import pytest
from flint import acb, acb_mat, arb, ctx

from numeric.chains import discs
from numeric.chains.discs import Discs


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
        product = discs.matmul_add if add else discs.matmul
        out, rad = c.ravel().copy(), cr.ravel().copy()
        product(
            Discs(a.ravel(), ar.ravel()), Discs(b.ravel(), br.ravel()), Discs(out, rad), n, k, m
        )
        for _ in range(20):
            x, y = members(rng, a, ar), members(rng, b, br)
            value = exact(x) * exact(y)
            if add:
                value = value + exact(members(rng, first, cr))
            for i in range(n):
                for j in range(m):
                    assert inside(value[i, j], out[i * m + j], rad[i * m + j])
    ctx.prec = 53
