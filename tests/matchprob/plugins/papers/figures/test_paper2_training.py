"""The second paper's figures with small sizes."""

import json
from dataclasses import replace

import pytest
from matchprob.plugins.papers.figures.papers.normalization_experiment import run_setting
from matplotlib.figure import Figure

from matchprob.plugins.papers.figures.curves import FigureLayout
from matchprob.plugins.papers.figures.papers import paper2_sparse, paper2_training
from tests.matchprob.calls import call


@pytest.fixture
def small(monkeypatch):
    """Few dimensions and samples; counts how often the experiment is run."""
    calls = []

    def quick(setting):
        calls.append(setting)
        return run_setting(replace(setting, samples=300, epochs=2))

    monkeypatch.setattr(paper2_training, "_DIMENSIONS", (2, 3))
    monkeypatch.setattr(paper2_training, "_FIXED", 3)
    monkeypatch.setattr(paper2_training, "_WIDTHS", (3, 9, 12))
    monkeypatch.setattr(paper2_sparse, "_SPARSE_SIZES", (2, 3))
    monkeypatch.setattr(paper2_sparse, "_FACTORS", (1.0,))
    monkeypatch.setattr(paper2_training, "run_setting", quick)
    return calls


@pytest.fixture
def counted(small, monkeypatch):
    """As `small`, nothing is trained, all errors are 1, and pictures are empty."""

    def told(setting):
        small.append(setting)
        return dict.fromkeys((*paper2_training.ALGORITHMS, "variance"), 1.0)

    monkeypatch.setattr(paper2_training, "run_setting", told)
    # Other tests look at the pictures.
    monkeypatch.setattr(FigureLayout, "draw", lambda *_, **__: Figure())
    return small


def test_figure_4(small, tmp_path, answer):
    """Both panels are drawn; the construction from the target is exact from w = d² on."""
    points = answer("reproduce", "norm-fig4", "--trials", 2, "--out", tmp_path)["points"]
    exact = {(p["panel"], p["x"]): float(p["median"]) for p in points if p["algorithm"] == "target"}
    assert len(points) == 6 * (2 + 3)
    assert all(v < 1e-20 for (panel, x), v in exact.items() if (panel, x) != ("width w", 3))
    assert exact["width w", 3] > 1e-3
    assert (tmp_path / "norm-fig4.png").read_bytes().startswith(b"\x89PNG")
    assert "smaller median error for d in [2, 3]" in (tmp_path / "norm-fig4.md").read_text()


def test_results_are_kept(counted, tmp_path, capsys):
    """The same run again computes nothing; more runs compute only the new ones."""
    assert call("reproduce", "norm-fig4", "--trials", 1, "--out", tmp_path) == 0
    done = len(counted)
    # w = 9 of d = 3 is in both panels and computed once.
    assert done == 4
    assert call("reproduce", "norm-fig4", "--trials", 1, "--out", tmp_path) == 0
    assert len(counted) == done
    assert call("reproduce", "norm-fig4", "--trials", 2, "--out", tmp_path) == 0
    assert len(counted) == 2 * done
    capsys.readouterr()


def test_figure_5(small, tmp_path, answer):
    """Four panels, two densities."""
    points = answer("reproduce", "norm-fig5", "--trials", 1, "--out", tmp_path)["points"]
    assert {p["panel"] for p in points} == {
        f"p = {density}, {x}" for density in (0.2, 0.05) for x in ("width d", "width w")
    }


def test_an_interrupt_keeps_finished_runs(small, tmp_path, capsys, monkeypatch):
    """Finished runs are kept and drawn; the status is 3."""

    def stopped(setting):
        if len(small) == 2:
            raise KeyboardInterrupt
        small.append(setting)
        return dict.fromkeys((*paper2_training.ALGORITHMS, "variance"), 1.0)

    monkeypatch.setattr(paper2_training, "run_setting", stopped)
    assert call("reproduce", "norm-fig4", "--trials", 1, "--out", tmp_path, "--json") == 3
    assert not json.loads(capsys.readouterr().out)["finished"]


def test_sparse_threshold(small, tmp_path, answer):
    """Success rises from 0 to 1 with the density."""
    points = answer("reproduce", "norm-sparse", "--trials", 40, "--out", tmp_path)["points"]
    shares = {p["density"]: p["successes"] for p in points if (p["d"], p["width"]) == (3, 9)}
    assert shares[0.05] == 0
    assert shares[1.0] == 40
    assert "half of the masks succeed" in (tmp_path / "norm-sparse.md").read_text()


def test_few_points(counted, tmp_path, capsys):
    """With --points each curve has its end points only; the whole figure reuses them."""
    words = ("reproduce", "norm-fig4", "--trials", 1, "--out", tmp_path, "--json")
    assert call(*words, "--points", 2) == 0
    points = json.loads(capsys.readouterr().out)["points"]
    assert {p["x"] for p in points if p["panel"] == "width w"} == {3, 12}
    assert len(counted) == 4
    assert call(*words) == 0
    assert len(json.loads(capsys.readouterr().out)["points"]) == 6 * (2 + 3)
    assert len(counted) == 4
    assert call(*words, "--points", 0) == 2
