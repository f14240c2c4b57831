"""Numbers of values against SymPy: eliminants of the un-lifted polynomials, by lex bases."""

import random

import numpy as np
import pytest
import sympy

from algebra.polynomials.rings import PrimeField
from algebra.questions.identify.alternatives import alternatives
from algebra.systems.root_count import generic_root_count
from matchprob import Allocation, LinearRNN
from tests.algebra.residues import residue_matrix
from tests.samples import NET

P = 32003


def eliminant_degrees(allocation, seed):
    """For each weight, the degree of its eliminant: by SymPy over GF(32003)."""
    rng, field = random.Random(seed), PrimeField(P)
    network = allocation.network

    def integers(shape):
        return np.array(
            [[int(v) for v in row] for row in residue_matrix(field, shape, rng)], object
        )

    weights = {name: integers(shape) for name, shape in network.shapes.items()}
    X = integers(network.input_shape)
    labels = network.forward(weights, X)
    symbols = [sympy.Symbol(f"x{k}") for k in range(allocation.size)]
    student = {name: w.copy() for name, w in weights.items()}
    for symbol, (name, i, j) in zip(symbols, allocation.cells, strict=True):
        student[name][i, j] = symbol
    differences = (network.forward(student, X) - labels).ravel()
    equations = [sympy.Poly(e, *symbols, modulus=P) for e in differences]
    equations = [e for e in equations if not e.is_zero]
    degrees = []
    for s in symbols:
        order = [*[x for x in symbols if x != s], s]
        basis = sympy.groebner(equations, *order, modulus=P, order="lex")
        last = [g for g in basis.polys if g.as_expr().free_symbols <= {s}]
        degrees.append(min(g.degree(s) for g in last))
    return tuple(degrees)


def test_values_equal_the_eliminants(square_allocations, msolve):
    """Each weight takes as many values as its eliminant has roots."""
    met = 0
    for k, allocation in enumerate(square_allocations(21, 60)):
        if allocation.size > 4:
            continue
        found = alternatives(allocation, seed=k)
        assert found.root_count == generic_root_count(allocation, seed=k).value
        degrees = eliminant_degrees(allocation, k)
        assert tuple(found.values.values()) == degrees
        assert all(1 <= v <= found.root_count for v in degrees)
        met += found.root_count > 1
    assert met >= 3


def test_data_of_a_minimal_allocation_determine_it(msolve):
    """Fewer weights than equations: labels of the network itself have one explanation."""
    one = Allocation.from_masks(NET, W=[[1, 0], [0, 0]])
    found = alternatives(one, square=False)
    assert found.root_count == 1
    assert found.determined == one.cells


@pytest.mark.parametrize("T", [2, 3])
def test_one_unit_has_as_many_values_as_steps(T, msolve):
    """y = d Σ_t w^(T-t+1) b x_t is a polynomial of degree T in the one weight."""
    net = LinearRNN(n=1, T=T, b=1, d=1, m=1)
    found = alternatives(Allocation.from_masks(net, W=[[1]]))
    assert found.root_count == T
    assert found.values == {("W", 0, 0): T}
    assert found.up_to_sign == ()
