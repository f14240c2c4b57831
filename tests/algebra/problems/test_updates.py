"""Updates: their form in files, their maps, their sizes, refused ones."""

import tomllib

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from algebra.problems.files import problem_from_dict
from algebra.problems.updates import Gain, LowRank, Tied, read_update
from algebra.ranks.parametrized import by_parameters
from matchprob import InputError, LinearEstimator, LinearRNN, Problem, RandomCells
from tests.refusals import refuses

NET = LinearRNN(n=3, T=2, b=2, d=2, m=3)
UPDATES = (
    LowRank(2), Gain("rows"), Gain("columns"), Tied([[1, 1, 0], [0, 5, 1], [2, 0, 5]]),
    Gain("rows", [4, 0, 4]), Gain("columns", [2, 1, 2]),
    Gain("cells", [[1, 1, 0], [0, 5, 1], [2, 0, 5]]),
)  # fmt: skip


@pytest.mark.parametrize("update", UPDATES, ids=str)
def test_files_read_back(update):
    """A problem with an update is written as TOML and as plain data, and reads back equal."""
    problem = Problem(NET, {"W": update, "D": [[1, 0, 0], [0, 0, 1]]})
    again = problem_from_dict(tomllib.loads(problem.to_toml()))
    assert again == problem
    assert again.digest == problem.digest
    assert problem_from_dict(problem.to_dict()).updates == {"W": update}
    assert Problem(NET, {"W": update.to_dict()}).updates == {"W": update}


@pytest.mark.parametrize("key", ["gain", "tied"])
def test_groups_have_names(key):
    """`called` names the groups in the order of their numbers, and is kept in files."""
    groups = [[0, 5, 0], [2, 0, 5], [0, 0, 2]]
    table = {"gain": "cells", "groups": groups} if key == "gain" else {"tied": groups}
    problem = Problem(NET, {"W": {**table, "called": ["E→I", "I→E"]}})
    names = [f"{key[0]}_W[E→I]", f"{key[0]}_W[I→E]"]
    assert problem.learning.names == names
    again = problem_from_dict(tomllib.loads(problem.to_toml()))
    assert again == problem
    assert again.learning.names == names


@pytest.mark.parametrize("update", UPDATES, ids=str)
def test_programs_apply_updates(update):
    """A program with the update as values of blocks gives the labels of the updated matrix."""
    net = LinearEstimator(q=3, d=3, m=3)
    asked = by_parameters(Problem(net, {"W": update}))
    rng = np.random.default_rng(1)

    def drawn(shape):
        return np.array([fmpq(int(v), 7) for v in rng.integers(-9, 9, shape).flat]).reshape(shape)

    weights = {name: drawn(shape) for name, shape in asked.network.shapes.items()}
    arrays = update.arrays((3, 3))
    values = {letter: weights[f"{letter}_W"].reshape(own) for letter, own in arrays.items()}
    X = drawn((3, 3))
    assert (asked.network.forward(weights, X) == update.apply(weights["W"], values) @ X).all()
    assert len(update.names("W", (3, 3))) == update.size((3, 3))


def test_structural_zeros():
    """Gains keep structural zeros, ties must respect them, a low rank would fill them."""
    support = {"W": [[1, 1, 0], [0, 1, 1], [1, 0, 1]]}
    gained = Problem(NET, {"W": {"gain": "columns"}}, support)
    assert gained.learning.moving.size == 6
    with pytest.raises(InputError, match=r"tied\[0\]\[2\] is 1 but support.W\[0\]\[2\] is 0"):
        Problem(NET, {"W": {"tied": [[1, 0, 1], [0, 0, 0], [0, 0, 0]]}}, support)
    refuses(r"fills the structural zeros of support\.W", Problem, NET, {"W": {"lora": 1}}, support)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"lora": 0}, "must be at least 1"),
        ({"lora": 4}, "lora = 4 is more than 3"),
        ({"lora": True}, "must be a whole number"),
        ({"lora": 1.0}, "must be a whole number"),
        ({"gain": "row"}, 'must be "rows", "columns" or "cells"'),
        ({"gain": 3}, 'must be "rows", "columns" or "cells"'),
        ({"tied": [[1, 2]]}, "`tied` is 1×2 but the network's matrix is 3×3"),
        ({"tied": [[1, 2, -1]] * 3}, "must be at least 0"),
        ({"tied": [[1], [1, 2]]}, "must be a matrix of whole numbers"),
        ({"tied": "W.csv"}, "must be a matrix of whole numbers"),
        ({"lora": 1, "gain": "rows"}, "one of the keys random, lora, gain, tied"),
        ({"lora": 1, "called": ["a"]}, "`called` names groups of `groups` or `tied`, not of"),
        ({"gain": "rows", "called": ["a"]}, "must be a list of 0 names"),
        ({"gain": "rows", "groups": [1, 2, 2], "called": "ab"}, "must be a list of 2 names"),
        ({"gain": "rows", "groups": [1, 2, 2], "called": ["a", ""]}, "`called[1]` ('') must be a"),
        ({"gain": "rows", "groups": [1, 2, 2], "called": ["a", "a"]}, "names two groups 'a'"),
        ({"rank": 1}, "one of the keys random, lora, gain, tied"),
    ],
)
def test_refusals(table, words):
    """The message names the matrix and the error."""
    assert words in str(refuses(r"learnable\.W", Problem, NET, {"W": table}))


def test_what_does_not_go_together():
    """Constraints, random cells and supports do not apply to updates."""
    with pytest.raises(InputError, match=r"\[constraints\] are about single weights"):
        problem_from_dict(
            {**Problem(NET, {"W": {"lora": 1}}).to_dict(), "constraints": {"max_abs": 1}}
        )
    with pytest.raises(InputError, match="random cells are drawn for each trial"):
        Problem(NET, {"W": {"lora": 1}, "D": RandomCells(2)})
    with pytest.raises(InputError, match=r"support.W .* must be a mask"):
        problem_from_dict({"network": NET.to_dict(), "support": {"W": {"lora": 1}}})


def test_ties_from_a_file(tmp_path):
    """The numbers may be in a CSV or NPY file beside the problem."""
    (tmp_path / "ties.csv").write_text("1,1,0\n2,0,0\n0,0,2\n")
    np.save(tmp_path / "ties.npy", np.array([[1, 1, 0], [2, 0, 0], [0, 0, 2]]))
    for name in ("ties.csv", "ties.npy"):
        data = {"network": NET.to_dict(), "learnable": {"W": {"tied": name}}}
        found = problem_from_dict(data, tmp_path).updates["W"]
        assert found == Tied([[1, 1, 0], [2, 0, 0], [0, 0, 2]])
    (tmp_path / "ties.csv").write_text("1,x,0\n2,0,0\n0,0,2\n")
    with pytest.raises(InputError, match="whole number"):
        problem_from_dict({"network": NET.to_dict(), "learnable": {"W": {"tied": "ties.csv"}}},
                          tmp_path)  # fmt: skip


@given(rows=st.integers(1, 6), columns=st.integers(1, 6), k=st.integers(1, 6))
def test_dimension_of_a_low_rank(rows, columns, k):
    """k (p + q − k) is the rank of the tangent of U Vᵀ at a random point, in doubles."""
    k = min(k, rows, columns)
    net = LinearEstimator(q=columns, d=rows, m=columns)
    problem = Problem(net, {"W": LowRank(k)})
    rng = np.random.default_rng(rows * 100 + columns * 10 + k)
    U, V = rng.normal(size=(rows, k)), rng.normal(size=(k, columns))
    J = np.hstack([np.kron(np.eye(rows), V.T), np.kron(U, np.eye(columns))])
    assert problem.learning.dimension == np.linalg.matrix_rank(J)
    assert problem.learning.size == J.shape[1]


def test_read_update_names_the_place():
    """Messages begin with the given place."""
    refuses(r"^here: ", read_update, {"lora": -1}, "here")
