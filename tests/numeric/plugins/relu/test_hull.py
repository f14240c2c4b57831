"""Linear programs over convex hulls: floating point compared with exact arithmetic."""

import numpy as np

from numeric.plugins.relu.cells import CellTree
from numeric.plugins.relu.hull import columns_left, hull_fits, make_hull, refutation
from numeric.plugins.relu.simplex import NO_MATCH
from numeric.trials.instances import to_double
from tests.numeric.plugins.relu.cases import instances, problem

MASK = [[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0]]


def test_columns_are_those_over_the_rationals():
    """Each column in doubles, of a vertex or a ray, is one of the exact program's."""
    for instance in instances(problem(3, 4, 2, 3, W1=MASK), 5):
        tree = CellTree(instance)
        for unit, ray, row, sign in zip(
            tree.program.unit,
            tree.program.is_ray,
            tree.program.inputs,
            tree.program.signs,
            strict=True,
        ):
            exact = tree.refuter.arrangement(unit)
            own = to_double(exact.rays if ray else exact.vertices)
            own = own / np.linalg.norm(own, axis=1)[:, None] if ray else own
            near = np.abs(own - row).sum(axis=1)
            assert near.min() < 1e-9 * (1 + np.abs(row).sum())
            assert (exact.signs[int(ray)][near.argmin()] == sign).all()


def test_every_leaf_is_refuted_over_the_rationals():
    """Every leaf of a complete tree has a rounded vector that refutes it exactly."""
    for instance in instances(problem(3, 4, 2, 3, W1=MASK), 12, seed=4):
        tree = CellTree(instance)
        found = tree.search(every=True)
        if found.status != NO_MATCH:
            continue
        assert len(found.sides) == found.leaves
        for sides in found.sides:
            mu = refutation(tree.program, tree.refuter, sides)
            assert mu is not None
            assert tree.refuter.refutes(sides, mu)


def test_more_sides_leave_fewer_columns():
    """The columns left by some sides are among those left by fewer; no sides leave all."""
    instance = instances(problem(3, 4, 2, 3, W1=MASK), 1)[0]
    program = make_hull(instance)
    rng = np.random.default_rng(0)
    sides = rng.integers(0, 3, (3, 3))
    fewer = sides * rng.integers(0, 2, (3, 3))
    assert not (columns_left(program, sides) & ~columns_left(program, fewer)).any()
    assert columns_left(program, np.zeros((3, 3), int)).all()


def test_hull_programs_of_many_samples_do_not_fit():
    """Thirty samples with rows of ten weights have too many vertices."""
    wide = problem(20, 2, 2, 30, W1=[[1] * 10 + [0] * 10, [0] * 10 + [1] * 10])
    assert not hull_fits(instances(wide, 1)[0])
