"""Core systems: sizes by hand, and the weights of their roots."""

import random

from flint import nmod

from algebra.polynomials.rings import PrimeField
from algebra.systems.core import FieldPoints, pattern_of, pivot_of
from algebra.systems.elimination import eliminate
from algebra.systems.instances import modular_core
from matchprob import Allocation, build_system
from tests.algebra.residues import residue_matrix
from tests.refusals import refuses
from tests.samples import NET, P

DIAGONAL = Allocation.from_cells(NET, [("W", 0, 0), ("W", 1, 1)])


def test_the_diagonal_core():
    """B.1.1: one quadratic equation in one unknown, three terms of three possible."""
    core, root = modular_core(DIAGONAL, P, 0, "B")
    assert (core.is_square, core.is_linear, core.bezout) == (True, False, 2)
    assert (core.degrees, core.patterns) == ((2,), ((0,),))
    assert core.density == (3, 3)
    assert str(core) == (
        "core of the B form: 1 equations in 1 unknowns, degrees at most 2, Bézout bound 2"
    )
    assert core.equations[0](*root) == 0


def test_a_linear_system_has_an_empty_core():
    """A row of Tb weights: no equation is left, and the empty root gives the student."""
    row = Allocation.rows(NET, "W", [0])
    core, root = modular_core(row, P, 3, "B")
    assert (core.is_linear, root, core.bezout) == (True, (), 1)
    assert str(core) == "core of the B form: empty (the system is linear)"
    rng = random.Random(f"instance/{P}/3")
    field = PrimeField(P)
    weights = {n: residue_matrix(field, s, rng) for n, s in NET.shapes.items()}
    assert core.back_substitute(()) == (weights["W"][0, 0], weights["W"][0, 1])


def test_a_wrong_root_gives_no_known_weights():
    """Weights depend on the root: another value gives other weights."""
    core, root = modular_core(DIAGONAL, P, 0, "B")
    right = core.back_substitute([nmod(v, P) for v in root])
    wrong = core.back_substitute([nmod(v + 1, P) for v in root])
    assert right is not None
    assert wrong is not None
    assert right != wrong


def test_contradictions_are_told():
    """Labels of no student: elimination finds 1 = 0, and the core says so."""
    field, rng = PrimeField(P), random.Random(2)
    empty = Allocation.from_cells(NET, [])
    student = {n: residue_matrix(field, s, rng) for n, s in NET.shapes.items()}
    X = residue_matrix(field, NET.input_shape, rng)
    Y = NET.forward(student, X)
    Y[0, 0] = Y[0, 0] + 1
    core = eliminate(build_system(empty, student, X, Y, field, "direct"))
    assert not core.consistent
    assert str(core) == "core of the direct form: contradiction, no solution"


def test_polynomials_in_parts():
    """Patterns, pivots and affine parts of x·y + 2x + 3."""
    field = PrimeField(P)
    x, y = field.context(["x", "y"]).gens()
    polynomial = x * y + 2 * x + 3
    assert pattern_of(polynomial) == (0, 1)
    assert pattern_of(2 * y + 1) == (1,)
    constant, coefficients = FieldPoints(field).affine(polynomial, [0], {1: field.constant(5)})
    assert (constant, coefficients) == (3, [7])
    assert pivot_of([0, 0, 4, 1]) == 2
    refuses("", pivot_of, [0, 0], error=StopIteration)
