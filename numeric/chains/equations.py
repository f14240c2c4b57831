"""The equations F(x) = 0 of a system as tapes of values and derivatives; a chain has two forms.

The tracker's systems (`numeric.chains.lanes.tape.LaneSystem`) solve linear systems; these tapes
only evaluate F and its Jacobian, so that they run in every arithmetic, including those that
enclose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from numeric.chains.lanes.condensed import ChainWriter, jacobian_sizes
from numeric.chains.lanes.lifted import (
    natural_places,
    write_lifted_matrix,
    write_lifted_residual,
)
from numeric.chains.lanes.products import ProductWriter
from numeric.chains.lanes.tape import Layout, Tape
from numeric.chains.products import ProductForm

if TYPE_CHECKING:
    from numeric.chains.chain import Chain


class EquationTapes(NamedTuple):
    """Equations F(x) = 0 as tapes; parameters are at the first slots.

    Attributes
    ----------
    states : int
        Number of unknowns that are states; they precede the weights.
    places : ndarray of int
        Slot of each unknown.
    begin : ndarray of int
        Tape: the states, computed from the weights.
    values, derivatives : ndarray of int
        Tapes: minus the values of F at `f`, then its Jacobian at `jacobian`, row by row.
    f, jacobian, slots : int
    """

    states: int
    places: np.ndarray
    begin: np.ndarray
    values: np.ndarray
    derivatives: np.ndarray
    f: int
    jacobian: int
    slots: int


def write_equations(chain: Chain, lifted: bool) -> EquationTapes:
    """The equations of a chain in its weights, or the lifted ones."""
    t = chain.table
    states = t.states - int(t.s_at[1]) if lifted else 0
    n = states + t.unknowns
    take = Layout()
    p, s, z = take.take(t.size), take.take(t.states), take.take(t.z_size)
    write = ChainWriter(t, p, take.take(t.labels * t.samples))
    f, jacobian = take.take(n), take.take(n * n)
    begin, values, derivatives = Tape(), Tape(), Tape()
    places = p + t.cells[:, 4]
    if lifted:
        natural, first = natural_places(t), int(t.s_at[1])
        write.states(begin, s)
        places = np.concatenate([s + np.arange(first, t.states), places])
        values.copy(s, p + t.s0_at, first)
        write.read_out(values, s, z)
        rest, step = take.take(t.states), take.take(t.unknowns)
        write_lifted_residual(write, natural, values, s, z, rest, step, f)
        write_lifted_matrix(write, natural, derivatives, s, z, jacobian)
    else:
        write.states(values, s)
        write.read_out(values, s, z)
        write.residual(values, z, f)
        adjoints, hidden = (take.take(count) for count in jacobian_sizes(t))
        write.jacobian(derivatives, s, z, adjoints, hidden, jacobian)
    return EquationTapes(
        states, places, begin.table()[0], values.table()[0], derivatives.table()[0], f, jacobian,
        take.slots,
    )  # fmt: skip


def write_labels(chain: Chain) -> tuple[np.ndarray, int, int]:
    """The tape of the labels of a parameter vector, their slot, and the number of slots."""
    t, tape, take = chain.table, Tape(), Layout()
    p, s, z = take.take(t.size), take.take(t.states), take.take(t.z_size)
    write = ChainWriter(t, p, take.take(t.labels * t.samples))
    write.states(tape, s)
    write.read_out(tape, s, z)
    write.all_labels(tape, z)
    return tape.table()[0], write.labels, take.slots


def write_product_equations(form: ProductForm) -> EquationTapes:
    """The equations of sums of products."""
    take, r = Layout(), len(form.places)
    p, one = take.take(form.size), take.take(1)
    write = ProductWriter(form, p, one)
    values, adjoints = take.take(write.size), take.take(write.size * len(form.rows))
    f, jacobian = take.take(r), take.take(r * r)
    evaluate, derive = Tape(), Tape()
    evaluate.set_one(one)
    write.forward(evaluate, values)
    write.residual(evaluate, values, f)
    write.adjoints(derive, values, adjoints, every=False)
    write.jacobian(derive, values, adjoints, jacobian)
    return EquationTapes(
        0, p + np.array(form.places, np.int64), Tape().table()[0], evaluate.table()[0],
        derive.table()[0], f, jacobian, take.slots,
    )  # fmt: skip


def write_product_labels(form: ProductForm) -> tuple[np.ndarray, int, int]:
    """The tape of the labels of sums of products, as `write_labels`."""
    take, tape = Layout(), Tape()
    p, one = take.take(form.size), take.take(1)
    write = ProductWriter(form, p, one)
    values, labels = take.take(write.size), take.take(form.equations)
    tape.set_one(one)
    write.forward(tape, values)
    to = labels
    for row in form.rows:
        tape.copy(to, values + row.value * form.samples, row.samples)
        to += row.samples
    return tape.table()[0], labels, take.slots
