"""Designs as text and as pictures."""

import io
from collections import Counter

from matplotlib.colors import to_hex
from rich.console import Console

from algebra.questions.design.cheapest import cheapest
from algebra.questions.design.demand import checked_demand
from algebra.questions.design.spread import most_spread
from matchprob import LinearRNN, Problem, design
from matchprob.api.designs.design import DesignResult
from matchprob.report.documents import print_document
from matchprob.report.drawing.paint import figure_of
from matchprob.report.drawing.palette import ABSENT, BLUE, SKY

NET = LinearRNN(n=3, T=2, b=1, d=1, m=2)


def text_of(found):
    """The printed document of a design."""
    demand = checked_demand(NET)
    problem = Problem(NET, {}).with_allocation(found.allocation)
    out = io.StringIO()
    print_document(
        Console(file=out, width=200), DesignResult(found, problem, demand).document(), "n"
    )
    return out.getvalue()


def test_text_of_a_design_says_what_is_proved():
    """It states cost, rank and optimality; where optimality is open, the proved bound."""
    found = cheapest(checked_demand(NET, caps={"row": 1}))
    text = text_of(found)
    assert "2 weights at cost 2, at most 1 in a row" in text
    assert "reach all 2 independent equations, proved" in text
    assert "No allocation is better" in text
    assert "weights in the fullest row" in text_of(most_spread(checked_demand(NET)))
    open_bound = type(found)(**{**vars(found), "bound": found.value - 1})
    assert "values below 1 are excluded" in text_of(open_bound)


def test_pictures_of_designs_show_matrices_that_may_learn():
    """Matrices without an allowed weight are left out; learning and allowed weights differ."""
    problem = Problem(NET, {"W": [[1, 1, 1], [0, 0, 0], [0, 0, 0]]})
    axes = figure_of(design(problem)).axes[0]
    assert axes.get_title() == "cheapest: 2 weights learn"
    assert [text.get_text() for text in axes.texts] == ["W"]
    seen = axes.images[0].get_array()
    colours = Counter(to_hex(colour) for colour in seen.reshape(-1, 3))
    assert colours == {ABSENT: 6, SKY: 1, BLUE: 2}
