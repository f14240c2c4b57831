r"""N by minors in the powers of a recurrent matrix: for verification.

Let F = F* + K u be the solutions of the linear part of `algebra.arguments.rows`, F* those of a
student that is its own teacher.  A row with c learning cells is a linear system L(u) w = r(u) of Tb
equations, affine in u.  A generic instance of ρ weights of rank ρ has finitely many solutions W, so
L(u) is injective there, and the solutions are the points u at which the (c + 1)-minors of (L | r)
vanish for all rows and no L drops rank: if one did, the solution would not be isolated.
Multiplicities agree, since near such a point the minors say that the Schur complement of an
invertible part of L is 0.  Whether L drops rank somewhere is tested by det(R L) for a random R,
which is not 0 at a point of full rank except with probability 1/p.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from itertools import combinations, product
from math import comb, prod
from typing import Any

import numpy as np

from algebra.arguments.rows import Side, sides
from algebra.linalg.echelon import modular_kernel
from algebra.linalg.modular import matmul
from algebra.linalg.residues import random_residues
from algebra.polynomials.rings import PrimeField
from algebra.systems.instances import ModularInstance

# Largest numbers of unknowns u, and of terms of all minors if they were dense.
_MOST_FREE = 8
_MOST_TERMS = 60_000


def count_by_minors(instance: ModularInstance, timeout: int, seed: int) -> int | None:
    """N of an instance over GF(p) by minors in the free part of the powers of W.

    Parameters
    ----------
    instance : ModularInstance
        The student is its own teacher; ρ weights of rank ρ.
    timeout : int
        Seconds for each Gröbner basis; msolve's errors are raised.
    seed : int
        For the random combinations.

    Returns
    -------
    int or None
        None if the network does not have this structure, or the minors are too large.
    """
    allocation, p = instance.allocation, instance.p
    chain = allocation.network.chain()
    if chain is None or chain.start is None or allocation.matrices != (chain.recurrent,):
        return None
    U, learns = allocation.network.drive(instance.X) % p, allocation.masks[chain.steps[0]]
    rng = random.Random(f"minors/{p}/{seed}")
    for side in sides(chain, instance.weights, U, learns, p):
        found = _row_systems(side, rng)
        if found is not None:
            return _count(found, p, timeout, rng)
    return None


def _row_systems(side: Side, rng: random.Random) -> list[list[list[Any]]] | None:
    """(L | r) for each learning row, polynomials in u; None if they are too large."""
    if not side.is_small:
        return None
    (T, n, s), p = side.shape, side.p
    moves = modular_kernel(side.linear_part(), p)
    free = len(moves)
    sizes = side.learns.sum(axis=1)
    dense = sum(comb(T * s, c + 1) * comb(free + c + 1, free) for c in sizes if 0 < c < T * s)
    if not 0 < free <= _MOST_FREE or dense > _MOST_TERMS:
        return None
    ring = PrimeField(p).context([f"u{k}" for k in range(free)])
    generators = ring.gens()
    moved = np.empty((T + 1, n, s), object)
    moved[T] = [[ring.constant(int(v)) for v in row] for row in side.start]
    # The known solution is a random point, not the origin.
    shift = matmul(random_residues((1, free), p, rng), moves, p).reshape(T, n, s)
    values, slopes = (side.powers()[:T] + shift) % p, moves.T.reshape(T, n, s, free)
    for at in product(range(T), range(n), range(s)):
        slope = sum(int(c) * u for c, u in zip(slopes[at], generators, strict=True))
        moved[at] = slope + int(values[at])
    systems = []
    for i in np.flatnonzero(sizes):
        own = np.flatnonzero(side.learns[i])
        rest = [(j, int(side.W[i, j])) for j in np.flatnonzero(~side.learns[i])]
        systems.append([
            [
                *(moved[t + 1, j, k] for j in own),
                moved[t, i, k] - sum(c * moved[t + 1, j, k] for j, c in rest),
            ]
            for t, k in product(range(T), range(s))
        ])  # fmt: skip
    return systems


def _count(systems: list[list[list[Any]]], p: int, timeout: int, rng: random.Random) -> int | None:
    """Number of points at which every (L | r) drops rank and no L does."""
    # Loaded here: `sides` needs no msolve.
    from algebra.polynomials.msolve.solver import quotient_degree

    equations: list[Any] = []
    tests = []
    for system in systems:
        height, width = len(system), len(system[0]) - 1
        if width < height:
            expand = _expansion(system)
            equations += [expand(chosen, 0) for chosen in combinations(range(height), width + 1)]
        mix = random_residues((width, height), p, rng)
        mixed = [
            [
                sum(int(c) * row[j] for c, row in zip(line, system, strict=True))
                for j in range(width)
            ]
            for line in mix
        ]
        tests.append(_expansion(mixed)(tuple(range(width)), 0))
    degenerate = [
        test
        for test in tests
        if quotient_degree([*equations, test], timeout=timeout).status != "empty"
    ]
    if not degenerate:
        return quotient_degree(equations, timeout=timeout).degree
    # A further unknown v with v · Π tests = 1.
    names = equations[0].context().names()
    ring = PrimeField(p).context([*names, "v"])
    *moved, v = ring.gens()
    away = prod((t.compose(*moved, ctx=ring) for t in degenerate), start=v) - 1
    return quotient_degree(
        [*(e.compose(*moved, ctx=ring) for e in equations), away], timeout=timeout
    ).degree


def _expansion(matrix: list[list[Any]]) -> Callable[[tuple[int, ...], int], Any]:
    """Determinants of chosen rows and the columns from a given one on, by first columns."""

    @cache
    def expand(rows: tuple[int, ...], column: int) -> Any:
        if len(rows) == 1:
            return matrix[rows[0]][column]
        return sum(
            (-1) ** k * matrix[i][column] * expand(rows[:k] + rows[k + 1 :], column + 1)
            for k, i in enumerate(rows)
        )

    return expand
