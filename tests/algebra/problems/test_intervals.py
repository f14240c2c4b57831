"""Intervals of rationals, and numbers in them as columns of a linear program."""

from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from algebra.problems.intervals import BoxColumns, Interval

NUMBERS = st.fractions(-3, 3, max_denominator=4).map(lambda v: fmpq(v.numerator, v.denominator))
INTERVALS = st.builds(
    lambda low, high: (
        Interval(low, high) if None in (low, high) or low <= high else Interval(high, low)
    ),
    st.none() | NUMBERS,
    st.none() | NUMBERS,
)


@given(INTERVALS, NUMBERS, NUMBERS)
def test_the_nearest_number_and_the_largest_product(interval, value, slope):
    """The nearest number lies inside, and no product inside exceeds the largest one."""
    near = interval.nearest(value)
    assert near in interval
    assert (near == value) == (value in interval)
    most = interval.most(slope)
    assert most is None or slope * near <= most
    assert not interval.is_empty


@given(st.lists(st.tuples(INTERVALS, NUMBERS, NUMBERS), min_size=1, max_size=4))
def test_columns_stand_for_numbers_of_the_intervals(entries):
    """For nonnegative columns that fulfil the equations, a row says the same of columns and of
    numbers, and the numbers lie in their intervals."""
    box = BoxColumns([interval for interval, _, _ in entries], first=1)
    inside = [interval.nearest(value) for interval, value, _ in entries]
    point = [fmpq(0)]
    for (interval, _, _), value in zip(entries, inside, strict=True):
        if interval.low is not None:
            point.append(value - interval.low)
            if interval.high is not None:
                point.append(interval.high - value)
        elif interval.high is not None:
            point.append(interval.high - value)
        else:
            point += [max(value, fmpq(0)), max(-value, fmpq(0))]
    assert len(point) == box.end
    assert box.values(point) == inside
    row = box.blank()
    right = box.enter(row, fmpq(1), [(k, slope) for k, (_, _, slope) in enumerate(entries)])
    found = sum((a * x for a, x in zip(row, point, strict=True)), fmpq(0))
    exact = sum((slope * v for (_, _, slope), v in zip(entries, inside, strict=True)), fmpq(0))
    assert found - right == exact - 1
    for left, total in box.equations():
        assert sum((a * x for a, x in zip(left, point, strict=True)), fmpq(0)) == total
