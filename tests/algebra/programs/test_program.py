"""The builder of programs: shapes are checked, equal operations become one node."""

import pickle
from fractions import Fraction

import numpy as np
import pytest

from algebra.programs.program import Builder


def test_equal_operations_are_one_node():
    """An operation built twice is one node; another letter or factor gives another."""
    build = Builder()
    W, x = build.weight("W", (2, 2)), build.sample("X", (2,))
    first = build.contract("ij,j->i", W, x)
    assert build.contract("ij,j->i", W, x) == first
    assert build.contract("ji,j->i", W, x) != first
    assert build.scale(x, 2) == build.scale(x, Fraction(2))
    assert build.scale(x, 1) == x
    assert build.constant([1, 2]) == build.constant(np.array([1, 2]))
    assert build.constant([1, 2], 3) != build.constant([1, 2])


def test_a_value_is_batched_where_a_sample_enters():
    """Values that depend on weights alone are the same for all samples."""
    build = Builder()
    W, x = build.weight("W", (2, 2)), build.sample("X", (2,))
    square = build.contract("ij,jk->ik", W, W)
    assert not square.batched
    assert build.contract("ij,j->i", square, x).batched
    program = build.program(build.contract("ij,j->i", square, x))
    assert program.weights == {"W": (2, 2)}
    assert program.samples == {"X": (2,)}
    assert program.needed([square.number]) == {W.number, square.number}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda b, W, x: b.contract("ij,k->i", W, x, x), "3 values, 2 groups"),
        (lambda b, W, x: b.contract("ijk,k->i", W, x), "for the shape"),
        (lambda b, W, x: b.contract("ij,i->j", W, x), "both 3 and 2"),
        (lambda b, W, x: b.contract("ij,j->k", W, x), "cannot be made"),
        (lambda b, W, x: b.add(W, x), "differ"),
        (lambda b, W, x: b.power(x, -1), "use invert"),
        (lambda b, W, x: b.index([0, 2], x), "of 2 entries"),
        (lambda b, W, x: b.weight("X", (2,)), "two blocks"),
        (lambda b, W, x: b.constant([0.5]), "integers"),
    ],
)
def test_a_wrong_shape_is_refused(make, said):
    """Each message names the mismatch."""
    build = Builder()
    W, x = build.weight("W", (3, 2)), build.sample("X", (2,))
    with pytest.raises(ValueError, match=said):
        make(build, W, x)


def test_programs_go_to_other_processes():
    """A pickled program has the same nodes and named values, which nobody can change."""
    build = Builder()
    y = build.contract("ij,j->i", build.weight("W", (2, 2)), build.sample("X", (2,)))
    build.name("state", y)
    program = build.program(y)
    again = pickle.loads(pickle.dumps(program))
    assert [node.op for node in again.nodes] == [node.op for node in program.nodes]
    assert (again.output, dict(again.named)) == (program.output, {"state": y.number})
    assert type(again.named) is type(program.named)
