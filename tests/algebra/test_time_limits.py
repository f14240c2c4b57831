"""One limit for a call: it is seen everywhere below, and only ever brought forward."""

from __future__ import annotations

import gc
import importlib
import math
import signal
import sys
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest

from algebra.errors import InputError, Unfinished
from algebra.phases import add_spent
from algebra.time_limits import (
    Limits,
    OutOfTime,
    check_time,
    end_of_part,
    has_passed,
    is_over,
    positive_seconds,
    seconds_until,
    time_left,
    unlimited,
    within,
)


def test_without_a_limit_time_is_never_up() -> None:
    check_time()
    assert time_left() == math.inf
    assert time_left(3.0) == 3.0
    assert not is_over()


def test_a_limit_ends_work_below_it_and_is_gone_afterwards() -> None:
    with within(0.0):
        assert is_over()
        assert time_left() == 0.0
        with pytest.raises(OutOfTime):
            check_time()
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
    with pytest.raises(InputError, match="`timeout`"):
        Limits(seconds=0)
    with pytest.raises(InputError, match="`search`"):
        Limits(search=-1)


def test_being_out_of_time_is_unfinished_work_not_a_wrong_input() -> None:
    assert issubclass(OutOfTime, Unfinished)
    assert not issubclass(OutOfTime, InputError)


def test_a_part_ends_before_the_call() -> None:
    """Its own limit counts where it is the shorter one; else nine tenths of what is left."""
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


def test_the_alarm_reaches_what_asks_nothing() -> None:
    """A loop without a look at the clock ends soon after the limit."""
    began = time.monotonic()
    with pytest.raises(OutOfTime), within(0.1):
        forever()
    assert time.monotonic() - began < 20.0


def forever() -> None:
    """A loop that asks nothing."""
    while True:
        pass


def test_the_alarm_is_not_swallowed_by_a_collection_of_garbage() -> None:
    """Python prints what is raised in a callback of the collector, or a finalizer, and goes on."""

    def busy(phase: str, info: dict[str, int]) -> None:
        wait(1.0)

    gc.callbacks.append(busy)
    began = time.monotonic()
    try:
        with pytest.raises(OutOfTime), within(0.1):
            do_and_wait(gc.collect)
    finally:
        gc.callbacks.remove(busy)
    assert time.monotonic() - began < 20.0
    assert not [callback for callback in gc.callbacks if "time_limits" in str(callback.__module__)]


def test_the_alarm_is_not_swallowed_by_a_finalizer() -> None:
    """It rings again once the object is gone."""

    class Slow:
        def __del__(self) -> None:
            wait(1.0)

    with pytest.raises(OutOfTime), within(0.1):
        do_and_wait(Slow)


def do_and_wait(work: Callable[[], object]) -> None:
    """Do something short, then go on."""
    work()
    forever()


def wait(seconds: float) -> None:
    """Pass time in Python."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def test_the_alarm_waits_for_an_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module is imported whole or not at all: the exception comes after it."""
    (tmp_path / "slow_module.py").write_text(
        "import time\nend = time.monotonic() + 1.5\nwhile time.monotonic() < end: pass\nDONE = 1\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(OutOfTime), within(0.1):
        import_and_wait()
    assert sys.modules["slow_module"].DONE == 1


def import_and_wait() -> None:
    """Import, then go on."""
    importlib.import_module("slow_module")
    forever()


def test_the_alarm_is_gone_afterwards_and_others_keep_theirs() -> None:
    """The handler of SIGALRM is as it was; one that belongs to somebody else is not touched."""
    with within(5.0):
        pass
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    rung: list[int] = []
    signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with within(60.0):
            time.sleep(0.2)
        assert rung == [signal.SIGALRM]
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def test_the_alarm_waits_for_a_callback_that_has_just_begun() -> None:
    """Before its first line the callback has not yet said that garbage is being collected."""
    limits = importlib.import_module("algebra.time_limits")
    for callback in (limits._collection_begins, limits._collection_ends):
        frame = SimpleNamespace(f_code=callback.__code__, f_globals={}, f_back=None)
        assert limits._is_fragile(frame)
    free = SimpleNamespace(f_code=positive_seconds.__code__, f_globals={}, f_back=None)
    assert not limits._is_fragile(free)


def test_time_that_later_calls_are_spared_is_told() -> None:
    """What went into compiling stands in the message, of this call alone."""

    def over(compiled: float) -> str:
        with within(0.01):
            if compiled:
                add_spent("compiling", compiled)
            time.sleep(0.02)
            with pytest.raises(Unfinished) as met:
                check_time()
        return str(met.value)

    assert "12 s went into compiling" in over(12.3)
    assert "compiling" not in over(0.0)
