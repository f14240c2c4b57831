"""The number of solutions of small systems modulo a prime, against SymPy's Gröbner bases."""

import sympy
from flint import nmod_mpoly_ctx
from hypothesis import given
from hypothesis import strategies as st
from sympy.polys.orderings import grevlex

from algebra.polynomials.buchberger import groebner_basis, quotient_dimension

P = 1_000_003
COEFFICIENTS = st.sampled_from([1, 2, P - 1, 12_345])


@st.composite
def systems(draw):
    """A few polynomials in one to three unknowns of degrees up to 2, some of them dependent."""
    unknowns = draw(st.integers(1, 3))
    monomials = st.tuples(*[st.integers(0, 2)] * unknowns)
    terms = st.dictionaries(monomials, COEFFICIENTS, min_size=1, max_size=4)
    ring = nmod_mpoly_ctx.get([f"x{k}" for k in range(unknowns)], modulus=P, ordering="degrevlex")
    return [ring.from_dict(own) for own in draw(st.lists(terms, min_size=1, max_size=3))]


@given(systems())
def test_the_basis_is_that_of_sympy(system):
    """Reduced by each other, the leading monomials are those of SymPy's basis."""
    symbols = sympy.symbols(f"x:{system[0].context().nvars()}")
    terms = [{tuple(map(int, m)): int(c) for m, c in e.to_dict().items()} for e in system]
    polynomials = [sympy.Poly(own, *symbols, modulus=P) for own in terms]
    other = sympy.groebner(polynomials, *symbols, modulus=P, order="grevlex")
    expected = {g.monoms(order=grevlex)[0] for g in other.polys}
    found = {tuple(map(int, g.monomial(0))) for g in groebner_basis(system)}
    least = {m for m in found if not any(n != m and all(map(int.__le__, n, m)) for n in found)}
    assert least == expected
    is_finite = other.is_zero_dimensional or other.exprs == [1]
    assert (quotient_dimension(system) is not None) == is_finite


def test_known_numbers():
    """x² = 2, y³ = x has 6 points, with a double one they count twice; the whole ring has none."""
    x, y = nmod_mpoly_ctx.get(("x", "y"), modulus=P, ordering="degrevlex").gens()
    assert quotient_dimension([x**2 - 2, y**3 - x]) == 6
    assert quotient_dimension([x**2, y - x]) == 2
    assert quotient_dimension([x**2 - 2, y**3 - x, x * y - 1]) == 0
    assert quotient_dimension([x * y - 1]) is None
