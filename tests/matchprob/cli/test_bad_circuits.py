"""Invalid files of circuits give status 2 and one line, with the row if the file has rows."""

import io
import re

import numpy as np
import pytest
from scipy import sparse

from tests.matchprob.calls import call

CIRCUIT = """[network]
kind = "rnn"
n = {n}
T = 2
b = 2
d = 1
m = 2
activation = "tanh"
{network}
[names]
{neurons}
inputs = ["light", "sound"]
[support]
W = {W}
{support}
[learnable]
W = "all"
{more}
"""
NEURONS = 'neurons = ["PV", "SST", "E1"]'
EDGES = "pre,post\nPV,SST\nSST,E1\nE1,PV\n"
NEUPRINT = "bodyId_pre,bodyId_post,roi,weight\n"
GRAPHML = """<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<graph edgedefault="directed"><node id="PV"/><node id="SST"/><edge source="PV" target="{target}"/>
</graph></graphml>"""


def damaged_npz():
    """The bytes of a sparse matrix, partly overwritten."""
    out = io.BytesIO()
    sparse.save_npz(out, sparse.coo_array(np.eye(3)))
    return out.getvalue()[:200] + b"\0" * 100


def npz(matrix):
    """A sparse matrix as a file."""
    out = io.BytesIO()
    sparse.save_npz(out, sparse.coo_array(matrix))
    return out.getvalue()


# The fault, the parts of the problem file, files beside it, a part of the message.
CASES = [
    (
        "a name twice", {"neurons": 'neurons = ["PV", "SST", "PV"]'}, {},
        r"names.neurons has 'PV' twice",
    ),
    (
        "a name twice in a file", {"neurons": 'neurons = "names.csv"'},
        {"names.csv": "name\nPV\nSST\nPV\n"},
        r"names.neurons: .*names.csv: row 4 has 'PV' again, after row 2",
    ),
    (
        "an edge to nobody", {}, {"w.csv": "pre,post\nPV,SST\nPV,muscle\n"},
        r"support.W: .*row 3, from PV onto muscle: `post` \('muscle'\) is none of the \[names\]",
    ),
    (
        "an edge twice", {}, {"w.csv": EDGES + "PV,SST\n"},
        r"row 5, from PV onto SST, is given twice, first in row 2",
    ),
    (
        "pre and post exchanged", {"support": 'B = "b.csv"'},
        {"b.csv": "pre,post\nPV,light\nSST,light\n"},
        r"support.B: .*row 2, from PV onto light: .*are `pre` and `post` exchanged\?",
    ),
    (
        "a wrong header", {}, {"w.csv": "pre,onto\nPV,SST\n"},
        r"support.W`: .*one column `post`; the header is \['pre', 'onto'\]",
    ),
    (
        "two columns that send", {}, {"w.csv": "pre,source,post\nPV,PV,SST\n"},
        r"columns 'pre' and 'source' both mean `pre`",
    ),
    (
        "no header", {}, {"w.csv": "PV,SST\nSST,E1\n"},
        r"support.W: its first row \('PV,SST'\) is no header .*begin an edge list with pre,post",
    ),
    (
        "a short line", {}, {"w.csv": EDGES + "PV\n"}, r"row 5 has 1 entries, the header 2",
    ),
    (
        "a contact number that is none", {}, {"w.csv": NEUPRINT + "PV,SST,LO,two\n"},
        r"row 2, from PV onto SST: 'two' is no number",
    ),
    (
        "a region twice", {}, {"w.csv": NEUPRINT + "PV,SST,LO,2\nPV,SST,LO,3\n"},
        r"row 3, from PV onto SST, is given twice, first in row 2",
    ),
    (
        "a body without a name", {}, {"w.csv": NEUPRINT + "1158864995,PV,LO,2\n"},
        r"row 2, from 1158864995 onto PV: `pre` 1158864995 is outside",
    ),
    (
        "types of synapses not told apart", {},
        {"w.csv": "Source,Target,Weight,Type\nPV,SST,2,chemical\nSST,PV,1,electrical\n"},
        r"several types: chemical \(1\), electrical \(1\); choose one",
    ),
    (
        "a type of synapse that is not there", {"W": '{ edges = "w.csv", type = "electrical" }'},
        {"w.csv": "Source,Target,Weight,Type\nPV,SST,2,chemical\n"},
        r"none of its edges is of type 'electrical'; it has chemical \(1\)",
    ),
    (
        "no edge between neurons", {"W": '{ edges = "w.csv", unknown = "skip" }'},
        {"w.csv": "pre,post\na,b\n"}, r"none of its 1 edges is between units of W",
    ),
    (
        "a graph that is no XML", {"W": '"w.graphml"'}, {"w.graphml": "<graphml><node"},
        r"support.W.*w.graphml.*cannot be read",
    ),
    (
        "a graph with an edge to nobody", {"W": '"w.graphml"'},
        {"w.graphml": GRAPHML.format(target="ghost")}, r"edge 1, from PV onto ghost",
    ),
    (
        "an npz that is damaged", {"W": '"w.npz"'}, {"w.npz": damaged_npz()},
        r"support.W.*w.npz.*cannot be read",
    ),
    (
        "an npz of another size", {"W": '"w.npz"'}, {"w.npz": npz(np.eye(4))},
        r"support.W.* is 4×4 but must be 3×3",
    ),
    (
        "an npz that does not say what sends", {"W": '{ edges = "w.npz" }'},
        {"w.npz": npz(np.eye(3))}, r"does not say whether its rows or columns are `pre`",
    ),
    ("a missing file", {"W": '"none.csv"'}, {}, r"support.W.*none.csv.*does not exist"),
    ("an alpha of 0", {"network": "leak = 0.0"}, {}, r"leak.*0.*above 0"),
    ("an alpha above 1", {"network": "leak = 1.5"}, {}, r"leak.*1.5"),
    ("an alpha below 0", {"network": "leak = [0.5, -0.1, 1]"}, {}, r"leak.*-0.1"),
    ("an alpha that is no number", {"network": "leak = nan"}, {}, r"leak.*nan"),
    (
        "an alpha in a file", {"network": 'leak = "leak.csv"'}, {"leak.csv": "0.5\n2\n0.5\n"},
        r"network.leak.*leak.csv, row 1.*2",
    ),
    (
        "a type without members", {"more": '[types]\nneurons = ["E", "E", "E"]\n'
        '[constraints]\nsign = { I = "-" }'}, {},
        r"constraints.sign.I: no unit is of this type.*types are E",
    ),
    (
        "types for fewer units", {"more": '[types]\nneurons = ["E", "I"]'}, {},
        r"types.neurons has 2 types for 3 units",
    ),
    (
        "a unit without a type", {"more": '[types]\nneurons = "types.csv"'},
        {"types.csv": "name,type\nPV,I\nSST,I\n"}, r"types.neurons: .*types.csv: 'E1' has no type",
    ),
    (
        "a type for nobody", {"more": '[types]\nneurons = "types.csv"'},
        {"types.csv": "name,type\nPV,I\nVIP,I\n"},
        r"types.neurons: .*types.csv: row 3 names 'VIP', which is none of the \[names\]",
    ),
    (
        "a size that no network has", {"n": "1_000_000_000"}, {},
        r"`n` \(1000000000\) must be at most 100000000",
    ),
    (
        "sizes that cannot be held", {"n": "1_000_000", "neurons": ""}, {},
        r"W would be 1000000×1000000: more than 4e\+10 entries; choose smaller sizes",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("parts", "files", "words"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_an_invalid_file_is_refused_in_one_line(parts, files, words, tmp_path, complaint):
    """Status 2; one line begins with the file's name and says what is wrong where; no traceback."""
    given = {"n": 3, "network": "", "neurons": NEURONS, "W": '"w.csv"', "support": "", "more": ""}
    (tmp_path / "circuit.toml").write_text(CIRCUIT.format(**{**given, **parts}))
    for name, content in {"w.csv": EDGES, **files}.items():
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    error = complaint("certify", tmp_path / "circuit.toml")
    assert len(error.splitlines()) == 1
    assert error.startswith(f"matchprob: {tmp_path / 'circuit.toml'}: ")
    assert re.search(words, error)


def test_the_unchanged_circuit_is_read(tmp_path, capsys):
    """The circuit that the cases change is valid, so each is refused for its own reason."""
    given = {"n": 3, "network": "leak = 0.5", "neurons": NEURONS, "W": '"w.csv"', "support": ""}
    more = '[types]\nneurons = ["E", "E", "I"]\n'
    (tmp_path / "circuit.toml").write_text(CIRCUIT.format(**given, more=more))
    (tmp_path / "w.csv").write_text(EDGES)
    assert call("certify", tmp_path / "circuit.toml") == 0
    assert "verdict" not in capsys.readouterr().err
