"""Solutions enclosed by balls: genuine evidence holds, forged evidence does not."""

import numpy as np
import pytest
from flint import acb, arb, fmpq

from algebra.arguments.enclosed_solutions import (
    ARGUMENT,
    PLACE,
    Enclosed,
    _BallEquations,
    _disjoint,
    _System,
    enclosed_evidence,
)
from algebra.checker.checks import PROVED, CheckFailed
from algebra.checker.network_ranks import context_of
from algebra.families.verify import verify
from algebra.systems.root_count import generic_root_count
from matchprob import Allocation, LinearFeedForward, LinearRNN, Problem
from numeric.engines.witness_search import rootless_instances
from tests.arguments import checked
from tests.plain_data import changed, data_of, without
from tests.refusals import refuses
from tests.samples import NET, filled

RING = Problem.of(
    Allocation.from_cells(
        LinearRNN(n=4, T=2, b=1, d=2, m=2), [("W", i, (i + 1) % 4) for i in range(4)]
    )
)
# As many equations as before, from five samples of which two are independent.
MORE = Problem(LinearRNN(n=2, T=2, b=1, d=1, m=5), {"W": [[1, 0], [0, 1]]})


def evidence_of(problem):
    count = generic_root_count(problem.allocation).value
    guess = next(rootless_instances(problem, count, 0, 60.0))
    found = enclosed_evidence(problem, guess, count)
    assert found is not None
    return count, found.to_dict()


@pytest.fixture(scope="module")
def ring():
    return evidence_of(RING)


def said(problem, data, expected):
    read = Enclosed.from_dict(data, PLACE, context_of(problem))
    checks = checked(ARGUMENT, problem, read, roots=expected)[1]
    return [check for check in checks if check[0] != "evidence.root_count"]


def test_genuine_evidence_is_proved(ring):
    """N solutions in disjoint balls, none real; also where samples are dependent."""
    for problem, (count, data) in ((RING, ring), (MORE, evidence_of(MORE))):
        assert count % 2 == 0
        assert {status for _, status, _ in said(problem, data, count)} == {PROVED}


def test_derivatives_by_the_read_out():
    """Solutions are enclosed if the read-out learns, whose derivatives are integers."""
    problem = Problem(NET, {"W": [[1, 0], [0, 0]], "D": [[0, 1]]})
    teacher = {
        name: np.array([[fmpq(2 * i + j + 1, 3) for j in range(c)] for i in range(r)])
        for name, (r, c) in NET.shapes.items()
    }
    X = np.array([[fmpq(1), fmpq(2)], [fmpq(-1), fmpq(1, 2)]])
    equations = _BallEquations(problem, teacher, X, NET.forward(teacher, X), [(0, 0), (0, 1)])
    solution = [acb(arb(teacher[name][i, j])) for name, i, j in problem.allocation.cells]
    residual, jacobian = equations.at(solution)
    assert all(entry.contains(0) for entry in residual.entries())
    assert not jacobian.det().contains(0)
    box = equations.enclose([x + acb(1e-9) for x in solution])
    assert box is not None
    assert all(abs(x - y) <= q for x, y, q in zip(solution, *box, strict=True))


def zeros(rows):
    return [["0"] * len(row) for row in rows]


FORGERIES = {
    # The student is the teacher: its own weights are a solution, and real.
    "real points": lambda data: (
        ("weights",), data["teacher"], ("points",),
        [[[data["teacher"]["W"][i][(i + 1) % 4], "0"] for i in range(4)]] * len(data["points"]),
    ),
    "the first point twice": lambda data: (("points", -1), data["points"][0]),
    "the first point and its conjugate": lambda data: (
        ("points", -1), [[re, f"-{im}".removeprefix("--")] for re, im in data["points"][0]],
    ),
    "no points": lambda data: (("points",), []),
    "no samples": lambda data: (("X",), zeros(data["X"])),
    "no read-out": lambda data: (("weights", "D"), zeros(data["weights"]["D"])),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_evidence_is_refused(ring, name):
    """Real, repeated or missing points and degenerate instances prove nothing."""
    count, genuine = ring
    assert count >= 4
    forged = changed(genuine, *FORGERIES[name](genuine))
    refuses("", said, RING, forged, count, error=CheckFailed)


def test_all_solutions_are_asked_for(ring):
    """Points for fewer solutions than N are rejected, for all enclosures."""
    count, genuine = ring
    fewer = {**genuine, "points": genuine["points"][1:]}
    refuses("half of", said, RING, fewer, count, error=CheckFailed)


def test_certificates_with_balls(ring):
    """Such evidence is verified in a certificate, and is refused where N is another or it stands
    beside another witness."""
    count, evidence = ring
    data = data_of(RING, search=20.0)
    assert data["verdict"] == "intermediate"
    other = data["evidence"].pop("no_real_root")
    data["evidence"]["enclosed_solutions"] = evidence
    assert verify(data).holds
    fewer = without(data, ("evidence", "enclosed_solutions", "points", -1))
    fewer["evidence"]["root_count"] |= {"value": count - 2, "blocks": [count - 2]}
    for forged in (
        changed(data, ("evidence", "no_real_root"), other),
        fewer | {"generic_root_count": count - 2},
        without(data, ("evidence", "enclosed_solutions")),
    ):
        assert not verify(forged).holds


def test_wrong_guesses_are_no_evidence(ring):
    """An instance with another number of points than N proves nothing."""
    count, _ = ring
    guess = next(rootless_instances(RING, count, 0, 60.0))
    assert enclosed_evidence(RING, guess, count + 2) is None


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
