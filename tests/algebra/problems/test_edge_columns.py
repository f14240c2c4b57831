"""Long edge lists by columns are the lists that are read line by line, with the same errors."""

import random

import pytest

from algebra.errors import InputError
from algebra.networks.rnn import RNN
from algebra.problems import edge_columns
from algebra.problems.edge_columns import EdgeColumns, edges_by_columns
from algebra.problems.names import Names
from algebra.problems.tables import read_edges
from tests.samples import many

NET = RNN(n=4, T=1, b=1, d=1, m=1)
NAMES = ["PV", "SST", "E 1", "7"]


OPTIONS = [
    {}, {}, {"unknown": "skip"}, {"repeated": "sum"}, {"repeated": "first"}, {"type": "all"},
    {"at_least": 2}, {"repeated": "sum", "at_least": 2}, {"where": {"pre": ["PV", "SST", "0"]}},
    {"where": {"Weight": 1}}, {"where": {"region": "1"}}, {"type": "chemical"},
]  # fmt: skip


def outcome(path, names, **options):
    """Edges, units, entries of the mask and numbers; or the message of the error."""
    try:
        found = read_edges(path, **options)
        known = Names(NET, {"neurons": names} if names else {})
        mask, cells = found.mask(known, "W"), found.cells(known, "W")
    except InputError as error:
        return str(error)
    return tuple(found.edges), found.column, found.units, found.counts, mask.to_dict(), cells


def text(rng, mark):
    """A list, which is often wrong: units, numbers, lines, quotation marks, repeated pairs."""
    units = rng.choice([NAMES, ["0", "1", "2", "3"]])
    third = rng.choice(["", "weight", "weight", "cost", "sign", "note", "type", "region"])
    pairs = [(a, b) for a in units for b in units]
    rng.shuffle(pairs)
    lines = [["pre", "post", third][: 2 + bool(third)]]
    for a, b in pairs[: rng.randint(1, 9)]:
        number = "1" if third == "type" else str(rng.choice([0, 1, 1, 12]))
        lines.append([a, b, number][: len(lines[0])])
    fault = rng.choice([None] * 9 + ["twice", "unit", "empty", "short", "word", "blank", "quote"])
    k = rng.randrange(1, len(lines))
    if fault == "twice":
        lines.append(lines[k])
    elif fault in ("unit", "empty", "word", "quote"):
        wrong = {"unit": "nobody", "empty": "", "word": "x1", "quote": '"PV"'}[fault]
        lines[k][0 if fault != "word" else -1] = wrong
    elif fault == "short":
        lines[k] = lines[k][:1]
    elif fault == "blank":
        lines[k] = [f" {cell} " for cell in lines[k]]
    end = rng.choice(["\n", "\r\n"])
    found = end.join(mark.join(line) for line in lines) + rng.choice(["", end, end * 2])
    return rng.choice(["", "", "", "# circuit" + end]) + found, units if units is NAMES else []


@pytest.mark.parametrize("mark", [",", ";", "\t", " "])
def test_lists_by_columns_are_those_by_lines(mark, tmp_path, monkeypatch):
    """Edges, units, masks, numbers and messages of many lists, some of them wrong."""
    by_columns = 0
    path = tmp_path / "edges.csv"
    for seed in range(many(400, 100)):
        rng = random.Random(f"{mark}/{seed}")
        given, names = text(rng, mark)
        path.write_text(given, encoding="utf-8", newline="")
        options = rng.choice(OPTIONS)
        monkeypatch.setattr(edge_columns, "LONG", 0)
        found = outcome(path, names, **options)
        by_columns += edges_by_columns([given]) is not None
        monkeypatch.setattr(edge_columns, "LONG", 1 << 30)
        assert found == outcome(path, names, **options), given
    assert by_columns > 15 or mark == " "


def test_a_long_list_is_coded(tmp_path, monkeypatch):
    """A list of 8,000 lines is read by columns; an error in it names its line."""
    monkeypatch.setattr(edge_columns, "LONG", 1 << 16)
    net = RNN(n=200, T=1, b=1, d=1, m=1)
    lines = [f"{k // 200},{k % 200},1" for k in range(8_000)]
    path = tmp_path / "edges.csv"
    path.write_text("\n".join(["pre,post,weight", *lines]), encoding="utf-8")
    found = read_edges(path)
    assert isinstance(found.edges, EdgeColumns)
    assert found.edges[3:5] == tuple(found.edges)[3:5]
    assert len(found.mask(Names(net, {}), "W").values) == 8_000
    lines[6_000] = "7,200,1"
    path.write_text("\n".join(["pre,post,weight", *lines]), encoding="utf-8")
    with pytest.raises(InputError, match="row 6002, from 7 onto 200: `post` 200 is outside"):
        read_edges(path).mask(Names(net, {}), "W")
