"""Vector instructions for lane kernels, written as LLVM intrinsics.

The compiler cannot prove that two slots of one workspace differ, so it will not turn loops
that read and write the same array into vector code.  These intrinsics say it outright: a
slot part is one LLVM vector of `LANES` doubles, which the back end splits into whatever the
processor has (two 512-bit, four 256-bit or eight 128-bit registers).  Products and sums use
``llvm.fmuladd``: fused where the processor fuses, exact rounding rules otherwise.

All take the workspace ``ws[slot, part, lane]`` (float64, C-contiguous, 64-byte aligned) and
slot numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

# Lanes of a workspace: two 512-bit vectors hide the latency of a multiply-add.
LANES = 16

_DOUBLE = ir.DoubleType()
_VECTOR = ir.VectorType(_DOUBLE, LANES)
_INT = ir.IntType(64)
_ALIGN = 64


class _Code:
    """IR building helpers bound to one workspace."""

    def __init__(self, context: Any, builder: Any, array_type: Any, value: Any) -> None:
        self.builder = builder
        array = context.make_array(array_type)(context, builder, value)
        self.base = array.data
        self.multiply_add = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(_VECTOR, [_VECTOR] * 3),
            f"llvm.fmuladd.v{LANES}f64",
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
            self.builder.load(self._address(slot, part), align=_ALIGN, typ=_VECTOR)
            for part in (0, 1)
        )

    def store(self, slot: Any, value: tuple[Any, Any]) -> None:
        for part in (0, 1):
            self.builder.store(value[part], self._address(slot, part), align=_ALIGN)

    def fma(self, x: Any, y: Any, z: Any) -> Any:
        """``x y + z``."""
        return self.builder.call(self.multiply_add, [x, y, z])

    def exact_fma(self, x: Any, y: Any, z: Any) -> Any:
        """``x y + z`` rounded once, whatever the processor."""
        function = cgutils.get_or_insert_function(
            self.builder.module,
            ir.FunctionType(_VECTOR, [_VECTOR] * 3),
            f"llvm.fma.v{LANES}f64",
        )
        return self.builder.call(function, [x, y, z])

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

    def negative(self, x: Any) -> Any:
        return self.builder.fneg(x)

    def sums(self) -> list[Any]:
        """Stack room for four running sums, set to zero; registers after optimisation."""
        zero = ir.Constant(_VECTOR, [ir.Constant(_DOUBLE, 0.0)] * LANES)
        rooms = []
        for _ in range(4):
            room = cgutils.alloca_once(self.builder, _VECTOR)
            self.builder.store(zero, room)
            rooms.append(room)
        return rooms

    def accumulate(self, rooms: list[Any], a: Any, b: Any) -> None:
        """Add the four real products of slots a and b to the running sums."""
        (ar, ai), (br, bi) = self.load(a), self.load(b)
        for room, x, y in zip(rooms, (ar, ai, ar, ai), (br, bi, bi, br), strict=True):
            old = self.builder.load(room, typ=_VECTOR)
            self.builder.store(self.fma(x, y, old), room)

    def finish(self, rooms: list[Any], c: Any, sign: int) -> None:
        """``ws[c] += sign * sums``."""
        b = self.builder
        rr, ii, ri, ir_ = (b.load(room, typ=_VECTOR) for room in rooms)
        re, im = b.fsub(rr, ii), b.fadd(ri, ir_)
        old = self.load(c)
        combine = b.fadd if sign > 0 else b.fsub
        self.store(c, (combine(old[0], re), combine(old[1], im)))


def _entry(context: Any, builder: Any, list_type: Any, value: Any, index: Any) -> Any:
    """Element of a one-dimensional int64 array."""
    array = context.make_array(list_type)(context, builder, value)
    return builder.load(builder.gep(array.data, [index]), typ=_INT)


def _void(typing: Any, emit: Callable[..., None], *signature: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        emit(context, builder, sig.args, args)
        return context.get_dummy_value()

    return types.void(*signature), codegen


@intrinsic
def dot_add(typing, ws, c, a, a_stride, b, b_stride, count):  # type: ignore[no-untyped-def]
    """``ws[c] += Σ_q ws[a + q a_stride] * ws[b + q b_stride]``, q from 0 to count - 1."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, c_, a_, sa, b_, sb, n = args
        rooms = code.sums()
        with cgutils.for_range(builder, n) as loop:
            at_a = builder.add(a_, builder.mul(loop.index, sa))
            at_b = builder.add(b_, builder.mul(loop.index, sb))
            code.accumulate(rooms, at_a, at_b)
        code.finish(rooms, c_, 1)

    return _void(typing, emit, ws, *[types.int64] * 6)


@intrinsic
def list_dot_subtract(typing, ws, c, row, x, columns, first, last):  # type: ignore[no-untyped-def]
    """``ws[c] -= Σ_j ws[row + j] * ws[x + j]`` over j in columns[first:last]."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, c_, row_, x_, columns_, first_, last_ = args
        rooms = code.sums()
        with cgutils.for_range(builder, builder.sub(last_, first_)) as loop:
            at = builder.add(first_, loop.index)
            j = _entry(context, builder, signature[4], columns_, at)
            code.accumulate(rooms, builder.add(row_, j), builder.add(x_, j))
        code.finish(rooms, c_, -1)

    return _void(typing, emit, ws, *[types.int64] * 3, columns, types.int64, types.int64)


@intrinsic
def list_eliminate(typing, ws, row, factor, pivot, columns, first, last):  # type: ignore[no-untyped-def]
    """``ws[row + j] -= ws[factor] * ws[pivot + j]`` for j in columns[first:last]."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, row_, factor_, pivot_, columns_, first_, last_ = args
        fr, fi = code.load(factor_)
        nr, ni = code.negative(fr), code.negative(fi)
        with cgutils.for_range(builder, builder.sub(last_, first_)) as loop:
            at = builder.add(first_, loop.index)
            j = _entry(context, builder, signature[4], columns_, at)
            br, bi = code.load(builder.add(pivot_, j))
            to = builder.add(row_, j)
            re, im = code.load(to)
            re = code.fma(fi, bi, code.fma(nr, br, re))
            im = code.fma(ni, br, code.fma(nr, bi, im))
            code.store(to, (re, im))

    return _void(typing, emit, ws, *[types.int64] * 3, columns, types.int64, types.int64)


@intrinsic
def row_add(typing, ws, c, a, b, count):  # type: ignore[no-untyped-def]
    """``ws[c : c + count] += ws[a] * ws[b : b + count]``."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, c_, a_, b_, n = args
        ar, ai = code.load(a_)
        na = code.negative(ai)
        with cgutils.for_range(builder, n) as loop:
            br, bi = code.load(builder.add(b_, loop.index))
            to = builder.add(c_, loop.index)
            re, im = code.load(to)
            re = code.fma(na, bi, code.fma(ar, br, re))
            im = code.fma(ai, br, code.fma(ar, bi, im))
            code.store(to, (re, im))

    return _void(typing, emit, ws, *[types.int64] * 4)


@intrinsic
def horner(typing, ws, to, base, stride, order, h):  # type: ignore[no-untyped-def]
    """``ws[to] = Σ_j ws[base + j stride] h^j``, j from 0 to order, h real, one for each lane."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, to_, base_, stride_, order_, h_ = args
        steps = context.make_array(signature[5])(context, builder, h_)
        pointer = builder.bitcast(steps.data, _VECTOR.as_pointer())
        step = builder.load(pointer, align=8, typ=_VECTOR)
        rooms = [cgutils.alloca_once(builder, _VECTOR) for _ in range(2)]
        for room, value in zip(
            rooms, code.load(builder.add(base_, builder.mul(order_, stride_))), strict=True
        ):
            builder.store(value, room)
        with cgutils.for_range(builder, order_) as loop:
            j = builder.sub(builder.sub(order_, _INT(1)), loop.index)
            value = code.load(builder.add(base_, builder.mul(j, stride_)))
            for room, x in zip(rooms, value, strict=True):
                builder.store(code.fma(builder.load(room, typ=_VECTOR), step, x), room)
        code.store(to_, tuple(builder.load(room, typ=_VECTOR) for room in rooms))  # type: ignore[arg-type]

    return _void(typing, emit, ws, *[types.int64] * 4, h)


@intrinsic
def conjugate_dot(typing, ws, c, a, b, count):  # type: ignore[no-untyped-def]
    """``ws[c] = Σ_i conj(ws[a + i]) * ws[b + i]``, i from 0 to count - 1."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, c_, a_, b_, n = args
        rooms = code.sums()
        with cgutils.for_range(builder, n) as loop:
            code.accumulate(rooms, builder.add(a_, loop.index), builder.add(b_, loop.index))
        rr, ii, ri, ir_ = (builder.load(room, typ=_VECTOR) for room in rooms)
        code.store(c_, (builder.fadd(rr, ii), builder.fsub(ri, ir_)))

    return _void(typing, emit, ws, *[types.int64] * 4)


@intrinsic
def scale_slots(typing, ws, at, count, factor):  # type: ignore[no-untyped-def]
    """``ws[at : at + count] *= ws[factor]``."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, at_, n, factor_ = args
        fr, fi = code.load(factor_)
        with cgutils.for_range(builder, n) as loop:
            slot = builder.add(at_, loop.index)
            re, im = code.load(slot)
            new_re = builder.fsub(builder.fmul(re, fr), builder.fmul(im, fi))
            new_im = code.fma(re, fi, builder.fmul(im, fr))
            code.store(slot, (new_re, new_im))

    return _void(typing, emit, ws, *[types.int64] * 3)


@intrinsic
def pair_dot_add(typing, ws, c, a, a_stride, b, b_stride, count, low):  # type: ignore[no-untyped-def]
    """``ws[c] += Σ_q ws[a + q a_stride] * ws[b + q b_stride]`` in pairs of doubles.

    The low part of a number at slot s stands at slot ``s + low``.
    """

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, c_, a_, sa, b_, sb, n, low_ = args

        def pairs(slot: Any) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
            high, rest = code.load(slot), code.load(builder.add(slot, low_))
            return (high[0], rest[0]), (high[1], rest[1])

        rooms = [cgutils.alloca_once(builder, _VECTOR) for _ in range(4)]
        for room, value in zip(rooms, itertools.chain(*pairs(c_)), strict=True):
            builder.store(value, room)
        with cgutils.for_range(builder, n) as loop:
            ar, ai = pairs(builder.add(a_, builder.mul(loop.index, sa)))
            br, bi = pairs(builder.add(b_, builder.mul(loop.index, sb)))
            rh, rl, ih, il = (builder.load(room, typ=_VECTOR) for room in rooms)
            re = code.pair_add_product((rh, rl), ar, br, 1)
            re = code.pair_add_product(re, ai, bi, -1)
            im = code.pair_add_product((ih, il), ar, bi, 1)
            im = code.pair_add_product(im, ai, br, 1)
            for room, value in zip(rooms, (*re, *im), strict=True):
                builder.store(value, room)
        rh, rl, ih, il = (builder.load(room, typ=_VECTOR) for room in rooms)
        code.store(c_, (rh, ih))
        code.store(builder.add(c_, low_), (rl, il))

    return _void(typing, emit, ws, *[types.int64] * 7)


@intrinsic
def pair_add(typing, ws, c, a, low):  # type: ignore[no-untyped-def]
    """``ws[c] += ws[a]``: a double to a pair."""

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
    """``ws[c] = ws[a] + t ws[b]`` as a pair; a and b doubles, t real, one for each lane."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        code = _Code(context, builder, signature[0], args[0])
        _, c_, a_, b_, t_, low_ = args
        times = context.make_array(signature[4])(context, builder, t_)
        pointer = builder.bitcast(times.data, _VECTOR.as_pointer())
        time = builder.load(pointer, align=8, typ=_VECTOR)
        zero = ir.Constant(_VECTOR, [ir.Constant(_DOUBLE, 0.0)] * LANES)
        parts = [
            code.pair_add_product((x, zero), (time, zero), (y, zero), 1)
            for x, y in zip(code.load(a_), code.load(b_), strict=True)
        ]
        code.store(c_, (parts[0][0], parts[1][0]))
        code.store(builder.add(c_, low_), (parts[0][1], parts[1][1]))

    return _void(typing, emit, ws, *[types.int64] * 3, t, types.int64)
