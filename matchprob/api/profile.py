"""The match probability against what a match may cost: the verb profile."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

from algebra.errors import InputError, whole_number
from algebra.problems.problem import Problem
from algebra.time_limits import (
    OutOfTime,
    limit_until,
    limited,
    moment_after,
    positive_seconds,
    within,
)
from matchprob.api.question import Question, as_problem, check_common, stem_of
from matchprob.io.progress import watched
from numeric.counts import InstanceCount
from numeric.profiles.measures import Measure, find_measure
from numeric.profiles.profile import COARSE, Profile, ProfileResult, check_bounds
from numeric.profiles.thresholds import Threshold, Thresholds, bounded, is_listed, merged
from numeric.statistics.intervals import tail_of
from numeric.studies.store import Store
from numeric.studies.study import Study, shared
from numeric.studies.together import run_together
from numeric.studies.trials import TrialSeries, compute, forget

# Of the time limit, what counting may take where costs take long, too.
_COUNTING = 0.6
Advance = Callable[[InstanceCount], None]


def profile(
    *questions: Question,
    by: str = "size",
    bounds: Sequence[float] | None = None,
    trials: int = 1000,
    seed: int = 0,
    engine: str | None = None,
    confidence: float = 0.95,
    timeout: float = math.inf,
    trial_timeout: float = 600.0,
    store: str | Path | Store | None = None,
    workers: int = 1,
    advance: Advance | None = None,
) -> ProfileResult:
    """The match probability as a function of what a match may cost.

    Parameters
    ----------
    *questions : Problem, str or Path
        One, or several of one network and its laws: then on common instances.
    by : {"size", "change", "norm", "condition"}, optional
        Largest weight, largest change, Euclidean length of the change, condition number.
    bounds : sequence of float, optional
        Where points are wanted; by default at the steps.
    trials : int, optional
    seed : int, optional
    engine : str, optional
    confidence : float, optional
    timeout : float, optional
        Seconds for the whole call, which then ends as by an interrupt.
    trial_timeout : float, optional
        Seconds for one trial in the engine.
    store : str or Path, optional
        SQLite file that keeps the counts with their solutions; another profile of them computes
        nothing again.
    workers : int, optional
        Local processes.
    advance : callable, optional
        Told of each count.

    Returns
    -------
    ProfileResult
        An interrupt (Ctrl-C) ends the work and keeps the trials done.

    Examples
    --------
    >>> import matchprob as mp
    >>> net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> found = mp.profile(mp.Problem(net, {"W": [[1, 1], [0, 0]]}), bounds=[1, 3], trials=200)
    >>> [point.matched for point in found.points], found.profiles[0].at(float("inf")).matched
    ([45, 115], 200)
    """
    if not questions:
        raise InputError("`questions`: name a problem to profile")
    problems = [as_problem(question) for question in questions]
    check_common(problems)
    measure = find_measure(by)
    given = () if bounds is None else check_bounds(bounds)
    whole_number(trials, "trials", 1)
    tail_of(confidence)
    positive_seconds(timeout, "timeout")
    counting = _COUNTING * timeout if measure.is_slow else timeout
    counted_by, end = moment_after(counting), moment_after(timeout)
    with limited(timeout):
        listed = [is_listed(problem) for problem in problems]
    asked = given or COARSE
    with ExitStack() as stack:
        kept, crew = stack.enter_context(shared(store, workers))
        # One study a problem; one for each bound where matches are not listed.
        studies: list[list[Study]] = []
        for problem, question, has_list in zip(problems, questions, listed, strict=True):
            asked_of = [problem] if has_list else [bounded(problem, measure, b) for b in asked]
            made = (
                Study(
                    one, seed=seed, engine=engine, store=kept, workers=crew,
                    timeout=trial_timeout, complete=has_list, name=stem_of(question),
                )
                for one in asked_of
            )  # fmt: skip
            studies.append([stack.enter_context(study) for study in made])
        every = [study for some in studies for study in some]
        with watched(advance, "profiling", trials * len(every)) as told:
            found = run_together(every, trials, timeout=limit_until(counted_by), advance=told)
    profiles = []
    late = ""
    estimates = iter(found)
    for problem, question, some, has_list in zip(problems, questions, studies, listed, strict=True):
        own = [next(estimates) for _ in some]
        thresholds: list[Threshold]
        if has_list:
            thresholds, over = _measured(problem, seed, measure, own[0].counts, end)
            late = over or late
            if problem.network.chain() is None and measure.constraint:
                left = limit_until(end)
                thresholds = _asked_again(some[0].work, measure, asked, thresholds, left)
        else:
            thresholds = merged(asked, [one.counts for one in own])
        profiles.append(
            Profile(
                problem, by, own[0].engine, seed, tuple(thresholds),
                given if has_list else asked, confidence, stem_of(question),
            )
        )  # fmt: skip
    trouble = next((one.trouble for one in found if one.trouble), late)
    return ProfileResult(by, seed, tuple(profiles), trials, confidence, trouble)


def _measured(
    problem: Problem,
    seed: int,
    measure: Measure,
    counts: Iterable[InstanceCount],
    end: float,
) -> tuple[list[Threshold], str]:
    """Thresholds of counted trials, and why some are missing where time was up."""
    of = Thresholds(problem, seed, measure).of
    thresholds: list[Threshold] = []
    try:
        with within(limit_until(end) if measure.is_slow else math.inf):
            for count in counts:
                thresholds.append(of(count))
    except KeyboardInterrupt:
        pass
    except OutOfTime as over:
        return thresholds, str(over)
    return thresholds, ""


def _asked_again(
    work: TrialSeries,
    measure: Measure,
    bounds: Sequence[float],
    thresholds: Sequence[Threshold],
    timeout: float,
) -> list[Threshold]:
    """Thresholds of trials whose matches are not all listed, asked again under each bound.

    A ReLU cell may hold a continuum of matches, which no list has; under a bound the trial can be
    decided all the same.
    """
    out = {t.index: t for t in thresholds}
    with suppress(KeyboardInterrupt, OutOfTime), within(timeout):
        for bound in bounds:
            open_ = [k for k, t in out.items() if not t.counted and t.outcome(bound) is None]
            if open_:
                tighter = replace(work, problem=bounded(work.problem, measure, bound))
                for count in compute(tighter.to_dict(), tighter.key, open_):
                    out[count.index] = out[count.index].narrowed(bound, count.outcome)
    forget()
    return list(out.values())
