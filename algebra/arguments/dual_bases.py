r"""Whether the teacher is a student in another basis that is found vector by vector: MP = 1.

As in `algebra.arguments.teacher_reached` a change of basis of each hidden layer
makes a student M' of the teacher M_t: ``M' = P_a M_t Q_b`` for a matrix from layer b to layer a,
with Q = P⁻¹ (P = Q = I at inputs and outputs).  Entry (i, j) of M' is p_i M_t q_j, with the rows p
of P_a and the columns q of Q_b; it must be the fixed weight c_ij where nothing learns.  Together
with p_i q_j = δ_ij these equations are bilinear in the vectors p and q.  If the vectors are chosen
one after another, each equation is linear in the later of its two vectors, or in its only one.

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
alone, those of `algebra.arguments.teacher_reached`, are not linear in this example.

*Survey*: of the first 240 nets of `benchmarks/bench_undecided.py`, in which cells of W alone
learn, it decides none; it is for allocations in which nearly everything learns.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import numpy as np
from flint import nmod_mat

from algebra.arguments.argument import Argument, Claimed, FoundEvidence
from algebra.arguments.bases import drawn_solution, student_complaint
from algebra.checker.checks import PROVED, CheckFailed
from algebra.checker.premises import ALMOST_ALL
from algebra.checker.verdicts import MAXIMAL
from algebra.declarations import Count, Keyword
from algebra.linalg.modular import matmul
from algebra.linalg.residues import random_residues
from algebra.networks.chain import need_chain
from algebra.networks.chain_units import ends_of
from algebra.problems.laws.pinned import prime_for, residue, restrict
from algebra.problems.premises import Feature
from algebra.problems.problem import Problem
from algebra.ranks.jacobian import random_point
from algebra.time_limits import check_time

if TYPE_CHECKING:
    from algebra.arguments.case import Case

PLACE = "evidence.dual_bases"
# A vector: 0 for a row of P or 1 for a column of Q, the hidden layer, the unit.
ROW, COLUMN = 0, 1
Vector = tuple[int, int, int]
_VectorInFile = tuple[
    Annotated[int, Keyword("minimum", ROW), Keyword("maximum", COLUMN)], Count, Count
]

# Largest number of hidden units in a search.
_MOST_UNITS = 64
# Orders that are tried.
_ORDERS = 3
# Largest number of hidden units in a file.
_MOST_CHECKED = 128
# Random points that are tried.
_ATTEMPTS = 3


def search(case: Case) -> FoundEvidence | None:
    """An order of the vectors for which the theorem applies."""
    order = dual_order(case.problem, case.effort.seed)
    rule = "the teacher itself is reachable: vectors of dual bases make it a student"
    return None if order is None else FoundEvidence(MAXIMAL, rule, order)


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
    widths = need_chain(problem.network).inner_widths
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


def _required_entries(problem: Problem) -> dict[str, np.ndarray]:
    """The entries of each matrix with an equation: fixed weights, and zeros of the student."""
    ends = ends_of(need_chain(problem.network))
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
    chain = need_chain(problem.network)
    widths, ends = chain.inner_widths, ends_of(chain)
    alone: dict[Vector, int] = {}
    beside: dict[Vector, list[Vector]] = {}
    for layer, width in enumerate(widths):
        for unit in range(width):
            for side in (ROW, COLUMN):
                alone[side, layer, unit] = 0
                beside[side, layer, unit] = [(1 - side, layer, k) for k in range(width)]
    for name, mask in _required_entries(problem).items():
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
    p = prime_for(problem.student(), rng)
    chain = need_chain(problem.network)
    widths, ends = chain.inner_widths, ends_of(chain)
    shapes = problem.network.shapes
    fixed, teacher = (
        {name: random_residues(shape, p, rng) for name, shape in shapes.items()} for _ in range(2)
    )
    restrict(fixed, problem.student(), residue(p))
    restrict(teacher, problem.support, residue(p))
    masks = _required_entries(problem)
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


def check(problem: Problem, order: Sequence[Vector], claimed: Claimed) -> str:
    """For generic fixed weights, vectors in this order make the teacher a student.

    The equations of a step are computed from the student that the chosen vectors define: its
    entries are affine in the vector of the step, so they are evaluated at the vector 0 and at unit
    vectors.  At the end the student is tested: it must have all fixed weights, and compute the
    teacher's function.
    """
    if problem.network.chain() is None:
        raise CheckFailed(PLACE, "the network is no chain of matrices")
    widths = need_chain(problem.network).inner_widths
    every = [
        (side, layer, unit)
        for side in (ROW, COLUMN)
        for layer, width in enumerate(widths)
        for unit in range(width)
    ]
    if sorted(order) != every:
        raise CheckFailed(PLACE, "does not name each row and each column of each layer once")
    if sum(widths) > _MOST_CHECKED:
        raise CheckFailed(PLACE, f"{sum(widths)} hidden units: too many to check")
    rng = random.Random(f"verify dual bases/{claimed.seed}")
    complaint = ""
    # If an unlucky point proves nothing, another one is tried.
    for _ in range(_ATTEMPTS):
        complaint = _complaint(problem, order, rng)
        if not complaint:
            text = "for generic weights dual bases make the teacher a student"
            claimed.say(PLACE, PROVED, text)
            return PROVED
    raise CheckFailed(PLACE, complaint)


def _complaint(problem: Problem, order: Sequence[Vector], rng: random.Random) -> str:
    """Why the theorem does not apply at a random point; "" if it does."""
    network, p = problem.network, prime_for(problem.student(), rng)
    chain = need_chain(network)
    widths, ends = chain.inner_widths, ends_of(chain)
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
        equations = list(zip(*table, strict=True))
        solution = drawn_solution(equations, constant, widths[layer], p, rng)
        if isinstance(solution, str):
            return f"step {len(chosen)}: {solution}"
        line[:] = solution
        chosen.add(vector)
    for layer, width in enumerate(widths):
        if not np.array_equal(product(bases[ROW][layer], bases[COLUMN][layer]), np.eye(width)):
            return "the bases are not dual"
    return student_complaint(problem, {name: made(name) for name in ends}, student, teacher)


ARGUMENT = Argument(
    name="dual_bases",
    form=tuple[_VectorInFile, ...],
    why={
        MAXIMAL: "MP = 1: after a change of basis of the hidden units, found vector by vector, the "
        "teacher differs from the student in learnable weights only."
    },
    search=search,
    check=check,
    covers={
        MAXIMAL: {
            **ALMOST_ALL,
            Feature.EXACT: "the equations are independent at a point with the exact numbers",
        }
    },
)
