"""The match probability as a function of a bound on the match: the verb profile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from algebra.errors import InputError, whole_number
from algebra.time_limits import OutOfTime, limited, positive_seconds, within
from algebra.work import limit_until, moment_after
from matchprob.api.question import as_drawn, check_common, stem_of
from matchprob.verbs import parameters as common
from matchprob.verbs.unfinished import COUNTING_SHARE, collected, trials_missing
from matchprob.verbs.verb import Arguments, LineOption, verb

if TYPE_CHECKING:
    from numeric.plugins.training.profiles.measures import Measure
    from numeric.plugins.training.profiles.profile import ProfileResult
    from numeric.plugins.training.profiles.thresholds import Threshold
    from numeric.studies.study import Study
    from numeric.studies.trials import TrialSeries


def _numbers(text: str, _: Arguments) -> list[float]:
    try:
        return [float(part) for part in text.replace(",", " ").split()]
    except ValueError:
        raise InputError(
            f"--bounds {text!r} must be numbers between commas, as in 0.5,1,2"
        ) from None


@verb(unfinished=trials_missing("profile"), is_drawn=True)
def profile(
    *questions: common.StudyQuestion,
    by: Literal["size", "change", "norm", "condition", "error"] = "size",
    bounds: Annotated[
        Sequence[float] | None, LineOption(word=str, is_repeated=False, read=_numbers)
    ] = None,
    trials: common.Trials = 1000,
    seed: common.Seed = 0,
    engine: common.EngineName = None,
    confidence: common.Confidence = 0.95,
    timeout: common.Timeout = math.inf,
    trial_timeout: common.TrialTimeout = 600.0,
    store: common.StoreFile = None,
    workers: common.Workers = 1,
    advance: common.CountProgress = None,
) -> ProfileResult:
    """Compute the match probability as a function of a bound on the match.

    Parameters
    ----------
    *questions : Problem, str or Path
        Problem files (TOML); several must have the same network.  Or each a `Problem`; several are
        counted on common instances.
    by : {"size", "change", "norm", "condition", "error"}, optional
        The bounded quantity: size (largest weight), change (largest change), norm (Euclidean length
        of the change), condition (condition number), error (on new samples, relative to the
        teacher's labels).
    bounds : sequence of float, optional
        Bounds at which points are computed, as in 0.5,1,2; by default the steps of the curve.
    store : str, Path or Store, optional
        Keep trials in this file, and continue from those it contains.  They are kept with their
        solutions, so that another profile of them needs no new computation.

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
    from matchprob.io.progress import watched
    from numeric.plugins.training.profiles.errors import check_teacher
    from numeric.plugins.training.profiles.measures import check_measure, find_measure
    from numeric.plugins.training.profiles.profile import (
        COARSE,
        Profile,
        ProfileResult,
        check_bounds,
    )
    from numeric.plugins.training.profiles.thresholds import (
        Thresholds,
        is_listed,
        merged_thresholds,
        with_bound,
    )
    from numeric.statistics.intervals import tail_of
    from numeric.studies.study import Study, shared
    from numeric.studies.together import run_together

    if not questions:
        raise InputError("`questions`: name a problem to profile")
    problems = [as_drawn(question, timeout) for question in questions]
    check_common(problems)
    measure = find_measure(by)
    for problem in problems:
        check_measure(problem, measure)
        if by == "error":
            check_teacher(problem)
    given = () if bounds is None else check_bounds(bounds)
    whole_number(trials, "trials", 1)
    tail_of(confidence)
    positive_seconds(timeout, "timeout")
    counting = COUNTING_SHARE * timeout if measure.is_slow else timeout
    counted_by, end = moment_after(counting), moment_after(timeout)
    with limited(timeout):
        # Families of matches are treated bound by bound, or have a least cost of their own.
        whole = measure.of_family is not None
        listed = [is_listed(problem) or whole for problem in problems]
    levels = given or COARSE
    with ExitStack() as stack:
        kept, pool = stack.enter_context(shared(store, workers))
        # One study for a problem, or one for each bound if matches are not listed.
        studies: list[list[Study]] = []
        for problem, question, has_list in zip(problems, questions, listed, strict=True):
            bounded_ones = (
                [problem] if has_list else [with_bound(problem, measure, b) for b in levels]
            )
            made = (
                Study(
                    one, seed=seed, engine=engine, store=kept, workers=pool,
                    timeout=positive_seconds(trial_timeout, "trial_timeout"),
                    complete=has_list, name=stem_of(question),
                )
                for one in bounded_ones
            )  # fmt: skip
            studies.append([stack.enter_context(study) for study in made])
        every = [study for some in studies for study in some]
        with watched(advance, "profiling", trials * len(every)) as on_count:
            found = run_together(every, trials, timeout=limit_until(counted_by), advance=on_count)
    profiles = []
    late = ""
    estimates = iter(found)
    for problem, question, some, has_list in zip(problems, questions, studies, listed, strict=True):
        own = [next(estimates) for _ in some]
        thresholds: list[Threshold]
        if has_list:
            of = Thresholds(problem, seed, measure).of
            left = limit_until(end) if measure.is_slow else math.inf
            thresholds, over = collected(map(of, own[0].counts), left)
            late = over or late
            if problem.network.chain() is None and measure.constraint and not problem.updates:
                left = limit_until(end)
                thresholds = _recounted(some[0].work, measure, levels, thresholds, left)
        else:
            thresholds = merged_thresholds(levels, [one.counts for one in own])
        profiles.append(
            Profile(
                problem, by, own[0].engine, seed, tuple(thresholds),
                given if has_list else levels, confidence, stem_of(question),
            )
        )  # fmt: skip
    trouble = next((one.trouble for one in found if one.trouble), late)
    return ProfileResult(by, seed, tuple(profiles), trials, confidence, trouble)


def _recounted(
    work: TrialSeries,
    measure: Measure,
    bounds: Sequence[float],
    thresholds: Sequence[Threshold],
    timeout: float,
) -> list[Threshold]:
    """Thresholds of trials whose matches are not all listed, counted again under each bound.

    A ReLU cell may contain a continuum of matches, which cannot be listed; under a bound the trial
    can nevertheless be decided.
    """
    from numeric.plugins.training.profiles.thresholds import with_bound
    from numeric.studies.trials import close_kept_counters, compute_trials

    out = {t.index: t for t in thresholds}
    with suppress(KeyboardInterrupt, OutOfTime), within(timeout):
        for bound in bounds:
            open_ = [k for k, t in out.items() if not t.counted and t.outcome(bound) is None]
            if open_:
                tighter = replace(work, problem=with_bound(work.problem, measure, bound))
                for count in compute_trials(tighter, open_):
                    out[count.index] = out[count.index].narrowed(bound, count.outcome)
    close_kept_counters()
    return list(out.values())
