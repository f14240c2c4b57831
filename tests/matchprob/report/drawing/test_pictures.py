"""Pictures agree with the results they show."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import matchprob as mp
from matchprob.report.drawing import pictures
from matchprob.report.drawing.paint import figure_of
from numeric.trials.counts import COMPLETE, UNDETERMINED, InstanceCount, Reason
from tests.refusals import refuses
from tests.samples import NET


def test_incidence_marks_every_occurrence():
    """There is a mark for each pair of an equation and an unknown in it, and a frame per block."""
    net = mp.LinearRNN(n=3, T=2, b=1, d=2, m=2)
    found = mp.inspect(mp.Problem(net, {"W": [[1, 1, 0], [0, 1, 0], [0, 1, 0]]}))
    axes = figure_of(found).axes[0]
    marks = sum(len(c.get_paths()) for c in axes.collections)
    form = found.forms[0]
    equations = form.system.equations
    pairs = {
        (int(polynomial), int(factor))
        for side in (equations.first, equations.second)
        for polynomial, factor in zip(equations.polynomial, side, strict=True)
        if factor < equations.unknowns
    }
    assert marks == len(pairs)
    frames = [p for p in axes.patches if p.get_width() == p.get_height()]
    assert len(frames) >= len(form.triangular.blocks)
    assert len(axes.get_legend().get_texts()) >= 3


def test_relu_has_no_system_to_draw():
    """A ReLU net has a system for each activation pattern: its picture is refused."""
    net = mp.ShallowReLU(q=2, n=2, d=1, m=2)
    refuses("activation pattern", figure_of, mp.inspect(mp.Problem(net, {"W1": [[1, 0], [0, 1]]})))


def counts(*kinds):
    made = {
        "two": (2, 2, COMPLETE, None),
        "none": (0, 2, COMPLETE, None),
        "found": (1, None, UNDETERMINED, Reason.FOUND_ONE),
        "open": (None, None, UNDETERMINED, Reason.FAILED),
        "maximal": (1, None, COMPLETE, Reason.SETTLED_MAXIMAL),
        "minimal": (0, 0, COMPLETE, Reason.SETTLED_MINIMAL),
    }
    return tuple(
        InstanceCount(k, *made[kind][:3], reason=made[kind][3]) for k, kind in enumerate(kinds)
    )


def bars(axes):
    names = [t.get_text() for t in axes.get_xticklabels()]
    return dict(zip(names, [int(b.get_height()) for b in axes.patches], strict=True))


@pytest.mark.parametrize(
    ("kinds", "shown"),
    [
        (["two"] * 3 + ["none"] * 7, {"0": 7, "2": 3}),
        (["none"] * 96 + ["found"] * 4, {"0": 96, "≥ 1": 4}),
        (["two", "none", "open", "open"], {"0": 1, "2": 1, "?": 2}),
        (["maximal"] * 5, {"≥ 1": 5}),
        (["minimal"] * 5, {"0": 5}),
    ],
)
def test_every_trial_is_in_a_bar(kinds, shown):
    """Counted, found, open and certified trials have bars, labelled with shares of all trials."""
    axes = Figure().subplots()
    pictures.real_solutions(axes, counts(*kinds), "title")
    assert bars(axes) == shown
    shares = [float(t.get_text().removesuffix(" %")) for t in axes.texts]
    assert shares == pytest.approx([100 * v / len(kinds) for v in shown.values()], rel=5e-3)


def test_bars_add_up_to_the_estimate():
    """The matched bars of a ReLU net add up to the number of matched trials."""
    problem = mp.Problem(mp.ShallowReLU(q=2, n=2, d=1, m=3), {"W1": [[1, 1], [1, 0]]})
    found = mp.estimate(problem, 30)
    groups = pictures.real_solution_groups(found.counts)
    assert sum(v for (outcome, _), v in groups.items() if outcome == "matched") == found.matched
    assert sum(groups.values()) == 30
    assert 0 < found.matched < 30


def test_certified_run_is_drawn():
    """A run that a verdict settles has one bar with all trials."""
    axes = mp.estimate(mp.Problem(NET, {"W": [[1, 1], [0, 0]]}), 20).plot(Figure().subplots())
    assert bars(axes) == {"≥ 1": 20}


def test_no_trial_is_refused():
    """A picture of no trials is refused."""
    refuses("no trial", pictures.real_solutions, Figure().subplots(), (), "")


def test_atlas_has_a_mask_for_each_orbit():
    """There is a square for each cell of each mask, and a text for each orbit."""
    found = mp.atlas(NET, 2)
    axes = figure_of(found).axes[0]
    assert len(axes.collections[0].get_paths()) == 4 * len(found.entries)
    assert len(axes.texts) == len(found.entries)
    legend = [t.get_text() for t in axes.get_legend().get_texts()]
    assert set(legend[:-1]) == set(found.totals)
    assert legend[-1].startswith("fixed")


def test_legends_cover_no_data():
    """No legend lies over the axes' data."""
    found = mp.design(mp.Problem(mp.LinearRNN(n=4, T=2, b=1, d=1, m=2), {}))
    for result in (
        found,
        mp.atlas(NET, 2),
        mp.certify(mp.Problem(NET, {"W": np.eye(2, dtype=int)})),
    ):
        figure = figure_of(result)
        figure.draw_without_rendering()
        axes = figure.axes[0]
        assert not axes.get_legend().get_window_extent().overlaps(axes.patch.get_window_extent())
