"""Pictures show what the report says."""

import pytest

import matchprob as mp
from algebra.errors import InputError
from matchprob.report import pictures


def test_incidence_marks_every_occurrence():
    """As many marks as there are (equation, unknown) pairs, framed blocks included."""
    net = mp.LinearRNN(n=3, T=2, b=1, d=2, m=2)
    found = mp.inspect(mp.Problem(net, {"W": [[1, 1, 0], [0, 1, 0], [0, 1, 0]]}))
    figure = pictures.incidence(found)
    axes = figure.axes[0]
    marks = sum(len(c.get_offsets()) for c in axes.collections)
    form = found.forms[0]
    pairs = sum(
        sum(d > 0 for d in e.degrees()) for e in form.system.equations if hasattr(e, "monoms")
    )
    assert marks == pairs
    frames = [p for p in axes.patches if p.get_width() == p.get_height()]
    assert len(frames) >= len(form.triangular.blocks)


def test_histogram_counts():
    """One bar for each number of real solutions, as high as its trials."""
    axes = pictures.histogram({0: 3, 2: 7}, "caption").axes[0]
    assert [(b.get_x() + b.get_width() / 2, b.get_height()) for b in axes.patches] == [
        (0.0, 3), (2.0, 7),
    ]  # fmt: skip


def test_relu_has_no_system_to_draw():
    """A ReLU net has no single system: said, not drawn."""
    net = mp.ShallowReLU(q=2, n=2, d=1, m=2)
    with pytest.raises(InputError, match="activation pattern"):
        pictures.incidence(mp.inspect(mp.Problem(net, {"W1": [[1, 0], [0, 1]]})))
