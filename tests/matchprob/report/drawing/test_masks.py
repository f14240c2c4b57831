"""Masks as a picture: colours of cells, indices, names and a legend."""

from matplotlib.figure import Figure

from algebra.networks.feedforward import LinearFeedForward
from matchprob.report.drawing.masks import Group, draw_masks


def test_cells_have_the_colour_of_their_last_group():
    """Two matrices have indices, names and a grid; the legend names the groups that occur."""
    net = LinearFeedForward(q=3, widths=(2,), d=2, m=2)
    axes = Figure(figsize=(5, 3)).subplots()
    groups = (
        Group("fixed", "#e4e4e4"),
        Group("learns", "#0072b2", [("W1", 0, 0), ("W1", 1, 2), ("W2", 1, 1)]),
        Group("moved", "#b03a00", [("W1", 1, 2)]),
        Group("unseen", "#202020"),
    )
    seen = draw_masks(axes, net, ["W1", "W2"], groups, numbers={("W1", 0, 0): 2})
    assert seen["W1"].tolist() == [[1, 0, 0], [0, 0, 2]]
    assert seen["W2"].tolist() == [[0, 0], [0, 1]]
    assert [t.get_text() for t in axes.get_xticklabels()] == ["0", "1", "2", "0", "1"]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["0", "1"]
    assert [t.get_text() for t in axes.texts] == ["W1", "2", "W2"]
    labels = [t.get_text() for t in axes.get_legend().get_texts()]
    assert labels == ["fixed", "learns", "moved"]
    assert sum(len(c.get_segments()) for c in axes.collections) == (3 + 4) + (3 + 3)
