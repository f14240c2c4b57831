"""The comparison of the papers' principles with measured match probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from algebra.errors import InputError, whole_number
from algebra.time_limits import LimitReached, OutOfTime, limited
from algebra.work import limit_until, moment_after
from matchprob.api.certify import certify

if TYPE_CHECKING:
    from algebra.problems.allocation import Allocation
    from algebra.problems.problem import Problem
    from numeric.plugins.papers.principles.survey import AllocationClass, PrincipleSurvey
    from numeric.studies.store import Store
    from numeric.studies.study import Workers

# Seconds of the search for an instance without real solutions, for each class.
_SEARCH = 0.5

Progress = Callable[[int, int], None]


def survey_principles(
    problem: Problem,
    *,
    matrices: Sequence[str],
    budget: int | None,
    count: int | None,
    trials: int,
    confidence: float,
    store: str | Path | Store | None,
    workers: int,
    timeout: float,
    seed: int,
    progress: Progress | bool | None,
) -> PrincipleSurvey:
    """Classes of allocations with their match probability, and what principles say of them.

    The arguments are those of `matchprob.audit` with `principles`.
    """
    from algebra.plugins.papers.structure import allocation_classes
    from algebra.plugins.papers.theorems.roles import roles
    from matchprob.io.progress import counted
    from numeric.plugins.papers.principles.survey import PrincipleSurvey
    from numeric.studies.study import check_trials, shared

    check_trials(trials)
    if count is not None:
        whole_number(count, "count", 1)
    network = problem.network
    known = roles(network)
    every = ("W",) if "W" in network.shapes else tuple(network.shapes)
    names = tuple(matrices or known.get("rectified layer") or every)
    for name in names:
        network.shape_of(name)
    size = whole_number(network.outputs if budget is None else budget, "budget", 1)
    wanted = allocation_classes(network, names, size, problem.support, count=count, seed=seed)
    end = moment_after(timeout)
    found: list[AllocationClass] = []
    tally = {"minimal": 0, "maximal": 0}
    with counted(progress, "measuring") as on_progress, shared(store, workers) as (kept, pool):
        try:
            for k, allocation in enumerate(wanted):
                with limited(limit_until(end)):
                    verdict, N = _verdict(problem, allocation, seed)
                if verdict in tally:
                    tally[verdict] += 1
                else:
                    one = _measured(
                        problem, allocation, verdict, N, trials, confidence, kept, pool,
                        limit_until(end), seed,
                    )  # fmt: skip
                    if one.estimate.is_partial:
                        break
                    found.append(one)
                if on_progress is not None:
                    on_progress(k + 1, len(wanted))
        except (KeyboardInterrupt, OutOfTime, LimitReached):
            pass
    return PrincipleSurvey(
        network, names, size, tuple(found), tally["minimal"], tally["maximal"], len(wanted),
        trials, confidence, seed,
    )  # fmt: skip


def _verdict(problem: Problem, allocation: Allocation, seed: int) -> tuple[str, int | None]:
    found = certify(problem.with_allocation(allocation), seed=seed, search=_SEARCH)
    return found.verdict, found.generic_root_count


def _measured(
    problem: Problem,
    allocation: Allocation,
    verdict: str,
    N: int | None,
    trials: int,
    confidence: float,
    store: Store | None,
    pool: Workers,
    seconds: float,
    seed: int,
) -> AllocationClass:
    """The structure of an allocation and the estimate of its match probability."""
    from algebra.plugins.papers.structure import structure_of
    from numeric.plugins.papers.principles.survey import AllocationClass
    from numeric.studies.study import Study

    own = problem.with_allocation(allocation)
    numbers = structure_of(allocation, own.support, seed)
    numbers |= {"N": N, "N mod 4": None if N is None else N % 4}
    # A class whose matches a verdict settles is not here: every trial is computed.
    with Study(
        own, seed=seed, confidence=confidence, store=store, workers=pool, certify=False
    ) as study:
        estimate = study.run(trials, timeout=max(seconds, 1e-3) if seconds < math.inf else seconds)
    return AllocationClass(allocation, verdict, numbers, estimate)


def check_only_principles(**options: object) -> None:
    """Refuse options of the survey of principles without `principles`."""
    for name, value in options.items():
        if value is not None:
            raise InputError(f"`{name}` ({value!r}) is of the survey of principles: add principles")
