"""The description of trials as plain data, from which every process computes the same.

A trial's record depends only on the `TrialSeries` and the trial's number: not on its chunk,
the worker that computed it, or earlier computations.  (Time limits are the
exception: if an engine reaches one, a faster machine may get further.  The record then
says so.)  This process calls `compute_trials` with the object itself; local workers and
cluster workers receive its description (`compute_described`).
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from algebra.errors import InputError
from algebra.problems.files import problem_from_dict
from algebra.problems.problem import Problem
from algebra.systems.equivalent_cells import in_parameters
from algebra.time_limits import positive_seconds
from numeric.engines.base import chosen_engine
from numeric.engines.counter import InstanceCounter
from numeric.trials.counts import COMPLETE, InstanceCount
from numeric.trials.instances import draw_instances

# Increase if the same trials give other records than before: old records are then not used.
RECORDS_VERSION = 2


@dataclass(frozen=True)
class TrialSettings:
    """The settings with which trials are decided.

    Attributes
    ----------
    engine : str
    timeout : float
        Seconds for one trial in the engine.
    certify : bool
        Whether verdicts settle trials.
    complete : bool
        Whether every solution is counted, even if one decides the match.
    root_timeout : float
        Seconds for one generic root count.
    """

    engine: str
    timeout: float = 600.0
    certify: bool = True
    complete: bool = False
    root_timeout: float = 60.0

    def __post_init__(self) -> None:
        for name in ("timeout", "root_timeout"):
            positive_seconds(getattr(self, name), name)


@dataclass(frozen=True)
class TrialSeries:
    """Trials 0, 1, 2, … of a problem.

    Attributes
    ----------
    problem : Problem
    seed : int
    settings : TrialSettings
    """

    problem: Problem
    seed: int
    settings: TrialSettings = field(default_factory=lambda: TrialSettings("homotopy"))

    @classmethod
    def of(
        cls, problem: Problem, seed: int = 0, engine: str | None = None, **more: Any
    ) -> TrialSeries:
        """Trials with the network's default engine where none is named."""
        network = in_parameters(problem).network
        return cls(problem, seed, TrialSettings(chosen_engine(network, engine), **more))

    def to_dict(self) -> dict[str, Any]:
        """Plain data from which `from_dict` makes the same trials."""
        return {
            "problem": self.problem.to_dict(),
            "seed": self.seed,
            "settings": asdict(self.settings),
            "records": RECORDS_VERSION,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> TrialSeries:
        """The trials described by plain data."""
        if data.get("records") != RECORDS_VERSION:
            raise InputError(
                f"records of version {data.get('records')!r}, this code makes version "
                f"{RECORDS_VERSION}: use the same matchprob on all machines"
            )
        return cls(
            problem_from_dict(data["problem"]), data["seed"], TrialSettings(**data["settings"])
        )

    @cached_property
    def key(self) -> str:
        """A key that is the same for equal trials, on all runs and machines."""
        text = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def counter(self) -> InstanceCounter:
        """A counter with these settings."""
        s = self.settings
        return InstanceCounter(
            self.problem,
            s.engine,
            timeout=s.timeout,
            certify=s.certify,
            complete=s.complete,
            root_timeout=s.root_timeout,
        )


# Two allocations that are compared alternate.
_MOST_KEPT = 2


class _Kept(threading.local):
    """The last counters of this thread, with their plans and start systems."""

    def __init__(self) -> None:
        self.counters: dict[str, tuple[TrialSeries, InstanceCounter]] = {}


_kept = _Kept()


def compute_trials(work: TrialSeries, indices: Sequence[int]) -> list[InstanceCount]:
    """Records of some trials, in their order.

    Parameters
    ----------
    work : TrialSeries
        The next call with the same trials reuses plans and engines.
    indices : sequence of int
    """
    counter = kept_counter(work)
    return counter.count_many(draw_instances(work.problem, work.seed, indices))


def compute_described(
    data: dict[str, Any], key: str, indices: Sequence[int]
) -> list[InstanceCount]:
    """`compute_trials` in another process, which receives the description of the trials.

    Parameters
    ----------
    data : dict
        `TrialSeries.to_dict`; read once.
    key : str
        `TrialSeries.key`.
    indices : sequence of int
    """
    kept = _kept.counters.get(key)
    return compute_trials(kept[0] if kept else TrialSeries.from_dict(data), indices)


def kept_counter(work: TrialSeries) -> InstanceCounter:
    """The counter of these trials, kept for the next call of this thread."""
    found = _kept.counters.pop(work.key, None)
    if found is None:
        while len(_kept.counters) >= _MOST_KEPT:
            # The least recently used one.
            _kept.counters.pop(next(iter(_kept.counters)))[1].close()
        found = work, work.counter()
    _kept.counters[work.key] = found
    return found[1]


def close_kept_counters() -> None:
    """Close the counters that this thread keeps."""
    while _kept.counters:
        _kept.counters.popitem()[1][1].close()


def record_of(count: InstanceCount) -> tuple[Any, ...]:
    """The part of a count that does not depend on the process: all but times and efforts."""
    return (count.index, count.real, count.complex, count.status, count.reason, count.note)


def contradict(one: InstanceCount, other: InstanceCount) -> bool:
    """Whether two counts of the same trial cannot both be true; notes and efforts are ignored.

    A complete count gives the number of solutions, an incomplete one a lower bound.  Two lower
    bounds never contradict each other: machines differ in how far they get.
    """
    if one.status == other.status == COMPLETE:
        pairs = ((one.real, other.real), (one.complex, other.complex))
        return any(a is not None and b is not None and a != b for a, b in pairs)
    for whole, part in ((one, other), (other, one)):
        if whole.status == COMPLETE and part.real is not None and whole.real is not None:
            return part.real > whole.real
    return False


def says_more(one: InstanceCount, other: InstanceCount) -> bool:
    """Whether the first count of a trial is to be kept rather than the second."""

    def rank(count: InstanceCount) -> tuple[bool, bool, int]:
        return (count.status == COMPLETE, not count.is_transient, count.real or 0)

    return rank(one) > rank(other)
