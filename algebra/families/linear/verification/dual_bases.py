"""Verification of an order in which the vectors of dual bases make the teacher a student.

The theorem is that of `algebra.families.linear.dual_bases`.  Here the equations of a step are
computed from the student that the chosen vectors define: its entries are affine in the vector of
the step, so they are evaluated at the vector 0 and at unit vectors.  At the end the student is
tested: it must have all fixed weights, and compute the teacher's function.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from flint import nmod_mat

from algebra.certificates.checks import PROVED, CheckFailed, Say
from algebra.families.linear.dual_bases import COLUMN, ROW, Vector
from algebra.families.linear.reachable import layers_of
from algebra.linalg.modular import matmul, random_prime, random_residues
from algebra.problems.problem import Problem
from algebra.ranks.jacobian import random_point
from algebra.time_limits import check_time

PLACE = "evidence.dual_bases"

# Largest number of hidden units, and of random points that are tried.
_MOST_UNITS, _ATTEMPTS = 128, 3


def check_dual_bases(problem: Problem, order: Sequence[Vector], seed: int, say: Say) -> None:
    """Check that for generic fixed weights, vectors in this order make the teacher a student.

    Parameters
    ----------
    problem : Problem
    order : sequence of Vector
        See `algebra.families.linear.dual_bases.dual_order`.
    seed : int
        Seed of the primes and points.
    say : callable
        Records the check.

    Raises
    ------
    CheckFailed
        If the order is not one of all vectors, or if the theorem does not apply at three points.
    """
    if problem.network.chain() is None:
        raise CheckFailed(PLACE, "the network is no chain of matrices")
    widths, _ends = layers_of(problem.network)
    every = [
        (side, layer, unit)
        for side in (ROW, COLUMN)
        for layer, width in enumerate(widths)
        for unit in range(width)
    ]
    if sorted(order) != every:
        raise CheckFailed(PLACE, "does not name each row and each column of each layer once")
    if sum(widths) > _MOST_UNITS:
        raise CheckFailed(PLACE, f"{sum(widths)} hidden units: too many to check")
    rng = random.Random(f"verify dual bases/{seed}")
    complaint = ""
    # If an unlucky point proves nothing, another one is tried.
    for _ in range(_ATTEMPTS):
        complaint = _complaint(problem, order, rng)
        if not complaint:
            text = "for generic weights dual bases make the teacher a student"
            say(PLACE, PROVED, text)
            return
    raise CheckFailed(PLACE, complaint)


def _complaint(problem: Problem, order: Sequence[Vector], rng: random.Random) -> str:
    """Why the theorem does not apply at a random point; "" if it does."""
    network, p = problem.network, random_prime(rng)
    widths, ends = layers_of(network)
    student, teacher = (
        random_point(network, p, rng.randrange(1 << 32), support)
        for support in (problem.student(), problem.support)
    )
    keeps = {name: np.asarray(problem.allocation.masks[name]) == 0 for name in ends}
    exists = {
        name: np.asarray(problem.support.get(name, np.ones(keeps[name].shape))) != 0
        for name in ends
    }
    # Entry 0 of `bases` is P, entry 1 is Q, for each layer; −1 are inputs and outputs.
    bases = [
        {layer: np.zeros((width, width), np.int64) for layer, width in enumerate(widths)}
        for _ in (ROW, COLUMN)
    ]
    chosen: set[Vector] = set()

    def product(*factors: np.ndarray) -> np.ndarray:
        found = factors[0]
        for factor in factors[1:]:
            found = matmul(found % p, factor % p, p)
        return found % p

    def made(name: str) -> np.ndarray:
        a, b = ends[name]
        found = teacher.weights[name] % p
        found = found if a < 0 else product(bases[ROW][a], found)
        return found if b < 0 else product(found, bases[COLUMN][b])

    def is_equation(name: str, i: int, j: int, vector: Vector) -> bool:
        """Whether an entry gives an equation of this step: it is fixed, its other vector chosen."""
        a, b = ends[name]
        row, column = (ROW, a, i), (COLUMN, b, j)
        if not keeps[name][i, j] or vector not in (row, column):
            return False
        if a < 0:
            return bool(exists[name][i].any())
        if b < 0:
            return bool(exists[name][:, j].any())
        return (column if vector == row else row) in chosen

    for vector in order:
        check_time()
        side, layer, unit = vector
        places = [
            (name, i, j)
            for name in ends
            if ends[name][side] == layer
            for i, j in np.ndindex(keeps[name].shape)
            if is_equation(name, i, j, vector)
        ]
        others = [k for k in range(widths[layer]) if (1 - side, layer, k) in chosen]
        base = bases[side][layer]
        line = base[unit] if side == ROW else base[:, unit]

        def residual(
            places: list[tuple[str, int, int]] = places,
            others: list[int] = others,
            layer: int = layer,
            side: int = side,
            unit: int = unit,
        ) -> list[int]:
            now = {name: made(name) for name, _, _ in places}
            entries = [int(now[n][i, j]) - int(student.weights[n][i, j]) for n, i, j in places]
            both = product(bases[ROW][layer], bases[COLUMN][layer])
            pairs = both[unit] if side == ROW else both[:, unit]
            return [v % p for v in (*entries, *(int(pairs[k]) - (k == unit) for k in others))]

        constant = residual()
        table = []
        for k in range(widths[layer]):
            line[k] = 1
            table.append([(v - c) % p for v, c in zip(residual(), constant, strict=True)])
            line[k] = 0
        rows, width = len(constant), widths[layer]
        matrix = nmod_mat([list(row) for row in zip(*table, strict=True)], p) if rows else None
        if matrix is not None and matrix.rank() < rows:
            number = f"{rows} equations of {width} unknowns"
            return f"step {len(chosen)}: {number} are not independent"
        more = random_residues((width - rows, width + 1), p, rng).tolist()
        full = nmod_mat([*([] if matrix is None else matrix.tolist()), *(m[:-1] for m in more)], p)
        if full.rank() < width:
            return "the random point is unlucky"
        right = nmod_mat([*([-c % p] for c in constant), *([m[-1]] for m in more)], p)
        line[:] = [int(v) for v in full.solve(right).entries()]
        chosen.add(vector)
    for layer, width in enumerate(widths):
        if not np.array_equal(product(bases[ROW][layer], bases[COLUMN][layer]), np.eye(width)):
            return "the bases are not dual"
    weights = {name: made(name) for name in ends}
    for name, value in weights.items():
        if not np.array_equal(value[keeps[name]], student.weights[name][keeps[name]] % p):
            return f"{name}: the fixed weights are not kept"
    labels = [
        network.forward(w, student.X, lambda a, b: product(a, b)) % p
        for w in (weights, teacher.weights)
    ]
    if not np.array_equal(*labels):
        return "the student does not compute the teacher's function"
    return ""
