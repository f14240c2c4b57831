"""Each verb returns one object, with a short repr, a table for notebooks, a frame and a plot."""

import dataclasses

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure

import matchprob as mp
from algebra.plugins.models.onnx.reader import Read
from algebra.programs.program import Builder
from algebra.results import Result
from tests.refusals import refuses
from tests.samples import DIAGONAL, NET

RELU = mp.Problem(mp.ShallowReLU(q=2, n=2, d=1, m=2), {"W1": [[1, 1], [1, 0]]})


def _capacity():
    """The capacity of a small program, without a model file."""
    build = Builder()
    W, x = build.weight("W", (2, 2)), build.sample("x", (2,))
    program = build.program(build.apply("tanh", build.contract("ij,j->i", W, x)))
    read = Read(program, {}, frozenset(), {}, {"W": "matrix"})
    return mp.capacity(read, ["W"], lora=[1])


VERBS = {
    "inspect": (lambda: mp.inspect(DIAGONAL), 1),
    "certify": (lambda: mp.certify(DIAGONAL), 1),
    "verify": (lambda: mp.verify(mp.certify(DIAGONAL)), None),
    "decide": (lambda: mp.decide(RELU), 1),
    "count": (lambda: mp.count(DIAGONAL, 6), 6),
    "estimate": (lambda: mp.estimate(DIAGONAL, 100), 100),
    "compare": (lambda: mp.compare(DIAGONAL, DIAGONAL, 8), 8),
    "profile": (lambda: mp.profile(DIAGONAL, DIAGONAL, bounds=[1, 2], trials=8), 4),
    "train": (lambda: mp.train(DIAGONAL, 8, steps=100), 8),
    "identify": (lambda: mp.identify(DIAGONAL), 2),
    "record": (lambda: mp.record(DIAGONAL, ["outputs", "units"]), 3),
    "dimension": (lambda: mp.dimension(mp.LinearFeedForward(q=2, widths=(2,), d=2, m=2)), 1),
    "capacity": (lambda: _capacity(), 2),
    "audit": (lambda: mp.audit(mp.LinearFeedForward(q=2, widths=(2,), d=2, m=2)), None),
    "atlas": (lambda: mp.atlas(NET, 2), None),
    "design": (lambda: mp.design(DIAGONAL), 2),
    "repair": (lambda: mp.repair(DIAGONAL), 3),
    "robust": (lambda: mp.robust(DIAGONAL), 2),
    "construct": (lambda: mp.construct([[[1, 2], [3, 4]]]), None),
    "construct_by_depth": (lambda: mp.construct_by_depth([[[1, 2], [3, 4]]]), 1),
    "construct_by_depth_exactly": (lambda: mp.construct_by_depth_exactly([[[1, 2], [3, 4]]]), 1),
}


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_return_one_object(verb):
    """The result is no tuple and has a repr below 500 characters, a table, a frame and a plot."""
    make, rows = VERBS[verb]
    found = make()
    assert isinstance(found, Result)
    assert not isinstance(found, tuple)
    assert repr(found).startswith(type(found).__name__ + "(")
    assert len(repr(found)) < 500
    assert found._repr_html_().count("<tr>") >= 3
    columns = found.columns()
    assert len({len(values) for values in columns.values()}) == 1
    frame = pytest.importorskip("pandas").DataFrame(columns)
    assert found.to_frame().equals(frame)
    assert rows is None or len(frame) == rows
    if verb == "decide" and found.witness is None:
        refuses("no witness", found.plot)
        return
    axes = Figure().subplots()
    assert found.plot(axes) is axes
    assert axes.get_title() or axes.get_legend()


def test_plot_without_axes_makes_a_pyplot_figure():
    """A notebook displays the figures of pyplot after a cell."""
    with mpl.rc_context({"backend": "agg"}):
        plt.close("all")
        axes = mp.certify(DIAGONAL).plot()
        assert plt.get_fignums()
        assert plt.gcf() is axes.figure
        plt.close("all")


def test_refused_plots_leave_no_figure():
    """A plot that is refused leaves no empty figure open in pyplot."""
    plt.close("all")
    refuses("activation pattern", mp.inspect(RELU).plot)
    assert plt.get_fignums() == []


def test_partial_results_are_marked():
    """Repr, table and title of the plot of an interrupted result say "partial"."""
    found = mp.estimate(DIAGONAL, 10)
    part = dataclasses.replace(found, requested=40)
    assert part.is_partial
    assert not found.is_partial
    assert "10 of 40, partial" in repr(part)
    assert "10 of 40, partial" in part._repr_html_()
    assert "partial" in part.plot(Figure().subplots()).get_title()
    counted = dataclasses.replace(mp.count(DIAGONAL, 3), requested=9)
    assert "3 of 9, partial" in repr(counted)


def test_an_audit_is_a_sequence_with_totals():
    """An audit has one entry for each matrix; its totals are the sums over them."""
    found = mp.audit(mp.LinearFeedForward(q=2, widths=(2,), d=2, m=2))
    assert sorted(a.matrix for a in found) == ["W1", "W2"]
    assert len(found) == 2
    assert found[0] is found.matrices[0]
    assert found.checked == sum(a.checked for a in found)
    data = found.to_dict()
    assert data["checked"] == found.checked
    assert data["agree"] == sum(t.agree for a in found for t in a.theorems)
