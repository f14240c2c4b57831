"""The papers' figures, reproduced with few trials."""

from dataclasses import replace
from pathlib import Path

import pytest
from matchprob.plugins.papers.figures.papers.paper1_linear import _layer_points, _lrnn_points

from matchprob.plugins.papers.figures import (
    FIGURES,
    Numbers,
    Run,
    figures,
    find_figure,
    register_figure,
)
from matchprob.plugins.papers.figures.curves import FigureLayout
from matchprob.plugins.papers.figures.points import CurvePoint, Measured, increases
from numeric.statistics.estimate import Estimate
from numeric.studies.store import Store
from numeric.trials.counts import COMPLETE, UNDETERMINED, InstanceCount
from tests.matchprob.calls import call
from tests.refusals import refuses


def test_figures_are_listed(printed, complaint):
    """Without a name the figures are listed, an unknown one is refused."""
    listed = printed("reproduce")
    assert {"fig2a", "fig2b", "fig3a", "b11", "warmup"} <= set(figures())
    assert all(name in listed for name in figures())
    assert "no figure 'fig9'" in complaint("reproduce", "fig9")


def test_figures_can_be_added(monkeypatch):
    """A registered function is found under its name."""
    monkeypatch.setattr("matchprob.plugins.papers.figures.FIGURES", dict(FIGURES))

    @register_figure("mine", "a test", 3, FigureLayout(()))
    def mine(run):
        raise AssertionError

    assert find_figure("mine").compute is mine
    refuses("no figure", find_figure, "yours")


@pytest.mark.parametrize("end", [KeyboardInterrupt, MemoryError])
def test_an_end_says_what_is_kept(end, tmp_path, monkeypatch, capsys):
    """If the work is ended, the store is named as soon as there is one; the status is 3."""
    monkeypatch.setattr("matchprob.plugins.papers.figures.FIGURES", dict(FIGURES))
    store = tmp_path / "kept.sqlite"

    @register_figure("mine", "a test", 3)
    def mine(run):
        if run.trials > 1:
            Store(run.store, create=True).close()
        raise end

    words = ["reproduce", "mine", "--out", tmp_path, "--store", store, "--trials"]
    assert call(*words, 1) == 3
    assert "nothing was kept" in capsys.readouterr().err
    assert call(*words, 2) == 3
    said = capsys.readouterr().err
    assert f"what is finished is kept in {store}, the same command goes on" in said
    assert "nothing was kept" not in said


def test_the_figure_of_section_b11(tmp_path, answer):
    """Four allocations are certified, two estimated; picture, table and text are written."""
    found = answer("reproduce", "b11", "--trials", 40, "--out", tmp_path)
    rows = {row["curve"]: row for row in found["points"]}
    assert [rows[n]["certified_maximal"] for n in ("row 0", "row 1", "column 0", "column 1")] == [
        40
    ] * 4
    assert rows["diagonal"]["certified_maximal"] == 0
    assert rows["diagonal"]["undetermined"] == 0
    assert found["finished"]
    assert (tmp_path / "b11.png").read_bytes().startswith(b"\x89PNG")
    assert "the paper's 0.74" in (tmp_path / "b11.md").read_text()
    assert (tmp_path / "b11.csv").read_text().count("\n") == 7
    assert (tmp_path / "b11.sqlite").exists()


def test_the_warm_up_example(tmp_path, answer):
    """Nine allocations of two weights in each row are certified maximal, the other six minimal."""
    points = answer("reproduce", "warmup", "--trials", 2, "--out", tmp_path)["points"]
    assert sum(p["certified_maximal"] == 2 for p in points) == 9
    assert sum(p["certified_minimal"] == 2 for p in points) == 6


def test_curves_have_numbers_of_trials_of_their_own(tmp_path, answer):
    """The share of a larger net gives way to the number given for its curve, exactly."""
    line = ("--points", 1, "--trials", 4, "--trials", "n=12:3", "--trials", "n = 16:2")
    found = answer("reproduce", "fig2b", *line, "--out", tmp_path)
    assert {row["curve"]: row["trials"] for row in found["points"]} == {
        "n = 8": 4, "n = 12": 3, "n = 16": 2,
    }  # fmt: skip
    assert found["finished"]
    assert found["curve_trials"] == {"n = 12": 3, "n = 16": 2}


def test_numbers_of_trials_are_read_and_refused():
    """Words that are no numbers, and curves that a figure does not have, are named."""
    figure = find_figure("fig2a")
    assert figure.trials_of(()) == (figure.trials, {})
    assert figure.trials_of(["40,n=16:1000", "n=8:5"]) == (40, {"n = 16": 1000, "n = 8": 5})
    for word in ("0", "x", "n=16:", "n=16:0", "n=16:1e3", "-3", "2000000"):
        refuses("`trials`", figure.trials_of, [word])
    refuses("names no curve", figure.trials_of, ["n=7:3"])
    refuses("no such curves", find_figure("b11").trials_of, ["row 0:3"])


def test_points_are_those_of_the_paper():
    """Caps and sizes are those of Appendix E."""
    points = _lrnn_points(8, 4)
    assert [p.x * 8 for p in points] == [4, 5, 6, 7, 8]
    cells = points[1].problem.learnable["W"]
    assert (cells.budget, cells.rows, cells.max_per_row) == (16, 5, 4)
    assert [p.x * 12 for p in _lrnn_points(12, 3)] == list(range(3, 13))
    # An engine that counts even if no solution exists; the largest nets have a tenth of the trials.
    assert {p.engine for n in (8, 12, 16) for p in _lrnn_points(n, 4)} == {"homotopy"}
    run = Run(40, 0, Path("s.sqlite"), 1, 0, print)
    assert [_lrnn_points(n, 4)[0].trials(run) for n in (8, 12, 16)] == [40, 40, 4]
    assert CurvePoint(0, points[0].problem, share=0.001).trials(run) == 1
    own = replace(run, curve_trials={"n = 16": 1000})
    assert CurvePoint(0, points[0].problem, share=0.04).trials(own, "n = 16") == 1000
    assert CurvePoint(0, points[0].problem, share=0.04).trials(own, "n = 12") == 2
    for point in _layer_points(8):
        assert point.engine == "homotopy"
        assert all(c.budget == 8 for c in point.problem.learnable.values())
        assert point.problem.learnable["W1"].columns == min(point.x, 4)


def measured(x, matched, unmatched, missed=0):
    problem = _lrnn_points(8, 4)[0].problem
    counts = [InstanceCount(k, 2, 2, COMPLETE) for k in range(matched)]
    counts += [InstanceCount(matched + k, 0, 2, COMPLETE) for k in range(unmatched)]
    baseline = [InstanceCount(k, None, None, UNDETERMINED) for k in range(missed)]
    n = len(counts)
    return Measured(
        CurvePoint(x, problem),
        Estimate(problem, "homotopy", 0, tuple(counts), n),
        Estimate(problem, "fsolve", 0, tuple(baseline), missed) if missed else None,
    )


def test_the_text_follows_from_the_numbers():
    """A significant decrease is reported, an increase is not; misses are counted."""
    assert "no point" in increases([measured(0.5, 50, 50), measured(0.6, 90, 10)])
    assert "not monotone: x = 0.6" in increases([measured(0.5, 95, 5), measured(0.6, 50, 50)])
    assert measured(0.5, 3, 3, missed=5).missed == 3


def test_drawn_again(tmp_path, answer, complaint, capsys):
    """Tables written by a run are drawn again without trials; other files are refused."""
    first, second = tmp_path / "first", tmp_path / "second"
    assert call("reproduce", "warmup", "--trials", 2, "--out", first) == 0
    again = ["reproduce", "warmup", "--from", first, "--out", second]
    assert call(*again) == 0
    assert (second / "warmup.png").read_bytes() == (first / "warmup.png").read_bytes()
    assert [path.name for path in second.iterdir()] == ["warmup.png"]
    capsys.readouterr()
    assert len(answer(*again)["points"]) == 15
    assert call(*again, "--width", "85mm", "--format", "svg") == 0
    assert 'width="240.9' in (second / "warmup.svg").read_text()
    assert "does not go with --trials" in complaint(*again, "--trials", 3)
    assert call("reproduce", "b11", "--from", first, "--out", second) == 2
    assert "b11.csv: No such file" in capsys.readouterr().err
    table = first / "warmup.csv"
    whole = table.read_text()
    for bad, told in (
        (whole.replace("matched", "mismatched"), "no column 'matched'"),
        (whole.replace(",2,", ",two,"), "is no number"),
        (whole + "1,2\n", "line 17: 2 cells"),
        ("", "holds no rows"),
    ):
        table.write_text(bad)
        assert told in complaint(*again)
    table.write_bytes(b"\xff\xfe")
    assert "no text" in complaint(*again)


def test_unwritable_folder(tmp_path, complaint):
    """A file instead of the folder is refused before any computation."""
    (tmp_path / "taken").write_text("x")
    assert "--out" in complaint("reproduce", "b11", "--out", tmp_path / "taken")


def test_pictures_for_a_page(tmp_path, complaint, capsys):
    """Format, width and resolution are obeyed; wrong ones are refused before any trial."""
    words = ["reproduce", "warmup", "--trials", 2, "--out", tmp_path]
    assert call(*words, "--format", "svg", "--width", "85mm") == 0
    assert 'width="240.9' in (tmp_path / "warmup.svg").read_text()
    capsys.readouterr()
    for bad in (["--format", "gif"], ["--width", "85"], ["--dpi", "1"]):
        assert complaint(*words, *bad)


def test_a_quick_look(tmp_path, monkeypatch, printed, complaint):
    """`--quick` asks for two points and 40 trials, unless others are given."""
    monkeypatch.setattr("matchprob.plugins.papers.figures.FIGURES", dict(FIGURES))
    asked = []

    @register_figure("mine", "a test", 300)
    def mine(run):
        asked.append((run.trials, run.points))
        return Numbers([{"x": 1}], "text")

    for more in ((), ("--trials", 300), ("--points", 5)):
        printed("reproduce", "mine", "--quick", *more, "--out", tmp_path)
    assert asked == [(40, 2), (300, 2), (40, 5)]
    assert "--quick" in complaint("reproduce", "mine", "--quick", "--from", tmp_path)
