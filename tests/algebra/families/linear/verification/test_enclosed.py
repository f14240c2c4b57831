"""Polydiscs in rational arithmetic: the test and its parts, against other arithmetics."""

import numpy as np
import pytest
from flint import fmpq

from algebra.families.linear.verification.enclosed import _disjoint, _System
from matchprob import LinearFeedForward, LinearRNN, Problem
from tests.samples import NET, filled

NETS = {
    "recurrent": (
        LinearRNN(n=2, T=3, b=1, d=2, m=2),
        {"W": [[1, 0], [1, 1]], "B": [[0], [1]]},
    ),
    "layers": (
        LinearFeedForward(q=2, widths=[2], d=2, m=2),
        {"W1": [[1, 1], [1, 0]], "W2": [[0, 1], [0, 0]]},
    ),
}  # fmt: skip


def drawn(shape, rng):
    return filled(shape, lambda: fmpq(int(rng.integers(-24, 25)) * 2 + 1, 8))


@pytest.fixture(params=NETS)
def instance(request):
    net, learnable = NETS[request.param]
    problem, rng = Problem(net, learnable), np.random.default_rng(3)
    weights = {name: drawn(shape, rng) for name, shape in net.shapes.items()}
    X = drawn(net.input_shape, rng)
    Y = net.forward(weights, X)
    chosen = [(0, 0), (0, 1), (1, 0), (1, 1)]
    solution = [weights[n][i, j] for n, i, j in problem.allocation.cells]
    return problem, weights, X, Y, _System(problem, weights, X, Y, chosen), solution


def floats(values):
    return np.array([[float(v.p) / float(v.q) for v in row] for row in np.atleast_2d(values)])


def test_values_and_derivatives_are_those_of_complex_doubles(instance):
    """Residuals and Jacobian at a complex point, against differences of doubles."""
    problem, weights, X, Y, system, solution = instance
    cells, rng = problem.allocation.cells, np.random.default_rng(1)
    shift = rng.standard_normal(len(cells)) + 1j * rng.standard_normal(len(cells))
    grid = [fmpq(round(v * 1024), 1024) for v in (*shift.real, *shift.imag)]
    r = len(cells)
    x = [*(a + b for a, b in zip(solution, grid[:r], strict=True)), *grid[r:]]
    F, J = system.at(x)
    real = {name: floats(value).astype(complex) for name, value in weights.items()}
    z = floats(x)[0]
    z = z[:r] + 1j * z[r:]

    def at(w):
        own = {name: value.copy() for name, value in real.items()}
        for (name, i, j), value in zip(cells, w, strict=True):
            own[name][i, j] = value
        return (problem.network.forward(own, floats(X)) - floats(Y)).ravel()

    got = floats([list(row) for row in F.tolist()]).ravel()
    assert np.allclose(got[:4] + 1j * got[4:], at(z))
    jacobian = floats(J.tolist())
    for k in range(r):
        step = np.zeros(r, complex)
        step[k] = 1e-6
        slope = (at(z + step) - at(z - step)) / 2e-6
        assert np.allclose(jacobian[:4, k] + 1j * jacobian[4:, k], slope, rtol=1e-5, atol=1e-4)


def test_majorants_bound_the_change_of_derivatives(instance):
    """On a polydisc no derivative changes by more than the bound of the network of moduli."""
    problem, *_, system, solution = instance
    r, rng = len(problem.allocation.cells), np.random.default_rng(2)
    radius = fmpq(1, 4)
    moduli = [abs(v) for v in solution]
    bound = system.majorant([v + radius for v in moduli]) - system.majorant(moduli)
    centre = system.at([*solution, *[fmpq(0)] * r])[1]
    for _ in range(10):
        angle = rng.uniform(0, 2 * np.pi, r)
        parts = [*np.cos(angle), *np.sin(angle)]
        moved = [
            v + fmpq(int(c * 1000), 1000) * radius
            for v, c in zip([*solution, *[fmpq(0)] * r], parts, strict=True)
        ]
        other = system.at(moved)[1]
        for i in range(4):
            for k in range(r):
                re, im = other[i, k] - centre[i, k], other[4 + i, k] - centre[4 + i, k]
                assert re**2 + im**2 <= bound[i, k] ** 2


def test_solutions_have_polydiscs_and_other_points_have_none():
    """Near a solution the test passes and encloses it; a point without one fails."""
    problem, rng = Problem(NET, {"W": [[1, 0], [0, 1]]}), np.random.default_rng(4)
    weights = {name: drawn(shape, rng) for name, shape in NET.shapes.items()}
    X = drawn(NET.input_shape, rng)
    Y = NET.forward(weights, X)
    solution = [weights["W"][0, 0], weights["W"][1, 1]]
    system = _System(problem, weights, X, Y, [(0, 0), (0, 1)])
    near = np.array([[v + fmpq(1, 10**6), fmpq(1, 10**7)] for v in solution])
    box = system.box(near, 96)
    assert box is not None
    centre, radii = box
    for j, value in enumerate(solution):
        assert abs(centre[j] - value * 2**96) <= radii[j]
    # No matrix that learns here has a solution: a double zero of all derivatives.
    silent = {**weights, "D": weights["D"] * 0}
    assert _System(problem, silent, X, Y, [(0, 0), (0, 1)]).box(near, 96) is None


def test_real_and_repeated_boxes_are_not_disjoint():
    """A box that meets its mirror image, or another one, is found."""
    one, other, real = ([0, 9], [2]), ([0, 20], [2]), ([5, 1], [2])
    assert _disjoint([one, other])
    assert not _disjoint([one, one])
    assert not _disjoint([one, real])
    assert not _disjoint([one, ([0, -12], [2])])
