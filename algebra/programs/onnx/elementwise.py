"""Elementwise operators, and softmax."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from algebra.errors import InputError, shown
from algebra.programs.onnx.scope import Call, Operator
from algebra.programs.onnx.values import Item, fraction
from algebra.programs.program import Builder, Value

# The coefficients of GELU's tanh form, as its authors print them.
_CUBIC = Fraction(44715, 10**6)


def _unary(function: object) -> Operator:
    def run(call: Call) -> Item:
        return call.elementwise(call.item(0), lambda a: function(call.build, a))  # type: ignore[operator]

    return run


def _applied(name: str) -> Operator:
    return _unary(lambda build, a: build.apply(name, a))


def _product(build: Builder, a: Value, name: str) -> Value:
    return build.multiply(a, build.apply(name, a))


def _shifted(build: Builder, a: Value, number: Fraction) -> Value:
    """A number added to every entry."""
    table = np.full(a.shape, number.numerator, dtype=object)
    return build.add(a, build.constant(table, number.denominator))


def _gelu(call: Call) -> Item:
    exact = call.option("approximate", "none") == "none"
    return call.elementwise(call.item(0), lambda a: gelu(call.build, a, exact))


def gelu(build: Builder, a: Value, exact: bool) -> Value:
    """a (1 + erf(a/√2))/2, or with tanh; √2 and √(2/π) are the nearest binary64 numbers."""
    if exact:
        inner = build.apply("erf", build.scale(a, fraction(np.sqrt(0.5).item())))
    else:
        cubed = build.add(a, build.scale(build.power(a, 3), _CUBIC))
        inner = build.apply("tanh", build.scale(cubed, fraction(np.sqrt(2 / np.pi).item())))
    return build.scale(build.add(a, build.multiply(a, inner)), Fraction(1, 2))


def _leaky(call: Call) -> Item:
    slope = fraction(call.option("alpha", np.float32(0.01).item()))
    build = call.build
    return call.elementwise(call.item(0), lambda a: build.choose(a, a, build.scale(a, slope)))


def _parametric(call: Call) -> Item:
    a, slope = call.broadcast(call.plain(call.item(0)), call.item(1))
    build = call.build
    return Item(
        build.choose(a.value, a.value, build.multiply(a.value, slope.value)), a.batch
    )  # fmt: skip


def _elu(call: Call) -> Item:
    alpha, build = fraction(call.option("alpha", 1)), call.build

    def run(a: Value) -> Value:
        below = build.scale(_shifted(build, build.apply("exp", a), Fraction(-1)), alpha)
        return build.choose(a, a, below)

    return call.elementwise(call.item(0), run)


def _hard(default: float, times: bool) -> Operator:
    """Clipped linear functions: HardSigmoid, and x times it, HardSwish."""

    def run(call: Call) -> Item:
        slope = Fraction(1, 6) if times else fraction(call.option("alpha", default))
        shift = Fraction(1, 2) if times else fraction(call.option("beta", 0.5))
        build = call.build

        def line(a: Value) -> Value:
            inside = _shifted(build, build.scale(a, slope), shift)
            found = _clipped(build, inside, Fraction(0), Fraction(1))
            return build.multiply(a, found) if times else found

        return call.elementwise(call.item(0), line)

    return run


def _clipped(build: Builder, a: Value, low: Fraction | None, high: Fraction | None) -> Value:
    def number(value: Fraction) -> Value:
        return _shifted(build, build.scale(a, 0), value)

    if low is not None:
        a = build.choose(_shifted(build, a, -low), a, number(low))
    if high is not None:
        a = build.choose(_shifted(build, a, -high), number(high), a)
    return a


def _clip(call: Call) -> Item:
    ends: list[Fraction | None] = []
    for k, name in ((1, "min"), (2, "max")):
        if name in call.attributes:
            value = call.attributes[name]
        else:
            value = call.array(k, name).item() if call.has(k) else None
        far = value is not None and abs(value) > 1e30
        ends.append(None if value is None or far else fraction(value))
    return call.elementwise(call.item(0), lambda a: _clipped(call.build, a, *ends))


def _add(call: Call) -> Item:
    return call.total(*call.items())


def _subtract(call: Call) -> Item:
    return call.total(call.item(0), call.scaled(call.item(1), Fraction(-1)))


def _single(call: Call, k: int) -> Fraction | None:
    """Input k, if it is one number of the file."""
    if call.is_constant(k):
        array = call.array(k, "")
        if array.size == 1 and array.ndim <= 1 and np.isfinite(array).all():
            return fraction(array.item())
    return None


def _multiply(call: Call) -> Item:
    for k in (0, 1):
        factor = _single(call, k)
        if factor is not None:
            return call.scaled(call.item(1 - k), factor)
    return call.product(call.item(0), call.item(1))


def _divide(call: Call) -> Item:
    factor = _single(call, 1)
    if factor is not None:
        if factor == 0:
            raise InputError("it divides by 0")
        return call.scaled(call.item(0), 1 / factor)
    if call.is_constant(1) and (call.array(1, "the divisor") == 0).any():
        raise InputError("it divides by 0")
    below = call.elementwise(call.item(1), call.build.invert)
    above = _single(call, 0)
    return call.scaled(below, above) if above is not None else call.product(call.item(0), below)


def _power(call: Call) -> Item:
    exponent = _single(call, 1)
    if exponent is None:
        raise InputError("its exponent is not one number of the file")
    build = call.build

    def run(a: Value) -> Value:
        number = exponent
        if number.denominator == 2:
            a, number = build.root(a), 2 * number
        if number.denominator != 1 or abs(number) > 64:
            raise InputError(f"the exponent {shown(exponent)} is not half a whole number up to 64")
        found = build.power(a, abs(int(number)))
        return build.invert(found) if number < 0 else found

    return call.elementwise(call.item(0), run)


def _extreme(sign: int) -> Operator:
    def run(call: Call) -> Item:
        parts = call.broadcast(*(call.scaled(item, Fraction(sign)) for item in call.items()))
        return call.scaled(call.largest(parts), Fraction(sign))

    return run


def _where(call: Call) -> Item:
    condition = call.array(0, "the condition").astype(bool)
    marks = Item(call.build.constant(condition.astype(np.int64)))
    mark, a, b = call.broadcast(marks, call.item(1), call.item(2))
    if mark.batch is not None and mark.shape[mark.batch] != 1:
        raise InputError("its condition has a size along the batch axis")
    chosen = np.broadcast_to(condition, mark.shape)
    size = a.value.shape
    table = np.where(chosen, call.places(a), call.places(b) + int(np.prod(size)))
    absent = [np.zeros(size, bool) if x.absent is None else x.absent for x in (a, b)]
    gone = np.where(chosen, *absent)
    found = call.build.index(table, a.value, b.value)
    return Item(found, a.batch, gone if gone.any() else None)


def _softmax(call: Call) -> Item:
    item = call.item(0)
    axis = call.option("axis", -1 if call.opset >= 13 else 1)
    if call.opset < 13 and axis % item.ndim != item.ndim - 1:
        raise InputError("before operator set 13 softmax is read along the last axis only")
    return softmax(call, item, axis)


def softmax(call: Call, item: Item, axis: int) -> Item:
    """Exponentials divided by their sum along an axis; entries that are −∞ become 0."""
    axis, build = call.along(item, axis, "adds along"), call.build
    powers = build.apply("exp", item.value)
    if item.absent is not None:
        powers = build.index(np.where(item.absent, -1, build.places(powers)), powers)
    found = Item(powers, item.batch)
    total = call.summed(found, [axis], True)
    return call.product(found, call.elementwise(total, build.invert))


def _identity(call: Call) -> object:
    found = call.inputs[0]
    return found


def _cast(call: Call) -> object:
    onnx_float, onnx_double = 1, 11
    found = call.inputs[0]
    if isinstance(found, Item) and call.option("to", onnx_float) not in (onnx_float, onnx_double):
        raise InputError("it rounds a value that depends on samples or weights")
    return found


ELEMENTWISE: dict[str, Operator] = {
    "Abs": _unary(lambda build, a: build.choose(a, a, build.scale(a, -1))),
    "Add": _add,
    "Cast": _cast,
    "CastLike": _cast,
    "Clip": _clip,
    "Div": _divide,
    "Dropout": _identity,
    "Elu": _elu,
    "Erf": _applied("erf"),
    "Exp": _applied("exp"),
    "Gelu": _gelu,
    "HardSigmoid": _hard(np.float32(0.2).item(), False),
    "HardSwish": _hard(1 / 6, True),
    "Identity": _identity,
    "LeakyRelu": _leaky,
    "Max": _extreme(1),
    "Min": _extreme(-1),
    "Mish": _unary(
        lambda build, a: build.multiply(a, build.apply("tanh", build.apply("softplus", a)))
    ),
    "Mul": _multiply,
    "Neg": _unary(lambda build, a: build.scale(a, -1)),
    "PRelu": _parametric,
    "Pow": _power,
    "Reciprocal": _unary(lambda build, a: build.invert(a)),
    "Relu": _unary(Builder.rectified),
    "Sigmoid": _applied("sigmoid"),
    "Softmax": _softmax,
    "Softplus": _applied("softplus"),
    "Sqrt": _unary(lambda build, a: build.root(a)),
    "Sub": _subtract,
    "Sum": _add,
    "Swish": _unary(lambda build, a: _product(build, a, "sigmoid")),
    "Tanh": _applied("tanh"),
    "Where": _where,
}
