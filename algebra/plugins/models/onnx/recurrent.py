"""GRU, LSTM and simple recurrent layers (one node for all steps), unrolled."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from algebra.errors import InputError, shown
from algebra.plugins.models.onnx.layers import multiply_matrices
from algebra.plugins.models.onnx.scope import Call, Operator
from algebra.plugins.models.onnx.values import Item
from algebra.programs.program import Builder, Value

# Gates in the order of the file; number of matrices in the weights of one direction.
_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
_PLAIN = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}
Function = Callable[[Builder, Value], Value]
# Functions of the standard without attributes of their own, in lower case: names are compared so.
_FUNCTIONS: dict[str, Function] = {
    "relu": Builder.rectified,
    "sigmoid": lambda build, a: build.apply("sigmoid", a),
    "softplus": lambda build, a: build.apply("softplus", a),
    "tanh": lambda build, a: build.apply("tanh", a),
}
_DIRECTIONS = ("forward", "reverse", "bidirectional")


def _unrolled(call: Call) -> tuple[Item, ...]:
    x, r = call.item(0), call.item(2)
    layout = call.option("layout", 0)
    if x.ndim != 3 or r.ndim != 3 or layout not in (0, 1):
        raise InputError("its input must have the axes (steps, samples, features), or layout 1")
    if layout:
        x = call.transposed(x, [1, 0, 2])
    if x.batch not in (None, 1):
        raise InputError("its steps are along the batch axis")
    if call.has(4) and set(call.whole(4, "the lengths")) != {x.shape[0]}:
        raise InputError("its sequences have different lengths")
    steps, n, _ = x.shape
    size, gates = call.option("hidden_size", r.shape[2]), _GATES[call.op]
    if size != r.shape[2]:
        raise InputError(f"its `hidden_size` ({size}) is not that of its weights, {r.shape[2]}")
    direction = call.option("direction", "forward")
    if direction not in _DIRECTIONS:
        raise InputError(f"its direction {shown(direction)} is not known")
    forward, backward = range(steps), range(steps - 1, -1, -1)
    orders = [[forward], [backward], [forward, backward]][_DIRECTIONS.index(direction)]
    functions = _functions(call, len(orders))
    all_states: list[list[Item]] = []
    last: list[Item] = []
    last_cells: list[Item] = []
    for number, order in enumerate(orders):
        states, h, c = _direction(call, x, number, order, size, gates, functions[number])
        all_states.append(states)
        last.append(h)
        last_cells.append(c)
    batch = x.batch
    flat = [all_states[d][t] for t in range(steps) for d in range(len(orders))]
    joined = _stacked(call, flat, (steps, len(orders), n, size), None if batch is None else 2)
    ends = [
        _stacked(call, found, (len(orders), n, size), None if batch is None else 1)
        for found in (last, last_cells)
    ]
    if layout:
        joined = call.transposed(joined, [2, 0, 1, 3])
        ends = [call.transposed(end, [1, 0, 2]) for end in ends]
    return (joined, *ends)


def _functions(call: Call, directions: int) -> list[list[Function]]:
    """The functions of each direction, in the order of the standard."""
    plain = _PLAIN[call.op]
    if call.op == "LSTM" and call.option("input_forget", 0):
        raise InputError("its input and forget gates are coupled (input_forget)")
    names = call.option("activations")
    if names is None:
        names = plain * directions
    names = [n.decode() if isinstance(n, bytes) else n for n in names]
    unknown = [n for n in names if n.lower() not in _FUNCTIONS]
    if unknown or len(names) != directions * len(plain):
        raise InputError(
            f"its activations {shown(names)} are not {directions * len(plain)} of Relu, Sigmoid, "
            "Softplus, Tanh"
        )
    found = [_FUNCTIONS[name.lower()] for name in names]
    return [found[d * len(plain) : (d + 1) * len(plain)] for d in range(directions)]


def _stacked(call: Call, items: list[Item], shape: tuple[int, ...], batch: int | None) -> Item:
    return Item(call.build.reshaped(call.build.joined([i.value for i in items]), shape), batch)


def _part(call: Call, item: Item, number: int, gate: int, size: int) -> Item:
    """The rows of one gate of one direction."""
    places = call.places(item)[number, gate * size : (gate + 1) * size]
    return call.move(item, places, None)


def _direction(
    call: Call, x: Item, number: int, order: range, size: int, gates: int,
    functions: list[Function],
) -> tuple[list[Item], Item, Item]:  # fmt: skip
    inputs = [_part(call, call.item(1), number, g, size) for g in range(gates)]
    inner = [_part(call, call.item(2), number, g, size) for g in range(gates)]
    ways = [call.transposed(m, [1, 0]) for m in inputs]
    back = [call.transposed(m, [1, 0]) for m in inner]
    biases = [
        _part(call, call.item(3), number, g, size) if call.has(3) else None
        for g in range(2 * gates)
    ]

    def start(k: int) -> Item:
        if call.has(k):
            item = call.item(k)
            if call.option("layout", 0):
                item = call.transposed(item, [1, 0, 2])
            batch = None if item.batch is None else item.batch - 1
            return call.move(item, call.places(item)[number], batch)
        return Item(call.build.constant(np.zeros((x.shape[1], size), np.int64)), x.batch and 0)

    # Peepholes: factors of the cell in the gates, input, output, forget.
    holes = [_part(call, call.item(7), number, g, size) for g in range(3)] if call.has(7) else []
    h = start(5)
    c = start(6) if call.op == "LSTM" else h
    states: dict[int, Item] = {}
    for t in order:
        now = call.move(x, call.places(x)[t], None if x.batch is None else 0)
        driven = [_with(call, multiply_matrices(call, now, m), biases[g]) for g, m in
                  enumerate(ways)]  # fmt: skip

        def recurrent(g: int, state: Item) -> Item:
            return _with(call, multiply_matrices(call, state, back[g]), biases[gates + g])

        h, c = _CELLS[call.op](call, functions, driven, recurrent, h, c, holes)
        states[t] = h
    return [states[t] for t in sorted(states)], h, c


def _with(call: Call, item: Item, bias: Item | None) -> Item:
    return item if bias is None else call.total(item, bias)


def _applied(call: Call, function: Function, *terms: Item) -> Item:
    return call.elementwise(call.total(*terms), lambda a: function(call.build, a))


Recurrent = Callable[[int, Item], Item]


def _simple(
    call: Call, functions: list[Function], driven: list[Item], back: Recurrent, h: Item, c: Item,
    _: list[Item],
) -> tuple[Item, Item]:  # fmt: skip
    return _applied(call, functions[0], driven[0], back(0, h)), c


def _gru(
    call: Call, functions: list[Function], driven: list[Item], back: Recurrent, h: Item, c: Item,
    _: list[Item],
) -> tuple[Item, Item]:  # fmt: skip
    gate, inside = functions
    update = _applied(call, gate, driven[0], back(0, h))
    reset = _applied(call, gate, driven[1], back(1, h))
    if call.option("linear_before_reset", 0):
        inner = call.product(reset, back(2, h))
    else:
        inner = back(2, call.product(reset, h))
    new = _applied(call, inside, driven[2], inner)
    change = call.total(h, call.scaled(new, Fraction(-1)))
    return call.total(new, call.product(update, change)), c


def _lstm(
    call: Call, functions: list[Function], driven: list[Item], back: Recurrent, h: Item, c: Item,
    holes: list[Item],
) -> tuple[Item, Item]:  # fmt: skip
    gate, inside, outside = functions

    # In the file: input, output, forget, cell.
    def opened(g: int, cell: Item) -> Item:
        seen = [call.product(cell, holes[g])] if holes else []
        return _applied(call, gate, driven[g], back(g, h), *seen)

    take, keep = opened(0, c), opened(2, c)
    new = _applied(call, inside, driven[3], back(3, h))
    cell = call.total(call.product(keep, c), call.product(take, new))
    return call.product(opened(1, cell), _applied(call, outside, cell)), cell


_CELLS: dict[str, Callable[..., tuple[Item, Item]]] = {"RNN": _simple, "GRU": _gru, "LSTM": _lstm}

_ATTRIBUTES = "activations direction hidden_size layout"

# Before operator set 14 `output_sequence` said whether the first result is wanted.
RECURRENT: dict[str, Operator] = {
    "GRU": Operator(_unrolled, "X W R B sequence_lens initial_h",
                    f"{_ATTRIBUTES} linear_before_reset", "output_sequence"),
    "LSTM": Operator(_unrolled, "X W R B sequence_lens initial_h initial_c P",
                     f"{_ATTRIBUTES} input_forget", "output_sequence"),
    "RNN": Operator(_unrolled, "X W R B sequence_lens initial_h", _ATTRIBUTES, "output_sequence"),
}  # fmt: skip
