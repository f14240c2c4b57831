"""Designs in text and picture."""

import io

from rich.console import Console

from algebra.design.cheapest import cheapest
from algebra.design.demand import demand
from algebra.design.spread import most_spread
from algebra.networks.recurrent import LinearRNN
from algebra.problems.problem import Problem
from matchprob import design
from matchprob.report.design import draw, draw_masks, print_design

NET = LinearRNN(n=3, T=2, b=1, d=1, m=2)


def text_of(found):
    out = io.StringIO()
    print_design(Console(file=out, width=200), found)
    return out.getvalue()


def test_text_says_what_is_proved():
    """Value, masks, the proof of rank and of optimality; an open bound is said to be one."""
    found = cheapest(demand(NET, caps={"row": 1}))
    text = text_of(found)
    assert "2 weights at cost 2, at most 1 in a row" in text
    assert "proved: rank 2" in text
    assert "optimal" in text
    assert "weights in the fullest row" in text_of(most_spread(demand(NET)))
    open_bound = type(found)(**{**vars(found), "bound": found.value - 1})
    assert "at least 1 for any" in text_of(open_bound)


def test_pictures_show_the_matrices_that_matter():
    """One panel for each matrix with a weight that may learn; a moved weight has its colour."""
    problem = Problem(NET, {"W": [[1, 1, 1], [0, 0, 0], [0, 0, 0]]})
    figure = draw(design(problem))
    assert [axes.get_title() for axes in figure.axes] == ["W: 2 learn"]
    picture = figure.axes[0].images[0].get_array()
    assert sorted(picture.ravel().tolist()) == [0] * 6 + [1] + [2] * 2
    moved = draw_masks(
        NET, [("W", 0, 0)], [("W", 1, 1)], ("no", "before", "both", "after"), moved=True
    )
    values = moved.axes[0].images[0].get_array()
    assert (values[0, 0], values[1, 1]) == (1, 3)
