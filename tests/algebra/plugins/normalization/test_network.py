"""The kind `normnet`: shapes, labels, problem files."""

import tomllib

import numpy as np
import pytest

from algebra.plugins.normalization.network import NormNet
from algebra.problems.files import problem_from_dict
from matchprob import Problem, draw_instance
from tests.refusals import refuses

TABLES = {
    "network": {"kind": "normnet", "widths": [2, 3, 2], "hidden": [6, 5], "m": 4},
    "learnable": {"g1": "all", "b1": "all", "W2": "all"},
}


def test_layers_by_hand():
    """Labels follow the formula of Theorem 1, unit by unit, and the teacher's labels too."""
    net = NormNet((2, 1), (2,), 1)
    weights = {
        "W1": np.array([[1, 2], [3, 4]]), "g1": np.array([[2], [-1]]), "b1": np.array([[0], [1]]),
        "W2": np.array([[5, 6]]), "g2": np.array([[3]]), "b2": np.array([[7]]),
    }  # fmt: skip
    X = np.array([[1], [1]])
    # Hidden: relu(2·3 + 0) = 6, relu(−7 + 1) = 0; output 3·30 + 7.
    assert net.forward(weights, X).tolist() == [[97]]
    teacher = {"T1": np.array([[1, -2]]), "t1": np.array([[4]])}
    assert net.teach(teacher, X).tolist() == [[3]]


def test_blocks_of_several_layers_by_hand():
    """A list of v hidden widths is v + 1 frozen layers; a list of one width is that width."""
    net = NormNet((2, 1), ((2, 1),), 1)
    assert net.layers == 3
    weights = {
        "W1": np.array([[1, 2], [3, 4]]), "g1": np.array([[2], [-1]]), "b1": np.array([[0], [1]]),
        "W2": np.array([[5, 6]]), "g2": np.array([[-1]]), "b2": np.array([[31]]),
        "W3": np.array([[2]]), "g3": np.array([[3]]), "b3": np.array([[7]]),
    }  # fmt: skip
    # Hidden: (6, 0) as above, relu(−30 + 31) = 1; output 3·2 + 7.
    assert net.forward(weights, np.array([[1], [1]])).tolist() == [[13]]
    assert NormNet((2, 1), ((4,),), 1) == NormNet((2, 1), (4,), 1)
    tables = {"network": {**TABLES["network"], "hidden": [[6, 3, 4], 5]}}
    problem = problem_from_dict(tables)
    assert problem.network.blocks == (range(1, 5), range(5, 7))
    assert problem.to_dict()["network"]["hidden"] == [[6, 3, 4], 5]
    assert problem_from_dict(tomllib.loads(problem.to_toml())) == problem


def test_relu_only_between_layers():
    """Teacher and student have no ReLU after the last layer, and none at all if linear."""
    deep = {"T1": np.array([[-1]]), "t1": np.array([[0]]),
            "T2": np.array([[-1]]), "t2": np.array([[0]])}  # fmt: skip
    X = np.array([[2, -2]])
    assert NormNet((1, 1, 1), (1, 1), 2).teach(deep, X).tolist() == [[0, -2]]
    assert NormNet((1, 1, 1), (1, 1), 2, "linear").teach(deep, X).tolist() == [[2, -2]]


def test_problem_file_round_trip():
    """A problem file is read, written and read again; "all" means every weight."""
    problem = problem_from_dict(TABLES)
    assert problem.network == NormNet((2, 3, 2), (6, 5), 4)
    assert problem.allocation.size == 6 + 6 + 3 * 6
    assert problem.to_dict()["network"]["activation"] == "relu"
    assert problem_from_dict(tomllib.loads(problem.to_toml())) == problem


def test_all_keeps_to_the_support():
    """With a support "all" means every weight that exists."""
    problem = Problem(NormNet((1, 1), (2,), 1), {"g1": "all"}, {"g1": [[1], [0]]})
    assert problem.allocation.cells == (("g1", 0, 0),)


def test_instances_have_a_dense_teacher():
    """Drawn instances hold the target's own matrices; labels are exact in rationals too."""
    problem = problem_from_dict(TABLES)
    instance = draw_instance(problem, 0, 3)
    assert set(instance.teacher) == {"T1", "t1", "T2", "t2"}
    exact = instance.exact[2]
    assert instance.labels.shape == exact.shape == (2, 4)
    wanted = [float(entry.p) / float(entry.q) for entry in exact.ravel()]
    assert np.allclose(wanted, instance.labels.ravel())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"activation": "tanh"}, "activation"),
        ({"hidden": [6]}, "hidden"),
        ({"widths": [2]}, "widths"),
        ({"widths": 3}, "widths"),
        ({"hidden": [6, 0]}, "hidden"),
        ({"hidden": [6, []]}, r"hidden\[1\].*at least one width"),
        ({"hidden": [6, [2, 0]]}, r"hidden\[1\]\[1\]"),
        ({"hidden": [6, [[2], 3]]}, r"hidden\[1\]\[0\]"),
        ({"widths": [2, [3, 3], 2]}, r"widths\[1\]"),
        ({"m": None}, "m"),
    ],
)
def test_wrong_sizes_are_told(change, words):
    """Wrong entries of the table raise InputError with the key's name."""
    refuses(words, problem_from_dict, {**TABLES, "network": TABLES["network"] | change})
