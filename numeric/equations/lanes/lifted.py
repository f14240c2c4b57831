"""The tapes of a form's lifted system, for paths on which weights become large.

Condensing to the weights multiplies by W at every step of a recurrent net; with weights of size R
its matrix has entries of size R^K that cancel, and double precision fails from R ≈ 10^3 on,
although the states keep size one and the solution is well conditioned.  Here all increments of
weights and of the values that depend on them are unknowns of one sparse linear system, solved with
row equilibration and pivoting, so that no factor is multiplied twice by large weights.  A step
costs more; the system is used only for paths that need it.

Unknowns are scaled by the sizes of their groups: roots near infinity have states S_k of size R^k,
and pivoting would fail without this scaling.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from numeric.equations.lanes.products import ProductWriter, Series, measures
from numeric.equations.lanes.tape import LaneSystem, Layout, Tape
from numeric.equations.products import PARAMETER, VALUE, ProductForm


class Places(NamedTuple):
    """Positions of unknowns and equations in the lifted system.

    Attributes
    ----------
    unknown : ndarray of int
        The slots, among those of the values, of the values that are unknowns, samples included.
    column, row : ndarray of int
        Positions of these unknowns and of their equations; −1 for other values.
    weight : ndarray of int, shape (r,)
        Columns of the weights.
    label : ndarray of int, shape (r,)
        Rows of the labels' equations.
    """

    unknown: np.ndarray
    column: np.ndarray
    row: np.ndarray
    weight: np.ndarray
    label: np.ndarray


def places_of(write: ProductWriter, *, natural: bool = False) -> Places:
    """Positions of unknowns and equations in the lifted system.

    Values without products of weights come first, each with its own equation; then weights with the
    equations of the values that they occur in, those of a weight together; last these values, with
    the equations of the labels.  In their `natural` order all values come first, then the weights
    with the equations of the labels.
    """
    m, r = write.form.samples, len(write.cells)
    first = {c: k for k in reversed(range(r)) for _, c in write.cells[k]}
    inner = [c for c in sorted(write.depends) if c * m < write.inner]
    plain = inner if natural else [c for c in inner if c not in first]
    own = [] if natural else sorted(set(inner) & set(first), key=lambda c: (first[c], c))
    column, row = np.full((2, write.inner), -1, np.int64)
    for k, c in enumerate(plain + own):
        row[c * m : (c + 1) * m] = k * m + np.arange(m)
        after = r if k >= len(plain) else 0
        column[c * m : (c + 1) * m] = row[c * m : (c + 1) * m] + after
    unknown = np.flatnonzero(row >= 0)
    return Places(unknown, column, row, len(plain) * m + np.arange(r), len(unknown) + np.arange(r))


def write_fixed(write: ProductWriter, tape: Tape, values: int) -> None:
    """The values that depend on no weight, among those at slot values."""
    inner = write.inner // write.form.samples
    write.forward(tape, values, values, lambda c: c not in write.depends and c < inner)


def write_lifted_residual(
    write: ProductWriter, places: Places, tape: Tape, values: int, sums: int, to: int
) -> None:
    """``Σ a b - v`` of the unknown values and labels minus theirs, in the rows of `places`.

    `sums` is an array for all values.
    """
    m = write.form.samples
    write.forward(tape, values, sums, lambda c: c in write.depends or c * m >= write.inner)
    pairs = [(to + int(places.row[e]), int(e)) for e in places.unknown]
    tape.each(tape.copy, ((row, sums + e) for row, e in pairs))
    tape.each(tape.subtract, ((row, values + e) for row, e in pairs))
    write.residual(tape, sums, to + int(places.label[0]), write.now)


def write_lifted_matrix(
    write: ProductWriter, places: Places, tape: Tape, values: int, to: int
) -> None:
    """The Jacobian of ``v - Σ a b`` and of labels at some values, written to slot to."""
    form, m = write.form, write.form.samples
    size = len(places.unknown) + len(places.label)
    tape.clear(to, size * size)
    for e in places.unknown:
        tape.set_one(to + int(places.row[e]) * size + int(places.column[e]))
    equations = [
        (c, m, to + int(places.row[c * m]) * size, tape.subtract)
        for c in sorted({int(e) // m for e in places.unknown})
    ]
    for at, row in write.rows():
        equations.append((row.value, row.samples, to + int(places.label[at]) * size, tape.add))
    for c, samples, start, sign in equations:
        pairs = []
        for term in form.values[c]:
            for own, other in (term, term[::-1]):
                slot, step = write.operand(other, values, write.now)
                for s in range(samples):
                    column = -1
                    if own.kind == VALUE:
                        column = int(places.column[own.at * m + s])
                    elif own.kind == PARAMETER and own.at in write.unknown:
                        column = int(places.weight[write.unknown[own.at]])
                    if column >= 0:
                        pairs.append((start + s * size + column, slot + s * step))
        tape.each(sign, pairs)


def make_lifted(form: ProductForm, groups: Sequence[int], order: int) -> LaneSystem:
    """The lifted system of a form, for Taylor series of an order; see `make_products`."""
    take, r = Layout(), len(form.places)
    now, base, slope = (take.take(form.size) for _ in range(3))
    one, scratch = take.take(1), take.take(2)
    write = ProductWriter(form, now, one)
    inner, places = write.inner, places_of(write)
    size, full = r + inner, r + len(places.unknown)
    x = Series(take.take((order + 1) * size), size)
    values = Series(x.at + r, size)
    new, step, unit, scale = (take.take(size) for _ in range(4))
    lower, side = take.take(write.size), take.take(r)
    matrix = take.take(full * full)
    row_scale, column_scale, right = (take.take(full) for _ in range(3))
    columns = [
        *((int(at), v) for v, at in enumerate(places.weight)),
        *((int(places.column[e]), r + int(e)) for e in places.unknown),
    ]

    def is_fixed(c: int) -> bool:
        return c not in write.depends

    def set_parameters(tape: Tape, w: int) -> None:
        """Parameters at t, with the values that depend on no weight, after weights at slot w."""
        tape.set_one(one)
        tape.line(now, base, slope, form.size)
        write.put(tape, w)
        write_fixed(write, tape, w + r)

    def solve(tape: Tape, to: int) -> None:
        """The solution, written to the weights and values at slot to."""
        tape.scale(right, row_scale, full)
        tape.solve(right, matrix, full)
        tape.scale(right, column_scale, full)
        tape.each(tape.copy, ((to + v, right + at) for at, v in columns))

    def set_factors(tape: Tape, at: int) -> None:
        tape.each(tape.copy, ((column_scale + column, scale + v) for column, v in columns))
        write_lifted_matrix(write, places, tape, at, matrix)
        tape.equilibrate(matrix, full, column_scale, row_scale)
        tape.factor(matrix, full)

    load = Tape()
    load.set_one(one)
    for at in form.places:
        load.clear(slope + at, 1)
    load.line(now, base, slope, form.size)
    write.put(load, x.at)
    write.forward(load, lower, lower)
    load.copy(new, x.at, r)
    load.copy(new + r, lower, inner)

    point = Tape()
    set_parameters(point, x.at)

    def expand(tape: Tape, j: int) -> None:
        """Taylor coefficients of order j."""
        write.lower_orders(tape, values, slope, x, j, lower)
        # First the values that depend on no weight, and their products in others.
        write.carry(tape, values.at, lower, labels=False, of=lambda c, v: is_fixed(c))
        write.carry(
            tape, values.at, lower, labels=True,
            of=lambda c, v: is_fixed(v) and not is_fixed(c),
        )  # fmt: skip
        write.residual(tape, lower, side, slope if j == 1 else None)
        tape.copy(values.of(j), lower, inner)
        pairs = ((right + int(places.row[e]), lower + int(e)) for e in places.unknown)
        tape.each(tape.copy, pairs)
        tape.copy(right + int(places.label[0]), side, r)
        solve(tape, x.of(j))

    series = Tape()
    set_factors(series, values.at)
    expand(series, 1)

    def newton(fresh: bool) -> np.ndarray:
        tape, guess = Tape(), new + r
        set_parameters(tape, new)
        if fresh:
            set_factors(tape, guess)
        write_lifted_residual(write, places, tape, guess, lower, right)
        tape.clear(step + r, inner)
        solve(tape, step)
        tape.add(new, step, size)
        return tape.table()

    of, floors = measures(groups, form.groups[: inner // form.samples], form.samples)
    return LaneSystem(
        parameters=form.size, size=size, unknowns=full, order=order, base=base, slope=slope,
        x=x.at, new=new, step=step, unit=unit, scale=scale, scratch=scratch, low=None,
        slots=take.slots, groups=of, floors=floors, lift=r, lifts=inner, load=load.table(),
        point=point.table(), series=series.table(), orders=Tape.affine(expand),
        newton=newton(True), again=newton(False),
    )  # fmt: skip
