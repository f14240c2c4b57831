"""Status lines and progress of long calls."""

import time

from algebra.time_limits import phase, phases
from matchprob.io import watch as watching
from matchprob.io.progress import Rate, _duration


def test_status_lines_of_long_calls(monkeypatch):
    """A status line names the innermost phase, its age and the progress of the work."""
    monkeypatch.setattr(watching, "_FIRST", 0.6)
    lines = []
    with (
        watching.watch(lines.append),
        phase("estimating"),
        watching.reported(lambda: "3 of 9 done"),
    ):
        with phase("generic root count"):
            end = time.monotonic() + 20
            while not lines and time.monotonic() < end:
                time.sleep(0.05)
        assert "generic root count … " in lines[0]
        assert lines[0].endswith("; 3 of 9 done")
    assert phases() == ()


def test_no_status_line_beside_a_bar(monkeypatch):
    """No status line is written while a progress bar is shown."""
    monkeypatch.setattr(watching, "_FIRST", 0.6)
    lines = []
    with watching.watch(lines.append), watching.hidden():
        time.sleep(1.5)
    assert lines == []


def test_time_left_agrees_with_the_rate(monkeypatch):
    """Trials that were in the store at the start do not count in the rate."""
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    rate = Rate(1000)
    rate.advance(500)
    assert str(rate) == ""
    now[0] += 10
    rate.advance(520)
    assert rate.per_second == 2
    assert str(rate) == "2/s, 4 min left"
    assert _duration(20) == "20 s"
