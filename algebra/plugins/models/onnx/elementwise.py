"""Elementwise operators, and softmax."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from algebra.errors import InputError
from algebra.plugins.models.onnx.batches import BOOLEAN
from algebra.plugins.models.onnx.orders import numbers_of
from algebra.plugins.models.onnx.scope import Call, Operator
from algebra.plugins.models.onnx.values import (
    Flags,
    Item,
    SampleConstants,
    Signs,
    Tokens,
    constant_of,
    fraction,
)
from algebra.plugins.models.onnx.weights import Parameter
from algebra.programs.program import Builder, Value

# The coefficients of GELU's tanh form, as its authors print them.
_CUBIC = Fraction(44715, 10**6)
# Lengths of vectors below which a quotient by them is another function.
_NO_LENGTH = Fraction(1, 10**6)
# Different numbers by which entries of a value are raised.
_MOST_EXPONENTS = 16


# The types that are not rounded: binary32, binary64.
_REAL = (1, 11)
# Types of whole numbers with 32 and 64 bits.
_WHOLE = (6, 7, 12, 13)
_PAIR, _PLACED = "A B", "broadcast axis"


def _unary(function: Callable[[Builder, Value], Value]) -> Operator:
    def read(call: Call) -> Item:
        return call.elementwise(call.item(0), lambda a: function(call.build, a))

    return Operator(read, idle="consumed_inputs")


def _applied(name: str) -> Operator:
    return _unary(lambda build, a: build.apply(name, a))


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


def _swish(call: Call) -> Item:
    """x σ(α x)."""
    slope, build = fraction(call.option("alpha", 1)), call.build
    return call.elementwise(
        call.item(0), lambda a: build.multiply(a, build.apply("sigmoid", build.scale(a, slope)))
    )


def _absolute(build: Builder, a: Value) -> Value:
    return build.choose(a, a, build.scale(a, -1))


def _tangent(build: Builder, a: Value) -> Value:
    return build.multiply(build.apply("sin", a), build.invert(build.apply("cos", a)))


def _hyperbolic(sign: int) -> Callable[[Builder, Value], Value]:
    """(e^x + e^−x)/2, or their difference."""

    def run(build: Builder, a: Value) -> Value:
        power = build.apply("exp", a)
        other = build.scale(build.invert(power), sign)
        return build.scale(build.add(power, other), Fraction(1, 2))

    return run


def _softsign(build: Builder, a: Value) -> Value:
    return build.multiply(a, build.invert(_shifted(build, _absolute(build, a), Fraction(1))))


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


def _exponential(
    call: Call, alpha: Fraction, scale: Fraction = Fraction(1), inner: Fraction = Fraction(1)
) -> Item:
    """scale · x for x > 0, else scale · α (e^(inner x) − 1)."""
    build = call.build

    def run(a: Value) -> Value:
        power = build.apply("exp", build.scale(a, inner))
        below = build.scale(_shifted(build, power, Fraction(-1)), alpha * scale)
        return build.choose(a, build.scale(a, scale), below)

    return call.elementwise(call.item(0), run)


def _elu(call: Call) -> Item:
    return _exponential(call, fraction(call.option("alpha", 1)))


def _selu(call: Call) -> Item:
    alpha, gamma = (
        call.option(name, np.float32(default).item())
        for name, default in (
            ("alpha", 1.67326319217681884765625),
            ("gamma", 1.05070102214813232421875),
        )
    )
    return _exponential(call, fraction(alpha), fraction(gamma))


def _celu(call: Call) -> Item:
    alpha = fraction(call.option("alpha", 1))
    if not alpha:
        raise InputError("it divides by alpha = 0")
    return _exponential(call, alpha, inner=1 / alpha)


def _thresholded(call: Call) -> Item:
    """x where x > α, else 0."""
    bound, build = fraction(call.option("alpha", 1)), call.build
    return call.elementwise(
        call.item(0), lambda a: build.choose(_shifted(build, a, -bound), a, build.scale(a, 0))
    )


def _shrink(call: Call) -> Item:
    """x + bias below −lambd, x − bias above lambd, else 0."""
    bias, bound = fraction(call.option("bias", 0)), fraction(call.option("lambd", 0.5))
    build = call.build

    def run(a: Value) -> Value:
        above = _shifted(build, a, -bound)
        below = _shifted(build, build.scale(a, -1), -bound)
        low = build.choose(below, _shifted(build, a, bias), build.scale(a, 0))
        return build.choose(above, _shifted(build, a, -bias), low)

    return call.elementwise(call.item(0), run)


def _hard(default: float, times: bool) -> Callable[[Call], Item]:
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
        value = call.option(name)
        if value is None and call.has(k):
            value = call.array(k, name).item()
        is_huge = value is not None and abs(value) > 1e30
        ends.append(None if value is None or is_huge else fraction(value))
    if ends[1] is None and _is_length(call, call.item(0), ends[0]):
        return call.item(0)
    return call.elementwise(call.item(0), lambda a: _clipped(call.build, a, *ends))


def _is_length(call: Call, item: Item, least: Fraction | None) -> bool:
    """Whether values are lengths of vectors, and a bound is there for vectors of length 0 only.

    A shorter vector would be a piece of its own that no training meets.
    """
    if least is None or not 0 < least <= _NO_LENGTH or not call.is_root(item):
        return False
    call.assume(f"lengths of vectors are above {least.numerator / least.denominator:.3g}")
    return True


def _sum(call: Call) -> Item:
    return call.total(*call.items())


def _mean(call: Call) -> Item:
    items = call.items()
    return call.scaled(call.total(*items), Fraction(1, len(items)))


def _second(call: Call) -> Item:
    """Input 1; before operator set 7 its axes may be put below an axis of input 0."""
    item = call.item(1)
    if call.option("broadcast", 0):
        axis, ndim = call.option("axis"), call.item(0).ndim
        after = 0 if axis is None else ndim - axis % ndim - item.ndim
        if after < 0:
            raise InputError(f"{item.ndim} axes do not fit from axis {axis} on")
        shape = (*item.shape, *[1] * after)
        return call.move(item, call.places(item).reshape(shape), item.batch)
    return item


def _add(call: Call) -> Item:
    return call.total(call.item(0), _second(call))


def _subtract(call: Call) -> Item:
    return call.total(call.item(0), call.scaled(_second(call), Fraction(-1)))


def _placed(call: Call) -> None:
    """The attributes by which axes were put, where one number is combined with all entries."""
    call.option("broadcast")
    call.option("axis")


def _scaled(call: Call, k: int, factor: Fraction) -> Item:
    _placed(call)
    return call.scaled(call.item(k), factor)


def _single(call: Call, k: int) -> Fraction | None:
    """Input k, if it is one number of the file without axes that the other lacks."""
    if call.is_constant(k):
        array = call.array(k, "")
        other = call.given(1 - k)
        ndim = getattr(other.array if isinstance(other, Parameter) else other, "ndim", 0)
        if array.size == 1 and array.ndim <= ndim and np.isfinite(array).all():
            return fraction(array.item())
    return None


def _multiply(call: Call) -> Item:
    for k in (0, 1):
        factor = _single(call, k)
        if factor is not None:
            return _scaled(call, 1 - k, factor)
    return call.product(call.item(0), _second(call))


def _divide(call: Call) -> Item:
    factor = _single(call, 1)
    if factor is not None:
        if factor == 0:
            raise InputError("it divides by 0")
        return _scaled(call, 0, 1 / factor)
    if call.is_constant(1) and (call.array(1, "the divisor") == 0).any():
        raise InputError("it divides by 0")
    below = call.elementwise(_second(call), call.build.invert)
    above = _single(call, 0)
    return call.scaled(below, above) if above is not None else call.product(call.item(0), below)


def _power(call: Call) -> Item:
    """A power; with another exponent than some fixed ones e^(y log x), or c^y = e^(y log c)."""
    exponent = _single(call, 1)
    if exponent is not None:
        _placed(call)
        return call.elementwise(call.item(0), lambda a: raised(call.build, a, exponent))
    y = _second(call)
    if call.is_constant(1):
        return _powers(call, call.array(1, "the exponents"), y)
    if call.is_constant(0):
        base = np.asarray(call.array(0, "the base"), np.float64)
        if not (base > 0).all():
            raise InputError("its base is a number that is not above 0")
        logarithm = call.constant(np.log(base))
    else:
        logarithm = call.elementwise(call.item(0), lambda a: call.build.apply("log", a))
    return call.elementwise(call.product(y, logarithm), lambda a: call.build.apply("exp", a))


def _powers(call: Call, exponents: np.ndarray, y: Item) -> Item:
    """Powers with several numbers as exponents."""
    a, y = call.broadcast(call.plain(call.item(0)), y)
    every = np.unique(exponents)
    if len(every) > _MOST_EXPONENTS:
        raise InputError(f"it has {len(every)} exponents; up to {_MOST_EXPONENTS} are read")
    wide = np.broadcast_to(exponents, y.shape)
    parts = [raised(call.build, a.value, fraction(e.item())) for e in every]
    table = call.places(a) + np.searchsorted(every, wide) * math.prod(a.shape)
    return Item(call.build.index(table, *parts), a.batch)


def raised(build: Builder, a: Value, exponent: Fraction) -> Value:
    """A power; by a logarithm unless its exponent is a whole number of quarters up to 64."""
    number = exponent
    while number.denominator in (2, 4):
        number = 2 * number
    if number.denominator != 1 or abs(number) > 64:
        return build.apply("exp", build.scale(build.apply("log", a), exponent))
    if not number:
        return build.constant(np.ones(a.shape, np.int64))
    for _ in range((exponent.denominator - 1).bit_length()):
        a = build.root(a)
    found = build.power(a, abs(int(number)))
    return build.invert(found) if number < 0 else found


def _extreme(sign: int) -> Callable[[Call], Item]:
    def run(call: Call) -> Item:
        if sign == 1 and len(call.inputs) == 2:
            for k in (0, 1):
                least = _single(call, k)
                if least is not None and _is_length(call, call.item(1 - k), least):
                    return call.item(1 - k)
        parts = call.broadcast(*(call.scaled(item, Fraction(sign)) for item in call.items()))
        return call.scaled(call.largest(parts), Fraction(sign))

    return run


def _compared(turned: bool = False, swapped: bool = False) -> Operator:
    """Where A > B; `swapped`: where A < B; `turned`: where not."""

    def run(call: Call) -> Item:
        # The comparisons with equality are younger than the attributes that put axes.
        other = call.item(1) if turned else _second(call)
        a, b = call.broadcast(call.plain(call.item(0)), call.plain(other))
        build, (high, low) = call.build, (b, a) if swapped else (a, b)
        difference = build.subtract(high.value, low.value)
        marks = [build.constant(np.full(a.shape, k, np.int64)) for k in (turned, not turned)]
        found = build.choose(difference, marks[1], marks[0])
        return Signs(found, a.batch, None, None, difference, turned)

    return Operator(run, _PAIR, "" if turned else _PLACED)


def _sign(build: Builder, a: Value) -> Value:
    one = build.constant(np.ones(a.shape, np.int64))
    below = build.choose(build.scale(a, -1), build.scale(one, -1), build.scale(one, 0))
    return build.choose(a, one, below)


def _where(call: Call) -> Item:
    mark = call.given(0)
    if isinstance(mark, Flags):
        return call.chosen(mark, call.item(1), call.item(2))
    condition, batch = call.constants(0, "the condition")
    condition = condition.astype(bool)
    marks = Item(call.build.constant(condition.astype(np.int64)), batch)
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


def _softmax_axes(call: Call, item: Item) -> list[int]:
    """The axis of a softmax; before operator set 13 all axes from the given one on."""
    if call.opset >= 13:
        return [call.along(item, call.option("axis", -1), "adds along")]
    first = call.option("axis", 1)
    if not -item.ndim <= first <= item.ndim:
        raise InputError(f"it has no axis {first}: its shape is {call.shape(item)}")
    return list(range(first % max(item.ndim, 1) if first < item.ndim else first, item.ndim))


def _softmax(call: Call) -> Item:
    item = call.item(0)
    return softmax(call, item, _softmax_axes(call, item))


def softmax(call: Call, item: Item, axes: Sequence[int], guarded: bool = False) -> Item:
    """Exponentials divided by their sum along axes; entries that are −∞ become 0.

    Where all of them are −∞ there is no value; `guarded`: it is 0.
    """
    found = _exponentials(call, item)
    total = call.summed(found, axes, True)
    if item.absent is not None:
        nothing = np.asarray(item.absent.all(axis=tuple(axes), keepdims=True))
        if nothing.any() and not guarded:
            raise InputError("it divides by 0: a mask leaves out all entries of a softmax")
        total = call.total(total, call.constant(nothing.astype(np.int64)))
    return call.product(found, call.elementwise(total, call.build.invert))


def _exponentials(call: Call, item: Item) -> Item:
    build = call.build
    powers = build.apply("exp", item.value)
    if item.absent is not None:
        powers = build.index(np.where(item.absent, -1, build.places(powers)), powers)
    if item.kept is not None:
        powers = build.multiply(powers, item.kept)
    return Item(powers, item.batch)


def _log_softmax(call: Call) -> Item:
    """x − log Σ e^x: one logarithm for all entries along the axes."""
    item = call.item(0)
    return call.total(item, call.scaled(log_sum(call, item, _softmax_axes(call, item), True),
                                        Fraction(-1)))  # fmt: skip


def log_sum(call: Call, item: Item, axes: Sequence[int], keep: bool) -> Item:
    """log Σ e^x along axes; entries that are −∞ are left out."""
    if item.absent is not None and item.absent.all(axis=tuple(axes)).any():
        raise InputError("it takes the logarithm of 0: a mask leaves out all entries of a sum")
    total = call.summed(_exponentials(call, item), axes, keep)
    return call.elementwise(total, lambda a: call.build.apply("log", a))


def _false(item: Item) -> np.ndarray | SampleConstants:
    """A flag for each entry of a value that is never set."""
    flags = np.zeros(item.shape, bool)
    return flags if item.batch is None else SampleConstants(flags, item.batch)


def _never(name: str) -> Operator:
    """What is so of no finite number."""

    def run(call: Call) -> np.ndarray | SampleConstants:
        call.assume("values are finite numbers")
        item = call.item(0)
        if name == "IsInf" and (item.absent is not None or item.kept is not None):
            raise InputError("it looks for entries that are −∞")
        return _false(item)

    idle = "detect_negative detect_positive" if name == "IsInf" else ""
    return Operator(run, "X", "", idle)


def _identity(call: Call) -> object:
    return call.given(0)


def _dropout(call: Call) -> object:
    """Nothing, unless in training."""
    rate = call.array(1, "the rate").item() if call.is_constant(1) else call.option("ratio", 0.5)
    training = call.opset < 7 and not call.option("is_test", 0)
    if call.has(2):
        training = bool(call.array(2, "the mode").item())
    if training and rate:
        raise InputError("it is in training mode, where labels are random")
    return call.given(0)


def _logical(kind: str) -> Operator:
    """Of masks that are 0 and 1: products and sums."""

    def run(call: Call) -> Item | np.ndarray | SampleConstants:
        parts = call.broadcast(*(_flags(call, k) for k in range(2)))
        build, (a, b) = call.build, (part.value for part in parts)
        known = [constant_of(build, part.value) for part in parts]
        if kind == "And" and any(found and not found[0].any() for found in known):
            # It is set for no sample: what is chosen by it may be infinite.
            return _false(parts[0])
        both = build.multiply(a, b)
        if kind == "And":
            return Flags(both, parts[0].batch)
        less = build.scale(both, -1 if kind == "Or" else -2)
        return Flags(build.add(a, b, less), parts[0].batch)

    return Operator(run, _PAIR, _PLACED)


def _flags(call: Call, k: int) -> Item:
    found = call.given(k)
    if isinstance(found, np.ndarray) and found.dtype == bool:
        return call.constant(found.astype(np.int64))
    if isinstance(found, SampleConstants) and found.array.dtype == bool:
        return Item(call.constant(found.array.astype(np.int64)).value, found.batch)
    if not isinstance(found, Flags):
        raise InputError(f"its input {k} is no mask of 0 and 1")
    return found


def _not(call: Call) -> Item:
    return call.opposite(_flags(call, 0))


def _cast(call: Call) -> object:
    found = call.given(0)
    kind = call.option("to", 1)
    if isinstance(found, Flags):
        # 0 and 1 are numbers of every type; only as Booleans do they choose.
        return found if kind == BOOLEAN else Item(found.value, found.batch)
    if isinstance(found, Tokens) and found.hot is not None and kind in _REAL:
        return numbers_of(call, found)
    if isinstance(found, Tokens) and kind not in _WHOLE:
        raise InputError(
            f"it makes real numbers of {found.title}, which may only "
            f"choose rows of a table; `sizes` {found.name}=1 gives all of them one value (a mask)"
        )
    if isinstance(found, Item) and kind not in _REAL:
        raise InputError("it rounds a value that depends on samples or weights")
    return found


def _cast_like(call: Call) -> object:
    found, like = call.given(0), call.given(1)
    array = like.array if isinstance(like, Parameter) else like
    real = isinstance(array, Item) or getattr(array, "dtype", "") in (np.float32, np.float64)
    if isinstance(found, Item) and not real:
        raise InputError("it rounds a value that depends on samples or weights")
    return found


ELEMENTWISE: dict[str, Operator] = {
    "Abs": _unary(_absolute),
    "And": _logical("And"),
    "Add": Operator(_add, _PAIR, _PLACED, "consumed_inputs"),
    "Cast": Operator(_cast, "input", "to", "saturate round_mode"),
    "CastLike": Operator(_cast_like, "input target_type", "", "saturate round_mode"),
    "Celu": Operator(_celu, "X", "alpha"),
    "Cos": _applied("cos"),
    "Cosh": _unary(_hyperbolic(1)),
    "Clip": Operator(_clip, "input min max", "min max", "consumed_inputs"),
    "Div": Operator(_divide, _PAIR, _PLACED, "consumed_inputs"),
    "Dropout": Operator(
        _dropout, "data ratio training_mode", "ratio is_test", "ratio seed consumed_inputs"
    ),
    "Elu": Operator(_elu, "X", "alpha", "consumed_inputs"),
    "Erf": _applied("erf"),
    "Exp": _applied("exp"),
    "Gelu": Operator(_gelu, "X", "approximate"),
    "Greater": _compared(),
    "GreaterOrEqual": _compared(turned=True, swapped=True),
    "HardSigmoid": Operator(_hard(np.float32(0.2).item(), False), "X", "alpha beta"),
    "HardSwish": Operator(_hard(1 / 6, True)),
    "Identity": Operator(_identity, "input"),
    "IsInf": _never("IsInf"),
    "IsNaN": _never("IsNaN"),
    "LeakyRelu": Operator(_leaky, "X", "alpha", "consumed_inputs"),
    "Less": _compared(swapped=True),
    "LessOrEqual": _compared(turned=True),
    "Log": _applied("log"),
    "LogSoftmax": Operator(_log_softmax, "input", "axis"),
    "Max": Operator(_extreme(1), "data*", "", "consumed_inputs"),
    "Mean": Operator(_mean, "data*", "", "consumed_inputs"),
    "Min": Operator(_extreme(-1), "data*", "", "consumed_inputs"),
    "Mish": _unary(
        lambda build, a: build.multiply(a, build.apply("tanh", build.apply("softplus", a)))
    ),
    "Mul": Operator(_multiply, _PAIR, _PLACED, "consumed_inputs"),
    "Neg": _unary(lambda build, a: build.scale(a, -1)),
    "Not": Operator(_not),
    "Or": _logical("Or"),
    "PRelu": Operator(_parametric, "X slope", "", "consumed_inputs"),
    "Pow": Operator(_power, "X Y", _PLACED),
    "Reciprocal": _unary(lambda build, a: build.invert(a)),
    "Relu": _unary(Builder.rectified),
    "Selu": Operator(_selu, "X", "alpha gamma", "consumed_inputs"),
    "Shrink": Operator(_shrink, "input", "bias lambd"),
    "Sigmoid": _applied("sigmoid"),
    "Sign": _unary(_sign),
    "Sin": _applied("sin"),
    "Sinh": _unary(_hyperbolic(-1)),
    "Softmax": Operator(_softmax, "input", "axis"),
    "Softplus": _applied("softplus"),
    "Softsign": _unary(_softsign),
    "Sqrt": _unary(lambda build, a: build.root(a)),
    "Sub": Operator(_subtract, _PAIR, _PLACED, "consumed_inputs"),
    "Sum": Operator(_sum, "data*", "", "consumed_inputs"),
    "Swish": Operator(_swish, "X", "alpha"),
    "Tan": _unary(_tangent),
    "Tanh": _applied("tanh"),
    "ThresholdedRelu": Operator(_thresholded, "X", "alpha"),
    "Where": Operator(_where, "condition X Y"),
    "Xor": _logical("Xor"),
}
