"""Scales and shifts against ordinary weights."""

import json

from matchprob.plugins.papers.figures.papers.paper2_match_probability import (
    allocations,
    ordinary_weights,
)

from algebra.plugins.normalization.network import NormNet
from matchprob.cli import app, run_command
from matchprob.plugins.papers.figures.papers import paper2_match_probability


def test_as_many_ordinary_weights():
    """The compared allocations have the same number of weights, as far as possible."""
    for w in range(1, 7):
        network = NormNet.square(2, 1, w, 3, "linear")
        sizes = {
            name: sum(
                cells.budget if not isinstance(cells, str) else network.shapes[key][0]
                for key, cells in learn.items()
            )
            for name, learn in allocations(network).items()
        }
        assert sizes["all scales"] == w + 2
        assert sizes["as many ordinary weights"] == min(w + 2, 4 * w)
        assert sizes["as many ordinary weights as both"] == min(2 * w + 4, 4 * w)
    cells = ordinary_weights(NormNet((1, 5), (2,), 1), 9)
    assert (cells["W1"].budget, cells["W2"].budget) == (2, 7)


def test_figure(monkeypatch, tmp_path, capsys):
    """Below its width an allocation of scales is certified minimal, from it on maximal."""
    monkeypatch.setattr(paper2_match_probability, "_WIDTHS", {"linear": (2, 3), "relu": (2,)})
    words = ["reproduce", "norm-mp", "--trials", "3", "--out", str(tmp_path), "--json"]
    assert run_command(lambda: app(words, standalone_mode=False)) == 0
    points = json.loads(capsys.readouterr().out)["points"]
    both = {
        (p["m"], p["x"]): p["matched"]
        for p in points
        if (p["net"], p["curve"]) == ("linear", "all scales and shifts")
    }
    assert both == {(2, 2): 3, (2, 3): 3, (3, 2): 0, (3, 3): 3}
    relu = [p for p in points if p["net"] == "relu"]
    assert len(relu) == 8
    assert not any(p["undetermined"] for p in relu)
    text = (tmp_path / "norm-mp.md").read_text()
    assert "linear, m = 3, all scales and shifts: minimal for w = 2; maximal for w = 3" in text
    assert "relu, m = 2, all scales: undecided for w = 2" in text
