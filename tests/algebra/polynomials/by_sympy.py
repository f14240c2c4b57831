"""Polynomials, Gröbner bases and root counts by SymPy."""

import itertools
import random

import sympy
from flint import Ordering, fmpq_mpoly_ctx
from sympy.polys.orderings import grevlex

from tests.samples import P, filled


def rational(names):
    """A context of python-flint over Q and its variables."""
    context = fmpq_mpoly_ctx.get(names, Ordering.degrevlex)
    return context, context.gens()


def add(context, terms):
    """Sum in a context."""
    return sum(terms, context.constant(0))


def to_sympy(polynomials, names):
    """The same polynomials for SymPy."""
    symbols = sympy.symbols(names)

    return symbols, [
        sympy.Add(
            *(
                sympy.Rational(str(c)) * sympy.prod([s**e for s, e in zip(symbols, m, strict=True)])
                for m, c in p.terms()
            )
        )
        for p in polynomials
    ]


def standard_monomials_of(equations, symbols, **domain):
    """Status and standard monomials of an ideal, by SymPy's Gröbner basis."""
    return staircase_of(sympy.groebner(equations, *symbols, order="grevlex", **domain), symbols)


def staircase_of(basis, symbols):
    """Status and standard monomials of a SymPy Gröbner basis, by enumeration of a box."""
    if basis.exprs == [1]:
        return "none", []
    if not basis.is_zero_dimensional:
        return "positive-dimensional", []
    leading = [g.monoms(order=grevlex)[0] for g in basis.polys]
    bounds = [min(m[i] for m in leading if sum(m) == m[i]) for i in range(len(symbols))]
    return "complete", [
        m
        for m in itertools.product(*map(range, bounds))
        if not any(all(a >= b for a, b in zip(m, g, strict=True)) for g in leading)
    ]


def count_by_sympy(allocation, seed):
    """Solutions of the un-lifted equations of a student with its own labels, over GF(p)."""
    network, rng = allocation.network, random.Random(f"sympy/{seed}")

    def draw(shape):
        return filled(shape, lambda: sympy.Integer(rng.randrange(P)))

    student = {k: draw(s) for k, s in network.shapes.items()}
    X = draw(network.input_shape)
    Y = network.forward(student, X)
    unknowns = []
    for name, i, j in allocation.cells:
        unknowns.append(sympy.Symbol(f"{name}_{i}_{j}"))
        student[name][i, j] = unknowns[-1]
    equations = [
        sympy.Poly(e, *unknowns, modulus=P) for e in (network.forward(student, X) - Y).ravel()
    ]
    equations = [e for e in equations if not e.is_zero]
    status, standard = standard_monomials_of(equations, unknowns, modulus=P)
    assert status == "complete"
    return len(standard)
