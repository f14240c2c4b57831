"""A system of equations as a tape: a table of block operations that one compiled kernel runs.

A tape is a list of instructions, rows of integers: an operation, the slots that it reads and
writes, their strides and counts; none reads slots that it writes, except to add to them.  The
equations of a network are *data* for the kernel: a new network, or another form of its equations,
compiles nothing.  Each instruction is a block (a row of dot products, a factorization), large
enough that reading its integers costs little.

The same tape runs in several arithmetics.  `run_tape` computes in vector lanes, in doubles and in
pairs of doubles; `numeric.equations.discs.run_discs` encloses the results of `CLEAR`, `SET_ONE`,
`COPY`, `ADD` and `DOTS`, the instructions of values and Jacobians, in discs;
`numeric.equations.balls.BallTape` runs all instructions in balls of any precision.

Taylor coefficients of a path take one tape for each order j, and their slots are affine in j.
`Tape.affine` stores that as two tables, base and slope: instruction i at order j is the row
``table[0, i] + j table[1, i]``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from numeric.equations.lanes.linalg import (
    OPTIONS,
    dots_add,
    factor,
    factor_pairs,
    solve_factored,
    solve_factored_pairs,
)
from numeric.equations.lanes.simd import (
    add_slots,
    copy_slots,
    dot_add,
    equilibrate,
    line_slots,
    pair_add,
    pair_dot_add,
    pair_line,
    scale_real,
    set_slots,
)
from numeric.kernels import njit

# Operations.
(
    CLEAR, SET_ONE, COPY, ADD, DOTS, LINE, SCALE, EQUILIBRATE, FACTOR, SOLVE, PAIR_DOTS, PAIR_LINE,
    PAIR_ADD, PAIR_FACTOR, PAIR_SOLVE,
) = range(15)  # fmt: skip
# Columns of a table.
_OP, _C, _C_STEP, _A, _A_STRIDE, _B, _B_STEP, _B_STRIDE, _COUNT, _DOTS, _A_STEP = range(11)
COLUMNS = 11


class Tape:
    """Writes the instructions of a tape.

    Slots are numbered; `to`, `at` and single letters are slots, `count` numbers of slots.
    """

    def __init__(self) -> None:
        self.rows: list[tuple[int, ...]] = []

    def _write(
        self, op: int, c: int, *, c_step: int = 0, a: int = 0, a_stride: int = 0, b: int = 0,
        b_step: int = 0, b_stride: int = 0, count: int = 1, dots: int = 1, a_step: int = 0,
    ) -> None:  # fmt: skip
        if count > 0 and dots > 0:
            self.rows.append((op, c, c_step, a, a_stride, b, b_step, b_stride, count, dots, a_step))

    def clear(self, at: int, count: int) -> None:
        """``at = 0``."""
        self._write(CLEAR, at, count=count)

    def set_one(self, at: int, count: int = 1) -> None:
        """``at = 1``."""
        self._write(SET_ONE, at, count=count)

    def copy(self, to: int, at: int, count: int = 1) -> None:
        """``to = at``."""
        self._write(COPY, to, a=at, count=count)

    def add(self, to: int, at: int, count: int = 1, sign: int = 1) -> None:
        """``to += sign at`` for a sign 1 or −1."""
        self._write(ADD, to, a=at, count=count, b=sign)

    def each(
        self, write: Callable[[int, int, int], None], pairs: Iterable[tuple[int, int]]
    ) -> None:
        """`copy` or `add` for many pairs (to, at) of slots; adjacent pairs become one call."""
        first = last = None
        count = 0
        for pair in pairs:
            if last is not None and pair == (last[0] + 1, last[1] + 1):
                count += 1
            else:
                if first is not None:
                    write(*first, count)
                first, count = pair, 1
            last = pair
        if first is not None:
            write(*first, count)

    def subtract(self, to: int, at: int, count: int = 1) -> None:
        """``to -= at``."""
        self.add(to, at, count, -1)

    def dots(
        self, c: int, c_step: int, a: int, a_stride: int, b: int, b_step: int, b_stride: int,
        count: int, dots: int, a_step: int = 0,
    ) -> None:  # fmt: skip
        """Dot products, for t < dots summed over q < count, into slots that differ.

        ``c + t c_step += Σ_q (a + t a_step + q a_stride) (b + t b_step + q b_stride)``
        """
        self._write(
            DOTS, c, c_step=c_step, a=a, a_stride=a_stride, b=b, b_step=b_step, b_stride=b_stride,
            count=count, dots=dots, a_step=a_step,
        )  # fmt: skip

    def line(self, to: int, at: int, slope: int, count: int) -> None:
        """``to = at + t slope``."""
        self._write(LINE, to, a=at, b=slope, count=count)

    def scale(self, to: int, factors: int, count: int) -> None:
        """``to *= factors`` entry by entry; only the real parts of the factors are used."""
        self._write(SCALE, to, a=factors, count=count)

    def equilibrate(self, matrix: int, n: int, columns: int, rows: int) -> None:
        """Scale an n×n matrix by columns, then each row by its largest entry; see `simd`."""
        for i in range(n):
            self._write(EQUILIBRATE, matrix + i * n, a=columns, b=rows + i, count=n)

    def factor(self, matrix: int, n: int) -> None:
        """LU factors of an n×n matrix; one matrix of a tape is factored at a time."""
        self._write(FACTOR, matrix, count=n)

    def solve(self, right: int, matrix: int, n: int) -> None:
        """Solve with the factors."""
        self._write(SOLVE, right, a=matrix, count=n)

    def pair_dots(
        self, c: int, c_step: int, a: int, a_stride: int, b: int, b_step: int, b_stride: int,
        count: int, dots: int,
    ) -> None:  # fmt: skip
        """`dots` in pairs of doubles."""
        self._write(
            PAIR_DOTS, c, c_step=c_step, a=a, a_stride=a_stride, b=b, b_step=b_step,
            b_stride=b_stride, count=count, dots=dots,
        )  # fmt: skip

    def pair_line(self, to: int, at: int, slope: int, count: int) -> None:
        """`line` of doubles, the result in pairs of doubles."""
        self._write(PAIR_LINE, to, a=at, b=slope, count=count)

    def pair_add(self, to: int, at: int, count: int) -> None:
        """``to += at``: pairs plus doubles."""
        self._write(PAIR_ADD, to, a=at, count=count)

    def pair_factor(self, matrix: int, scales: int, n: int) -> None:
        """LU factors of an n×n matrix of pairs, scaled; 2n slots `scales` begin with its columns'.

        One matrix of a tape is factored at a time.
        """
        self._write(PAIR_FACTOR, matrix, a=scales, count=n)

    def pair_solve(self, right: int, matrix: int, scales: int, n: int) -> None:
        """Solve with the factors, in pairs."""
        self._write(PAIR_SOLVE, right, a=matrix, b=scales, count=n)

    def table(self) -> np.ndarray:
        """The table of a tape without orders, shape (2, instructions, 11)."""
        rows = np.array(self.rows, np.int64).reshape(-1, COLUMNS)
        return np.stack([rows, np.zeros_like(rows)])

    @staticmethod
    def affine(write: Callable[[Tape, int], None]) -> np.ndarray:
        """The table of a tape whose slots are affine in an order j ≥ 2.

        Parameters
        ----------
        write : callable
            Writes the tape of an order.
        """
        tapes = [Tape(), Tape(), Tape()]
        for order, tape in enumerate(tapes, 2):
            write(tape, order)
        two, three, four = (np.array(t.rows, np.int64).reshape(-1, COLUMNS) for t in tapes)
        slope = three - two
        assert (four - three == slope).all(), "slots must be affine in the order"
        return np.stack([two - 2 * slope, slope])


class Layout:
    """Numbers slots: `take` reserves a range."""

    def __init__(self) -> None:
        self.slots = 0

    def take(self, count: int) -> int:
        """The first of `count` new slots."""
        at, self.slots = self.slots, self.slots + count
        return at


class LaneSystem(NamedTuple):
    """A system of equations F(x, p) = 0 for the tracker, as tapes.

    The tracker follows `size` coordinates x: the unknowns, and perhaps values computed from them
    that are predicted too.  Parameters move on a line, ``p = base + t slope``.

    Attributes
    ----------
    parameters, size, unknowns, order : int
        Numbers of parameters, of coordinates, of equations of the linear system; order of series.
    base, slope : int
        Slots of the parameters at t = 0 and of their direction.
    x : int
        Taylor coefficients 0 … order of the coordinates, `size` slots each.
    new, step : int
        A trial point and its last Newton increment.
    unit, scale : int
        Inverse size, and size, of each coordinate (real parts).
    scratch : int
        An array of `factor`.
    low : int or None
        Offset from a slot to the low part of its number, for pairs of doubles; None without pairs,
        for which less is compiled.
    slots : int
        Number of slots.
    groups : ndarray of int, shape (size,)
        The group of each coordinate for error norms; −1 for one that is not measured.
    floors : ndarray of float, shape (groups,)
        Squares of the smallest sizes of the groups.
    lift, lifts : int
        First coordinate, and number, of those that are returned besides the unknowns.
    load : ndarray
        Tape: computes all coordinates of a start point in `new` from the unknowns at `x`.
    point : ndarray
        Tape: parameters at t, and the coordinates at `x` that the unknowns determine.
    series : ndarray
        Tape: factors of the Jacobian, Taylor coefficients of order 1.
    orders : ndarray
        Affine tape: Taylor coefficients of order j ≥ 2.
    newton, again : ndarray
        Tapes: a Newton step at `new`, with a new factorization and with the present one.
    keeps_pairs : bool
        Whether accepted points at `x` are pairs too.
    """

    parameters: int
    size: int
    unknowns: int
    order: int
    base: int
    slope: int
    x: int
    new: int
    step: int
    unit: int
    scale: int
    scratch: int
    low: int | None
    slots: int
    groups: np.ndarray
    floors: np.ndarray
    lift: int
    lifts: int
    load: np.ndarray
    point: np.ndarray
    series: np.ndarray
    orders: np.ndarray
    newton: np.ndarray
    again: np.ndarray
    keeps_pairs: bool = False


def runs(values: Sequence[int], more: Sequence[int]) -> list[tuple[int, int, int, int]]:
    """Maximal runs with constant steps: (first index, length, step of values, step of more)."""
    found: list[tuple[int, int, int, int]] = []
    at = 0
    while at < len(values):
        end = at + 1
        steps = (0, 0)
        if end < len(values):
            steps = (values[end] - values[at], more[end] - more[at])
            while end < len(values) and steps == (
                values[end] - values[end - 1], more[end] - more[end - 1],
            ):  # fmt: skip
                end += 1
        found.append((at, end - at, *steps))
        at = end
    return found


@njit(**OPTIONS)
def run_tape(ws, table, order, t, pivots, pattern, scratch, low):
    """Run a tape.

    Parameters
    ----------
    ws : ndarray of float, shape (slots, 2, LANES)
    table : ndarray of int, shape (2, instructions, 11)
    order : int
        The order j, for a tape of Taylor coefficients.
    t : ndarray of float, shape (LANES,)
        Places on the lines of parameters.
    pivots, pattern : ndarray of int
        Arrays of `numeric.equations.lanes.linalg.factor`.
    scratch, low : int
        As in `LaneSystem`.
    """
    for i in range(table.shape[1]):
        c = table[0, i, _C] + order * table[1, i, _C]
        a = table[0, i, _A] + order * table[1, i, _A]
        b = table[0, i, _B] + order * table[1, i, _B]
        count = table[0, i, _COUNT] + order * table[1, i, _COUNT]
        op = table[0, i, _OP]
        if op == DOTS and table[0, i, _A_STEP] == 0:
            dots_add(
                ws, c, table[0, i, _C_STEP], a, table[0, i, _A_STRIDE], b, table[0, i, _B_STEP],
                table[0, i, _B_STRIDE], count, table[0, i, _DOTS],
            )  # fmt: skip
        elif op == DOTS:
            for k in range(table[0, i, _DOTS]):
                dot_add(
                    ws, c + k * table[0, i, _C_STEP], a + k * table[0, i, _A_STEP],
                    table[0, i, _A_STRIDE], b + k * table[0, i, _B_STEP], table[0, i, _B_STRIDE],
                    count,
                )  # fmt: skip
        elif op == CLEAR:
            set_slots(ws, c, count, 0.0)
        elif op == SET_ONE:
            set_slots(ws, c, count, 1.0)
        elif op == COPY:
            copy_slots(ws, c, a, count)
        elif op == ADD:
            add_slots(ws, c, a, count, float(table[0, i, _B]))
        elif op == LINE:
            line_slots(ws, c, a, b, count, t)
        elif op == SCALE:
            scale_real(ws, c, c, a, count)
        elif op == EQUILIBRATE:
            equilibrate(ws, c, count, a, b)
        elif op == FACTOR:
            factor(ws, c, count, pivots, pattern, scratch)
        elif op == SOLVE:
            solve_factored(ws, a, count, pivots, pattern, c)
        # The compiler omits this where `low` is None.
        elif low is not None:
            if op == PAIR_DOTS:
                for k in range(table[0, i, _DOTS]):
                    pair_dot_add(
                        ws, c + k * table[0, i, _C_STEP], a, table[0, i, _A_STRIDE],
                        b + k * table[0, i, _B_STEP], table[0, i, _B_STRIDE], count, low,
                    )  # fmt: skip
            elif op == PAIR_LINE:
                for k in range(count):
                    pair_line(ws, c + k, a + k, b + k, t, low)
            elif op == PAIR_ADD:
                for k in range(count):
                    pair_add(ws, c + k, a + k, low)
            elif op == PAIR_FACTOR:
                factor_pairs(ws, c, count, a, pivots, pattern, scratch, low)
            elif op == PAIR_SOLVE:
                solve_factored_pairs(ws, a, count, b, pivots, pattern, c, low)
