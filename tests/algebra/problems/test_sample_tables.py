"""Tables of samples: columns by name, other formats, and errors with row and column."""

import gzip
from fractions import Fraction

import numpy as np
import pytest

from algebra.problems.files import load_problem
from algebra.problems.laws import data
from algebra.problems.sample_tables import read_samples
from matchprob import decide, verify
from tests.refusals import refuses

PROBLEM = """
[network]
kind = "ffn"
activation = "relu"
q = 2
widths = [2]
d = 1
m = 2
[learnable]
W1 = [[1, 1], [0, 0]]
[distribution]
"""


def _written(folder, table, laws):
    (folder / "d.csv").write_text(table)
    path = folder / "p.toml"
    path.write_text(PROBLEM + laws)
    return path


def test_one_table_has_inputs_and_labels(tmp_path):
    """Columns are chosen by their headers, in any order; the problem holds the numbers."""
    table = "y,b,a\n0.1,2,1\n-3,1/2,4e-1\n"
    laws = 'inputs = { file = "d.csv", columns = ["a", "b"] }\n'
    laws += 'labels = { file = "d.csv", column = "y" }\n'
    problem = load_problem(_written(tmp_path, table, laws))
    assert problem.to_dict()["distribution"]["inputs"] == [["1", "2"], ["2/5", "1/2"]]
    assert problem.to_dict()["distribution"]["labels"] == [["1/10"], ["-3"]]


def test_a_proof_needs_no_table(tmp_path):
    """A decision file holds the samples and labels: it is verified without the problem's files."""
    laws = 'inputs = "d.csv"\nlabels = [[1], ["1/2"]]\n'
    path = _written(tmp_path, "1,2\n-3,0.5\n", laws)
    proof = decide(load_problem(path), 0).certificate()
    (tmp_path / "d.csv").unlink()
    path.unlink()
    assert verify(proof).holds
    assert proof["X"][0][0] == "1"
    assert "teacher" not in proof
    forged = {**proof, "verdict": "no match" if proof["verdict"] == "match" else "match"}
    assert not verify(forged).holds


@pytest.mark.parametrize("name", ["d.csv", "d.tsv", "d.csv.gz", "d.npy"])
def test_formats(tmp_path, name):
    """Text with or without a header, compressed, and arrays."""
    path, text = tmp_path / name, "a,b\n1,2\n-3,0.5\n"
    if name.endswith(".npy"):
        np.save(path, np.array([[1.0, 2.0], [-3.0, 0.5]]))
    elif name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text.replace(",", "\t") if name.endswith(".tsv") else text)
    found = data.as_data(read_samples(path), "inputs")
    assert found == ((1, 2), (-3, Fraction(1, 2)))


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("a,b\n1,2\n3,x\n", r"row 3, column 2 \(b\) is 'x', which is no number"),
        ("1,2\n3,\n", "row 2, column 2 is empty"),
        ("a,b\n1,2\n3\n", "row 3 has 1 columns, row 2 has 2"),
        ("a,b\n1,nan\n3,4\n", r"row 2, column 2 \(b\)"),
        ("a,b\n1,inf\n3,4\n", r"row 2, column 2 \(b\)"),
        ("a,b\n1,1e999999999\n3,4\n", r"row 2, column 2 \(b\)"),
        ("", "is empty"),
        ("a,b\n1,2\n", "has 1 rows of 2 numbers"),
        ("a,b\n1,2\n3,4\n5,6\n", "has 3 rows of 2 numbers"),
        ("PK\x03\x04", "zip archive"),
    ],
)
def test_bad_tables_are_told_in_one_line(tmp_path, table, words):
    """The file, the row and the column."""
    refuses(words, load_problem, _written(tmp_path, table, 'inputs = "d.csv"\n'))


@pytest.mark.parametrize(
    ("laws", "words"),
    [
        ('inputs = "none.csv"\n', "none.csv does not exist"),
        ('inputs = { file = "d.csv", columns = ["a", "z"] }\n', "no column is named 'z'"),
        ('inputs = { file = "d.csv", columns = [] }\n', "words of the header"),
        ('inputs = { file = "d.csv", column = "a", columns = ["a"] }\n', "one of them"),
        ('inputs = { file = "d.exe" }\n', "must be a table that ends in"),
        ('inputs = { file = "d.csv", colunm = "a" }\n', "colunm"),
    ],
)
def test_wrong_entries_are_refused(tmp_path, laws, words):
    """The key, and what it must be."""
    refuses(words, load_problem, _written(tmp_path, "a,b\n1,2\n3,4\n", laws))


def test_sizes_are_bounded(tmp_path, monkeypatch):
    """More numbers than the limit are refused, before they become rationals."""
    monkeypatch.setattr("algebra.problems.sample_tables.MOST_NUMBERS", 3)
    refuses(
        "at most 3 are read", load_problem, _written(tmp_path, "1,2\n3,4\n", 'inputs = "d.csv"')
    )
