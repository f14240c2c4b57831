"""Points modulo a prime at which the square roots of a program exist."""

from fractions import Fraction
from operator import truediv

import numpy as np
import pytest

from algebra.plugins.models.capacity import whole_rank
from algebra.programs import generic, roots
from algebra.programs.arrays import EntryArithmetic, placed
from algebra.programs.generic import (
    Columns,
    Model,
    argued,
    random_program_point,
    roots_are_independent,
)
from algebra.programs.jacobian import program_jacobian
from algebra.programs.program import Builder


class _Doubles(EntryArithmetic):
    def root(self, node, a):
        return np.sqrt(a)


def _normalized(build, z, size, below=100_000):
    """z minus its mean, over the root of its variance."""
    mean = build.contract("i,j->i", build.constant(np.ones(size, int)), z)
    z = build.subtract(z, build.scale(mean, Fraction(1, size)))
    square = build.contract("i,i->", z, z)
    if below:
        square = build.add(square, build.constant(np.array(1), below))
    return build.contract("i,->i", z, build.invert(build.root(square)))


def _net(norms, size=4):
    """Residual layers, each with a norm."""
    build = Builder()
    h = build.sample("X", (size,))
    for k in range(norms):
        W, b = build.weight(f"W{k}", (size, size)), build.weight(f"b{k}", (size,))
        z = build.add(build.contract("ij,j->i", W, h), b)
        h = build.add(h, _normalized(build, z, size))
    return build.program(h)


@pytest.mark.parametrize("norms", [2, 24])
def test_many_norms_are_as_exact_as_two(norms):
    """Both signs of roots lead to points with all of them; ranks there are those in doubles."""
    program = _net(norms)
    model = Model(program)
    found = argued(model, "norms")
    assert found.is_exact, found.words
    m, rng = 9, np.random.default_rng(5)
    weights = {n: rng.standard_normal(shape) for n, shape in program.weights.items()}
    samples = {"X": rng.standard_normal((4, m))}
    cells = [(n, *place) for n, s in program.weights.items() for place in np.ndindex(*s)]
    arithmetic = _Doubles(number=truediv)
    J = program_jacobian(program, arithmetic, placed(program, weights, samples), cells)
    rank, _, _ = whole_rank(model, list(program.weights), m=m)
    assert rank == np.linalg.matrix_rank(J)


def test_roots_at_the_point():
    """At a point found each root has the square that the program says, also in parts."""
    model = Model(_net(5))
    point = random_program_point(model, 6, "squares")
    assert point.has_roots
    assert any(mask.any() for mask in point.arithmetic.formal.turned.values())
    columns = Columns(model, point, 6, ["b0"])
    whole = columns.of([("b0", 1)])
    assert not any(bad.any() for _, bad in point.arithmetic.formal.invalid)
    columns.step, columns._kept = 2, None
    assert (columns.of([("b0", 1)]) == whole).all()


def test_equal_values_have_equal_roots():
    """A norm that is computed twice cancels, whatever its sign."""
    build = Builder()
    x, W = build.sample("X", (3,)), build.weight("W", (3, 3))
    z = build.contract("ij,j->i", W, x)
    difference = build.subtract(_normalized(build, z, 3), _normalized(build, z, 3))
    program = build.program(build.add(difference, build.contract("ij,j->i", W, difference)))
    point = random_program_point(Model(program), 8, "twice")
    assert point.has_roots
    assert not Columns(Model(program), point, 8, ["W"]).of([("W", 0, 1), ("W", 2, 2)]).any()


def _of_square(build, z):
    return build.contract("i,i->", z, z)


@pytest.mark.parametrize("kind", ["square", "multiple", "product"])
def test_dependent_roots(kind):
    """Roots of squares, of multiples and products of values with roots are not independent."""
    build = Builder()
    x, W = build.sample("X", (3,)), build.weight("W", (3, 3))
    z = build.contract("ij,j->i", W, x)
    first = build.index([0], z)
    u, v = _of_square(build, z), _of_square(build, x)
    under = {
        "square": [_of_square(build, first)],
        "multiple": [u, build.scale(u, Fraction(3))],
        "product": [u, v, build.multiply(u, v)],
    }[kind]
    total = build.add(*map(build.root, under))
    model = Model(build.program(total))
    assert not roots_are_independent(model, "dependent")
    assert roots_are_independent(Model(build.program(build.root(u))), "one")


def test_roots_side_by_side():
    """Norms of several tokens exist together; too many of them are given up in words."""
    for tokens, exact in ((4, True), (16, False)):
        build = Builder()
        x, W = build.sample("X", (tokens, 3)), build.weight("W", (3, 3))
        z = build.contract("ij,tj->ti", W, x)
        square = build.contract("ti,ti->t", z, z)
        h = build.contract("ti,t->ti", z, build.invert(build.root(square)))
        z = build.add(h, build.contract("ij,tj->ti", W, h))
        square = build.contract("ti,ti->t", z, z)
        net = build.program(build.contract("ti,t->i", z, build.invert(build.root(square))))
        found = argued(Model(net), "tokens")
        assert found.is_exact == exact
        assert exact or "square roots are formal values" in found.words


def test_points_are_kept_for_other_subsets(monkeypatch):
    """The search is not repeated for as many samples or fewer, which are the first of them."""
    model = Model(_net(1))
    point = random_program_point(model, 3, "kept", bits=23)
    assert random_program_point(model, 3, "kept", bits=23) is point
    fewer = random_program_point(model, 2, "kept", bits=23)
    assert fewer.p == point.p
    assert np.array_equal(fewer.blocks["X"], point.blocks["X"][..., :2])
    cells = [("W0", 0, 1), ("W0", 2, 2)]
    rows, all_rows = (Columns(model, own, own.samples, ["W0"]).of(cells) for own in (fewer, point))
    assert np.array_equal(rows, all_rows[: len(rows)])
    others = [random_program_point(model, m, seed) for m, seed in ((3, "kept"), (4, "kept"))]
    assert len({id(own) for own in (point, *others)}) == 3
    monkeypatch.setattr(generic, "_LARGEST_POINT", 100)
    large = [random_program_point(model, 50, "large") for _ in range(2)]
    assert large[0] is not large[1]


def test_a_long_search_of_roots_is_given_up_and_said(monkeypatch):
    """Its work is bounded, modulo one prime; ranks there are upper bounds, in words."""
    model = Model(_net(2))
    assert argued(model, "short").is_exact
    searches = []
    monkeypatch.setattr(roots, "_WORK", 1 << 12)
    search = roots.RootSearch.samples
    monkeypatch.setattr(roots.RootSearch, "samples", lambda *a: searches.append(a) or search(*a))
    point = random_program_point(model, 400, "long", bits=23)
    assert (point.has_roots, point.is_free, len(searches)) == (False, True, 1)
    random_program_point(model, 500, "another", bits=23)
    assert len(searches) == 1
    assert "square roots are formal values" in argued(model, "long").words
    monkeypatch.undo()
    assert random_program_point(model, 3, "few", bits=23).has_roots
