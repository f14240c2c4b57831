"""The first paper's allocations under bounds, and found by training: with few trials."""

import csv
import io
from functools import partial

import pytest
from matchprob.plugins.papers.figures.papers.paper1_weights import LARGE_NET, OPTIMIZERS, cases

from algebra.ranks.generic_rank import allocation_rank
from matchprob.plugins.papers.figures.papers import paper1_weights
from tests.matchprob.calls import call
from tests.samples import many


@pytest.fixture
def small(monkeypatch):
    """Section B.1.1 alone, with short trainings."""
    some = cases()[:3]
    monkeypatch.setattr(paper1_weights, "cases", lambda numbers: some)
    monkeypatch.setattr(paper1_weights, "train", partial(paper1_weights.train, steps=many(500)))


def test_the_allocations_are_those_of_the_text():
    """Sixteen weights in 4 … 8 rows, none minimal."""
    for case in cases():
        if case.group == "n = 8":
            allocation = case.problem.allocation
            counts = allocation.row_counts("W")
            assert allocation.size == 16 == LARGE_NET.outputs
            assert f"{sum(c > 0 for c in counts)} rows" == case.name
            assert max(counts) <= 4
            assert allocation_rank(allocation, {}, 16).rank == 16


def test_two_pictures_a_table_and_a_text(small, tmp_path, capsys):
    """All are written; what a bound allows grows with it, what is found exists."""
    assert call("reproduce", "weights", "--trials", many(24), "--out", tmp_path) == 0
    for name in ("weights.png", "weights-training.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "weights.csv").read_text())))
    assert [row["allocation"] for row in rows] == ["diagonal", "off-diagonal", "one row"]
    for row in rows:
        shares = [float(row[f"within_{b}"]) for b in ("1", "3", "10", "any")]
        assert shares == sorted(shares)
        assert shares[0] < shares[-1]
        for optimizer in OPTIMIZERS:
            low, value, high = (float(row[f"found_{optimizer}{e}"]) for e in ("_low", "", "_high"))
            assert low <= value <= high
    text = (tmp_path / "weights.md").read_text()
    assert "B.1.1, one row" in text
    assert "missed" in text
    assert "weights-training.png" in capsys.readouterr().err


def test_an_interrupt_keeps_finished_measurements(small, tmp_path, capsys, monkeypatch):
    """Measurements before the interrupt are drawn; the status is 3."""
    whole = paper1_weights.train

    def until(problem, *arguments, **options):
        if problem.learnable["W"][0, 0] == 0:
            raise KeyboardInterrupt
        return whole(problem, *arguments, **options)

    monkeypatch.setattr(paper1_weights, "train", until)
    assert call("reproduce", "weights", "--trials", 3, "--out", tmp_path) == 3
    assert (tmp_path / "weights.sqlite").exists()
    assert "the same command goes on" in capsys.readouterr().err
    rows = list(csv.DictReader(io.StringIO((tmp_path / "weights.csv").read_text())))
    assert [row["allocation"] for row in rows] == ["diagonal", "off-diagonal"]
    assert rows[0]["found_gd"]
    assert rows[1]["found_gd"] == ""
