"""The least cost of each trial's matches, enclosed: from lists of solutions, or bound by bound."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from algebra.errors import InputError
from algebra.families.registry import family_of
from algebra.problems.constraints import Constraints
from algebra.problems.problem import Problem
from algebra.ranks.generic_rank import network_rank
from algebra.systems.equivalent_cells import in_parameters
from numeric.certification.pool import CertifiedPools
from numeric.plugins.training.profiles.measures import Measure
from numeric.trials.counts import COMPLETE, InstanceCount, Reason
from numeric.trials.instances import Instance, draw_instance


@dataclass(frozen=True)
class Threshold:
    """The least cost of a trial's matches, enclosed.

    Attributes
    ----------
    index : int
    low, high : float
        Bounds of the least cost; both infinite if there is no match.
    counted : bool
        Whether all solutions are known.
    searched : bool
        Whether the count came from a search that cannot prove that there is none.
    """

    index: int
    low: float
    high: float
    counted: bool = True
    searched: bool = False

    def outcome(self, bound: float) -> bool | None:
        """Whether the trial is matched under a bound; None if undetermined."""
        if self.high <= bound:
            return True
        return False if self.low > bound else None

    def narrowed(self, bound: float, outcome: str) -> Threshold:
        """The same threshold after the trial was decided under a bound.

        Raises
        ------
        ArithmeticError
            If this contradicts earlier results.
        """
        low, high = self.low, self.high
        if outcome == "matched":
            high = min(high, bound)
        elif outcome == "unmatched":
            low = max(low, math.nextafter(bound, math.inf))
        if low > high:
            raise ArithmeticError(
                f"trial {self.index}: {outcome} under {bound:g}, but the least cost of its matches "
                f"is from {self.low:g} to {self.high:g}"
            )
        return replace(self, low=low, high=high)


class Thresholds:
    """The thresholds of a problem's trials, from counts with all their solutions.

    Parameters
    ----------
    problem : Problem
        Its constraints are satisfied by the counted solutions.
    seed : int
    measure : Measure
    """

    def __init__(self, problem: Problem, seed: int, measure: Measure) -> None:
        self.problem = problem = in_parameters(problem)
        self.seed = seed
        self.measure = measure
        self._pools = CertifiedPools(problem.support)
        self._listed = is_listed(problem)

    def of(self, count: InstanceCount) -> Threshold:
        """The threshold of one trial."""
        counted = count.status == COMPLETE
        searched = count.reason is Reason.SEARCHED
        if counted and not count.real:
            return Threshold(count.index, math.inf, math.inf)
        if self.measure.of_family is not None and not self._listed:
            instance = draw_instance(self.problem, self.seed, count.index)
            least, most = self.measure.of_family(instance) or (0.0, math.inf)
            if self.problem.constraints or (count.outcome != "matched" and most == 0.0):
                # It is known without constraints; 0 is the error of all matches, if there are any.
                most = math.inf
            return Threshold(count.index, least, most, counted, searched)
        if not count.solutions:
            return Threshold(count.index, 0.0, math.inf, counted, searched)
        instance = draw_instance(self.problem, self.seed, count.index)
        found = self._discs(instance, np.array(count.solutions))
        if found is None or not len(found[0]):
            return Threshold(count.index, 0.0, math.inf, counted, searched)
        low, high = self.measure.costs(instance, *found)
        # The cost of a solution that is not certified here is unknown.
        whole = counted and len(found[0]) == count.real
        return Threshold(
            count.index, float(low.min()) if whole else 0.0, float(high.min()), counted, searched
        )

    def _discs(
        self, instance: Instance, solutions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Centres and radii of polydiscs with one solution each; None if there are none."""
        network = self.problem.network
        if network.chain() is None and not network.equations_are:
            # Exact witnesses, rounded.
            return solutions, np.spacing(np.abs(solutions))
        pool = self._pools.of(instance, solutions)
        return None if pool is None else (pool.roots.real, pool.radii)


def merged_thresholds(
    bounds: Sequence[float], counts: Sequence[Sequence[InstanceCount]]
) -> list[Threshold]:
    """Thresholds of trials that were counted under each bound.

    Parameters
    ----------
    bounds : sequence of float
        In increasing order.
    counts : sequence of sequence of InstanceCount
        For each bound the counts of trials 0, 1, …; only trials counted under all bounds are used.
    """
    out = []
    for trial in zip(*counts, strict=False):
        searched = any(c.reason is Reason.SEARCHED for c in trial)
        counted = all(c.status == COMPLETE for c in trial)
        one = Threshold(trial[0].index, 0.0, math.inf, counted, searched)
        for bound, count in zip(bounds, trial, strict=True):
            one = one.narrowed(bound, count.outcome)
        if all(c.is_settled and c.outcome == "unmatched" for c in trial):
            # The allocation is minimal: there is no match under any bound.
            one = replace(one, low=math.inf)
        out.append(one)
    return out


def is_listed(problem: Problem) -> bool:
    """Whether matches are isolated, so that complete counts list them.

    Raises
    ------
    InputError
        For networks whose matches are not listed and cannot be bounded.
    """
    problem = in_parameters(problem)
    network = problem.network
    if network.chain() is None and not network.equations_are:
        if family_of(network).name != "relu":
            raise InputError(
                "profile supports chains of matrices, networks with activations and shallow ReLU "
                f"nets, not a {network.title} network"
            )
        return True
    size = draw_instance(problem, 0, 0).allocation.size
    return size <= network_rank(network, problem.support).rank


def with_bound(problem: Problem, measure: Measure, bound: float) -> Problem:
    """The problem whose matches cost at most a bound.

    Raises
    ------
    InputError
        For a cost that no constraint bounds.
    """
    if problem.updates:
        raise InputError(
            f"`by` ({measure.name!r}): more parameters learn by updates than there are equations, "
            "so matches form families, which can be bounded for single cells only"
        )
    if measure.constraint is None:
        raise InputError(
            f"`by` ({measure.name!r}): more weights learn than there are equations, so matches "
            "form families, for which only size and change can be bounded"
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
