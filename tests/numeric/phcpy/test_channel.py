"""The pipes to a worker."""

import pytest

from numeric.phcpy.channel import Channel, PhcpyCrashed, PhcpyTimeout


@pytest.fixture
def channel(fake_python):
    """A function from shell commands to a channel to a shell that runs them."""
    opened = []

    def make(text):
        opened.append(Channel(fake_python(text).interpreter))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


def test_answers_in_pieces(channel):
    """An answer that comes in pieces is put together, two that come at once are taken apart."""
    one = channel(
        """printf '{"a"'; sleep 0.2; printf ': 1}\\n{"b": 2}\\n{"c"'; sleep 0.2; echo ': 3}'"""
    )
    assert [one.receive(10) for _ in range(3)] == [{"a": 1}, {"b": 2}, {"c": 3}]


def test_last_answers_are_read(channel):
    """What a worker wrote before it ended is still an answer; then its end is an error."""
    one = channel("""echo '{"a": 1}'; echo why >&2; exit 9""")
    assert one.receive(10) == {"a": 1}
    with pytest.raises(PhcpyCrashed, match=r"ended with status 9 \(why\)"):
        one.receive(10)


def test_worker_that_reads_nothing(channel):
    """A request larger than a pipe to a worker that does not read is a timeout, not a hang."""
    one = channel("sleep 60")
    one.post({"long": "x" * 10**6})
    with pytest.raises(PhcpyTimeout):
        one.receive(0.3)


def test_worker_that_does_not_stop_writing(channel, monkeypatch):
    """A worker that writes without end is given up before memory is full."""
    monkeypatch.setattr("numeric.phcpy.channel._LINE_LIMIT", 10**5)
    one = channel("while :; do printf 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'; done")
    with pytest.raises(PhcpyCrashed, match="without end"):
        one.receive(30)


def test_close_kills(channel):
    """Closing ends a worker that does not end by itself, and can be repeated."""
    one = channel("trap '' HUP TERM; while :; do sleep 1; done")
    assert one.alive
    one.close()
    one.close()
    assert not one.alive


def test_post_to_the_dead(channel):
    """A request to a worker that has ended is no error by itself; the missing answer is."""
    one = channel("exit 5")
    one._process.wait()
    one.post({"a": 1})
    with pytest.raises(PhcpyCrashed, match="status 5"):
        one.receive(10)


def test_environment(channel, monkeypatch):
    """Our own Python's settings do not reach the other Python."""
    monkeypatch.setenv("PYTHONPATH", "/ours")
    monkeypatch.setenv("PYTHONHOME", "/ours")
    one = channel(
        """echo "{\\"path\\": \\"$PYTHONPATH$PYTHONHOME\\", \\"omp\\": $OMP_NUM_THREADS}" """
    )
    assert one.receive(10) == {"path": "", "omp": 1}
