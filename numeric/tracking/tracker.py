"""Batched path tracking between parameter vectors of a system.

Each path follows one root while the parameters move on the straight complex line from one instance
to another, t from 0 to 1, or on a detour through complex t.  Many paths over many instances run
in one compiled call.  Where the equations have a form in few unknowns
(`numeric.equations.inputs`) they are tracked in it, else in the weights; one kernel
(`numeric.tracking.kernel`) runs the tape of either.

A tracked endpoint is an approximation; `numeric.certification.krawczyk` decides what it proves.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from math import isinf
from typing import Protocol

import numpy as np

from algebra.time_limits import check_time, time_left
from algebra.work import spend
from numeric.equations.lanes.linalg import LANES
from numeric.equations.system import ParameterSystem
from numeric.tracking.inputs.tracker import InputsLines
from numeric.tracking.kernel import track_system
from numeric.tracking.settings import TrackerSettings
from numeric.tracking.steps import DONE, SLOW, STUCK, Lines, PathOutcomes

__all__ = ["DONE", "SLOW", "STUCK", "Tracked", "TrackerSettings", "track"]

# Work of a path, in seconds, by the square of the number of unknowns.
_PATH = 1e-5
# Full sets of lanes between two checks of the time limit.
_PIECE = 32


@dataclass(frozen=True)
class Tracked:
    """Endpoints of a batch of paths.

    Attributes
    ----------
    roots : ndarray of complex, shape (paths, r)
    lifts : ndarray of complex, shape (paths, ·)
        Further unknowns of a path: states S_1, …, S_K of the lifted system, or the unknowns
        of the free inputs; empty if the weights are all unknowns.
    status : ndarray of int
        `DONE`, `STUCK` (steps became too short) or `SLOW` (too many steps).
    steps, rejected : ndarray of int
    reached : ndarray of float
        The last t.
    error : ndarray of float
        Relative size of the last Newton increment at the end.
    """

    roots: np.ndarray
    lifts: np.ndarray
    status: np.ndarray
    steps: np.ndarray
    rejected: np.ndarray
    reached: np.ndarray
    error: np.ndarray


def track(
    of: ParameterSystem,
    first: np.ndarray,
    second: np.ndarray,
    first_of: np.ndarray,
    second_of: np.ndarray,
    starts: np.ndarray,
    settings: TrackerSettings | None = None,
    *,
    first_turn: np.ndarray | None = None,
    second_turn: np.ndarray | None = None,
    via: np.ndarray | None = None,
) -> Tracked:
    """Track many paths.

    Parameters
    ----------
    of : ParameterSystem
    first, second : ndarray of complex, shape (·, of.size)
        Parameter vectors at the two ends of the lines.
    first_of, second_of : ndarray of int, shape (paths,)
        Indices of each path's ends.
    starts : ndarray of complex, shape (paths, r)
        For each path a root at its first parameter vector.
    settings : TrackerSettings, optional
    first_turn, second_turn : ndarray of int, optional
        For each parameter vector the seed of an equivalent one that replaces it
        (`ParameterSystem.turned`), 0 for none.
    via : ndarray of complex, shape (legs − 1, paths), optional
        Values of t at the corners of each path's polygon (`numeric.engines.homotopy.detour`).

    Returns
    -------
    Tracked
        `reached` counts legs: with three legs it is (legs done + t)/3.
    """
    settings = settings or TrackerSettings()
    first = np.ascontiguousarray(first, complex)
    second = np.ascontiguousarray(second, complex)
    starts = np.ascontiguousarray(starts, complex)
    first_of = np.ascontiguousarray(first_of, np.int64)
    second_of = np.ascontiguousarray(second_of, np.int64)
    turns = [
        np.zeros(len(side), np.int64) if seeds is None else np.asarray(seeds)
        for side, seeds in ((first, first_turn), (second, second_turn))
    ]
    form = None if settings.lifted else of.free_inputs()
    lines: InputsLines | WeightLines
    if form is None:
        lines = WeightLines(of, first, second, *turns)
    else:
        lines = InputsLines(form, first, second, *turns)
    return follow(lines, first_of, second_of, starts, settings, via=via)


def follow(
    lines: InputsLines | WeightLines,
    first_of: np.ndarray,
    second_of: np.ndarray,
    starts: np.ndarray,
    settings: TrackerSettings,
    *,
    via: np.ndarray | None = None,
) -> Tracked:
    """Track many paths along given lines; see `track`."""
    ends = lines.vectors
    x = lines.enter(first_of, starts)
    if via is None:
        done = follow_lines(lines, *ends, first_of, second_of, x, settings)
    else:
        done = _detours(lines, *ends, first_of, second_of, x, settings, via)
    return replace(
        done,
        roots=lines.leave(second_of, done.roots),
        lifts=lines.lifts_at(second_of, done.lifts),
    )


class SystemLines(Protocol):
    """Straight lines of the parameters of one system."""

    def lifts(self, settings: TrackerSettings) -> int:
        """Number of further unknowns returned with an endpoint."""
        ...

    def run(
        self, settings: TrackerSettings, lines: Lines, roots: np.ndarray, lifts: np.ndarray,
        outcome: PathOutcomes,
    ) -> None:  # fmt: skip
        """Call the kernel, which fills roots, lifts and outcome."""
        ...


def follow_lines(
    lines: SystemLines,
    first: np.ndarray,
    second: np.ndarray,
    first_of: np.ndarray,
    second_of: np.ndarray,
    x: np.ndarray,
    settings: TrackerSettings,
) -> Tracked:
    """Track unknowns x along straight lines."""
    paths = len(x)
    outcome = PathOutcomes(
        np.full(paths, STUCK, np.int64),
        np.zeros(paths, np.int64),
        np.zeros(paths, np.int64),
        np.zeros(paths),
        np.full(paths, np.inf),
    )
    roots = np.full(x.shape, np.nan, complex)
    lifts = np.full((paths, lines.lifts(settings)), np.nan, complex)

    spend(_PATH * paths * x.shape[1] ** 2)
    # The kernel cannot be interrupted: with a time limit it is called piece by piece.
    size = paths if isinf(time_left()) else _PIECE * LANES
    for at in range(0, paths, max(1, size)):
        check_time()
        part = slice(at, min(at + size, paths))
        lines.run(
            settings, Lines(first, second, first_of[part], second_of[part], x[part]), roots[part],
            lifts[part], PathOutcomes(*(values[part] for values in outcome)),
        )  # fmt: skip
    return Tracked(roots, lifts, *outcome)


def _detours(
    lines: InputsLines | WeightLines,
    first: np.ndarray,
    second: np.ndarray,
    first_of: np.ndarray,
    second_of: np.ndarray,
    x: np.ndarray,
    settings: TrackerSettings,
    via: np.ndarray,
) -> Tracked:
    """Track unknowns x from corner to corner."""
    paths = len(x)
    lifts = np.full((paths, lines.lifts(settings)), np.nan, complex)
    done = Tracked(
        x.copy(), lifts, np.full(paths, DONE), np.zeros(paths, np.int64),
        np.zeros(paths, np.int64), np.zeros(paths), np.zeros(paths),
    )  # fmt: skip
    way = second[second_of] - first[first_of]
    corners = [first[first_of], *(first[first_of] + t[:, None] * way for t in via)]
    corners.append(second[second_of])
    legs = len(corners) - 1
    for before, after in itertools.pairwise(corners):
        go = np.flatnonzero(done.status == DONE)
        leg = follow_lines(
            lines, before[go], after[go], np.arange(len(go)), np.arange(len(go)),
            done.roots[go], settings,
        )  # fmt: skip
        for name in ("roots", "lifts", "status", "error"):
            getattr(done, name)[go] = getattr(leg, name)
        done.steps[go] += leg.steps
        done.rejected[go] += leg.rejected
        done.reached[go] += leg.reached / legs
    return done


class WeightLines:
    """Lines of a system's own parameters; the unknowns are its learnable weights."""

    def __init__(
        self,
        of: ParameterSystem,
        first: np.ndarray,
        second: np.ndarray,
        first_turn: np.ndarray,
        second_turn: np.ndarray,
    ) -> None:
        self.of = of
        self.vectors = (self._turned(first, first_turn), self._turned(second, second_turn))

    def _turned(self, side: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        vectors = [
            self.of.turned(p, np.random.default_rng(int(seed))) if seed else p
            for p, seed in zip(side, seeds, strict=True)
        ]
        return np.array(vectors, complex).reshape(-1, self.of.size)

    def lifts(self, settings: TrackerSettings) -> int:
        """Number of further unknowns (states) returned with an endpoint."""
        return self.of.states if settings.lifted else 0

    def enter(self, of: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Unknowns for roots of the first instances: the weights."""
        return weights

    def leave(self, of: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Weights for unknowns."""
        return x

    def lifts_at(self, of: np.ndarray, lifts: np.ndarray) -> np.ndarray:
        """The further unknowns at the second instances themselves, not at their turned ones."""
        return lifts

    def run(
        self, settings: TrackerSettings, lines: Lines, roots: np.ndarray, lifts: np.ndarray,
        outcome: PathOutcomes,
    ) -> None:  # fmt: skip
        """Call the kernel, which fills roots, lifts and outcome."""
        kind = settings.order, settings.lifted
        system = self.of.once(("lanes", *kind), lambda: self.of.lane_system(*kind))
        track_system(system, settings, lines, roots, lifts, outcome)
