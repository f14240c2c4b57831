"""The exact equations of ReLU instances, and solutions of single patterns."""

import numpy as np
import pytest
from flint import fmpq

from algebra.plugins.relu.equations import U_ZERO, V_ZERO, relu_system
from matchprob import InputError, draw_instance
from tests.numeric.plugins.relu.cases import brute_force, problem
from tests.samples import many

MASK = [[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0]]


@pytest.mark.parametrize("index", range(many(16)))
def test_solutions_of_patterns_are_witnesses(index):
    """A pattern's solution reproduces the labels, and every brute-force solution is found."""
    instance = draw_instance(problem(3, 4, 2, 3, W1=MASK), 5, index)
    system = relu_system(instance.allocation, *instance.exact)
    found = set()
    for bits in range(2**9):
        active = np.array([bits >> t & 1 for t in range(9)], bool).reshape(3, 3)
        values = system.solve_pattern(active, np.zeros((3, 3), bool))
        sides = np.where(active, V_ZERO, U_ZERO)
        if values is not None:
            assert system.is_witness(values)
            found.add(tuple(values))
        elif system.has_one_solution(active):
            assert system.refutes_cell(sides)
    assert brute_force(instance)[0] <= found


def test_teacher_is_a_witness_of_itself():
    """With the teacher's weights as the student's fixed ones, its own values match."""
    instance = draw_instance(problem(3, 4, 2, 3, W1=MASK), 5, 0)
    weights, X, Y = instance.exact
    teacher = {
        name: np.array([[fmpq(*float(v).as_integer_ratio()) for v in row] for row in matrix])
        for name, matrix in instance.teacher.items()
    }
    assert weights.keys() == teacher.keys()
    system = relu_system(instance.allocation, teacher, X, Y)
    values = [teacher[name][i, j] for name, i, j in instance.allocation.cells]
    assert system.is_witness(values)
    worse = [values[0] + 1, *values[1:]]
    assert not system.is_witness(worse) or values[0] == worse[0]


def test_other_networks_are_refused():
    """Linear nets have no activation patterns."""
    from algebra.networks.feedforward import LinearEstimator
    from algebra.problems.allocation import Allocation

    net = LinearEstimator(q=2, d=1, m=2)
    with pytest.raises(InputError, match="ReLU nets"):
        relu_system(Allocation.from_masks(net, W=[[1, 1]]), {}, np.zeros((2, 2)), np.zeros((1, 2)))
