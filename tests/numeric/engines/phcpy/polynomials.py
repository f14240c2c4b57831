"""Polynomials as text, for the tests: SymPy reads them."""

from collections.abc import Sequence

import sympy

from numeric.engines.phcpy.systems import Terms


def read(texts: Sequence[str], names: Sequence[str]) -> list[Terms]:
    """Texts such as ``x^2 - 2*y`` in given unknowns, ``i`` being √-1, as mappings."""
    symbols = sympy.symbols(list(names))
    known = {"i": sympy.I, **dict(zip(names, symbols, strict=True))}
    polynomials: list[Terms] = []
    for text in texts:
        value = sympy.expand(sympy.sympify(text.replace("^", "**"), locals=known))
        if not symbols:
            polynomials.append({(): complex(value)} if value != 0 else {})
            continue
        terms = sympy.Poly(value, *symbols).terms()
        polynomials.append({tuple(map(int, a)): complex(c) for a, c in terms if c != 0})
    return polynomials


def power(exponent: int) -> list[Terms]:
    """``x^exponent - 1``: the replacements of phcpy follow the exponent."""
    return [{(exponent,): 1.0, (0,): -1.0}]
