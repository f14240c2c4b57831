"""The papers' figures are legible, alone and in a column: measured on artificial numbers."""

from pathlib import Path

import pytest
from matchprob.plugins.papers.figures.papers.classification import Classified
from matchprob.plugins.papers.figures.papers.sparse_masks import SparseSuccess

from matchprob.io.sizes import inches
from matchprob.plugins.papers.figures import Run, curves, figures, find_figure
from matchprob.plugins.papers.figures.papers import (
    paper1_digits,
    paper1_linear,
    paper1_relu,
    paper1_small_nets,
    paper2_sparse,
    paper2_training,
)
from matchprob.plugins.papers.figures.papers import paper2_match_probability as norm_mp
from matchprob.plugins.papers.figures.points import CurvePoint, Measured
from matchprob.report.drawing.style import on_paper
from numeric.statistics.estimate import Estimate
from numeric.statistics.intervals import proportion_interval
from numeric.trials.counts import COMPLETE, UNDETERMINED, InstanceCount, Reason
from tests.matchprob.legible import faults
from tests.samples import DIAGONAL


def made_up(run, wanted):
    """Estimates with undecided trials, certified ones, and the paper's method."""
    out = {}
    for c, (name, own) in enumerate(wanted.items()):
        out[name] = []
        for k, point in enumerate(own):
            matched = (7 * k + 5 * c) % 21
            open_ = 3 if (k + c) % 3 == 1 else 0
            counts = [InstanceCount(i, 2, 2, COMPLETE) for i in range(matched)]
            counts += [InstanceCount(matched + i, 0, 2, COMPLETE) for i in range(20 - matched)]
            counts += [InstanceCount(20 + i, None, None, UNDETERMINED) for i in range(open_)]
            if (k + c) % 3 == 2:
                counts = [
                    InstanceCount(i, 1, None, COMPLETE, reason=Reason.SETTLED_MAXIMAL)
                    for i in range(20)
                ]
            found = Estimate(point.problem, "homotopy", 0, tuple(counts), len(counts))
            base = Estimate(point.problem, "fsolve", 0, tuple(counts[:5]), 5) if c == 0 else None
            out[name].append(Measured(point, found, base))
    return out


def sparse(d, width, density, trials, seed):
    done = int(trials * density)
    interval = proportion_interval(done, trials - done)
    return SparseSuccess(d, width, density, trials, done, interval)


def run(tmp_path, trials=20):
    return Run(trials, 0, tmp_path / "s.sqlite", 1, 0, lambda text: None)


def drawn(name, tmp_path, monkeypatch):
    """The pictures of a figure, from artificial numbers."""
    for module in (paper1_linear, paper1_relu, paper1_small_nets, norm_mp):
        monkeypatch.setattr(module, "measure", made_up)
    monkeypatch.setattr(norm_mp, "certify", paper1_small_nets.certify)
    monkeypatch.setattr(norm_mp, "_threshold", lambda found: "")
    monkeypatch.setattr(paper2_sparse, "sparse_success", sparse)
    monkeypatch.setattr(
        paper2_training, "_compute",
        lambda run, settings: {
            s: dict.fromkeys(paper2_training.ALGORITHMS, 10.0 ** -(s.d % 20)) | {"variance": 1.0}
            for s in settings
        },
    )  # fmt: skip
    monkeypatch.setattr(
        paper1_digits, "_point",
        lambda run, samples, m, budget, rows: [
            Classified(i, i < rows % 20, m - i, 100, 0) for i in range(run.trials)
        ],
    )  # fmt: skip
    figure = find_figure(name)
    tables = figure.compute(run(tmp_path)).tables
    return [picture.draw(tables) for picture in figure.pictures]


KEPT = Path(__file__).parents[5] / "docs" / "figures"
KEPT_FIGURES = [name for name in figures() if (KEPT / f"{name}.csv").exists()]
# Figures with artificial numbers; the others are drawn from stored tables.
NAMES = (
    "b11", "warmup", "fig2a", "fig2b", "fig3a", "fig3b", "fig3c", "norm-fig4", "norm-fig5",
    "norm-sparse", "norm-mp",
)  # fmt: skip


def check(pictures, width):
    for picture in pictures:
        assert faults(picture) == []
        if width:
            assert picture.get_figwidth() == pytest.approx(inches(width))
        for axes in picture.axes:
            assert axes.get_ylabel()
            assert axes.get_legend() or picture.legends


# A figure that both tests draw is drawn by the first, in a column, and one that is only stored by
# the second in a column; in a long run all are drawn by both tests at both widths.
_BOTH = set(NAMES) & set(KEPT_FIGURES)
# Laid out by the function that lays out another one.
_TWINS = {"fig2b", "fig3b", "norm-fig4"}


def at_widths(names, spared):
    return [
        pytest.param(
            name,
            width,
            marks=[pytest.mark.long]
            * (name in _TWINS or width in (spared if name in _BOTH else [None])),
        )
        for name in names
        for width in (None, "85mm")
    ]


@pytest.mark.parametrize(("name", "width"), at_widths(NAMES, [None]))
def test_figures_can_be_read(name, width, tmp_path, monkeypatch):
    """No text overlaps another or leaves the canvas, no legend covers data; axes have labels."""
    with on_paper(width and inches(width)):
        check(drawn(name, tmp_path, monkeypatch), width)


@pytest.mark.parametrize(("name", "width"), at_widths(KEPT_FIGURES, [None, "85mm"]))
def test_figures_of_the_documentation(name, width):
    """Every figure is drawn from its stored numbers, in any width."""
    figure = find_figure(name)
    tables = figure.read(KEPT)
    assert all(tables.values())
    with on_paper(width and inches(width)):
        check([picture.draw(tables) for picture in figure.pictures], width)


def test_panels_take_and_return_axes():
    """A panel draws on given axes."""
    from matplotlib.figure import Figure

    for name in KEPT_FIGURES:
        tables = find_figure(name).read(KEPT)
        for picture in find_figure(name).pictures:
            for panel in picture.panels:
                axes = Figure().subplots()
                assert panel(axes, tables) is axes
                assert axes.has_data()


def test_one_legend_above_all_panels():
    """Each entry once, no panel has its own; without titles each panel has a letter."""
    figure = find_figure("norm-fig4")
    tables = figure.read(KEPT)
    canvas = figure.pictures[0].draw(tables, has_titles=False)
    assert faults(canvas) == []
    assert [axes.get_legend() for axes in canvas.axes] == [None, None]
    entries = [text.get_text() for text in canvas.legends[0].get_texts()]
    assert len(entries) == len(set(entries)) == 9
    assert [axes.get_title() for axes in canvas.axes] == ["a", "b"]


def test_curves_stand_apart():
    """Intervals of curves at one x are side by side; axes are returned."""
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    made = made_up(None, {name: [CurvePoint(1.0, DIAGONAL)] for name in ("a", "b", "c")})
    rows = {name: [m.row(name) for m in own] for name, own in made.items()}
    apart = curves.shifts(3, 1.0)
    assert apart[1] == 0
    assert len(set(apart)) == 3
    for own, shift in zip(rows.values(), apart, strict=True):
        assert curves.draw_curve(axes, own, "C0", shift=shift) is axes
    labels = [str(h.get_label()) for h in curves.marks(row for own in rows.values() for row in own)]
    assert "the paper's method" in labels
    assert any("lower bound" in label for label in labels)
