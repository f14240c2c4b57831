r"""A ReLU instance over Q: exact witnesses of a match, Farkas vectors of its absence.

The network has layers ``h_l = W_l z_{l-1} + c_l``, ``z_l = relu(h_l)`` with z_0 = X, and labels
``Y = W_L z_{L-1} + e``; a shallow one has two.  A hidden unit *moves* if its input depends on
learnable weights (of its own row, or of units before it) and a path of weights leads from it to an
output.  If no learnable weight multiplies a unit that moves, then with u = relu(h), v = u − h of
the k moving units an instance has a match exactly if

    u[i, s] − v[i, s] − Σ w z[s] − Σ_j W[i, j] u[j, s] = c[i, s]   (each moving unit i, sample s)
    Σ_i W_L[:, i] u[i, s] + Σ w z[s]                   = G[:, s]   (each sample s)
    u, v ≥ 0,   u[i, s] v[i, s] = 0

has a solution.  w are the learnable weights of a row, z the known values that they multiply (a
sample's entry, a unit that does not move, 1 for a bias), j the moving units before i; c and G
are what is fixed (for shallow nets Lemma D.2 of the first paper, for all patterns at once).  If
some of u and v are fixed at 0 the rest is a linear program, and by Farkas' lemma it is infeasible
exactly if there are λ (k×m) and μ (d×m) with

    Σ_s λ[i, s] z[s] = 0         for each learnable weight of the row of a moving unit i,
    Σ_s μ[o, s] z[s] = 0         for each one of the last layer's row o,
    λ[i, s] − Σ_j λ[j, s] W[j, i] + Σ_o W_L[o, i] μ[o, s] ≥ 0   where u[i, s] is not fixed,
    −λ[i, s] ≥ 0                                                 where v[i, s] is not fixed,
    Σ λ c + Σ μ G < 0,

j the moving units behind i.  Lemmas D.3 and D.4 need no separate cuts: a set of fixings that they
exclude leaves linear equations without solution, for which such a vector exists too; this is also
correct for a sample whose right-hand side is 0, for which the lemmas do not hold.

Constraints restrict learnable weights to intervals (`box`).  The combination by a Farkas vector
then contains −Σ κ w with κ = Σ_s λ[i, s] z[s] (of the last layer's rows κ = −Σ_s μ[o, s] z[s]),
which need not vanish if w is bounded on the relevant side: (λ, μ) refutes if

    Σ λ c + Σ μ G + Σ max_w κ w < 0,

with the maxima over the intervals taken weight by weight.  So refutations under constraints are
pairs (λ, μ) too: the multipliers of the constraints' rows are determined by them.

From a unit whose outgoing weights are zero (structural zeros allow it) no path leads to an output.
Its learnable weights, the *idle* ones, have no effect: they are omitted from the equations, and in
a witness they are 0 or the number nearest to 0 in their intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import fmpq

from algebra.errors import InputError
from algebra.linalg.rational import rational_rank, rational_solution
from algebra.networks.rectified import HasRectifiedLayers
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.intervals import Interval

_ANYWHERE = Interval()
_ZERO = fmpq(0)

# Fixings of a pair (u, v): neither, u = 0 (unit inactive), v = 0 (unit active).
FREE, U_ZERO, V_ZERO = 0, 1, 2
# A learnable weight, and the values that it multiplies, one for each sample.
Term = tuple[Cell, np.ndarray]


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
    units : tuple of (int, int)
        Layer (1, 2, …) and number of the k units that move, layer by layer.
    terms : tuple of tuple of (cell, ndarray of fmpq)
        For each of them the learnable weights of its row, with the values that they multiply.
    inner : mapping of (int, int) to fmpq
        Weights that are not 0 between moving units, from the second place to the first one.
    c : ndarray of fmpq, k×m
        Their fixed input.
    outer : ndarray of fmpq, d×k
        Weights of the last layer; 0 for units of other layers.
    G : ndarray of fmpq, d×m
        Labels minus all that is fixed.
    read : tuple of (int, cell, ndarray of fmpq)
        Learnable weights of the last layer: output, cell, and the values that it multiplies.
    idle : tuple of cell
        Learnable weights in rows of units from which no path leads to an output.
    box : mapping of cell to Interval
        The intervals of bounded learnable weights.
    """

    allocation: Allocation
    weights: Mapping[str, np.ndarray]
    X: np.ndarray
    Y: np.ndarray
    units: tuple[tuple[int, int], ...]
    terms: tuple[tuple[Term, ...], ...]
    inner: Mapping[tuple[int, int], Any]
    c: np.ndarray
    outer: np.ndarray
    G: np.ndarray
    read: tuple[tuple[int, Cell, np.ndarray], ...]
    idle: tuple[Cell, ...] = ()
    box: Mapping[Cell, Interval] = field(default_factory=dict)

    def interval(self, cell: Cell) -> Interval:
        """The interval of a learnable weight."""
        return self.box.get(cell, _ANYWHERE)

    @property
    def is_empty(self) -> bool:
        """Whether some interval is empty."""
        return any(interval.is_empty for interval in self.box.values())

    @property
    def pairs(self) -> tuple[int, int]:
        """k and m: shape of u and v."""
        return len(self.units), self.X.shape[1]

    @property
    def cells(self) -> list[Cell]:
        """The learnable weights that are not idle: rows of moving units, then the last layer's."""
        return [c for own in self.terms for c, _ in own] + [c for _, c, _ in self.read]

    @property
    def is_shallow(self) -> bool:
        """Whether nothing learns but the rows of a single hidden layer."""
        network = self.allocation.network
        assert isinstance(network, HasRectifiedLayers)
        return network.is_shallow and not self.read

    def is_witness(self, values: Sequence[Any]) -> bool:
        """Whether these rational weights are allowed and give the labels in the whole network."""
        if not all(
            value in self.interval(cell)
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
        rows, right = self._pattern_equations(active, zero)
        order = self.cells
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
        for cell in self.idle:
            place[cell] = self.interval(cell).nearest(_ZERO)
        values = [place[cell] for cell in self.allocation.cells]
        return values if self.is_witness(values) else None

    def has_one_solution(self, active: np.ndarray) -> bool:
        """Whether the linear equations of a pattern determine all learnable weights."""
        return not self.idle and self._determines(active)

    def _determines(self, active: np.ndarray) -> bool:
        """Whether they determine all learnable weights except the idle ones."""
        rows, _ = self._pattern_equations(active, np.zeros(self.pairs, bool))
        unknowns = len(self.cells)
        if not rows or len(rows) < unknowns:
            return not unknowns
        return rational_rank(rows) == unknowns

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
        rows, right = self._pattern_equations(active, np.zeros(self.pairs, bool))
        order = self.cells
        solution = rational_solution(rows, right, len(order))
        if solution is None:
            return True
        if not self._determines(active):
            return False
        if any(
            value not in self.interval(cell) for cell, value in zip(order, solution, strict=True)
        ):
            return True
        for t, s, form, constant in self._inputs(active):
            h = constant + sum((factor * solution[at] for at, factor in form.items()), _ZERO)
            if (h < 0) if active[t, s] else (h > 0):
                return True
        return False

    def _inputs(self, active: np.ndarray) -> Iterator[tuple[int, int, dict[int, Any], Any]]:
        """The inputs h of moving units on a pattern, affine in the unknowns (`cells`).

        Yields unit, sample, the factors by the places of unknowns, and the constant.
        """
        k, m = self.pairs
        before: list[list[tuple[int, Any]]] = [[] for _ in range(k)]
        for (to, source), weight in self.inner.items():
            before[to].append((source, weight))
        known: dict[tuple[int, int], tuple[dict[int, Any], Any]] = {}
        first = 0
        for t, own in enumerate(self.terms):
            for s in range(m):
                form = {first + at: values[s] for at, (_, values) in enumerate(own)}
                constant = self.c[t, s]
                for source, weight in before[t]:
                    if active[source, s]:
                        more, rest = known[source, s]
                        constant = constant + weight * rest
                        for at, factor in more.items():
                            form[at] = form.get(at, _ZERO) + weight * factor
                known[t, s] = form, constant
                yield t, s, form, constant
            first += len(own)

    def _pattern_equations(
        self, active: np.ndarray, zero: np.ndarray
    ) -> tuple[list[list[Any]], list[Any]]:
        """Rows and right-hand sides of the linear equations of a pattern, in `cells`."""
        d, m = self.G.shape
        width, hidden = len(self.cells), sum(map(len, self.terms))
        rows = [[_ZERO] * width for _ in range(d * m)]
        right = [self.G[o, s] for s in range(m) for o in range(d)]
        vertices: list[tuple[list[Any], Any]] = []
        # A unit whose input is 0 passes nothing on.
        passes = active & ~zero
        for t, s, form, constant in self._inputs(passes):
            if zero[t, s]:
                row = [_ZERO] * width
                for at, factor in form.items():
                    row[at] = factor
                vertices.append((row, -constant))
            elif active[t, s]:
                for o in range(d):
                    weight = self.outer[o, t]
                    if weight == 0:
                        continue
                    row = rows[s * d + o]
                    right[s * d + o] = right[s * d + o] - weight * constant
                    for at, factor in form.items():
                        row[at] = row[at] + weight * factor
        for at, (o, _, values) in enumerate(self.read, hidden):
            for s in range(m):
                rows[s * d + o][at] = values[s]
        return rows + [row for row, _ in vertices], right + [value for _, value in vertices]

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
            Values of κ for learnable weights: by default 0; None if a weight is at a bound of its
            interval and κ is determined.

        Returns
        -------
        (lam, mu) or None
            ndarrays of fmpq, k×m and d×m.
        """
        k, m = self.pairs
        d, kappa = len(self.G), kappa or {}
        li, ls, kind, sign = leaving or (-1, -1, "", 0)
        free = [(i, s) for i in range(k) for s in range(m) if not (u_basic[i, s] or v_basic[i, s])]
        where = {pair: d * m + t for t, pair in enumerate(free)}
        size = d * m + len(free)
        behind: list[list[tuple[int, Any]]] = [[] for _ in range(k)]
        for (to, source), weight in self.inner.items():
            behind[source].append((to, weight))
        # λ[i, s] as affine forms in the unknowns (μ, free λ), those of the last units first.
        forms: dict[tuple[int, int], tuple[dict[int, Any], Any]] = {}
        rows, right = [], []

        def rest(i: int, s: int) -> tuple[dict[int, Any], Any]:
            """The product with the column of u, without λ[i, s] itself."""
            form = {o * m + s: self.outer[o, i] for o in range(d) if self.outer[o, i] != 0}
            constant = _ZERO
            for j, weight in behind[i]:
                more, value = forms[j, s]
                constant = constant - weight * value
                for at, factor in more.items():
                    form[at] = form.get(at, _ZERO) - weight * factor
            return form, constant

        for i in reversed(range(k)):
            for s in range(m):
                wanted = fmpq(sign if (li, ls, kind) == (i, s, "u") else 0)
                if (i, s) in where:
                    forms[i, s] = {where[i, s]: fmpq(1)}, _ZERO
                elif v_basic[i, s]:
                    forms[i, s] = {}, fmpq(-sign if (li, ls, kind) == (i, s, "v") else 0)
                else:
                    more, value = rest(i, s)
                    forms[i, s] = {at: -factor for at, factor in more.items()}, wanted - value
                if u_basic[i, s] and v_basic[i, s]:
                    more, value = rest(i, s)
                    row = [_ZERO] * size
                    for at, factor in more.items():
                        row[at] = factor
                    rows.append(row)
                    right.append(wanted - value - forms[i, s][1])
        for i, own in enumerate(self.terms):
            for cell, values in own:
                product = kappa.get(cell, 0)
                if product is None:
                    continue
                row, constant = [_ZERO] * size, fmpq(-product)
                for s in range(m):
                    more, value = forms[i, s]
                    for at, factor in more.items():
                        row[at] = row[at] + factor * values[s]
                    constant = constant + value * values[s]
                rows.append(row)
                right.append(-constant)
        for o, cell, values in self.read:
            product = kappa.get(cell, 0)
            if product is None:
                continue
            row = [_ZERO] * size
            row[o * m : (o + 1) * m] = list(values)
            rows.append(row)
            right.append(fmpq(-product))
        solution = rational_solution(rows, right, size)
        if solution is None:
            return None
        mu = np.array(solution[: d * m], dtype=object).reshape(d, m)
        lam = np.empty((k, m), dtype=object)
        for (i, s), (more, value) in forms.items():
            lam[i, s] = value + sum((f * solution[at] for at, f in more.items()), _ZERO)
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
        d = len(self.G)
        if fixed.shape != (k, m) or lam.shape != (k, m) or mu.shape != (d, m):
            return False
        if self.is_empty:
            return True
        total = sum((lam[i, s] * self.c[i, s] for i in range(k) for s in range(m)), _ZERO)
        total += sum((mu[o, s] * self.G[o, s] for o in range(d) for s in range(m)), _ZERO)
        for i, own in enumerate(self.terms):
            for cell, values in own:
                kappa = sum((lam[i, s] * values[s] for s in range(m)), _ZERO)
                most = self.interval(cell).most(kappa)
                if most is None:
                    return False
                total += most
        for o, cell, values in self.read:
            kappa = -sum((mu[o, s] * values[s] for s in range(m)), _ZERO)
            most = self.interval(cell).most(kappa)
            if most is None:
                return False
            total += most
        # Products of (λ, μ) with the columns of u.
        products = lam.copy()
        for i in range(k):
            for o in range(d):
                if self.outer[o, i] != 0:
                    products[i] = products[i] + self.outer[o, i] * mu[o]
        for (to, source), weight in self.inner.items():
            products[source] = products[source] - weight * lam[to]
        for i in range(k):
            for s in range(m):
                if fixed[i, s] != V_ZERO and lam[i, s] > 0:
                    return False
                if fixed[i, s] != U_ZERO and products[i, s] < 0:
                    return False
        return bool(total < 0)

    def linear_farkas(self) -> np.ndarray | None:
        """μ that refutes the linear equations of a net without moving units, or None.

        Then every activation is known and the labels are linear in what learns.
        """
        d, m = self.G.shape
        rows = []
        for o, _, values in self.read:
            row = [_ZERO] * (d * m)
            row[o * m : (o + 1) * m] = list(values)
            rows.append(row)
        rows.append([self.G[o, s] for o in range(d) for s in range(m)])
        right = [_ZERO] * len(self.read) + [fmpq(-1)]
        solution = rational_solution(rows, right, d * m)
        return None if solution is None else np.array(solution, dtype=object).reshape(d, m)


def moving_units(allocation: Allocation, exists: Mapping[str, np.ndarray]) -> list[tuple[int, int]]:
    """Layer and number of the hidden units that move, where all weights that exist are not 0.

    Parameters
    ----------
    allocation : Allocation
        Of a network with ReLU layers.
    exists : mapping of str to ndarray
        Masks of weights that exist; all weights of other matrices do.

    Examples
    --------
    >>> from algebra.networks.ffn import FeedForward
    >>> net = FeedForward(q=2, widths=(2, 2), d=1, m=3, activation="relu")
    >>> moving_units(Allocation.from_masks(net, W1=[[1, 0], [0, 0]]), {})
    [(1, 0), (2, 0), (2, 1)]
    """
    shapes = allocation.network.shapes
    present = {name: np.asarray(exists.get(name, np.ones(of))) != 0 for name, of in shapes.items()}
    _, moves = _paths(allocation, present)
    return [(k, int(i)) for k in range(1, len(moves) - 1) for i in np.flatnonzero(moves[k])]


def _paths(
    allocation: Allocation, present: Mapping[str, np.ndarray]
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """For each layer, inputs first and outputs last, units that reach an output, and that move."""
    network, masks = allocation.network, allocation.masks
    assert isinstance(network, HasRectifiedLayers)
    layers = network.rectified_layers
    own = [np.asarray(masks[matrix]) != 0 for matrix, _ in layers]
    there = [learns | present[matrix] for learns, (matrix, _) in zip(own, layers, strict=True)]
    reach = [np.ones(network.d, bool)]
    for weights in reversed(there):
        reach.insert(0, (reach[0][:, None] & weights).any(axis=0))
    moves = [np.zeros(len(reach[0]), bool)]
    for k, (learns, (_, bias)) in enumerate(zip(own, layers, strict=True)):
        moving = learns.any(axis=1) | (there[k] & moves[k]).any(axis=1)
        if bias is not None:
            moving = moving | (np.asarray(masks[bias])[:, 0] != 0)
        moves.append(moving & reach[k + 1])
    return reach, moves


class ProductOfUnknowns(InputError):
    """A learnable weight multiplies a unit that moves: patterns have no linear equations."""


def relu_system(
    allocation: Allocation,
    weights: Mapping[str, np.ndarray],
    X: np.ndarray,
    Y: np.ndarray,
    box: Mapping[Cell, Interval] | None = None,
) -> ReluSystem:
    """The equations of one instance, in the arithmetic of its numbers.

    Parameters
    ----------
    allocation : Allocation
        An allocation of a network with ReLU layers.
    weights, X, Y : of fmpq
        The student's matrices, the samples, the labels.
    box : mapping of cell to Interval, optional
        Intervals of learnable weights; unbounded by default.

    Raises
    ------
    InputError
        For another network.
    ProductOfUnknowns
        If a learnable weight multiplies a unit that moves.
    """
    network = allocation.network
    if not isinstance(network, HasRectifiedLayers) or not network.rectified_layers:
        raise InputError(f"instances are decided for ReLU nets, not for a {network.title}")
    layers, masks = network.rectified_layers, allocation.masks
    m, zero = X.shape[1], X[0, 0] * 0
    learns = [np.asarray(masks[matrix]) != 0 for matrix, _ in layers]
    fixed = [
        np.where(own, zero, weights[matrix])
        for own, (matrix, _) in zip(learns, layers, strict=True)
    ]
    reach, moves = _paths(allocation, {name: weights[name] != 0 for name, _ in layers})
    units: list[tuple[int, int]] = []
    terms: list[tuple[Term, ...]] = []
    inner: dict[tuple[int, int], Any] = {}
    inputs: list[np.ndarray] = []
    idle: list[Cell] = []
    read: list[tuple[int, Cell, np.ndarray]] = []
    values, ones = X, np.full(m, zero + 1)
    # Places among `units` of the moving units of the layer before, by their numbers.
    moving: dict[int, int] = {}
    for number, ((matrix, bias), own, known) in enumerate(
        zip(layers, learns, fixed, strict=True), 1
    ):
        last = number == len(layers)
        biased = np.zeros(len(own), bool) if bias is None else np.asarray(masks[bias])[:, 0] != 0
        given = known @ values
        if bias is not None:
            given = given + np.where(biased[:, None], zero, weights[bias])
        now: dict[int, int] = {}
        for i, row in enumerate(own):
            its: list[Term] = [((matrix, i, int(j)), values[j]) for j in np.flatnonzero(row)]
            if biased[i]:
                assert bias is not None
                its.append(((bias, i, 0), ones))
            if not reach[number][i]:
                idle += [cell for cell, _ in its]
                continue
            product = next((j for j in moving if row[j]), None)
            if product is not None:
                raise ProductOfUnknowns(
                    f"{matrix}[{i}, {product}] learns and multiplies a unit whose input depends on "
                    "other learnable weights: the equations of a pattern are then bilinear; let "
                    "weights learn in units of which none is before the other"
                )
            if last:
                read += [(i, cell, multiplied) for cell, multiplied in its]
                continue
            if moves[number][i]:
                before = [j for j in moving if known[i, j] != 0]
                now[i] = len(units)
                inner |= {(now[i], moving[j]): known[i, j] for j in before}
                units.append((number, i))
                terms.append(tuple(its))
                inputs.append(given[i])
        if last:
            break
        values, moving = np.where(given > 0, given, zero), now
        values[list(now)] = zero
    outer = np.full((network.d, len(units)), zero)
    for j, place in moving.items():
        outer[:, place] = fixed[-1][:, j]
    return ReluSystem(
        allocation, weights, X, Y, tuple(units), tuple(terms), inner,
        np.array(inputs).reshape(len(units), m), outer, Y - given, tuple(read), tuple(idle),
        dict(box or {}),
    )  # fmt: skip
