"""Files of circuits as they are published: forms that failed, and the totals of known tables."""

import csv
import gzip
import shutil
from collections import Counter
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from algebra.errors import NoEdges
from algebra.problems.names import Names
from algebra.problems.tables import edge_list, parse_rows, read_names
from matchprob import LinearRNN, load_problem, read_edges
from tests import circuit_attacks
from tests.refusals import refuses

CASES = Path(__file__).parents[2] / "data" / "circuits"
needs_c302 = pytest.mark.skipif(find_spec("c302") is None, reason="c302 is not installed")


def tables():
    """The folder of c302's tables."""
    return Path(str(find_spec("c302").origin)).parent / "data"


def synapses(edges, units=None):
    """The number of each pair (pre, post) of a list's units."""
    units = list(edges.units if units is None else units)
    names = Names(LinearRNN(n=len(units), T=2, b=1, d=1, m=2), {"neurons": units})
    return {(units[j], units[i]): text for (i, j), text in edges.cells(names, "W").items()}


@pytest.mark.parametrize(
    ("file", "options", "wanted"),
    [
        ("excel_decimal_comma.csv", {}, {("A", "B"): "3.5", ("B", "C"): "4.0"}),
        ("excel_utf16.csv", {}, {("A", "B"): "3", ("B", "C"): "4"}),
        ("pre_id.csv", {}, {("A", "B"): "3", ("B", "C"): "4"}),
        ("r_write_table.csv", {}, {("A", "B"): "3", ("B", "C"): "4"}),
        ("ns3.csv", {}, {("0", "1"): "3", ("1", "2"): "4", ("2", "0"): "5"}),
        (
            "gephi_undirected.csv",
            {},
            {
                ("AVAL", "AVAR"): "3.0",
                ("AVAR", "AVAL"): "3.0",
                ("AVAL", "PVCL"): "12.0",
                ("PVCL", "AVAL"): "12.0",
                ("AVAR", "PVCL"): "1.0",
                ("PVCL", "AVAR"): "1.0",
            },
        ),
        (
            "matrix_market.txt",
            {"rows": "pre"},
            {("0", "1"): "5", ("1", "2"): "1", ("2", "0"): "2", ("0", "2"): "7"},
        ),
        ("no_header.csv", {"columns": "pre post type receptor"}, {("A", "B"): "", ("A", "C"): ""}),
        ("repeated_line.csv", {"repeated": "sum"}, {("A", "B"): "30", ("B", "C"): "4"}),
        ("repeated_line.csv", {"repeated": "first"}, {("A", "B"): "15", ("B", "C"): "4"}),
    ],
)
def test_published_forms(file, options, wanted):
    """Headers, separators, encodings, comments and repeated lines: the synapses that are meant."""
    assert synapses(read_edges(CASES / file, **options)) == wanted


def test_a_line_for_each_synapse_counts_as_one():
    """Two lines of a pair are two synapses; sizes of synapses are not their number."""
    found = synapses(read_edges(CASES / "cave_synapses.csv", repeated="sum"))
    assert list(found.values()) == ["2", "1"]
    ends = synapses(read_edges(CASES / "shiu.csv"))
    assert set(ends.values()) == {"3", "4"}


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("rounded_ids.csv", "row 2: the unit '7.20575940596126E.17' is a rounded number"),
        ("matrix_market.txt", 'rows = "pre" or rows = "post"'),
        ("latin1.csv", "row 2 is not UTF-8 .byte fc.*'Müller,B,3'"),
        ("no_header.csv", r"'A,B,tyramine,lgc-55'\) is no header .* columns = \"pre post\""),
        ("numbered_names.graphml", "label = "),
    ],
)
def test_what_lacks_something_says_what(file, words):
    """The byte that is not UTF-8, the header that is missing, the choice of names."""
    refuses(words, lambda: read_edges(CASES / file).units)


def listed(tmp_path, text, name="e.csv"):
    """The list of a text."""
    (tmp_path / name).write_text(text)
    return read_edges(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        # Both words of Gephi in one table are no types of synapses.
        (
            "Source;Target;Type;Weight\na;b;Directed;2\nb;c;Undirected;3\nc;c;Undirected;1\n",
            {("a", "b"): "2", ("b", "c"): "3", ("c", "b"): "3", ("c", "c"): "1"},
        ),
        ("pre,post,nsyns\na,b,4\n", {("a", "b"): "4"}),
        (
            '# columns = ["i", "j", "weight", "delay"]\n# size = 2\n0 1 0.5 0.1\n1 0 0.25 0.1\n',
            {("0", "1"): "0.5", ("1", "0"): "0.25"},
        ),
        ("# columns = ('i', 'j', 'delay')\n0\t1\t0.5\n", {("0", "1"): ""}),
        ("pre,post\n5E3,6E3\n", {("5E3", "6E3"): ""}),
        ("pre,post\n720575940596125868,720575940596126000\n",
         {("720575940596125868", "720575940596126000"): ""}),
    ],
)  # fmt: skip
def test_columns_of_programs(tmp_path, text, wanted):
    """Gephi's directions, SONATA's counts, PyNN's list of columns, and ids that are not rounded."""
    assert synapses(listed(tmp_path, text)) == wanted


@pytest.mark.parametrize(
    "ids",
    [
        ("29.0", "30.0"), ("7.2E17", "x"), ("x", "7.2e+17"), ("7E+17", "x"),
        ("720575940596126000", "720575940608552000"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("length", [1, 30_000])
def test_rounded_ids_are_refused(tmp_path, ids, length):
    """In short lists, in long ones and among names: neurons would merge."""
    lines = [f"{ids[0]},{ids[1]}"] * length
    text = "\n".join(["pre_root_id,post_root_id", *lines]) + "\n"
    refuses("row 2: the unit .*as spreadsheets", listed, tmp_path, text)
    (tmp_path / "names.csv").write_text("root_id\n" + "\n".join(ids) + "\n")
    refuses("row [23]: the unit .*as spreadsheets", read_names, tmp_path / "names.csv")


def test_matrices_of_matrix_market(tmp_path):
    """Symmetric ones are completed, indices count from 1, rows of a mask are `post`."""
    text = "%%MatrixMarket matrix coordinate pattern symmetric\n% a comment\n3 3 2\n2 1\n3 3\n"
    for name in ("m.mtx", "m.csv", "m.txt"):
        (tmp_path / name).write_text(text)
        found = read_edges(tmp_path / name, rows="post")
        assert set(synapses(found, "012")) == {("0", "1"), ("1", "0"), ("2", "2")}
    (tmp_path / "p.toml").write_text(
        '[network]\nkind = "lrnn"\nn = 3\nT = 2\nb = 1\nd = 1\nm = 1\n[learnable]\nW = "m.mtx"\n'
    )
    mask = load_problem(tmp_path / "p.toml").learnable["W"]
    assert mask.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    refuses("it is a matrix of Matrix Market, which has no names", read_names, tmp_path / "m.txt")


@pytest.mark.parametrize(
    ("size", "words"),
    [
        ("3 3 1000000000000", "announces 1,000,000,000,000 entries"),
        ("3 3 2", "Truncated"),
        ("1 1 1", "out of bounds"),
        ("x", "no matrix of Matrix Market"),
    ],
)
def test_damaged_matrices_of_matrix_market(tmp_path, size, words):
    """Sizes are compared with the file before anything is made."""
    text = f"%%MatrixMarket matrix coordinate integer general\n{size}\n2 1 4\n"
    (tmp_path / "m.mtx").write_text(text)
    refuses(words, read_edges, tmp_path / "m.mtx", rows="pre")


def test_a_list_without_edges_warns(tmp_path):
    """Nobody means an empty mask by a file."""
    with pytest.warns(NoEdges, match=r"e\.csv names no edge"):
        assert not listed(tmp_path, "pre,post\n").edges


def test_lines_belong_to_the_matrix_that_they_name():
    """One of W and one of D, as ``design --write`` lists them."""
    net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    names = Names(net, {"neurons": ["B", "C"]})
    edges = read_edges(CASES / "design_rows.csv")
    assert edges.cells(names, "W") == {(0, 1): "1"}
    assert edges.cells(names, "D") == {(0, 0): "1"}
    refuses(
        "none of its edges is a weight of B; by `matrix`: D .1., W .1.", edges.cells, names, "B"
    )
    refuses("weights of D, W, between units of several", lambda: edges.units)
    other = replace(edges, edges=(edges.edges[0]._replace(matrix="Q"),))
    refuses("`matrix` .'Q'. is none of D, W, B", other.cells, names, "W")


CELLS = [("W", i, j) for i in range(3) for j in range(3)]
CELLS += [("D", 0, j) for j in range(3)] + [("B", i, j) for i in range(3) for j in range(2)]


@given(st.sets(st.sampled_from(CELLS), min_size=1), st.booleans())
def test_a_written_list_is_read_as_the_weights_that_it_lists(cells, are_named):
    """Of one matrix or of several, with and without names: the cells and their costs."""
    net = LinearRNN(n=3, T=2, b=2, d=1, m=2)
    names = Names(net, {"neurons": ["PV", "a b", "E,1"]} if are_named else {})
    costs = {cell: str(k) for k, cell in enumerate(sorted(cells))}
    found = parse_rows(edge_list(names, costs))
    for matrix in {matrix for matrix, _, _ in cells}:
        own = {(i, j): cost for (name, i, j), cost in costs.items() if name == matrix}
        assert found.cells(names, matrix) == own
        mask = found.mask(names, matrix)
        assert set(zip(mask.rows.tolist(), mask.columns.tolist(), strict=True)) == set(own)


def test_repeated_lines_say_how_they_may_be_read():
    """Without a choice the rows of both lines are named."""
    words = 'row 4, from A onto B, is given twice, first in row 2: give repeated = "sum"'
    refuses(words, synapses, read_edges(CASES / "repeated_line.csv"))


def test_names_that_are_numbers(tmp_path):
    """Ids below n are names if [names] lists them; the attribute of a graph is that of [names]."""
    assert load_problem(CASES / "larva100.toml").learnable["W"].sum() == 100
    found = load_problem(CASES / "g2.toml").learnable["W"]
    assert found.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    refuses("names.neurons: .*several attributes", load_problem, CASES / "g1.toml")
    refuses("support.W: several attributes", load_problem, CASES / "g3.toml")
    # The other attribute, in another order: not a silent shift.
    text = (CASES / "g2.toml").read_text().replace('["ADAL","ADAR","ADEL"]', '["3","1","2"]')
    shutil.copy(CASES / "numbered_names.graphml", tmp_path)
    (tmp_path / "g.toml").write_text(text)
    found = load_problem(tmp_path / "g.toml").learnable["W"]
    assert found.tolist() == [[0, 0, 1], [0, 0, 0], [0, 1, 0]]
    edges = '{ edges = "numbered_names.graphml", label = "cell_name" }'
    text = (CASES / "g1.toml").read_text()
    (tmp_path / "g.toml").write_text(text.replace('"numbered_names.graphml"', edges))
    assert load_problem(tmp_path / "g.toml").names.rows("W") == ("ADAL", "ADAR", "ADEL")


def test_a_graph_that_counts_from_1_is_not_shifted(tmp_path):
    """Its numbers are no positions from 0; with [names] of words none of them is meant."""
    (tmp_path / "g.graphml").write_text(
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="directed">'
        '<node id="1"/><node id="2"/><node id="3"/><edge source="1" target="2"/></graph></graphml>'
    )
    edges = read_edges(tmp_path / "g.graphml")
    net = LinearRNN(n=3, T=2, b=1, d=1, m=2)
    refuses("3 is not among the .names. .*position from 0 to 2", edges.cells, Names(net), "W")
    words = Names(net, {"neurons": ["a", "b", "c"]})
    refuses("1 is not among the .names.", edges.cells, words, "W")
    assert edges.cells(Names(net, {"neurons": ["1", "2", "3"]}), "W") == {(1, 0): ""}


def test_a_compressed_list_is_the_list(tmp_path):
    """The same synapses and names from .csv.gz."""
    data = (CASES / "pre_id.csv").read_bytes()
    (tmp_path / "e.csv.gz").write_bytes(gzip.compress(data))
    assert read_edges(tmp_path / "e.csv.gz") == read_edges(CASES / "pre_id.csv")
    assert read_names(tmp_path / "e.csv.gz") == ["A", "B", "C"]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("pre weight", "must name both `pre` and `post`"),
        ("pre post weight cost sign", "names 5 columns, and the first row"),
        ("pre post pre", "names one meaning twice"),
        ({"pre": "A", "post": "Z"}, "no column is named 'Z'"),
        ({"pre": "A", "after": "B"}, "has the key 'after'"),
        (3, "must be the order of the columns"),
    ],
)
def test_wrong_columns_are_named(columns, words):
    """Each with what is wrong."""
    refuses(words, read_edges, CASES / "no_header.csv", columns=columns)


@pytest.mark.parametrize("option", ["label", "sheet", "variable"])
def test_options_of_other_files_are_refused(option):
    """A sheet of a text file says nothing."""
    refuses(f"`{option}` .'x'. is about", read_edges, CASES / "pre_id.csv", **{option: "x"})
    refuses("`columns` .* is about edge lists", read_edges, CASES / "g.graphml", columns="pre post")


@needs_c302
def test_the_totals_of_published_tables():
    """White et al. as c302 ships them, in two forms, and WormWiring's list without a header."""
    for file, mark in (
        ("aconnectome_white_1986_A.csv", None),
        ("aconnectome_white_1986_whole.csv", "\t"),
    ):
        lines = [line.split(mark) for line in (tables() / file).read_text().splitlines()]
        assert read_edges(tables() / file).counts == Counter(line[2] for line in lines[1:])
    found = read_edges(tables() / "aconnectome_white_1986_A.csv")
    assert found.counts == {"electrical": 270, "chemical": 1629}
    with open(tables() / "wormwiring_N2U.txt", newline="") as file:
        lines = list(csv.reader(file, delimiter="\t"))
    edges = read_edges(tables() / "wormwiring_N2U.txt", columns="pre post weight")
    assert len(edges.edges) == len(lines) == 2652
    listed = synapses(read_edges(
        tables() / "wormwiring_N2U.txt", columns="pre post weight", repeated="sum"
    ))  # fmt: skip
    assert sum(map(int, listed.values())) == sum(int(line[2]) for line in lines)


@needs_c302
def test_varshney():
    """2,194 pairs with 6,394 chemical contacts, S and Sp added up; 514 gap junctions of two cells.

    Lines R and Rp tell the same contacts from the receiver's side, and count once.
    """
    pytest.importorskip("openpyxl")
    names = {"pre": "Neuron 1", "post": "Neuron 2", "weight": "Nbr", "type": "Type"}
    file = tables() / "NeuronConnectFormatted.xlsx"
    refuses("'Neuron 1,Neuron 2,Type,Nbr'. is no header", read_edges, file)
    edges = read_edges(file, columns=names, type="chemical")
    chemical = synapses(edges)
    assert (len(chemical), sum(map(int, chemical.values()))) == (2194, 6394)
    assert synapses(read_edges(file, columns=names, type="received")) == chemical
    gaps = synapses(read_edges(file, columns="pre post type weight", type="electrical"))
    assert len({frozenset(pair) for pair in gaps if pair[0] != pair[1]}) == 514
    refuses("given twice", synapses, read_edges(file, columns=names, type="all"))
    whole = synapses(read_edges(file, columns=names, type="all", repeated="sum"))
    assert sum(map(int, whole.values())) == 6394 + sum(map(int, gaps.values())) + 1410


@needs_c302
@pytest.mark.parametrize("number", [1, 8])
def test_witvliet_twice(number):
    """The list of an animal's synapses and the matrix of the supplement are the same numbers."""
    pytest.importorskip("openpyxl")
    matrix = read_edges(
        tables() / "synapse_count_matrices.xlsx", sheet=f"Dataset{number}", rows="post"
    )
    edges = read_edges(tables() / f"witvliet_2020_{number}.xlsx", type="chemical")
    assert edges.counts["chemical"] == {1: 775, 8: 2186}[number]
    units = sorted({*matrix.units, *edges.units})
    assert synapses(matrix, units) == synapses(edges, units)


@needs_c302
def test_cook():
    """The matrix below groups of cells: each number of the sheet between two names."""
    openpyxl = pytest.importorskip("openpyxl")
    file = tables() / "SI 5 Connectome adjacency matrices.xlsx"
    refuses("choose one, as in .*hermaphrodite chemical", read_edges, file)
    edges = read_edges(file, sheet="hermaphrodite chemical", rows="pre")
    book = openpyxl.load_workbook(file, read_only=True, data_only=True)
    rows = list(book["hermaphrodite chemical"].iter_rows(values_only=True))
    named = [k for k, name in enumerate(rows[2]) if name]
    cells = [row[k] for row in rows[3:] if row[2] for k in named if row[k]]
    assert len(edges.edges) == len(cells)
    assert sum(int(edge.value) for edge in edges.edges) == sum(cells)


def test_attacks_are_read_rightly_or_refused(tmp_path):
    """Harmless forms give exactly their synapses, damaged files one line; nothing else happens."""
    counts, wrong = circuit_attacks.run(250, tmp_path)
    assert wrong == []
    assert min(counts["form", "read"], counts["damage", "refused"]) > 40
