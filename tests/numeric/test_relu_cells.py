"""The programs and the tree of activation cells: floating point against exact and brute force."""

import numpy as np
import pytest
from scipy.optimize import linprog

from numeric.relu_cells import CellTree, to_double
from numeric.relu_engine import ComplementarityEngine
from numeric.relu_hull import columns_left, hull, hull_fits, refutation
from numeric.relu_hull_kernel import DIVIDE, NO_MATCH

from .relu_cases import brute_force, instances, problem, random_problem

MASK = [[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0]]


def test_columns_are_those_over_the_rationals():
    """Inputs at vertices and slopes of rays agree with exact ones."""
    for instance in instances(problem(3, 4, 2, 3, W1=MASK), 5):
        tree = CellTree(instance)
        exact = tree.exact_program
        rows = to_double(exact.inputs)
        rows[exact.is_ray] /= np.linalg.norm(rows[exact.is_ray], axis=1)[:, None]
        for unit, ray, row, sign in zip(
            tree.program.unit,
            tree.program.is_ray,
            tree.program.inputs,
            tree.program.signs,
            strict=True,
        ):
            own = (exact.unit == unit) & (exact.is_ray == ray)
            near = np.abs(rows[own] - row).sum(axis=1)
            assert near.min() < 1e-9 * (1 + np.abs(row).sum())
            assert (exact.signs[own][near.argmin()] == sign).all()


def test_root_program_is_scipys():
    """A tree of one leaf means that scipy finds the root infeasible too."""
    seen = 0
    for instance in instances(problem(3, 4, 2, 3, W1=MASK), 20):
        tree = CellTree(instance)
        found = tree.search()
        peer = linprog(np.zeros(len(tree.program.unit)), A_eq=tree.program.A, b_eq=tree.program.b)
        assert (peer.status == 2) == (found.status == NO_MATCH and found.leaves == 1)
        seen += peer.status == 2
    assert 0 < seen < 20


@pytest.mark.parametrize("part", range(3))
def test_counts_are_brute_force(part):
    """The number of solutions is that of all patterns' linear equations."""
    rng = np.random.default_rng(part)
    compared = 0
    for _ in range(25):
        case = random_problem(rng)
        for instance, count in zip(
            instances(case, 4, seed=part),
            ComplementarityEngine(complete=True).count_many(instances(case, 4, seed=part)),
            strict=True,
        ):
            solutions, freedom = brute_force(instance)
            if count.status == "complete":
                assert count.real == len(solutions)
                assert not freedom
                compared += 1
            else:
                assert freedom or count.real is None
    assert compared > 60


def test_every_leaf_is_refuted_over_the_rationals():
    """Rounded vectors of few digits refute every leaf of a complete tree."""
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


def test_sides_only_remove_columns():
    """What agrees with more sides agrees with fewer."""
    instance = instances(problem(3, 4, 2, 3, W1=MASK), 1)[0]
    program = hull(instance)
    rng = np.random.default_rng(0)
    sides = rng.integers(0, 3, (3, 3))
    fewer = sides * rng.integers(0, 2, (3, 3))
    assert not (columns_left(program, sides) & ~columns_left(program, fewer)).any()
    assert columns_left(program, np.zeros((3, 3), int)).all()


def test_divided_search_ends_in_cells():
    """Going on after solutions, every recorded cell has all its sides."""
    for instance in instances(problem(3, 4, 2, 3, W1=MASK), 6, seed=8):
        found = CellTree(instance).search(mode=DIVIDE)
        assert found.status == NO_MATCH
        assert all(
            (sides != 0).all() for sides, k in zip(found.sides, found.kinds, strict=True) if k == 2
        )


def test_many_samples_do_not_fit():
    """Thirty samples and rows of ten weights have too many vertices."""
    wide = problem(20, 2, 2, 30, W1=[[1] * 10 + [0] * 10, [0] * 10 + [1] * 10])
    assert not hull_fits(instances(wide, 1)[0])
