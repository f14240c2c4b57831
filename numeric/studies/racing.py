r"""The allocation that matches most often: successive halving on common instances.

All allocations are tried on the same random instances.  After each round the half that matched
less often is dropped, and the rest gets twice as many instances [1]_, so most trials go to the
best ones.
Dropping saves work and proves nothing.  The proved statements use intervals that hold at all
times simultaneously (`numeric.statistics.confidence_sequences`), so that repeated looks and
stopping at any time do not invalidate them:

* for each allocation a confidence sequence for its match probability;
* for two allocations one for θ, the probability that the first matches given that exactly one of
  them does.  Instances on which the two agree do not show which is better and are left
  out; θ > 1/2 if and only if the first has the higher match probability.

The error probability is divided: half among the K intervals, half among the K(K-1)/2 pairs.
So all statements hold together with the given confidence, whichever allocation wins.

References
----------
.. [1] Z. Karnin, T. Koren, O. Somekh, "Almost optimal exploration in multi-armed bandits",
   ICML 2013.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from algebra.errors import InputError, whole_number
from algebra.problems.problem import Problem
from algebra.words import plural
from numeric.statistics.comparison import Comparison
from numeric.statistics.confidence_sequences import confidence_sequence
from numeric.statistics.estimate import Estimate
from numeric.statistics.intervals import ConfidenceInterval, share_text, tail_of
from numeric.studies.study import Study, Workers, make_workers


@dataclass(frozen=True)
class Entrant:
    """One allocation of a race.

    Attributes
    ----------
    problem : Problem
    estimate : Estimate
        The estimate from its trials.
    interval : ConfidenceInterval
        For its match probability; all entrants' intervals hold simultaneously.
    rounds : int
        Number of rounds in which it took part.
    advantage : ConfidenceInterval or None
        For θ of the winner against it; None for the winner.
    """

    problem: Problem
    estimate: Estimate
    interval: ConfidenceInterval
    rounds: int
    advantage: ConfidenceInterval | None

    @property
    def is_beaten(self) -> bool:
        """Whether it is proved that the winner matches more often."""
        return self.advantage is not None and self.advantage.low > 0.5


@dataclass(frozen=True)
class Race:
    """The result of successive halving.

    Attributes
    ----------
    entrants : tuple of Entrant
        In the order given.
    winner : int
    confidence : float
    seed : int
    """

    entrants: tuple[Entrant, ...]
    winner: int
    confidence: float
    seed: int

    @property
    def is_settled(self) -> bool:
        """Whether it is proved that every other entrant matches less often."""
        return all(e.is_beaten for k, e in enumerate(self.entrants) if k != self.winner)

    @property
    def trials(self) -> int:
        """Total number of trials of all entrants."""
        return sum(e.estimate.trials for e in self.entrants)

    def ranking(self) -> list[int]:
        """Indices: the winner, then by rounds and by share of matches."""

        def key(k: int) -> tuple[bool, int, float]:
            e = self.entrants[k]
            return (k != self.winner, -e.rounds, -_share(e.estimate))

        return sorted(range(len(self.entrants)), key=key)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, best first."""
        return {
            "winner": self.winner,
            "settled": self.is_settled,
            "trials": self.trials,
            "confidence": self.confidence,
            "entrants": [
                {
                    "index": k,
                    "cells": [list(c) for c in self.entrants[k].problem.allocation.cells],
                    "trials": self.entrants[k].estimate.trials,
                    "matched": self.entrants[k].estimate.matched,
                    "unmatched": self.entrants[k].estimate.unmatched,
                    "undetermined": self.entrants[k].estimate.undetermined,
                    "low": self.entrants[k].interval.low,
                    "high": self.entrants[k].interval.high,
                    "rounds": self.entrants[k].rounds,
                    "beaten": self.entrants[k].is_beaten,
                }
                for k in self.ranking()
            ],
        }

    def __str__(self) -> str:
        e = self.entrants[self.winner]
        beaten = sum(entrant.is_beaten for entrant in self.entrants)
        others = len(self.entrants) - 1
        return (
            f"MP {share_text(_share(e.estimate))} {e.interval}, shown to be higher than that of "
            f"{beaten} of {plural(others, f'{others} other allocation')}"
        )


def _share(estimate: Estimate) -> float:
    return estimate.matched / estimate.trials if estimate.trials else 0.0


def successive_halving(
    problems: Sequence[Problem],
    *,
    first: int = 32,
    most: int = 2048,
    confidence: float = 0.95,
    seed: int = 0,
    workers: int | Workers = 1,
    **settings: Any,
) -> Race:
    """Find the allocation that matches most often.

    Parameters
    ----------
    problems : sequence of Problem
        All with one network and fixed allocations.
    first : int, optional
        Number of trials of each allocation in the first round; it doubles from round to round.
    most : int, optional
        Largest number of trials of an allocation.
    confidence : float, optional
        Joint confidence of all statements.
    seed : int, optional
        Seed of the instances: trial i is the same instance for all allocations.
    workers : int or Workers, optional
    **settings
        As for `numeric.studies.study.Study`: `engine`, `timeout`, ….

    Returns
    -------
    Race

    Notes
    -----
    The last two continue until one is proved to be better or `most` is reached.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> masks = [[[1, 0], [0, 1]], [[1, 1], [0, 0]]]
    >>> successive_halving([Problem(net, {"W": m}) for m in masks], first=64).winner
    1
    """
    whole_number(first, "first", 1)
    whole_number(most, "most", 1)
    if not problems:
        raise InputError("`problems` is empty: give at least one")
    if len({p.network for p in problems}) > 1:
        raise InputError("`problems` have different networks, so they have no common instances")
    tail_of(confidence)
    size = len(problems)
    error = 1 - confidence
    own = 1 - error / (2 * size)
    pair = 1 - error / max(1, size * (size - 1))
    pool = make_workers(workers) if isinstance(workers, int) else workers
    studies = [Study(p, seed=seed, workers=pool, **settings) for p in problems]
    estimates: list[Estimate | None] = [None] * size
    rounds = [0] * size
    remaining = list(range(size))
    trials = min(first, most)
    try:
        while True:
            for k in remaining:
                estimates[k] = studies[k].run(trials)
                rounds[k] += 1
            remaining.sort(key=lambda k: (-_share(_done(estimates[k])), k))
            best = remaining[0]
            remaining = [
                k
                for k in remaining
                if k == best or _advantage(estimates[best], estimates[k], pair).low <= 0.5
            ]
            if len(remaining) == 1 or trials >= most:
                break
            remaining = remaining[: max(2, -(-len(remaining) // 2))]
            trials = min(2 * trials, most)
    finally:
        if isinstance(workers, int):
            pool.close()
    entrants = tuple(
        Entrant(
            problem,
            estimate := _done(estimates[k]),
            confidence_sequence(
                estimate.matched, estimate.unmatched, estimate.undetermined, confidence=own
            ),
            rounds[k],
            None if k == best else _advantage(estimates[best], estimate, pair),
        )
        for k, problem in enumerate(problems)
    )
    return Race(entrants, best, confidence, seed)


def _done(estimate: Estimate | None) -> Estimate:
    if estimate is None:
        raise ArithmeticError("an allocation has no trials: a bug")
    return estimate


def _advantage(
    first: Estimate | None, second: Estimate | None, confidence: float
) -> ConfidenceInterval:
    """Interval for the probability θ that the first matches, given that exactly one does.

    Undecided trials count against both ends.
    """
    table = Comparison(_done(first), _done(second)).table
    wins, losses = int(table[0, 1]), int(table[1, 0])
    unclear = int(table[2].sum() + table[:2, 2].sum())
    return confidence_sequence(wins, losses, unclear, confidence=confidence)
