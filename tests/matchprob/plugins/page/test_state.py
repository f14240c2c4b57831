"""The state of the page: conversion to data and back, errors with their location."""

import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from algebra.problems.files import problem_from_dict
from matchprob import InputError, LinearRNN, Problem
from matchprob.plugins.page.state import (
    Misplaced,
    kinds,
    pack,
    parse,
    read_sizes,
    read_state,
    resized,
    state_of,
    unpack,
    with_table,
)
from tests.refusals import refuses

NET = '[network]\nkind = "lrnn"\nn = 2\nT = 2\nb = 1\nd = 1\nm = 2\n'


@given(st.integers(1, 9), st.integers(1, 9), st.randoms(use_true_random=False))
def test_masks_read_back(rows, columns, rng):
    """A mask packed as text is read back unchanged."""
    mask = np.array([[rng.randint(0, 1) for _ in range(columns)] for _ in range(rows)])
    np.testing.assert_array_equal(unpack(pack(mask), (rows, columns), "W"), mask)


def test_a_state_reads_back():
    """A state contains the whole problem: masks, zeros, laws, constraints."""
    problem = Problem(
        LinearRNN(n=3, T=2, b=1, d=1, m=2),
        {"W": [[1, 0, 0], [0, 1, 0], [0, 0, 0]]},
        {"W": [[1, 1, 0], [1, 1, 1], [1, 0, 1]]},
    )
    data = {**problem.to_dict(), "distribution": {"weights": "uniform"}}
    names = {"neurons": ["PV", "SST", "VIP"]}
    problem = problem_from_dict({**data, "constraints": {"max_abs": 3.0}, "names": names})
    again = read_state(state_of(problem, "x.toml").to_dict())
    assert again.problem == problem
    assert again.problem.names.to_dict() == names
    assert again.name == "x.toml"


TYPED = """
[network]
kind = "rnn"
n = 3
T = 2
b = 1
d = 1
m = 2
activation = "tanh"
biases = true

[names]
neurons = ["a", "b", "c"]

[types]
neurons = ["E", "E", "I"]

[support]
W = [[0, 1, 1], [1, 0, 1], [1, 0, 0]]

[learnable]
W = { gain = "cells" }
c = "all"
"""


def test_a_state_with_parameters_reads_back(tmp_path):
    """Gains and ties of types come back with their names; the page knows what moves each weight."""
    state = parse(TYPED, tmp_path)
    again = read_state(state.to_dict())
    assert again.problem == state.problem
    names = ["g_W[E→E]", "g_W[I→E]", "g_W[E→I]", "t_c[E]", "t_c[I]"]
    assert again.problem.learning.names == state.problem.learning.names == names
    learns = again.learns()
    assert learns["W"]["parameters"] == names[:3]
    assert learns["W"]["index"] == [0, 1, 2, 1, 0, 2, 3, 0, 0]
    larger = replace(state.problem.network, m=5)
    assert resized(state, larger).problem.updates == state.problem.updates
    grown = resized(state, replace(state.problem.network, n=4)).problem
    assert not grown.updates
    assert parse(state.problem.to_toml(), tmp_path).problem.learning.names == names


def test_a_table_is_dropped_where_parameters_learn(tmp_path):
    """Synapses of gains are replaced, and gains by weights; ties keep theirs."""
    state = parse(TYPED, tmp_path)
    fewer = with_table(state, "0,1,0\n1,0,1\n1,0,0\n", "W", "support").problem
    assert fewer.updates["W"] == state.problem.updates["W"]
    assert fewer.learning.moving.size == 4 + 3
    single = with_table(state, "0,1,0\n0,0,0\n0,0,0\n", "W", "learnable").problem
    assert list(single.updates) == ["c"]
    refuses("a weight that does not exist", with_table, state, "1\n0\n1\n", "c", "support")


def test_measured_weights_read_back(tmp_path):
    """Values with a jitter are part of the state; networks of another size have none."""
    text = TYPED + "[values]\nW = [[0, 0.5, 0.25], [1, 0, 2], [0.125, 0, 0]]\njitter = 0.1\n"
    state = parse(text, tmp_path)
    assert state.problem.values
    assert read_state(state.to_dict()).problem == state.problem
    assert not resized(state, replace(state.problem.network, n=4)).problem.values


@pytest.mark.parametrize(
    "change",
    [
        {"updates": 3},
        {"updates": {"W": 3}},
        {"updates": {"V": {"gain": "rows"}}},
        {"updates": {"W": {"gain": "rows", "called": ["a"]}}},
        {"updates": {"W": {"tied": "groups.csv"}}},
        {"network": {"kind": "lrnn", "n": 2}},
        {"network": None},
        {"learnable": {"W": "A"}},
        {"learnable": {"W": "!!"}},
        {"learnable": {"V": "AA"}},
        {"learnable": 3},
        {"learnable": {"W": "AAAA"}},
        {"other": 1},
        {"name": 3, "support": {"W": 7}},
        {"constraints": {"max_abs": "bounds.csv"}},
        {"constraints": {"sign": {"W": "signs.npy"}}},
        {"network": {"kind": "lffn", "q": 1, "widths": [1] * 3000, "d": 1, "m": 1}},
        {"network": {"kind": "linear", "q": 512, "d": 512, "m": "/etc/passwd"}},
    ],
)
def test_damaged_states_are_refused(change):
    """Users can edit an address: an invalid state is bad input, not a bug."""
    state = state_of(Problem(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 0], [0, 0]]})).to_dict()
    refuses("", read_state, {**state, **change})


def test_no_file_is_read_for_a_state(tmp_path, monkeypatch):
    """A state names no files: even an existing file in the served folder is not read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bounds.csv").write_text("1,1\n1,1\n")
    state = state_of(Problem(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 0], [0, 0]]})).to_dict()
    with pytest.raises(InputError, match="names a file"):
        read_state({**state, "constraints": {"max_abs": {"W": "bounds.csv"}}}, tmp_path)


@pytest.mark.parametrize(
    "name",
    ["../secret.csv", "../secret.csv/", "../secret.csv/.", "link.csv", "sub/../../secret.csv"],
)
@pytest.mark.parametrize("table", ["learnable", "constraints"])
def test_no_file_outside_the_folder_is_read(table, name, tmp_path):
    """A name that leads out of the folder is not read; one inside must be a file."""
    folder = tmp_path / "served"
    folder.mkdir()
    (tmp_path / "secret.csv").write_text("1,0\n0,1\n")
    (folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    entry = "max_abs = { W = " if table == "constraints" else "W = "
    text = NET + f'[{table}]\n{entry}"{name}"' + (" }\n" if table == "constraints" else "\n")
    refuses("lies outside the folder", parse, text, folder, error=Misplaced)
    os.mkfifo(folder / "pipe.csv")
    with pytest.raises(Misplaced, match="no regular file"):
        parse(NET + '[learnable]\nW = "pipe.csv"\n', folder)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = 1\nb = \nc = 3\n", 2),
        ("a = [1,\n2,\nb = 3\n", 1),
        ("a = 1\n" * 2, 2),
        ("x = 1\n" + "y = [\n" + "1,\n" * 1000, 1002),
        ("\n" * 300_000 + "x = \n", 300_001),
        ("x = '" + "a" * 3_000_000 + "'\ny =\n", 2),
    ],
)
def test_invalid_toml_is_reported_with_its_line(text, line, tmp_path):
    """The line where the invalid statement begins; in long texts the line of the error."""
    assert refuses("", parse, text, tmp_path, error=Misplaced).line == line


@pytest.mark.parametrize(
    ("text", "place", "line"),
    [
        ("[network\n", "text", 1),
        (NET + "[learnable]\nW = [[1, 0],\n     [0, 2]]\n", "learnable", 8),
        (NET.replace("n = 2", "n = 0"), "network.n", 3),
        (NET.replace('"lrnn"', '"cnn"'), "network.kind", 2),
        (NET.replace("m = 2", "m = 2\nq = 1"), "network", 1),
        (NET + '[distribution]\nweights = "cauchy"\n', "distribution", 8),
        (NET + '[learnable]\nW = "../../secret.csv"\n', "text", None),
        (NET.replace("n = 2", "n = 5000"), "network", 1),
    ],
)
def test_errors_in_files_have_their_location(text, place, line, tmp_path):
    """An error in a file is reported with its table and line."""
    caught = refuses("", parse, text, tmp_path, error=Misplaced)
    assert (caught.place, caught.line) == (place, line)


def test_matrix_files_in_the_folder_are_read(tmp_path):
    """A matrix file in the folder is read; a random allocation is drawn."""
    (tmp_path / "mask.csv").write_text("1,0\n0,1\n")
    state = parse(NET + '[learnable]\nW = "mask.csv"\n', tmp_path)
    assert state.problem.allocation.size == 2
    drawn = parse(NET + "[learnable]\nW = { random = { budget = 3 } }\n", tmp_path)
    assert drawn.problem.allocation.size == 3


def test_other_sizes_keep_the_common_part():
    """A larger network keeps the masks, a smaller one the part that fits."""
    state = state_of(Problem(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 0], [0, 1]]}))
    larger = resized(state, LinearRNN(n=3, T=2, b=1, d=1, m=2))
    assert str(larger.problem.allocation) == "W[0,0] W[1,1]"
    smaller = resized(larger, LinearRNN(n=1, T=2, b=1, d=1, m=2))
    assert str(smaller.problem.allocation) == "W[0,0]"


def test_every_kind_can_be_chosen():
    """Each kind lists its sizes; with sizes of 2 most kinds give a network."""
    for kind in kinds():
        sizes = {
            size["name"]: [2, 2] if size["form"] == "numbers" else 2
            for size in kind["sizes"]
            if size["default"] is None
        }
        if "hidden" in sizes:
            sizes["hidden"] = [2]
        assert read_sizes({"kind": kind["kind"], **sizes}).kind == kind["kind"]


def test_each_size_has_a_form():
    """Number, list of numbers, flag or choice: every default has the form of its size."""
    forms = {(kind["kind"], size["name"]): size for kind in kinds() for size in kind["sizes"]}
    assert forms["rnn", "biases"]["form"] == "flag"
    assert forms["ffn", "widths"]["form"] == "numbers"
    assert forms["lrnn", "n"]["form"] == "number"
    assert "linear" in forms["normnet", "activation"]["words"]
    assert "polynomial" in forms["rnn", "activation"]["with_numbers"]
    assert forms["rnn", "leak"]["form"] == "text"
    of = {"number": int, "flag": bool, "numbers": list, "choice": str, "text": int}
    for size in forms.values():
        assert size["default"] is None or type(size["default"]) is of[size["form"]]
        if size["form"] == "choice":
            assert size["default"] in size["words"]


@pytest.mark.parametrize("word", ["tanh", "sigmoid", "softplus", "erf", "linear", "polynomial"])
def test_every_word_of_a_choice_is_accepted(word):
    """The network accepts every activation that the page offers."""
    activation = {word: [0, "1/2", 1]} if word == "polynomial" else word
    data = {"kind": "rnn", "n": 2, "T": 2, "b": 1, "d": 1, "m": 2, "activation": activation}
    assert read_sizes(data).sizes["activation"] == activation
    [offered] = [
        size["words"]
        for kind in kinds()
        for size in kind["sizes"]
        if (kind["kind"], size["name"]) == ("rnn", "activation")
    ]
    assert word in offered
