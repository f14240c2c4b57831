"""Roots of the core are the solutions: by brute force, SymPy and Gröbner bases over GF(p)."""

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest
import sympy
from flint import fmpq, fmpq_mpoly_ctx, nmod

from algebra.polynomials.msolve.solver import quotient_degree
from algebra.polynomials.rings import PrimeField, RationalField
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.systems.elimination import eliminate
from algebra.systems.forms import forms
from algebra.systems.instances import modular_core
from algebra.systems.system import PolynomialSystem
from matchprob import Allocation, LinearEstimator, LinearFeedForward, LinearRNN, build_system
from tests.algebra.polynomials.by_sympy import to_sympy
from tests.algebra.residues import residue_matrix
from tests.samples import LONG, NET, P, filled, many


def every_form(allocation):
    """The possible forms, the un-lifted one included."""
    return dict.fromkeys((*forms(allocation.network, allocation), "direct"))


def system_of(allocation, seed, field, form, own_labels=True):
    """A random instance over GF(p), and the student whose labels they are."""
    network, rng = allocation.network, random.Random(seed)
    student = {k: residue_matrix(field, s, rng) for k, s in network.shapes.items()}
    teacher = {k: residue_matrix(field, s, rng) for k, s in network.shapes.items()}
    X = residue_matrix(field, network.input_shape, rng)
    Y = network.forward(student if own_labels else teacher, X)
    return build_system(allocation, student, X, Y, field, form), student, X, Y


def labels_of(allocation, student, X, values):
    """Labels of the student with these learnable weights."""
    w = {k: v.copy() for k, v in student.items()}
    for (name, i, j), value in zip(allocation.cells, values, strict=True):
        w[name][i, j] = value
    return allocation.network.forward(w, X)


def test_the_known_solution_comes_back(square_allocations):
    """The student that made the labels is a root of the core, and is restored from it."""
    deferred = 0
    for k, allocation in enumerate(square_allocations(0, many(80))):
        for form, defer in itertools.product(every_form(allocation), (True, False)):
            core, root = modular_core(allocation, P, k, form, defer=defer)
            assert core.consistent
            assert all(e(*root) == 0 for e in core.equations)
            rng = random.Random(f"instance/{P}/{k}")
            field = PrimeField(P)
            shapes = allocation.network.shapes
            weights = {n: residue_matrix(field, s, rng) for n, s in shapes.items()}
            found = core.back_substitute([nmod(v, P) for v in root])
            assert found == tuple(weights[n][i, j] for n, i, j in allocation.cells)
            deferred += len(core.deferred)
    assert deferred > many(20)


def roots_by_force(equations, unknowns, p):
    """All points of GF(p)^unknowns at which the polynomials vanish."""
    points = itertools.product([nmod(v, p) for v in range(p)], repeat=unknowns)
    return [x for x in points if all(e(*x) == 0 for e in equations)]


@pytest.mark.parametrize("defer", [False, True])
def test_roots_and_solutions_over_a_small_field(defer, small_allocations):
    """Over GF(7) all roots and all solutions are listed: elimination is a bijection.

    A deferred block can be singular at a root over so small a field; then only those weights that
    can be restored are compared, and they are all solutions.
    """
    p, field, compared, singular = 7, PrimeField(7), 0, 0
    for k, allocation in enumerate(small_allocations(3, many(150), largest=3)):
        for form, own in itertools.product(every_form(allocation), (True, False)):
            system, student, X, Y = system_of(allocation, k, field, form, own)
            candidates = itertools.product([nmod(v, p) for v in range(p)], repeat=allocation.size)
            solutions = [
                tuple(map(int, w))
                for w in candidates
                if (labels_of(allocation, student, X, w) == Y).all()
            ]
            core = eliminate(system, defer=defer)
            if len(core.unknowns) > 3:
                continue
            roots = roots_by_force(core.equations, len(core.unknowns), p) if core.consistent else []
            images = [core.back_substitute(x) for x in roots]
            found = [tuple(map(int, w)) for w in images if w is not None]
            assert len(set(found)) == len(found)
            if None in images:
                assert defer
                assert set(found) <= set(solutions)
                singular += 1
            else:
                assert sorted(found) == solutions
                compared += 1
    assert compared > many(300)
    assert singular < compared / 10


def rational_instance(allocation, seed):
    """Small random fractions; labels are the student's own, so one root is rational."""
    rng, network = random.Random(seed), allocation.network

    def draw(shape):
        return filled(
            shape, lambda: fmpq(rng.choice([-3, -2, -1, 1, 2, 3, 4]), rng.choice([1, 1, 2]))
        )

    student = {k: draw(s) for k, s in network.shapes.items()}
    X = draw(network.input_shape)
    return student, X, network.forward(student, X)


EXACT = [
    (NET, [("W", 0, 0), ("W", 1, 1)], 2),
    (NET, [("W", 0, 1), ("W", 1, 0)], 2),
    (NET, [("W", 0, 0), ("W", 1, 0)], 1),
    (LinearRNN(n=1, T=3, b=1, d=1, m=1), [("W", 0, 0)], 3),
    (LinearRNN(n=4, T=1, b=2, d=2, m=2), [("W", i, i) for i in range(4)], 1),
    (LinearFeedForward(q=2, widths=(2,), d=1, m=2), [("W1", 0, 0), ("W2", 0, 1)], 1),
    (LinearFeedForward(q=1, widths=(1,), d=2, m=1), [("W1", 0, 0), ("W2", 0, 0)], 1),
    (
        LinearFeedForward(q=2, widths=(2,), d=2, m=2),
        [("W1", 0, 0), ("W1", 1, 1), ("W2", 0, 1), ("W2", 1, 0)],
        2,
    ),
    (LinearEstimator(q=3, d=2, m=2), [("W", 0, 0), ("W", 0, 2), ("W", 1, 1), ("W", 1, 2)], 1),
]


@pytest.mark.parametrize(("network", "cells", "count"), EXACT)
@pytest.mark.parametrize("seed", range(3 if LONG else 1))
def test_every_root_of_a_rational_core_is_a_solution(network, cells, count, seed):
    """Roots found by SymPy, put through back-substitution and network, give the exact labels.

    A quadratic with one rational root has another: with N ≤ 2 all of them are followed.
    """
    allocation = Allocation.from_cells(network, cells)
    student, X, Y = rational_instance(allocation, seed)
    own = tuple(student[k][i, j] for k, i, j in allocation.cells)
    for form in every_form(allocation):
        core = eliminate(build_system(allocation, student, X, Y, RationalField(), form))
        symbols, polynomials = to_sympy(core.equations, list(core.unknowns))
        points = sympy.solve(polynomials, symbols) if symbols else [()]
        if isinstance(points, dict):
            points = [tuple(points[x] for x in symbols)]
        rational = [x for x in points if all(v.is_rational for v in x)]
        weights = [core.back_substitute([fmpq(int(v.p), int(v.q)) for v in x]) for x in rational]
        assert own in weights
        for w in weights:
            assert (labels_of(allocation, student, X, w) == Y).all()
        assert len(points) == count
        assert len(rational) == count or count > 2


def number(core):
    """Solutions of a core over the algebraic closure, all of them simple."""
    if not core.consistent:
        return 0
    if core.is_linear:
        return 1
    degree = quotient_degree(core.equations, distinct=True, timeout=60)
    assert degree.degree == degree.distinct
    return degree.degree


def test_the_number_of_solutions_does_not_depend_on_form_or_deferral(msolve, square_allocations):
    """N(core) = N(core without deferral) = N(direct) for random nets, each form, N from 1 up."""
    values = []
    for k, allocation in enumerate(square_allocations(11, many(70))):
        if allocation.size > 7:
            continue
        counts = {
            (form, defer): number(modular_core(allocation, P, k, form, defer=defer)[0])
            for form, defer in itertools.product(every_form(allocation), (True, False))
        }
        assert len(set(counts.values())) == 1, (allocation, counts)
        values.append(counts["direct", True])
    assert len(values) >= many(60)
    assert len(set(values)) > 2


MINIMAL_LINEAR = [
    # Theorem 4.1 with T = 1, and for a middle layer: rank 3 of 4.
    (LinearRNN(n=3, T=1, b=2, d=2, m=2), [("W", 0, 1), ("W", 0, 2), ("W", 1, 0), ("W", 2, 0)]),
    (
        LinearFeedForward(q=2, widths=(3, 3), d=2, m=2),
        [("W2", 0, 1), ("W2", 0, 2), ("W2", 1, 0), ("W2", 2, 0)],
    ),
    # A row with more weights than samples.
    (LinearEstimator(q=3, d=2, m=2), [("W", 0, 0), ("W", 0, 1), ("W", 0, 2), ("W", 1, 0)]),
    # Too few weights, and none.
    (LinearEstimator(q=3, d=2, m=2), [("W", 0, 0), ("W", 0, 1)]),
    (LinearEstimator(q=2, d=1, m=1), []),
    (NET, []),
    (NET, [("D", 0, 0)]),
]


@pytest.mark.parametrize("defer", [True, False])
@pytest.mark.parametrize(("network", "cells"), MINIMAL_LINEAR)
def test_a_minimal_linear_allocation_is_a_contradiction(network, cells, defer):
    """Labels of another teacher: elimination finds 1 = 0, over GF(p) and over Q."""
    allocation = Allocation.from_cells(network, cells)
    for form in every_form(allocation):
        system, *_ = system_of(allocation, 5, PrimeField(P), form, own_labels=False)
        core = eliminate(system, defer=defer)
        assert not core.consistent
        assert (core.unknowns, core.equations) == ((), ())
        assert "no solution" in str(core)
        student, X, _ = rational_instance(allocation, 0)
        _, _, Y = rational_instance(allocation, 1)
        core = eliminate(build_system(allocation, student, X, Y, RationalField(), form))
        assert not core.consistent


def test_minimal_allocations_do_not_pass_for_linear_ones(small_allocations):
    """Of random allocations no minimal one, with other labels, leaves an empty core."""
    checked = 0
    for k, allocation in enumerate(small_allocations(8, many(300))):
        rank = network_rank(allocation.network).rank
        if allocation_rank(allocation, upper=rank).rank == rank:
            continue
        checked += 1
        for form in every_form(allocation):
            system, *_ = system_of(allocation, k, PrimeField(P), form, own_labels=False)
            core = eliminate(system)
            assert not (core.consistent and core.is_linear)
    assert checked > many(100)


@pytest.mark.parametrize(
    "network",
    [
        LinearRNN(n=1, T=1, b=1, d=1, m=1),
        LinearRNN(n=2, T=1, b=1, d=2, m=3),
        LinearRNN(n=1, T=3, b=2, d=2, m=1),
        LinearRNN(n=3, T=1, b=1, d=1, m=1),
        LinearFeedForward(q=1, widths=(1,), d=1, m=1),
        LinearFeedForward(q=2, widths=(1, 2), d=2, m=3),
        LinearFeedForward(q=1, widths=(), d=2, m=2),
        LinearEstimator(q=1, d=1, m=3),
    ],
    ids=str,
)
def test_all_weights_learnable(network):
    """Over-complete systems of degenerate nets: the student's own point lies on the core."""
    allocation = Allocation.from_masks(
        network, {k: np.ones(s, int) for k, s in network.shapes.items()}
    )
    for form, defer in itertools.product(every_form(allocation), (True, False)):
        core, root = modular_core(allocation, P, 0, form, defer=defer)
        assert core.consistent
        assert all(e(*root) == 0 for e in core.equations)
        weights = core.back_substitute([nmod(v, P) for v in root])
        assert weights is not None
        assert len(weights) == allocation.size


def test_systems_without_unknowns_or_equations():
    """No unknowns, no equations: all corner cases have a result."""
    field = RationalField()
    x, y = field.generators(["x", "y"])
    one = field.constant(1)
    empty = eliminate(PolynomialSystem("direct", field, (), 0, (), ()))
    assert empty.consistent
    assert empty.is_linear
    assert empty.back_substitute([]) == ()
    free = eliminate(PolynomialSystem("direct", field, ("x", "y"), 2, (), ()))
    assert free.consistent
    assert not free.is_linear
    assert free.back_substitute([one, 2 * one]) == (one, 2 * one)
    assert not eliminate(PolynomialSystem("direct", field, (), 0, (one,), ("c",))).consistent
    assert eliminate(PolynomialSystem("direct", field, (), 0, (one - 1,), ("c",))).consistent
    solved = eliminate(PolynomialSystem("direct", field, ("x", "y"), 2, (x - 3, y + x), ("", "")))
    assert solved.is_linear
    assert solved.back_substitute([]) == (fmpq(3), fmpq(-3))
    zero = eliminate(PolynomialSystem("direct", field, ("x", "y"), 2, (x - x, y - 1), ("", "")))
    assert zero.unknowns == ("x",)
    assert zero.back_substitute([fmpq(7)]) == (fmpq(7), fmpq(1))


def test_linear_equations_hidden_in_the_span_are_found():
    """x y + x = 1 and x y + y = 2 imply x − y = −1: one unknown and one quadratic remain."""
    field = RationalField()
    x, y = field.generators(["x", "y"])
    core = eliminate(
        PolynomialSystem("direct", field, ("x", "y"), 2, (x * y + x - 1, x * y + y - 2), ("", ""))
    )
    assert core.unknowns == ("x",)
    assert core.degrees == (2,)
    _, [equation] = to_sympy(core.equations, ["x"])
    root = sympy.Poly(equation).all_roots()[0]
    assert sympy.simplify(root * (root + 1) + root - 1) == 0
    hidden = eliminate(
        PolynomialSystem("direct", field, ("x", "y"), 2, (x * y - 1, x * y - 2), ("", ""))
    )
    assert not hidden.consistent


def test_a_linear_block_is_put_aside_and_solved_last():
    """x² = 4 and x y = 6 with y needed nowhere: y is deferred; at x = 0 it would be singular."""
    field = RationalField()
    x, y = field.generators(["x", "y"])
    system = PolynomialSystem("direct", field, ("x", "y"), 2, (x**2 - 4, x * y - 6), ("", ""))
    core = eliminate(system)
    assert core.unknowns == ("x",)
    assert [block.unknowns for block in core.deferred] == [(1,)]
    assert core.back_substitute([fmpq(2)]) == (fmpq(2), fmpq(3))
    assert core.back_substitute([fmpq(-2)]) == (fmpq(-2), fmpq(-3))
    assert core.back_substitute([fmpq(0)]) is None
    whole = eliminate(system, defer=False)
    assert whole.unknowns == ("x", "y")
    assert whole.deferred == ()
    assert core.kept == (0,)


def test_a_block_that_is_always_singular_is_not_put_aside():
    """a y + b z = 1 and 2a y + 2b z = 3 have no solution, though each equation has."""
    field = RationalField()
    x, y, z = field.generators(["x", "y", "z"])
    equations = (x**2 - 4, x * y + x * z - 1, 2 * x * y + 2 * x * z - 3)
    core = eliminate(PolynomialSystem("direct", field, ("x", "y", "z"), 3, equations, ("",) * 3))
    assert not core.consistent


def test_the_sizes_of_a_core():
    """Degrees, Bézout bound, terms and density of x² + y = 3, x y z = 1, y² z = 2 by hand."""
    field = RationalField()
    x, y, z = field.generators(["x", "y", "z"])
    equations = (x**2 + y**2 - 3, x * y * z - 1, y**2 * z - z - 2)
    core = eliminate(PolynomialSystem("direct", field, ("x", "y", "z"), 3, equations, ("",) * 3))
    assert core.degrees == (2, 3, 3)
    assert core.bezout == 18
    assert core.is_square
    assert not core.is_linear
    assert core.patterns == ((0, 1), (0, 1, 2), (1, 2))
    # 3 + 2 + 3 terms; C(5, 2) + 2 C(6, 3) are possible.
    assert core.density == (8, 10 + 20 + 20)
    assert "3 equations in 3 unknowns, degrees at most 3, Bézout bound 18" in str(core)


@pytest.mark.parametrize(
    ("T", "b", "d", "m", "rows", "form", "most"),
    [
        (4, 1, 4, 4, 5, "B", 5 * 4 * 1 - 16),
        (2, 2, 2, 4, 3, "B", 3 * 2 * 2 - 8),
        (3, 1, 3, 3, 4, "B", 4 * 3 * 1 - 9),
        (4, 1, 1, 4, 3, "D", 3 * 4 * 1 - 4),
        (2, 1, 2, 2, 3, "D", 3 * 2 * 2 - 4),
    ],
)
def test_free_auxiliary_unknowns_number_k_tb_minus_dm(T, b, d, m, rows, form, most):
    """k lines that learn leave at most k·Tb − dm (or k·Td − dm) of the F-unknowns."""
    network = LinearRNN(n=6, T=T, b=b, d=d, m=m)
    rng = random.Random(3)
    lines = [(i, j) if form == "B" else (j, i) for i in range(rows) for j in range(6)]
    cells = rng.sample(lines, d * m)
    while len({c[form == "D"] for c in cells}) < rows:
        cells = rng.sample(lines, d * m)
    allocation = Allocation.from_cells(network, [("W", *c) for c in cells])
    core, _ = modular_core(allocation, P, 0, form)
    left = [k for k in core.stage_unknowns if k.startswith("F")]
    assert len(left) == most
    assert sum(k.startswith("F") for k in core.unknowns) <= most


def test_coefficients_stay_rational():
    """With linear algebra only, a rational instance has a rational core, solved exactly."""
    allocation = Allocation.rows(NET, "W", [0])
    student, X, Y = rational_instance(allocation, 4)
    core = eliminate(build_system(allocation, student, X, Y, RationalField(), "B"))
    assert core.is_linear
    weights = core.back_substitute([])
    assert all(isinstance(w, fmpq) for w in weights)
    assert [Fraction(int(w.p), int(w.q)) for w in weights] == [
        Fraction(int(student["W"][0, j].p), int(student["W"][0, j].q)) for j in range(2)
    ]
    assert core.system.ring.context(["x"]) is fmpq_mpoly_ctx.get(("x",), "degrevlex")
