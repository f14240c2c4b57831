r"""Tapes of systems whose values are sums of products (`numeric.chains.products`).

The tracker's unknowns are the weights alone.  With values v_c = Σ a b and the adjoints
``λ_c = ∂L/∂v_c`` of a label L, found by one sweep back, the Jacobian's entry for a weight is the
sum of ``b λ_c`` over the products in which the weight occurs.

Taylor coefficients of order j are ``v_{c,j} = g_c + Σ (a_0 b_j + a_j b_0)``, where g_c has the
terms of lower orders: convolutions, and products with the slopes of parameters.  By the adjoints
the part of a label's coefficient that does not depend on the weights' own is ``Σ_c λ_c g_c``; one
linear system then gives the weights' coefficients, and one pass through the values theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from numeric.chains.lanes.condensed import FLOOR
from numeric.chains.lanes.tape import LaneSystem, Layout, Tape, runs
from numeric.chains.products import ONE, PARAMETER, VALUE, Factor, ProductForm


class _Dots(NamedTuple):
    """Arguments of `Tape.dots`; a third step moves the left factor."""

    c: int
    c_step: int
    a: int
    a_step: int
    a_stride: int
    b: int
    b_step: int
    b_stride: int
    length: int
    dots: int

    def joined(self, other: _Dots) -> _Dots | None:
        """One instruction for both if the slots of `other` continue these, else None."""
        if self.a_stride != other.a_stride or self.b_stride != other.b_stride:
            return None
        gaps = [there - here for here, there in zip(self, other, strict=True)]
        c, a, b = gaps[0], gaps[2], gaps[5]
        if self.length != other.length or not c:
            return None
        if self.dots == other.dots == 1:
            return self._replace(c_step=c, a_step=a, b_step=b, dots=2)
        steps = (self.c_step, self.a_step, self.b_step)
        if other.dots > 1 and steps != (other.c_step, other.a_step, other.b_step):
            return None
        if (c, a, b) != tuple(step * self.dots for step in steps):
            return None
        return self._replace(dots=self.dots + other.dots)


class SlotSum(NamedTuple):
    """A sum of products for some samples: target slots, and (slot, step) of each factor.

    Products of different lists are never joined in one instruction: between slots of several arrays
    there may be a constant step by chance, and in affine tapes it is another one at another order.
    """

    to: int
    step: int
    samples: int
    products: Sequence[Sequence[tuple[int, int, int, int]]]

    def rows(self) -> list[list[_Dots]]:
        """The instructions of each list, one for each run of slots."""
        return [self._rows(some) for some in self.products]

    def _rows(self, some: Sequence[tuple[int, int, int, int]]) -> list[_Dots]:
        found = []
        for a_step, b_step in sorted({p[1::2] for p in some}):
            own = [p for p in some if p[1::2] == (a_step, b_step)]
            lefts, rights = [p[0] for p in own], [p[2] for p in own]
            for first, length, left, right in runs(lefts, rights):
                found.append(
                    _Dots(
                        self.to, self.step, lefts[first], a_step, left, rights[first], b_step,
                        right, length, self.samples,
                    )
                )  # fmt: skip
        return found


def write_sums(tape: Tape, sums: Sequence[SlotSum]) -> None:
    """Write sums that do not depend on one another, their instructions joined where possible."""
    for rows in zip(*(one.rows() for one in sums), strict=True):
        write_rows(tape, rows)


def write_rows(tape: Tape, lists: Sequence[Sequence[_Dots]]) -> None:
    """Write the instructions of sums: the first of every list, then the second of every list."""
    for k in range(max(map(len, lists), default=0)):
        last: _Dots | None = None
        for rows in lists:
            if k >= len(rows):
                continue
            both = None if last is None else last.joined(rows[k])
            if last is not None and both is None:
                _write(tape, last)
            last = rows[k] if both is None else both
        if last is not None:
            _write(tape, last)


def _add(tape: Tape, pairs: list[tuple[int, int]]) -> None:
    """Add the second slot of each pair to the first; adjacent ones in one instruction."""
    tape.each(tape.add, sorted(pairs, key=lambda pair: (pair[1] - pair[0], pair[0])))


def _write(tape: Tape, d: _Dots) -> None:
    if d.a_step and not d.b_step:
        # The common factor of all dot products is the left one.
        d = d._replace(
            a=d.b, a_step=0, a_stride=d.b_stride, b=d.a, b_step=d.a_step, b_stride=d.a_stride
        )
    tape.dots(
        d.c, d.c_step, d.a, d.a_stride, d.b, d.b_step, d.b_stride, d.length, d.dots, d.a_step
    )  # fmt: skip


class ProductWriter:
    """Writes the parts of a form's tapes; arguments are a tape and slots.

    Parameters
    ----------
    form : ProductForm
    now : int
        Slot of the parameter vector, unknowns included.
    one : int
        A slot that holds 1.
    """

    def __init__(self, form: ProductForm, now: int, one: int) -> None:
        self.form, self.now, self.one = form, now, one
        self.size = len(form.values) * form.samples
        self.unknown = {at: k for k, at in enumerate(form.places)}
        self.uses: list[list[tuple[Factor, int]]] = [[] for _ in form.values]
        self.cells: list[list[tuple[Factor, int]]] = [[] for _ in form.places]
        depends: set[int] = set()
        for c, terms in enumerate(form.values):
            for a, b in terms:
                for mine, other in ((a, b), (b, a)):
                    if mine.kind == VALUE:
                        self.uses[mine.at].append((other, c))
                        if mine.at in depends:
                            depends.add(c)
                if a.kind == PARAMETER and a.at in self.unknown:
                    self.cells[self.unknown[a.at]].append((b, c))
                    depends.add(c)
        # Values that depend on unknowns.
        self.depends = depends
        self.ancestors = [self._ancestors(row.value) for row in form.rows]

    def _ancestors(self, value: int) -> set[int]:
        found, open_ = {value}, [value]
        while open_:
            for term in self.form.values[open_.pop()]:
                for factor in term:
                    if factor.kind == VALUE and factor.at not in found:
                        found.add(factor.at)
                        open_.append(factor.at)
        return found

    def put(self, tape: Tape, w: int) -> None:
        """Write the unknowns at slot w to their places."""
        tape.each(tape.copy, ((self.now + at, w + k) for k, at in enumerate(self.form.places)))

    def _slot(self, factor: Factor, values: int, parameters: int) -> tuple[int, int]:
        """Slot and step of a factor."""
        if factor.kind == VALUE:
            return values + factor.at * self.form.samples, 1
        if factor.kind == ONE:
            return self.one, 0
        return parameters + factor.at, int(factor.batched)

    def _write_level(
        self, tape: Tape, targets: Sequence[tuple[int, list[tuple[Factor, int, int, int]]]]
    ) -> None:
        """Add to each target the products of a factor and slots (values, parameters, other).

        A product is a factor, the slots of values and parameters that it is read from, and the slot
        of a row of samples.
        """
        m, sums, pairs = self.form.samples, [], list[tuple[int, int]]()
        for to, products in targets:
            found = []
            for factor, values, parameters, other in products:
                if factor.kind == ONE:
                    pairs += [(to + s, other + s) for s in range(m)]
                else:
                    found.append((*self._slot(factor, values, parameters), other, 1))
            sums.append(SlotSum(to, 1, m, [found]))
        _add(tape, pairs)
        write_sums(tape, sums)

    def forward(self, tape: Tape, values: int) -> None:
        """The values of the point in `now`, written to slot values."""
        form, m = self.form, self.form.samples
        tape.clear(values, self.size)
        for level in form.levels:
            sums, pairs = [], list[tuple[int, int]]()
            for c in level:
                found = []
                for a, b in form.values[c]:
                    left, right = (self._slot(f, values, self.now) for f in (a, b))
                    if b.kind == ONE and left[1]:
                        pairs += [(values + c * m + s, left[0] + s) for s in range(m)]
                    else:
                        found.append((*left, *right))
                sums.append(SlotSum(values + c * m, 1, m, [found]))
            _add(tape, pairs)
            write_sums(tape, sums)

    def residual(self, tape: Tape, values: int, to: int) -> None:
        """Labels minus values on the equations, written to slot to."""
        tape.clear(to, self.form.equations)
        for row in self.form.rows:
            if row.y_at is not None:
                tape.copy(to, self.now + row.y_at, row.samples)
            tape.subtract(to, values + row.value * self.form.samples, row.samples)
            to += row.samples

    def adjoints(self, tape: Tape, values: int, to: int, *, every: bool) -> None:
        """The derivatives of each row's labels by the values, written to slot to row after row.

        `every` is whether those by values that do not depend on unknowns are needed.
        """
        form, m = self.form, self.form.samples
        tape.clear(to, self.size * len(form.rows))
        for row, ancestors in zip(form.rows, self.ancestors, strict=True):
            tape.set_one(to + row.value * m, row.samples)
            wanted = ancestors if every else ancestors & self.depends
            for level in reversed(form.levels):
                targets = []
                for v in level:
                    if v in wanted and v != row.value:
                        products = [
                            (factor, values, self.now, to + c * m)
                            for factor, c in self.uses[v]
                            if c in ancestors
                        ]
                        targets.append((to + v * m, products))
                self._write_level(tape, targets)
            to += self.size

    def jacobian(self, tape: Tape, values: int, adjoints: int, to: int) -> None:
        """The derivatives of the labels by the unknowns, written to slot to."""
        form, m, r = self.form, self.form.samples, len(self.form.places)
        tape.clear(to, form.equations * r)
        for row, ancestors in zip(form.rows, self.ancestors, strict=True):
            sums = []
            for k, cell in enumerate(self.cells):
                found = [
                    (*self._slot(factor, values, self.now), adjoints + c * m, 1)
                    for factor, c in cell
                    if c in ancestors
                ]
                sums.append(SlotSum(to + k, r, row.samples, [found]))
            write_sums(tape, sums)
            to += row.samples * r
            adjoints += self.size

    def lower_orders(
        self, tape: Tape, values: int, slope: int, x: int, order: int, to: int
    ) -> None:
        """The terms of an order that follow from lower ones, written to slot to.

        Coefficients of the values are at slot values, `size` for each order; of the unknowns at x.
        """
        form, m, r, S = self.form, self.form.samples, len(self.form.places), self.size
        first, before = values + S, values + (order - 1) * S
        sums, convolutions = [], []
        tape.clear(to, S)
        for c, terms in enumerate(form.values):
            moved, rows = list[tuple[int, int, int, int]](), list[_Dots]()
            for a, b in terms:
                if a.kind == PARAMETER and b.kind == VALUE:
                    moved.append((*self._slot(a, 0, slope), before + b.at * m, 1))
                elif a.kind == PARAMETER and order == 1:
                    moved.append((*self._slot(a, 0, slope), self.one, 0))
                if order == 1 or b.kind != VALUE:
                    continue
                right = (before + b.at * m, 1, -S, order - 1, m)
                if a.kind == VALUE:
                    rows.append(_Dots(to + c * m, 1, first + a.at * m, 1, S, *right))
                elif a.kind == PARAMETER and a.at in self.unknown:
                    k = self.unknown[a.at]
                    rows.append(_Dots(to + c * m, 1, x + r + k, 0, r, *right))
            sums.append(SlotSum(to + c * m, 1, m, [moved]))
            convolutions.append(rows)
        write_sums(tape, sums)
        write_rows(tape, convolutions)

    def own_order(self, tape: Tape, values: int, x: int, to: int) -> None:
        """Add the terms of an order itself, of unknowns at slot x, to the values at slot to."""
        form, m = self.form, self.form.samples
        for level in form.levels:
            sums, pairs = [], list[tuple[int, int]]()
            for c in level:
                own, linear, product = (list[tuple[int, int, int, int]]() for _ in range(3))
                for a, b in form.values[c]:
                    if a.kind == VALUE and b.kind == ONE:
                        pairs += [(to + c * m + s, to + a.at * m + s) for s in range(m)]
                        continue
                    if a.kind == PARAMETER and a.at in self.unknown:
                        own.append((x + self.unknown[a.at], 0, *self._slot(b, values, 0)))
                    if b.kind == VALUE:
                        left = self._slot(a, values, self.now)
                        (product if a.kind == VALUE else linear).append((*left, to + b.at * m, 1))
                    if a.kind == VALUE:
                        product.append((*self._slot(b, values, 0), to + a.at * m, 1))
                sums.append(SlotSum(to + c * m, 1, m, [own, linear, product]))
            _add(tape, pairs)
            write_sums(tape, sums)

    def collected(self, tape: Tape, adjoints: int, terms: int, to: int) -> None:
        """``Σ_c λ_c g_c`` for each equation, of terms g at a slot, written to slot to."""
        m, S = self.form.samples, self.size
        tape.clear(to, self.form.equations)
        for row in self.form.rows:
            tape.dots(to, 1, adjoints, m, terms, 1, m, len(self.form.values), row.samples, 1)
            to += row.samples
            adjoints += S


def make_products(
    form: ProductForm, groups: Sequence[int], order: int, lifts: tuple[int, int] = (0, 0)
) -> LaneSystem:
    """The system of a form, for Taylor series of an order.

    Parameters
    ----------
    form : ProductForm
    groups : sequence of int
        The group of each unknown for error norms.
    order : int
    lifts : (int, int), optional
        First unknown, and number, of those handed over once more.
    """
    take, r, rows = Layout(), len(form.places), len(form.rows)
    many = max([form.size, *(at + 1 for at in form.places)])
    now, base, slope = (take.take(many) for _ in range(3))
    one, scratch = take.take(1), take.take(2)
    write = ProductWriter(form, now, one)
    S = write.size
    x, values = take.take((order + 1) * r), take.take((order + 1) * S)
    new, step, unit, scale = (take.take(r) for _ in range(4))
    new_values, adjoints = take.take(S), take.take(S * rows)
    jacobian, side = take.take(r * r), take.take(r)

    def set_parameters(tape: Tape, w: int) -> None:
        tape.line(now, base, slope, form.size)
        write.put(tape, w)

    def set_factors(tape: Tape, at: int, *, every: bool) -> None:
        write.adjoints(tape, at, adjoints, every=every)
        write.jacobian(tape, at, adjoints, jacobian)
        tape.factor(jacobian, r)

    point = Tape()
    point.set_one(one)
    for at in form.places:
        # Unknowns are no parameters that move.
        point.clear(slope + at, 1)
    set_parameters(point, x)
    write.forward(point, values)

    def expand(tape: Tape, j: int) -> None:
        """Taylor coefficients of order j."""
        to, terms = x + j * r, values + j * S
        write.lower_orders(tape, values, slope, x, j, terms)
        write.collected(tape, adjoints, terms, side)
        tape.clear(to, r)
        tape.subtract(to, side, r)
        if j == 1:
            at = to
            for row in form.rows:
                if row.y_at is not None:
                    tape.add(at, slope + row.y_at, row.samples)
                at += row.samples
        tape.solve(to, jacobian, r)
        write.own_order(tape, values, to, terms)

    series = Tape()
    set_factors(series, values, every=True)
    expand(series, 1)

    def newton(fresh: bool) -> np.ndarray:
        tape = Tape()
        set_parameters(tape, new)
        write.forward(tape, new_values)
        write.residual(tape, new_values, step)
        if fresh:
            set_factors(tape, new_values, every=False)
        tape.solve(step, jacobian, r)
        tape.add(new, step, r)
        return tape.table()

    return LaneSystem(
        parameters=form.size, size=r, unknowns=r, order=order, base=base, slope=slope, x=x,
        new=new, step=step, unit=unit, scale=scale, scratch=scratch, low=0, slots=take.slots,
        groups=np.array(groups, np.int64), floors=np.full(max(groups, default=-1) + 1, FLOOR**2),
        lift=lifts[0], lifts=lifts[1], load=Tape().table(), point=point.table(),
        series=series.table(), orders=Tape.affine(expand), newton=newton(True),
        again=newton(False),
    )  # fmt: skip
