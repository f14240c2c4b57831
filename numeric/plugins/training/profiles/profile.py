"""The match probability as a function of a bound, with intervals; crossings of rankings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from algebra.documents import Document
from algebra.errors import InputError, shown
from algebra.problems.problem import Problem
from algebra.results import Result, named
from numeric.plugins.training.profiles.thresholds import Threshold
from numeric.statistics.intervals import (
    ConfidenceInterval,
    band_at,
    paired_interval,
    paired_table,
    proportion_interval,
)

# Largest number of points of a profile without given bounds.
MOST_POINTS = 60
# Default bounds under which trials are counted again.
COARSE = tuple(2.0**k for k in range(-2, 6))
# Default bounds at which rankings are compared: half octaves from 1/16 to 1024.
GRID = tuple(2.0 ** (k / 2) for k in range(-8, 21))


def check_bounds(bounds: Sequence[float]) -> tuple[float, ...]:
    """Bounds in increasing order, without repetitions.

    Raises
    ------
    InputError
        If a bound is negative, NaN or not a number, or if there are none.
    """
    if isinstance(bounds, (str, bytes)) or not len(bounds):
        raise InputError(f"`bounds` ({shown(bounds)}) must be at least one number")
    out = set()
    for value in bounds:
        try:
            number = math.nan if isinstance(value, (bool, str)) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not 0 <= number < math.inf:
            raise InputError(f"`bounds`: {shown(value)} must be a finite number, at least 0")
        out.add(number)
    return tuple(sorted(out))


@dataclass(frozen=True)
class ProfilePoint:
    """The match probability under one bound.

    Attributes
    ----------
    bound : float
    matched, unmatched, undetermined : int
    estimate : float or None
        Matched share of the decided trials; None if it is only a lower bound.
    interval : ConfidenceInterval
        The Clopper–Pearson interval, for this bound alone.
    band : ConfidenceInterval
        The band that holds at all bounds simultaneously.
    """

    bound: float
    matched: int
    unmatched: int
    undetermined: int
    estimate: float | None
    interval: ConfidenceInterval
    band: ConfidenceInterval

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "bound": self.bound if math.isfinite(self.bound) else None,
            **named(self, "matched", "unmatched", "undetermined", "estimate"),
            "low": self.interval.low,
            "high": self.interval.high,
            "band_low": self.band.low,
            "band_high": self.band.high,
        }


@dataclass(frozen=True)
class Profile:
    """The match probability of one problem as a function of a bound.

    Attributes
    ----------
    problem : Problem
    by : str
    engine : str
    seed : int
    thresholds : tuple of Threshold
        One for each trial, in order.
    bounds : tuple of float
        Bounds of the points; empty for the steps themselves.
    confidence : float
    name : str
    """

    problem: Problem
    by: str
    engine: str
    seed: int
    thresholds: tuple[Threshold, ...] = field(repr=False)
    bounds: tuple[float, ...] = ()
    confidence: float = 0.95
    name: str = ""

    @property
    def trials(self) -> int:
        """Trials done."""
        return len(self.thresholds)

    @cached_property
    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        low = np.sort([t.low for t in self.thresholds])
        return low, np.sort([t.high for t in self.thresholds])

    def at(self, bound: float) -> ProfilePoint:
        """The match probability under a bound; infinity means no bound."""
        low, high = self._ends
        # An infinite threshold means no match under any bound; undecided trials stay undecided.
        matched = int(np.searchsorted(high, bound, "right")) if bound < math.inf else 0
        unmatched = len(low) - int(np.searchsorted(low, bound, "right"))
        if bound == math.inf:
            matched = int(np.isfinite(high).sum())
            unmatched = int(np.isinf(low).sum())
        open_ = self.trials - matched - unmatched
        decided = matched + unmatched
        estimate = matched / decided if decided and not self._only_below(bound, open_) else None
        return ProfilePoint(
            bound,
            matched,
            unmatched,
            open_,
            estimate,
            proportion_interval(matched, unmatched, open_, confidence=self.confidence),
            band_at(matched, unmatched, open_, confidence=self.confidence),
        )

    def _only_below(self, bound: float, undetermined: int) -> bool:
        """Whether the matched share of the decided trials would be biased upwards.

        As `numeric.statistics.estimate.Estimate.is_lower_bound`.
        """
        return undetermined > 0 and any(
            t.searched or (not t.counted and t.high <= bound) for t in self.thresholds
        )

    def outcomes(self, bound: float) -> list[bool | None]:
        """Whether each trial is matched under a bound, in order."""
        return [t.outcome(bound) for t in self.thresholds]

    @property
    def steps(self) -> tuple[float, ...]:
        """Bounds at which a trial becomes certainly matched, in increasing order."""
        high = self._ends[1]
        return tuple(float(v) for v in np.unique(high[np.isfinite(high)]))

    @property
    def points(self) -> list[ProfilePoint]:
        """The profile at the given bounds; else at its steps, at most `MOST_POINTS` of them."""
        bounds = self.bounds
        if not bounds:
            steps = self.steps
            count = min(MOST_POINTS, len(steps))
            places = np.linspace(0, len(steps) - 1, count).round().astype(int)
            bounds = tuple(steps[k] for k in places)
        return [self.at(bound) for bound in bounds]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""

        def plain(value: float) -> float | None:
            return value if math.isfinite(value) else None

        return {
            "name": self.name,
            "trials": self.trials,
            "points": [p.to_dict() for p in self.points],
            "unbounded": self.at(math.inf).to_dict(),
            "thresholds": [[plain(t.low), plain(t.high)] for t in self.thresholds],
            "engine": self.engine,
        }


@dataclass(frozen=True)
class Crossing:
    """Two bounds between which the ranking of two problems is reversed.

    Attributes
    ----------
    first, second : int
        Numbers of the problems.
    low, high : float
        At `low` one of them has the larger match probability, at `high` the other, both with the
        confidence of the result.
    ahead : int
        The problem with the larger match probability at `high`.
    """

    first: int
    second: int
    low: float
    high: float
    ahead: int


@dataclass(frozen=True, repr=False)
class ProfileResult(Result):
    """Match probabilities of one problem or several as functions of a bound.

    Attributes
    ----------
    by : str
    seed : int
    profiles : tuple of Profile
        For several problems: on common instances, trial by trial.
    requested : int
        Trials requested; more than finished if the work was interrupted.
    confidence : float
    trouble : str
        Why the work ended early, other than by an interrupt.
    """

    by: str
    seed: int
    profiles: tuple[Profile, ...]
    requested: int
    confidence: float = 0.95
    trouble: str = ""

    @property
    def trials(self) -> int:
        """Number of trials finished for every problem."""
        return min(p.trials for p in self.profiles)

    @property
    def problem(self) -> Problem:
        """The first problem; all have one network."""
        return self.profiles[0].problem

    @property
    def is_partial(self) -> bool:
        """Whether the work ended before all requested trials."""
        return self.trials < self.requested

    @property
    def points(self) -> list[ProfilePoint]:
        """The points of the first profile."""
        return self.profiles[0].points

    @cached_property
    def crossings(self) -> list[Crossing]:
        """Certified crossings of rankings; see `signs`."""
        bounds = self.profiles[0].bounds or GRID
        out = []
        for a, b in combinations(range(len(self.profiles)), 2):
            last: tuple[float, int] | None = None
            for bound, sign in zip(bounds, self.signs(a, b, bounds), strict=True):
                if sign and last is not None and last[1] != sign:
                    out.append(Crossing(a, b, last[0], bound, a if sign > 0 else b))
                if sign:
                    last = bound, sign
        return out

    def signs(self, first: int, second: int, bounds: Sequence[float]) -> list[int]:
        """The problem with the larger match probability at each bound: 1 or -1; 0 if not shown.

        By Tango's paired intervals, simultaneously at all these bounds with the confidence of the
        result (Bonferroni); the bounds must not depend on the outcomes of the trials.
        """
        level = 1 - (1 - self.confidence) / max(1, len(bounds))
        out = []
        for bound in bounds:
            pairs = zip(
                self.profiles[first].outcomes(bound),
                self.profiles[second].outcomes(bound),
                strict=False,
            )
            table = (
                paired_table(*zip(*pairs, strict=True)) if self.trials else np.zeros((3, 3), int)
            )
            interval = paired_interval(table, confidence=level)
            out.append(1 if interval.low > 0 else -1 if interval.high < 0 else 0)
        return out

    def columns(self) -> dict[str, list[Any]]:
        """One row for each point of each profile."""
        rows = [
            {"profile": k, "name": profile.name, **point.to_dict()}
            for k, profile in enumerate(self.profiles)
            for point in profile.points
        ]
        names = ["profile", "name", *self.profiles[0].at(math.inf).to_dict()]
        return {name: [row[name] for row in rows] for name in names}

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of ``matchprob profile``; of several problems, with all of them."""
        first = self.profiles[0].to_dict()
        data: dict[str, Any] = {
            **named(self, "by", "trials", "requested", "confidence", "seed"),
        }
        data |= {key: value for key, value in first.items() if key not in ("trials", "name")}
        if len(self.profiles) > 1:
            data["profiles"] = [p.to_dict() for p in self.profiles]
            data["crossings"] = [
                {
                    "problems": [c.first, c.second],
                    "between": [c.low, c.high],
                    "then_ahead": c.ahead,
                }
                for c in self.crossings
            ]
        return data

    def document(self) -> Document:
        """Each curve at some bounds, crossings of rankings, and the costs of matches."""
        from numeric.plugins.training.profiles.document import profile_document

        return profile_document(self)
