"""The structure report, against numbers counted by hand."""

import json

from algebra.families.equations import inspect_allocation
from algebra.networks.large import LimitNetwork
from matchprob import Allocation, LinearRNN, ShallowReLU
from tests.samples import NET


def test_the_diagonal():
    """Six equations, two of them quadratic; one quadratic is left."""
    found = inspect_allocation(Allocation.from_masks(NET, W=[[1, 0], [0, 1]]))
    (form,) = found.forms
    assert (form.equations, form.unknowns, form.weights) == (6, 6, 2)
    assert form.by_degree == {1: 4, 2: 2}
    assert (form.core_equations, form.core_unknowns, form.core_degree, form.bezout) == (1, 1, 2, 2)
    assert (form.terms, form.possible_terms) == (3, 3)
    assert form.overdetermined == form.underdetermined == (0, 0)
    assert sum(b.size for b in form.blocks) == 6
    assert found.violations == ()


def test_a_crowded_row():
    """Three weights in a row that has two equations: the text says so, over and under."""
    net = LinearRNN(n=4, T=2, b=1, d=2, m=2)
    allocation = Allocation.from_cells(net, [("W", 0, 0), ("W", 0, 1), ("W", 0, 2), ("W", 1, 3)])
    found = inspect_allocation(allocation, all_forms=True)
    assert str(found.violations[0]).startswith("row 0 of W has 3 learnable weights but takes part")
    assert len(found.forms) == 2
    by_name = {form.form: form for form in found.forms}
    assert by_name["B"].underdetermined[1] > by_name["B"].underdetermined[0]


def test_everything_is_plain_data():
    """The JSON of an inspection is valid, for fixed, empty and ReLU allocations."""
    for allocation in (
        Allocation.from_masks(NET, W=[[1, 1], [0, 0]]),
        Allocation.from_cells(NET, []),
        Allocation.from_masks(ShallowReLU(q=2, n=2, d=1, m=2), W1=[[1, 0], [0, 1]]),
    ):
        data = json.loads(json.dumps(inspect_allocation(allocation).to_dict()))
        assert data["learnable"] == allocation.size
        assert str(inspect_allocation(allocation))


def test_figure_2():
    """A Figure 2 net: the core, the deferred rows, the larger form is omitted."""
    net = LinearRNN(n=8, T=4, b=1, d=4, m=4)
    counts = [4, 4, 3, 3, 2]
    cells = [("W", i, (i + 2 * j) % 8) for i, c in enumerate(counts) for j in range(c)]
    found = inspect_allocation(Allocation.from_cells(net, cells))
    (form,) = found.forms
    assert (form.form, form.equations, form.deferred) == ("B", 48, (4, 4))
    assert form.core_equations == form.core_unknowns < 12
    assert any("D form" in text for text in found.skipped)


def test_relu_counts_patterns():
    """Two units on two samples: sixteen patterns, the lemmas' counts, a sampled rank."""
    net = ShallowReLU(q=2, n=2, d=2, m=2)
    found = inspect_allocation(Allocation.rows(net, "W1", [0, 1]))
    assert "2^4 patterns" in found.skipped[0]
    assert "Lemma D.3 leaves 1 of them, Lemma D.4 1" in found.skipped[1]
    assert "4 of 4 with all units active" in found.skipped[2]


def test_many_cells_are_told_as_rectangles(monkeypatch):
    """More cells than are listed: their number, and rectangles if these are not too many."""
    monkeypatch.setattr("algebra.problems.cells.MOST_CELLS", 2)
    told = [
        inspect_allocation(Allocation.from_masks(NET, W=mask)).to_dict()
        for mask in ([[1, 0], [0, 1]], [[1, 1], [1, 0]], [[1, 1], [1, 1]])
    ]
    assert told[0]["cells"] == [["W", 0, 0], ["W", 1, 1]]
    assert "cells_in" not in told[0]
    assert (told[1]["cells"], told[1]["cells_in"]) == (None, {"W": 3})
    assert told[1]["cell_blocks"] == {"W": [[0, 0, 0, 1], [1, 1, 0, 0]]}
    assert told[2]["cell_blocks"] == {"W": [[0, 1, 0, 1]]}
    monkeypatch.setattr("algebra.problems.cells.MOST_CELLS", 1)
    told = inspect_allocation(Allocation.from_masks(NET, W=[[1, 0], [0, 1]])).to_dict()
    assert (told["cells_in"], told["cell_blocks"]) == ({"W": 2}, None)


def test_a_form_of_very_many_steps_is_not_built(monkeypatch):
    """A million steps: the number of unknowns is bounded without the program of a million nodes."""
    monkeypatch.setattr(LinearRNN, "build", None)
    net = LinearRNN(n=2, T=10**6, b=1, d=1, m=2)
    found = inspect_allocation(Allocation.rows(net, "W", [0]))
    assert found.forms == ()
    assert "at least 1000000 unknowns" in found.skipped[0]


def test_a_limit_of_large_networks():
    """Of disjoint cells one quadratic equation is left; the kind has no budgets."""
    net = LimitNetwork(cells=((0, 1), (2, 3), (4, 5)), T=3, b=1, d=1, m=3)
    found = inspect_allocation(Allocation.from_masks(net, W=[[1], [1], [1]]))
    (form,) = found.forms
    assert (form.core_equations, form.core_unknowns, form.core_degree) == (1, 1, 2)
    assert found.budgets == found.violations == ()
