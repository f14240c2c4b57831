"""The lines of *how to* that turn other formats into an edge list, on files with their structure.

flyvis' connectome: nodes with a pattern of columns, edges with offsets and counts.  SONATA: an
HDF5 group for each population of edges.  NeuroML: a projection for each pair of populations.
"""

import json
from pathlib import Path

import pytest

import matchprob as mp
from algebra.problems.names import Names

PAGE = Path(__file__).parents[1] / "docs" / "howto" / "circuits.md"
STARTS = ("import csv, json", "import h5py", "import xml")


def lines(number):
    """The lines of one format, of the page's block."""
    _, _, rest = PAGE.read_text("utf-8").partition(f"```python\n{STARTS[0]}")
    block = STARTS[0] + rest.partition("```")[0]
    begins = [block.index(start) for start in STARTS] + [len(block)]
    return "import pandas as pd\n" + block[begins[number] : begins[number + 1]]


def flyvis_files(extent):
    """Make the files of the connectome in this folder, by the page's lines."""
    exec(lines(0).replace("extent, file = 15", f"extent, file = {extent}"), {})


def synapses(path, units):
    """The number of each pair (pre, post)."""
    names = Names(mp.LinearRNN(n=len(units), T=2, b=1, d=1, m=2), {"neurons": units})
    cells = mp.read_edges(path).cells(names, "W")
    return {(units[j], units[i]): float(count) for (i, j), count in cells.items()}


def node(name, stride):
    """A cell type, with the keys that the published file has."""
    return {
        "name": name, "pattern": ["stride", stride], "activation": "relu", "bias": 3.5,
        "bias_fixed": False, "time_constant": None, "time_constant_fixed": False,
    }  # fmt: skip


def test_flyvis(tmp_path, monkeypatch):
    """Each column has a unit of a type, or each third and second; synapses stay in the eye."""
    monkeypatch.chdir(tmp_path)
    edges = [
        {"src": "R1", "tar": "L1", "alpha": 1, "offsets": [[[0, 0], 40.0], [[1, 0], 2.5]]},
        {"src": "L1", "tar": "Lawf1", "alpha": -1, "offsets": [[[0, 0], 3.0]]},
    ]
    nodes = [node("R1", [1, 1]), node("L1", [1, 1]), node("Lawf1", [3, 2])]
    Path("fib25-fib19_v2.2.json").write_text(json.dumps({"nodes": nodes, "edges": edges}))
    flyvis_files(1)
    types = dict(line.split(",") for line in Path("types.csv").read_text().split()[1:])
    columns = ["-1_0", "-1_1", "0_-1", "0_0", "0_1", "1_-1", "1_0"]
    assert sorted(types) == sorted([f"{kind}_{c}" for kind in ("R1", "L1") for c in columns]
                                   + ["Lawf1_0_0"])  # fmt: skip
    found = synapses("synapses.csv", list(types))
    assert found["R1_0_0", "L1_0_0"] == 40
    assert found["R1_-1_1", "L1_0_1"] == 2.5
    assert ("R1_1_0", "L1_2_0") not in found
    # Of seven columns four have a neighbour at (1, 0).
    assert len(found) == 7 + 4 + 1
    net = mp.RNN(n=len(types), T=2, b=1, d=1, m=1, activation="relu")
    Path("p.toml").write_text(
        f'[network]\nkind = "rnn"\nn = {net.n}\nT = 2\nb = 1\nd = 1\nm = 1\nactivation = "relu"\n'
        'biases = true\n[names]\nneurons = "types.csv"\n[types]\nneurons = "types.csv"\n'
        '[support]\nW = { edges = "synapses.csv" }\n'
        '[learnable]\nW = { gain = "cells" }\nc = "all"\n'
    )
    problem = mp.load_problem("p.toml")
    assert {label for _, label in problem.updates["W"].called} == {"R1→L1", "L1→Lawf1"}


def test_neuroml(tmp_path, monkeypatch):
    """Populations are units, and the connections of a projection synapses."""
    monkeypatch.chdir(tmp_path)
    text = '<neuroml xmlns="http://www.neuroml.org/schema/neuroml2" id="c"><network id="n">'
    for k, (pre, post, count) in enumerate((("AVAL", "AVAR", 2), ("AVAR", "PVCL", 1))):
        text += f'<projection id="p{k}" presynapticPopulation="{pre}" '
        text += f'postsynapticPopulation="{post}" synapse="exc">'
        for number in range(count):
            ends = (f"../{pre}/0/cell", f"../{post}/0/cell")
            text += f'<connection id="{number}" preCellId="{ends[0]}" postCellId="{ends[1]}"/>'
        text += "</projection>"
    Path("circuit.net.nml").write_text(text + "</network></neuroml>")
    exec(lines(2), {})
    found = synapses("neuroml.csv", ["AVAL", "AVAR", "PVCL"])
    assert found == {("AVAL", "AVAR"): 2, ("AVAR", "PVCL"): 1}


def test_sonata(tmp_path, monkeypatch):
    """Ids of a population's edges are units, and `nsyns` numbers of synapses."""
    h5py = pytest.importorskip("h5py")
    monkeypatch.chdir(tmp_path)
    with h5py.File("edges.h5", "w") as file:
        for name, pairs in (("v1_to_v1", [(0, 1, 3), (2, 0, 5)]), ("lgn_to_v1", [(1, 2, 4)])):
            group = file.create_group(f"edges/{name}")
            source, target, count = zip(*pairs, strict=True)
            group["source_node_id"], group["target_node_id"] = source, target
            group["edge_type_id"], group["edge_group_id"] = [100] * len(pairs), [0] * len(pairs)
            group["0/nsyns"] = count
    exec(lines(1), {})
    assert synapses("sonata.csv", ["0", "1", "2"]) == {
        ("0", "1"): 3, ("2", "0"): 5, ("1", "2"): 4
    }  # fmt: skip
