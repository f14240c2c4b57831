"""The document of a profile: curves at some bounds, crossings of rankings, costs of matches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from algebra.documents import Document, Explanation, Paragraph, Step, Table, step
from algebra.results import done_of
from algebra.words import plural
from numeric.plugins.training.profiles.errors import how_computed
from numeric.plugins.training.profiles.measures import MEASURES
from numeric.statistics.intervals import band_half_width, share_text

if TYPE_CHECKING:
    from numeric.plugins.training.profiles.profile import Profile, ProfileResult

# Rows shown if no bounds are given.
_ROWS = 12


def profile_names(found: ProfileResult) -> list[str]:
    """Names of the problems: of their files, else numbers."""
    return [p.name or f"problem {k + 1}" for k, p in enumerate(found.profiles)]


def profile_document(found: ProfileResult) -> Document:
    """The document of a profile."""
    several = len(found.profiles) > 1
    facts: dict[str, Any] = {"by": found.by, "trials": done_of(found.trials, found.requested)}
    for k, profile in enumerate(found.profiles):
        point = profile.at(math.inf)
        facts[f"unbounded_{k}" if several else "unbounded"] = share_text(point.estimate)
    facts["crossings"] = len(found.crossings) if several else None
    facts["seed"] = found.seed
    if not found.trials:
        return Document("no trial was finished", facts, (), _why(found))
    names = profile_names(found)
    tables = [_table(name, profile) for name, profile in zip(names, found.profiles, strict=True)]
    lines = []
    for c in found.crossings if several else ():
        other = c.first if c.ahead == c.second else c.second
        lines.append(
            f"  between {c.low:.4g} and {c.high:.4g}: {names[c.ahead]} overtakes {names[other]}"
        )
    title = f"match probability by {found.by}: {MEASURES[found.by].title}"
    return Document(title, facts, (*tables, *map(Paragraph, lines)), _why(found), tone="strong")


def _table(name: str, profile: Profile) -> Table:
    points = profile.points
    if not profile.bounds and len(points) > _ROWS:
        places = np.linspace(0, len(points) - 1, _ROWS).round().astype(int)
        points = [points[k] for k in places]
    points = [*points, profile.at(math.inf)]
    columns: dict[str, Sequence[Any]] = {
        "bound": ["none" if p.bound == math.inf else f"{p.bound:.4g}" for p in points],
        "matched": [p.matched for p in points],
        "not": [p.unmatched for p in points],
        "?": [p.undetermined for p in points],
        "MP": [None if p.estimate is None else share_text(p.estimate) for p in points],
        "interval": [str(p.interval) for p in points],
        "band": [str(p.band) for p in points],
    }
    return Table(columns, f"{name}: {profile.problem.learns}")


def _why(found: ProfileResult) -> Explanation:
    """The explanation of a profile."""
    again: dict[str, Any] = {"by": found.by, "seed": found.seed}
    if not found.trials:
        same = step("profile", "the same call with more time", **again, trials=found.requested)
        return Explanation((), "the match probability: no trial was finished", "", (same,))
    several = len(found.profiles) > 1
    known = [
        text
        for profile, name in zip(found.profiles, profile_names(found), strict=True)
        for text in _of_one(profile, f"{name}: " * several)
    ]
    half = band_half_width(found.trials, found.confidence)
    known.append(
        f"With {found.confidence:.0%} confidence the whole curve is right within ± {half:.4f}, at "
        "all bounds at once (the band); an interval holds for its bound alone."
    )
    if found.by == "error":
        how = how_computed(found.profiles[0].problem)
        known.append(f"The error is E|f(x) − f*(x)|² / E|f*(x)|², {how}; f* is the teacher.")
    if several:
        known.append(
            f"The ranking changes {plural(len(found.crossings), f'{len(found.crossings)} time')}"
            ", for certain, by paired intervals at all bounds together (Bonferroni): which is "
            "better depends on the bound."
            if found.crossings
            else "No change of the ranking at any bound is shown."
        )
    open_trials = max(profile.at(math.inf).undetermined for profile in found.profiles)
    steps: list[Step] = []
    if open_trials:
        open_ = (
            f"whether {open_trials} of {plural(found.trials, f'{found.trials} trial')} have a "
            "match at all: both ends of the intervals allow for them"
        )
        decided_by = "a complete count of each"
        more = {**again, "trials": found.requested, "trial_timeout": 3600}
        steps.append(step("profile", "more time for each", **more))
    else:
        open_, decided_by = "the position of the curve within that band", ""
    if found.is_partial:
        steps.append(step("profile", "all requested trials", **again, trials=found.requested))
    elif half > 0.01:
        steps.append(step("profile", "a band half as wide", **again, trials=4 * found.trials))
    if not several:
        steps.append(step("train", "which of these matches an optimizer finds", seed=found.seed))
    return Explanation(tuple(known), open_, decided_by, tuple(steps))


def _of_one(profile: Profile, head: str) -> list[str]:
    """The number of trials with a match without a bound, and the costs of their matches."""
    end = profile.at(math.inf)
    trials = plural(profile.trials, f"{profile.trials} trial")
    out = [
        f"{head}Without a bound {end.matched} of {trials} match, {end.unmatched} do not: "
        f"MP {end.interval.words}."
    ]
    costs = [t.high for t in profile.thresholds if math.isfinite(t.high)]
    if costs:
        half, most = (float(np.quantile(costs, q, method="inverted_cdf")) for q in (0.5, 0.9))
        what = MEASURES[profile.by].title.removesuffix(" allowed")
        out.append(
            f"{head}Of the trials with a match, half have one with {what} at most {half:.3g}, nine "
            f"tenths one with at most {most:.3g}."
        )
    return out
