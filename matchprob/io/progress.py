"""Progress: a bar in terminals and notebooks, text in status lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from algebra.time_limits import phase, phases
from matchprob.io.notebook import in_notebook, notebook_bar
from matchprob.io.watch import hidden, is_hidden, reported
from numeric.statistics.intervals import proportion_interval
from numeric.trials.counts import InstanceCount

Advance = Callable[[InstanceCount], None]
# The rate is averaged over this number of seconds.
_WINDOW = 60.0


class Rate:
    """Rate of the work, and the remaining time at that rate.

    Items available at once (trials in a store) are not counted: they do not predict the rest.

    Parameters
    ----------
    total : int
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self.redraw: Callable[[], object] = lambda: None
        self._seen: deque[tuple[float, int]] = deque([(time.monotonic(), 0)])

    def advance(self, done: int) -> None:
        """Record that `done` items are finished."""
        now = time.monotonic()
        if len(self._seen) == 1 and now - self._seen[0][0] < 0.05:
            # Faster than any computation.
            self._seen[0] = (now, done)
        else:
            self._seen.append((now, done))
        while len(self._seen) > 2 and now - self._seen[1][0] > _WINDOW:
            self._seen.popleft()
        self.done = done
        self.redraw()

    @property
    def per_second(self) -> float | None:
        """Rate of the last minute; None if it is not known."""
        (then, before), now = self._seen[0], time.monotonic()
        return (self.done - before) / (now - then) if self.done > before and now > then else None

    def __str__(self) -> str:
        rate = self.per_second
        if rate is None:
            return ""
        return f"{rate:.3g}/s, {_duration((self.total - self.done) / rate)} left"


def _duration(seconds: float) -> str:
    """
    >>> _duration(4.2), _duration(130), _duration(8000)
    ('4 s', '2 min', '2.2 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _phase() -> str:
    """The current phase, if it takes long."""
    name, began = phases()[-1] if phases() else ("", 0.0)
    seconds = time.monotonic() - began
    return f"{name} … {seconds:.0f} s" if name and seconds > 2 and len(phases()) > 1 else ""


def _terminal_bar(
    what: str, rate: Rate, *texts: Callable[[], str]
) -> AbstractContextManager[object]:
    """A bar on stderr, with texts that are computed at every refresh, even without progress."""
    # A study that draws no bar runs without rich.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.text import Text

    class Made(ProgressColumn):
        def __init__(self, make: Callable[[], str]) -> None:
            self._make = make
            super().__init__()

        def render(self, task: Task) -> Text:
            return Text(self._make())

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        *map(Made, texts),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(what, total=None)
    rate.redraw = lambda: bar.update(task, completed=rate.done, total=rate.total or None)
    return bar


@contextmanager
def _shown(what: str, rate: Rate, tally: Callable[[], str]) -> Iterator[None]:
    """Show progress in the way that suits stderr."""

    def so_far() -> str:
        done = f"{rate.done} of {rate.total} done" if rate.total else ""
        return ", ".join(part for part in (done, tally(), str(rate)) if part)

    if in_notebook():

        def share() -> float | None:
            return rate.done / rate.total if rate.total else None

        with phase(what), notebook_bar(what, share, so_far) as draw:
            rate.redraw = draw
            yield
        return
    if not sys.stderr.isatty():
        with phase(what), reported(so_far):
            yield
        return
    with phase(what), hidden(), _terminal_bar(what, rate, so_far, _phase):
        yield


@contextmanager
def counter(what: str) -> Iterator[Callable[[int, int], None]]:
    """Yields a callback with arguments (done, total)."""
    rate = Rate(0)

    def advance(done: int, total: int) -> None:
        rate.total = total
        rate.advance(done)

    with _shown(what, rate, str):
        yield advance


@contextmanager
def ticked(what: str, total: int) -> Iterator[Callable[[object], None]]:
    """Yields a callback for each of `total` pieces of work."""
    rate = Rate(total)
    with _shown(what, rate, str):
        yield lambda _: rate.advance(rate.done + 1)


@contextmanager
def progress(what: str, total: int, confidence: float | None = None) -> Iterator[Advance]:
    """Yields a callback that receives each count.

    With a confidence level the present estimate and its interval are shown too.
    """
    tally = {"matched": 0, "unmatched": 0, "undetermined": 0}
    rate = Rate(total)

    def text() -> str:
        # A copy: counts arrive in another thread.
        now = tally.copy()
        done = sum(now.values())
        if not done:
            return ""
        if confidence is not None and done > now["undetermined"]:
            # The share of the decided trials may be biased upwards.
            least = "at least " if now["undetermined"] else ""
            interval = proportion_interval(*now.values(), confidence=confidence)
            return f"MP {least}{now['matched'] / done:.3f} {interval}"
        shown = f"{now['matched']} matched, {now['unmatched']} not"
        if now["undetermined"]:
            shown += f", {now['undetermined']} undetermined"
        return shown

    def advance(count: InstanceCount) -> None:
        tally[count.outcome] += 1
        rate.advance(sum(tally.values()))

    with _shown(what, rate, text):
        yield advance


def _is_watched() -> bool:
    """Whether a person sees a bar that nobody asked for: in a notebook, in a terminal.

    One bar is enough: work inside other work shows none of its own.
    """
    return in_notebook() or (sys.stderr.isatty() and not is_hidden())


@contextmanager
def watched(
    advance: Advance | bool | None, what: str, total: int, confidence: float | None = None
) -> Iterator[Advance | None]:
    """The callback for each count: the caller's, or progress.

    Progress is shown if it is True; if it is None, in a notebook and in a terminal.
    """
    if callable(advance):
        yield advance
    elif advance or (advance is None and _is_watched()):
        with progress(what, total, confidence) as bar:
            yield bar
    else:
        yield None


@contextmanager
def counted(
    advance: Callable[[int, int], None] | bool | None, what: str
) -> Iterator[Callable[[int, int], None] | None]:
    """The callback with arguments (done, total): the caller's, or progress, as in `watched`."""
    if callable(advance):
        yield advance
    elif advance or (advance is None and _is_watched()):
        with counter(what) as bar:
            yield bar
    else:
        yield None
