"""Positive definite forms that some labels contradict: intermediate without a count."""

import json
import random
from itertools import combinations

import numpy as np
import pytest

import matchprob as mp
from algebra.arguments.definite_form import ARGUMENT, DefiniteForm, why_not_definite
from algebra.checker.checks import CheckFailed
from algebra.ranks.generic_rank import allocation_rank
from algebra.systems.root_count import generic_root_count
from matchprob import Allocation, Problem
from numeric.arguments.definite_search import _Form, definite_form
from tests.arguments import checked
from tests.doubles import smallest_error
from tests.plain_data import changed
from tests.refusals import refuses
from tests.samples import many

# Seven weights, six equations: no count decides it.
SURPLUS = mp.LinearRNN(n=6, T=3, b=1, d=2, m=5)
CELLS = [(0, 3), (1, 0), (2, 5), (3, 1), (4, 4), (5, 3), (5, 5)]
# Sixteen weights, sixteen equations, 40 solutions.
SQUARE = mp.LinearRNN(n=8, T=2, b=2, d=4, m=6)
SQUARE_CELLS = [
    (0, 0),
    (0, 1),
    (0, 5),
    (1, 5),
    (1, 6),
    (2, 3),
    (2, 4),
    (3, 1),
    (3, 6),
    (5, 0),
    (6, 4),
    (6, 7),
    (7, 0),
    (7, 1),
    (7, 3),
    (7, 7),
]


def with_cells(network, cells):
    mask = np.zeros((network.n, network.n), int)
    mask[tuple(np.array(cells).T)] = 1
    return Problem(network, {"W": mask.tolist()})


@pytest.mark.parametrize("seed", range(many(24)))
def test_forms_of_few_products_are_nowhere_definite(seed):
    """Of 320 random forms with fewer products than free unknowns none is positive definite."""
    rng = np.random.default_rng(seed)
    inputs, outputs, n = int(rng.integers(1, 3)), int(rng.integers(1, 3)), 7
    mask = np.zeros((n, n), bool)
    for row in np.flatnonzero(rng.random(n) < 0.8):
        mask[row, rng.choice(n, inputs, replace=False)] = True
    form = _Form(mask, outputs, inputs)
    if len(form.cells) <= inputs * outputs:
        return
    shapes = ((outputs, n), (n, inputs), (inputs, outputs))
    found = form.ratios(*(rng.standard_normal((320, *shape)) for shape in shapes))
    assert form.has_enough_products or found.max() < 1e-6


def transposed(problem):
    """The problem whose labels are the transposed ones, for as many samples as determine them."""
    net = problem.network
    mirror = mp.LinearRNN(n=net.n, T=net.T, b=net.d, d=net.b, m=net.T * net.d)
    return Problem(mirror, {"W": np.array(problem.allocation.masks["W"]).T.tolist()})


PROBLEM = with_cells(SURPLUS, CELLS)


@pytest.fixture(scope="module")
def form():
    found = definite_form(PROBLEM, 0)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def genuine():
    found = mp.certify(PROBLEM)
    data = json.loads(found.to_json())
    assert data["verdict"] == "intermediate"
    assert "definite_form" in data["evidence"]
    return data


def nearest_labels(form, sign, rng, size):
    """Least squares at an instance near that of the proof: the residual of the best student.

    The labels of first power are small, those of second power have tr K Z = −sign; those of third
    power are free.
    """
    net = PROBLEM.network
    D, P, K = (np.array(M, float) for M in (form.D, form.P, form.K))
    D, P, K = (M / abs(M).max() for M in (D, P, K))
    D, P = (M + size * rng.standard_normal(M.shape) for M in (D, P))
    fixed = size * rng.standard_normal((net.n, net.n))
    mu = 100.0
    Z = -sign * K.T / (K**2).sum()
    # Labels of a teacher with one recurrent weight μ.
    labels = np.hstack([Z / mu, Z])
    places = tuple(np.array(CELLS).T)

    def errors(w):
        W = np.broadcast_to(fixed, (len(w), *fixed.shape)).astype(w.dtype)
        W[:, *places] = w
        return (np.concatenate([D @ W @ P, D @ W @ W @ P], axis=2) - labels).reshape(len(w), -1)

    scales = np.repeat([0.3, 1, 3, 10], 10)[:, None]
    return smallest_error(errors, scales * rng.standard_normal((40, len(CELLS))))


def test_instances_near_that_of_the_proof_have_no_match(form):
    """Least squares misses their labels by far, and meets those of the other sign."""
    rng = np.random.default_rng(3)
    for _ in range(3):
        assert nearest_labels(form, 1, rng, 1e-5) > 1e-3
        assert nearest_labels(form, -1, rng, 1e-5) < 1e-8


def test_more_weights_than_equations_can_be_intermediate(genuine):
    """The proof holds, and no count is in it."""
    found = mp.verify(genuine)
    assert found.holds
    assert [c.status for c in found.checks if c.place == "verdict"] == ["proved"]
    assert genuine["generic_root_count"] is None
    assert genuine["learnable"] == genuine["equations"] + 1
    assert any("definite quadratic form" in text for text in mp.certify(PROBLEM).explain().known)


def test_as_many_weights_as_equations(msolve):
    """N = 40, and no instance without real solutions is found in seconds; the form suffices."""
    found = mp.certify(with_cells(SQUARE, SQUARE_CELLS), search=4)
    assert (found.verdict, found.generic_root_count) == ("intermediate", 40)
    assert "definite_form" in found.evidence
    assert mp.verify(found).holds


@pytest.mark.parametrize("seed", range(4))
def test_long_columns_are_long_rows_of_the_transpose(seed):
    """The transpose of the problem has a form too, whose long lines are columns."""
    mirror = transposed(PROBLEM)
    found = definite_form(mirror, seed)
    assert found is not None
    assert found.lines == "columns"
    assert not why_not_definite(mirror, found)
    refuses("", checked, ARGUMENT, PROBLEM, found, error=CheckFailed)


def test_positive_squares_agree_with_eigenvalues(form):
    """For random small matrices the check accepts what the definition in y says, and no more."""
    rng = random.Random(5)
    accepted = 0
    for _ in range(300):
        D, P, K = ([list(row) for row in M] for M in (form.D, form.P, form.K))
        M = rng.choice((D, P))
        row = rng.choice(M)
        row[rng.randrange(len(row))] += rng.choice((-30, -3, -1, 1, 3, 30))
        # K remains orthogonal to the column of D at the long row 5.
        K = [[D[1][5], -D[0][5]]] if rng.random() < 0.5 else [[-D[1][5], D[0][5]]]
        changed = DefiniteForm("rows", *(tuple(map(tuple, A)) for A in (D, P, K)))
        holds = not why_not_definite(PROBLEM, changed)
        assert holds == (_least(changed) > 1e-9)
        accepted += holds
    assert 20 < accepted < 280


def _least(form):
    """The smallest eigenvalue of q on {D f = 0}, f = w P: w_i = f_i / P_j for a single cell j."""
    D, P, K = (np.array(M, float) for M in (form.D, form.P, form.K))
    single = dict(CELLS[:5])
    if any(P[j, 0] == 0 for j in single.values()):
        return -1
    q = np.zeros((6, 6))
    for i, j in single.items():
        q[i, j] += (K @ D)[0, i] / P[j, 0]
    kernel = np.linalg.svd(D)[2][2:].T
    return np.linalg.eigvalsh(kernel.T @ (q + q.T) @ kernel)[0]


@pytest.mark.parametrize(
    "problem",
    [
        with_cells(mp.LinearRNN(n=6, T=3, b=1, d=2, m=2), CELLS[:4]),
        with_cells(mp.LinearRNN(n=6, T=1, b=1, d=2, m=1), CELLS),
        Problem(SURPLUS, {"W": np.array(PROBLEM.allocation.masks["W"]).tolist(),
                          "B": [[1], [0], [0], [0], [0], [0]]}),
        Problem(SURPLUS, {"W": np.array(PROBLEM.allocation.masks["W"]).tolist()},
                support={"B": [[0], [1], [1], [1], [1], [1]]}),
        Problem(SURPLUS, {"W": np.array(PROBLEM.allocation.masks["W"]).tolist()},
                distribution=mp.Distribution(signs=[1, -1, 1, 1, 1, 1])),
    ],
)  # fmt: skip
def test_where_the_theorem_does_not_apply(problem, form):
    """Too few samples, one step, other matrices, structural zeros, signs."""
    assert definite_form(problem, 0) is None
    refuses("needs a linear RNN", checked, ARGUMENT, problem, form, error=CheckFailed)


def test_maximal_allocations_have_no_form():
    """A whole row of T b cells is maximal (N = 1): no form is found."""
    net = mp.LinearRNN(n=4, T=2, b=1, d=1, m=2)
    assert definite_form(with_cells(net, [(0, 0), (0, 2)]), 0) is None


def test_forged_forms_are_refused(genuine):
    """Other signs, other sizes, other cells, another verdict, additional evidence."""
    negative = [[-v for v in row] for row in genuine["evidence"]["definite_form"]["K"]]
    for path, value in (
        (("evidence", "definite_form", "K"), negative),
        (("evidence", "definite_form", "K"), [[0, 0]]),
        (("evidence", "definite_form", "K"), [[997, 1009]]),
        (("evidence", "definite_form", "K"), []),
        (("evidence", "definite_form", "K", 0), ["1", "1"]),
        (("evidence", "definite_form", "K", 0, 0), 1.5),
        (("evidence", "definite_form", "K", 0, 0), 10**400),
        (("evidence", "definite_form", "D", 0, 0), 10**5),
        (("evidence", "definite_form", "D", 0), [0] * 6),
        (("evidence", "definite_form", "D", 0, 5), 0),
        (("evidence", "definite_form", "D"), [[1]]),
        (("evidence", "definite_form", "P"), [[0]] * 6),
        (("evidence", "definite_form", "P"), [[1, 1]] * 6),
        (("evidence", "definite_form", "lines"), "columns"),
        (("evidence", "definite_form", "lines"), "diagonals"),
        (("evidence", "definite_form", "more"), 1),
        (("problem", "learnable", "W", 5, 0), 1),
        (("problem", "network", "m"), 2),
        (("problem", "network", "T"), 2),
        (("verdict",), "maximal"),
        (("verdict",), "undecided"),
        (("generic_root_count",), 24),
        (("evidence", "whole_column"), 0),
        (("evidence", "no_real_root"), {}),
        # Evidence that would not be checked beside the form.
        (("evidence", "critical_points"), {"number": 2, "primes": [65521]}),
    ):
        assert not mp.verify(changed(genuine, path, value)).holds, path


def test_no_part_has_an_odd_number_of_solutions(msolve):
    """An odd N of a part would make the allocation maximal: where a form is found all are even."""
    rng = random.Random(11)
    found = 0
    while found < many(8):
        n, d = rng.randint(3, 5), rng.randint(1, 2)
        net = mp.LinearRNN(n=n, T=2, b=1, d=d, m=2)
        size = 2 * d + rng.randrange(2)
        cells = rng.sample([(i, j) for i in range(n) for j in range(n)], size)
        problem = with_cells(net, cells)
        whole = allocation_rank(problem.allocation, {}, 2 * d, 0).rank
        if whole < 2 * d or definite_form(problem, found) is None:
            continue
        found += 1
        for part in combinations(problem.allocation.cells, 2 * d):
            allocation = Allocation.from_cells(net, part)
            if allocation_rank(allocation, {}, 2 * d, 0).rank == 2 * d:
                assert generic_root_count(allocation).value % 2 == 0
