"""All learnable parameters: cells first, then parameters of updates; types of units."""

import tomllib
from pathlib import Path

import pytest

from algebra.problems.files import problem_from_dict
from matchprob import InputError, Problem
from tests.algebra.problems.test_updates import NET
from tests.refusals import refuses


def test_cells_and_updates_together():
    """Parameters are the cells first; changed cells are a union of masks; cell queries refuse."""
    problem = Problem(NET, {"W": {"gain": "rows"}, "D": [[1, 0, 0], [0, 0, 1]]})
    learning = problem.learning
    assert learning.names == ["D[0,0]", "D[1,2]", "g_W[0]", "g_W[1]", "g_W[2]"]
    assert learning.size == learning.dimension == 5
    assert learning.moving.size == 2 + 9
    assert learning.matrices == ("D", "W")
    with pytest.raises(InputError, match=r'W learns by \{ gain = "rows" \}: this verb'):
        _ = problem.allocation


RNN_TABLE = {"kind": "rnn", "n": 4, "T": 2, "b": 1, "d": 1, "m": 3, "biases": True}
KINDS = ["E", "E", "I", "E"]


def read(folder=None, **tables):
    """A problem from tables of a file."""
    return problem_from_dict({"network": RNN_TABLE, **tables}, folder)


def test_types_tie_what_learns():
    """Cells by pairs of types, biases and gains by type; units without a type count singly."""
    W = [[1, 1, 1, 0], [1, 0, 1, 0], [0, 1, 1, 1], [0, 0, 0, 0]]
    problem = read(
        learnable={"W": W, "c": "all", "D": "all", "B": {"gain": "rows"}},
        types={"neurons": KINDS},
    )
    learning = problem.learning
    assert learning.names == [
        "t_D[E→0]", "t_D[I→0]", "t_W[E→E]", "t_W[I→E]", "t_W[E→I]", "t_W[I→I]",
        "g_B[E]", "g_B[I]", "t_c[E]", "t_c[I]",
    ]  # fmt: skip
    assert problem.updates["W"].numbers == ((1, 1, 2, 0), (1, 0, 2, 0), (0, 3, 4, 3), (0,) * 4)
    assert read_back(problem).updates == problem.updates
    single = read(learnable={"W": [[1, 0, 1, 0], [0] * 4, [1, 0, 0, 0], [0] * 4]},
                  types={"neurons": KINDS})  # fmt: skip
    assert not single.updates


def read_back(problem):
    """The problem that its own file says."""
    return problem_from_dict(tomllib.loads(problem.to_toml()))


def test_signs_by_type():
    """Dale's law: the sign of a neuron's outputs, in every matrix of its outgoing weights."""
    problem = read(
        learnable={"W": [[1, 1, 1, 0], [0, 0, 1, 1], [0] * 4, [0] * 4], "D": "all"},
        types={"neurons": KINDS, "together": False},
        constraints={"sign": {"E": "+", "I": "-"}},
    )
    assert not problem.updates
    sign = problem.constraints.sign
    assert sign["W"] == ((1, 1, -1, 0), (0, 0, -1, 1), (0,) * 4, (0,) * 4)
    assert sign["D"] == ((1, 1, -1, 1),)


def test_files_of_types(tmp_path):
    """A type per line, or names and types in any order."""
    (tmp_path / "one.txt").write_text("type\nE\nE\nI\nE\n", encoding="utf-8")
    (tmp_path / "two.csv").write_text("name,type\nd,E\nc,I\nb,E\na,E\n", encoding="utf-8")
    names = {"neurons": ["a", "b", "c", "d"]}
    for file in ("one.txt", "two.csv"):
        found = read(tmp_path, learnable={"c": "all"}, types={"neurons": file}, names=names)
        assert found.updates["c"].numbers == ((1,), (1,), (2,), (1,))


def test_types_have_signs():
    """Signs of types are those of their neurons; a matrix's own take precedence."""
    types = {"neurons": ["E", "I", "E", "M"]}
    laws = {"signs": {"E": "+", "I": -1}}
    found = read(Path(), learnable={"W": "all"}, types=types, distribution=laws)
    assert found.updates
    assert found.distribution.signs["W"] == ((1, -1, 1, 0),) * 4
    assert found.distribution.signs["D"] == ((1, -1, 1, 0),)
    laws = {"signs": {"E": 1, "W": [0, 0, 0, -1]}}
    found = read(Path(), learnable={"W": "all"}, types=types, distribution=laws)
    assert found.distribution.signs == {"D": ((1, 0, 1, 0),), "W": ((0, 0, 0, -1),) * 4}


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"types": {"neurons": ["E"]}}, "types.neurons has 1 types for 4 units"),
        ({"types": {"layer2": KINDS}}, "types.layer2: a recurrent network has no such units"),
        ({"types": {"neurons": ["E", "", "I", "E"]}}, r"types.neurons\[1\] \(''\) must be a word"),
        ({"types": {"neurons": "none.csv"}}, "which does not exist"),
        ({"types": {"neurons": KINDS, "together": 1}}, "must be true or false"),
        (
            {"types": {"neurons": KINDS}, "constraints": {"sign": {"X": "+"}}},
            "constraints.sign.X: no unit is of this type",
        ),
        (
            {"types": {"neurons": KINDS}, "constraints": {"sign": {"E": "keep"}}},
            r"constraints.sign.E \('keep'\) must be",
        ),
        (
            {"types": {"neurons": KINDS}, "constraints": {"sign": {"E": "+"}}},
            "are about single weights, but W learns by",
        ),
        (
            {"types": {"neurons": KINDS}, "distribution": {"signs": {"X": "+"}}},
            r"signs.X` \('\+'\): no unit is of this type; types are E, I",
        ),
        ({"distribution": {"signs": {"E": 1}}}, "types are none: there is no \\[types\\]"),
        (
            {"types": {"neurons": KINDS}, "distribution": {"signs": {"E": "keep"}}},
            "signs.E` is 'keep': a sign is 1, -1 or 0",
        ),
        (
            {"types": {"neurons": KINDS}, "distribution": {"signs": {"E": 1, "neurons": [1] * 4}}},
            "signs.neurons`: signs of these units and of their types are given",
        ),
        (
            {"types": {"neurons": KINDS}, "distribution": {"signs": {"neurons": 1}}},
            r"signs.neurons` \(1\) must be a list of signs",
        ),
        (
            {"types": {"neurons": KINDS}, "values": {"W": [[1] * 4] * 4}},
            "without jitter makes weights exact numbers, but W learns by .*: add a jitter",
        ),
    ],
)
def test_refusals_of_types(tables, words):
    """Each names its place."""
    refuses(words, read, Path(), learnable={"W": "all"}, **tables)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,E\nb,E\na,I\nd,E\n", "row 3 has 'a' again, after row 1"),
        ("a,E\nb,E\nx,I\nd,E\n", "row 3 names 'x', which is none of the"),
        ("a,E\nb,E\nd,E\n", "'c' has no type"),
    ],
)
def test_rows_of_types(tmp_path, text, words):
    """The message names the wrong row of the file."""
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    names = {"neurons": ["a", "b", "c", "d"]}
    refuses(words, read, tmp_path, learnable={"W": "all"}, types={"neurons": "t.csv"}, names=names)
