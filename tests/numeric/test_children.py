"""Child processes with a protocol of JSON lines."""

import pytest

from numeric.children import ChildCrashed, ChildTimeout
from numeric.engines.phcpy.install import start_worker
from tests.refusals import refuses


@pytest.fixture
def child(fake_python):
    """A function from shell commands to a child that runs them."""
    opened = []

    def make(text):
        opened.append(start_worker(fake_python(text).interpreter))
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
    monkeypatch.setattr("numeric.children._LINE_LIMIT", 10**5)
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


def test_python_settings_are_not_inherited(child, monkeypatch):
    """The settings of this Python do not apply to the other Python."""
    monkeypatch.setenv("PYTHONPATH", "/ours")
    monkeypatch.setenv("PYTHONHOME", "/ours")
    one = child(
        """echo "{\\"path\\": \\"$PYTHONPATH$PYTHONHOME\\", \\"omp\\": $OMP_NUM_THREADS}" """
    )
    assert one.receive(10) == {"path": "", "omp": 1}
