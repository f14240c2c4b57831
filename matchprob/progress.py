"""A progress bar on stderr, only where stderr is a terminal."""

from __future__ import annotations

import sys
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
def progress(what: str, total: int) -> Iterator[Advance | None]:
    """Yields a callback that takes each count; None where nobody would see the bar."""
    if not sys.stderr.isatty():
        yield None
        return
    tally = {"matched": 0, "unmatched": 0, "undetermined": 0}
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[tally]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(what, total=total, tally="")

        def advance(count: InstanceCount) -> None:
            tally[count.outcome] += 1
            text = f"{tally['matched']} matched, {tally['unmatched']} not"
            if tally["undetermined"]:
                text += f", {tally['undetermined']} undetermined"
            bar.update(task, advance=1, tally=text)

        yield advance
