"""Several studies in turns: after an interrupt all have about as many trials.

Each study runs to a common number of trials before any continues, so that an interrupt or a time
limit leaves a comparison on common instances, not one finished study and another not begun.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from numeric.statistics.estimate import Estimate
from numeric.studies.study import Advance, Study, check_trials
from numeric.trials.counts import InstanceCount

# The first number of trials, and the relative growth from each number to the next.
_FIRST = 8
_GROWTH = 0.25


def run_together(
    studies: Sequence[Study],
    trials: int,
    *,
    timeout: float = math.inf,
    advance: Advance | None = None,
) -> list[Estimate]:
    """Estimates of all studies from trials 0 … `trials` - 1, computed in turns.

    Parameters
    ----------
    studies : sequence of Study
    trials : int
    timeout : float, optional
        Seconds for all of them.
    advance : callable, optional
        Called with each trial of each study, once.

    Returns
    -------
    list of Estimate
        In the order of the studies.  One interrupt ends all of them.

    Raises
    ------
    InputError
        If there are too many trials.
    """
    check_trials(trials)
    end = time.monotonic() + timeout
    callbacks = [None if advance is None else _once(advance) for _ in studies]
    found: list[Estimate] = []
    for stop in _stops(trials):
        broken_off = False
        for k, (study, callback) in enumerate(zip(studies, callbacks, strict=True)):
            # All studies run to the first stop, even without time: each then has its estimate.
            if broken_off and k < len(found):
                break
            left = 1e-3 if broken_off else max(end - time.monotonic(), 1e-3)
            made = replace(study.run(stop, timeout=left, advance=callback), requested=trials)
            if broken_off:
                # Report the reason that ended the first study, not the lack of time that follows.
                made = replace(made, trouble=found[-1].trouble)
            found[k : k + 1] = [made]
            broken_off = broken_off or study.is_broken_off
        if broken_off:
            break
    return found


def _stops(trials: int) -> Iterator[int]:
    stop = _FIRST
    while stop < trials:
        yield stop
        stop += max(_FIRST, int(stop * _GROWTH))
    yield trials


def _once(advance: Advance) -> Callable[[InstanceCount], None]:
    reported: set[int] = set()

    def report(count: InstanceCount) -> None:
        if count.index not in reported:
            reported.add(count.index)
            advance(count)

    return report
