"""Edge lists: headers, types of synapses, gap junctions, regions, graphs, matrices."""

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from algebra.problems.edges import (
    Edge,
    Edges,
    edges_of_graph,
    edges_of_lines,
    edges_of_matrix,
    given_mask,
)
from algebra.problems.headers import HEADERS, columns_of, meaning_of
from algebra.problems.names import Names
from algebra.problems.tables import parse_rows
from matchprob import InputError, LinearRNN, Problem, read_edges
from tests.refusals import refuses

NET = LinearRNN(n=3, T=2, b=2, d=1, m=2)
UNITS = {"neurons": ["PV", "SST", "E1"], "inputs": ["light", "sound"], "outputs": ["lick"]}
NAMES = Names(NET, UNITS)


def test_a_header_has_one_meaning():
    """No word is in two rows of the table of headers; case and blanks do not matter."""
    words = [word for known in HEADERS.values() for word in known]
    assert len(set(words)) == len(words)
    assert meaning_of(" bodyId_pre") == "pre"
    assert meaning_of("Weight") == "weight"
    assert meaning_of("length") == ""


@pytest.mark.parametrize(
    "text",
    [
        "Source,Target,Weight,Type\nPV  ,  SST      ,4,chemical\n",
        "pre\tpost\ttype\tsynapses\nPV\tSST\tchemical\t4\n",
        ",bodyId_pre,bodyId_post,roi,weight\n0,PV,SST,EB,1\n1,PV,SST,PB,3\n",
        "pre_root_id,post_root_id,neuropil,syn_count,nt_type\nPV,SST,A,1,GABA\nPV,SST,B,3,ACH\n",
        "Origin,Target,Type,Number of Connections,Neurotransmitter\nPV,SST,Send,4,x\n",
    ],
)
def test_published_tables(text):
    """c302, Witvliet, neuPrint and FlyWire (regions are added up), WormAtlas: one synapse."""
    edges = parse_rows(text)
    assert edges.cells(NAMES, "W") == {(1, 0): "4"}
    assert edges.units == ("PV", "SST")


def test_gap_junctions_have_no_direction():
    """A line is an edge each way; of two numbers the larger counts; others keep their direction."""
    lines = ["PV,SST,EJ,2", "SST,PV,EJ,5", "E1,PV,gap junction,1", "PV,E1,chemical,7", "E1,E1,EJ,3"]
    edges = parse_rows("\n".join(["pre,post,type,weight", *lines]))
    gaps = replace(edges, type="electrical").cells(NAMES, "W")
    assert gaps == {(1, 0): "5", (0, 1): "5", (0, 2): "1", (2, 0): "1", (2, 2): "3"}
    assert replace(edges, type="chemical").cells(NAMES, "W") == {(2, 0): "7"}
    assert replace(edges, type="all").cells(NAMES, "W") == {**gaps, (2, 0): "8"}
    refuses(r"electrical \(4\), chemical \(1\); choose one", edges.cells, NAMES, "W")
    with pytest.raises(InputError, match="leads from one population to another"):
        parse_rows("pre,post,type\nlight,PV,EJ\n").mask(NAMES, "B")


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), unique=True, max_size=6))
def test_the_mask_of_gap_junctions_is_symmetric(pairs):
    """Listed once or in both directions, the result is the same."""
    edges = Edges(tuple(Edge(str(i), str(j), "", "electrical", "", "row") for i, j in pairs))
    mask = np.array(edges.mask(NAMES, "W"))
    wanted = np.zeros((3, 3), int)
    for i, j in pairs:
        wanted[i, j] = wanted[j, i] = 1
    assert (mask == wanted).all()


def test_twice_is_refused_with_both_rows():
    """The same pair, type and region; costs are not added up."""
    with pytest.raises(InputError, match="row 4, from PV onto SST, is given twice, first in row 2"):
        parse_rows("pre,post,weight\nPV,SST,1\nSST,PV,1\nPV,SST,1\n").cells(NAMES, "W")
    with pytest.raises(InputError, match="row 3, from PV onto SST, is given twice"):
        parse_rows("pre,post,roi,cost\nPV,SST,a,1\nPV,SST,b,1\n").cells(NAMES, "W")


def test_units_without_a_name_here():
    """Refused with their row, or left out on request, unless all edges are."""
    edges = parse_rows("pre,post\nPV,muscle\nPV,SST\n720575940596125868,PV\n")
    with pytest.raises(
        InputError, match=r"row 2, from PV onto muscle: `post` \(.muscle.\) is none"
    ):
        edges.cells(NAMES, "W")
    assert replace(edges, unknown="skip").cells(NAMES, "W") == {(1, 0): ""}
    with pytest.raises(InputError, match="none of its 1 edges is between units of W"):
        replace(parse_rows("pre,post\na,b\n"), unknown="skip").cells(NAMES, "W")
    # Without names no edge can be left out.
    with pytest.raises(InputError, match="`post` 7 is outside"):
        replace(parse_rows("pre,post\n0,7\n"), unknown="skip").cells(Names(NET), "W")


def test_lines_are_checked():
    """Columns in any order; a header without `post`, and a line that is too short."""
    at = columns_of(["weight", "post", "pre"])
    found = edges_of_lines(at, [("row 2", ["3", "b", "a"])], 3)
    assert found.edges == (Edge("b", "a", "3", "", "", "row 2"),)
    assert found.column == "weight"
    refuses("one column `post`", columns_of, ["pre"])
    refuses("row 2 has 1 entries", edges_of_lines, at, [("row 2", ["a"])], 3)
    # Empty entries at the end of a line are left out.
    assert edges_of_lines(at, [("row 2", ["3", "b", "a", "", ""])], 3) == found
    refuses("row 2 has 4 entries", edges_of_lines, at, [("row 2", ["3", "b", "a", "x"])], 3)


def test_graphs_of_networkx():
    """Edges go from `pre` to `post`; nodes are names or indices."""
    graph = nx.DiGraph([("PV", "SST"), ("E1", "PV")])
    problem = Problem(NET, {"W": graph}, names=UNITS)
    assert problem.learnable["W"].tolist() == [[0, 0, 1], [1, 0, 0], [0, 0, 0]]
    both = Problem(NET, {"W": nx.Graph([(0, 1)])}, {"W": nx.complete_graph(3)})
    assert both.learnable["W"].tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert both.support["W"].sum() == 6
    refuses("names=", Problem, NET, {"W": graph})
    refuses("neither a name nor", Problem, NET, {"W": nx.DiGraph([((1, 2), 0)])})
    refuses("outside", Problem, NET, {"W": nx.DiGraph([(0, 5)])})


def test_numbers_and_types_of_graphs():
    """Parallel edges are added, types separately; an edge that lacks its weight is refused."""
    graph = nx.MultiDiGraph()
    graph.add_edge("PV", "SST", weight=2, synapse_type="C")
    graph.add_edge("PV", "SST", weight=0.5, synapse_type="C")
    graph.add_edge("SST", "E1", weight=1, synapse_type="E")
    edges = edges_of_graph(graph)
    assert edges.counts == {"chemical": 2, "electrical": 1}
    assert replace(edges, type="chemical").cells(NAMES, "W") == {(1, 0): "5/2"}
    assert replace(edges, type="electrical").cells(NAMES, "W") == {(2, 1): "1", (1, 2): "1"}
    graph.add_edge("E1", "PV", synapse_type="C")
    refuses("from E1 onto PV, has no weight", edges_of_graph, graph)
    named = nx.DiGraph([(0, 1)])
    nx.set_node_attributes(named, {0: "a", 1: "a"}, "cell_name")
    assert edges_of_graph(named).units == ("0", "1")
    refuses("two of its nodes are named 'a'", edges_of_graph, named, "cell_name")


def test_a_matrix_has_to_be_told_what_sends():
    """Rows as `pre` or `post` are each other's transposes; 0 is no edge; words are refused."""
    counts = [["0", "2"], ["1", "0"]]
    post = edges_of_matrix(counts, "post", ["PV", "SST"], ["PV", "SST"])
    assert post.cells(NAMES, "W") == {(0, 1): "2", (1, 0): "1"}
    for form in (np.array([[0, 2], [1, 0]]), sparse.coo_array([[0, 2], [1, 0]])):
        assert edges_of_matrix(form, "pre").cells(Names(NET), "W") == {(1, 0): "2", (0, 1): "1"}
    refuses("does not say whether its rows or", edges_of_matrix, counts, "")
    with pytest.raises(InputError, match="row 0, column 1, from 1 onto 0: 'x' is no number"):
        edges_of_matrix([["0", "x"]], "post")
    for wrong in (np.array(["a"]), np.array([[1j]]), sparse.coo_array([[1j]])):
        refuses(r"no matrix of numbers|are no numbers", edges_of_matrix, wrong, "post")


def test_other_masks_stay_as_they_are():
    """Lists, arrays and words are not edges of a file, and are returned unchanged."""
    for value in ([[1]], "all", None):
        assert given_mask(value, "W", NAMES) is value
    assert np.asarray(given_mask(sparse.eye_array(3), "W", NAMES)).tolist() == np.eye(3).tolist()


@pytest.mark.skipif(find_spec("c302") is None, reason="the package c302 is not installed")
def test_the_worm():
    """C. elegans as c302 ships it: 300 of its 302 neurons, the published numbers of connections."""
    spec = find_spec("c302")
    assert spec is not None
    data = Path(str(spec.origin)).parent / "data"
    edges = read_edges(data / "herm_full_edgelist.csv", type="chemical", unknown="skip")
    assert edges.counts == {"chemical": 4681, "electrical": 2698}
    neurons = sorted(unit for unit in edges.units if unit.isupper())
    assert len(neurons) == 300
    names = Names(LinearRNN(n=300, T=2, b=1, d=1, m=2), {"neurons": neurons})
    found = edges.cells(names, "W")
    assert (len(found), sum(map(int, found.values()))) == (3638, 20589)
    at = names.index("W", 0, "AVAL"), names.index("W", 1, "AVDL")
    assert found[at] == "37"
    gaps = replace(edges, type="electrical").cells(names, "W")
    assert len(gaps) == 2173
    assert all((j, i) in gaps for i, j in gaps)
    older = read_edges(data / "aconnectome_white_1986_whole.csv", type="chemical")
    assert older.counts == {"electrical": 575, "chemical": 2386}
