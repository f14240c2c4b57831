"""Wrong problems, problem files and matrix files: one line each, never a traceback."""

import io
import random
import string
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.networks.kinds import network_from_dict
from algebra.problems.files import load_problem, problem_from_dict
from matchprob import InputError, LinearRNN, Problem, RandomCells
from tests.algebra.problems.refusals import HEAD, NETWORK, outcome, refused
from tests.refusals import refuses
from tests.samples import many

DIAGONAL = [[1, 0], [0, 1]]
VALID = {"network": NETWORK, "learnable": {"W": DIAGONAL}}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({}, ["no [network] table"]),
        ([], ["must be a table"]),
        ({"network": 3}, ["`network` (3) must be a table", "[network]"]),
        ({"network": [NETWORK]}, ["`network`", "[network]"]),
        ({**VALID, "learnables": {}}, ["unknown table `learnables`", "learnable"]),
        ({**VALID, "a\nb": {}}, [r"unknown table `a\nb`"]),
        ({**VALID, "learnable": []}, ["`learnable` ([]) must be a table"]),
        ({**VALID, "learnable": {"V": [[1]]}}, ["[learnable] names `V`", "D, W, B"]),
        ({**VALID, "learnable": {"a\nb": {}}}, [r"`learnable.a\nb`"]),
        ({**VALID, "support": {"a\nb": {"random": {"budget": 1}}}}, [r"support.a\nb is random"]),
        ({**VALID, "support": {"V": [[1]]}}, ["[support] names `V`", "D, W, B"]),
        ({**VALID, "distribution": {"weigths": "normal"}}, ["unknown key `weigths`"]),
        ({**VALID, "distribution": {"weights": "cauchy"}}, ["weights", "'cauchy'", "normal"]),
        ({**VALID, "distribution": {"inputs": 3}}, ["distribution.inputs (3)"]),
        ({**VALID, "distribution": {"inputs": ["normal"]}}, ["distribution.inputs"]),
        ({**VALID, "distribution": "normal"}, ["`distribution` ('normal')"]),
        ({**VALID, "support": {"W": {"random": {"budget": 1}}}}, ["support.W is random"]),
        (
            {**VALID, "support": {"W": [[1, 1], [1, 0]]}},
            ["learnable.W[1][1] is 1 but support.W[1][1] is 0"],
        ),
    ],
)
def test_wrong_tables_are_named(data, words):
    """The message says which table or key is wrong, and the given value."""
    refused(lambda: problem_from_dict(data), *words)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kind": None}, ["no `kind`", "lrnn"]),
        ({"kind": "cnn"}, ["network.kind ('cnn')", "lrnn"]),
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
    """The same holds in the [network] table."""
    network = {k: v for k, v in {**NETWORK, **changes}.items() if v is not None}
    data = {"network": network}
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
        ([[1, 2], [0, 1]], ["`learnable.W[0][1]` is 2"]),
        ([["1", 0], [0, 1]], ["`learnable.W[0][0]` is '1'"]),
        ([[float("nan"), 0], [0, 1]], ["`learnable.W[0][0]` is nan"]),
        ([[0.5, 0], [0, 1]], ["`learnable.W[0][0]` is 0.5"]),
        (1, ["2×2"]),
        (True, ["2×2"]),
        ("w.dat", ["'w.dat'", ".csv"]),
        ("", ["''", ".csv"]),
        ({}, ["`learnable.W` ({})", "one of the keys edges, gain"]),
        ({"randon": {}}, ["unknown key `randon`", "random"]),
        ({"random": 3}, ["`learnable.W`.random must be a table, not 3"]),
        ({"random": {}}, ["`learnable.W`.random lacks budget (budget: learnable cells)"]),
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
    """The same holds for an invalid matrix, in every form it can have."""
    data = {"network": NETWORK, "learnable": {"W": mask}}
    refused(lambda: problem_from_dict(data), *words)


def test_a_budget_of_zero_is_an_empty_allocation():
    """An empty set of cells is valid, though it can match nothing."""
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
    """A mask in place of a mapping is the commonest error in Python."""
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
        (HEAD.encode() + b"[learnable]\nW = [[07:32:00, 0], [0, 1]]\n", ["`learnable.W[0][0]`"]),
    ],
    ids=lambda v: repr(v[:12]) if isinstance(v, bytes) else "",
)
def test_files_that_are_no_problem_are_refused(content, words, file):
    """Binary, damaged or hostile files give one line that begins with the file's name."""
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
    assert refused(lambda: load_problem(path), "learnable.W").startswith(f"{path}: ")


def test_other_file_names_are_refused(file):
    """Other endings and files that are not there; impossible names are shown on one line."""
    for name in ("w.txt", "w", "w.npz", "a\\nb.txt", ".csv", "x\\u0000.csv", "x\\u0000.npy", "."):
        path = file(HEAD + f'[learnable]\nW = "{name}"\n')
        refused(lambda path=path: load_problem(path), "`learnable.W`")


def test_a_folder_named_like_a_matrix_is_refused(file, tmp_path):
    """A folder w.csv is not a matrix."""
    (tmp_path / "w.csv").mkdir()
    path = file(HEAD + '[learnable]\nW = "w.csv"\n')
    refused(lambda: load_problem(path), "`learnable.W`", "w.csv", "directory")


@given(st.binary(max_size=200) | st.text(string.printable, max_size=100).map(str.encode))
@settings(max_examples=many(100))
def test_any_bytes_are_an_input_error(tmp_path_factory, content):
    """The same holds for a file of any content."""
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_bytes(content)
    refused(lambda: load_problem(path), "any.toml: ")


@given(
    st.binary(max_size=60),
    st.text(string.printable, max_size=80),
    st.sampled_from(["raw", "header", "csv"]),
)
@settings(max_examples=many(150))
def test_any_matrix_file_is_an_input_error_or_a_mask(tmp_path_factory, content, text, kind):
    """The same holds for a matrix file of any content."""
    folder = tmp_path_factory.getbasetemp()
    name = "any.csv" if kind == "csv" else "any.npy"
    made = {"raw": content, "header": npy(text) + content, "csv": text.encode() + content}[kind]
    (folder / name).write_bytes(made)
    data = {"network": {"kind": "linear", "q": 1, "d": 1, "m": 1}, "learnable": {"W": name}}
    problem, message = outcome(lambda: problem_from_dict(data, folder))
    if problem is None:
        assert "learnable.W" in message
        assert "\n" not in message
    else:
        assert problem.learnable["W"].tolist() in ([[0]], [[1]])


@pytest.mark.parametrize(
    "number", ["0.1000000000000000000001", "1e400", "1e200000000", "1e-400", "3.00000000000000001"]
)
def test_decimals_are_read_whole_or_refused(tmp_path, number):
    """A decimal beyond the doubles is refused at once, not rounded; others are read."""
    text = HEAD + "[learnable]\nW = [[1, 0], [0, 1]]\n[constraints]\nmax_abs = "
    file = tmp_path / "P.toml"
    file.write_text(text + number)
    refused(lambda: load_problem(file), "P.toml", "digits", number[:12])
    for whole in ("0.1", "3.0", "1.5e2", "1_000.25", "inf"):
        file.write_text(text + whole)
        assert load_problem(file).constraints.max_abs == float(whole)
    (tmp_path / "bounds.csv").write_text(f"{number},1\n1,1\n")
    file.write_text(text + '"bounds.csv"')
    if "e" in number and "-" not in number:
        refused(lambda: load_problem(file), "digits")


LRNN = '[network]\nkind = "lrnn"\nn = 2\nT = 2\nb = 1\nd = 1\nm = 2\n[learnable]\nW = "all"\n'


def _loaded(tmp_path, text, **files):
    """The problem of a file in the folder of others."""
    for name, content in files.items():
        (tmp_path / f"{name}.csv").write_text(content)
    (tmp_path / "P.toml").write_text(LRNN + text)
    return load_problem(tmp_path / "P.toml")


def test_edge_lists_of_signs(tmp_path):
    """`pre,post,sign` for signs of the law and for those that a match must have."""
    names = '[names]\nneurons = ["E", "I"]\n'
    edges = "pre,post,sign\nE,E,1\nE,I,+\nI,E,-1\n"
    law = _loaded(tmp_path, names + '[distribution]\nsigns = { W = "e.csv" }\n', e=edges)
    assert law.distribution.signs == {"W": ((1, -1), (1, 0))}
    for rule in ('sign = "e.csv"', 'sign = { W = "e.csv" }', 'sign = { W = { edges = "e.csv" } }'):
        found = _loaded(tmp_path, f"{names}[constraints]\n{rule}\n", e=edges.replace("+", "1"))
        assert found.constraints.sign == {"W": ((1, -1), (1, 0))}
    with pytest.raises(InputError, match="without a column `sign`"):
        _loaded(tmp_path, '[constraints]\nsign = "e.csv"\n', e="pre,post,weight\n0,1,2\n")
    with pytest.raises(InputError, match="a bound is a matrix"):
        _loaded(tmp_path, '[constraints]\nmax_abs = "e.csv"\n', e="pre,post,weight\n0,1,2\n")


def test_signs_of_neurons_in_a_file(tmp_path):
    """A sign per line, or a name and a sign, in any order; other lines are refused."""
    names = '[names]\nneurons = ["E", "I"]\n'
    for content in ("1\n-1\n", "name,sign\nI,-1\nE,1\n", "I,-1\nE,1\n"):
        given = _loaded(tmp_path, names + '[distribution]\nsigns = "s.csv"\n', s=content)
        assert given.distribution.signs == {"W": ((1, -1), (1, -1)), "D": ((1, -1),)}
    for content, text in (
        ("1\n", "has 1 signs for 2 units"), ("1\n2\n", "'2'"), ("1,1\n1,-1\n", "a sign a line"),
        ("pre,post,sign\nE,E,1\n", "name the matrix"), ("A,-1\nE,1\n", "give the same names"),
    ):  # fmt: skip
        with pytest.raises(InputError) as refused:
            _loaded(tmp_path, names + '[distribution]\nsigns = "s.csv"\n', s=content)
        assert text.replace("a sign a line", "a line") in str(refused.value)


def test_signs_of_a_network_whose_units_have_no_names():
    """Signs of a normalization network are refused by name; it has no units with types."""
    text = {
        "network": {"kind": "normnet", "widths": [2, 2], "hidden": [3], "m": 3},
        "learnable": {"g1": "all", "b1": "all"},
    }
    for signs, words in (({"g1": [[1]] * 3}, "not implemented"), ({"E": 1}, "no unit is of this")):
        refuses(words, problem_from_dict, text | {"distribution": {"signs": signs}})


def test_measured_weights_in_a_file(tmp_path):
    """An edge list or a matrix, exactly as it is written; cells that are missing are drawn."""
    text = '[values]\nW = "w.csv"\nB = [[0.1], [1]]\njitter = { relative = 0.05 }\n'
    edges = "pre,post,weight\n0,0,1/3\n1,0,-2.50\n"
    for content in (edges, "1/3,-2.5\nnan,nan\n"):
        values = _loaded(tmp_path, text, w=content).values
        assert values.numbers == {
            ("W", 0, 0): Fraction(1, 3), ("W", 0, 1): Fraction(-5, 2),
            ("B", 0, 0): Fraction(1, 10), ("B", 1, 0): Fraction(1),
        }  # fmt: skip
        assert (values.jitter, values.relative) == (Fraction(1, 20), True)
    assert problem_from_dict(_loaded(tmp_path, text, w=edges).to_dict()).values == values
    refuses("without a column `weight`", _loaded, tmp_path, text, w="pre,post\n0,0\n")
    refuses("'x' is no number", _loaded, tmp_path, text, w="pre,post,weight\n0,0,x\n")


@pytest.mark.parametrize("number", ["1e400", "-1e301", "1e-400"])
@pytest.mark.parametrize("form", ["file", "text", "decimal"])
def test_numbers_beyond_doubles_are_refused_with_their_place(tmp_path, number, form):
    """In a file, as a text or as a decimal: measured weights that no verb could compute with."""
    entries = {"file": '"D.csv"', "text": f'[["{number}", 1]]', "decimal": f"[[{number}, 1]]"}
    place = "line 12" if form == "decimal" else r"`values.D[0][0]`"
    (tmp_path / "D.csv").write_text(f"{number},1\n")
    (tmp_path / "P.toml").write_text(LRNN + f"[values]\n\nD = {entries[form]}\n")
    refused(lambda: load_problem(tmp_path / "P.toml"), "P.toml", place, "too many digits")
