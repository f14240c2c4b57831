r"""A shallow ReLU instance over Q: exact witnesses of a match, Farkas vectors of its absence.

With ``h = (learnable weights of a row)·x + c``, ``u = relu(h)`` and ``v = u − h`` an instance
has a match exactly if

    u[i, s] − v[i, s] − Σ_j w[i, j] x[j, s] = c[i, s]     (each learning unit i, sample s)
    Σ_i W2[:, i] u[:, s]                   = G[:, s]     (each sample s)
    u, v ≥ 0,   u[i, s] v[i, s] = 0

has a solution; G is the difference of the labels and the contribution of the units with fixed rows
(Lemma D.2 of the first paper, for all patterns at once).  If some of u and v are fixed at 0 the
rest is a linear program, and by Farkas' lemma it is infeasible exactly if there are λ (k×m) and μ
(d×m) with

    Σ_s λ[i, s] x[j, s] = 0              for each learnable cell (i, j) of W1,
    λ[i, s] + Σ_o W2[o, i] μ[o, s] ≥ 0   where u[i, s] is not fixed,
    −λ[i, s] ≥ 0                         where v[i, s] is not fixed,
    Σ λ c + Σ μ G < 0.

Lemmas D.3 and D.4 need no separate cuts: a set of fixings that they exclude leaves linear equations
without solution, for which such a vector exists too; this is also correct for a sample whose
right-hand side is 0, for which the lemmas do not hold.

Constraints restrict learnable weights to intervals (`box`).  The combination by a Farkas vector
then contains −Σ κ[i, j] w[i, j] with κ[i, j] = Σ_s λ[i, s] x[j, s] (for a learnable cell (o, i) of
W2, +Σ κ[o, i] w[o, i] with κ[o, i] = Σ_s μ[o, s] hidden[i, s]), which need not vanish if w is
bounded on the relevant side: (λ, μ) refutes if

    Σ λ c + Σ μ G + Σ max_w κ[i, j] w − Σ min_w κ[o, i] w < 0,

with the extrema over the intervals taken cell by cell.  So refutations under constraints are pairs
(λ, μ) too: the multipliers of the constraints' rows are determined by them.

A unit whose column of W2 is zero (structural zeros allow it) reaches no output.  Its learnable
weights, the *idle* ones, have no effect: they are omitted from the equations, and in a witness they
are 0 or the number nearest to 0 in their intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import fmpq

from algebra.errors import InputError
from algebra.linalg.rational import rational_rank, rational_solution
from algebra.networks.relu import ShallowReLU
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.intervals import Interval

_ANYWHERE = Interval()
_ZERO = fmpq(0)

# Fixings of a pair (u, v): neither, u = 0 (unit inactive), v = 0 (unit active).
FREE, U_ZERO, V_ZERO = 0, 1, 2


@dataclass(frozen=True)
class ReluSystem:
    """The equations of one instance, with rational entries.

    Attributes
    ----------
    allocation : Allocation
    weights : mapping of str to ndarray of fmpq
        The student's weights; those of learnable cells have no meaning.
    X, Y : ndarray of fmpq
        Samples (q×m) and labels (d×m).
    units : tuple of int
        Units with learnable weights in W1 that reach an output, k of them.
    cells : tuple of tuple of int
        For each of them the learnable columns of W1.
    c : ndarray of fmpq, k×m
        Their fixed input.
    G : ndarray of fmpq, d×m
        Labels minus the contribution of all other units through fixed weights.
    hidden : ndarray of fmpq, n×m
        Activations of the units with fixed rows; 0 for the others.
    second : tuple of (int, int)
        Learnable cells of W2.
    idle : tuple of (int, int)
        Learnable cells of W1 in units whose column of W2 is zero.
    box : mapping of cell to Interval
        The intervals of bounded learnable weights.
    """

    allocation: Allocation
    weights: Mapping[str, np.ndarray]
    X: np.ndarray
    Y: np.ndarray
    units: tuple[int, ...]
    cells: tuple[tuple[int, ...], ...]
    c: np.ndarray
    G: np.ndarray
    hidden: np.ndarray
    second: tuple[tuple[int, int], ...]
    idle: tuple[tuple[int, int], ...] = ()
    box: Mapping[Cell, Interval] = field(default_factory=dict)

    def interval(self, name: str, i: int, j: int) -> Interval:
        """The interval of a learnable weight."""
        return self.box.get((name, i, j), _ANYWHERE)

    @property
    def is_empty(self) -> bool:
        """Whether some interval is empty."""
        return any(interval.is_empty for interval in self.box.values())

    @property
    def W2(self) -> np.ndarray:
        """Columns of W2 of the learning units, d×k."""
        return self.weights["W2"][:, list(self.units)]

    @property
    def pairs(self) -> tuple[int, int]:
        """k and m: shape of u and v."""
        return len(self.units), self.X.shape[1]

    def is_witness(self, values: Sequence[Any]) -> bool:
        """Whether these rational weights are allowed and give the labels in the whole network."""
        if not all(
            value in self.interval(*cell)
            for cell, value in zip(self.allocation.cells, values, strict=True)
        ):
            return False
        student = {name: np.array(value, dtype=object) for name, value in self.weights.items()}
        for (name, i, j), value in zip(self.allocation.cells, values, strict=True):
            student[name][i, j] = value
        found = self.allocation.network.forward(student, self.X)
        return bool((found == self.Y).all())

    def solve_pattern(
        self,
        active: np.ndarray,
        zero: np.ndarray,
        held: Mapping[Cell, Any] | None = None,
    ) -> list[Any] | None:
        """Weights for an activation pattern, or None if they do not exist or violate it.

        Parameters
        ----------
        active : ndarray of bool, k×m
            The pattern.
        zero : ndarray of bool, k×m
            Pairs whose input h must be exactly 0 (a vertex, if the pattern leaves freedom).
        held : mapping of cell to fmpq, optional
            Weights that must have these values (bounds of their intervals, at a vertex).

        Returns
        -------
        list of fmpq or None
            Values of the learnable cells in the allocation's order, checked by `is_witness`.
        """
        rows, right, order = self._pattern_equations(active, zero)
        for cell, value in (held or {}).items():
            rows.append([fmpq(int(cell == other)) for other in order])
            right.append(value)
        solution = rational_solution(rows, right, len(order))
        if solution is None:
            return None
        return self.witness(dict(zip(order, solution, strict=True)))

    def witness(self, place: Mapping[Cell, Any]) -> list[Any] | None:
        """Values of all learnable weights, given those not idle; None if they are no match."""
        if self.is_empty:
            return None
        place = dict(place)
        for i, j in self.idle:
            place["W1", i, j] = self.interval("W1", i, j).nearest(_ZERO)
        values = [place[cell] for cell in self.allocation.cells]
        return values if self.is_witness(values) else None

    def has_one_solution(self, active: np.ndarray) -> bool:
        """Whether the linear equations of a pattern determine all learnable weights."""
        return not self.idle and self._determines(active)

    def _determines(self, active: np.ndarray) -> bool:
        """Whether they determine all learnable weights except the idle ones."""
        rows, _, order = self._pattern_equations(active, np.zeros(self.pairs, bool))
        if not rows or len(rows) < len(order):
            return not order
        return rational_rank(rows) == len(order)

    def refutes_cell(self, fixed: np.ndarray) -> bool:
        """Whether a single cell has no match because its equations have no solution in it.

        They must be inconsistent, or have just one solution, which lies on the wrong side of a
        hyperplane or outside its interval.

        Parameters
        ----------
        fixed : ndarray of int, k×m
            `U_ZERO` or `V_ZERO` everywhere.
        """
        if fixed.shape != self.pairs or not np.isin(fixed, (U_ZERO, V_ZERO)).all():
            return False
        active = fixed == V_ZERO
        rows, right, order = self._pattern_equations(active, np.zeros(self.pairs, bool))
        solution = rational_solution(rows, right, len(order))
        if solution is None:
            return True
        if not self._determines(active):
            return False
        place = dict(zip(order, solution, strict=True))
        if any(value not in self.interval(*cell) for cell, value in place.items()):
            return True
        k, m = self.pairs
        for i in range(k):
            for s in range(m):
                h = self.c[i, s]
                for j in self.cells[i]:
                    h = h + place["W1", self.units[i], j] * self.X[j, s]
                if (h < 0) if active[i, s] else (h > 0):
                    return True
        return False

    def _pattern_equations(
        self, active: np.ndarray, zero: np.ndarray
    ) -> tuple[list[list[Any]], list[Any], list[tuple[str, int, int]]]:
        """Rows, right-hand sides and unknown cells of the linear equations of a pattern."""
        k, m = self.pairs
        d, W2, X = len(self.G), self.W2, self.X
        order = [(i, j) for i in range(k) for j in self.cells[i]]
        rows, right = [], []
        for s in range(m):
            for o in range(d):
                row = [
                    W2[o, i] * X[j, s] if active[i, s] and not zero[i, s] else fmpq(0)
                    for i, j in order
                ]
                row += [self.hidden[i, s] if o == o2 else fmpq(0) for o2, i in self.second]
                constant = self.G[o, s]
                for i in range(k):
                    if active[i, s] and not zero[i, s]:
                        constant = constant - W2[o, i] * self.c[i, s]
                rows.append(row)
                right.append(constant)
        for i, s in np.argwhere(zero):
            rows.append([X[j, s] if i2 == i else fmpq(0) for i2, j in order])
            rows[-1] += [fmpq(0)] * len(self.second)
            right.append(-self.c[i, s])
        cells = [("W1", self.units[i], j) for i, j in order]
        return rows, right, cells + [("W2", o, i) for o, i in self.second]

    def farkas(
        self,
        u_basic: np.ndarray,
        v_basic: np.ndarray,
        leaving: tuple[int, int, str, int] | None,
        kappa: Mapping[Cell, int | None] | None = None,
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """The Farkas vector of a basis, computed over Q (its signs are not checked here).

        Parameters
        ----------
        u_basic, v_basic : ndarray of bool, k×m
            The basic unknowns.
        leaving : (unit, sample, "u" or "v", 1 or -1), or None
            The basic unknown whose row shows infeasibility, and the row's sign; None if it is a
            weight's distance from a bound of its interval.
        kappa : mapping of cell to int or None, optional
            Values of Σ_s λ[i, s] x[j, s] for learnable cells of W1: by default 0; None if a weight
            is at a bound of its interval and κ is determined.

        Returns
        -------
        (lam, mu) or None
            ndarrays of fmpq, k×m and d×m.
        """
        k, m = self.pairs
        d, W2, X = len(self.G), self.W2, self.X
        li, ls, kind, sign = leaving or (-1, -1, "", 0)
        free = [(i, s) for i in range(k) for s in range(m) if not (u_basic[i, s] or v_basic[i, s])]
        where = {pair: d * m + t for t, pair in enumerate(free)}
        size = d * m + len(free)

        def combination(i: int, s: int) -> tuple[dict[int, Any], Any]:
            # λ[i, s] as an affine form in the unknowns (μ, free λ).
            if (i, s) in where:
                return {where[i, s]: fmpq(1)}, fmpq(0)
            if v_basic[i, s]:
                return {}, fmpq(-sign if (li, ls, kind) == (i, s, "v") else 0)
            constant = fmpq(sign if (li, ls, kind) == (i, s, "u") else 0)
            return {o * m + s: -W2[o, i] for o in range(d)}, constant

        rows, right = [], []
        for i in range(k):
            for j in self.cells[i]:
                wanted = (kappa or {}).get(("W1", self.units[i], j), 0)
                if wanted is None:
                    continue
                row, constant = [fmpq(0)] * size, fmpq(-wanted)
                for s in range(m):
                    form, value = combination(i, s)
                    for t, factor in form.items():
                        row[t] = row[t] + factor * X[j, s]
                    constant = constant + value * X[j, s]
                rows.append(row)
                right.append(-constant)
            for s in range(m):
                if u_basic[i, s] and v_basic[i, s]:
                    row = [fmpq(0)] * size
                    for o in range(d):
                        row[o * m + s] = W2[o, i]
                    value = fmpq(sign if (li, ls, kind) == (i, s, "u") else 0)
                    rows.append(row)
                    right.append(value - combination(i, s)[1])
        solution = rational_solution(rows, right, size)
        if solution is None:
            return None
        mu = np.array(solution[: d * m], dtype=object).reshape(d, m)
        lam = np.empty((k, m), dtype=object)
        for i in range(k):
            for s in range(m):
                form, value = combination(i, s)
                lam[i, s] = value + sum((f * solution[t] for t, f in form.items()), fmpq(0))
        return lam, mu

    def is_farkas(self, fixed: np.ndarray, lam: np.ndarray, mu: np.ndarray) -> bool:
        """Whether (lam, mu) proves that the linear program with these fixings is infeasible.

        Parameters
        ----------
        fixed : ndarray of int, k×m
            FREE, U_ZERO or V_ZERO.
        lam, mu : ndarray of fmpq, k×m and d×m
        """
        k, m = self.pairs
        d, W2 = len(self.G), self.W2
        if fixed.shape != (k, m) or lam.shape != (k, m) or mu.shape != (d, m):
            return False
        if self.is_empty:
            return True
        total = sum((lam[i, s] * self.c[i, s] for i in range(k) for s in range(m)), _ZERO)
        total += sum((mu[o, s] * self.G[o, s] for o in range(d) for s in range(m)), _ZERO)
        for i in range(k):
            for j in self.cells[i]:
                kappa = sum((lam[i, s] * self.X[j, s] for s in range(m)), _ZERO)
                most = self.interval("W1", self.units[i], j).most(kappa)
                if most is None:
                    return False
                total += most
            for s in range(m):
                if fixed[i, s] != V_ZERO and lam[i, s] > 0:
                    return False
                if fixed[i, s] != U_ZERO:
                    rest = sum((W2[o, i] * mu[o, s] for o in range(d)), _ZERO)
                    if lam[i, s] + rest < 0:
                        return False
        for o, i in self.second:
            kappa = sum((mu[o, s] * self.hidden[i, s] for s in range(m)), _ZERO)
            most = self.interval("W2", o, i).most(-kappa)
            if most is None:
                return False
            total += most
        return bool(total < 0)

    def linear_farkas(self) -> np.ndarray | None:
        """μ that refutes the linear equations of a net without learning units, or None.

        Without learnable weights in W1 every activation is known and the labels are linear in the
        learnable part of W2.
        """
        d, m = self.G.shape
        rows = []
        for o, i in self.second:
            row = [fmpq(0)] * (d * m)
            row[o * m : (o + 1) * m] = list(self.hidden[i])
            rows.append(row)
        rows.append([self.G[o, s] for o in range(d) for s in range(m)])
        right = [fmpq(0)] * len(self.second) + [fmpq(-1)]
        solution = rational_solution(rows, right, d * m)
        return None if solution is None else np.array(solution, dtype=object).reshape(d, m)


def relu_system(
    allocation: Allocation,
    weights: Mapping[str, np.ndarray],
    X: np.ndarray,
    Y: np.ndarray,
    box: Mapping[Cell, Interval] | None = None,
) -> ReluSystem:
    """The exact equations of one instance.

    Parameters
    ----------
    allocation : Allocation
        An allocation of a `ShallowReLU`, in W1 alone or in W2 alone.
    weights, X, Y : of fmpq
        The student's matrices, the samples, the labels.
    box : mapping of cell to Interval, optional
        Intervals of learnable weights; unbounded by default.

    Raises
    ------
    InputError
        For another network, or if both W1 and W2 learn: then the equations of a single pattern are
        bilinear, and no linear program decides them.
    """
    network = allocation.network
    if not isinstance(network, ShallowReLU):
        raise InputError(f"instances are decided for shallow ReLU nets, not for a {network.title}")
    second = tuple((i, j) for name, i, j in allocation.cells if name == "W2")
    first = [(i, j) for name, i, j in allocation.cells if name == "W1"]
    if first and second:
        raise InputError(
            f"W1 and W2 both learn ({len(first)} and {len(second)} weights): the equations of a "
            "pattern are then bilinear, not linear, and cannot be decided by linear programs; "
            "let one of the two learn"
        )
    effective = {i for i, _ in first if any(value != 0 for value in weights["W2"][:, i])}
    units = tuple(sorted(effective))
    idle = tuple((i, j) for i, j in first if i not in effective)
    cells = tuple(tuple(j for i2, j in first if i2 == i) for i in units)
    W1, W2 = weights["W1"], np.array(weights["W2"], dtype=object)
    zero = fmpq(0)
    c = np.empty((len(units), network.m), dtype=object)
    for t, i in enumerate(units):
        fixed = [j for j in range(network.q) if j not in cells[t]]
        for s in range(network.m):
            c[t, s] = sum((W1[i, j] * X[j, s] for j in fixed), zero)
    hidden = np.full((network.n, network.m), zero, dtype=object)
    for i in range(network.n):
        if i not in units:
            for s in range(network.m):
                h = sum((W1[i, j] * X[j, s] for j in range(network.q)), zero)
                hidden[i, s] = h if h > 0 else zero
    for cell in second:
        W2[cell] = zero
    return ReluSystem(
        allocation, weights, X, Y, units, cells, c, Y - W2 @ hidden, hidden, second, idle,
        dict(box or {}),
    )  # fmt: skip
