"""Batched path tracking between parameter vectors of a chain.

Each path follows one root w(t) of the chain's equations while its parameters move on the
straight complex line from one vector to another, t from 0 to 1.  Many paths over many
instances run in one compiled call (`numeric.tracking.kernel`).

A tracked endpoint is an approximation; what it proves is for `numeric.certification.krawczyk`
to say.
"""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import isinf

import numpy as np

from algebra.time_limits import check_time, time_left
from numeric.chains.chain import Chain
from numeric.chains.lanes.condensed import SLOTS, layout
from numeric.chains.lanes.lifted import positions
from numeric.chains.lanes.linalg import LANES, workspace
from numeric.tracking.kernel import DONE, SLOW, STUCK, track_paths

__all__ = ["DONE", "SLOW", "STUCK", "Settings", "Tracked", "track"]

# Full sets of lanes between two looks at the clock, where there is a time limit.
_PIECE = 16


@dataclass(frozen=True)
class Settings:
    """How carefully paths are tracked.

    Attributes
    ----------
    order : int
        Order of the Taylor predictor.
    tolerance : float
        Relative size aimed at for the predictor's error.
    contraction : float
        Largest ratio of the second Newton increment to the first.
    accuracy : float
        Largest relative second increment.
    shortest : float
        Step length at which a path counts as stuck.
    most_steps : int
    """

    order: int = 10
    tolerance: float = 1e-5
    contraction: float = 0.05
    accuracy: float = 1e-6
    shortest: float = 1e-9
    most_steps: int = 500
    most_rejected: int = 60
    lifted: bool = False

    def careful(self) -> Settings:
        """The lifted system, smaller steps, a stricter test against jumping to another path."""
        return Settings(
            order=self.order,
            tolerance=self.tolerance * 1e-1,
            contraction=self.contraction * 0.2,
            accuracy=self.accuracy * 100,
            shortest=self.shortest * 1e-2,
            most_steps=self.most_steps * 2,
            most_rejected=self.most_rejected * 2,
            lifted=True,
        )


@dataclass(frozen=True)
class Tracked:
    """Endpoints of a batch of paths.

    Attributes
    ----------
    roots : ndarray of complex, shape (paths, r)
    lifts : ndarray of complex, shape (paths, ·)
        States S_1, …, S_K of the lifted system; empty where it was not used.
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
    chain: Chain,
    first: np.ndarray,
    second: np.ndarray,
    first_of: np.ndarray,
    second_of: np.ndarray,
    starts: np.ndarray,
    settings: Settings | None = None,
    threads: int = 1,
) -> Tracked:
    """Track many paths.

    Parameters
    ----------
    chain : Chain
    first, second : ndarray of complex, shape (·, chain.size)
        Parameter vectors from which and to which paths lead.
    first_of, second_of : ndarray of int, shape (paths,)
        Which of them each path uses.
    starts : ndarray of complex, shape (paths, r)
        A root at the first parameter vector for each path.
    settings : Settings, optional
    threads : int, optional
        Threads that share the paths (the kernel holds no lock).

    Returns
    -------
    Tracked
    """
    settings = settings or Settings()
    tables = layout(chain, settings.order, settings.lifted)
    places = positions(chain)
    paths, r = len(starts), chain.unknowns
    states = int((chain.widths[1:] * chain.columns).sum())
    out = (
        np.full((paths, r), np.nan, complex),
        np.full((paths, states if settings.lifted else 0), np.nan, complex),
        np.full(paths, STUCK, np.int64),
        np.zeros(paths, np.int64),
        np.zeros(paths, np.int64),
        np.zeros(paths),
        np.full(paths, np.inf),
    )
    options = np.array(
        [
            settings.tolerance,
            settings.contraction,
            settings.accuracy,
            settings.shortest,
            settings.most_steps,
            settings.most_rejected,
        ],
        float,
    )
    first = np.ascontiguousarray(first, complex)
    second = np.ascontiguousarray(second, complex)
    starts = np.ascontiguousarray(starts, complex)
    first_of = np.ascontiguousarray(first_of, np.int64)
    second_of = np.ascontiguousarray(second_of, np.int64)

    def run(part: slice) -> None:
        track_paths(
            workspace(int(tables["o"][SLOTS])), *tables.values(), *places,
            settings.lifted, first, second,
            first_of[part], second_of[part], starts[part], options, *(x[part] for x in out),
        )  # fmt: skip

    if threads <= 1 or paths <= LANES:
        # The kernel cannot be interrupted: where there is a time limit, piece by piece.
        size = paths if isinf(time_left()) else _PIECE * LANES
        for at in range(0, paths, max(1, size)):
            check_time()
            run(slice(at, min(at + size, paths)))
    else:
        edges = np.linspace(0, paths, threads + 1).astype(int)
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(run, [slice(a, b) for a, b in itertools.pairwise(edges)]))
    return Tracked(*out)
