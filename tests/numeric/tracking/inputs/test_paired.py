"""Paths finished in pairs of doubles end where those in many bits end."""

import numpy as np
import pytest
from flint import acb, ctx

from numeric.certification.krawczyk import FAILED
from numeric.certification.krawczyk_pairs import InputsTarget
from numeric.tracking.inputs.paired import StuckPath, finish_in_pairs
from numeric.tracking.inputs.precise import weights_of_pairs
from tests.numeric.equations.test_inputs import CASES
from tests.numeric.tracking.inputs.test_precise import end_of, line_of


def finished(case, count=1):
    """A path from t = 0 in pairs, `count` times; its target, and the ends."""
    _, form, instance, root, _, (a, b) = line_of(case)
    target = InputsTarget(form, instance, b)
    path = StuckPath(0.0, form.unknowns_of(a, root[None])[0])
    return target, finish_in_pairs(form, a.vector, [(target.parameters, path)] * count)


# The second is alike the first.
@pytest.mark.parametrize(
    "case",
    [pytest.param(c, marks=[pytest.mark.long] * (k == 1)) for k, c in enumerate(CASES)],
    ids=str,
)
def test_a_path_in_pairs_ends_at_the_exact_instance(case):
    """Its weights agree with those in many bits to more than 22 digits, and are proved."""
    _, form, instance, _, _, (_, b) = line_of(case)
    target, (reached, high, low) = finished(case)
    assert reached.tolist() == [1.0]
    wanted = end_of(case)
    found = weights_of_pairs(form, instance, b, high[0], low[0])
    ctx.prec = 200
    for x, y in zip(found, wanted, strict=True):
        assert abs(x - y) <= 1e-22 * (1 + abs(y))
    ctx.prec = 53
    proved = target.certify_pairs(high, low)
    assert proved.kind[0] != FAILED
    doubles = np.array([complex(float(z.real.mid()), float(z.imag.mid())) for z in wanted])
    assert (np.abs(proved.roots[0] - doubles) <= proved.radii[0] + 1e-15 * abs(doubles)).all()


def test_lanes_are_independent():
    """More paths than lanes, all the same, have the same ends."""
    _, (reached, high, low) = finished(CASES[0], 11)
    assert (reached == 1.0).all()
    assert (high == high[0]).all()
    assert np.abs(low - low[0]).max() <= 1e-28 * np.abs(high).max()


def test_the_end_solves_the_equations_in_pairs():
    """Residuals of the equations at the end are as small as pairs are."""
    _, form, _, _, _, _ = line_of(CASES[0])
    target, (_, high, low) = finished(CASES[0])
    ctx.prec = 200
    p = [acb(r[0]) + acb(r[1]) for r in target.parameters]
    x = [acb(h.real, h.imag) + acb(k.real, k.imag) for h, k in zip(high[0], low[0], strict=True)]
    n, T, b, e = form.shape
    fixed = (T + 1) * n * b + T * n * e
    F = np.array(p[: (T + 1) * n * b]).reshape(T + 1, n, b)
    beta = np.array(p[(T + 1) * n * b : fixed]).reshape(T, n, e)
    W = np.array(p[fixed:]).reshape(-1, n)
    for (i, j), w in zip(form.cells, x, strict=False):
        W[i, j] = w
    u = np.array(x[len(form.cells) :]).reshape(T, e, b)
    for k in range(1, T + 1):
        for j in range(k):
            F[k] = F[k] + beta[k - 1 - j] @ u[j]
    for i, row in enumerate(form.rows):
        for k in range(1, T + 1):
            for off in W[i] @ F[k - 1] - F[k, row]:
                assert abs(off) <= 1e-27
    ctx.prec = 53
