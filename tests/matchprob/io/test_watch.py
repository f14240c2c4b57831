"""Status lines and progress of long calls."""

import time
from types import SimpleNamespace

import pytest

from algebra.phases import phase, phases
from matchprob.io import watch as watching
from matchprob.io.progress import Rate, _duration


def test_long_calls_say_what_they_are_at(monkeypatch):
    """The innermost phase, its age and how far the work is."""
    monkeypatch.setattr(watching, "_FIRST", 0.6)
    said = []
    with watching.watch(said.append), phase("estimating"), watching.reported(lambda: "3 of 9 done"):
        with phase("generic root count"):
            end = time.monotonic() + 20
            while not said and time.monotonic() < end:
                time.sleep(0.05)
        assert "generic root count … " in said[0]
        assert said[0].endswith("; 3 of 9 done")
    assert phases() == ()


def test_silent_where_a_bar_is_shown(monkeypatch):
    """No status line is written during a progress bar, nor by short calls."""
    monkeypatch.setattr(watching, "_FIRST", 0.6)
    said = []
    with watching.watch(said.append), watching.hidden():
        time.sleep(1.5)
    assert said == []


def test_what_is_compiled_is_named():
    """The function that the work called, not those that it calls."""
    events = pytest.importorskip("numba.core.event")
    compiler = watching._Compiler()
    compiler.look()
    outer, inner = (
        {"dispatcher": SimpleNamespace(py_func=function)} for function in (_duration, phases)
    )
    with events.trigger_event("numba:compile", outer):
        with events.trigger_event("numba:compile", inner):
            text = watching._text(compiler, 0.0, 1.0)
        assert text.startswith("compiling matchprob.io.progress._duration (once")
    assert compiler.began == []


def test_time_left_agrees_with_the_rate(monkeypatch):
    """What a store held at once does not count."""
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
