"""The verbs in a user's program, with its signal handlers, threads and ``except Exception``."""

import contextlib
import gc
import signal
import sys
import threading
import time

import pytest

import matchprob as mp
from algebra.errors import Unfinished
from algebra.time_limits import OutOfTime, check_time, within
from tests.matchprob.hard import shallow, spread
from tests.samples import DIAGONAL

LIMIT, SLACK = 0.3, 20.0


# Verbs on problems that take minutes; those of the second table have no partial answer.
VERBS = {
    "certify": lambda: mp.certify(spread(20), timeout=LIMIT),
    "verify": lambda: mp.verify(mp.certify(DIAGONAL), timeout=LIMIT),
    "audit": lambda: mp.audit(spread(32), matrices=["W"], count=10**6, timeout=LIMIT),
    "atlas": lambda: mp.atlas(mp.LinearRNN(n=3, T=3, b=1, d=1, m=3), 4, search=0.0, timeout=LIMIT),
    "identify": lambda: mp.identify(spread(20), timeout=LIMIT),
    "record": lambda: mp.record(spread(48), "units", timeout=LIMIT),
    "count": lambda: mp.count(spread(20), 5, timeout=LIMIT),
    "estimate": lambda: mp.estimate(DIAGONAL, 10**6, engine="exact", timeout=LIMIT),
    "profile": lambda: mp.profile(spread(12), trials=1000, timeout=LIMIT),
    "train": lambda: mp.train(DIAGONAL, trials=10**6, timeout=LIMIT),
}
UNFINISHED = {
    "inspect": lambda: mp.inspect(mp.Problem(spread(32).network, {"W": "all"}), timeout=LIMIT),
    "decide": lambda: mp.decide(shallow(), timeout=LIMIT),
    "design": lambda: mp.design(spread(32), goal="maximal", caps={"row": 9}, timeout=LIMIT),
    "repair": lambda: mp.repair(spread(32), timeout=LIMIT),
    "robust": lambda: mp.robust(mp.Problem(spread(32).network, {"W": "all"}), timeout=LIMIT),
}


@pytest.mark.parametrize("verb", [*VERBS, *UNFINISHED])
def test_a_thread_may_call_any_verb_with_a_limit(verb):
    """Without signals it ends in time, with a partial result or an ordinary error."""
    outcome: list[object] = []

    def call() -> None:
        try:
            outcome.append((VERBS | UNFINISHED)[verb]())
        except Unfinished as limit:
            outcome.append(limit)

    thread = threading.Thread(target=call, daemon=True)
    began = time.monotonic()
    thread.start()
    thread.join(LIMIT + SLACK)
    assert not thread.is_alive()
    assert time.monotonic() - began < LIMIT + SLACK
    assert len(outcome) == 1
    if verb in UNFINISHED:
        assert isinstance(outcome[0], Unfinished)
        assert "time" in str(outcome[0])


def test_alarms_traces_and_collector_hooks_of_the_caller_are_kept():
    """A user's SIGALRM handler is called and kept by a verb that reaches its time limit."""
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
    mine = signal.getsignal(signal.SIGALRM)
    seen = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM), list(gc.callbacks)
    tracing = sys.gettrace()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        assert mp.certify(spread(20), timeout=LIMIT).verdict == "undecided"
        assert rung == [signal.SIGALRM]
        assert signal.getsignal(signal.SIGALRM) is mine
        now = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM), list(gc.callbacks)
        assert now == seen
        assert sys.gettrace() is tracing
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_time_limit_passes_code_that_suppresses_errors(monkeypatch):
    """An endless loop with ``except Exception: pass`` inside the call ends at the time limit."""

    def stubborn(*arguments: object, **options: object) -> object:
        while True:
            with contextlib.suppress(Exception):
                check_time()
                raise ValueError

    monkeypatch.setattr("algebra.families.certify._certify", stubborn)
    began = time.monotonic()
    with pytest.raises(Unfinished, match="time limit"):
        mp.certify(DIAGONAL, timeout=LIMIT)
    assert 0.9 * LIMIT < time.monotonic() - began < LIMIT + SLACK


def test_a_caller_may_suppress_the_end_of_a_limit():
    """Without an outer limit the end is an ordinary error, and no limit remains in force."""
    began = time.monotonic()
    with contextlib.suppress(Exception):
        UNFINISHED["inspect"]()
        raise AssertionError("the call ended before its time limit")
    assert time.monotonic() - began < LIMIT + SLACK
    check_time()
    assert mp.certify(DIAGONAL).verdict == "intermediate"


def test_a_caller_cannot_suppress_its_own_limit():
    """In a loop that suppresses errors each call ends, and the outer limit ends the loop."""
    calls = 0

    def loop() -> None:
        nonlocal calls
        while True:
            calls += 1
            with contextlib.suppress(Exception):
                mp.inspect(mp.Problem(spread(32).network, {"W": "all"}), timeout=0.1)

    with pytest.raises(OutOfTime), within(LIMIT):
        loop()
    assert calls >= 1
