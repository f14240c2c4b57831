"""Start the command in a separate process, so that a test can interrupt it."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]


def start(*words, **options):
    """Start the command line in a separate process that does not ignore interrupts."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "matchprob", *words],
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        **options,
    )


def wait_until_it_listens(pid):
    """Wait until a process handles SIGTERM itself, which the entry point arranges first."""
    for _ in range(12000):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        caught = next(int(line.split()[1], 16) for line in lines if line.startswith("SigCgt"))
        if caught >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.005)
    raise AssertionError("the process did not reach its entry point")


def wait_for_trials(store, process):
    """Wait until the store of a study contains trials."""
    while process.poll() is None:
        with (
            contextlib.suppress(sqlite3.Error),
            contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as opened,
        ):
            if opened.execute("SELECT count(*) FROM trials").fetchone()[0]:
                return
        time.sleep(0.05)
    raise AssertionError(f"the process ended before it stored a trial: {process.communicate()[1]}")
