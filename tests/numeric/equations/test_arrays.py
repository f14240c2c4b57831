"""Labels and Jacobians of many points, against one point at a time and difference quotients."""

import numpy as np
import pytest

from numeric.equations.arrays import labels, pulled, residuals
from tests.numeric.equations.cases import chains, difference_quotients, labels_at, residual_at

CHAINS = chains()


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: str(c.allocation))
@pytest.mark.parametrize("kind", [float, complex, np.clongdouble])
def test_many_points_are_each_of_them(chain, kind):
    """Values of a batch are those of its members, in the required precision."""
    rng = np.random.default_rng(0)
    parameters, _ = chain.random(rng)
    parameters = parameters.real if kind is float else parameters
    w = rng.standard_normal((3, chain.unknowns)).astype(kind)
    values, slopes = labels(chain, parameters, w)
    gaps, same = residuals(chain, parameters, w)
    assert values.dtype == slopes.dtype == gaps.dtype == kind
    assert np.array_equal(slopes, same)
    rows, columns = chain.equations.T
    for k in range(3):
        assert np.allclose(values[k], labels_at(chain, parameters, w[k])[rows, columns])
        assert np.allclose(gaps[k], residual_at(chain, parameters, w[k]))


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: str(c.allocation))
def test_no_points_have_no_values(chain):
    """An instance may have no real solution: then there are no rows."""
    parameters, _ = chain.random(np.random.default_rng(0))
    r = chain.unknowns
    values, slopes = residuals(chain, parameters, np.zeros((0, r)))
    assert (values.shape, slopes.shape) == ((0, r), (0, r, r))


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: str(c.allocation))
def test_jacobian_agrees_with_difference_quotients(chain):
    """The derivative by the product rule is that of the residual."""
    parameters, root = chain.random(np.random.default_rng(5))
    _, (slopes,) = labels(chain, parameters, root[None])
    assert np.allclose(slopes, difference_quotients(chain, parameters, root), atol=1e-7)


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: str(c.allocation))
def test_pulled_covectors_agree_with_difference_quotients(chain):
    """Gradients by all parameters but the labels, and by the learnable cells."""
    rng = np.random.default_rng(7)
    parameters, _ = chain.random(rng)
    w, covectors = rng.standard_normal((2, 3, chain.unknowns))
    found = pulled(chain, parameters, w, covectors)
    cells, h = chain.cells[:, 4], 1e-6
    for k in range(3):
        full = parameters.copy()
        full[cells] = w[k]
        for at in range(chain.y_at):
            plus, minus = full.copy(), full.copy()
            plus[at], minus[at] = plus[at] + h, minus[at] - h
            ends = [labels(chain, p, p[cells][None])[0][0] for p in (plus, minus)]
            slope = covectors[k] @ (ends[0] - ends[1]) / (2 * h)
            assert found[k, at] == pytest.approx(slope, abs=1e-6)
    assert not found[:, chain.y_at :].any()
