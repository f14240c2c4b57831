"""Matrices and edge lists in the forms that spreadsheets and NumPy write."""

import io
import re

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from algebra.problems.allocation import as_mask
from algebra.problems.edges import Edges
from algebra.problems.names import Names
from algebra.problems.sheets import TextTable
from algebra.problems.tables import (
    check_shape,
    edge_list,
    parse_rows,
    read_edges,
    read_names,
    rows_of_table,
)
from algebra.time_limits import Interrupted, OutOfTime, StopRequest, stoppable, within
from matchprob import InputError, LinearEstimator, LinearRNN, Problem, load_problem
from tests.refusals import refuses

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
    """A wrong entry is named in the message, and not taken for a header."""
    assert parse_rows("0,1\n1,x\n") == [["0", "1"], ["1", "x"]]


def test_edges_are_onto_rows_from_columns():
    """`post` is the row; order of the columns and case of the header do not matter."""
    found = parse_rows("Post,Pre,cost\n1,0,5/2\n0,2,1\n")
    assert isinstance(found, Edges)
    names = Names(LinearEstimator(q=3, d=2, m=2))
    assert found.cells(names, "W") == {(1, 0): "5/2", (0, 2): "1"}
    assert np.asarray(found.mask(names, "W")).tolist() == [[0, 0, 1], [1, 0, 0]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pre,cost\n0,1\n", "one column `post`"),
        ("pre,post,cost,sign\n0,1,3,1\n", "at most one column of cost, weight, sign"),
        ("pre,source,post\n0,0,1\n", "'pre' and 'source' both mean `pre`"),
        ("# c\n\npre,post\n0\n", "row 4 has 1 entries"),
        ("pre,post\n,1\n", "row 2 lacks `pre`"),
        ("pre,post,weight\n0,1,x\n", "row 2, from 0 onto 1: 'x' is no number"),
        ("", "empty"),
        ("0,\0\n", "NUL"),
    ],
)
def test_refusals_say_why(text, words):
    """Unreadable tables are refused with the reason."""
    refuses(words, parse_rows, text)


def test_shapes_are_checked():
    """A table of another shape, or with ragged rows, and edges outside the matrix."""
    refuses("2×2, but W is 8×8", check_shape, MASK, (8, 8), "W")
    refuses("different lengths", check_shape, [["0"], ["0", "1"]], (2, 2), "W")
    for text, words in (
        ("5,0", "row 2, from 5 onto 0: `pre` 5 is outside: W has columns 0 to 1"),
        ("0,7", "`post` 7 is outside: W has rows 0 to 1"),
        ("ADAL,1", "number of a unit"),
        ("0,-1", "number of a unit"),
        ("0,1\n0,1", "row 3, from 0 onto 1, is given twice, first in row 2"),
    ):
        with pytest.raises(InputError, match=words):
            parse_rows(f"pre,post\n{text}\n").mask(Names(LinearEstimator(q=2, d=2, m=2)), "W")


def test_problem_files_take_them(tmp_path, file):
    """Masks from an edge list and from np.savetxt, and an edge list for an absent matrix."""
    (tmp_path / "edges.csv").write_text("pre,post\n0,0\n1,1\n")
    np.savetxt(tmp_path / "all.csv", np.ones((2, 2)))
    text = '[network]\nkind = "lrnn"\nn = 2\nT = 2\nb = 1\nd = 1\nm = 2\n'
    path = file(text + '[learnable]\nW = "edges.csv"\n[support]\nW = "all.csv"\n')
    problem = load_problem(path)
    assert problem.learnable["W"].tolist() == [[1, 0], [0, 1]]
    assert problem.support["W"].tolist() == [[1, 1], [1, 1]]
    path.write_text(text + '[learnable]\nV = "edges.csv"\n')
    refuses(r"learnable.V: there is no matrix", load_problem, path)
    (tmp_path / "edges.csv").write_text("pre,post\n7,0\n")
    path.write_text(text + '[learnable]\nW = "edges.csv"\n')
    refuses("`pre` 7 is outside: W has columns 0 to 1", load_problem, path)


EDGES = [(0, 1), (1, 0), (2, 1), (2, 2)]
NAMED = Names(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"neurons": ["PV", "SST"]})


@pytest.mark.parametrize(
    ("third", "value"), [("", ""), (",cost", ",2"), (",weight", ",-0.5"), (",sign", ",-1")]
)
def test_a_third_column(third, value):
    """Cost, weight or sign: the same edges; a weight of 0 is none; other columns are not read."""
    found = parse_rows(f"pre,post{third}\nPV,SST{value}\n")
    assert found.column == third.removeprefix(",")
    assert np.asarray(found.mask(NAMED, "W")).tolist() == [[0, 0], [1, 0]]
    none = parse_rows("pre,post,weight\nPV,SST,0.0\nPV,PV,1\n")
    assert np.asarray(none.mask(NAMED, "W")).tolist() == [[1, 0], [0, 0]]
    other = parse_rows("pre,post,length\nPV,SST,0\n")
    assert np.asarray(other.mask(NAMED, "W")).tolist() == [[0, 0], [1, 0]]


def test_every_format_gives_one_mask(tmp_path):
    """Edge lists, matrices of counts in either orientation, graphs, arrays: the same synapses."""
    counts = np.array([[0, 3, 0], [1, 0, 0], [0, 2, 5]])
    graph = nx.DiGraph()
    graph.add_nodes_from("abc")
    graph.add_weighted_edges_from(("abc"[j], "abc"[i], int(counts[i, j])) for i, j in EDGES)
    nx.write_graphml(graph, tmp_path / "g.graphml")
    nx.write_gml(graph, tmp_path / "g.gml")
    nx.write_gexf(graph, tmp_path / "g.gexf.gz")
    listed = [f"{'abc'[j]} ,  {'abc'[i]},{counts[i, j]}" for i, j in EDGES]
    (tmp_path / "e.csv").write_text("\n".join(["Source,Target,Weight", *listed]) + "\n")
    (tmp_path / "e.tsv").write_text("\n".join(["pre,post,x", *listed]).replace(",", "\t"))
    rows = [",".join(["abc"[i], *map(str, counts[i])]) for i in (2, 0, 1)]
    (tmp_path / "m.csv").write_text("\n".join([",a,b,c", *rows]) + "\n")
    np.save(tmp_path / "m.npy", counts)
    sparse.save_npz(tmp_path / "m.npz", sparse.csr_array(counts.T))
    net = LinearRNN(n=3, T=2, b=1, d=1, m=2)
    head = "[network]\nkind='lrnn'\nn=3\nT=2\nb=1\nd=1\nm=2\n[names]\nneurons=['a','b','c']\n"
    for file, rows in (
        ("g.graphml", ""), ("g.gml", ""), ("g.gexf.gz", ""), ("e.csv", ""), ("e.tsv", ""),
        ("m.csv", "post"), ("m.npy", "post"), ("m.npz", "pre"),
    ):  # fmt: skip
        edges = read_edges(tmp_path / file, rows=rows)
        names = Names(net, {"neurons": list("abc")})
        if file != "e.tsv":
            # GEXF writes numbers with a point.
            texts = edges.cells(names, "W").items()
            assert {at: float(text) for at, text in texts} == {at: counts[at] for at in EDGES}
        more = f', rows = "{rows}"' if rows else ""
        path = tmp_path / "p.toml"
        path.write_text(f'{head}[learnable]\nW = {{ edges = "{file}"{more} }}\n')
        assert (load_problem(path).learnable["W"] == (counts > 0)).all()
        assert (Problem(net, {"W": edges}, names=names).learnable["W"] == (counts > 0)).all()
        wrong = "leave `rows` out" if not rows else "does not say whether its rows or"
        refuses(wrong, read_edges, tmp_path / file, rows="" if rows else "pre")
    # Without the table a sparse matrix is a mask, with `post` as rows.
    sparse.save_npz(tmp_path / "m.npz", sparse.csr_array(counts > 0))
    path.write_text(f'{head}[learnable]\nW = "m.npz"\n')
    assert (load_problem(path).learnable["W"] == (counts > 0)).all()
    sparse.save_npz(tmp_path / "m.npz", sparse.csr_array((10**6, 10**6)))
    refuses(r"learnable.W: .* is 1000000×1000000 but must be 3×3", load_problem, path)


def test_what_a_table_of_edges_may_say(tmp_path):
    """Types and unknown units by keys of the table; wrong keys, words and files by name."""
    (tmp_path / "e.csv").write_text("pre,post,type\nPV,SST,chemical\nSST,PV,EJ\nPV,muscle,EJ\n")
    head = "[network]\nkind='lrnn'\nn=2\nT=2\nb=1\nd=1\nm=2\n[names]\nneurons=['PV','SST']\n"
    path = tmp_path / "p.toml"
    for keys, words in (
        ("", "chemical (1), electrical (2); choose one"),
        (', type = "x"', "none of its edges is of type 'x'"),
        (", type = 3", "`type` (3) must be a word"),
        (', unknown = "drop"', "`unknown` ('drop') must be one of refuse, skip"),
        (', typ = "x"', "unknown key `typ` (did you mean `type`?)"),
        (', type = "electrical"', "row 4, from PV onto muscle: `post` ('muscle') is none"),
    ):
        path.write_text(f'{head}[learnable]\nW = {{ edges = "e.csv"{keys} }}\n')
        assert "learnable.W" in str(refuses(re.escape(words), load_problem, path))
    for keys, mask in (
        ('type = "chemical"', [[0, 0], [1, 0]]),
        ('type = "gap junction", unknown = "skip"', [[0, 1], [1, 0]]),
    ):
        path.write_text(f'{head}[learnable]\nW = {{ edges = "e.csv", {keys} }}\n')
        assert load_problem(path).learnable["W"].tolist() == mask
    refuses(r"one of \.csv, \.tsv, .*save an old workbook", read_edges, tmp_path / "e.xls")
    refuses(r"none\.csv does not exist", read_edges, tmp_path / "none.csv")


def test_edges_are_written_as_they_are_read():
    """A written edge list is read as the same weights; several matrices are named."""
    cells = {("W", 1, 0): "5/2", ("W", 0, 0): "1"}
    text = edge_list(NAMED, cells)
    assert text == "pre,post,cost\nPV,SST,5/2\nPV,PV,1\n"
    assert parse_rows(text).cells(NAMED, "W") == {(1, 0): "5/2", (0, 0): "1"}
    assert edge_list(NAMED, {("W", 1, 0): ""}, "") == "pre,post\nPV,SST\n"
    both = edge_list(NAMED, {("W", 1, 0): "1", ("D", 0, 1): "1"})
    assert both == "matrix,pre,post,cost\nW,PV,SST,1\nD,SST,0,1\n"


def test_names_of_units_from_a_file(tmp_path):
    """One per line, with or without a header and further columns; in a problem file too."""
    (tmp_path / "a.txt").write_text("PV\nSST\n")
    (tmp_path / "b.csv").write_text("bodyId,type\nPV  ,inhibitory\n SST,inhibitory\n")
    (tmp_path / "edges.csv").write_text("Source,Target\nPV,SST\nSST,PV\n")
    text = "[network]\nkind='lrnn'\nn=2\nT=2\nb=1\nd=1\nm=2\n[names]\nneurons='{}'\n"
    nx.write_graphml(nx.DiGraph([("PV", "SST")]), tmp_path / "g.graphml")
    for file in ("a.txt", "b.csv", "edges.csv", "g.graphml"):
        assert read_names(tmp_path / file) == ["PV", "SST"]
        (tmp_path / "p.toml").write_text(text.format(file))
        problem = load_problem(tmp_path / "p.toml", need_learnable=False)
        assert problem.names.cell(("W", 0, 1)) == "W[PV,SST]"
    (tmp_path / "empty.txt").write_text("name\n")
    (tmp_path / "twice.csv").write_text("name\nPV\n\nPV \n")
    (tmp_path / "bad.graphml").write_text("<graphml")
    (tmp_path / "bad.gexf").write_text("<gexf")
    (tmp_path / "bad.gml").write_text("graph [ node [ " * 20_000)
    for file, words in (
        ("none.txt", "does not exist"),
        ("empty.txt", "empty"),
        ("x", "list of"),
        ("twice.csv", "row 4 has 'PV' again, after row 2"),
        ("bad.graphml", "bad.graphml: unclosed"),
        ("bad.gexf", "bad.gexf: unclosed"),
        ("bad.gml", "recursion"),
    ):
        (tmp_path / "p.toml").write_text(text.format(file))
        refuses(words, load_problem, tmp_path / "p.toml", need_learnable=False)


DENSE = [["0.0", "1"], ["1.0", "0"]]
STAGES = {
    "cells": lambda: rows_of_table(TextTable(DENSE, ["row 1", "row 2"])),
    "entries": lambda: as_mask(DENSE, (2, 2), "W"),
}


@pytest.mark.parametrize("stage", STAGES.values(), ids=STAGES)
def test_each_stage_of_reading_a_dense_matrix_ends_with_the_limit_and_at_a_request(stage):
    """A matrix of 9 million cells is read in several loops: every one of them can be stopped."""
    with pytest.raises(OutOfTime), within(0):
        stage()
    request = StopRequest()
    request.make()
    with pytest.raises(Interrupted), stoppable(request):
        stage()


def test_entries_that_are_decimals_are_those_of_whole_numbers(tmp_path):
    """A mask of 0.0 and 1.0 is that of 0 and 1, and another number is quoted."""
    (tmp_path / "a.csv").write_text("0.0,1.0\n1,0\n")
    text = '[network]\nkind = "lrnn"\nn = 2\nT = 2\nb = 1\nd = 1\nm = 2\n[learnable]\nW = "a.csv"\n'
    (path := tmp_path / "p.toml").write_text(text)
    assert load_problem(path).learnable["W"].tolist() == [[0, 1], [1, 0]]
    (tmp_path / "a.csv").write_text("0.0,0.5\n1,0\n")
    refuses(r"W\[0\]\[1\]` is '0.5'", load_problem, path)
