"""One limit for a call: it applies to all inner calls, and is only ever shortened."""

import contextlib
import gc
import itertools
import math
import signal
import sys
import threading
import time
from fractions import Fraction

import pytest

from algebra.errors import InputError, Unfinished
from algebra.time_limits import (
    Interrupted,
    LimitReached,
    OutOfTime,
    StopRequest,
    TooSlow,
    add_spent,
    can_end,
    check_time,
    checked,
    is_over,
    limited,
    positive_seconds,
    stoppable,
    time_left,
    unlimited,
    within,
)
from algebra.work import Limits, end_of_part, has_passed, seconds_until
from tests.refusals import refuses


def test_without_a_limit_time_is_never_up() -> None:
    check_time()
    assert time_left() == math.inf
    assert time_left(3.0) == 3.0
    assert not is_over()


def test_a_limit_ends_work_below_it_and_is_gone_afterwards() -> None:
    with within(0.0):
        assert is_over()
        assert time_left() == 0.0
        refuses("", check_time, error=OutOfTime)
    check_time()


def test_an_inner_limit_cannot_outlast_the_outer_one() -> None:
    with within(5.0):
        with within(1000.0):
            assert time_left() <= 5.0
        with within(1.0):
            assert time_left() <= 1.0
        assert 1.0 < time_left() <= 5.0


def test_the_inner_limit_is_over_while_the_outer_goes_on() -> None:
    with within(60.0):
        with pytest.raises(OutOfTime), within(0.0):
            check_time()
        check_time()


def test_what_is_known_can_be_put_together_when_time_is_up() -> None:
    with within(0.0), unlimited():
        check_time()


def test_time_spent_anywhere_counts() -> None:
    with within(0.02):
        time.sleep(0.03)
        assert is_over()


def test_another_thread_has_no_limit_of_ours() -> None:
    seen: list[float] = []
    with within(1.0):
        thread = threading.Thread(target=lambda: seen.append(time_left()))
        thread.start()
        thread.join()
    assert seen == [math.inf]


@pytest.mark.parametrize("value", [0, -1, math.nan, -math.inf, "3", True, None, [1]])
def test_durations_that_are_none_are_refused(value: object) -> None:
    with pytest.raises(InputError, match="`timeout`"):
        positive_seconds(value, "timeout")  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [1, 0.5, math.inf, Fraction(1, 2)])
def test_positive_numbers_and_inf_are_durations(value: float) -> None:
    assert positive_seconds(value, "timeout") == float(value)


def test_limits_are_checked_and_half_the_time_is_for_one_basis() -> None:
    assert Limits(seconds=10.0).basis == 5.0
    assert Limits(search=0.0).search == 0.0
    refuses("`timeout`", Limits, seconds=0)
    refuses("`search`", Limits, search=-1)


def test_no_handler_of_errors_swallows_the_end_of_the_time() -> None:
    """`OutOfTime` and `Interrupted` pass ``except Exception``, repeatedly if need be."""
    assert not issubclass(OutOfTime, Exception)
    assert not issubclass(Interrupted, Exception)

    def deaf() -> None:
        while True:
            with contextlib.suppress(Exception):
                check_time()

    with pytest.raises(OutOfTime), within(0.05):
        deaf()


def test_who_set_no_limit_gets_an_ordinary_error() -> None:
    """The outermost `limited` turns it into `LimitReached`; inside another limit it passes."""
    with pytest.raises(LimitReached, match="time limit is over") as met, limited(0.0):
        check_time()
    assert isinstance(met.value, Unfinished)
    assert not isinstance(met.value, InputError)
    assert not met.value.was_refused
    with pytest.raises(OutOfTime), within(60.0), limited(0.0):
        check_time()
    with pytest.raises(LimitReached) as met, limited(1.0), limited(1.0):
        raise TooSlow("an hour")
    assert met.value.was_refused


def test_a_request_stops_the_work_once_and_only_here() -> None:
    """`check_time` raises once a request; protected blocks end, and other threads continue."""
    request = StopRequest()
    with stoppable(request):
        check_time()
        request.make()
        with unlimited():
            check_time()
        thread = threading.Thread(target=check_time)
        thread.start()
        thread.join()
        assert request.is_made
        refuses("", check_time, error=Interrupted)
        check_time()
    request.make()
    check_time()


def test_items_are_given_as_long_as_there_is_time() -> None:
    """All of them without a limit, no more after it has passed."""
    assert list(checked("abc")) == ["a", "b", "c"]
    seen: list[int] = []
    with pytest.raises(OutOfTime), within(0.05):
        seen.extend(checked(itertools.count()))
    assert seen == list(range(len(seen)))


def test_whether_anything_can_end_the_work() -> None:
    """A limit or a request can; then long calls are made in a child."""
    assert not can_end()
    with within(60.0):
        assert can_end()
    with stoppable(StopRequest()):
        assert can_end()
        with unlimited():
            assert not can_end()


def test_a_limit_touches_no_signal_no_trace_and_no_collector() -> None:
    """The settings of the process for alarms, interrupts, traces and garbage do not change."""
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
    mine = signal.getsignal(signal.SIGALRM)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        callbacks, interrupt = list(gc.callbacks), signal.getsignal(signal.SIGINT)
        tracing = sys.gettrace()

        def work() -> None:
            while True:
                assert signal.getsignal(signal.SIGALRM) is mine
                assert (gc.callbacks, signal.getsignal(signal.SIGINT)) == (callbacks, interrupt)
                assert sys.gettrace() is tracing
                check_time()

        with pytest.raises(OutOfTime), within(0.2):
            work()
        assert rung == [signal.SIGALRM]
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_part_ends_before_the_call() -> None:
    """Its own limit counts if it is the shorter one; otherwise nine tenths of the rest."""
    assert math.isinf(end_of_part(math.inf))
    assert 4.0 < seconds_until(end_of_part(5.0)) <= 5.0
    with within(100.0):
        assert 80.0 < seconds_until(end_of_part(1000.0)) <= 90.0
        assert seconds_until(end_of_part(5.0)) <= 5.0
    with within(0.0):
        past = end_of_part(10.0)
    while not has_passed(past):
        pass
    assert seconds_until(past) == 0.0


def test_a_search_with_results_sees_a_request_before_its_end_and_is_not_lost_after_it() -> None:
    """Before its moment `has_passed` ends the work like `check_time`; then it only says so."""
    request = StopRequest()
    with stoppable(request):
        assert not has_passed(end_of_part(math.inf))
        request.make()
        refuses("", has_passed, end_of_part(math.inf), error=Interrupted)
        request.make()
        assert has_passed(-math.inf)
    with within(1e-9):
        assert has_passed(-math.inf)
        refuses("", has_passed, math.inf, error=OutOfTime)


def test_time_that_later_calls_are_spared_is_told() -> None:
    """The time for compilation is in the message, for this call alone."""

    def over(compiled: float) -> str:
        with within(0.01):
            if compiled:
                add_spent("compiling", compiled)
            time.sleep(0.02)
            met = refuses("", check_time, error=OutOfTime)
        return str(met)

    assert "12 s were spent on compiling" in over(12.3)
    assert "compiling" not in over(0.0)
