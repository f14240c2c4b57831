"""Studies told while they run: tallies, intervals, the match probability against a bound.

The trials, their seeds and the store are those of the verbs `estimate` and `compare`; what is
added here is only what the page draws of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from algebra.problems.problem import Problem
from matchprob.api.estimate import compare as compare_problems
from numeric.counts import InstanceCount
from numeric.profiles.measures import find_measure
from numeric.profiles.profile import Profile
from numeric.profiles.thresholds import Threshold, Thresholds, is_listed
from numeric.statistics.comparison import Comparison
from numeric.statistics.estimate import Estimate
from numeric.studies.study import Study

# Seconds between two pictures of a running study.
_PULSE = 0.15
# Seconds between two profiles of it, which cost more; and how much longer than its making a
# picture stands.
_REDRAW, _SHARE = 0.5, 5.0
# So many sizes are found before an interrupt ends the work.
_QUICK = 200
# Bounds at which the slider knows the match probability.
_BOUNDS = 24

Tell = Callable[..., None]


def estimate(problem: Problem, ask: Mapping[str, Any], tell: Tell) -> None:
    """Run a study of one problem and tell how it goes.

    Parameters
    ----------
    problem : Problem
    ask : mapping
        ``trials``, ``seed``, ``complete`` (count every solution, also where a verdict settles
        the trial: then sizes of weights are known), ``store``, ``name``.
    tell : callable
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
                next_profile = ended + max(_REDRAW, _SHARE * (ended - began))
            tell({"event": "study", **estimate_data(now), "bounds": points, "running": True})
            ended = time.monotonic()
            # Pictures of many trials take longer to make, and are made less often.
            next_picture = ended + max(_PULSE, _SHARE * (ended - began))

        found = study.run(ask["trials"], advance=advance)
    # An interrupt must not wait for the sizes of very many.
    if ask["complete"] and (not study.is_broken_off or sizes.missing(found.counts) < _QUICK):
        points = sizes.points(found.counts)
    tell({"event": "study", **estimate_data(found), "bounds": points, "running": False}, found)


def compare(first: Problem, second: Problem, ask: Mapping[str, Any], tell: Tell) -> None:
    """Run two studies on common instances and tell how they go.

    Parameters
    ----------
    first, second : Problem
    ask : mapping
        As for `estimate`.
    tell : callable
    """
    done, said = 0, 0.0

    def advance(count: InstanceCount) -> None:
        nonlocal done, said
        done += 1
        if time.monotonic() - said > _PULSE:
            tell({"event": "progress", "done": done, "of": 2 * ask["trials"]})
            said = time.monotonic()

    found = compare_problems(
        first,
        second,
        ask["trials"],
        seed=ask["seed"],
        store=Path(ask["store"]) if ask.get("store") else None,
        advance=advance,
    )
    tell({"event": "comparison", **comparison_data(found)}, found)


def estimate_data(found: Estimate) -> dict[str, Any]:
    """An estimate as the page shows it."""
    if not found.counts:
        return {"trials": 0, "requested": found.requested, "trouble": found.trouble}
    data = found.to_dict()
    return {
        **data,
        "digest": found.problem.digest,
        "text": str(found),
        "value_text": found.value_text,
        "lower_bound": found.is_lower_bound,
        "partial": found.is_partial,
        "trouble": found.trouble,
    }


class Sizes:
    """The match probability if no weight may be larger than a bound, while a study runs.

    Parameters
    ----------
    problem : Problem
    seed : int
    engine : str

    Notes
    -----
    The points are those of the verb `profile` by size: each trial's least size is enclosed with
    certainty, so nothing is said that a match between two doubles could change.
    """

    def __init__(self, problem: Problem, seed: int, engine: str) -> None:
        self.problem, self.seed, self.engine = problem, seed, engine
        self._of = Thresholds(problem, seed, find_measure("size")).of
        self._found: dict[int, Threshold] = {}

    def missing(self, counts: Sequence[InstanceCount]) -> int:
        """How many of them were not seen before."""
        return sum(count.index not in self._found for count in counts)

    def points(self, counts: Sequence[InstanceCount]) -> list[dict[str, Any]]:
        """The profile at some bounds, equally far apart in ratio.

        Parameters
        ----------
        counts : sequence of InstanceCount
            With all their solutions; those seen before cost nothing.

        Returns
        -------
        list of dict
            Empty where sizes are not known: trials that a verdict settles hold no solutions.
        """
        if not is_listed(self.problem) or any(count.is_settled for count in counts):
            return []
        for count in counts:
            if count.index not in self._found:
                self._found[count.index] = self._of(count)
        profile = Profile(
            self.problem, "size", self.engine, self.seed,
            tuple(self._found[count.index] for count in counts),
        )  # fmt: skip
        if not profile.steps:
            return []
        first, last = max(profile.steps[0], 1e-12), max(profile.steps[-1], 1e-12)
        grid = [float(f"{bound:.3g}") for bound in np.geomspace(first, last, _BOUNDS)[1:-1]]
        return [profile.at(bound).to_dict() for bound in dict.fromkeys([first, *grid, last])]


def comparison_data(found: Comparison) -> dict[str, Any]:
    """A comparison as the page shows it."""
    return {
        **found.to_dict(),
        "first": estimate_data(found.first),
        "second": estimate_data(found.second),
        "text": found.summary,
        "partial": found.is_partial,
    }
