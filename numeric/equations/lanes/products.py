r"""Tapes of systems whose values are sums of products (`numeric.equations.products`).

The equations are the labels of the weights, which are the only unknowns of the linear systems.
With values v_c = Σ a b and the adjoints ``λ_c = ∂L/∂v_c`` of a label L, found by one sweep back,
the Jacobian's entry for a weight is the sum of ``b λ_c`` over the products in which the weight
occurs.  Adjoints that are the same sums of products, of several labels or in several steps of a
recurrent net, are computed once.

Taylor coefficients of order j are ``v_{c,j} = g_c + Σ (a_0 b_j + a_j b_0)``, where g_c has the
terms of lower orders: convolutions, and products with the slopes of parameters.  One pass through
the values without the weights' own coefficients gives the right-hand side of a linear system for
these, a second pass the values' coefficients.

*Kept values.*  If values are coordinates of the tracker too, a Newton step is that of the lifted
system (lifted Newton [1]_): the Jacobian is taken at the predicted values, and the values after the
step follow from it, ``v + J_v δ``.  Paths with large weights need this: the values a tracker
predicts are more accurate than those that it computes from its weights.

References
----------
.. [1] J. Albersmeyer, M. Diehl, "The lifted Newton method and its application in
   optimization", SIAM J. Optim. 20 (2010).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from numeric.equations.lanes.tape import LaneSystem, Layout, Tape, runs
from numeric.equations.products import ONE, PARAMETER, VALUE, Factor, LabelRow, ProductForm

# Weights below this size are measured absolutely; kept values relative to their size.
FLOOR = 0.1
_LEAST = 1e-150

# A slot, and 1 if the numbers of all samples follow each other there, 0 if there is only one.
Operand = tuple[int, int]


class Series(NamedTuple):
    """Slots of Taylor coefficients: of order 0, and the step from one order to the next."""

    at: int
    stride: int

    def of(self, order: int) -> int:
        """Slot of the coefficients of an order."""
        return self.at + order * self.stride


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

    def split(self) -> list[_Dots]:
        """One instruction for each sample."""
        steps = (self.c_step, self.a_step, self.b_step)
        return [
            self._replace(c=c, a=a, b=b, dots=1)
            for c, a, b in (
                (at + s * step for at, step in zip((self.c, self.a, self.b), steps, strict=True))
                for s in range(self.dots)
            )
        ]


class SlotSum(NamedTuple):
    """A sum of products for some samples: target slots, and the operands of each product.

    Products of different lists are never joined in one instruction: between slots of several arrays
    there may be a constant step by chance, and in affine tapes it is another one at another order.
    """

    to: int
    step: int
    samples: int
    products: Sequence[Sequence[tuple[Operand, Operand]]]

    def rows(self) -> list[list[_Dots]]:
        """The instructions of each list, one for each run of slots."""
        return [self._rows(some) for some in self.products]

    def _rows(self, some: Sequence[tuple[Operand, Operand]]) -> list[_Dots]:
        found = []
        for a_step, b_step in sorted({(a[1], b[1]) for a, b in some}):
            own = [(a[0], b[0]) for a, b in some if (a[1], b[1]) == (a_step, b_step)]
            lefts, rights = [a for a, _ in own], [b for _, b in own]
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


def write_across(tape: Tape, lists: Sequence[Sequence[_Dots]]) -> None:
    """`write_rows`, but sample by sample if there are more lists than samples."""
    samples = max((row.dots for rows in lists for row in rows), default=0)
    if len(lists) <= samples:
        write_rows(tape, lists)
        return
    parts = [[row.split() for row in rows] for rows in lists]
    for s in range(samples):
        write_rows(tape, [[row[s] for row in rows] for rows in parts])


def _write(tape: Tape, d: _Dots) -> None:
    if d.a_step and not d.b_step:
        # The common factor of all dot products is the left one.
        d = d._replace(
            a=d.b, a_step=0, a_stride=d.b_stride, b=d.a, b_step=d.a_step, b_stride=d.a_stride
        )
    tape.dots(
        d.c, d.c_step, d.a, d.a_stride, d.b, d.b_step, d.b_stride, d.length, d.dots, d.a_step
    )  # fmt: skip


class _Sweep:
    """The adjoints of some values, their outputs, by all values that depend on unknowns.

    Parameters
    ----------
    write : ProductWriter
    outputs : sequence of (int, int)
        Values, and numbers of samples.

    Attributes
    ----------
    size : int
        Number of slots of the adjoints.
    products : int
        Number of products for adjoints and derivatives.
    """

    def __init__(self, write: ProductWriter, outputs: Sequence[tuple[int, int]]) -> None:
        form, m = write.form, write.form.samples
        self.write, self.outputs = write, outputs
        known = dict[Any, int]()
        # The adjoint of each value that an output depends on.
        self.own: list[dict[int, int]] = []
        moving = [v for level in reversed(form.levels) for v in level if v in write.depends]
        for output, samples in outputs:
            # That of the output itself is 1 for its samples.
            own = {output: known.setdefault(samples, len(known))}
            for v in moving:
                terms = tuple([(factor, own[c]) for factor, c in write.uses[v] if c in own])
                if terms:
                    own[v] = known.setdefault(terms, len(known))
            self.own.append(own)
        self._sums: list[Any] = list(known)
        self._places: list[Operand] = []
        self._depth: list[int] = []
        self.size = self.products = 0
        for key in known:
            terms = () if isinstance(key, int) else key
            self._depth.append(max((self._depth[k] + 1 for _, k in terms), default=0))
            if key == m:
                # The slot that holds 1.
                self._places.append((-1, 0))
                continue
            batched = not terms or any(f.batched or self._places[k][1] for f, k in terms)
            self._places.append((self.size, int(batched)))
            self.size += m if batched else 1
            self.products += len(terms) * (m if batched else 1)
        for (_, samples), own in zip(outputs, self.own, strict=True):
            self.products += samples * sum(c in own for cell in write.cells for _, c in cell)

    def adjoint(self, number: int, to: int) -> Operand:
        """An adjoint, with the array of adjoints at a slot."""
        at, step = self._places[number]
        return (self.write.one, 0) if at < 0 else (to + at, step)

    def adjoints(self, tape: Tape, values: int, to: int) -> None:
        """The adjoints at some values, written to slot to."""
        write, m = self.write, self.write.form.samples
        tape.clear(to, self.size)
        for depth in range(max(self._depth, default=0) + 1):
            targets = []
            for number, terms in enumerate(self._sums):
                if self._depth[number] != depth:
                    continue
                at, step = self.adjoint(number, to)
                if not isinstance(terms, int):
                    products = [
                        (write.operand(f, values, write.now), self.adjoint(k, to)) for f, k in terms
                    ]
                    targets.append((at, m if step else 1, [products]))
                elif terms != m:
                    tape.set_one(at, terms)
            write.add(tape, targets)

    def derivatives(self, tape: Tape, values: int, adjoints: int, to: int) -> None:
        """The derivatives of the outputs by the unknowns, written to slot to."""
        write, r = self.write, len(self.write.cells)
        groups: dict[Any, list[tuple[int, int, dict[int, int]]]] = {}
        at = to
        for (output, samples), own in zip(self.outputs, self.own, strict=True):
            groups.setdefault((samples, frozenset(own) - {output}), []).append((at, samples, own))
            at += samples * r
        tape.clear(to, at - to)
        for group in groups.values():
            for k, cell in enumerate(write.cells):
                lists = []
                for at, samples, own in group:
                    products = [
                        (write.operand(f, values, write.now), self.adjoint(own[c], adjoints))
                        for f, c in cell
                        if c in own
                    ]
                    lists += SlotSum(at + k, r, samples, [products]).rows()
                write_across(tape, lists)


class ProductWriter:
    """Writes the parts of a form's tapes; arguments are a tape and slots.

    Parameters
    ----------
    form : ProductForm
    now : int
        Slot of the parameter vector, unknowns included.
    one : int
        A slot that holds 1.

    Attributes
    ----------
    size, inner : int
        Numbers of all values, and of those that are not labels; the samples of a value follow each
        other.
    cells : list of list of (Factor, int)
        For each unknown its products: the other factor, and the value whose product it is.
    depends : set of int
        Values that depend on unknowns.
    """

    def __init__(self, form: ProductForm, now: int, one: int) -> None:
        self.form, self.now, self.one = form, now, one
        self.size = len(form.values) * form.samples
        self.inner = self.size - len(form.rows) * form.samples
        self.unknown = {at: k for k, at in enumerate(form.places)}
        self.uses: list[list[tuple[Factor, int]]] = [[] for _ in form.values]
        self.cells: list[list[tuple[Factor, int]]] = [[] for _ in form.places]
        self.depends: set[int] = set()
        for c, terms in enumerate(form.values):
            for a, b in terms:
                for mine, other in ((a, b), (b, a)):
                    if mine.kind == VALUE:
                        self.uses[mine.at].append((other, c))
                        if mine.at in self.depends:
                            self.depends.add(c)
                if a.kind == PARAMETER and a.at in self.unknown:
                    self.cells[self.unknown[a.at]].append((b, c))
                    self.depends.add(c)

    @property
    def scratch(self) -> int:
        """Number of slots that `jacobian` needs."""
        sweep, parts = self._derivatives
        return sweep.size + len(parts) * self.form.samples * len(self.form.places)

    @cached_property
    def _derivatives(self) -> tuple[_Sweep, dict[int, int]]:
        """The sweep of the labels, or that of values of which they are linear combinations.

        The latter is taken if it is cheaper: the derivatives of the labels are then the same
        combinations of those of the values, which are numbered.
        """
        form, r = self.form, len(self.form.places)
        labels_sweep = _Sweep(self, [(row.value, row.samples) for row in form.rows])
        terms = [term for row in form.rows for term in form.values[row.value]]
        parts = sorted({b.at for _, b in terms if b.kind == VALUE})
        fixed = all(a.kind != VALUE and a.at not in self.unknown for a, b in terms)
        labels = {row.value for row in form.rows}
        if not fixed or any(c not in labels for v in parts for _, c in self.uses[v]):
            return labels_sweep, {}
        sweep = _Sweep(self, [(v, form.samples) for v in parts])
        if sweep.products + len(terms) * r >= labels_sweep.products:
            return labels_sweep, {}
        return sweep, {v: k for k, v in enumerate(parts)}

    def put(self, tape: Tape, w: int) -> None:
        """Write the unknowns at slot w to their places."""
        tape.each(tape.copy, ((self.now + at, w + k) for k, at in enumerate(self.form.places)))

    def operand(self, factor: Factor, values: int, parameters: int) -> Operand:
        """A factor, with values and parameters from these slots on."""
        if factor.kind == VALUE:
            return values + factor.at * self.form.samples, 1
        if factor.kind == ONE:
            return self.one, 0
        return parameters + factor.at, int(factor.batched)

    def add(
        self, tape: Tape,
        targets: Iterable[tuple[int, int, Sequence[Sequence[tuple[Operand, Operand]]]]],
    ) -> None:  # fmt: skip
        """Add lists of products to targets: (slot, number of samples, lists)."""
        sums, pairs = list[SlotSum](), list[tuple[int, int]]()
        for to, samples, lists in targets:
            left = []
            for products in lists:
                kept = []
                for a, b in products:
                    a, b = (b, a) if a[0] == self.one else (a, b)
                    if b[0] == self.one and (a[1] or samples == 1):
                        pairs += [(to + s, a[0] + s) for s in range(samples)]
                    else:
                        kept.append((a, b))
                left.append(kept)
            sums.append(SlotSum(to, 1, samples, left))
        tape.each(tape.add, sorted(pairs, key=lambda pair: (pair[1] - pair[0], pair[0])))
        write_sums(tape, sums)

    def forward(
        self, tape: Tape, values: int, to: int, of: Callable[[int], bool] | None = None
    ) -> None:
        """The values of the point in `now`, written to slot to.

        Factors that are values are read at slot values, which may be the same; `of` chooses values.
        """
        form, m = self.form, self.form.samples
        if of is None:
            tape.clear(to, self.size)
        for level in form.levels:
            targets = []
            for c in level:
                if of is None or of(c):
                    if of is not None:
                        tape.clear(to + c * m, m)
                    products = [
                        (self.operand(a, values, self.now), self.operand(b, values, self.now))
                        for a, b in form.values[c]
                    ]
                    targets.append((to + c * m, m, [products]))
            self.add(tape, targets)

    def rows(self) -> Iterable[tuple[int, LabelRow]]:
        """The number of each row's first equation, and the row."""
        at = 0
        for row in self.form.rows:
            yield at, row
            at += row.samples

    def residual(self, tape: Tape, values: int, to: int, labels: int | None) -> None:
        """Labels minus values on the equations, written to slot to.

        The labels are those of a parameter vector at slot `labels`; without one they are 0.
        """
        if labels is None:
            tape.clear(to, self.form.equations)
        for at, row in self.rows():
            if labels is not None and row.y_at is None:
                tape.clear(to + at, row.samples)
            elif labels is not None and row.y_at is not None:
                tape.copy(to + at, labels + row.y_at, row.samples)
            tape.subtract(to + at, values + row.value * self.form.samples, row.samples)

    def jacobian(self, tape: Tape, values: int, scratch: int, to: int) -> None:
        """The derivatives of the labels by the unknowns at some values, written to slot to."""
        m, r, (sweep, numbers) = self.form.samples, len(self.form.places), self._derivatives
        sweep.adjoints(tape, values, scratch)
        if not numbers:
            sweep.derivatives(tape, values, scratch, to)
            return
        parts = scratch + sweep.size
        sweep.derivatives(tape, values, scratch, parts)
        tape.clear(to, self.form.equations * r)
        sums = []
        for at, row in self.rows():
            for s in range(row.samples):
                products = []
                for a, b in self.form.values[row.value]:
                    if b.kind == VALUE:
                        slot, step = self.operand(a, values, self.now)
                        part = parts + (numbers[b.at] * m + s) * r
                        products.append(((slot + s * step, 0), (part, 1)))
                sums.append(SlotSum(to + (at + s) * r, 1, r, [products]))
        write_sums(tape, sums)

    def lower_orders(
        self, tape: Tape, values: Series, slope: int, x: Series, order: int, to: int
    ) -> None:
        """The terms of an order that follow from lower ones, written to slot to."""
        form, m = self.form, self.form.samples
        before = values.of(order - 1)
        sums, convolutions = [], []
        tape.clear(to, self.size)
        for c, terms in enumerate(form.values):
            moved, rows = list[tuple[Operand, Operand]](), list[_Dots]()
            for a, b in terms:
                if a.kind == PARAMETER and b.kind == VALUE:
                    moved.append((self.operand(a, 0, slope), (before + b.at * m, 1)))
                elif a.kind == PARAMETER and order == 1:
                    moved.append((self.operand(a, 0, slope), (self.one, 0)))
                elif a.kind == VALUE and b.kind == VALUE and order > 1:
                    rows.append(
                        _Dots(
                            to + c * m, 1, values.of(1) + a.at * m, 1, values.stride,
                            before + b.at * m, 1, -values.stride, order - 1, m,
                        )
                    )  # fmt: skip
            sums.append(SlotSum(to + c * m, 1, m, [moved]))
            convolutions.append(rows)
        write_sums(tape, sums)
        write_rows(tape, convolutions)
        for k, cell in enumerate(self.cells if order > 1 else ()):
            write_across(tape, [
                [_Dots(
                    to + c * m, 1, x.of(1) + k, 0, x.stride, before + b.at * m, 1,
                    -values.stride, order - 1, m,
                )]
                for b, c in cell if b.kind == VALUE
            ])  # fmt: skip

    def apply(self, tape: Tape, w: int, values: int, to: int) -> None:
        """Add unknowns at slot w, times their other factors, to the inner values at slot to."""
        m = self.form.samples
        for k, cell in enumerate(self.cells):
            write_across(tape, [
                [_Dots(to + c * m, 1, w + k, 0, 0, at, step, 0, 1, m)]
                for (at, step), c in ((self.operand(b, values, self.now), c) for b, c in cell)
                if c * m < self.inner
            ])  # fmt: skip

    def carry(
        self, tape: Tape, values: int, to: int, *, labels: bool,
        of: Callable[[int, int], bool] | None = None,
    ) -> None:  # fmt: skip
        """Add to increments of the values at slot to those that follow from others'.

        Increments of one level are final when those of the next are computed.  `labels` is whether
        those of the labels are needed; `of` chooses pairs of a value and an earlier one.
        """
        form, m = self.form, self.form.samples
        for level in form.levels if labels else form.levels[:-1]:
            targets = []
            for c in level:
                linear, product = (list[tuple[Operand, Operand]]() for _ in range(2))
                for a, b in form.values[c]:
                    for own, other in ((b, a), (a, b)):
                        if own.kind == VALUE and (of is None or of(c, own.at)):
                            part = product if a.kind == b.kind else linear
                            part.append(
                                (self.operand(other, values, self.now), (to + own.at * m, 1))
                            )
                targets.append((to + c * m, m, [linear, product]))
            self.add(tape, targets)


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
    take, r = Layout(), len(form.places)
    many = max([form.size, *(at + 1 for at in form.places)])
    now, base, slope = (take.take(many) for _ in range(3))
    one, scratch = take.take(1), take.take(2)
    write = ProductWriter(form, now, one)
    inner, kept = write.inner, max(form.groups, default=-1) >= 0
    size = r + inner if kept else r
    x = Series(take.take((order + 1) * size), size)
    values = Series(x.at + r, size) if kept else Series(take.take((order + 1) * inner), inner)
    new, step, unit, scale = (take.take(size) for _ in range(4))
    lower, new_values, sweep = (take.take(n) for n in (write.size, write.size, write.scratch))
    jacobian = take.take(r * r)

    def set_parameters(tape: Tape, w: int) -> None:
        tape.set_one(one)
        tape.line(now, base, slope, form.size)
        write.put(tape, w)

    def set_factors(tape: Tape, at: int) -> None:
        write.jacobian(tape, at, sweep, jacobian)
        tape.factor(jacobian, r)

    point = Tape()
    for at in form.places:
        # Unknowns are no parameters that move.
        point.clear(slope + at, 1)
    set_parameters(point, x.at)
    write.forward(point, new_values, new_values)
    point.copy(values.at, new_values, inner)

    def expand(tape: Tape, j: int) -> None:
        """Taylor coefficients of order j."""
        write.lower_orders(tape, values, slope, x, j, lower)
        tape.copy(new_values, lower, write.size)
        write.carry(tape, values.at, new_values, labels=True)
        write.residual(tape, new_values, x.of(j), slope if j == 1 else None)
        tape.solve(x.of(j), jacobian, r)
        tape.copy(values.of(j), lower, inner)
        write.apply(tape, x.of(j), values.at, values.of(j))
        write.carry(tape, values.at, values.of(j), labels=False)

    series = Tape()
    set_factors(series, values.at)
    expand(series, 1)

    def newton(fresh: bool) -> np.ndarray:
        tape, guess, change = Tape(), new + r, step + r
        set_parameters(tape, new)
        write.forward(tape, new_values, new_values)
        write.residual(tape, new_values, step, now)
        if fresh:
            set_factors(tape, guess if kept else new_values)
        tape.solve(step, jacobian, r)
        tape.add(new, step, r)
        if kept:
            tape.clear(change, inner)
            write.apply(tape, step, guess, change)
            write.carry(tape, guess, change, labels=False)
            tape.add(change, new_values, inner)
            tape.subtract(change, guess, inner)
            tape.add(guess, change, inner)
        return tape.table()

    own = form.groups[: inner // form.samples] if kept else ()
    of, floors = measures(groups, own, form.samples)
    return LaneSystem(
        parameters=form.size, size=size, unknowns=r, order=order, base=base, slope=slope, x=x.at,
        new=new, step=step, unit=unit, scale=scale, scratch=scratch, low=None, slots=take.slots,
        groups=of, floors=floors, lift=lifts[0], lifts=lifts[1], load=Tape().table(),
        point=point.table(), series=series.table(), orders=Tape.affine(expand),
        newton=newton(True), again=newton(False),
    )  # fmt: skip


def measures(
    groups: Sequence[int], kept: Sequence[int], samples: int
) -> tuple[np.ndarray, np.ndarray]:
    """Groups of unknowns and values for error norms, and the squares of their smallest sizes."""
    weights = max(groups, default=-1) + 1
    own = [g if g < 0 else weights + g for g in kept for _ in range(samples)]
    floors = [FLOOR**2] * weights + [_LEAST**2] * (max(kept, default=-1) + 1)
    return np.array([*groups, *own], np.int64), np.array(floors)
