"""Elimination: exact, complete, and without influence on the number of solutions."""

import random

import numpy as np
import pytest
import sympy
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from algebra.allocation import Allocation
from algebra.elimination import eliminate
from algebra.jacobian import allocation_rank, network_rank
from algebra.modular import random_prime
from algebra.msolve import quotient_degree
from algebra.networks import LinearEstimator, LinearFeedForward, LinearRNN
from algebra.rings import RationalField
from algebra.rootcount import modular_core, preferred_forms
from algebra.systems import build_system, forms
from tests.algebra.test_systems import NETS, random_allocation


def rational_parts(network, seed):
    rng = random.Random(seed)

    def draw(shape):
        out = np.empty(shape, dtype=object)
        for cell in np.ndindex(shape):
            out[cell] = fmpq(rng.randint(-9, 9), rng.randint(1, 4))
        return out

    weights = {n: draw(s) for n, s in network.shapes.items()}
    teacher = {n: draw(s) for n, s in network.shapes.items()}
    X = draw(network.input_shape)
    return weights, X, network.forward(teacher, X)


def put(allocation, weights, values):
    student = {name: array.copy() for name, array in weights.items()}
    for (name, i, j), value in zip(allocation.cells, values, strict=True):
        student[name][i, j] = value
    return student


@given(st.sampled_from(NETS), st.integers(0, 10**6))
def test_linear_systems_are_solved(network, seed):
    """Where the core is empty, back-substitution gives weights with exactly the labels."""
    rng = random.Random(seed)
    allocation = random_allocation(network, rng)
    weights, X, Y = rational_parts(network, seed)
    for form in forms(network, allocation):
        core = eliminate(build_system(allocation, weights, X, Y, RationalField(), form))
        if core.consistent and core.is_linear:
            values = core.back_substitute(())
            if values is not None:
                assert (network.forward(put(allocation, weights, values), X) == Y).all()
        elif not core.consistent:
            # Then no student has these labels: the direct system has no solution either.
            assert core.equations == ()


def test_core_roots_are_solutions():
    """B.1.1 diagonal: rational core roots, put back, reproduce the labels exactly."""
    net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    allocation = Allocation.from_masks(net, W=[[1, 0], [0, 1]])
    weights, X, _ = rational_parts(net, 5)
    # Labels of the student itself at rational weights: one root is rational, hence both.
    Y = net.forward(weights, X)
    for form in ("B", "D", "direct"):
        core = eliminate(build_system(allocation, weights, X, Y, RationalField(), form))
        assert len(core.unknowns) == len(core.equations) == 1
        terms = {
            m: sympy.Rational(int(c.p), int(c.q)) for m, c in core.equations[0].to_dict().items()
        }
        roots = sympy.Poly(terms, sympy.Symbol("t")).ground_roots()
        assert sum(roots.values()) == 2
        for root in roots:
            values = core.back_substitute([fmpq(int(root.p), int(root.q))])
            assert (net.forward(put(allocation, weights, values), X) == Y).all()


def random_square(seed):
    """A random allocation with finitely many solutions, small enough to count directly."""
    rng = random.Random(seed)
    while True:
        net = rng.choice(
            [
                LinearRNN(n=rng.randint(2, 4), T=rng.randint(1, 3), b=1, d=1, m=rng.randint(2, 4)),
                LinearRNN(n=3, T=2, b=1, d=2, m=2),
                LinearFeedForward(q=2, widths=(2,), d=2, m=2),
                LinearFeedForward(q=2, widths=(2, 2), d=1, m=3),
            ]
        )
        rank = network_rank(net).rank
        cells = [
            (name, i, j)
            for name, (rows, columns) in net.shapes.items()
            if name == "W" or isinstance(net, LinearFeedForward) or rng.random() < 0.3
            for i in range(rows)
            for j in range(columns)
        ]
        if rank > 4 or len(cells) < rank:
            continue
        allocation = Allocation.from_cells(net, rng.sample(cells, rank))
        if allocation_rank(allocation, upper=rank).rank == rank:
            return allocation


@pytest.mark.parametrize("seed", range(40))
def test_every_route_counts_the_same(seed):
    """Deferred or not, lifted or not: the same number of solutions over GF(p)."""
    allocation = random_square(seed)
    counts = set()
    for form in dict.fromkeys((*preferred_forms(allocation.network, allocation), "direct")):
        for defer in (True, False):
            p = random_prime(random.Random(f"{seed}{form}{defer}"))
            core, root = modular_core(allocation, p, seed, form, defer=defer)
            assert all(e(*root) == 0 for e in core.equations)
            counts.add(1 if core.is_linear else quotient_degree(core.equations).degree)
    assert len(counts) == 1


def test_contradictions():
    """A row with too many weights leaves another with too few: 1 = 0 is found."""
    net = LinearEstimator(q=3, d=2, m=2)
    allocation = Allocation.from_masks(net, W=[[1, 1, 1], [1, 0, 0]])
    weights, X, Y = rational_parts(net, 1)
    core = eliminate(build_system(allocation, weights, X, Y, RationalField(), "direct"))
    assert not core.consistent
    assert "contradiction" in str(core)


def test_degenerate_systems():
    """Nothing learnable, everything learnable, one of everything: no crash, right words."""
    one = LinearRNN(n=1, T=1, b=1, d=1, m=1)
    for network, cells in (
        (one, []),
        (one, [("W", 0, 0)]),
        (one, [("D", 0, 0), ("W", 0, 0), ("B", 0, 0)]),
        (LinearRNN(n=2, T=2, b=1, d=1, m=5), [("W", 0, 0), ("W", 0, 1)]),
    ):
        allocation = Allocation.from_cells(network, cells)
        weights, X, Y = rational_parts(network, 3)
        for form in forms(network, allocation):
            core = eliminate(build_system(allocation, weights, X, Y, RationalField(), form))
            if not cells:
                assert not core.consistent
            elif len(cells) == 3:
                assert core.consistent
                assert not core.is_linear
            else:
                values = core.back_substitute(())
                assert (network.forward(put(allocation, weights, values), X) == Y).all()


def test_sizes_of_the_paper():
    """The B form leaves k·Tb − dm free F-unknowns; rows with Tb weights are deferred."""
    net = LinearRNN(n=8, T=4, b=1, d=4, m=4)
    counts = [4, 4, 3, 3, 2]
    cells = [("W", i, (i + 2 * j) % 8) for i, c in enumerate(counts) for j in range(c)]
    core, _ = modular_core(Allocation.from_cells(net, cells), 2147483647, 0, "B")
    assert sorted(len(b.unknowns) for b in core.deferred) == [4, 4]
    # u has 5·4 − 16 = 4 unknowns, the three deficient rows 8 weights; 3 rows lose b = 1 each.
    assert len(core.unknowns) <= 4 + 8 - 3
    assert core.is_square
