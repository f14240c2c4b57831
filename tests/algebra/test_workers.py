"""Workers: answers in pieces, at once, too late, none; calls of functions and their errors."""

import gc
import os
import statistics
import time
from fractions import Fraction

import pytest

from algebra.errors import InputError
from algebra.time_limits import OutOfTime, within
from algebra.workers import (
    Child,
    ChildCrashed,
    ChildError,
    ChildTimeout,
    JsonLines,
    Worker,
    call_apart,
)
from tests.refusals import refuses


@pytest.fixture
def child():
    """A function from shell commands to a child that runs them."""
    opened = []

    def make(text):
        opened.append(Child("the child", ["/bin/sh", "-c", text], os.environ, JsonLines()))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


def test_answers_in_pieces(child):
    """An answer that arrives in parts is joined, two that arrive at once are separated."""
    one = child(
        """printf '{"a"'; sleep 0.2; printf ': 1}\\n{"b": 2}\\n{"c"'; sleep 0.2; echo ': 3}'"""
    )
    assert [one.receive(10) for _ in range(3)] == [{"a": 1}, {"b": 2}, {"c": 3}]


def test_answers_before_the_end_are_read(child):
    """Output of a child before its end is still an answer; then its end is an error."""
    one = child("""echo '{"a": 1}'; echo why >&2; exit 9""")
    assert one.receive(10) == {"a": 1}
    refuses(r"ended with status 9 \(why\)", one.receive, 10, error=ChildCrashed)


def test_a_child_that_reads_nothing_is_a_timeout(child):
    """A request larger than a pipe to a child that does not read is a timeout."""
    one = child("sleep 60")
    one.post({"long": "x" * 10**6})
    refuses("", one.receive, 0.3, error=ChildTimeout)


def test_a_child_that_writes_without_end_is_stopped(child, monkeypatch):
    """A child that writes without end is stopped before memory is full."""
    monkeypatch.setattr("algebra.workers._LINE_LIMIT", 10**5)
    one = child("while :; do printf 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'; done")
    refuses(r"wrote 1\d{5} bytes without the end of a line", one.receive, 30, error=ChildCrashed)


def test_close_kills_the_child(child):
    """Closing ends a child that does not end by itself, and can be repeated."""
    one = child("trap '' HUP TERM; while :; do sleep 1; done")
    assert one.alive
    one.close()
    one.close()
    assert not one.alive


def test_a_request_to_an_ended_child_is_no_error(child):
    """A request to a child that has ended is not an error by itself; the missing answer is."""
    one = child("exit 5")
    one._process.wait()
    one.post({"a": 1})
    refuses("status 5", one.receive, 10, error=ChildCrashed)


# -- calls ---------------------------------------------------------------------------------


def test_a_long_call_is_made_in_a_child_where_it_can_be_ended() -> None:
    """The same value; it ends with the limit, even in code that cannot check the time."""
    assert call_apart(os.getpid) == os.getpid()
    with within(60.0):
        assert call_apart(os.getpid) != os.getpid()
        assert call_apart(Fraction, 1, 3) == Fraction(1, 3)
    with pytest.raises(OutOfTime), within(0.5):
        call_apart(time.sleep, 60)


def test_a_child_without_a_value_is_an_error() -> None:
    """Its last output is in the message; a lack of memory is reported as such."""
    with pytest.raises(ChildError, match=r"Fraction failed .* ZeroDivisionError"), within(60.0):
        call_apart(Fraction, 1, 0)
    with pytest.raises(MemoryError), within(60.0):
        call_apart(bytearray, 1 << 62)


def refused(text: str) -> None:
    """A call that is refused."""
    raise InputError(text)


def killed() -> None:
    """A call that ends its process."""
    os.kill(os.getpid(), 9)


def noisy(size: int) -> bytes:
    """A value, and output of a library that must not be taken for a message."""
    os.write(1, b"x" * size)
    return b"y" * size


def test_one_process_makes_all_calls() -> None:
    """In their order, of any size, whatever a library prints; it is ended with the block."""
    with Worker() as worker:
        first = worker.call(os.getpid)
        assert worker.call(noisy, 10**7) == b"y" * 10**7
        assert worker.call(len, b"z" * 10**7) == 10**7
        assert worker.call(os.getpid) == first == worker.child.pid
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)


def test_modules_of_a_call_are_no_garbage() -> None:
    """The collector does not visit what a module made, and works after it is loaded."""
    with Worker() as worker:
        before = worker.call(gc.get_freeze_count)
        assert worker.call(statistics.mean, [1, 3]) == 2
        after = worker.call(gc.get_freeze_count)
        assert after > before + 1000
        # Of loaded modules no further call makes garbage permanent.
        assert worker.call(statistics.mean, [1, 3]) == 2
        assert worker.call(gc.get_freeze_count) == after
        assert worker.call(gc.isenabled)


def test_errors_of_calls() -> None:
    """Our own are raised as they are, others with type and text; the same process goes on."""
    with Worker() as worker:
        first = worker.call(os.getpid)
        refuses("no such net", worker.call, refused, "no such net", error=InputError)
        refuses("ValueError: invalid literal", worker.call, int, "x", error=ChildError)
        refuses("cannot pickle code", worker.call, compile, "1", "", "eval", error=ChildError)
        assert worker.call(os.getpid) == first


def test_a_process_that_ended_is_replaced() -> None:
    """By itself, by a signal, for a late answer: the next call starts another one, prepared as the
    first was."""
    with Worker("this child", os.chdir, "/") as worker:
        first = worker.call(os.getcwd), worker.call(os.getpid)
        refuses("this child was ended by SIGKILL", worker.call, killed, error=ChildCrashed)
        second = worker.call(os.getcwd), worker.call(os.getpid)
        refuses("ended with status 7", worker.call, os._exit, 7, error=ChildCrashed)
        with pytest.raises(ChildTimeout, match=r"this child did not answer within 0\.1 s"):
            worker.call(time.sleep, 60, seconds=0.1)
        third = worker.call(os.getcwd), worker.call(os.getpid)
    assert {place for place, _ in (first, second, third)} == {"/"}
    assert len({pid for _, pid in (first, second, third)}) == 3


def test_a_start_that_fails() -> None:
    """Its error is the call's; nothing is left running."""
    with Worker("this child", os.chdir, "/no such folder") as worker:
        for _ in range(2):
            refuses("FileNotFoundError", worker.call, os.getpid, error=ChildError)
