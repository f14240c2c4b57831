"""GRU, LSTM and simple recurrent layers (one node for all steps), unrolled."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from algebra.errors import InputError, shown
from algebra.programs.onnx.layers import multiply_matrices
from algebra.programs.onnx.scope import Call, Operator
from algebra.programs.onnx.values import Item

# Gates in the order of the file; number of matrices in the weights of one direction.
_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
_PLAIN = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}
Step = Callable[[list[Item], list[Item], list[Item], Item, Item], tuple[Item, Item]]


def _unrolled(call: Call) -> tuple[Item, ...]:
    x, r = call.item(0), call.item(2)
    if x.ndim != 3 or call.option("layout", 0):
        raise InputError("its input must have the axes (steps, samples, features), layout 0")
    if x.batch not in (None, 1):
        raise InputError("its steps are along the batch axis")
    _check_options(call, x.shape[0])
    steps, n, _ = x.shape
    size, gates = call.option("hidden_size", r.shape[2]), _GATES[call.op]
    direction = call.option("direction", "forward")
    orders = {
        "forward": [range(steps)],
        "reverse": [range(steps - 1, -1, -1)],
        "bidirectional": [range(steps), range(steps - 1, -1, -1)],
    }[direction]
    all_states: list[list[Item]] = []
    last: list[Item] = []
    last_cells: list[Item] = []
    for number, order in enumerate(orders):
        states, h, c = _direction(call, x, number, order, size, gates)
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
    return (joined, *ends)


def _stacked(call: Call, items: list[Item], shape: tuple[int, ...], batch: int | None) -> Item:
    return Item(call.build.reshaped(call.build.joined([i.value for i in items]), shape), batch)


def _check_options(call: Call, steps: int) -> None:
    names = call.option("activations", None)
    if names is not None:
        names = [n.decode() if isinstance(n, bytes) else n for n in names]
        plain = _PLAIN[call.op]
        if names != plain * (len(names) // len(plain)):
            raise InputError(f"the activations {shown(names)} are not {', '.join(plain)}")
    if call.has(4) and set(call.whole(4, "the lengths")) != {steps}:
        raise InputError("its sequences have different lengths")
    if "clip" in call.attributes or call.option("input_forget", 0) or call.has(7):
        raise InputError("clipped cells, joined gates and peepholes are not read")


def _part(call: Call, item: Item, number: int, gate: int, size: int) -> Item:
    """The rows of one gate of one direction."""
    places = call.places(item)[number, gate * size : (gate + 1) * size]
    return call.move(item, places, None)


def _direction(
    call: Call, x: Item, number: int, order: range, size: int, gates: int
) -> tuple[list[Item], Item, Item]:
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
            batch = None if item.batch is None else item.batch - 1
            return call.move(item, call.places(item)[number], batch)
        return Item(call.build.constant(np.zeros((x.shape[1], size), np.int64)), x.batch and 0)

    h, c = start(5), start(6) if call.op == "LSTM" else start(99)
    states: dict[int, Item] = {}
    for t in order:
        now = call.move(x, call.places(x)[t], None if x.batch is None else 0)
        driven = [_with(call, multiply_matrices(call, now, m), biases[g]) for g, m in
                  enumerate(ways)]  # fmt: skip

        def recurrent(g: int, state: Item) -> Item:
            return _with(call, multiply_matrices(call, state, back[g]), biases[gates + g])

        h, c = _CELLS[call.op](call, driven, recurrent, h, c)
        states[t] = h
    return [states[t] for t in sorted(states)], h, c


def _with(call: Call, item: Item, bias: Item | None) -> Item:
    return item if bias is None else call.total(item, bias)


def _applied(call: Call, name: str, *terms: Item) -> Item:
    return call.elementwise(call.total(*terms), lambda a: call.build.apply(name, a))


Recurrent = Callable[[int, Item], Item]


def _simple(call: Call, driven: list[Item], back: Recurrent, h: Item, c: Item) -> tuple[Item, Item]:
    return _applied(call, "tanh", driven[0], back(0, h)), c


def _gru(call: Call, driven: list[Item], back: Recurrent, h: Item, c: Item) -> tuple[Item, Item]:
    update = _applied(call, "sigmoid", driven[0], back(0, h))
    reset = _applied(call, "sigmoid", driven[1], back(1, h))
    if call.option("linear_before_reset", 0):
        inner = call.product(reset, back(2, h))
    else:
        inner = back(2, call.product(reset, h))
    new = _applied(call, "tanh", driven[2], inner)
    change = call.total(h, call.scaled(new, Fraction(-1)))
    return call.total(new, call.product(update, change)), c


def _lstm(call: Call, driven: list[Item], back: Recurrent, h: Item, c: Item) -> tuple[Item, Item]:
    # In the file: input, output, forget, cell.
    take, give, keep = (
        _applied(call, "sigmoid", driven[g], back(g, h)) for g in range(3)
    )  # fmt: skip
    new = _applied(call, "tanh", driven[3], back(3, h))
    cell = call.total(call.product(keep, c), call.product(take, new))
    shown_cell = call.elementwise(cell, lambda a: call.build.apply("tanh", a))
    return call.product(give, shown_cell), cell


_CELLS: dict[str, Callable[..., tuple[Item, Item]]] = {"RNN": _simple, "GRU": _gru, "LSTM": _lstm}

RECURRENT: dict[str, Operator] = dict.fromkeys(_CELLS, _unrolled)
