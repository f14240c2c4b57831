"""The papers' figures can be read, alone and at a column's width: measured on made-up numbers."""

from __future__ import annotations

import pytest

from algebra.networks.recurrent import LinearRNN
from algebra.problems.problem import Problem
from matchprob.figures import (
    Run,
    find_figure,
    paper1_digits,
    paper1_linear,
    paper1_relu,
    paper1_small_nets,
    paper2_sparse,
    paper2_training,
    points,
)
from matchprob.figures import paper2_match_probability as norm_mp
from matchprob.figures.points import Measured, Point
from matchprob.io.sizes import inches
from matchprob.report.drawing.style import grow, on_paper
from numeric.counts import COMPLETE, UNDETERMINED, InstanceCount, Reason
from numeric.normalization.sparse_masks import SparseSuccess
from numeric.statistics.estimate import Estimate
from numeric.statistics.intervals import proportion_interval
from tests.matchprob.legible import faults

NET = LinearRNN(n=2, T=2, b=1, d=1, m=2)
DIAGONAL = Problem(NET, {"W": [[1, 0], [0, 1]]})


def made_up(run, curves):
    """Estimates with open trials, certified ones, and the paper's method beside."""
    out = {}
    for c, (name, own) in enumerate(curves.items()):
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
    """The picture of a figure, of numbers that nobody computed."""
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
    if name == "fig3c":
        rows = [
            {"weights": w, "rows": k, "trials": 10, "matched": k // 4, "low": 0.1, "right": 0.9}
            for w in (400, 2000) for k in (7, 10, 14, 20, 28)
        ]  # fmt: skip
        return paper1_digits._draw(rows, "Figure 3c: digits, n = 1000, m = 200")
    return find_figure(name).make(run(tmp_path)).picture


NAMES = (
    "b11", "warmup", "fig2a", "fig2b", "fig3a", "fig3b", "fig3c", "norm-fig4", "norm-fig5",
    "norm-sparse", "norm-mp",
)  # fmt: skip


@pytest.mark.parametrize("width", [None, "85mm"])
@pytest.mark.parametrize("name", NAMES)
def test_figures_can_be_read(name, width, tmp_path, monkeypatch):
    """No text meets another or leaves the canvas, no legend lies on data; every axes has names."""
    with on_paper(width and inches(width)):
        picture = drawn(name, tmp_path, monkeypatch)
    grow(picture)
    assert faults(picture) == []
    if width:
        assert picture.get_figwidth() == pytest.approx(inches(width))
    for axes in picture.axes:
        assert axes.get_ylabel()
        assert axes.get_legend() is not None


def test_curves_stand_apart():
    """Intervals of curves at one x are side by side; axes are returned."""
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    curves = made_up(None, {name: [Point(1.0, DIAGONAL)] for name in ("a", "b", "c")})
    apart = points.shifts(3, 1.0)
    assert apart[1] == 0
    assert len(set(apart)) == 3
    for (name, own), shift in zip(curves.items(), apart, strict=True):
        assert points.draw_curve(axes, own, name, "C0", shift=shift) is axes
    labels = [str(h.get_label()) for h in points.marks(m for own in curves.values() for m in own)]
    assert "the paper's method" in labels
    assert any("lower bound" in label for label in labels)
