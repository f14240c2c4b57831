"""Lifted forms: each is solved by the teacher, and says how large its core will be."""

import random

import pytest
from flint import nmod

from algebra.networks.feedforward import LinearEstimator, LinearFeedForward
from algebra.networks.recurrent import LinearRNN, SequenceRNN
from algebra.polynomials.rings import PrimeField
from algebra.problems.allocation import Allocation
from algebra.ranks.jacobian import all_cells
from algebra.systems.forms import (
    FORMS,
    core_dimension,
    form_of,
    forms,
    preferred_forms,
    written_forms,
)
from algebra.systems.instances import modular_core, modular_instance
from algebra.systems.system import build_system
from tests.refusals import refuses
from tests.samples import P

NETWORKS = [
    LinearEstimator(q=3, d=2, m=2),
    LinearRNN(n=3, T=3, b=1, d=1, m=3),
    LinearRNN(n=3, T=2, b=2, d=2, m=2),
    SequenceRNN(n=3, T=2, b=1, d=1, m=2),
    LinearFeedForward(q=2, widths=(3, 2), d=2, m=2),
]


def drawn(network, rng, size=4):
    """A random allocation; of a recurrent net within W."""
    cells = [c for c in all_cells(network) if c[0] == "W" or "W" not in network.shapes]
    return Allocation.from_cells(network, rng.sample(cells, size))


@pytest.mark.parametrize("network", NETWORKS, ids=str)
def test_the_student_solves_every_form(network):
    """At the weights that gave the labels, with the lifted values, every equation is 0."""
    rng = random.Random(5)
    for number in range(4):
        allocation = drawn(network, rng)
        instance = modular_instance(allocation, P, number)
        for name in (*forms(network, allocation), "direct"):
            field = PrimeField(P)
            system = build_system(allocation, instance.weights, instance.X, instance.Y, field, name)
            values = instance.solution(name)
            point = [nmod(values[unknown], P) for unknown in system.unknowns]
            assert len(system.equations) >= network.outputs
            assert all(equation(*point) == 0 for equation in system.equations)


def test_which_forms_fit():
    """B and D if W learns, forward and backward if several layers learn."""
    rnn, layers = NETWORKS[1], NETWORKS[4]
    assert forms(rnn, Allocation.rows(rnn, "W", [0])) == ("B", "D")
    assert forms(rnn, Allocation.rows(rnn, "D", [0])) == ("direct",)
    both = Allocation.from_cells(layers, [("W1", 0, 0), ("W2", 0, 0)])
    assert forms(layers, both) == ("forward", "backward")
    assert form_of(both, "direct") is FORMS["direct"]
    refuses("choose from core, forward, backward, direct", form_of, both, "B")


def test_the_paper_s_form_is_always_there():
    """B and D can be written where W learns nothing; only what is eliminated depends on it."""
    rnn = NETWORKS[1]
    output = Allocation.rows(rnn, "D", [0])
    assert written_forms(rnn) == ("B", "D", "direct")
    assert form_of(output, "B") is FORMS["B"]
    assert FORMS["B"].unknowns(rnn) == {"F": (3, 3)}


def test_rows_prefer_b_and_columns_d():
    """k rows leave k·T·b unknowns in the B form, k columns k·T·d in the D form."""
    net = LinearRNN(n=6, T=3, b=1, d=1, m=6)
    assert preferred_forms(net, Allocation.rows(net, "W", [0]))[0] == "B"
    assert preferred_forms(net, Allocation.columns(net, "W", [0]))[0] == "D"


def test_the_core_has_the_dimension_told():
    """The formula without elimination agrees with the core after elimination."""
    net = LinearRNN(n=4, T=3, b=1, d=1, m=3)
    for cells in ([(0, 0), (0, 1), (1, 2)], [(0, 0), (1, 1), (2, 2)], [(0, 3), (1, 3), (2, 3)]):
        allocation = Allocation.from_cells(net, [("W", i, j) for i, j in cells])
        told = core_dimension(allocation)
        core, _ = modular_core(allocation, P, 0, preferred_forms(net, allocation)[0])
        assert len(core.unknowns) <= told
    assert core_dimension(Allocation.from_cells(net, [("D", 0, 0)])) is None
