"""Elimination on arrays compared with the general one: the same core, by equation."""

import itertools

import numpy as np
import pytest
from flint import nmod

from algebra.polynomials.rings import PrimeField
from algebra.systems import modular_elimination
from algebra.systems.elimination import eliminate
from algebra.systems.forms import forms
from algebra.systems.instances import modular_core, modular_instance
from algebra.systems.modular_elimination import ModularCore, eliminate_modular
from matchprob import Allocation, LinearEstimator, LinearRNN, build_system
from tests.samples import LONG, P, many


def both(allocation, seed, form, *, defer=True, teacher=False):
    """The two cores of one instance."""
    instance = modular_instance(allocation, P, seed, teacher=teacher)
    weights, X, Y = instance.weights, instance.X, instance.Y
    general = build_system(allocation, weights, X, Y, PrimeField(P), form)
    return eliminate(general, defer=defer), eliminate_modular(instance.system(form), defer=defer)


def same(one, other):
    """Whether two cores agree in all fields, and in every polynomial."""
    assert one.consistent == other.consistent
    assert one.unknowns == other.unknowns
    assert one.equation_count == other.equation_count == len(other.equations)
    assert one.equations == other.equations
    assert one.degrees == other.degrees
    assert one.patterns == other.patterns
    assert one.density == other.density
    assert one.stage_unknowns == other.stage_unknowns
    assert one.deferred_unknowns == other.deferred_unknowns
    assert [b.equations for b in one.deferred] == [b.equations for b in other.deferred]
    assert one.stage_images == other.stage_images
    assert one.core_images == other.core_images
    assert str(one) == str(other)


def test_both_eliminations_find_the_same_core(small_allocations, monkeypatch):
    """Of random allocations each form, own labels and others, with deferral and without."""
    seen = {"hidden": 0, "deferred": 0, "inconsistent": 0}
    replaced = modular_elimination._replaced

    def counted(composed):
        seen["hidden"] += 1
        return replaced(composed)

    monkeypatch.setattr(modular_elimination, "_replaced", counted)
    for k, allocation in enumerate(small_allocations(21, 150 if LONG else 12, largest=9)):
        for form in forms(allocation.network, allocation):
            for teacher, defer in itertools.product((False, True), repeat=2):
                one, other = both(allocation, k, form, defer=defer, teacher=teacher)
                same(one, other)
                seen["deferred"] += bool(other.blocks)
                seen["inconsistent"] += not other.consistent
    assert min(seen.values()) > (20 if LONG else 1)


@pytest.mark.parametrize(
    ("columns", "form"),
    [
        (False, "B"),
        pytest.param(False, "D", marks=pytest.mark.long),
        pytest.param(True, "B", marks=pytest.mark.long),
        (True, "D"),
    ],
)
def test_a_net_of_eight_neurons(columns, form):
    """48 equations: the cores agree in both forms."""
    net = LinearRNN(n=8, T=4, b=1, d=4, m=4)
    cells = [(i, (3 * i + 2 * j) % 8) for i in range(5) for j in range(3)] + [(7, 1)]
    cells = [("W", j, i) if columns else ("W", i, j) for i, j in cells]
    allocation = Allocation.from_cells(net, cells)
    one, other = both(allocation, 1, form)
    same(one, other)
    assert other.equation_count > 8


def test_small_pieces_change_nothing(small_allocations, monkeypatch):
    """Multiplied out four terms at a time, with one monomial of each equation sampled."""
    monkeypatch.setattr("algebra.polynomials.substitution._AT_ONCE", 4)
    monkeypatch.setattr(modular_elimination, "_SAMPLE", 1)
    for k, allocation in enumerate(small_allocations(5, many(80), largest=9)):
        for form in forms(allocation.network, allocation):
            same(*both(allocation, k, form))


def test_large_ways_lead_to_the_same_core(small_allocations, monkeypatch):
    """Linear equations in stages, polynomials as tables, independence set by set."""
    monkeypatch.setattr("algebra.linalg.affine._AT_ONCE", 0)
    monkeypatch.setattr("algebra.linalg.affine._FEW", 3)
    monkeypatch.setattr("algebra.polynomials.substitution._MANY", 1)
    monkeypatch.setattr(modular_elimination, "_FEW", 2)
    for k, allocation in enumerate(small_allocations(8, many(60), largest=9)):
        for form in forms(allocation.network, allocation):
            same(*both(allocation, k, form, teacher=k % 2 == 1))


def test_a_root_comes_back():
    """The student's own point is a root of the core and leads to its weights."""
    net = LinearRNN(n=4, T=3, b=1, d=2, m=2)
    allocation = Allocation.from_cells(net, [("W", 0, 1), ("W", 1, 2), ("W", 2, 0), ("W", 3, 3)])
    core, root = modular_core(allocation, P, 3, "B")
    assert isinstance(core, ModularCore)
    point = [nmod(v, P) for v in root]
    assert all(e(*point) == 0 for e in core.equations)
    weights = modular_instance(allocation, P, 3).weights
    assert core.back_substitute(point) == tuple(
        int(weights["W"][i, j]) for _, i, j in allocation.cells
    )
    # The direct form has degree three: the general elimination handles it.
    direct, _ = modular_core(allocation, P, 3, "direct")
    assert max(direct.degrees) == 3


def test_rows_of_a_large_net_leave_nothing():
    """n = 40, ten rows of Tb weights: linear, without an expanded polynomial."""
    net = LinearRNN(n=40, T=20, b=1, d=10, m=20)
    cells = [("W", i, (i + j) % 40) for i in range(10) for j in range(20)]
    core, _ = modular_core(Allocation.from_cells(net, cells), P, 0, "B")
    assert core.is_linear
    assert "equations" not in core.__dict__


def test_a_linear_estimator_is_solved():
    """Ten outputs of twelve weights each on twelve samples, as many unknowns as equations."""
    net = LinearEstimator(q=30, d=10, m=12)
    mask = np.zeros((10, 30), int)
    for i in range(10):
        mask[i, i : i + 12] = 1
    core, _ = modular_core(Allocation.from_masks(net, W=mask), P, 0, "direct")
    assert core.is_linear
