r"""Whether the teacher is a student in another basis that is found vector by vector: MP = 1.

As in `algebra.families.linear.reachable` a change of basis of each hidden layer makes a student M'
of the teacher M_t: ``M' = P_a M_t Q_b`` for a matrix from layer b to layer a, with Q = P⁻¹ (P = Q =
I at inputs and outputs).  Entry (i, j) of M' is p_i M_t q_j, with the rows p of P_a and the columns
q of Q_b; it must be the fixed weight c_ij where nothing learns.  Together with p_i q_j = δ_ij these
equations are bilinear in the vectors p and q.  If the vectors are chosen one after another, each
equation is linear in the later of its two vectors, or in its only one.

**Theorem.** Let the vectors p, q of all hidden layers be chosen in some order, each a solution of
the equations whose other vector is chosen already, and at random among these.  If, at one point (c,
M_t) modulo a prime, the equations of each step are independent, then MP = 1.

*Proof.* The points (c, M_t) form an affine space.  Over the points at which the equations of the
first step are independent, its solutions form an affine bundle, with coordinates rational in
(c, M_t).  Over the part of this bundle on which the equations of the second step are independent,
their solutions form an affine bundle too, and so on: a tower whose stages are rational varieties
over Q.  The equations of a step are independent where a minor is not 0.  The minor is a rational
function on the stage before; at the point modulo p it has no pole and is not 0, so it is not 0
generically.  So for generic real (c, M_t) and generic real choices each step has a real solution.
After the last step P Q = I, and M' is a student of the allocation with the teacher's function. ∎

An equation without any coefficient (no weight exists in the column or row of M_t that it reads) is
omitted: c is 0 there.

*An order* is found backwards.  A vector of n entries can be the last one if it occurs in at most n
equations; after its removal the other vectors occur in fewer equations.  So vectors that can be
last are removed, in any sequence, until no vector remains.  If none of the remaining vectors can be
last, there is no order in which every step has at most n equations.

Example: all weights of D, W and B learn, except for one column c of D.  The corresponding column
of Q is D_t⁻¹ c, and all other vectors are free: the allocation is maximal.  The equations in P
alone, those of `algebra.families.linear.reachable`, are not linear in this example.
"""

from __future__ import annotations

import random

import numpy as np
from flint import nmod_mat

from algebra.families.linear.reachable import fixed_and_teacher, layers_of
from algebra.linalg.modular import matmul, random_prime, random_residues
from algebra.problems.problem import Problem
from algebra.time_limits import check_time

# A vector: 0 for a row of P or 1 for a column of Q, the hidden layer, the unit.
ROW, COLUMN = 0, 1
Vector = tuple[int, int, int]

# Largest number of hidden units, and orders that are tried.
_MOST_UNITS, _ORDERS = 64, 3


def dual_order(problem: Problem, seed: int = 0) -> tuple[Vector, ...] | None:
    """An order of the vectors of P and Q for which the theorem applies; None if none was found.

    Parameters
    ----------
    problem : Problem
        A linear network with a fixed allocation.
    seed : int, optional
        It determines orders, primes and points.

    Returns
    -------
    tuple or None
        Triples (side, layer, unit), with `ROW` or `COLUMN` as side, in the order of choice.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> net = LinearRNN(n=2, T=3, b=1, d=2, m=3)
    >>> learns = {"D": [[1, 0], [1, 0]], "W": [[1, 1], [1, 1]], "B": [[1], [1]]}
    >>> dual_order(Problem(net, learns))[0]
    (1, 0, 1)
    """
    widths, _ends = layers_of(problem.network)
    if not widths or sum(widths) > _MOST_UNITS:
        return None
    rng = random.Random(f"dual bases/{seed}")
    for _ in range(_ORDERS):
        check_time()
        order = _order(problem, rng)
        if order is None:
            return None
        if _applies(problem, order, rng):
            return order
    return None


def required_entries(problem: Problem) -> dict[str, np.ndarray]:
    """The entries of each matrix with an equation: fixed weights, and zeros of the student."""
    _widths, ends = layers_of(problem.network)
    found = {}
    for name, (a, b) in ends.items():
        mask = np.asarray(problem.allocation.masks[name]) == 0
        exists = np.asarray(problem.support.get(name, np.ones_like(mask))) != 0
        if a < 0:
            mask = mask & exists.any(axis=1)[:, None]
        if b < 0:
            mask = mask & exists.any(axis=0)
        found[name] = mask
    return found


def _order(problem: Problem, rng: random.Random) -> tuple[Vector, ...] | None:
    """An order in which no step has more equations than unknowns."""
    widths, ends = layers_of(problem.network)
    alone: dict[Vector, int] = {}
    beside: dict[Vector, list[Vector]] = {}
    for layer, width in enumerate(widths):
        for unit in range(width):
            for side in (ROW, COLUMN):
                alone[side, layer, unit] = 0
                beside[side, layer, unit] = [(1 - side, layer, k) for k in range(width)]
    for name, mask in required_entries(problem).items():
        a, b = ends[name]
        for i, j in np.argwhere(mask).tolist():
            row, column = (ROW, a, i), (COLUMN, b, j)
            if a >= 0 and b >= 0:
                beside[row].append(column)
                beside[column].append(row)
            elif a >= 0 or b >= 0:
                alone[row if a >= 0 else column] += 1
            else:
                return None
    number = {vector: alone[vector] + len(beside[vector]) for vector in alone}
    removed: list[Vector] = []
    while number:
        last = [vector for vector, count in number.items() if count <= widths[vector[1]]]
        if not last:
            return None
        vector = rng.choice(last)
        removed.append(vector)
        del number[vector]
        for other in beside[vector]:
            if other in number:
                number[other] -= 1
    return tuple(removed[::-1])


def _applies(problem: Problem, order: tuple[Vector, ...], rng: random.Random) -> bool:
    """Whether the equations of each step are independent at a random point."""
    p = random_prime(rng)
    widths, ends = layers_of(problem.network)
    fixed, teacher = fixed_and_teacher(problem, p, rng)
    masks = required_entries(problem)
    known: dict[Vector, np.ndarray] = {}
    for side, layer, unit in order:
        check_time()
        table: list[np.ndarray] = []
        right: list[int] = []
        for k in range(widths[layer]):
            if (1 - side, layer, k) in known:
                table.append(known[1 - side, layer, k])
                right.append(int(k == unit))
        for name, own_ends in ends.items():
            if own_ends[side] != layer:
                continue
            # The row of P meets M_t from the left, the column of Q from the right.
            M, c, mask = teacher[name], fixed[name], masks[name]
            if side == COLUMN:
                M, c, mask = M.T, c.T, mask.T
            for k in np.flatnonzero(mask[unit]).tolist():
                far = own_ends[1 - side]
                if far < 0:
                    table.append(M[:, k])
                elif (1 - side, far, k) in known:
                    table.append(matmul(M, known[1 - side, far, k][:, None], p)[:, 0])
                else:
                    continue
                right.append(int(c[unit, k]))
        width, rows = widths[layer], len(table)
        if rows > width:
            return False
        # Random equations choose one of the solutions.
        more = random_residues((width - rows, width + 1), p, rng)
        matrix = nmod_mat([[int(v) for v in row] for row in (*table, *more[:, :-1])], p)
        if matrix.rank() < width:
            return False
        values = matrix.solve(nmod_mat([[int(v)] for v in (*right, *more[:, -1])], p))
        known[side, layer, unit] = np.array([int(v) for v in values.entries()], np.int64)
    return True
