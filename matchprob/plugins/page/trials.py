"""Studies with intermediate results: tallies, intervals, the match probability against a bound.

The trials, their seeds and the store are those of the verbs `estimate` and `compare`; this module
adds only the events that the page draws.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from algebra.errors import InputError
from algebra.problems.problem import Problem
from algebra.results import named
from matchprob.api.estimate import compare as compare_problems
from numeric.plugins.training.profiles.measures import find_measure
from numeric.plugins.training.profiles.profile import Profile
from numeric.plugins.training.profiles.thresholds import Threshold, Thresholds, is_listed
from numeric.statistics.comparison import Comparison
from numeric.statistics.estimate import Estimate
from numeric.studies.study import Study
from numeric.trials.counts import InstanceCount

# Seconds between two events of a running study.
_PULSE = 0.15
# Seconds between two profiles of it, which take longer; and how many times the time of its
# computation an event must be apart from the next.
_REDRAW = 0.5
_SHARE = 5.0
# Time limit in seconds of the sizes of one event: a cancelled job has little more.
_SIZING = 0.2
# Number of trials below which a profile is rough.
_FEW = 50
# Bounds of the slider for which the match probability is computed.
_BOUNDS = 24

Report = Callable[..., None]


def stream_estimate(problem: Problem, ask: Mapping[str, Any], report: Report) -> None:
    """Run a study of one problem, with events for its intermediate results.

    Parameters
    ----------
    problem : Problem
    ask : mapping
        ``trials``, ``seed``, ``complete`` (count every solution, even if a verdict settles
        the trial: then sizes of weights are known), ``store``, ``name``.
    report : callable
    """
    counts: dict[int, InstanceCount] = {}
    points: list[dict[str, Any]] = []
    next_picture = next_profile = 0.0
    with Study(
        problem,
        seed=ask["seed"],
        store=Path(ask["store"]) if ask.get("store") else None,
        complete=ask["complete"],
        certify=not ask["complete"],
        name=ask.get("study_name", ""),
    ) as study:
        sizes = Sizes(problem, ask["seed"], study.work.settings.engine)
        if not ask["complete"]:
            sizes.why = "not every solution of a trial was counted"

        def picture(now: Estimate) -> dict[str, Any]:
            data = {**estimate_data(now), "bounds": points, "bounds_why": sizes.why}
            return {"event": "study", **data}

        def advance(count: InstanceCount) -> None:
            nonlocal next_picture, next_profile, points
            counts[count.index] = count
            began = time.monotonic()
            if began < next_picture:
                return
            done = next((k for k in range(len(counts)) if k not in counts), len(counts))
            now = Estimate(
                problem, study.work.settings.engine, ask["seed"],
                tuple(counts[k] for k in range(done)), ask["trials"],
            )  # fmt: skip
            if ask["complete"] and began > next_profile:
                points = sizes.points(now.counts)
                ended = time.monotonic()
                # A profile of few trials, or none, is computed again for the next event.
                is_rough = not points or points[0]["trials"] < _FEW
                pause = 0.0 if is_rough else _REDRAW
                next_profile = ended + max(pause, _SHARE * (ended - began))
            report(picture(now))
            ended = time.monotonic()
            # Events of many trials take longer to make, and are made less often.
            next_picture = ended + max(_PULSE, _SHARE * (ended - began))

        found = study.run(ask["trials"], advance=advance)
    # An interrupt of the study allows one more profile, a second one none.
    with suppress(KeyboardInterrupt):
        while ask["complete"]:
            points = sizes.points(found.counts)
            if study.is_broken_off or not sizes.missing(found.counts):
                break
            report(picture(found))
    report(picture(found), found)


def stream_comparison(
    first: Problem, second: Problem, ask: Mapping[str, Any], report: Report
) -> None:
    """Run two studies on common instances, with events for their intermediate results.

    Parameters
    ----------
    first, second : Problem
    ask : mapping
        As for `stream_estimate`.
    report : callable
    """
    done, sent = 0, 0.0

    def advance(count: InstanceCount) -> None:
        nonlocal done, sent
        done += 1
        if time.monotonic() - sent > _PULSE:
            report({"event": "progress", "done": done, "of": 2 * ask["trials"]})
            sent = time.monotonic()

    found = compare_problems(
        first,
        second,
        ask["trials"],
        seed=ask["seed"],
        store=Path(ask["store"]) if ask.get("store") else None,
        advance=advance,
    )
    report({"event": "comparison", **comparison_data(found)}, found)


def estimate_data(found: Estimate) -> dict[str, Any]:
    """An estimate in the page's format: what its document says, and numbers that the page draws."""
    document, interval = found.document(), found.interval()
    chance = {"low": interval.low, "high": interval.high, "value": found.estimate}
    return {
        **named(found, "trials", "requested"),
        "title": document.title,
        "text": document.title + (f" ({found.trouble})" if found.trouble else ""),
        "document": document.html(),
        "chance": chance if found.trials else None,
    }


class Sizes:
    """The match probability under a bound on the largest weight, while a study runs.

    Parameters
    ----------
    problem : Problem
    seed : int
    engine : str

    Notes
    -----
    The points are those of the verb `profile` by size: each trial's least size has a certified
    enclosure, so that a match between two doubles cannot change the result.
    """

    def __init__(self, problem: Problem, seed: int, engine: str) -> None:
        self.problem, self.seed, self.engine = problem, seed, engine
        self._of = Thresholds(problem, seed, find_measure("size")).of
        self._found: dict[int, Threshold] = {}
        self.why = "the sizes of weights are not known yet"

    def missing(self, counts: Sequence[InstanceCount]) -> int:
        """Number of counts not seen before; 0 if sizes are not known at all."""
        if not self._are_known(counts):
            return 0
        return sum(count.index not in self._found for count in counts)

    def points(
        self, counts: Sequence[InstanceCount], seconds: float = _SIZING
    ) -> list[dict[str, Any]]:
        """The profile at some bounds, with constant ratio.

        Parameters
        ----------
        counts : sequence of InstanceCount
            With all their solutions; those seen before are not computed again.
        seconds : float, optional
            Time limit; the rest is left for the next call.  The profile is then of the first
            trials that were processed, which causes no bias.

        Returns
        -------
        list of dict
            Empty if there is none; `why` holds the reason.
        """
        if not self._are_known(counts):
            return []
        end = time.monotonic() + seconds
        seen: list[Threshold] = []
        is_late = False
        for count in counts:
            if count.index not in self._found:
                # At least one is computed in each call.
                if is_late:
                    break
                self._found[count.index] = self._of(count)
                is_late = time.monotonic() >= end
            seen.append(self._found[count.index])
        profile = Profile(self.problem, "size", self.engine, self.seed, tuple(seen))
        if not profile.steps:
            self.why = "no match was found so far: there is no size of weights to show"
            return []
        self.why = ""
        first, last = max(profile.steps[0], 1e-12), max(profile.steps[-1], 1e-12)
        grid = [float(f"{bound:.3g}") for bound in np.geomspace(first, last, _BOUNDS)[1:-1]]
        bounds = dict.fromkeys([first, *grid, last])
        more = {"trials": len(seen), "confidence": profile.confidence}
        return [{**profile.at(bound).to_dict(), **more} for bound in bounds]

    def _are_known(self, counts: Sequence[InstanceCount]) -> bool:
        """Whether the counts contain the solutions; else `why` holds the reason."""
        trouble = self._trouble
        if not trouble and any(count.is_settled for count in counts):
            trouble = "a verdict settles the trials: their solutions are not counted"
        self.why = trouble or self.why
        return not trouble

    @cached_property
    def _trouble(self) -> str:
        """Why no trial of this problem has a list of sizes; "" if each has."""
        try:
            is_known = is_listed(self.problem)
        except InputError as error:
            return str(error)
        if is_known:
            return ""
        return "more weights learn than there are equations: matches form families"


def comparison_data(found: Comparison) -> dict[str, Any]:
    """A comparison in the page's format: what its document says, and both estimates."""
    document = found.document()
    return {
        "trials": found.trials,
        "estimates": [estimate_data(found.first), estimate_data(found.second)],
        "text": document.title,
        "html": document.html(),
    }
