"""Vector instructions for lane kernels, written as LLVM intrinsics.

The compiler cannot prove that two slots of one workspace differ, so it does not vectorize loops
that read and write the same array.  These intrinsics are explicit vector code: a
slot part is one LLVM vector of `LANES` doubles, which the back end splits into the registers of
the processor (two 512-bit or four 256-bit registers).  Products and sums use
``llvm.fmuladd``: fused if the processor has fused operations, rounded twice otherwise.

All take the workspace ``ws[slot, part, lane]`` (float64, C-contiguous, 64-byte aligned) and
slot numbers.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

# Lanes of a workspace.  With eight, loops of few products spend more time outside the products;
# with 32 the workspaces of large systems leave the cache (`benchmarks/bench_complete.py`).
LANES = 16
# Dot products with a common factor that are computed together: the factor is loaded once.
TILE = 2

_DOUBLE = ir.DoubleType()
_VECTOR = ir.VectorType(_DOUBLE, LANES)
_INT = ir.IntType(64)
_BITS = ir.IntType(LANES)
_ALIGN = 64
_HAS_KINDS = "typ" in inspect.signature(ir.IRBuilder.load).parameters


class _Code:
    """IR building helpers bound to one workspace."""

    def __init__(self, context: Any, builder: Any, array_type: Any, value: Any) -> None:
        self.builder = builder
        array = context.make_array(array_type)(context, builder, value)
        self.base = array.data

    def _apply(self, name: str, *values: Any) -> Any:
        """A function of LLVM, lane by lane."""
        kind = ir.FunctionType(_VECTOR, [_VECTOR] * len(values))
        return self.builder.call(
            self.builder.module.declare_intrinsic(f"llvm.{name}.v{LANES}f64", (), kind), values
        )

    def _address(self, slot: Any, part: int) -> Any:
        index = self.builder.mul(slot, _INT(2 * LANES))
        if part:
            index = self.builder.add(index, _INT(LANES))
        pointer = self.builder.gep(self.base, [index])
        return self.builder.bitcast(pointer, _VECTOR.as_pointer())

    def load(self, slot: Any) -> tuple[Any, Any]:
        """Real and imaginary part of a slot."""
        return tuple(  # type: ignore[return-value]
            _load(self.builder, self._address(slot, part), align=_ALIGN) for part in (0, 1)
        )

    def store(self, slot: Any, value: tuple[Any, Any]) -> None:
        for part in (0, 1):
            self.builder.store(value[part], self._address(slot, part), align=_ALIGN)

    def fma(self, x: Any, y: Any, z: Any) -> Any:
        """``x y + z``."""
        return self._apply("fmuladd", x, y, z)

    def square(self, re: Any, im: Any) -> Any:
        """``|z|²``."""
        return self.fma(re, re, self.builder.fmul(im, im))

    def root(self, x: Any) -> Any:
        """Square roots."""
        return self._apply("sqrt", x)

    def spread(self, value: Any, kind: Any) -> Any:
        """A vector of one value."""
        nothing = ir.Constant(kind, ir.Undefined)
        mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        one = self.builder.insert_element(nothing, value, ir.IntType(32)(0))
        return self.builder.shuffle_vector(one, nothing, mask)

    def exact_fma(self, x: Any, y: Any, z: Any) -> Any:
        """``x y + z`` rounded once on every processor."""
        return self._apply("fma", x, y, z)

    def two_sum(self, x: Any, y: Any) -> tuple[Any, Any]:
        """``x + y`` and its rounding error (Knuth)."""
        b = self.builder
        total = b.fadd(x, y)
        part = b.fsub(total, x)
        error = b.fadd(b.fsub(x, b.fsub(total, part)), b.fsub(y, part))
        return total, error

    def pair_add_product(
        self, pair: tuple[Any, Any], x: tuple[Any, Any], y: tuple[Any, Any], sign: int
    ) -> tuple[Any, Any]:
        """``pair ± x y``, all pairs of doubles (high, low)."""
        b = self.builder
        high = x[0] if sign > 0 else self.negative(x[0])
        low = x[1] if sign > 0 else self.negative(x[1])
        product = b.fmul(high, y[0])
        error = self.exact_fma(high, y[0], self.negative(product))
        error = b.fadd(error, b.fadd(b.fmul(high, y[1]), b.fmul(low, y[0])))
        total, rest = self.two_sum(pair[0], product)
        rest = b.fadd(rest, b.fadd(pair[1], error))
        new = b.fadd(total, rest)
        return new, b.fsub(rest, b.fsub(new, total))

    def pair(self, slot: Any, low: Any) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
        """Real and imaginary part of a slot, each as a pair (high, low)."""
        high, rest = self.load(slot), self.load(self.builder.add(slot, low))
        return (high[0], rest[0]), (high[1], rest[1])

    def store_pair(self, slot: Any, low: Any, value: tuple[Any, Any]) -> None:
        """What `pair` reads."""
        (rh, rl), (ih, il) = value
        self.store(slot, (rh, ih))
        self.store(self.builder.add(slot, low), (rl, il))

    def pair_add_complex(self, value: tuple[Any, Any], x: Any, y: Any, sign: int) -> Any:
        """``value ± x y``, complex numbers whose parts are pairs."""
        (ar, ai), (br, bi), (re, im) = x, y, value
        re = self.pair_add_product(re, ar, br, sign)
        re = self.pair_add_product(re, ai, bi, -sign)
        im = self.pair_add_product(im, ar, bi, sign)
        return re, self.pair_add_product(im, ai, br, sign)

    def pair_sum(self, start: Any, step: Callable[[Any, Any], Any], count: Any) -> Any:
        """The value after ``value = step(value, index)`` for each index below count."""
        registers = [_variable(self.builder) for _ in range(4)]

        def now() -> Any:
            rh, rl, ih, il = (_load(self.builder, register) for register in registers)
            return (rh, rl), (ih, il)

        def keep(value: Any) -> None:
            for register, part in zip(registers, itertools.chain(*value), strict=True):
                self.builder.store(part, register)

        keep(start)
        with _loop(self.builder, count) as index:
            keep(step(now(), index))
        return now()

    def negative(self, x: Any) -> Any:
        return self.builder.fneg(x)

    def sums(self) -> list[Any]:
        """Stack slots for four running sums, set to zero; they become registers by optimisation."""
        zero = _constant(0.0)
        registers = []
        for _ in range(4):
            register = _variable(self.builder)
            self.builder.store(zero, register)
            registers.append(register)
        return registers

    def accumulate(self, registers: list[Any], a: Any, b: Any) -> None:
        """Add the four real products of slots a and b to the running sums."""
        (ar, ai), (br, bi) = self.load(a), self.load(b)
        for register, x, y in zip(registers, (ar, ai, ar, ai), (br, bi, bi, br), strict=True):
            old = _load(self.builder, register)
            self.builder.store(self.fma(x, y, old), register)

    def finish(self, registers: list[Any], c: Any, sign: int) -> None:
        """``ws[c] += sign * sums``."""
        b = self.builder
        rr, ii, ri, ir_ = (_load(b, register) for register in registers)
        re, im = b.fsub(rr, ii), b.fadd(ri, ir_)
        old = self.load(c)
        combine = b.fadd if sign > 0 else b.fsub
        self.store(c, (combine(old[0], re), combine(old[1], im)))


def _load(builder: Any, pointer: Any, kind: Any = _VECTOR, align: int | None = None) -> Any:
    """What a pointer points to; llvmlite took its type from the pointer before version 0.44."""
    more = {"typ": kind} if _HAS_KINDS else {}
    return builder.load(pointer, align=align, **more)


def _constant(value: float) -> Any:
    """A vector of one number."""
    return ir.Constant(_VECTOR, [ir.Constant(_DOUBLE, value)] * LANES)


def _variable(builder: Any) -> Any:
    """A vector on the stack."""
    with builder.goto_entry_block():
        return builder.alloca(_VECTOR)


@contextmanager
def _loop(builder: Any, count: Any) -> Iterator[Any]:
    """What is emitted inside runs for each index below a number; yields the index."""
    before = builder.basic_block
    test, body, end = (
        builder.append_basic_block(f"loop.{name}") for name in ("test", "body", "end")
    )
    builder.branch(test)
    builder.position_at_end(test)
    index = builder.phi(_INT)
    builder.cbranch(builder.icmp_signed("<", index, count), body, end)
    builder.position_at_end(body)
    yield index
    index.add_incoming(_INT(0), before)
    index.add_incoming(builder.add(index, _INT(1)), builder.basic_block)
    builder.branch(test)
    builder.position_at_end(end)


def _entry(context: Any, builder: Any, list_type: Any, value: Any, index: Any) -> Any:
    """Element of a one-dimensional int64 array."""
    array = context.make_array(list_type)(context, builder, value)
    return _load(builder, builder.gep(array.data, [index]), _INT)


def _of_lanes(context: Any, builder: Any, list_type: Any, value: Any, kind: Any = _VECTOR) -> Any:
    """The vector of a one-dimensional array with an entry for each lane."""
    array = context.make_array(list_type)(context, builder, value)
    return _load(builder, builder.bitcast(array.data, kind.as_pointer()), kind, align=8)


def _void(typing: Any, emit: Callable[..., None], *signature: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        emit(context, builder, sig.args, args)
        return context.get_dummy_value()

    return types.void(*signature), codegen


@intrinsic
def set_slots(typing, ws, at, count, value):  # type: ignore[no-untyped-def]
    """``ws[at : at + count] = value``, a real number."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, at_, n, value_ = args
        zero = _constant(0.0)
        parts = code.spread(value_, _VECTOR), zero
        with _loop(builder, n) as index:
            code.store(builder.add(at_, index), parts)

    return _void(typing, emit, ws, types.int64, types.int64, types.float64)


@intrinsic
def copy_slots(typing, ws, to, at, count):  # type: ignore[no-untyped-def]
    """``ws[to : to + count] = ws[at : at + count]``."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, to_, at_, n = args
        with _loop(builder, n) as index:
            code.store(builder.add(to_, index), code.load(builder.add(at_, index)))

    return _void(typing, emit, ws, *[types.int64] * 3)


@intrinsic
def choose_slots(typing, ws, to, at, count, chosen):  # type: ignore[no-untyped-def]
    """`copy_slots` in the lanes where the array `chosen` of int64 is not 0."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, to_, at_, n, chosen_ = args
        kind = ir.VectorType(_INT, LANES)
        lanes = _of_lanes(context, builder, signature[4], chosen_, kind)
        which = builder.icmp_unsigned("!=", lanes, ir.Constant(kind, [_INT(0)] * LANES))
        with _loop(builder, n) as index:
            slot = builder.add(to_, index)
            both = zip(code.load(builder.add(at_, index)), code.load(slot), strict=True)
            code.store(slot, tuple(builder.select(which, new, old) for new, old in both))  # type: ignore[arg-type]

    return _void(typing, emit, ws, *[types.int64] * 3, chosen)


@intrinsic
def add_slots(typing, ws, to, at, count, sign):  # type: ignore[no-untyped-def]
    """``ws[to : to + count] += sign * ws[at : at + count]``, the sign a real number."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, to_, at_, n, sign_ = args
        factor = code.spread(sign_, _VECTOR)
        with _loop(builder, n) as index:
            slot = builder.add(to_, index)
            both = zip(code.load(builder.add(at_, index)), code.load(slot), strict=True)
            code.store(slot, tuple(code.fma(factor, new, old) for new, old in both))  # type: ignore[arg-type]

    return _void(typing, emit, ws, *[types.int64] * 3, types.float64)


@intrinsic
def line_slots(typing, ws, to, at, slope, count, t):  # type: ignore[no-untyped-def]
    """``ws[to + i] = ws[at + i] + t ws[slope + i]``, i < count; t is real, one for each lane."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, to_, at_, slope_, n, t_ = args
        time = _of_lanes(context, builder, signature[5], t_)
        with _loop(builder, n) as index:
            first, way = (code.load(builder.add(slot, index)) for slot in (at_, slope_))
            both = zip(first, way, strict=True)
            value = tuple(code.fma(time, y, x) for x, y in both)
            code.store(builder.add(to_, index), value)  # type: ignore[arg-type]

    return _void(typing, emit, ws, *[types.int64] * 4, t)


@intrinsic
def scale_real(typing, ws, to, at, factors, count):  # type: ignore[no-untyped-def]
    """``ws[to + i] = ws[at + i] * ws[factors + i]``, i < count; factors are real parts."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, to_, at_, factors_, n = args
        with _loop(builder, n) as index:
            factor = code.load(builder.add(factors_, index))[0]
            value = tuple(builder.fmul(x, factor) for x in code.load(builder.add(at_, index)))
            code.store(builder.add(to_, index), value)  # type: ignore[arg-type]

    return _void(typing, emit, ws, *[types.int64] * 4)


@intrinsic
def dot_add(typing, ws, c, a, a_stride, b, b_stride, count):  # type: ignore[no-untyped-def]
    """``ws[c] += Σ_q ws[a + q a_stride] * ws[b + q b_stride]``, q from 0 to count - 1."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, c_, a_, sa, b_, sb, n = args
        registers = code.sums()
        with _loop(builder, n) as index:
            at_a = builder.add(a_, builder.mul(index, sa))
            at_b = builder.add(b_, builder.mul(index, sb))
            code.accumulate(registers, at_a, at_b)
        code.finish(registers, c_, 1)

    return _void(typing, emit, ws, *[types.int64] * 6)


@intrinsic
def tile_dot_add(typing, ws, c, c_step, a, a_stride, b, b_step, b_stride, count):  # type: ignore[no-untyped-def]
    """`dot_add` for `TILE` pairs: c and b advance by their steps, a stays the same."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, c_, step_c, a_, sa, b_, step_b, sb, n = args
        to = [builder.add(c_, builder.mul(_INT(t), step_c)) for t in range(TILE)]
        registers = [[_variable(builder) for _ in range(2)] for _ in to]
        for slot, pair in zip(to, registers, strict=True):
            for register, value in zip(pair, code.load(slot), strict=True):
                builder.store(value, register)
        with _loop(builder, n) as index:
            ar, ai = code.load(builder.add(a_, builder.mul(index, sa)))
            na = code.negative(ai)
            at = builder.add(b_, builder.mul(index, sb))
            for t, pair in enumerate(registers):
                br, bi = code.load(builder.add(at, builder.mul(_INT(t), step_b)))
                re, im = (_load(builder, register) for register in pair)
                builder.store(code.fma(na, bi, code.fma(ar, br, re)), pair[0])
                builder.store(code.fma(ai, br, code.fma(ar, bi, im)), pair[1])
        for slot, pair in zip(to, registers, strict=True):
            code.store(slot, tuple(_load(builder, register) for register in pair))  # type: ignore[arg-type]

    return _void(typing, emit, ws, *[types.int64] * 8)


@intrinsic
def list_dot_subtract(typing, ws, c, row, x, columns, first, last):  # type: ignore[no-untyped-def]
    """``ws[c] -= Σ_j ws[row + j] * ws[x + j]`` over j in columns[first:last]."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, c_, row_, x_, columns_, first_, last_ = args
        registers = code.sums()
        with _loop(builder, builder.sub(last_, first_)) as index:
            at = builder.add(first_, index)
            j = _entry(context, builder, signature[4], columns_, at)
            code.accumulate(registers, builder.add(row_, j), builder.add(x_, j))
        code.finish(registers, c_, -1)

    return _void(typing, emit, ws, *[types.int64] * 3, columns, types.int64, types.int64)


@intrinsic
def list_eliminate(typing, ws, row, factor, pivot, columns, first, last):  # type: ignore[no-untyped-def]
    """``ws[row + j] -= ws[factor] * ws[pivot + j]`` for j in columns[first:last]."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, row_, factor_, pivot_, columns_, first_, last_ = args
        fr, fi = code.load(factor_)
        nr, ni = code.negative(fr), code.negative(fi)
        with _loop(builder, builder.sub(last_, first_)) as index:
            at = builder.add(first_, index)
            j = _entry(context, builder, signature[4], columns_, at)
            br, bi = code.load(builder.add(pivot_, j))
            to = builder.add(row_, j)
            re, im = code.load(to)
            re = code.fma(fi, bi, code.fma(nr, br, re))
            im = code.fma(ni, br, code.fma(nr, bi, im))
            code.store(to, (re, im))

    return _void(typing, emit, ws, *[types.int64] * 3, columns, types.int64, types.int64)


@intrinsic
def horner(typing, ws, to, base, stride, order, h):  # type: ignore[no-untyped-def]
    """``ws[to] = Σ_j ws[base + j stride] h^j``, j from 0 to order, h real, one for each lane."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, to_, base_, stride_, order_, h_ = args
        step = _of_lanes(context, builder, signature[5], h_)
        registers = [_variable(builder) for _ in range(2)]
        for register, value in zip(
            registers, code.load(builder.add(base_, builder.mul(order_, stride_))), strict=True
        ):
            builder.store(value, register)
        with _loop(builder, order_) as index:
            j = builder.sub(builder.sub(order_, _INT(1)), index)
            value = code.load(builder.add(base_, builder.mul(j, stride_)))
            for register, x in zip(registers, value, strict=True):
                builder.store(code.fma(_load(builder, register), step, x), register)
        code.store(to_, tuple(_load(builder, register) for register in registers))  # type: ignore[arg-type]

    return _void(typing, emit, ws, *[types.int64] * 4, h)


@intrinsic
def conjugate_dot(typing, ws, c, a, b, count):  # type: ignore[no-untyped-def]
    """``ws[c] = Σ_i conj(ws[a + i]) * ws[b + i]``, i from 0 to count - 1."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, c_, a_, b_, n = args
        registers = code.sums()
        with _loop(builder, n) as index:
            code.accumulate(registers, builder.add(a_, index), builder.add(b_, index))
        rr, ii, ri, ir_ = (_load(builder, register) for register in registers)
        code.store(c_, (builder.fadd(rr, ii), builder.fsub(ri, ir_)))

    return _void(typing, emit, ws, *[types.int64] * 4)


@intrinsic
def conjugate(typing, ws, to, at):  # type: ignore[no-untyped-def]
    """``ws[to] = conj(ws[at])``."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        re, im = code.load(args[2])
        code.store(args[1], (re, code.negative(im)))

    return _void(typing, emit, ws, *[types.int64] * 2)


@intrinsic
def scale_slots(typing, ws, at, count, factor):  # type: ignore[no-untyped-def]
    """``ws[at : at + count] *= ws[factor]``."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, at_, n, factor_ = args
        fr, fi = code.load(factor_)
        with _loop(builder, n) as index:
            slot = builder.add(at_, index)
            re, im = code.load(slot)
            new_re = builder.fsub(builder.fmul(re, fr), builder.fmul(im, fi))
            new_im = code.fma(re, fi, builder.fmul(im, fr))
            code.store(slot, (new_re, new_im))

    return _void(typing, emit, ws, *[types.int64] * 3)


@intrinsic
def equilibrate(typing, ws, row, count, columns, own):  # type: ignore[no-untyped-def]
    """Scale a row by its columns, then by its largest entry.

    ``ws[row + j]`` is multiplied by the real ``ws[columns + j]`` and by the inverse of the largest
    resulting modulus, which is written to the real part of ``ws[own]``.
    """

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, row_, n, columns_, own_ = args
        register = _variable(builder)
        builder.store(_constant(1e-300), register)
        with _loop(builder, n) as index:
            slot = builder.add(row_, index)
            factor = code.load(builder.add(columns_, index))[0]
            value = tuple(builder.fmul(x, factor) for x in code.load(slot))
            code.store(slot, value)  # type: ignore[arg-type]
            largest, size = _load(builder, register), code.square(*value)
            builder.store(
                builder.select(builder.fcmp_ordered(">", size, largest), size, largest), register
            )
        one = _constant(1.0)
        inverse = builder.fdiv(one, code.root(_load(builder, register)))
        code.store(own_, (inverse, code.load(own_)[1]))
        with _loop(builder, n) as index:
            slot = builder.add(row_, index)
            code.store(slot, tuple(builder.fmul(x, inverse) for x in code.load(slot)))  # type: ignore[arg-type]

    return _void(typing, emit, ws, *[types.int64] * 4)


@intrinsic
def invert_slot(typing, ws, at):  # type: ignore[no-untyped-def]
    """``ws[at] = 1 / ws[at]``."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        re, im = code.load(args[1])
        size = code.square(re, im)
        code.store(args[1], (builder.fdiv(re, size), builder.fdiv(code.negative(im), size)))

    return _void(typing, emit, ws, types.int64)


@intrinsic
def set_square(typing, ws, to, at):  # type: ignore[no-untyped-def]
    """Set the real part of ``ws[to]`` to ``|ws[at]|²``."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        code.store(args[1], (code.square(*code.load(args[2])), code.load(args[1])[1]))

    return _void(typing, emit, ws, *[types.int64] * 2)


@intrinsic
def take_larger(typing, ws, at, best, share, pivots, k, i):  # type: ignore[no-untyped-def]
    """Choose row i in the lanes where ``share |ws[at]|²`` exceeds the real part of ``ws[best]``.

    There ``pivots[k]`` is set to i, and ``ws[best]`` to the share of the square: only the first
    choice must exceed by the share, later ones need only be larger.  Returns whether any lane
    chose i.
    """

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        code = _Code(context, builder, sig.args[0], args[0])
        _, at_, best_, share_, pivots_, k_, i_ = args
        size, (old, rest) = code.square(*code.load(at_)), code.load(best_)
        size = builder.fmul(size, code.spread(share_, _VECTOR))
        found = builder.fcmp_ordered(">", size, old)
        code.store(best_, (builder.select(found, size, old), rest))
        rows = context.make_array(sig.args[4])(context, builder, pivots_)
        kind = ir.VectorType(_INT, LANES)
        pointer = builder.gep(rows.data, [builder.mul(k_, _INT(LANES))])
        pointer = builder.bitcast(pointer, kind.as_pointer())
        chosen = builder.select(
            found, code.spread(i_, kind), _load(builder, pointer, kind, align=8)
        )
        builder.store(chosen, pointer, align=8)
        return builder.icmp_unsigned("!=", builder.bitcast(found, _BITS), _BITS(0))

    kinds = ws, types.int64, types.int64, types.float64, pivots, types.int64, types.int64
    return types.boolean(*kinds), codegen


@intrinsic
def is_zero(typing, ws, at):  # type: ignore[no-untyped-def]
    """Whether a slot is zero in every lane; NaN counts as non-zero."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        code = _Code(context, builder, sig.args[0], args[0])
        zero = _constant(0.0)
        parts = [builder.fcmp_unordered("!=", x, zero) for x in code.load(args[1])]
        return builder.icmp_unsigned("==", builder.bitcast(builder.or_(*parts), _BITS), _BITS(0))

    return types.boolean(ws, types.int64), codegen


@intrinsic
def pair_dot_add(typing, ws, c, a, a_stride, b, b_stride, count, low):  # type: ignore[no-untyped-def]
    """``ws[c] += Σ_q ws[a + q a_stride] * ws[b + q b_stride]`` in pairs of doubles.

    The low part of a number at slot s is stored at slot ``s + low``.
    """

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, c_, a_, sa, b_, sb, n, low_ = args

        def step(value: Any, index: Any) -> Any:
            x = code.pair(builder.add(a_, builder.mul(index, sa)), low_)
            y = code.pair(builder.add(b_, builder.mul(index, sb)), low_)
            return code.pair_add_complex(value, x, y, 1)

        code.store_pair(c_, low_, code.pair_sum(code.pair(c_, low_), step, n))

    return _void(typing, emit, ws, *[types.int64] * 7)


@intrinsic
def pair_list_dot_subtract(typing, ws, c, row, x, columns, first, last, low):  # type: ignore[no-untyped-def]
    """`list_dot_subtract` in pairs of doubles."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, c_, row_, x_, columns_, first_, last_, low_ = args

        def step(value: Any, index: Any) -> Any:
            j = _entry(context, builder, signature[4], columns_, builder.add(first_, index))
            left = code.pair(builder.add(row_, j), low_)
            return code.pair_add_complex(value, left, code.pair(builder.add(x_, j), low_), -1)

        count = builder.sub(last_, first_)
        code.store_pair(c_, low_, code.pair_sum(code.pair(c_, low_), step, count))

    return _void(typing, emit, ws, *[types.int64] * 3, columns, *[types.int64] * 3)


@intrinsic
def pair_list_eliminate(typing, ws, row, factor, pivot, columns, first, last, low):  # type: ignore[no-untyped-def]
    """`list_eliminate` in pairs of doubles."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, row_, factor_, pivot_, columns_, first_, last_, low_ = args
        left = code.pair(factor_, low_)
        with _loop(builder, builder.sub(last_, first_)) as index:
            j = _entry(context, builder, signature[4], columns_, builder.add(first_, index))
            to, right = builder.add(row_, j), code.pair(builder.add(pivot_, j), low_)
            value = code.pair_add_complex(code.pair(to, low_), left, right, -1)
            code.store_pair(to, low_, value)

    return _void(typing, emit, ws, *[types.int64] * 3, columns, *[types.int64] * 3)


@intrinsic
def pair_horner(typing, ws, to, base, stride, order, h, low):  # type: ignore[no-untyped-def]
    """`horner` in pairs of doubles."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, to_, base_, stride_, order_, h_, low_ = args
        time = _of_lanes(context, builder, signature[5], h_)
        zero = _constant(0.0)

        def coefficient(j: Any) -> Any:
            return code.pair(builder.add(base_, builder.mul(j, stride_)), low_)

        def step(value: Any, index: Any) -> Any:
            terms = coefficient(builder.sub(builder.sub(order_, _INT(1)), index))
            both = zip(terms, value, strict=True)
            return tuple(code.pair_add_product(x, y, (time, zero), 1) for x, y in both)

        code.store_pair(to_, low_, code.pair_sum(coefficient(order_), step, order_))

    return _void(typing, emit, ws, *[types.int64] * 4, h, types.int64)


@intrinsic
def pair_multiply(typing, ws, to, factor, low):  # type: ignore[no-untyped-def]
    """``ws[to] *= ws[factor]`` in pairs of doubles."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, to_, factor_, low_ = args
        zero = _constant(0.0)
        nothing = ((zero, zero), (zero, zero))
        x, y = code.pair(to_, low_), code.pair(factor_, low_)
        code.store_pair(to_, low_, code.pair_add_complex(nothing, x, y, 1))

    return _void(typing, emit, ws, *[types.int64] * 3)


@intrinsic
def pair_add(typing, ws, c, a, low):  # type: ignore[no-untyped-def]
    """``ws[c] += ws[a]``: adds a double to a pair."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, c_, a_, low_ = args
        old, rest, new = code.load(c_), code.load(builder.add(c_, low_)), code.load(a_)
        highs, lows = [], []
        for part in (0, 1):
            total, error = code.two_sum(old[part], new[part])
            error = builder.fadd(error, rest[part])
            high = builder.fadd(total, error)
            highs.append(high)
            lows.append(builder.fsub(error, builder.fsub(high, total)))
        code.store(c_, tuple(highs))  # type: ignore[arg-type]
        code.store(builder.add(c_, low_), tuple(lows))  # type: ignore[arg-type]

    return _void(typing, emit, ws, *[types.int64] * 3)


@intrinsic
def pair_line(typing, ws, c, a, b, t, low):  # type: ignore[no-untyped-def]
    """``ws[c] = ws[a] + t ws[b]`` as a pair; a and b are doubles, t is real, one per lane."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, c_, a_, b_, t_, low_ = args
        time = _of_lanes(context, builder, signature[4], t_)
        zero = _constant(0.0)
        parts = [
            code.pair_add_product((x, zero), (time, zero), (y, zero), 1)
            for x, y in zip(code.load(a_), code.load(b_), strict=True)
        ]
        code.store(c_, (parts[0][0], parts[1][0]))
        code.store(builder.add(c_, low_), (parts[0][1], parts[1][1]))

    return _void(typing, emit, ws, *[types.int64] * 3, t, types.int64)
