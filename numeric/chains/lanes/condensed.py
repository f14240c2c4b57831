"""Tapes of chains: states, residuals, the condensed Jacobian, Taylor coefficients.

The unknowns are the learnable weights w *and* the states S_1, …, S_K (lifted Newton,
Albersmeyer & Diehl 2010).  The lifted equations ``S_k = M_k S_{k-1}``, ``Y = D Z`` are
bilinear in (w, S); eliminating the state increments ("condensing") leaves the same r×r
linear system as with w alone, whose column for a cell (i, j) of W is, in the RNN,
``Σ_δ (D W^δ)[:, i] ⊗ H_δ[j, :]`` with ``H_δ = Σ_k S_{k-1} P_{k+δ}``.

Because the system is bilinear, the Taylor coefficients of a solution path are cheap:
order j solves the same linear system, and its right-hand side is a convolution of lower orders.

References
----------
.. [1] J. Albersmeyer, M. Diehl, "The lifted Newton method and its application in
   optimization", SIAM J. Optim. 20 (2010).
.. [2] S. Telen, M. Van Barel, J. Verschelde, "A robust numerical path tracking algorithm for
   polynomial homotopy continuation", SIAM J. Sci. Comput. 42 (2020).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from numeric.chains.lanes.tape import LaneSystem, Layout, Tape, runs
from numeric.chains.table import IN_D, IN_M, IN_S0, ChainTable

if TYPE_CHECKING:
    from numeric.chains.chain import Chain

# Weights below this size are measured absolutely; states relative to their size.
FLOOR = 0.1
_LEAST = 1e-150


class ChainWriter:
    """Writes the parts of a chain's tapes; arguments are a tape and slots.

    Parameters
    ----------
    chain : ChainTable
    now : int
        Slot of the parameter vector, learnable cells included.
    labels : int
        An array of d×m slots.
    each : bool
        Whether the P_k are the blocks of an identity matrix, with as many samples as inputs: then
        the columns of Z are those of the states.
    """

    def __init__(self, chain: ChainTable, now: int, labels: int, *, each: bool = False) -> None:
        self.chain = chain
        self.now, self.labels, self.each = now, labels, each
        self.widths = [int(n) for n in chain.widths]
        self.s_at = [int(at) for at in chain.s_at]
        self.m_at = [int(at) for at in chain.m_at]
        self.p_at = [int(at) for at in chain.p_at]
        self.cells: list[list[int]] = chain.cells.tolist()
        self.equations: list[list[int]] = chain.equations.tolist()

    @property
    def sums(self) -> bool:
        """Whether ``Z = Σ_k S_k P_k`` must be computed."""
        return self.chain.read_all and not self.each

    def put(self, tape: Tape, w: int) -> None:
        """Write the weights at slot w to their cells."""
        tape.each(tape.copy, ((self.now + cell[4], w + v) for v, cell in enumerate(self.cells)))

    def products(self, tape: Tape, p: int, source: int, target: int) -> None:
        """``target_k += M_k source_{k-1}`` for k = 1 … K, with the M_k of parameters at slot p."""
        n, s_at, c = self.widths, self.s_at, self.chain.columns
        for k in range(1, self.chain.steps + 1):
            tape.matmul(target + s_at[k], p + self.m_at[k], source + s_at[k - 1], n[k], n[k - 1], c)

    def states(self, tape: Tape, s: int) -> None:
        """States of the point in `now`, written to slot s."""
        tape.clear(s, self.chain.states)
        tape.copy(s, self.now + self.chain.s0_at, self.s_at[1])
        self.products(tape, self.now, s, s)

    def read_out(self, tape: Tape, s: int, z: int) -> None:
        """``Z`` of the states at slot s, written to slot z."""
        t, c = self.chain, self.chain.columns
        if self.sums:
            tape.clear(z, t.z_size)
            self._sum(tape, self.now, s, z)
        elif self.each:
            for k in range(1, t.steps + 1):
                for i in range(self.widths[k]):
                    tape.copy(z + i * t.samples + (t.steps - k) * c, s + self.s_at[k] + i * c, c)
        else:
            tape.copy(z, s + self.s_at[t.steps], t.z_size)

    def _sum(self, tape: Tape, p: int, s: int, z: int) -> None:
        """``Z += Σ_k S_k P_k`` with the P_k of parameters at slot p."""
        K, c, m = self.chain.steps, self.chain.columns, self.chain.samples
        step = self.s_at[K] - self.s_at[K - 1]
        for i in range(self.widths[K]):
            for g in range(c):
                tape.dots(
                    z + i * m, 1, s + self.s_at[1] + i * c + g, step,
                    p + self.p_at[1] + g * m, 1, c * m, K, m,
                )  # fmt: skip

    def all_labels(self, tape: Tape, z: int) -> None:
        """``D Z``, written to `labels`."""
        t = self.chain
        tape.clear(self.labels, t.labels * t.samples)
        tape.matmul(self.labels, self.now + t.d_at, z, t.labels, self.widths[t.steps], t.samples)

    def residual(self, tape: Tape, z: int, to: int) -> None:
        """``Y - D Z`` on the equations, written to slot to."""
        t = self.chain
        self.all_labels(tape, z)
        places = [a * t.samples + x for a, x in self.equations]
        tape.each(tape.copy, ((to + e, self.now + t.y_at + at) for e, at in enumerate(places)))
        tape.each(tape.subtract, ((to + e, self.labels + at) for e, at in enumerate(places)))

    def jacobian(self, tape: Tape, s: int, z: int, adjoints: int, hidden: int, to: int) -> None:
        """The condensed Jacobian at the point in `now` with states at slot s and Z at slot z.

        `adjoints` is an array for ``D M_K … M_{K-q+1}``, `hidden` one for
        ``H_q = Σ_k S_{k-1} P_{k+q}`` (`jacobian_sizes`).
        """
        t, n, s_at = self.chain, self.widths, self.s_at
        K, c, d, m, r, wide = t.steps, t.columns, t.labels, t.samples, t.unknowns, t.widest
        tape.copy(adjoints, self.now + t.d_at, d * n[K])
        for q in range(1, K + 1):
            at = adjoints + q * d * wide
            tape.clear(at, d * n[K - q])
            tape.matmul(
                at, at - d * wide, self.now + self.m_at[K - q + 1], d, n[K - q + 1], n[K - q]
            )
        if self.sums:
            for q in range(K):
                at = hidden + q * wide * m
                tape.clear(at, n[0] * m)
                for k in range(1, K - q + 1):
                    tape.matmul(at, s + s_at[k - 1], self.now + self.p_at[k + q], n[0], c, m)
        tape.clear(to, r * r)
        columns: dict[int, list[tuple[int, int]]] = {}
        for e, (a, x) in enumerate(self.equations):
            columns.setdefault(x, []).append((a, e))
        for v, (kind, step, i, j, _) in enumerate(self.cells):
            for x, found in columns.items():
                rows, numbers = [a for a, _ in found], [e for _, e in found]
                if kind == IN_D:
                    for a, e in found:
                        if a == i:
                            tape.add(to + e * r + v, z + j * m + x)
                    continue
                # The entry of row a is Σ_q (left + a · width + q · stride) (right + q · back).
                left, stride, width = adjoints + i, d * wide, n[0]
                right, back, count = hidden + j * m + x, wide * m, K
                if kind == IN_M and self.each:
                    count = K - x // c
                    right, back = s + s_at[count - 1] + j * c + x % c, -n[0] * c
                elif kind == IN_M and not self.sums:
                    width, count = n[step], 1
                    left += (K - step) * d * wide
                    right = s + s_at[step - 1] + j * c + x
                elif kind == IN_S0 and self.sums:
                    left += d * wide
                    right, back = self.now + self.p_at[1] + j * m + x, c * m
                elif kind == IN_S0:
                    if x % c == j:
                        for a, e in found:
                            at = left + (K - x // c) * d * wide + a * width
                            tape.add(to + e * r + v, at)
                    continue
                for first, length, over, down in runs(rows, numbers):
                    tape.dots(
                        to + numbers[first] * r + v, down * r, right, back,
                        left + rows[first] * width, over * width, stride, count, length,
                    )  # fmt: skip

    def places_of(self, v: int) -> list[tuple[int, int, int, int]]:
        """Where cell v of an M_k acts: (target, source, step of both, count) among the states.

        ``S_k[i, x] += w S_{k-1}[j, x]`` for every step k that the cell acts in.
        """
        t, s_at = self.chain, self.s_at
        _, step, i, j, _ = self.cells[v]
        c = t.columns
        if step or c > t.steps:
            steps = [step] if step else range(1, t.steps + 1)
            return [(s_at[k] + i * c, s_at[k - 1] + j * c, 1, c) for k in steps]
        size = self.widths[0] * c
        return [(s_at[1] + i * c + x, j * c + x, size, t.steps) for x in range(c)]

    def apply_cells(self, tape: Tape, w: int, source: int, target: int) -> None:
        """Add the learnable cells with values at slot w, times the states at `source`."""
        c = self.chain.columns
        for v, (kind, _, i, j, _) in enumerate(self.cells):
            if kind == IN_S0:
                tape.add(target + i * c + j, w + v)
            elif kind == IN_M:
                for to, at, step, count in self.places_of(v):
                    tape.dots(target + to, step, w + v, 0, source + at, step, 0, 1, count)

    def convolve(self, tape: Tape, x: int, size: int, order: int, target: int) -> None:
        """Add ``Σ_{q=1}^{order-1} w_q S_{k-1, order-q}`` of the learnable cells to each state.

        Coefficients j of weights, then states, are at slot ``x + j size``.
        """
        r = self.chain.unknowns
        for v, (kind, *_) in enumerate(self.cells):
            for to, at, step, count in self.places_of(v) if kind == IN_M else ():
                tape.dots(
                    target + to, step, x + size + v, size,
                    x + (order - 1) * size + r + at, step, -size, order - 1, count,
                )  # fmt: skip

    def read_out_slope(self, tape: Tape, slope: int, s: int, z: int) -> None:
        """Add to slot z the states at slot s times the slope of P."""
        if self.sums:
            self._sum(tape, slope, s, z)

    def label_series(
        self, tape: Tape, new_z: int, z: int, x: int, size: int, slope: int, order: int
    ) -> None:
        """Labels of an order without the terms of its own weights, in `labels`.

        `new_z` holds Z of this order as far as it is known, `z` its lower orders.
        """
        t, m, zs = self.chain, self.chain.samples, self.chain.z_size
        K, d = t.steps, t.labels
        tape.clear(self.labels, d * m)
        tape.matmul(self.labels, self.now + t.d_at, new_z, d, self.widths[K], m)
        before = z + (order - 1) * zs
        tape.matmul(self.labels, slope + t.d_at, before, d, self.widths[K], m)
        if order == 1:
            return
        for v, (kind, _, i, j, _) in enumerate(self.cells):
            if kind == IN_D:
                tape.dots(
                    self.labels + i * m, 1, x + size + v, size, before + j * m, 1, -zs,
                    order - 1, m,
                )  # fmt: skip

    def label_side(self, tape: Tape, slope: int, order: int, to: list[int]) -> None:
        """The right-hand sides of the label equations, written to slots to."""
        t = self.chain
        for slot in to:
            tape.clear(slot, 1)
        places = [a * t.samples + x for a, x in self.equations]
        tape.each(
            tape.subtract,
            ((slot, self.labels + at) for slot, at in zip(to, places, strict=True)),
        )
        if order == 1:
            tape.each(
                tape.add,
                ((slot, slope + t.y_at + at) for slot, at in zip(to, places, strict=True)),
            )


def jacobian_sizes(t: ChainTable) -> tuple[int, int]:
    """Numbers of slots of the arrays `adjoints` and `hidden` of `ChainWriter.jacobian`."""
    return (t.steps + 1) * t.labels * t.widest, max(t.steps, 1) * t.widest * t.samples


def error_groups(chain: Chain, t: ChainTable) -> tuple[np.ndarray, np.ndarray]:
    """Groups of weights and states for error norms, and the squares of their smallest sizes.

    The weights of each row form a group, and so does each state except S_0, which is not an
    unknown.
    """
    rows = [(int(kind), int(k), int(i)) for kind, k, i, _, _ in chain.cells]
    index = {row: g for g, row in enumerate(sorted(set(rows)))}
    state = np.repeat(np.arange(t.steps + 1), np.diff(t.s_at)) - 1
    state[state >= 0] += len(index)
    groups = np.concatenate([np.array([index[row] for row in rows], np.int64), state])
    floors = np.array([FLOOR**2] * len(index) + [_LEAST**2] * t.steps)
    return groups, floors


def make_condensed(chain: Chain, order: int) -> LaneSystem:
    """The condensed lifted system of a chain, for Taylor series of an order."""
    t = chain.table
    r, states, zs = t.unknowns, t.states, t.z_size
    size = r + states
    take = Layout()
    now, base, slope = (take.take(chain.size) for _ in range(3))
    x, z = take.take((order + 1) * size), take.take((order + 1) * zs)
    new, step = take.take(size), take.take(size)
    rest, sigma, new_states = (take.take(states) for _ in range(3))
    new_z, labels, jacobian = take.take(zs), take.take(t.labels * t.samples), take.take(r * r)
    adjoints, hidden = (take.take(count) for count in jacobian_sizes(t))
    unit, scale, scratch = take.take(size), take.take(size), take.take(2)
    each = chain.read_all and chain.samples == chain.steps * chain.columns
    write = ChainWriter(t, now, labels, each=each)

    def set_parameters(tape: Tape, w: int) -> None:
        tape.line(now, base, slope, chain.size)
        write.put(tape, w)

    point = Tape()
    for cell in write.cells:
        # Learnable cells do not move.
        point.clear(slope + cell[4], 1)
    set_parameters(point, x)
    write.states(point, x + r)
    write.read_out(point, x + r, z)

    def expand(tape: Tape, j: int) -> None:
        """Taylor coefficients of order j."""
        to, zt = x + j * size, z + j * zs
        before = to - size + r
        # All terms of this order except those of the new weights.
        tape.clear(rest, states)
        if j == 1:
            tape.copy(rest, slope + t.s0_at, write.s_at[1])
        write.products(tape, slope, before, rest)
        if j > 1:
            write.convolve(tape, x, size, j, rest)
        tape.copy(sigma, rest, states)
        write.products(tape, now, sigma, sigma)
        write.read_out(tape, sigma, new_z)
        write.read_out_slope(tape, slope, before, new_z)
        write.label_series(tape, new_z, z, x, size, slope, j)
        write.label_side(tape, slope, j, [to + e for e in range(r)])
        tape.solve(to, jacobian, r)
        tape.copy(to + r, rest, states)
        write.apply_cells(tape, to, x + r, to + r)
        write.products(tape, now, to + r, to + r)
        write.read_out(tape, to + r, zt)
        write.read_out_slope(tape, slope, before, zt)

    series = Tape()
    write.jacobian(series, x + r, z, adjoints, hidden, jacobian)
    series.factor(jacobian, r)
    expand(series, 1)

    def newton(fresh: bool) -> np.ndarray:
        """``S⁺_k = M_k S⁺_{k-1} + δM_k S_{k-1}`` after a step δ of the weights."""
        tape, guess = Tape(), new + r
        set_parameters(tape, new)
        write.states(tape, new_states)
        write.read_out(tape, new_states, new_z)
        write.residual(tape, new_z, step)
        if fresh:
            write.jacobian(tape, guess, new_z, adjoints, hidden, jacobian)
            tape.factor(jacobian, r)
        tape.solve(step, jacobian, r)
        tape.clear(new_states, states)
        tape.copy(new_states, now + t.s0_at, write.s_at[1])
        write.apply_cells(tape, step, guess, new_states)
        write.products(tape, now, new_states, new_states)
        tape.copy(step + r, new_states, states)
        tape.subtract(step + r, guess, states)
        tape.copy(guess, new_states, states)
        tape.add(new, step, r)
        return tape.table()

    groups, floors = error_groups(chain, t)
    return LaneSystem(
        parameters=chain.size, size=size, unknowns=r, order=order, base=base, slope=slope, x=x,
        new=new, step=step, unit=unit, scale=scale, scratch=scratch, low=0, slots=take.slots,
        groups=groups, floors=floors, lift=0, lifts=0, load=Tape().table(), point=point.table(),
        series=series.table(), orders=Tape.affine(expand), newton=newton(True),
        again=newton(False),
    )  # fmt: skip
