"""Reports on the equations of networks with activations."""

import random
from dataclasses import fields

import numpy as np
import pytest
import sympy

from algebra.errors import InputError
from algebra.families.equations import inspect_allocation, written_form
from algebra.families.linear.inspect import inspect_numbers
from algebra.polynomials.rings import PrimeField
from algebra.problems.instance_files import given_numbers
from algebra.ranks.jacobian import all_cells
from algebra.systems.forms import FORMS
from algebra.systems.inspection import form_report
from algebra.systems.instances import modular_instance, rational_core, rational_instance
from algebra.systems.symbolic import eliminated
from algebra.systems.written import symbolic_system
from matchprob import RNN, Allocation, FeedForward, LinearRNN, Problem, build_system


def test_polynomial_systems_are_counted_and_written():
    """The lifted system, its core, and the equations in SymPy."""
    net = FeedForward(2, (2,), 1, 2, activation={"polynomial": [0, 0, 1]}, biases=True)
    allocation = Allocation.from_cells(net, [("W1", 0, 0), ("c1", 0, 0)])
    found = inspect_allocation(allocation)
    (form,) = found.forms
    assert (form.form, form.equations, form.unknowns, form.weights) == ("sums", 6, 6, 2)
    assert form.by_degree == {1: 4, 2: 2}
    # F1[0, :] is eliminated, two quadrics in the two weights remain.
    assert (form.core_equations, form.core_unknowns, form.bezout) == (2, 2, 4)
    written = written_form(allocation)
    assert "sums" in written.title
    assert len(written.equations) == 6
    text = str(written.equations[-1].expand())
    assert "F1_0_1**2*W2_0_0" in text


def test_analytic_networks_have_no_polynomial_system():
    """The report states this; it contains the budgets that still apply."""
    net = RNN(3, 2, 1, 1, 2, activation="tanh")
    found = inspect_allocation(Allocation.from_cells(net, [("W", 0, j) for j in range(3)]))
    assert "no polynomial" in found.skipped[0]
    assert found.violations
    # They can be written all the same.
    last = written_form(found.allocation).equations[-1]
    assert str(last.expand()).startswith("D_0_0*tanh(F2_0_1) + D_0_1*tanh(F2_1_1)")


def test_linear_activations_are_inspected_as_linear_networks():
    """The report contains the papers' forms."""
    net = RNN(3, 2, 1, 1, 2, activation="linear")
    found = inspect_allocation(Allocation.from_cells(net, [("W", 0, 0), ("W", 1, 1)]))
    assert found.forms[0].form in ("B", "D")


def _square_nets(count):
    rng = random.Random("structure")
    for _ in range(count):
        activation = rng.choice([{"polynomial": [0, 0, 1]}, {"polynomial": [1, "1/2", 0, 1]}])
        biases = rng.random() < 0.5
        if rng.random() < 0.5:
            widths = tuple(rng.randint(1, 3) for _ in range(rng.randint(1, 2)))
            sizes = rng.randint(1, 2), widths, rng.randint(1, 2), rng.randint(1, 2)
            net = FeedForward(*sizes, activation=activation, biases=biases)
        else:
            net = RNN(rng.randint(1, 3), 2, 1, 1, 2, activation=activation, biases=biases)
        cells = all_cells(net)
        yield Allocation.from_cells(net, sorted(rng.sample(cells, min(len(cells), net.outputs))))


def test_structure_is_that_of_the_equations_in_sympy():
    """Degrees, unknowns of each equation and unknowns in products agree with SymPy's expansions."""
    for allocation in _square_nets(12):
        form = inspect_allocation(allocation).forms[0]
        written = symbolic_system(allocation, form.form)
        unknowns = [sympy.Symbol(name) for name in written.unknowns]
        system = form.system
        assert system.labels == written.labels
        for e, equation in enumerate(written.equations):
            terms = sympy.Poly(equation.expand(), *unknowns).monoms()
            assert system.degrees[e] == max(map(sum, terms))
            for k in range(len(unknowns)):
                assert system.occurs[e, k] == any(t[k] for t in terms)
                assert system.in_products[e, k] == any(t[k] for t in terms if sum(t) > 1)


def test_one_structure_of_both_kinds_of_system():
    """A linear net's system as polynomials gives the report that its arrays give."""
    net = LinearRNN(3, 2, 2, 2, 3)
    rng = random.Random(3)
    for _ in range(6):
        cells = [("W", i, j) for i in range(3) for j in range(3)]
        allocation = Allocation.from_cells(net, sorted(rng.sample(cells, 6)))
        instance = modular_instance(allocation, 2147483629, 0, teacher=True)
        for name in ("B", "D"):
            one = form_report(instance.system(name))
            two = form_report(
                build_system(
                    allocation, instance.weights, instance.X, instance.Y,
                    PrimeField(instance.p), name,
                )
            )  # fmt: skip
            for f in fields(one):
                if f.name not in ("system", "terms"):
                    assert getattr(one, f.name) == getattr(two, f.name), f.name


def test_the_core_keeps_the_known_solution():
    """If the student is its own teacher, its weights solve the core and are restored from it."""
    solved = 0
    for allocation in _square_nets(16):
        network = allocation.network
        student, _, X = rational_instance(Problem(network, allocation.masks), 1, 0)
        core = rational_core(allocation, student, X, network.forward(student, X))
        names = [f"{name}_{i}_{j}" for name, i, j in allocation.cells]
        own = [student[name][i, j] for name, i, j in allocation.cells]
        values = dict(zip(names, own, strict=True))
        given = network.placed(student, X)
        lifted = FORMS["sums"].program(network).values(network.entries(), given, network.m)
        for prefix, array in lifted.items():
            values |= {f"{prefix}_{i}_{j}": v for (i, j), v in np.ndenumerate(array)}
        root = [values[name] for name in core.unknowns]
        assert core.consistent
        assert all(e(*root) == 0 for e in core.equations)
        if core.is_square and (back := core.back_substitute(root)) is not None:
            assert list(back) == own
            solved += 1
    assert solved > 8


def test_cores_with_symbols():
    """One hidden unit: D F² = Y, then W X = F; other weights, samples and labels are symbols."""
    net = FeedForward(1, (1,), 1, 1, activation={"polynomial": [0, 0, 1]})
    found = eliminated(Problem(net, {"W1": [[1]]}))
    assert found.form == "sums"
    f, d, y = sympy.symbols("F1_0_0 W2_0_0 Y_0_0")
    (equation,) = found.equations
    assert sympy.expand(equation - (d * f**2 - y)) in (0, sympy.expand(2 * equation))
    assert found.deferred == ("W1_0_0",)
    with pytest.raises(InputError, match="is no polynomial"):
        eliminated(Problem(FeedForward(1, (1,), 1, 1), {"W1": [[1]]}))


def test_ones_own_instance():
    """Elimination over Q, the terms modulo a prime that keeps them all."""
    net = FeedForward(2, (2,), 1, 2, activation={"polynomial": [0, "1/3", 1]})
    problem = Problem(net, {"W1": [[1, 0], [0, 1]]})
    numbers = given_numbers(
        {
            "weights": {"W1": [[0, "1/2"], [3, 0]], "W2": [[1, "-2/7"]]},
            "samples": {"X": [[1, 0], [2, "1/5"]]},
            "labels": {"Y": [[3, 1]]},
        },
        problem,
    )
    found = inspect_numbers(numbers)
    (form,) = found.forms
    assert (found.labels, form.form) == ("given", "sums")
    # The sample (0, 1/5) reaches both units linearly, but F1[0, 1] is known.
    assert (form.core_equations, form.core_unknowns) == (2, 2)
