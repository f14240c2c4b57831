r"""Linear programs over the rationals, decided exactly: a revised simplex method.

For ``A x = b, x ≥ 0`` with a linear objective.  All arithmetic is rational, pivots follow
Bland's rule, so it ends, and "infeasible" is a theorem: the multipliers of phase 1 prove it
(Farkas), see `LinearOptimum.proof`.  Meant for programs of some dozens of rows, where no
tolerance may decide.  A `RationalProgram` is a family of programs in which different unknowns are
set to 0; `complementary_vertex` searches it for a solution in which one unknown of each pair is 0.

References
----------
.. [1] R. G. Bland, "New finite pivoting rules for the simplex method", Math. Oper. Res. 2 (1977).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from flint import fmpq, fmpq_mat

from algebra.errors import InputError
from algebra.linalg.rational import column, rational_matrix
from algebra.time_limits import check_time

_ZERO = fmpq(0)
# From the rows of a program: from the columns kept, constants and objective to a guessed basis.
BasisGuess = Callable[[Sequence[int], Sequence[fmpq], Sequence[fmpq]], Sequence[int] | None]
GuessMaker = Callable[[Sequence[Sequence[fmpq]]], BasisGuess]

# Dual pivots from a guessed basis.
_MOST_REPAIRS = 60

OPTIMAL, INFEASIBLE, UNBOUNDED = "optimal", "infeasible", "unbounded"
GIVEN_UP = "given up"


@dataclass(frozen=True)
class LinearOptimum:
    """The result of a linear program.

    Attributes
    ----------
    status : str
        "optimal", "infeasible", "unbounded"; "given up" if pivots were limited.
    x : tuple of fmpq
        A vertex: optimal, or, if unbounded, the last one; empty if infeasible.
    value : fmpq
        Its objective; 0 if infeasible.
    proof : tuple of fmpq
        If infeasible: y with yᵀA ≤ 0 and yᵀb > 0.
    """

    status: str
    x: tuple[fmpq, ...] = ()
    value: fmpq = _ZERO
    proof: tuple[fmpq, ...] = ()


def maximize(
    A: Sequence[Sequence[fmpq]],
    b: Sequence[fmpq],
    objective: Sequence[fmpq] | None = None,
    *,
    basis: Sequence[int] | None = None,
    most_pivots: int | None = None,
) -> LinearOptimum:
    """A vertex of {A x = b, x ≥ 0} that maximizes an objective, or a proof that there is none.

    Parameters
    ----------
    A : rows of fmpq
    b : sequence of fmpq
    objective : sequence of fmpq, optional
        0 by default: any vertex is a solution.
    basis : sequence of int, optional
        A guess of the columns that are basic at the end, where number ``columns + i`` is
        the artificial unknown of row i: it is checked exactly and saves all pivots if it
        is right.  Otherwise the pivots start there.
    most_pivots : int, optional
        Largest number of pivots in each phase, if no guess is right.

    Returns
    -------
    LinearOptimum

    Examples
    --------
    >>> one, two = fmpq(1), fmpq(2)
    >>> maximize([[one, one]], [two], [one, two]).value
    4
    >>> maximize([[one, one]], [-one]).status
    'infeasible'
    """
    rows = len(A)
    columns = len(A[0]) if rows else len(objective or ())
    if any(len(row) != columns for row in A) or len(b) != rows:
        raise InputError(f"`A` must be {len(b)}×{columns}")
    zero = fmpq(0)
    cost = list(objective) if objective is not None else [zero] * columns
    if len(cost) != columns:
        raise InputError(f"`objective` has {len(cost)} entries for {columns} unknowns")
    if not rows:
        status = UNBOUNDED if any(c > 0 for c in cost) else OPTIMAL
        return LinearOptimum(status, (zero,) * columns)
    simplex = _RevisedSimplex(A, b)
    if basis is not None and simplex.move(basis):
        proof = simplex.farkas() or simplex.repair()
        if proof is not None:
            return LinearOptimum(INFEASIBLE, proof=proof)
    if simplex.is_artificial:
        if simplex.optimize([zero] * columns + [fmpq(-1)] * rows, most_pivots) == GIVEN_UP:
            return LinearOptimum(GIVEN_UP)
        proof = simplex.farkas()
        if proof is not None:
            return LinearOptimum(INFEASIBLE, proof=proof)
        simplex.drop_artificial()
    status = simplex.optimize([*cost, *[zero] * rows], most_pivots)
    if status == GIVEN_UP:
        return LinearOptimum(GIVEN_UP)
    x = simplex.vertex()
    value = sum((c * v for c, v in zip(cost, x, strict=True)), zero)
    return LinearOptimum(status, x, value)


class _RevisedSimplex:
    """The simplex method on {A x = b, x ≥ 0}, with the rows' artificial unknowns after those of A.

    Each step solves equations with the matrix of the basis, so it may start at any basis.
    """

    def __init__(self, A: Sequence[Sequence[fmpq]], b: Sequence[fmpq]) -> None:
        self.A, self.b, self.table = A, b, rational_matrix(A)
        self.rows, self.columns = len(A), len(A[0])
        self.restart()

    def restart(self) -> None:
        """Go to the basis of the artificial unknowns."""
        self.basis = [self.columns + i for i in range(self.rows)]

    def move(self, basis: Sequence[int]) -> bool:
        """Go to a basis; returns whether it is one."""
        if len(basis) != self.rows or not all(0 <= c < self.columns + self.rows for c in basis):
            return False
        self.basis = list(basis)
        if self._matrix().rank() < self.rows:
            self.restart()
            return False
        return True

    def _column(self, c: int) -> list[fmpq]:
        if c < self.columns:
            return [row[c] for row in self.A]
        i = c - self.columns
        return [fmpq(int(i == k) * (-1 if self.b[i] < 0 else 1)) for k in range(self.rows)]

    def _matrix(self) -> fmpq_mat:
        return rational_matrix([self._column(c) for c in self.basis]).transpose()

    def _values(self) -> list[fmpq]:
        return self._matrix().solve(column(self.b)).entries()

    def _multipliers(self, basic: Sequence[Any]) -> tuple[fmpq_mat, list[fmpq]]:
        """The combination of the rows with given entries in the basis' columns, and its entries."""
        y = self._matrix().transpose().solve(column(basic))
        return y, (y.transpose() * self.table).entries()

    @property
    def is_artificial(self) -> bool:
        """Whether an artificial unknown is basic."""
        return any(c >= self.columns for c in self.basis)

    def farkas(self) -> tuple[fmpq, ...] | None:
        """The proof that the program is infeasible, if the basis gives it."""
        if not self.is_artificial:
            return None
        y, entries = self._multipliers([-int(c >= self.columns) for c in self.basis])
        proof = tuple(-v for v in y.entries())
        gap = sum((v * c for v, c in zip(proof, self.b, strict=True)), _ZERO)
        return proof if gap > 0 and all(entry >= 0 for entry in entries) else None

    def repair(self) -> tuple[fmpq, ...] | None:
        """Dual pivots until no basic unknown is negative, or a proof of infeasibility.

        The pivots are those of the dual simplex method with all costs 0, which can start at every
        basis.  After `_MOST_REPAIRS` pivots the basis is reset to the artificial unknowns.
        """
        for _ in range(_MOST_REPAIRS):
            values = self._values()
            wrong = [
                (abs(x), i)
                for i, (c, x) in enumerate(zip(self.basis, values, strict=True))
                if x < 0 or (c >= self.columns and x != 0)
            ]
            if not wrong:
                return None
            _, place = max(wrong)
            sign = 1 if values[place] < 0 else -1
            y, entries = self._multipliers([sign * int(i == place) for i in range(self.rows)])
            basic = set(self.basis)
            falling = [
                (entry / max(abs(row[c]) for row in self.A), c)
                for c, entry in enumerate(entries)
                if entry < 0 and c not in basic
            ]
            if not falling:
                return tuple(-v for v in y.entries())
            self.exchange(place, min(falling)[1])
        self.restart()
        return None

    def optimize(self, cost: Sequence[fmpq], most: int | None) -> str:
        """Pivots by Bland's rule until no reduced cost is positive; only unknowns of A enter."""
        for pivots in count():
            check_time()
            if most is not None and pivots > most:
                return GIVEN_UP
            entries = self._multipliers([cost[c] for c in self.basis])[1]
            entering = next((c for c in range(self.columns) if cost[c] > entries[c]), None)
            if entering is None:
                return OPTIMAL
            right = zip(self._column(entering), self.b, strict=True)
            moved = self._matrix().solve(rational_matrix(list(right))).tolist()
            ratios = [
                (value / slope, self.basis[i], i)
                for i, (slope, value) in enumerate(moved)
                if slope > 0
            ]
            if not ratios:
                return UNBOUNDED
            self.exchange(min(ratios)[2], entering)
        raise AssertionError

    def exchange(self, place: int, entering: int) -> None:
        """Replace the basic unknown at a place by another unknown."""
        self.basis[place] = entering

    def drop_artificial(self) -> None:
        """Replace the artificial unknowns, which are 0, except in rows that depend on others."""
        for i, c in enumerate(self.basis):
            if c >= self.columns:
                entries = self._multipliers([int(k == i) for k in range(self.rows)])[1]
                entering = next((k for k, entry in enumerate(entries) if entry != 0), None)
                if entering is not None:
                    self.exchange(i, entering)

    def vertex(self) -> tuple[fmpq, ...]:
        """The unknowns of A at the basis."""
        found = [_ZERO] * (self.columns + self.rows)
        for c, value in zip(self.basis, self._values(), strict=True):
            found[c] = value
        return tuple(found[: self.columns])


class RationalProgram:
    """The programs over {A x = b, x ≥ 0} in which some unknowns are set to 0.

    Parameters
    ----------
    rows : rows of fmpq
        A.
    right : sequence of fmpq
        b.
    guesses : callable, optional
        From the rows to guesses of final bases (`numeric.linalg.float_simplex.guesses`): they are
        checked exactly and only save time.
    most_work : int, optional
        Largest number of pivots times entries of a program, if no guess is right.
    """

    def __init__(
        self,
        rows: Sequence[Sequence[fmpq]],
        right: Sequence[fmpq],
        guesses: GuessMaker | None = None,
        *,
        most_work: int | None = None,
    ) -> None:
        self.rows, self.right, self._most_work = rows, right, most_work
        self._guess = None if guesses is None or not rows else guesses(rows)

    def maximize(
        self,
        objective: Sequence[fmpq],
        gone: Collection[int] = (),
        right: Sequence[fmpq] | None = None,
        towards: Sequence[fmpq] | None = None,
    ) -> LinearOptimum:
        """The optimum with the unknowns in `gone` set to 0; `x` has an entry for each unknown.

        Parameters
        ----------
        objective : sequence of fmpq
            One entry for each unknown.
        gone : collection of int, optional
            Unknowns that are set to 0.
        right : sequence of fmpq, optional
            Constants that replace those of the program.
        towards : sequence of fmpq, optional
            An objective for the guess of the basis instead of `objective`: if there are several
            optima, the one that it prefers is found.
        """
        keep = [c for c in range(len(objective)) if c not in gone]
        A = [[row[c] for c in keep] for row in self.rows]
        b, cost = self.right if right is None else right, [objective[c] for c in keep]
        hint = cost if towards is None else [towards[c] for c in keep]
        basis = None if self._guess is None else self._guess(keep, b, hint)
        most = self._most_work
        if most is not None:
            most = 10 + most // max(1, len(self.rows) * len(keep))
        found = maximize(A, b, cost, basis=basis, most_pivots=most)
        if not found.x:
            return found
        x = [_ZERO] * len(objective)
        for c, value in zip(keep, found.x, strict=True):
            x[c] = value
        return replace(found, x=tuple(x))


def complementary_vertex(
    solve: Callable[[frozenset[int]], Sequence[fmpq] | None],
    pairs: int,
    gone: frozenset[int] = frozenset(),
) -> Sequence[fmpq] | None:
    """A solution of a program in which x_t x_{t + pairs} = 0 for every t < `pairs`.

    Branch and bound: the program of a node ignores the products.  If its solution has products
    that are not 0, the pair with the largest is divided: one of the two unknowns is 0.

    Parameters
    ----------
    solve : callable
        From the unknowns that are 0 at a node to a solution, None if there is none.  It may raise
        an exception to end the search.
    pairs : int
    gone : frozenset of int, optional
        The unknowns that are 0 at the root.

    Returns
    -------
    sequence of fmpq or None
        None if no node has a solution.

    Examples
    --------
    >>> zero, one = fmpq(0), fmpq(1)
    >>> program = RationalProgram([[one, one]], [one])
    >>> solution = complementary_vertex(lambda gone: program.maximize([zero] * 2, gone).x, 1)
    >>> sorted(solution)
    [0, 1]
    """
    waiting = [gone]
    while waiting:
        node = waiting.pop()
        x = solve(node)
        if x is None:
            continue
        products = [(x[t] * x[t + pairs], t) for t in range(pairs)]
        worst, t = max(products, key=lambda product: product[0], default=(_ZERO, 0))
        if worst == 0:
            return x
        # The node without the smaller of the two is next, since it is pushed last.
        small, large = sorted((t, t + pairs), key=lambda c: x[c])
        waiting += [node | {large}, node | {small}]
    return None
