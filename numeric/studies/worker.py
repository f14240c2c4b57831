"""A worker process, ``python -m numeric.studies.worker``, started by `workers`."""

from __future__ import annotations

import os
import sys

from algebra.errors import InputError
from numeric.studies.trials import compute_described
from numeric.studies.workers import WorkerFailed, receive, send


def compute_chunks() -> None:
    """Compute chunks until the input ends."""
    source = sys.stdin.buffer
    # Results are written to a separate stream: output that a library prints goes to stderr.
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            data, key, chunk = receive(source)
        except EOFError:
            return
        error: Exception | None = None
        counts = []
        try:
            counts = compute_described(data, key, chunk)
        except InputError as problem:
            error = problem
        except Exception as bug:
            error = WorkerFailed(f"trials {chunk[0]}–{chunk[-1]}: {type(bug).__name__}: {bug}")
        try:
            send(results, (counts, error))
        except OSError:
            return


if __name__ == "__main__":
    compute_chunks()
