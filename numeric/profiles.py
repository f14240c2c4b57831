r"""Match probability as a function of what a match may cost.

A trial is matched under a bound b where some match costs at most b.  So each trial has one number
τ, the least cost of its real solutions, infinite where there are none; the match probability under
b is P(τ ≤ b), a step function of which one run of complete counts shows all steps.

Costs (`MEASURES`), with w a match and v the weights before learning:

size
    the largest \|w\| (the constraint ``max_abs``);
change
    the largest \|w − v\| (``max_change``);
norm
    the Euclidean length of w − v;
condition
    the relative condition number of the match (`numeric.conditions`), of the doubles nearest to it.

**What is certain.**  A solution's certified disc gives an interval for its cost, and a trial an
interval [low, high] for τ: the trial is matched at b ≥ high, unmatched at b < low, undetermined in
between.  Where solutions may be missing, low is 0; where none is known, high is infinite.

**More weights than equations** leave a whole family of matches, which no list holds.  Then size and
change are profiled bound by bound: a trial is asked again under each of the bounds given, as a
constraint.  A trial that is unmatched at one bound and matched at the next has its τ in between.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from algebra.errors import InputError, shown
from algebra.families import family_of
from algebra.problems.allocation import Allocation
from algebra.problems.constraints import Constraints
from algebra.problems.problem import Problem
from algebra.ranks.generic_rank import network_rank
from algebra.results import Result
from algebra.time_limits import check_time
from numeric.certification.pool import certified_pool
from numeric.chains.chain import Chain, make_chain
from numeric.conditions import conditions
from numeric.counts import COMPLETE, InstanceCount, Reason
from numeric.instances import Instance, draw_instance
from numeric.statistics.bands import band_at
from numeric.statistics.intervals import (
    Interval,
    paired_interval,
    paired_table,
    proportion_interval,
)

# Points of a profile where no bounds are given.
MOST_POINTS = 60
# Bounds at which trials are asked again where none are given.
COARSE = tuple(2.0**k for k in range(-2, 6))
# Bounds at which rankings are compared where none are given: half octaves from 1/16 to 1024.
GRID = tuple(2.0 ** (k / 2) for k in range(-8, 21))
# Many times what a few rounded operations on doubles can be off by.
_SLACK = 4e-15

# From an instance, certified centres (·, r) and radii (·, r) to lower and upper ends of costs.
_Costs = Callable[[Instance, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Measure:
    """A cost that matches are bounded by.

    Attributes
    ----------
    name, title : str
    constraint : str or None
        The constraint of a problem file that bounds it.
    costs : callable
    """

    name: str
    title: str
    constraint: str | None
    costs: _Costs = field(repr=False)


def _largest(
    middles: np.ndarray, radii: np.ndarray, origin: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    away = np.abs(middles - origin)
    slack = radii * (1 + _SLACK) + _SLACK * (np.abs(middles) + np.abs(origin))
    low = np.maximum(away - slack, 0.0).max(axis=1, initial=0.0)
    return low, (away + slack).max(axis=1, initial=0.0)


def _size(instance: Instance, middles: np.ndarray, radii: np.ndarray) -> Any:
    return _largest(middles, radii, np.zeros(middles.shape[1]))


def _change(instance: Instance, middles: np.ndarray, radii: np.ndarray) -> Any:
    return _largest(middles, radii, instance.before)


def _norm(instance: Instance, middles: np.ndarray, radii: np.ndarray) -> Any:
    before = instance.before
    length = np.linalg.norm(middles - before, axis=1)
    slack = radii * (1 + _SLACK) + _SLACK * (np.abs(middles) + np.abs(before))
    off = np.linalg.norm(slack, axis=1) + len(before) * _SLACK * length
    return np.maximum(length - off, 0.0), length + off


def _condition(instance: Instance, middles: np.ndarray, radii: np.ndarray) -> Any:
    ends = []
    for w in middles:
        check_time()
        found = conditions(instance, w.tolist())[1]
        ends.append((math.inf, math.inf) if found is None else (found.low, found.high))
    low, high = np.array(ends).reshape(-1, 2).T
    return low, high


MEASURES = {
    m.name: m
    for m in (
        Measure("size", "largest |weight| allowed", "max_abs", _size),
        Measure("change", "largest change of a weight allowed", "max_change", _change),
        Measure("norm", "Euclidean length of the change allowed", None, _norm),
        Measure("condition", "condition number allowed", None, _condition),
    )
}


def find_measure(name: str) -> Measure:
    """The measure of that name.

    Raises
    ------
    InputError
    """
    if name not in MEASURES:
        raise InputError(f"`by` ({shown(name)}) must be one of " + ", ".join(MEASURES))
    return MEASURES[name]


def check_bounds(bounds: Sequence[float]) -> tuple[float, ...]:
    """Bounds in increasing order, once each.

    Raises
    ------
    InputError
        Where one is negative, NaN or no number, or there are none.
    """
    if isinstance(bounds, (str, bytes)) or not len(bounds):
        raise InputError(f"`bounds` ({shown(bounds)}) must be numbers, one at least")
    out = set()
    for value in bounds:
        try:
            number = math.nan if isinstance(value, (bool, str)) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not 0 <= number < math.inf:
            raise InputError(f"`bounds`: {shown(value)} is no bound: a number, at least 0")
        out.add(number)
    return tuple(sorted(out))


@dataclass(frozen=True)
class Threshold:
    """The least cost of a trial's matches, enclosed.

    Attributes
    ----------
    index : int
    low, high : float
        Between these it lies; both infinite where there is no match.
    counted : bool
        Whether all solutions are known.
    searched : bool
        Whether the count came from a search that cannot show that there is none.
    """

    index: int
    low: float
    high: float
    counted: bool = True
    searched: bool = False

    def outcome(self, bound: float) -> bool | None:
        """Whether the trial is matched under a bound; None where that is undetermined."""
        if self.high <= bound:
            return True
        return False if self.low > bound else None


class Thresholds:
    """The thresholds of a problem's trials, from counts with all their solutions.

    Parameters
    ----------
    problem : Problem
        Whose constraints the counted solutions obey.
    seed : int
    measure : Measure
    """

    def __init__(self, problem: Problem, seed: int, measure: Measure) -> None:
        self.problem = problem
        self.seed = seed
        self.measure = measure
        self._chains: dict[Allocation, Chain | None] = {}

    def of(self, count: InstanceCount) -> Threshold:
        """The threshold of one trial."""
        counted = count.status == COMPLETE
        searched = count.reason is Reason.SEARCHED
        if counted and not count.real:
            return Threshold(count.index, math.inf, math.inf)
        if not count.solutions:
            return Threshold(count.index, 0.0, math.inf, counted, searched)
        instance = draw_instance(self.problem, self.seed, count.index)
        found = self._discs(instance, np.array(count.solutions))
        if found is None or not len(found[0]):
            return Threshold(count.index, 0.0, math.inf, counted, searched)
        low, high = self.measure.costs(instance, *found)
        # A solution that is not certain here may cost anything.
        whole = counted and len(found[0]) == count.real
        return Threshold(
            count.index, float(low.min()) if whole else 0.0, float(high.min()), counted, searched
        )

    def _discs(
        self, instance: Instance, solutions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Centres and radii of polydiscs with one solution each; None where there are none."""
        if self.problem.network.chain() is None:
            # Exact witnesses, rounded.
            return solutions, np.spacing(np.abs(solutions))
        allocation = instance.allocation
        if allocation not in self._chains:
            try:
                self._chains[allocation] = make_chain(allocation, self.problem.support)
            except InputError:
                self._chains[allocation] = None
        chain = self._chains[allocation]
        if chain is None:
            return None
        try:
            pool = certified_pool(chain, instance, solutions)
        except InputError:  # a special instance: its samples are dependent
            return None
        return pool.roots.real, pool.radii


def merged(bounds: Sequence[float], counts: Sequence[Sequence[InstanceCount]]) -> list[Threshold]:
    """Thresholds of trials that were asked again under each bound.

    Parameters
    ----------
    bounds : sequence of float
        In increasing order.
    counts : sequence of sequence of InstanceCount
        For each bound those of trials 0, 1, …; trials that all have are taken.
    """
    out = []
    for trial in zip(*counts, strict=False):
        least, most = 0.0, math.inf
        for bound, count in zip(bounds, trial, strict=True):
            if count.outcome == "matched":
                most = min(most, bound)
            elif count.outcome == "unmatched":
                least = max(least, math.nextafter(bound, math.inf))
        if all(c.is_settled and c.outcome == "unmatched" for c in trial):
            # Minimal: no bound helps.
            least = math.inf
        if least > most:
            raise ArithmeticError(f"trial {trial[0].index}: matched under a tighter bound only")
        searched = any(c.reason is Reason.SEARCHED for c in trial)
        counted = all(c.status == COMPLETE for c in trial)
        out.append(Threshold(trial[0].index, least, most, counted, searched))
    return out


def is_listed(problem: Problem) -> bool:
    """Whether matches are isolated, so that complete counts list them.

    Raises
    ------
    InputError
        For networks whose matches are not listed and cannot be bounded.
    """
    network = problem.network
    if network.chain() is None:
        if family_of(network).name != "relu":
            raise InputError(
                f"profile knows chains of matrices and shallow ReLU nets, not a {network.title} "
                "network"
            )
        return True
    size = draw_instance(problem, 0, 0).allocation.size
    return size <= network_rank(network, problem.support).rank


def bounded(problem: Problem, measure: Measure, bound: float) -> Problem:
    """The problem whose matches cost at most a bound.

    Raises
    ------
    InputError
        For a cost that no constraint bounds.
    """
    if measure.constraint is None:
        raise InputError(
            f"`by` ({measure.name!r}): more weights learn than there are equations, so matches "
            "form families; of these only size and change can be bounded"
        )
    rules = problem.constraints
    given = {name: getattr(rules, name) for name in ("max_abs", "max_change", "sign")}
    given[measure.constraint] = _tightened(given[measure.constraint], bound, problem)
    return replace(problem, constraints=Constraints(**given))


def _tightened(entry: Any, bound: float, problem: Problem) -> Any:
    if entry is None:
        return bound
    if isinstance(entry, Mapping):
        every = {name: entry.get(name) for name in problem.learnable}
        return {name: _tightened(one, bound, problem) for name, one in every.items()}
    if isinstance(entry, tuple):
        return [[min(value, bound) for value in row] for row in entry]
    return min(entry, bound)


@dataclass(frozen=True)
class ProfilePoint:
    """The match probability under one bound.

    Attributes
    ----------
    bound : float
    matched, unmatched, undetermined : int
    estimate : float or None
        Matched share of the decided trials; None where it would be a lower bound only.
    interval : Interval
        Clopper and Pearson's, for this bound alone.
    band : Interval
        Of the band that holds at all bounds at once.
    """

    bound: float
    matched: int
    unmatched: int
    undetermined: int
    estimate: float | None
    interval: Interval
    band: Interval

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "bound": self.bound if math.isfinite(self.bound) else None,
            "matched": self.matched,
            "unmatched": self.unmatched,
            "undetermined": self.undetermined,
            "estimate": self.estimate,
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
        Where points are wanted; empty for the steps themselves.
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
        """The match probability under a bound; infinity for none."""
        low, high = self._ends
        # Infinite thresholds are those of no match, which no bound helps; open ones are open.
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
        """Whether the matched share of the decided trials would say too much.

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
        """The profile at the bounds asked for; else at its steps, at most `MOST_POINTS` of them."""
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
    """Between two bounds the ranking of two problems turns over.

    Attributes
    ----------
    first, second : int
        Numbers of the problems.
    low, high : float
        At `low` one is certainly ahead, at `high` the other.
    ahead : int
        The problem that is ahead at `high`.
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
        Of several problems: on common instances, trial by trial.
    requested : int
        Trials asked for; more than done where the work was interrupted.
    confidence : float
    trouble : str
        What ended the work early, if it was not an interrupt.
    """

    by: str
    seed: int
    profiles: tuple[Profile, ...]
    requested: int
    confidence: float = 0.95
    trouble: str = ""

    picture = "profile"

    @property
    def trials(self) -> int:
        """Trials done for every problem."""
        return min(p.trials for p in self.profiles)

    @property
    def is_partial(self) -> bool:
        """Whether the work ended before all trials asked for were done."""
        return self.trials < self.requested

    @property
    def points(self) -> list[ProfilePoint]:
        """Those of the first profile."""
        return self.profiles[0].points

    @cached_property
    def crossings(self) -> list[Crossing]:
        """Where rankings cross, for certain; see `signs`."""
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
        """Which of two problems is ahead at each bound, for certain: 1, -1, or 0 for neither.

        By Tango's paired intervals, at all these bounds together with the confidence of the
        result (Bonferroni); the bounds must not have been chosen after a look at the trials.
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

    def facts(self) -> dict[str, Any]:
        """Trials, and each profile without a bound."""
        done = f"{self.trials} of {self.requested}, partial" if self.is_partial else self.trials
        out: dict[str, Any] = {"by": self.by, "trials": done}
        for k, profile in enumerate(self.profiles):
            point = profile.at(math.inf)
            share = "–" if point.estimate is None else f"{point.estimate:.4f}"
            out[f"unbounded_{k}" if len(self.profiles) > 1 else "unbounded"] = share
        out["crossings"] = len(self.crossings) if len(self.profiles) > 1 else None
        out["seed"] = self.seed
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
            "by": self.by,
            "trials": self.trials,
            "requested": self.requested,
            "confidence": self.confidence,
            "seed": self.seed,
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

    def __str__(self) -> str:
        parts = []
        for profile in self.profiles:
            point = profile.at(math.inf)
            name = f"{profile.name}: " if profile.name else ""
            share = "undecided" if point.estimate is None else f"{point.estimate:.4f}"
            parts.append(f"{name}MP {share} without a bound, {len(profile.steps)} steps")
        return f"by {self.by}, {self.trials} trials, seed {self.seed}; " + "; ".join(parts)
