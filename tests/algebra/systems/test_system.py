"""Lifted and un-lifted systems have the same solutions; index conventions of the papers."""

import random

import numpy as np
import pytest
import sympy
from flint import fmpq, nmod

from algebra.errors import InputError
from algebra.networks.feedforward import LinearEstimator, LinearFeedForward
from algebra.networks.recurrent import LinearRNN
from algebra.plugins.relu.network import ShallowReLU
from algebra.polynomials.rings import PrimeField, RationalField, SymbolicRing
from algebra.problems.allocation import Allocation
from algebra.systems.forms import forms, unknown_count
from algebra.systems.system import build_system
from algebra.systems.written import symbolic_system
from tests.algebra.residues import power, residue_matrix
from tests.samples import NET, P, filled


def instance(network, seed, field=None):
    """Random student, teacher and samples over GF(p)."""
    field, rng = field or PrimeField(P), random.Random(seed)
    student = {k: residue_matrix(field, s, rng) for k, s in network.shapes.items()}
    teacher = {k: residue_matrix(field, s, rng) for k, s in network.shapes.items()}
    return student, teacher, residue_matrix(field, network.input_shape, rng)


def lifted_values(network, form, w, X):
    """The auxiliary unknowns at given weights, written from the papers' formulas."""
    if form == "direct":
        return {}
    if isinstance(network, LinearRNN):
        T = network.T
        if form == "B":  # F_t = W^{T−t+1} B
            blocks = [power(w["W"], T - t + 1) @ w["B"] for t in range(1, T + 1)]
        else:  # F_t = D W^{T−t+1}
            blocks = [w["D"] @ power(w["W"], T - t + 1) for t in range(1, T + 1)]
        return {"F": np.concatenate(blocks, axis=1)}
    L, values = network.layers, {}
    for layer in range(1, L):  # F_l = W_l … W_1 X
        product = X
        for k in range(1, layer + 1):
            product = w[f"W{k}"] @ product
        values[f"F{layer}"] = product
    for layer in range(1, L + 1):  # G_l = W_L … W_l
        product = w[f"W{L}"]
        for k in range(L - 1, layer - 1, -1):
            product = product @ w[f"W{k}"]
        values[f"G{layer}"] = product
    return values


def evaluate(system, allocation, w, lifted):
    """Values of all equations if the unknowns have these values."""
    point = {f"{k}_{i}_{j}": w[k][i, j] for k, i, j in allocation.cells}
    for prefix, array in lifted.items():
        point |= {f"{prefix}_{i}_{j}": v for (i, j), v in np.ndenumerate(array)}
    values = [point[name] for name in system.unknowns]
    return [e(*values) if hasattr(e, "monoms") else e for e in system.equations]


def test_weights_solve_the_lifted_system_exactly_where_they_solve_the_direct_one(
    small_allocations,
):
    """At any weights the auxiliary equations hold and the rest are the labels' errors."""
    seen = set()
    for k, allocation in enumerate(small_allocations(0, 120)):
        network = allocation.network
        student, teacher, X = instance(network, k)
        Y = network.forward(teacher, X)
        error = (network.forward(student, X) - Y).ravel().tolist()
        for form in dict.fromkeys((*forms(network, allocation), "direct")):
            seen.add((network.kind, form))
            system = build_system(allocation, student, X, Y, PrimeField(P), form)
            assert unknown_count(allocation, form) == len(system.unknowns)
            values = evaluate(system, allocation, student, lifted_values(network, form, student, X))
            auxiliary = len(values) - network.outputs
            assert auxiliary == len(system.auxiliary)
            assert all(v == 0 for v in values[:auxiliary])
            assert values[auxiliary:] == error
            # And labels of the student itself are solved by its weights.
            own = build_system(
                allocation, student, X, network.forward(student, X), PrimeField(P), form
            )
            lifted = lifted_values(network, form, student, X)
            assert all(v == 0 for v in evaluate(own, allocation, student, lifted))
    assert seen == {
        ("linear", "direct"),
        *(("lrnn", form) for form in ("B", "D", "direct")),
        *(("lffn", form) for form in ("forward", "backward", "direct")),
    }


def test_auxiliary_unknowns_are_determined_by_the_weights(small_allocations):
    """Another value of any one auxiliary unknown violates an auxiliary equation."""
    for k, allocation in enumerate(small_allocations(1, 40)):
        network = allocation.network
        student, _, X = instance(network, k)
        Y = network.forward(student, X)
        for form in forms(network, allocation):
            system = build_system(allocation, student, X, Y, PrimeField(P), form)
            lifted = lifted_values(network, form, student, X)
            auxiliary = len(system.auxiliary)
            for prefix in {name.split("_")[0] for name in system.auxiliary}:
                for index in np.ndindex(lifted[prefix].shape):
                    moved = {**lifted, prefix: lifted[prefix].copy()}
                    moved[prefix][index] += nmod(1, P)
                    values = evaluate(system, allocation, student, moved)
                    assert any(v != 0 for v in values[:auxiliary])


SMALL = {
    "B.1.1 diagonal": (LinearRNN(n=2, T=2, b=1, d=1, m=2), [("W", 0, 0), ("W", 1, 1)]),
    "B.1.1 off-diagonal": (LinearRNN(n=2, T=2, b=1, d=1, m=2), [("W", 0, 1), ("W", 1, 0)]),
    "B.1.1 row": (LinearRNN(n=2, T=2, b=1, d=1, m=2), [("W", 1, 0), ("W", 1, 1)]),
    "one unit": (LinearRNN(n=1, T=3, b=1, d=1, m=1), [("W", 0, 0)]),
    "B, W and D": (LinearRNN(n=1, T=2, b=1, d=1, m=2), [("W", 0, 0), ("B", 0, 0), ("D", 0, 0)]),
    "two layers": (LinearFeedForward(q=1, widths=(2,), d=1, m=1), [("W1", 0, 0), ("W2", 0, 1)]),
    "three layers": (
        LinearFeedForward(q=1, widths=(1, 1), d=1, m=1),
        [("W1", 0, 0), ("W2", 0, 0), ("W3", 0, 0)],
    ),
    "minimal": (LinearRNN(n=2, T=2, b=1, d=1, m=2), [("W", 0, 0)]),
}


def groebner(system):
    """Reduced lexicographic basis over Q, auxiliary unknowns first: SymPy's."""
    order = sympy.symbols(list(system.auxiliary) + list(system.unknowns[: system.weights]))
    equations = [sympy.expand(e) for e in system.equations]
    return sympy.groebner([e for e in equations if e != 0], *order, order="lex")


@pytest.mark.parametrize("name", SMALL)
def test_the_elimination_ideal_is_that_of_the_direct_system(name):
    """Eliminating F from a lifted system gives the ideal of the un-lifted one, over Q."""
    network, cells = SMALL[name]
    allocation = Allocation.from_cells(network, cells)
    rng = random.Random(name)

    def entry():
        return sympy.Rational(rng.choice([-5, -3, -2, 2, 3, 5, 7]), rng.choice([1, 2]))

    student = {k: filled(s, entry) for k, s in network.shapes.items()}
    teacher = {k: filled(s, entry) for k, s in network.shapes.items()}
    X = filled(network.input_shape, entry)
    Y = network.forward(teacher, X)
    direct = groebner(build_system(allocation, student, X, Y, SymbolicRing(), "direct"))
    assert forms(network, allocation) != ("direct",)
    for form in forms(network, allocation):
        system = build_system(allocation, student, X, Y, SymbolicRing(), form)
        auxiliary = set(sympy.symbols(list(system.auxiliary)))
        rest = [e for e in groebner(system).exprs if not e.free_symbols & auxiliary]
        assert sorted(rest, key=str) == sorted(direct.exprs, key=str)


def matrix(prefix, rows, columns):
    return sympy.Matrix(rows, columns, lambda i, j: sympy.Symbol(f"{prefix}_{i}_{j}"))


def same(system, expected):
    """Symbolic equations are these, in this order."""
    found = [sympy.expand(e) for e in system.equations]
    return found == [sympy.expand(e) for block in expected for e in block]


def test_lemma_3_3_to_the_letter():
    """T = 3: W (F_2 | F_3 | B) = (F_1 | F_2 | F_3) and D F X = Y, with F n×Tb."""
    net = LinearRNN(n=2, T=3, b=2, d=1, m=2)
    system = symbolic_system(Allocation.rows(net, "W", [0]), "B")
    W, B, D = matrix("W", 2, 2), matrix("B", 2, 2), matrix("D", 1, 2)
    F, X, Y = matrix("F", 2, 6), matrix("X", 6, 2), matrix("Y", 1, 2)
    g = F[:, 2:4].row_join(F[:, 4:6]).row_join(B)
    assert same(system, [W * g - F, D * F * X - Y])
    assert system.unknowns[:2] == ("W_0_0", "W_0_1")
    assert system.auxiliary == tuple(f"F_{i}_{j}" for i in range(2) for j in range(6))
    assert system.labels[0] == "W g_B(F) = F [0, 0]"
    assert system.labels[-1] == "D F X = Y [0, 1]"
    assert str(system) == "B form: 14 equations in 14 unknowns (2 weights, 12 auxiliary)"


def test_lemma_b7_to_the_letter():
    """T = 3: F_2 W = F_1, F_3 W = F_2, D W = F_3 and F (I ⊗ B) X = Y, with F d×nT."""
    net = LinearRNN(n=2, T=3, b=2, d=1, m=2)
    system = symbolic_system(Allocation.columns(net, "W", [1]), "D")
    W, B, D = matrix("W", 2, 2), matrix("B", 2, 2), matrix("D", 1, 2)
    F, X, Y = matrix("F", 1, 6), matrix("X", 6, 2), matrix("Y", 1, 2)
    F1, F2, F3 = F[:, 0:2], F[:, 2:4], F[:, 4:6]
    kronecker = sympy.kronecker_product(sympy.eye(3), B)
    expected = [F2 * W - F1, F3 * W - F2, D * W - F3, F * kronecker * X - Y]
    assert same(system, expected)
    stacked = F2.col_join(F3).col_join(D) * W - F1.col_join(F2).col_join(F3)
    assert same(system, [stacked, F * kronecker * X - Y])


def test_equations_4_1_to_4_3_to_the_letter():
    """W_1 X = F_1, W_2 F_1 = F_2, W_3 F_2 = Y; backwards W_3 = G_3, G_3 W_2 = G_2, …"""
    net = LinearFeedForward(q=2, widths=(3, 1), d=2, m=2)
    allocation = Allocation.from_cells(net, [("W1", 0, 0), ("W3", 1, 0)])
    W1, W2, W3 = matrix("W1", 3, 2), matrix("W2", 1, 3), matrix("W3", 2, 1)
    X, Y, F1, F2 = matrix("X", 2, 2), matrix("Y", 2, 2), matrix("F1", 3, 2), matrix("F2", 1, 2)
    system = symbolic_system(allocation, "forward")
    assert same(system, [W1 * X - F1, W2 * F1 - F2, W3 * F2 - Y])
    assert system.labels[0] == "W1 X = F1 [0, 0]"
    assert system.labels[-1] == "W3 F2 = Y [1, 1]"
    G1, G2, G3 = matrix("G1", 2, 2), matrix("G2", 2, 3), matrix("G3", 2, 1)
    system = symbolic_system(allocation, "backward")
    assert same(system, [W3 - G3, G3 * W2 - G2, G2 * W1 - G1, G1 * X - Y])
    assert system.unknowns[:2] == ("W3_1_0", "W1_0_0")


def test_support_removes_terms():
    """A structural zero is the number 0 in the symbolic system."""
    net = LinearEstimator(q=2, d=1, m=1)
    allocation = Allocation.from_cells(net, [("W", 0, 0)])
    system = symbolic_system(allocation, "direct", {"W": np.array([[1, 0]])})
    X, Y, W = sympy.symbols("X_0_0 Y_0_0 W_0_0")
    assert sympy.expand(system.equations[0] - (W * X - Y)) == 0


@pytest.mark.parametrize(
    ("cells", "degree"),
    [
        ([("D", 0, 0)], 1),
        ([("B", 0, 0), ("B", 1, 0)], 1),
        ([("D", 0, 0), ("B", 1, 0)], 2),
        ([("W", 0, 0)], 3),
    ],
)
def test_where_only_encoder_or_decoder_learns_nothing_is_lifted(cells, degree):
    """Without W the direct system has degree 1, or 2 where both ends learn; with W degree T."""
    net = LinearRNN(n=2, T=3, b=1, d=1, m=2)
    allocation = Allocation.from_cells(net, cells)
    assert forms(net, allocation) == (("B", "D") if cells[0][0] == "W" else ("direct",))
    student, teacher, X = instance(net, 0)
    system = build_system(allocation, student, X, net.forward(teacher, X), PrimeField(P), "direct")
    assert max(e.total_degree() for e in system.equations) == degree
    assert system.auxiliary == ()


@pytest.mark.parametrize("form", ["B", "D", "forward", "backward"])
def test_lifted_systems_are_at_most_quadratic(form, small_allocations):
    """No lifted equation has degree above 2, for every allocation."""
    for k, allocation in enumerate(small_allocations(5, 60)):
        network = allocation.network
        if form not in forms(network, allocation):
            continue
        student, teacher, X = instance(network, k)
        system = build_system(
            allocation, student, X, network.forward(teacher, X), PrimeField(P), form
        )
        degrees = [e.total_degree() for e in system.equations if hasattr(e, "monoms")]
        assert max(degrees) <= 2


def test_an_empty_allocation_is_a_system_without_unknowns():
    """No weight learns: the equations are numbers, 0 if the labels fit."""
    empty = Allocation.from_cells(NET, [])
    student, _, X = instance(NET, 0)
    Y = NET.forward(student, X)
    system = build_system(empty, student, X, Y, PrimeField(P), "direct")
    assert system.unknowns == ()
    assert [int(e) for e in system.equations] == [0, 0]


def test_weights_of_learnable_cells_do_not_matter():
    """The student's values in learnable cells are ignored, and no argument is changed."""
    allocation = Allocation.rows(NET, "W", [0])
    student, teacher, X = instance(NET, 3)
    Y = NET.forward(teacher, X)
    field = PrimeField(P)
    first = build_system(allocation, student, X, Y, field, "B")
    other = {k: v.copy() for k, v in student.items()}
    other["W"][0, :] = field.constant(17)
    assert build_system(allocation, other, X, Y, field, "B").equations == first.equations
    assert (student["W"] == instance(NET, 3)[0]["W"]).all()


def test_rational_and_modular_systems_agree():
    """The system over Q, reduced modulo p, is the system over GF(p)."""
    net = LinearFeedForward(q=2, widths=(2,), d=1, m=2)
    allocation = Allocation.from_cells(net, [("W1", 0, 0), ("W2", 0, 0)])
    rng = random.Random(0)

    def draw(shape):
        return filled(shape, lambda: fmpq(rng.randint(-9, 9), rng.randint(1, 9)))

    student = {k: draw(s) for k, s in net.shapes.items()}
    X = draw(net.input_shape)
    Y = draw((net.d, net.m))
    field = PrimeField(P)
    for form in ("forward", "backward", "direct"):
        exact = build_system(allocation, student, X, Y, RationalField(), form)
        modular = build_system(allocation, student, X, Y, field, form)
        for a, b in zip(exact.equations, modular.equations, strict=True):
            reduced = {m: field.constant(c) for m, c in a.to_dict().items()}
            assert reduced == b.to_dict()


@pytest.mark.parametrize(
    ("network", "cells", "form", "word"),
    [
        (LinearRNN(n=2, T=2, b=1, d=1, m=2), [("W", 0, 0)], "forward", "B, D, direct"),
        (LinearFeedForward(q=1, widths=(1,), d=1, m=1), [("W1", 0, 0)], "B", "forward, backward"),
        (LinearEstimator(q=2, d=1, m=1), [("W", 0, 0)], "C", "'C'"),
        (ShallowReLU(q=1, n=1, d=1, m=1), [("W1", 0, 0)], "direct", "activation pattern"),
    ],
)
def test_forms_that_do_not_fit_are_named(network, cells, form, word):
    """An unknown form, or one for another kind of network, is an input error."""
    weights, _, X = instance(network, 0)
    with pytest.raises(InputError, match=word):
        build_system(Allocation.from_cells(network, cells), weights, X, X, PrimeField(P), form)
