"""Intervals of rationals, and numbers in them as nonnegative columns of a linear program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flint import fmpq


@dataclass(frozen=True)
class Interval:
    """A closed interval of rationals.

    Attributes
    ----------
    low, high : fmpq or None
        None for an unbounded side; the interval is empty if `low` exceeds `high`.
    """

    low: fmpq | None = None
    high: fmpq | None = None

    def __contains__(self, value: fmpq) -> bool:
        below = self.low is not None and value < self.low
        return not below and (self.high is None or value <= self.high)

    @property
    def is_bounded(self) -> bool:
        """Whether it is bounded on some side."""
        return self.low is not None or self.high is not None

    @property
    def is_empty(self) -> bool:
        """Whether it contains no number."""
        return self.low is not None and self.high is not None and self.low > self.high

    def nearest(self, value: fmpq) -> fmpq:
        """The point of the interval nearest to a number; the interval must not be empty."""
        if self.low is not None and value < self.low:
            return self.low
        return self.high if self.high is not None and value > self.high else value

    def most(self, slope: fmpq) -> fmpq | None:
        """The largest slope·w over the interval; None if unbounded."""
        if slope == 0:
            return fmpq(0)
        end = self.high if slope > 0 else self.low
        return None if end is None else slope * end


class BoxColumns:
    """Nonnegative columns of a linear program that represent numbers restricted to intervals.

    A number is low + p, or high − q if it has no lower bound; with two bounds p + q = high − low is
    a further equation; with none the number is p − q.

    Parameters
    ----------
    intervals : sequence of Interval
    first : int, optional
        Index of the first of their columns.

    Attributes
    ----------
    end : int
        Index of the first column after theirs.

    Examples
    --------
    >>> box = BoxColumns([Interval(fmpq(-1), fmpq(2)), Interval()])
    >>> row = box.blank()
    >>> box.enter(row, fmpq(5), [(0, fmpq(2)), (1, fmpq(3))]), row
    (7, [2, 0, 3, -3])
    >>> box.equations()
    [([1, 1, 0, 0], 3)]
    >>> box.values([fmpq(1), fmpq(2), fmpq(0), fmpq(4)])
    [0, -4]
    """

    def __init__(self, intervals: Iterable[Interval], first: int = 0) -> None:
        # For each number its constant, and its columns with their signs.
        self._parts: list[tuple[fmpq, list[tuple[int, int]]]] = []
        self._ranges: list[tuple[int, fmpq]] = []
        at = first
        for interval in intervals:
            low, high = interval.low, interval.high
            if low is None and high is None:
                self._parts.append((fmpq(0), [(at, 1), (at + 1, -1)]))
                at += 2
            elif low is not None and high is not None:
                self._parts.append((low, [(at, 1)]))
                self._ranges.append((at, high - low))
                at += 2
            elif low is not None:
                self._parts.append((low, [(at, 1)]))
                at += 1
            elif high is not None:
                self._parts.append((high, [(at, -1)]))
                at += 1
        self.end = at

    def blank(self) -> list[fmpq]:
        """A row of zeros, one for each column up to `end`."""
        return [fmpq(0)] * self.end

    def enter(self, row: list[fmpq], right: fmpq, terms: Iterable[tuple[int, fmpq]]) -> fmpq:
        """Add terms, each (index of a number, factor), to a row; return the new right-hand side."""
        for place, factor in terms:
            constant, columns = self._parts[place]
            right = right - factor * constant
            for c, sign in columns:
                row[c] = row[c] + sign * factor
        return right

    def equations(self) -> list[tuple[list[fmpq], fmpq]]:
        """Rows and right-hand sides of p + q = high − low, for the numbers with two bounds."""
        found = []
        for at, width in self._ranges:
            row = self.blank()
            row[at] = row[at + 1] = fmpq(1)
            found.append((row, width))
        return found

    def values(self, point: Sequence[fmpq]) -> list[fmpq]:
        """The numbers that a point of the linear program represents."""
        return [
            constant + sum((sign * point[c] for c, sign in columns), fmpq(0))
            for constant, columns in self._parts
        ]
