"""The equations F(x) = 0 of a system as tapes of values and derivatives, in up to three forms.

The tracker's systems (`numeric.equations.lanes.tape.LaneSystem`) solve linear systems; these tapes
only evaluate F and its Jacobian, so that they run in every arithmetic, including those that
enclose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from numeric.equations.lanes.inputs import InputsWriter
from numeric.equations.lanes.lifted import (
    places_of,
    write_fixed,
    write_lifted_matrix,
    write_lifted_residual,
)
from numeric.equations.lanes.products import ProductWriter
from numeric.equations.lanes.tape import Layout, Tape
from numeric.equations.products import ProductForm

if TYPE_CHECKING:
    from numeric.equations.inputs import InputsForm


class EquationTapes(NamedTuple):
    """Equations F(x) = 0 as tapes; parameters are at the first slots.

    Attributes
    ----------
    states : int
        Number of unknowns that are values of the form; they precede the weights.
    places : ndarray of int
        Slot of each unknown.
    begin : ndarray of int
        Tape: the values, computed from the weights.
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


def write_equations(form: ProductForm, lifted: bool = False) -> EquationTapes:
    """The equations of a form in its weights, or the lifted ones."""
    take = Layout()
    p, one = take.take(form.size), take.take(1)
    write = ProductWriter(form, p, one)
    places = places_of(write, natural=True)
    states = len(places.unknown) if lifted else 0
    n = states + len(form.places)
    values = take.take(write.size)
    work = take.take(write.size if lifted else max(write.size, write.scratch))
    f, jacobian = take.take(n), take.take(n * n)
    begin, evaluate, derive = Tape(), Tape(), Tape()
    unknowns = p + np.array(form.places, np.int64)
    evaluate.set_one(one)
    if lifted:
        begin.set_one(one)
        write.forward(begin, values, values)
        unknowns = np.concatenate([values + places.unknown, unknowns])
        write_fixed(write, evaluate, values)
        write_lifted_residual(write, places, evaluate, values, work, f)
        write_lifted_matrix(write, places, derive, values, jacobian)
    else:
        write.forward(evaluate, values, values)
        write.residual(evaluate, values, f, p)
        write.jacobian(derive, values, work, jacobian)
    return EquationTapes(
        states, unknowns, begin.table()[0], evaluate.table()[0], derive.table()[0], f, jacobian,
        take.slots,
    )  # fmt: skip


def write_inputs_equations(form: InputsForm) -> EquationTapes:
    """The equations F(x) = 0 in the free inputs; unknowns are the weights, then the inputs."""
    _, T, b, e = form.shape
    take, evaluate, derive = Layout(), Tape(), Tape()
    now = take.take(form.size)
    write = InputsWriter(form, now)
    u, states = take.take(T * e * b), take.take(write.state_size)
    values, gain = take.take(len(form.rows) * T * b), take.take(len(form.rows) * T * e)
    f, jacobian = take.take(form.unknowns), take.take(form.unknowns**2)
    evaluate.copy(states, now + write.alpha, write.state_size)
    write.response(evaluate, now + write.beta, u, states)
    evaluate.clear(values, len(form.rows) * T * b)
    write.subtract_states(evaluate, states, values)
    write.products(evaluate, now + write.fixed, states, values)
    write.right_side(evaluate, values, None, f)
    write.matrix(derive, states, gain, jacobian)
    places = np.concatenate([np.array(write.places(), np.int64), u + np.arange(T * e * b)])
    return EquationTapes(
        0, places, Tape().table()[0], evaluate.table()[0], derive.table()[0], f, jacobian,
        take.slots,
    )  # fmt: skip


def write_labels(form: ProductForm) -> tuple[np.ndarray, int, int]:
    """The tape of the labels of a parameter vector, their slot, and the number of slots.

    Labels that are not those of an equation are 0.
    """
    take, tape = Layout(), Tape()
    p, one = take.take(form.size), take.take(1)
    write = ProductWriter(form, p, one)
    first = min(row.y_at for row in form.rows if row.y_at is not None)
    values, labels = take.take(write.size), take.take(form.size - first)
    tape.set_one(one)
    write.forward(tape, values, values)
    for row in form.rows:
        if row.y_at is not None:
            tape.copy(labels + row.y_at - first, values + row.value * form.samples, row.samples)
    return tape.table()[0], labels, take.slots
