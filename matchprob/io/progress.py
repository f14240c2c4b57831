"""A progress bar on stderr, only where stderr is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from numeric.counts import InstanceCount
from numeric.statistics.intervals import proportion_interval

Advance = Callable[[InstanceCount], None]


@contextmanager
def counter(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yields a callback that takes (done, all); None where nobody would see the bar."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def progress(what: str, total: int, confidence: float | None = None) -> Iterator[Advance | None]:
    """Yields a callback that takes each count; None where nobody would see the bar.

    With a confidence level the estimate so far and its interval are shown too.
    """
    if not sys.stderr.isatty():
        yield None
        return
    tally = {"matched": 0, "unmatched": 0, "undetermined": 0}
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[tally]}"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    began = time.monotonic()
    with bar:
        task = bar.add_task(what, total=total, tally="", rate="")

        def advance(count: InstanceCount) -> None:
            tally[count.outcome] += 1
            done = sum(tally.values())
            text = f"{tally['matched']} matched, {tally['unmatched']} not"
            if tally["undetermined"]:
                text += f", {tally['undetermined']} undetermined"
            if confidence is not None and done > tally["undetermined"]:
                # The share of the trials that are not open may say too much.
                least = "at least " if tally["undetermined"] else ""
                interval = proportion_interval(*tally.values(), confidence=confidence)
                text = f"MP {least}{tally['matched'] / done:.3f} {interval}"
            rate = done / max(time.monotonic() - began, 1e-3)
            bar.update(task, advance=1, tally=text, rate=f"{rate:.3g}/s")

        yield advance
