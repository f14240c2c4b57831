r"""The solutions of a recurrent net as a degeneracy locus: few unknowns, no states.

Let only one recurrent matrix W learn, in k rows S, and let the samples determine the map: U of full
row rank.  Then the labels are D x_t = y_t, t = 1 … T, for the states x_0 = B, x_t = W x_{t-1}
(n×b).  The fixed rows of W and the labels determine x_t up to g = k − d inputs per step: with N0 a
basis of the kernel of C = (D; rows of I outside S) and L a right inverse of C,

.. math:: x_t = A x_{t-1} + b_t + N_0 z_t,

a linear system that does not change with time.  As power series modulo s^{T+1}, x = f + G z with
known f and G.  The condition of a row i in S is

.. math:: p_i + q_i z = s\,w_i (f + G z)_{c(i)},

where w_i are its weights, c(i) its cells, and p_i, q_i the coefficients of x_t[i] minus the fixed
part of row i.  Take g *base* rows for which Q(0) = (q_i(0)) is invertible.  Then Q(w) = q − s w G,
g×g, is invertible as a series for every w, and z = −Q(w)^{-1} (p − s w f): all states are functions
of the base rows' weights alone, and by Cramer's rule det Q(w) times the states are polynomials in
them, linear in each row.  (det Q(w) is a unit, so this is an invertible triangular change of the
equations t = 1 … T.)  There remain the other rows, each a linear system L_i(w) w_i = r_i(w) of Tb
equations in c_i unknowns.

If L_i(w) is injective, row i has one solution or none, and it has one if and only if the
(c_i + 1)-minors of (L_i | r_i) vanish; near such a point the minors that border an invertible
c_i-minor generate the same ideal as the system with w_i eliminated.  A generic instance has
finitely many solutions (the solution variety is irreducible, so generic fibres have the
expected dimension at each point), hence L_i is injective at all of them.  So *the solutions are
the points of*

.. math:: V(\text{minors of } (L_i | r_i)) \setminus V(\textstyle\prod_i δ_i),

with δ_i a random combination of the c_i-minors of L_i, counted with multiplicity: N is the
dimension of GF(p)[w] / (minors) : (Π δ_i)^∞.  A point at which L_i is injective is lost with
probability at most 1/p.  Points with some δ_i = 0 do occur: if rows share so many cells that the
states there are dependent under fewer conditions than these rows have.  Whether they occur is
decided by each ideal (minors, δ_i), which is the unit ideal if not; if they do, they are removed by
a new unknown y and y Π δ_i = 1 [2]_.

With g = 1 the entries are affine in w.  For T = 6 steps of one input N was observed to be 6!/Π(6 −
c_i)! if the rows share few cells, and less if they share many.

The columns of W are the rows of the transposed net: D^T, W^T, B^T in place of B, W, D.

References
----------
.. [1] W. Fulton, *Intersection Theory*, 2nd ed., Springer 1998, chapter 14 (degeneracy loci).
.. [2] J. L. Rabinowitsch, "Zum Hilbertschen Nullstellensatz", Math. Ann. 102 (1930) 520.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product
from math import comb, prod
from typing import Any

import numpy as np
from flint import nmod_mat

from algebra.linalg.modular import matmul
from algebra.linalg.ranks import modular_rank
from algebra.linalg.residues import Residues
from algebra.polynomials.msolve.solver import quotient_degree
from algebra.polynomials.rings import PrimeField
from algebra.systems.instances import ModularInstance
from algebra.time_limits import check_time

# If dense minors would have more terms than this, the equations are not written out.
_MOST_TERMS = 200_000
# Largest number of sets of base rows to try, those with the fewest cells first.
_MOST_BASES = 50

Series = list[Any]


@dataclass(frozen=True)
class DegeneracyLocus:
    """Equations for the base rows' weights, and conditions that exclude other points.

    Attributes
    ----------
    unknowns : tuple of str
        The base rows' weights.
    equations : tuple of nmod_mpoly
        The minors.
    excluded : tuple of nmod_mpoly
        δ_i for each of the other rows: at a solution none of them is 0.
    root : tuple of int
        The known solution.
    """

    unknowns: tuple[str, ...]
    equations: tuple[Any, ...]
    excluded: tuple[Any, ...]
    root: tuple[int, ...]

    def degree(self, seconds: int, without: Sequence[int] = ()) -> int | None:
        """Number of points with multiplicity; None if there are infinitely many.

        Parameters
        ----------
        seconds : int
            Total time for msolve; its errors are raised.
        without : sequence of int, optional
            Points where one of these δ is 0 are not counted.
        """
        equations = self.equations
        if without:
            ring = PrimeField(equations[0].context().modulus()).context(("y", *self.unknowns))
            y, *weights = ring.gens()
            mixed = prod((self.excluded[k] for k in without), start=self.excluded[0] ** 0)
            moved = [e.compose(*weights, ctx=ring) for e in (*equations, mixed)]
            equations = (*moved[:-1], y * moved[-1] - 1)
        return quotient_degree(equations, timeout=seconds).degree

    def degenerate(self, seconds: int) -> tuple[int, ...]:
        """The indices of the δ that vanish at some of the points."""
        return tuple(
            k
            for k, delta in enumerate(self.excluded)
            if quotient_degree((*self.equations, delta), timeout=seconds).status != "empty"
        )


@dataclass(frozen=True, eq=False)
class _Inputs:
    """States as affine functions of the inputs: x_t = f_t + Σ_s G_{t−s} z_s."""

    f: Residues
    G: Residues

    @classmethod
    def of(cls, W: Residues, B: Residues, D: Residues, learns: np.ndarray, steps: int, p: int,
           rng: random.Random) -> _Inputs | None:  # fmt: skip
        """None if the labels and the fixed rows are dependent."""
        (d, n), fixed = D.shape, np.flatnonzero(~learns.any(axis=1))
        C = np.concatenate([D, np.eye(n, dtype=np.int64)[fixed]])
        g = n - len(C)
        if g < 1 or modular_rank(C, p) < len(C):
            return None
        below = np.array([[rng.randrange(p) for _ in range(n)] for _ in range(g)])
        whole = np.concatenate([C, below])
        if modular_rank(whole, p) < n:
            return None
        inverse = _inverse(whole, p)
        # The last columns of the inverse are a basis of the kernel of C.
        L, kernel = inverse[:, : n - g], inverse[:, n - g :]
        A = matmul(L[:, d:], W[fixed], p)
        f, G, x = [B % p], [kernel], B % p
        for _ in range(steps):
            x = matmul(W, x, p)
            f.append((matmul(A, f[-1], p) + matmul(L[:, :d], matmul(D, x, p), p)) % p)
            G.append(matmul(A, G[-1], p))
        return cls(np.stack(f), np.stack(G))


def degeneracy_locus(
    instance: ModularInstance, form: str, seed: int = 0, *, most_unknowns: int | None = None
) -> DegeneracyLocus | None:
    """The solutions of an instance over GF(p) as a degeneracy locus.

    Parameters
    ----------
    instance : ModularInstance
        The student is its own teacher.
    form : {"B", "D"}
        Whether rows of W are used (as in the B form), or columns.
    seed : int, optional
        For the random combinations δ.
    most_unknowns : int, optional
        None is returned if the locus would have more.

    Returns
    -------
    DegeneracyLocus or None
        None if the network or its allocation does not have this structure, or the minors are too
        large.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> from algebra.problems.allocation import Allocation
    >>> from algebra.systems.instances import modular_instance
    >>> net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> diagonal = Allocation.from_cells(net, [("W", 0, 0), ("W", 1, 1)])
    >>> locus = degeneracy_locus(modular_instance(diagonal, 65521, 0), "B")
    >>> locus.unknowns, [e.total_degree() for e in locus.equations]
    (('W_0_0',), [2])
    """
    allocation, p = instance.allocation, instance.p
    chain = allocation.network.chain()
    if chain is None or chain.start is None or allocation.matrices != (chain.recurrent,):
        return None
    U = allocation.network.drive(instance.X) % p
    if form not in ("B", "D") or modular_rank(U, p) < U.shape[0]:
        return None
    name = chain.steps[0]
    W, B, D = (instance.weights[key] for key in (name, chain.start, chain.output))
    learns = allocation.masks[name]
    if form == "D":
        W, B, D, learns = W.T, D.T, B.T, learns.T
    rng = random.Random(f"degeneracy/{p}/{seed}")
    states = _Inputs.of(W, B, D, learns, len(chain.steps), p, rng)
    if states is None:
        return None
    rows = _Rows(W, learns, states, p)
    base = rows.base()
    if base is None or not rows.is_small(base):
        return None
    cells = [(i, int(j)) for i in base for j in rows.cells[i]]
    if most_unknowns is not None and len(cells) > most_unknowns:
        return None
    places = cells if form == "B" else [(j, i) for i, j in cells]
    unknowns = tuple(f"{name}_{i}_{j}" for i, j in places)
    equations, excluded = rows.minors(base, PrimeField(p).context(unknowns), rng)
    root = tuple(int(W[i, j]) for i, j in cells)
    return DegeneracyLocus(unknowns, equations, excluded, root)


class _Rows:
    """The conditions on the states given by the learning rows of W."""

    def __init__(self, W: Residues, learns: np.ndarray, states: _Inputs, p: int) -> None:
        self.p, self.states = p, states
        self.fixed = np.where(learns, 0, W) % p
        self.cells = {int(i): np.flatnonzero(learns[i]) for i in np.flatnonzero(learns.any(axis=1))}
        self.steps, self.b = len(states.f) - 1, states.f.shape[2]
        self.g = states.G.shape[2]
        # p_i and q_i for all rows at once; x_0 is given and satisfies no condition.
        self.known = np.concatenate([np.zeros_like(states.f[:1]), self._less(states.f)[1:]])
        self.free = self._less(states.G)

    def _less(self, series: Residues) -> Residues:
        """x_t minus the fixed part of W times x_{t−1}."""
        made = series.copy()
        made[1:] -= matmul(self.fixed, series[:-1], self.p)
        return made % self.p

    @property
    def equations(self) -> int:
        """Number of equations of one row."""
        return self.steps * self.b

    def base(self) -> tuple[int, ...] | None:
        """Rows with few cells for which Q(0) is invertible."""
        by_size = sorted(self.cells, key=lambda i: len(self.cells[i]))
        for chosen in islice(combinations(by_size, self.g), _MOST_BASES):
            if modular_rank(self.free[0][list(chosen)], self.p) == self.g:
                return chosen
        return None

    def is_small(self, base: Sequence[int]) -> bool:
        """Whether all minors would have few terms even if they were dense."""
        unknowns, total = sum(len(self.cells[i]) for i in base), 0
        # Row t of (L | r) has degree at most t − 1, and g; its last entry one more.
        degrees = [min(t, self.g) for t in range(self.steps) for _ in range(self.b)]
        for i, cells in self.cells.items():
            c = len(cells)
            if i not in base and c < self.equations:
                degree = sum(degrees[-c - 1 :]) + 1
                total += comb(self.equations, c + 1) * comb(unknowns + degree, degree)
        return total <= _MOST_TERMS

    def minors(
        self, base: Sequence[int], ring: Any, rng: random.Random
    ) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The minors of (L_i | r_i), and random combinations of those of L_i."""
        x, scale = self._scaled_states(base, ring)
        equations, excluded = [], []
        for i, cells in self.cells.items():
            if i in base:
                continue
            fixed = [(int(j), int(self.fixed[i, j])) for j in np.flatnonzero(self.fixed[i])]
            start = [int(v) for v in self.states.f[0][i]]
            matrix = []
            for t, k in product(range(self.steps), range(self.b)):
                right = x[i][k][t + 1] - start[k] * scale[t + 1]
                right -= sum(c * x[j][k][t] for j, c in fixed)
                matrix.append([*(x[int(j)][k][t] for j in cells), right])
            check_time()
            inner, outer = maximal_minors(matrix)
            equations += [m for m in outer if m != 0]
            mixed = (rng.randrange(self.p) * m for m in inner)
            excluded.append(sum(mixed, ring.constant(0)))
        return tuple(equations), tuple(excluded)

    def _scaled_states(
        self, base: Sequence[int], ring: Any
    ) -> tuple[dict[int, list[Series]], Series]:
        """det Q(w) times the states, by row of W and column of B, and det Q(w)."""
        weights = iter(ring.gens())
        Q: list[list[Series]] = []
        P: list[list[Series]] = []
        for i in base:
            own = [(int(j), next(weights)) for j in self.cells[i]]
            Q.append([self._row(self.free, self.states.G, i, k, own, ring) for k in range(self.g)])
            P.append([self._row(self.known, self.states.f, i, k, own, ring) for k in range(self.b)])
        scale = _determinant(Q)

        # Cramer's rule: det Q · a component of z is the determinant with its column replaced by −P.
        def replaced(part: int, k: int) -> Series:
            rows = [
                [*row[:part], right[k], *row[part + 1 :]] for row, right in zip(Q, P, strict=True)
            ]
            return [-c for c in _determinant(rows)]

        inputs = [[replaced(part, k) for k in range(self.b)] for part in range(self.g)]
        found = {}
        for j in range(len(self.fixed)):
            found[j] = [
                _combined(
                    [(self.states.f[:, j, k], scale)]
                    + [(self.states.G[:, j, part], inputs[part][k]) for part in range(self.g)]
                )
                for k in range(self.b)
            ]
            check_time()
        return found, scale

    @staticmethod
    def _row(
        constant: Residues, shifted: Residues, i: int, k: int, own: list[tuple[int, Any]], ring: Any
    ) -> Series:
        """constant[i, k] − s Σ_j w_j shifted[j, k] as a series."""
        series = [ring.constant(int(constant[0, i, k]))]
        for t in range(1, len(constant)):
            term = ring.constant(int(constant[t, i, k]))
            series.append(term - sum(int(shifted[t - 1, j, k]) * w for j, w in own))
        return series


def _inverse(matrix: Residues, p: int) -> Residues:
    n = len(matrix)
    entries = nmod_mat(n, n, matrix.ravel().tolist(), p).inv().entries()
    return np.array([int(v) for v in entries], np.int64).reshape(n, n)


def _combined(terms: list[tuple[Residues, Series]]) -> Series:
    """Σ a·b for series a of numbers and b of polynomials."""
    length = len(terms[0][1])
    return [
        sum(int(a[t - s]) * b[s] for a, b in terms for s in range(t + 1)) for t in range(length)
    ]


def _product(a: Series, b: Series) -> Series:
    return [sum(a[s] * b[t - s] for s in range(t + 1)) for t in range(len(a))]


def _determinant(matrix: list[list[Series]]) -> Series:
    """Of a small matrix of series, by its first row."""
    if len(matrix) == 1:
        return matrix[0][0]
    total = None
    for k, entry in enumerate(matrix[0]):
        rest = [[*row[:k], *row[k + 1 :]] for row in matrix[1:]]
        term = _product(entry, _determinant(rest))
        if k % 2:
            term = [-c for c in term]
        total = term if total is None else [a + b for a, b in zip(total, term, strict=True)]
    assert total is not None
    return total


def maximal_minors(matrix: Sequence[Sequence[Any]]) -> tuple[list[Any], list[Any]]:
    """The maximal minors of a matrix without its last column, and with it.

    They are computed column by column, for all sets of rows (bits) at once, by expansion along the
    last column.  If there are fewer rows than columns, there are none.

    Examples
    --------
    >>> maximal_minors([[1, 2], [3, 5]])
    ([1, 3], [-1])
    """
    found: dict[int, Any] = {0: 1}
    before: dict[int, Any] = {}
    for column in range(len(matrix[0])):
        before, found = found, {}
        for rows, minor in before.items():
            for i, row in enumerate(matrix):
                if rows >> i & 1:
                    continue
                term = minor * row[column]
                if (rows >> (i + 1)).bit_count() & 1:
                    term = -term
                key = rows | 1 << i
                found[key] = found[key] + term if key in found else term
        check_time()
    return list(before.values()), list(found.values())
