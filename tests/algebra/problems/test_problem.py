"""Problem files: every valid form, and arbitrary content."""

import copy
import hashlib
import io
import json
import random
import tomllib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.networks.feedforward import LinearFeedForward
from algebra.networks.recurrent import LinearRNN
from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.allocation import Allocation
from algebra.problems.files import load_problem, problem_from_dict
from algebra.problems.laws.distribution import LAWS, Distribution
from algebra.problems.premises import Feature
from algebra.problems.problem import Problem
from algebra.problems.random_cells import RandomCells
from tests.algebra.problems.refusals import HEAD, NETWORK, outcome, refused
from tests.plain_data import places, value_at
from tests.samples import NET, many

DIAGONAL = [[1, 0], [0, 1]]
VALID = [
    {"network": NETWORK, "learnable": {"W": DIAGONAL, "D": [[1, 1]]}},
    {
        "network": {"kind": "lffn", "q": 2, "widths": [2, 3], "d": 1, "m": 2},
        "learnable": {"W2": {"random": {"budget": 2, "rows": 2, "max_per_row": 1}}},
        "support": {"W1": [[1, 1], [1, 0]]},
        "distribution": {"weights": "uniform", "inputs": "rademacher"},
    },
    {
        "network": {"kind": "linear", "q": 2, "d": 2, "m": 2},
        "learnable": {"W": {"random": {"budget": 2, "columns": 2, "max_per_column": 1}}},
        "support": {"W": [[1, 1], [1, 0]]},
    },
    {"network": {"kind": "relu", "q": 1, "n": 2, "d": 1, "m": 1}, "learnable": {"W1": [[1], [0]]}},
]


# --- valid files ------------------------------------------------------------------------


@pytest.mark.parametrize("data", VALID, ids=lambda d: d["network"]["kind"])
def test_a_problem_reads_back_from_its_own_text(data):
    """Dict to problem to TOML to problem: equal, with the same digest and hash."""
    problem = problem_from_dict(data)
    again = problem_from_dict(tomllib.loads(problem.to_toml()))
    assert again == problem
    assert (again.digest, hash(again)) == (problem.digest, hash(problem))
    assert problem_from_dict(problem.to_dict()) == problem
    json.dumps(problem.to_dict())


def test_the_text_of_a_problem_file(file):
    """The file of the design page reads as the problem made by hand."""
    text = HEAD + "\n[learnable]\nW = [[1, 0],\n     [0, 1]]\n"
    expected = Problem(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": DIAGONAL})
    assert load_problem(file(text)) == expected
    assert load_problem(str(file(b"\xef\xbb\xbf" + text.encode()))) == expected
    assert expected.allocation.cells == (("W", 0, 0), ("W", 1, 1))
    assert not expected.is_random


def test_digests_do_not_change():
    """A digest is the start of SHA-256 of the sorted JSON, and is the same in all versions."""
    problem = problem_from_dict({"network": NETWORK, "learnable": {"W": DIAGONAL}})
    text = (
        '{"learnable":{"W":[[1,0],[0,1]]},"network":{"T":2,"b":1,"d":1,"kind":"lrnn","m":2,"n":2}}'
    )
    assert problem.digest == hashlib.sha256(text.encode()).hexdigest()[:16] == "a6755dbc2cf671e5"
    # The order in which matrices are given does not count.
    a = Problem(problem.network, {"W": DIAGONAL, "D": [[1, 1]]})
    b = Problem(problem.network, {"D": [[1, 1]], "W": DIAGONAL})
    assert a == b
    assert a.digest == b.digest != problem.digest


def test_every_part_changes_the_digest():
    """Network, mask, support, law and random specification all distinguish problems."""
    problems = [
        Problem(NET, {"W": DIAGONAL}),
        Problem(LinearRNN(n=2, T=3, b=1, d=1, m=2), {"W": DIAGONAL}),
        Problem(NET, {"W": [[1, 1], [0, 1]]}),
        Problem(NET, {"W": DIAGONAL}, {"W": [[1, 1], [0, 1]]}),
        Problem(NET, {"W": DIAGONAL}, distribution=Distribution(teacher="uniform")),
        Problem(NET, {"W": RandomCells(2)}),
        Problem(NET, {"W": RandomCells(2, rows=2)}),
    ]
    assert len({p.digest for p in problems}) == len(problems)
    assert all((p == q) == (p is q) for p in problems for q in problems)
    assert problems[0] != "problem"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("w.csv", b"1,0\n0,1\n"),
        ("w.csv", b"\xef\xbb\xbf1, 0\r\n\r\n 0 ,1.0\r\n"),
        ("w.npy", np.array(DIAGONAL)),
        ("w.npy", np.array(DIAGONAL, bool)),
        ("w.npy", np.asfortranarray(DIAGONAL).astype(np.float32)),
    ],
)
def test_matrices_beside_the_problem_file(name, content, file, monkeypatch, tmp_path):
    """CSV and NumPy files are found in the folder of the problem file."""
    if isinstance(content, np.ndarray):
        buffer = io.BytesIO()
        np.save(buffer, content)
        content = buffer.getvalue()
    file(content, name)
    path = file(HEAD + f'[learnable]\nW = "{name}"\n[support]\nW = "{name}"\n')
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    problem = load_problem(path)
    assert problem.allocation.masks["W"].tolist() == DIAGONAL
    assert problem.support["W"].tolist() == DIAGONAL


def test_masks_of_a_problem_cannot_be_changed():
    """A problem is a value: its masks are copies, and read-only."""
    mask = np.array(DIAGONAL)
    problem = Problem(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": mask}, {"W": mask})
    mask[0, 1] = 1
    assert problem.learnable["W"].tolist() == problem.support["W"].tolist() == DIAGONAL
    for made in (problem.learnable["W"], problem.support["W"]):
        with pytest.raises(ValueError, match="read-only"):
            made[0, 0] = 0


def test_random_allocations_are_drawn_from_the_stream():
    """A random problem has no allocation of its own; each draw meets the specification."""
    problem = problem_from_dict(VALID[1])
    assert problem.is_random
    refused(lambda: problem.allocation, "random", "fixed")
    drawn = {problem.draw(random.Random(seed)) for seed in range(20)}
    assert len(drawn) > 3
    assert all(a.row_counts("W2") in ([1, 1, 0], [1, 1]) for a in drawn)
    assert problem.draw(random.Random(7)) == problem.draw(random.Random(7))
    one = next(iter(drawn))
    fixed = problem.with_allocation(one)
    assert fixed.allocation == one
    assert fixed.draw(random.Random(0)) == one
    assert fixed.support.keys() == problem.support.keys()
    assert fixed.distribution == problem.distribution


def test_the_problem_of_an_allocation():
    """`Problem.of` keeps the cells and names only matrices that learn."""
    net = LinearFeedForward(q=2, widths=(2,), d=2, m=2)
    allocation = Allocation.rows(net, "W1", [1])
    problem = Problem.of(allocation, distribution=Distribution(inputs="uniform"))
    assert problem.allocation == allocation
    assert list(problem.learnable) == ["W1"]
    assert problem.distribution.inputs == "uniform"


def test_which_laws_are_discrete():
    """Only Rademacher parts restrict generic verdicts to no claim about MP."""
    for law in LAWS:
        for name in ("weights", "inputs", "teacher"):
            problem = Problem(NET, {}, distribution=Distribution(**{name: law}))
            assert (Feature.DISCRETE in problem.features) == (law == "rademacher")


def test_a_file_without_learnable_is_read_where_none_is_needed(file):
    """Searches need only a network; the others ask for the table."""
    path = file(HEAD)
    assert load_problem(path, need_learnable=False).allocation.size == 0
    refused(lambda: load_problem(path), str(path), "[learnable]")


# --- arbitrary files -------------------------------------------------------------------

WORDS = st.sampled_from(
    ["network", "learnable", "support", "distribution", "kind", "n", "m", "W", "random", "budget"]
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.sampled_from([10**9, 2**64])
    | st.sampled_from([1, -1]).map(lambda sign: sign * 16**6000)
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["lrnn", "linear", "lffn", "relu", "normal", "w.csv", "w.npy"])
    | st.dates()
)


def _nest(inner):
    keys = WORDS | st.text(max_size=2)
    return st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3)


JUNK = st.recursive(LEAVES, _nest, max_leaves=8)


def survives(data):
    """The result is a problem, or an input error of one line."""
    problem, message = outcome(lambda: problem_from_dict(data))
    if problem is None:
        assert message
        assert "\n" not in message
        assert len(message) < 400
    else:
        assert problem_from_dict(problem.to_dict()) == problem


@given(st.sampled_from(VALID), st.data())
@settings(max_examples=many(400))
def test_one_wrong_place_is_an_input_error_or_harmless(valid, data):
    """A valid problem with a value replaced, removed or added never ends in another error."""
    problem = copy.deepcopy(valid)
    path = data.draw(st.sampled_from(list(places(problem))[1:]))
    target = value_at(problem, path[:-1])
    change = data.draw(st.sampled_from(["replace", "remove", "add"]))
    if change == "remove":
        del target[path[-1]]
    elif change == "replace" or isinstance(target, list):
        target[path[-1]] = data.draw(JUNK)
    else:
        target[data.draw(WORDS | st.text(max_size=3))] = data.draw(JUNK)
    survives(problem)


@given(st.dictionaries(WORDS | st.text(max_size=2), JUNK, max_size=4))
@settings(max_examples=many(150))
def test_any_tables_are_an_input_error_or_harmless(data):
    """The same holds for a dict of any content."""
    survives(data)


def test_a_relu_problem_is_a_problem():
    """Networks that are not linear are described in the same way."""
    problem = problem_from_dict(VALID[3])
    assert problem.network == ShallowReLU(q=1, n=2, d=1, m=1)
    assert problem.allocation.cells == (("W1", 0, 0),)
