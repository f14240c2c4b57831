"""The quotient of a polynomial ring by a zero-dimensional ideal, from a Gröbner basis.

The monomials that no leading monomial divides, the *staircase*, are a basis of the
quotient algebra; their number is the number of solutions over the algebraic closure,
with multiplicity.  All arithmetic is on integers modulo a prime p.

Monomials are tuples of exponents; the order is degree reverse lexicographic with the
first variable the largest.

References
----------
.. [1] D. Cox, J. Little, D. O'Shea, *Using Algebraic Geometry*, 2nd ed., Springer 2005,
   chapter 2, sections 2 and 4 (staircases, multiplication matrices, eigenvalues).

Examples
--------
>>> standard_monomials([(2, 0), (0, 2)], 2)
[(0, 0), (0, 1), (1, 0), (1, 1)]
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np
from flint import nmod_mat

from algebra.errors import InputError
from algebra.linalg.modular import matmul

Monomial = tuple[int, ...]


def drl_key(monomial: Monomial) -> tuple[int, tuple[int, ...]]:
    """Sorting key of the degree reverse lexicographic order."""
    return sum(monomial), tuple(-e for e in reversed(monomial))


def is_finite(leading: Sequence[Monomial], variables: int) -> bool:
    """Whether finitely many monomials are under the staircase.

    They do if and only if every variable has a pure power among the leading monomials
    (or 1 is one of them).

    Parameters
    ----------
    leading : sequence of tuple of int
        Leading monomials of a Gröbner basis.
    variables : int
    """
    pure = set()
    for monomial in leading:
        support = [i for i, e in enumerate(monomial) if e]
        if not support:
            return True
        if len(support) == 1:
            pure.add(support[0])
    return len(pure) == variables


def standard_monomials(leading: Sequence[Monomial], variables: int) -> list[Monomial]:
    """The monomials under a finite staircase, in ascending order.

    Parameters
    ----------
    leading : sequence of tuple of int
        Minimal generators of the leading ideal: none divides another.
    variables : int

    Raises
    ------
    InputError
        If the staircase is infinite.

    Notes
    -----
    A monomial m is under the staircase if and only if it is no generator and all m / x_i are under
    it: a generator that divides m and differs from it divides some m / x_i.  So the monomials are
    found degree by degree with set look-ups alone, O(N n²) of them.
    """
    if not is_finite(leading, variables):
        raise InputError(
            "`leading` has no pure power of some variable: infinitely many monomials "
            "lie under this staircase"
        )
    generators = set(leading)
    one = (0,) * variables
    if one in generators:
        return []
    found = {one}
    layer = {one}
    while layer:
        candidates = {_times(m, i) for m in layer for i in range(variables)}
        layer = {
            m
            for m in candidates - generators
            if all(_over(m, i) in found for i, e in enumerate(m) if e)
        }
        found |= layer
    return sorted(found, key=drl_key)


def multiplication_matrices(
    basis: Sequence[Mapping[Monomial, int]], variables: int, prime: int
) -> np.ndarray:
    """Multiplication by each variable in the quotient algebra.

    Parameters
    ----------
    basis : sequence of mappings from monomial to coefficient
        A reduced Gröbner basis over GF(prime), with leading coefficients 1.
    variables : int
    prime : int
        Below 2^31.

    Returns
    -------
    ndarray of int64, shape (variables, N, N)
        Row k of matrix i is the normal form of x_i times the k-th standard monomial.

    Notes
    -----
    Border monomials are treated in ascending order.  If one is the leading monomial of a basis
    element, that element's tail is its normal form; any other is x_j m' with m' on the border too,
    and if m' = Σ c_k b_k then x_j m' = Σ c_k (x_j b_k), where each x_j b_k is smaller than x_j m'
    and so is known: O(n N) products of a vector with an N×N matrix.
    """
    tails = {max(g, key=drl_key): g for g in basis}
    standard = standard_monomials(list(tails), variables)
    size = len(standard)
    index = {m: k for k, m in enumerate(standard)}
    origins: dict[Monomial, list[tuple[int, int]]] = {}
    matrices = np.zeros((variables, size, size), dtype=np.int64)
    for k, m in enumerate(standard):
        for i in range(variables):
            product = _times(m, i)
            if product in index:
                matrices[i, k, index[product]] = 1
            else:
                origins.setdefault(product, []).append((i, k))
    normal: dict[Monomial, np.ndarray] = {}
    for m in sorted(origins, key=drl_key):
        if m in tails:
            row = np.zeros(size, dtype=np.int64)
            for monomial, coefficient in tails[m].items():
                if monomial != m:
                    row[index[monomial]] = -coefficient % prime
        else:
            j, smaller = next((i, n) for i, e in enumerate(m) if e and (n := _over(m, i)) in normal)
            row = matmul(normal[smaller], matrices[j], prime)
        normal[m] = row
        for i, k in origins[m]:
            matrices[i, k] = row
    return matrices


def count_distinct(
    basis: Sequence[Mapping[Monomial, int]],
    variables: int,
    prime: int,
    rng: random.Random,
) -> int:
    """Number of distinct solutions over the algebraic closure of GF(prime).

    Parameters
    ----------
    basis : sequence of mappings from monomial to coefficient
        A reduced Gröbner basis of a zero-dimensional ideal.
    variables : int
    prime : int
        Above the dimension N of the quotient, below 2^31.
    rng : random.Random
        Source of the linear form.

    Returns
    -------
    int
        Never too large.  It is too small, because a random linear form has the same value at two
        solutions, with probability at most N (N - 1) / (2 prime).

    Notes
    -----
    The eigenvalues of multiplication by a linear form are its values at the solutions
    (Stickelberger), so the squarefree part of the characteristic polynomial has as many
    roots as the form has values.
    """
    matrices = multiplication_matrices(basis, variables, prime)
    size = matrices.shape[1]
    if size == 0:
        return 0
    if prime <= size:
        raise InputError(
            f"`prime` ({prime}) must be greater than the dimension of the quotient ({size})"
        )
    total = np.zeros((size, size), dtype=np.int64)
    for matrix in matrices:
        total = (total + rng.randrange(1, prime) * matrix) % prime
    characteristic = nmod_mat(size, size, total.ravel().tolist(), prime).charpoly()
    return size - characteristic.gcd(characteristic.derivative()).degree()


def _times(monomial: Monomial, i: int) -> Monomial:
    return (*monomial[:i], monomial[i] + 1, *monomial[i + 1 :])


def _over(monomial: Monomial, i: int) -> Monomial:
    return (*monomial[:i], monomial[i] - 1, *monomial[i + 1 :])
