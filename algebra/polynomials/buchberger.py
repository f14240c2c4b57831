"""The number of solutions of a small system modulo a prime, by Buchberger's algorithm.

It is for checks of systems in a few unknowns, and shares no code with msolve, which the searches
use.  A set of polynomials is a Gröbner basis if the S-polynomials of all pairs reduce to 0 [1]_;
those of pairs whose leading monomials have no unknown in common do, and so does a pair (f, g) if
some leading monomial divides the least common multiple of theirs and its pairs with f and with g do
(Buchberger's criteria).  The monomials that no leading
monomial divides are then a basis of the quotient algebra, whose dimension is the number of
solutions over the algebraic closure, with multiplicity.

References
----------
.. [1] D. Cox, J. Little, D. O'Shea, "Ideals, Varieties, and Algorithms", chapters 2 and 5.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from flint import nmod, nmod_mpoly

from algebra.time_limits import check_time

Monomial = tuple[int, ...]


def quotient_dimension(polynomials: Sequence[nmod_mpoly]) -> int | None:
    """Number of solutions over the algebraic closure, with multiplicity.

    Parameters
    ----------
    polynomials : sequence of nmod_mpoly
        In one context, ordered by degree first.

    Returns
    -------
    int or None
        None if there are infinitely many.

    Examples
    --------
    >>> from flint import nmod_mpoly_ctx
    >>> x, y = nmod_mpoly_ctx.get(("x", "y"), modulus=65521, ordering="degrevlex").gens()
    >>> quotient_dimension([x**2 - 2, y**3 - x]), quotient_dimension([x * y])
    (6, None)
    """
    leading = [_leading(g) for g in groebner_basis(polynomials)]
    unknowns = polynomials[0].context().nvars()
    pure = {k for m in leading for k, e in enumerate(m) if e == sum(m)}
    return _under_staircase(leading, unknowns) if len(pure) == unknowns else None


def groebner_basis(polynomials: Sequence[nmod_mpoly]) -> list[nmod_mpoly]:
    """A Gröbner basis of the ideal of some polynomials, in the order of their context."""
    basis: list[nmod_mpoly] = []
    leading: list[Monomial] = []
    # Pairs that are left, by the degree of the least common multiple of their leading monomials.
    pairs: list[tuple[int, int, int]] = []
    left: set[tuple[int, int]] = set()

    def add(new: nmod_mpoly) -> None:
        new = _remainder(new, basis, leading)
        if new.is_zero():
            return
        lead, j = _leading(new), len(basis)
        for i, other in enumerate(leading):
            if any(a and b for a, b in zip(lead, other, strict=True)):
                heapq.heappush(pairs, (sum(_common(lead, other)), i, j))
                left.add((i, j))
        basis.append(new / new.leading_coefficient())
        leading.append(lead)

    for polynomial in sorted(polynomials, key=lambda f: int(f.total_degree())):
        add(polynomial)
    while pairs:
        check_time()
        _, i, j = heapq.heappop(pairs)
        left.discard((i, j))
        common = _common(leading[i], leading[j])
        if not any(
            _divides(leading[k], common)
            and k not in (i, j)
            and not left & {(min(i, k), max(i, k)), (min(j, k), max(j, k))}
            for k in range(len(basis))
        ):
            f, g = (_times(basis[k], 1, _over(common, leading[k])) for k in (i, j))
            add(f - g)
    return basis


def _remainder(
    f: nmod_mpoly, basis: Sequence[nmod_mpoly], leading: Sequence[Monomial]
) -> nmod_mpoly:
    """A polynomial minus multiples of the basis, whose leading monomial none of it divides."""
    while not f.is_zero():
        lead = _leading(f)
        found = next((k for k, m in enumerate(leading) if _divides(m, lead)), None)
        if found is None:
            break
        f = f - _times(basis[found], f.leading_coefficient(), _over(lead, leading[found]))
    return f


def _leading(f: nmod_mpoly) -> Monomial:
    return tuple(map(int, f.monomial(0)))


def _times(f: nmod_mpoly, factor: nmod | int, monomial: Monomial) -> nmod_mpoly:
    return f * f.context().term(coeff=factor, exp_vec=monomial)


def _divides(a: Monomial, b: Monomial) -> bool:
    return all(x <= y for x, y in zip(a, b, strict=True))


def _common(a: Monomial, b: Monomial) -> Monomial:
    return tuple(map(max, a, b))


def _over(a: Monomial, b: Monomial) -> Monomial:
    return tuple(x - y for x, y in zip(a, b, strict=True))


def _under_staircase(leading: Sequence[Monomial], unknowns: int) -> int:
    """Number of monomials that no leading monomial divides."""
    todo, seen = [(0,) * unknowns], set()
    while todo:
        monomial = todo.pop()
        if monomial in seen or any(_divides(lead, monomial) for lead in leading):
            continue
        seen.add(monomial)
        todo += [(*monomial[:k], monomial[k] + 1, *monomial[k + 1 :]) for k in range(unknowns)]
    return len(seen)
