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
from numeric.counts import COMPLETE, InstanceCount
from numeric.statistics.comparison import Comparison
from numeric.statistics.estimate import Estimate
from numeric.statistics.intervals import proportion_interval
from numeric.studies.study import Study

# Seconds between two pictures of a running study.
_PULSE = 0.15
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
    said = 0.0
    with Study(
        problem,
        seed=ask["seed"],
        store=Path(ask["store"]) if ask.get("store") else None,
        complete=ask["complete"],
        certify=not ask["complete"],
        name=ask.get("study_name", ""),
    ) as study:

        def advance(count: InstanceCount) -> None:
            nonlocal said
            counts[count.index] = count
            if time.monotonic() - said > _PULSE:
                done = next((k for k in range(len(counts)) if k not in counts), len(counts))
                now = Estimate(
                    problem, study.work.settings.engine, ask["seed"],
                    tuple(counts[k] for k in range(done)), ask["trials"],
                )  # fmt: skip
                tell({"event": "study", **estimate_data(now), "running": True})
                said = time.monotonic()

        found = study.run(ask["trials"], advance=advance)
    tell({"event": "study", **estimate_data(found), "running": False}, found)


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
        "bounds": bounds(found.counts, found.confidence),
    }


def bounds(counts: Sequence[InstanceCount], confidence: float = 0.95) -> list[dict[str, Any]]:
    """The match probability if no weight may be larger than a bound, for some bounds.

    A trial matches within a bound where a certain solution keeps to it; it does not where all
    its solutions are known and none does.

    Parameters
    ----------
    counts : sequence of InstanceCount
    confidence : float, optional

    Returns
    -------
    list of dict
        In ascending order of ``bound``; empty where sizes are not known.
    """
    # Settled trials hold no solutions: nothing is known of their sizes.
    if any(count.is_settled for count in counts):
        return []
    least = []
    for count in counts:
        sizes = [float(np.abs(w).max(initial=0.0)) for w in map(np.asarray, count.solutions)]
        is_known = count.status == COMPLETE and len(sizes) == (count.real or 0)
        least.append((min(sizes, default=np.inf), is_known))
    finite = sorted(size for size, _ in least if np.isfinite(size))
    if not finite:
        return []
    # Sizes spread over decades: the bounds are equally far apart in ratio, the last holds all.
    grid = np.geomspace(max(finite[0], 1e-12), max(finite[-1], 1e-12), _BOUNDS)
    out = []
    for bound in dict.fromkeys([*(float(f"{g:.3g}") for g in grid[:-1]), finite[-1]]):
        matched = sum(size <= bound for size, _ in least)
        unmatched = sum(size > bound and is_known for size, is_known in least)
        unknown = len(least) - matched - unmatched
        interval = proportion_interval(matched, unmatched, unknown, confidence=confidence)
        decided = matched + unmatched
        out.append(
            {
                "bound": bound,
                "estimate": matched / decided if decided else None,
                "low": interval.low,
                "high": interval.high,
            }
        )
    return out


def comparison_data(found: Comparison) -> dict[str, Any]:
    """A comparison as the page shows it."""
    return {
        **found.to_dict(),
        "first": estimate_data(found.first),
        "second": estimate_data(found.second),
        "text": found.summary,
        "partial": found.is_partial,
    }
