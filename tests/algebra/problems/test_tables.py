"""Matrices and edge lists in the forms that spreadsheets and NumPy write."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from algebra.errors import InputError
from algebra.networks.linear import LinearEstimator
from algebra.networks.recurrent import LinearRNN
from algebra.problems.files import load_problem
from algebra.problems.names import Names
from algebra.problems.tables import Edges, check_shape, edge_list, parse_rows, read_names

MASK = [["0", "1"], ["1", "0"]]


@pytest.mark.parametrize(
    "text",
    [
        "0,1\n1,0\n",
        "0;1\r\n1;0\r\n",
        "0\t1\n1\t0",
        "0 1\n1 0\n",
        "a,b\n0,1\n1,0\n",
        ",a,b\nx,0,1\ny,1,0\n",
        "x,0,1\ny,1,0\n",
        ",0,1\n0,0,1\n1,1,0\n",
        '"a","b"\n"0","1"\n"1","0"\n',
        "# made by numpy\n\n0 1\n1 0\n",
    ],
)
def test_one_matrix_in_many_forms(text):
    """Separators, headers, row names, quotes, comments: the same matrix."""
    assert parse_rows(text) == MASK


@given(st.lists(st.lists(st.integers(0, 1), min_size=3, max_size=3), min_size=1, max_size=5))
def test_savetxt_is_read(rows):
    """What np.savetxt writes by default is read back."""
    out = io.StringIO()
    np.savetxt(out, np.array(rows))
    assert [[float(v) for v in row] for row in parse_rows(out.getvalue())] == rows


def test_a_word_in_a_matrix_stays():
    """A wrong entry is echoed by whoever checks, not taken for a header."""
    assert parse_rows("0,1\n1,x\n") == [["0", "1"], ["1", "x"]]


def test_edges_are_onto_rows_from_columns():
    """`post` is the row; order of the columns and case of the header do not matter."""
    found = parse_rows("Post,Pre,cost\n1,0,5/2\n0,2,1\n")
    assert isinstance(found, Edges)
    names = Names(LinearEstimator(q=3, d=2, m=2))
    assert found.cells(names, "W") == {(1, 0): "5/2", (0, 2): "1"}
    assert found.mask(names, "W") == [[0, 0, 1], [1, 0, 0]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pre,cost\n0,1\n", "one column `post`"),
        ("pre,post,length\n0,1,3\n", "pre, post and at most one of"),
        ("pre,post\n0\n", "1 entries"),
        ("pre,post\n,1\n", "edge 1 lacks `pre`"),
        ("", "empty"),
        ("0,\0\n", "NUL"),
    ],
)
def test_refusals_say_why(text, words):
    """What cannot be read is refused with the reason."""
    with pytest.raises(InputError, match=words):
        parse_rows(text)


def test_shapes_are_checked():
    """A table of another shape, or with ragged rows, and edges outside the matrix."""
    with pytest.raises(InputError, match="2×2, but W is 8×8"):
        check_shape(MASK, (8, 8), "W")
    with pytest.raises(InputError, match="different lengths"):
        check_shape([["0"], ["0", "1"]], (2, 2), "W")
    for text, words in (
        ("5,0", "edge 1, from 5 onto 0: `pre` 5 is outside: W has columns 0 to 1"),
        ("0,7", "`post` 7 is outside: W has rows 0 to 1"),
        ("ADAL,1", "number of a unit"),
        ("0,-1", "number of a unit"),
        ("0,1\n0,1", "edge 2, from 0 onto 1, is given twice"),
    ):
        with pytest.raises(InputError, match=words):
            parse_rows(f"pre,post\n{text}\n").mask(Names(LinearEstimator(q=2, d=2, m=2)), "W")


def test_problem_files_take_them(tmp_path):
    """A mask from an edge list, one from np.savetxt, and an edge list for a matrix not there."""
    (tmp_path / "edges.csv").write_text("pre,post\n0,0\n1,1\n")
    np.savetxt(tmp_path / "all.csv", np.ones((2, 2)))
    text = '[network]\nkind = "lrnn"\nn = 2\nT = 2\nb = 1\nd = 1\nm = 2\n'
    path = tmp_path / "p.toml"
    path.write_text(text + '[learnable]\nW = "edges.csv"\n[support]\nW = "all.csv"\n')
    problem = load_problem(path)
    assert problem.learnable["W"].tolist() == [[1, 0], [0, 1]]
    assert problem.support["W"].tolist() == [[1, 1], [1, 1]]
    path.write_text(text + '[learnable]\nV = "edges.csv"\n')
    with pytest.raises(InputError, match=r"learnable.V: there is no matrix"):
        load_problem(path)
    (tmp_path / "edges.csv").write_text("pre,post\n7,0\n")
    path.write_text(text + '[learnable]\nW = "edges.csv"\n')
    with pytest.raises(InputError, match="`pre` 7 is outside: W has columns 0 to 1"):
        load_problem(path)


NAMED = Names(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"neurons": ["PV", "SST"]})


@pytest.mark.parametrize(
    ("third", "value"), [("", ""), (",cost", ",2"), (",weight", ",-0.5"), (",sign", ",-1")]
)
def test_a_third_column(third, value):
    """Cost, weight or sign: the same edges; a weight of 0 is none; another column is refused."""
    found = parse_rows(f"pre,post{third}\nPV,SST{value}\n")
    assert found.column == third.removeprefix(",")
    assert found.mask(NAMED, "W") == [[0, 0], [1, 0]]
    none = parse_rows("pre,post,weight\nPV,SST,0.0\nPV,PV,1\n")
    assert none.mask(NAMED, "W") == [[1, 0], [0, 0]]
    with pytest.raises(InputError, match="at most one of cost, weight, sign"):
        parse_rows("pre,post,length\nPV,SST,1\n")


def test_edges_are_written_as_they_are_read():
    """An edge list that is read back gives the weights; several matrices are named."""
    cells = {("W", 1, 0): "5/2", ("W", 0, 0): "1"}
    text = edge_list(NAMED, cells)
    assert text == "pre,post,cost\nPV,SST,5/2\nPV,PV,1\n"
    assert parse_rows(text).cells(NAMED, "W") == {(1, 0): "5/2", (0, 0): "1"}
    assert edge_list(NAMED, {("W", 1, 0): ""}, "") == "pre,post\nPV,SST\n"
    both = edge_list(NAMED, {("W", 1, 0): "1", ("D", 0, 1): "1"})
    assert both == "matrix,pre,post,cost\nW,PV,SST,1\nD,SST,0,1\n"


def test_names_of_units_from_a_file(tmp_path):
    """One a line, with or without a header and further columns; in a problem file too."""
    (tmp_path / "a.txt").write_text("PV\nSST\n")
    (tmp_path / "b.csv").write_text("name,type\nPV,inhibitory\nSST,inhibitory\n")
    text = "[network]\nkind='lrnn'\nn=2\nT=2\nb=1\nd=1\nm=2\n[names]\nneurons='{}'\n"
    for file in ("a.txt", "b.csv"):
        assert read_names(tmp_path / file) == ["PV", "SST"]
        (tmp_path / "p.toml").write_text(text.format(file))
        problem = load_problem(tmp_path / "p.toml", need_learnable=False)
        assert problem.names.cell(("W", 0, 1)) == "W[PV,SST]"
    (tmp_path / "empty.txt").write_text("name\n")
    for file, words in (("none.txt", "does not exist"), ("empty.txt", "empty"), ("x", "list of")):
        (tmp_path / "p.toml").write_text(text.format(file))
        with pytest.raises(InputError, match=words):
            load_problem(tmp_path / "p.toml", need_learnable=False)
