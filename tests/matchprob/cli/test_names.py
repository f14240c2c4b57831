"""Names of units in what the verbs print and draw."""

import pytest

import matchprob as mp
from matchprob.cli import app
from matchprob.report.drawing import paint

TEXT = (
    '[network]\nkind = "lrnn"\nn = 3\nT = 2\nb = 1\nd = 1\nm = 2\n'
    '[learnable]\nW = "plastic.csv"\n'
    '[names]\nneurons = ["PV", "SST", "E1"]\ninputs = ["light"]\n'
)


@pytest.fixture
def circuit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "circuit.toml").write_text(TEXT)
    (tmp_path / "plastic.csv").write_text("pre,post\nPV,PV\nSST,PV\nE1,PV\n")
    return tmp_path


def test_results_and_reasons_name_units(circuit, answer, printed):
    """The row with too many weights is that of PV; masks have the units' names."""
    text = printed("inspect circuit.toml")
    assert "row 0 (PV) of W has 3 learnable weights" in text
    assert "PV   ●●●" in text
    data = answer("inspect circuit.toml")
    assert any("row 0 (PV) of W" in text for text in data["explanation"])
    text = printed("identify circuit.toml")
    assert "W[PV,SST]" in text
    text = printed("robust circuit.toml")
    assert "W[PV," in text
    (circuit / "plastic.csv").write_text("pre,post\nPV,PV\nSST,SST\n")
    text = printed("count circuit.toml --instances 2 --engine exact --solutions")
    assert "W[SST,SST]" in text


def test_the_report_of_forty_units_has_fifty_lines(tmp_path, monkeypatch, printed):
    """One reason covers 40 rows and names them; long lists end in a count; --all prints them."""
    monkeypatch.chdir(tmp_path)
    units = [f"N{k:02d}" for k in range(40)]
    text = '[network]\nkind = "lrnn"\nn = 40\nT = 2\nb = 1\nd = 1\nm = 2\n[learnable]\nW = {}\n'
    text += f"[names]\nneurons = {units}\n"
    (tmp_path / "circuit.toml").write_text(text.format('"all"'))
    # The weights of two rows.
    (tmp_path / "rows.toml").write_text(text.format([[1] * 40] * 2 + [[0] * 40] * 38))
    row = "rows 0 (N00), 1 (N01), 2 (N02), 3 (N03), 4 (N04), 5 (N05), 6 (N06), 7 (N07) and 32 more"
    text = printed("inspect circuit.toml")
    assert len(text.splitlines()) <= 50
    assert f"{row} of W have 40 learnable weights each" in " ".join(text.split())
    assert " more: --all" in text
    whole = printed("inspect circuit.toml --all")
    assert len(whole.splitlines()) > 50
    assert "more: --all" not in whole
    assert "N39  " in whole
    text = printed("identify rows.toml")
    assert "W[N00,N11] and 68 more" in " ".join(text.split())
    assert len(text.splitlines()) <= 50
    assert "W[N01,N39]" in printed("identify rows.toml --all")
    assert len(printed("robust rows.toml").splitlines()) <= 50


def test_costs_by_name_and_a_written_file(circuit, printed):
    """A design reads costs from an edge list of names; the file that it writes keeps the names."""
    (circuit / "plastic.csv").write_text("pre,post\nPV,PV\nSST,PV\nE1,SST\nPV,E1\n")
    (circuit / "costs.csv").write_text("pre,post,cost\nPV,PV,9\nSST,PV,1/2\n")
    text = printed("design circuit.toml --costs W=costs.csv --write best.toml")
    assert "PV " in text
    best = mp.load_problem("best.toml")
    assert best.names.to_dict()["neurons"] == ["PV", "SST", "E1"]
    assert ("W", 0, 0) not in best.allocation.cells


def test_json_has_the_names(circuit, answer):
    """JSON contains the names of every matrix's lines; such a certificate still verifies."""
    data = answer("certify circuit.toml")
    assert data["names"]["W"] == {"rows": ["PV", "SST", "E1"], "columns": ["PV", "SST", "E1"]}
    assert data["names"]["B"]["columns"] == ["light"]
    assert data["names"]["D"] == {"rows": None, "columns": ["PV", "SST", "E1"]}
    held = mp.verify(data)
    assert held.holds
    assert any("names" in check.text for check in held.checks if check.status == "unchecked")
    for line in (
        "inspect circuit.toml",
        "identify circuit.toml",
        "count circuit.toml --instances 1 --engine exact",
        "estimate circuit.toml --trials 2",
        "train circuit.toml --trials 1 --steps 2",
        "audit circuit.toml --matrix W --count 2",
        "atlas circuit.toml --budget 1 --search 0 --matrix D",
        "design circuit.toml --matrix W",
    ):
        assert answer(f"{line}")["names"] == data["names"], line


def test_axes_have_the_names(circuit):
    """The tick labels of masks are the units' names."""
    found = mp.certify("circuit.toml")
    axes = paint.figure_of(found).axes[0]
    assert [t.get_text() for t in axes.get_xticklabels()] == ["PV", "SST", "E1"]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["PV", "SST", "E1"]
    table = mp.identify("circuit.toml").columns()
    assert table["weight"] == ["W[PV,PV]", "W[PV,SST]", "W[PV,E1]"]


def test_chosen_weights_are_named_and_written(circuit, answer, printed):
    """Text, JSON and an edge list name the chosen synapses; the list can learn in a new problem."""
    (circuit / "free.toml").write_text(TEXT.replace('[learnable]\nW = "plastic.csv"\n', ""))
    line = "design free.toml --matrix W --write chosen.csv"
    text = printed(line)
    table = (circuit / "chosen.csv").read_text().splitlines()
    data = answer("design free.toml --matrix W")
    assert table[0] == "pre,post,cost"
    edges = [edge.split(",") for edge in table[1:]]
    assert sorted(f"W[{post},{pre}]" for pre, post, _ in edges) == sorted(data["weights"])
    assert all(weight in text for weight in data["weights"])
    (circuit / "chosen.toml").write_text(TEXT.replace("plastic.csv", "chosen.csv"))
    chosen = mp.load_problem(circuit / "chosen.toml")
    assert [list(cell) for cell in chosen.allocation.cells] == data["cells"]
    (circuit / "some.csv").write_text("pre,post,weight\nPV,SST,0.5\nSST,PV,0\n")
    line = "design free.toml --matrix W --forbid W=some.csv --must W=some.csv"
    with pytest.raises(mp.InputError, match=r"W\[1, ?0\]"):
        app(line.split(), standalone_mode=False)
    printed("repair circuit.toml --write mended.csv")
    data = answer("repair circuit.toml")
    lines = (circuit / "mended.csv").read_text().splitlines()
    assert lines[0] == "pre,post"
    assert len(lines) == 1 + len(data["weights"])
    printed("record circuit.toml --what entries --write seen.csv")
    assert (circuit / "seen.csv").read_text().startswith('name,cost\n"entry 0,0",1\n')
