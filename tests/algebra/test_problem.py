"""Problem files: every form there is, and whatever else may stand in one."""

import copy
import hashlib
import io
import json
import random
import string
import tomllib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.allocation import Allocation
from algebra.errors import InputError
from algebra.networks import LinearFeedForward, LinearRNN, ShallowReLU
from algebra.problem import (
    LAWS,
    Distribution,
    Problem,
    load_problem,
    network_from_dict,
    problem_from_dict,
)
from algebra.sampling import RandomCells

HEAD = '[network]\nkind = "lrnn"\nn = 2\nT = 2\nb = 1\nd = 1\nm = 2\n'
DIAGONAL = [[1, 0], [0, 1]]
NETWORK = {"kind": "lrnn", "n": 2, "T": 2, "b": 1, "d": 1, "m": 2}
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


def refused(make, *words):
    """The call is an input error of one line that holds these words."""
    with pytest.raises(InputError) as caught:
        make()
    text = str(caught.value)
    assert "\n" not in text
    for word in words:
        assert word in text
    return text


@pytest.fixture
def file(tmp_path):
    """A function from the text (or bytes) of a problem file to its path."""

    def write(content, name="p.toml"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def altered(data, path, **changes):
    """A copy with some entries of one table replaced (None: taken away)."""
    result = copy.deepcopy(data)
    table = result
    for key in path:
        table = table.setdefault(key, {})
    for key, value in changes.items():
        if value is None:
            del table[key]
        else:
            table[key] = value
    return result


# --- what is right ---------------------------------------------------------------------


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
    """A digest is the start of SHA-256 of the sorted JSON, and stays so over versions."""
    problem = problem_from_dict(altered(VALID[0], ("learnable",), D=None))
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
    """Network, mask, support, law and random specification all tell problems apart."""
    net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    problems = [
        Problem(net, {"W": DIAGONAL}),
        Problem(LinearRNN(n=2, T=3, b=1, d=1, m=2), {"W": DIAGONAL}),
        Problem(net, {"W": [[1, 1], [0, 1]]}),
        Problem(net, {"W": DIAGONAL}, {"W": [[1, 1], [0, 1]]}),
        Problem(net, {"W": DIAGONAL}, distribution=Distribution(teacher="uniform")),
        Problem(net, {"W": RandomCells(2)}),
        Problem(net, {"W": RandomCells(2, rows=2)}),
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
    """CSV and NumPy files are found beside the problem file, wherever one is."""
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


def test_which_laws_are_continuous():
    """Only Rademacher parts make generic verdicts no claim about MP."""
    for law in LAWS:
        for name in ("weights", "inputs", "teacher"):
            assert Distribution(**{name: law}).is_continuous == (law != "rademacher")


def test_a_file_without_learnable_is_read_where_none_is_needed(file):
    """Searches need only a network; the others ask for the table."""
    path = file(HEAD)
    assert load_problem(path, need_learnable=False).allocation.size == 0
    refused(lambda: load_problem(path), str(path), "[learnable]")


# --- what is wrong ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({}, ["no [network] table"]),
        ([], ["must be a table"]),
        ({"network": 3}, ["`network` (3) must be a table", "[network]"]),
        ({"network": [NETWORK]}, ["`network`", "[network]"]),
        ({**VALID[0], "learnables": {}}, ["unknown table `learnables`", "learnable"]),
        ({**VALID[0], "a\nb": {}}, [r"unknown table `a\nb`"]),
        ({**VALID[0], "learnable": []}, ["`learnable` ([]) must be a table"]),
        ({**VALID[0], "learnable": {"V": [[1]]}}, ["[learnable] names `V`", "D, W, B"]),
        ({**VALID[0], "support": {"V": [[1]]}}, ["[support] names `V`", "D, W, B"]),
        ({**VALID[0], "distribution": {"weigths": "normal"}}, ["unknown key `weigths`"]),
        ({**VALID[0], "distribution": {"weights": "cauchy"}}, ["weights", "'cauchy'", "normal"]),
        ({**VALID[0], "distribution": {"inputs": 3}}, ["distribution.inputs (3)"]),
        ({**VALID[0], "distribution": {"inputs": ["normal"]}}, ["distribution.inputs"]),
        ({**VALID[0], "distribution": "normal"}, ["`distribution` ('normal')"]),
        ({**VALID[0], "support": {"W": {"random": {"budget": 1}}}}, ["support.W is random"]),
        (
            {**VALID[0], "support": {"W": [[1, 1], [1, 0]]}},
            ["learnable.W[1, 1] is 1 but support.W[1, 1] is 0"],
        ),
    ],
)
def test_wrong_tables_are_named(data, words):
    """The message says which table or key, and what there is instead."""
    refused(lambda: problem_from_dict(data), *words)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kind": None}, ["no `kind`", "lrnn"]),
        ({"kind": "rnn"}, ["network.kind ('rnn')", "lrnn"]),
        ({"kind": ["lrnn"]}, ["network.kind"]),
        ({"n": None, "m": None}, ["lacks n, m"]),
        ({"q": 2}, ["unknown key `q`", "T, b, d"]),
        ({"n": "2"}, ["`n` ('2')", "whole number"]),
        ({"n": 2.0}, ["`n` (2.0)", "whole number"]),
        ({"n": True}, ["`n` (True)", "whole number"]),
        ({"n": -3}, ["`n` (-3)", "at least 1"]),
        ({"n": 0}, ["`n` (0)"]),
        ({"n": 10**6}, ["1000000×1000000"]),
        ({"T": 10**30}, ["`T`"]),
        pytest.param({"T": 16**6000}, ["`T`", "too large"], id="huge"),
        ({"T": [2]}, ["`T` ([2])"]),
        ({"T": {}}, ["`T` ({})"]),
    ],
)
def test_wrong_networks_are_named(changes, words):
    """So in the [network] table."""
    data = altered({"network": NETWORK}, ("network",), **changes)
    refused(lambda: problem_from_dict(data), *words)
    refused(lambda: network_from_dict(data["network"]), *words)


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        ([], ["2×2"]),
        ([[]], ["1×0"]),
        ([1, 0, 0, 1], ["1 dimension"]),
        ([[1, 0], [0]], ["lengths [2, 1]"]),
        ([[1, 0, 0], [0, 1, 0]], ["2×3", "2×2"]),
        ([[1, 2], [0, 1]], ["[0, 1] is 2"]),
        ([["1", 0], [0, 1]], ["[0, 0] is '1'"]),
        ([[float("nan"), 0], [0, 1]], ["[0, 0] is nan"]),
        ([[0.5, 0], [0, 1]], ["[0, 0] is 0.5"]),
        (1, ["2×2"]),
        (True, ["2×2"]),
        ("w.txt", ["'w.txt'", ".csv"]),
        ("", ["''", ".csv"]),
        ({}, ["must be a table, not None"]),
        ({"randon": {}}, ["unknown key `randon`", "random"]),
        ({"random": 3}, ["`learnable.W`.random must be a table, not 3"]),
        ({"random": {}}, ["lacks `budget`"]),
        ({"random": {"budget": "3"}}, ["learnable.W: `random.budget` ('3')"]),
        ({"random": {"budget": True}}, ["`random.budget` (True)"]),
        ({"random": {"budget": -1}}, ["`random.budget` (-1)"]),
        ({"random": {"budget": 5}}, ["learnable.W: no 2×2 allocation meets random { budget = 5 }"]),
        ({"random": {"budget": 10**20}}, ["no 2×2 allocation"]),
        ({"random": {"budget": 1, "rows": 2}}, ["no 2×2 allocation"]),
        ({"random": {"budget": 1, "rows": 3}}, ["random.rows (3) exceeds"]),
        ({"random": {"budget": 1, "cols": 3}}, ["unknown key `cols`", "columns"]),
        ({"random": {"budget": 3, "max_per_column": 1}}, ["no 2×2 allocation"]),
    ],
)
def test_wrong_matrices_are_named(mask, words):
    """So a matrix that is none, in every form it can take."""
    data = {"network": NETWORK, "learnable": {"W": mask}}
    refused(lambda: problem_from_dict(data), *words)


def test_a_budget_of_zero_is_an_empty_allocation():
    """No cell at all is a legal, if hopeless, wish."""
    data = {"network": NETWORK, "learnable": {"W": {"random": {"budget": 0}}}}
    assert problem_from_dict(data).draw(random.Random(0)).size == 0


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda net: Problem(net, DIAGONAL), "`learnable` ([[1, 0], [0, 1]]) must map"),
        (lambda net: Problem(net, {"W": DIAGONAL}, DIAGONAL), "`support`"),
        (lambda net: Problem(net, {"W": DIAGONAL}, distribution="normal"), "`distribution`"),
        (lambda net: Problem(net, {"W": DIAGONAL}, {"W": RandomCells(1)}), "`support.W`"),
    ],
)
def test_wrong_arguments_are_named(make, word):
    """A mask where a mapping belongs is the commonest slip in Python."""
    refused(lambda: make(LinearRNN(n=2, T=2, b=1, d=1, m=2)), word)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["no [network] table"]),
        (b"network", ["not valid TOML"]),
        (b"\x00\x01\x02", ["not valid TOML"]),
        (b"\xff\xfe\x00", ["cannot be read"]),
        (b"a = " + b"[" * 100_000, ["nested"]),
        (b"a = " + b"9" * 5000, ["cannot be read"]),
        (b"n = 2\nn = 3\n", ["not valid TOML"]),
        (HEAD.encode() + b'[learnable]\n"W\\nx" = [[1]]\n', [r"`W\nx`"]),
        (HEAD.replace("n = 2", "n = 0x" + "f" * 6000).encode(), ["`n`", "too large"]),
        (HEAD.encode() + b"[learnable]\nW = 1979-05-27\n", ["learnable.W"]),
        (HEAD.encode() + b"[learnable]\nW = [[07:32:00, 0], [0, 1]]\n", ["[0, 0]"]),
    ],
    ids=lambda v: repr(v[:12]) if isinstance(v, bytes) else "",
)
def test_files_that_are_no_problem_are_refused(content, words, file):
    """Binary, damaged or hostile files end in one line that begins with the file's name."""
    path = file(content)
    assert refused(lambda: load_problem(path), *words).startswith(f"{path}: ")


def test_paths_that_are_no_files_are_refused(tmp_path):
    """A missing file, a directory and impossible names."""
    refused(lambda: load_problem(tmp_path / "no.toml"), "no.toml: no such file")
    refused(lambda: load_problem(tmp_path), str(tmp_path), "directory")
    refused(lambda: load_problem("a\0b"), r"a\x00b")
    refused(lambda: load_problem("a\nb"), r"a\nb: no such file")
    refused(lambda: load_problem("x" * 5000), "cannot be read")


def saved(array, **more):
    """The bytes of a .npy file."""
    buffer = io.BytesIO()
    np.save(buffer, array, **more)
    return buffer.getvalue()


def npy(header):
    """A .npy file with any header and no data."""
    text = header.encode("latin1")
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def archive():
    buffer = io.BytesIO()
    np.savez(buffer, a=np.eye(2))
    return buffer.getvalue()


BAD_MATRICES = {
    "missing.csv": None,
    "missing.npy": None,
    "empty.csv": b"",
    "words.csv": b"one,two\n",
    "ragged.csv": b"1,0\n1\n",
    "wide.csv": b"1,0,0\n0,1,0\n",
    "nul.csv": b"1,\x00\n0,1\n",
    "latin.csv": b"1,\xe9\n0,1\n",
    "field.csv": b"1" * 200_000,
    "semicolon.csv": b"1;0\n0;1\n",
    "empty.npy": b"",
    "text.npy": b"1,0\n0,1\n",
    "zip.npy": b"PK\x03\x04 garbage",
    "npz.npy": archive(),
    "pickle.npy": saved(np.array([[1, {}], [0, 1]], dtype=object), allow_pickle=True),
    "3d.npy": saved(np.zeros((2, 2, 2))),
    "0d.npy": saved(np.array(1)),
    "nan.npy": saved(np.array([[np.nan, 0], [0, 1]])),
    "complex.npy": saved(np.array([[1j, 0], [0, 1]])),
    "record.npy": saved(np.zeros((2, 2), [("a", int)])),
    "short.npy": saved(np.eye(2))[:-8],
    "huge.npy": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (10**6, 10**6), }\n"),
    "terabytes.npy": npy(
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000,1000000), }\n"
    ),
    "overflow.npy": npy(
        "{'descr': '<f8', 'fortran_order': False, 'shape': (%s,2), }\n" % ("9" * 30)
    ),
    "keys.npy": npy("{'descr': '<f8', 1: False, 'shape': (2,2), }\n"),
    "open.npy": npy("((((\n"),
    "indent.npy": npy("   x\n y\n"),
    "long.npy": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2,2), }" + " " * 20000),
    "deep.npy": npy("(" * 3000),
}


@pytest.mark.parametrize("name", BAD_MATRICES)
def test_matrix_files_that_are_none_are_refused(name, file):
    """Each is one line that names problem file, entry and (where it cannot be read) the file."""
    content = BAD_MATRICES[name]
    if content is not None:
        file(content, name)
    path = file(HEAD + f'[learnable]\nW = "{name}"\n')
    assert refused(lambda: load_problem(path), "`learnable.W`").startswith(f"{path}: ")


def test_other_file_names_are_refused(file):
    """Only .csv and .npy are matrices; impossible names are shown on one line."""
    for name in ("w.txt", "w", "w.npz", "a\\nb.txt", ".csv", "x\\u0000.csv", "x\\u0000.npy", "."):
        path = file(HEAD + f'[learnable]\nW = "{name}"\n')
        refused(lambda path=path: load_problem(path), "`learnable.W`")


def test_a_folder_named_like_a_matrix_is_refused(file, tmp_path):
    """A folder w.csv is no matrix."""
    (tmp_path / "w.csv").mkdir()
    path = file(HEAD + '[learnable]\nW = "w.csv"\n')
    refused(lambda: load_problem(path), "`learnable.W`", "w.csv", "directory")


# --- whatever may come ------------------------------------------------------------------

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
JUNK = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(WORDS | st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


def outcome(make):
    """What the call makes, or None and the message of its input error."""
    try:
        return make(), ""
    except InputError as error:
        return None, str(error)


def survives(data):
    """A problem comes out, or an input error of one line."""
    problem, message = outcome(lambda: problem_from_dict(data))
    if problem is None:
        assert message
        assert "\n" not in message
        assert len(message) < 400
    else:
        assert problem_from_dict(problem.to_dict()) == problem


def places(data, path=()):
    """All places of a nested value, the whole included."""
    yield path
    if isinstance(data, dict):
        for key in data:
            yield from places(data[key], (*path, key))
    elif isinstance(data, list):
        for k in range(len(data)):
            yield from places(data[k], (*path, k))


@given(st.sampled_from(VALID), st.data())
@settings(max_examples=400)
def test_one_wrong_place_is_an_input_error_or_harmless(valid, data):
    """A valid problem with a value replaced, removed or added never ends in another error."""
    problem = copy.deepcopy(valid)
    path = data.draw(st.sampled_from(list(places(problem))[1:]))
    target = problem
    for step in path[:-1]:
        target = target[step]
    change = data.draw(st.sampled_from(["replace", "remove", "add"]))
    if change == "remove":
        del target[path[-1]]
    elif change == "replace" or isinstance(target, list):
        target[path[-1]] = data.draw(JUNK)
    else:
        target[data.draw(WORDS | st.text(max_size=3))] = data.draw(JUNK)
    survives(problem)


@given(st.dictionaries(WORDS | st.text(max_size=2), JUNK, max_size=4))
@settings(max_examples=150)
def test_any_tables_are_an_input_error_or_harmless(data):
    """So does a dict of anything."""
    survives(data)


@given(st.binary(max_size=200) | st.text(string.printable, max_size=100).map(str.encode))
@settings(max_examples=100)
def test_any_bytes_are_an_input_error(tmp_path_factory, content):
    """So does a file of anything."""
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_bytes(content)
    refused(lambda: load_problem(path), "any.toml: ")


@given(
    st.binary(max_size=60),
    st.text(string.printable, max_size=80),
    st.sampled_from(["raw", "header", "csv"]),
)
@settings(max_examples=150)
def test_any_matrix_file_is_an_input_error_or_a_mask(tmp_path_factory, content, text, kind):
    """So does a matrix file of anything."""
    folder = tmp_path_factory.getbasetemp()
    name = "any.csv" if kind == "csv" else "any.npy"
    made = {"raw": content, "header": npy(text) + content, "csv": text.encode() + content}[kind]
    (folder / name).write_bytes(made)
    data = {"network": {"kind": "linear", "q": 1, "d": 1, "m": 1}, "learnable": {"W": name}}
    problem, message = outcome(lambda: problem_from_dict(data, folder))
    if problem is None:
        assert "`learnable.W`" in message
        assert "\n" not in message
    else:
        assert problem.learnable["W"].tolist() in ([[0]], [[1]])


def test_a_relu_problem_is_a_problem():
    """Networks that are not linear are described in the same way."""
    problem = problem_from_dict(VALID[3])
    assert problem.network == ShallowReLU(q=1, n=2, d=1, m=1)
    assert problem.allocation.cells == (("W1", 0, 0),)
