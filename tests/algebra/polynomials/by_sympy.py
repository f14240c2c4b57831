"""Polynomials and Gröbner bases by SymPy."""

import itertools

import sympy


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


def staircase_of(basis, symbols):
    """Status and standard monomials of a SymPy Gröbner basis, by enumeration of a box."""
    if basis.exprs == [1]:
        return "none", []
    if not basis.is_zero_dimensional:
        return "positive-dimensional", []
    leading = [sympy.Poly(g, *symbols).monoms(order="grevlex")[0] for g in basis.exprs]
    bounds = [min(m[i] for m in leading if sum(m) == m[i]) for i in range(len(symbols))]
    return "complete", [
        m
        for m in itertools.product(*map(range, bounds))
        if not any(all(a >= b for a, b in zip(m, g, strict=True)) for g in leading)
    ]
