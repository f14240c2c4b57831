"""The verbs that solve random instances: count, estimate, constrain, compare."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from algebra.errors import InputError
from algebra.problems.constraints import Constraints
from algebra.time_limits import (
    OutOfTime,
    limit_until,
    limited,
    moment_after,
    positive_seconds,
    within,
)
from matchprob.api.given import Given, as_instance, count_given
from matchprob.api.question import Question, as_problem, check_common, stem_of
from matchprob.io.progress import watched
from numeric.counts import CountResult, InstanceCount
from numeric.instances import draw_instance
from numeric.statistics.approximate import ApproximateShare
from numeric.statistics.comparison import Comparison
from numeric.statistics.estimate import Estimate
from numeric.studies.store import Store
from numeric.studies.study import Study, shared
from numeric.studies.together import run_together

if TYPE_CHECKING:
    from flint import fmpz_poly

    from numeric.certification.enclosures import Enclosure
    from numeric.tracking.monodromy_group import MonodromyGroup

Advance = Callable[[InstanceCount], None]
# Of the time limit, at most so much goes to counts where losses are searched afterwards.
_COUNTING = 0.6


def count(
    question: Question,
    instances: int = 20,
    *,
    seed: int = 0,
    engine: str | None = None,
    instance: Given | None = None,
    timeout: float = math.inf,
    trial_timeout: float = 600.0,
    advance: Advance | None = None,
) -> CountResult:
    """Count the real solutions of random instances, completely.

    Parameters
    ----------
    question : Problem, str or Path
    instances : int, optional
    seed : int, optional
    engine : str, optional
    instance : GivenNumbers, mapping, str or Path, optional
        One's own instance instead of random ones: counted exactly, over Q.  Where its labels are
        given and not a teacher's, the count is that of this system and says nothing of the match
        probability.
    timeout : float, optional
        Seconds for the whole call, which then ends as by an interrupt.
    trial_timeout : float, optional
        Seconds for one instance in the engine.
    advance : callable, optional
        Told of each count as it is made.

    Returns
    -------
    CountResult
        An interrupt (Ctrl-C) ends the work and keeps what is done.
    """
    problem = as_problem(question)
    if instance is not None:
        own = as_instance(instance, problem)
        return count_given(own, engine=engine, timeout=min(timeout, trial_timeout))
    if isinstance(instances, bool) or not isinstance(instances, int) or instances < 1:
        raise InputError(f"`instances` ({instances!r}) must be a whole number, at least 1")
    start, end = time.monotonic(), moment_after(timeout)
    positive_seconds(timeout, "timeout")
    with Study(
        problem,
        seed=seed,
        engine=engine,
        timeout=trial_timeout,
        complete=True,
        root_timeout=min(trial_timeout, 60.0),
    ) as study:
        root_count, source = None, "differs by trial: the allocation is random"
        certainty = None
        if not problem.is_random:
            try:
                with within(timeout):
                    plan = study.plan()
                root_count, source, certainty = plan.root_count, plan.source, plan.certainty
                if plan.reduction is not None:
                    root_count, certainty = None, None
                    source = "infinite: more weights than equations"
            except OutOfTime:
                source = "the time limit was met"
        with watched(advance, "counting", instances) as told:
            found = study.run(instances, timeout=limit_until(end), advance=told)
    return CountResult(
        engine=found.engine,
        seed=seed,
        generic_root_count=root_count,
        instances=found.counts,
        root_count_source=source,
        root_count_certainty=certainty,
        seconds=time.monotonic() - start,
        requested=instances,
        problem=problem,
        trouble=found.trouble,
    )


def enclosures(found: CountResult) -> list[list[Enclosure | None]]:
    """Intervals for each learnable weight of each real solution, proved to hold it.

    Parameters
    ----------
    found : CountResult
        From `count`.

    Returns
    -------
    list of list of Enclosure or None
        For each instance one for each of its `solutions`: rational boxes of the exact engines,
        polydiscs by Krawczyk's test otherwise; None where none was certified.

    Examples
    --------
    >>> import matchprob as mp
    >>> net = mp.LinearEstimator(q=1, d=1, m=1)
    >>> found = mp.count(mp.Problem(net, {"W": [[1]]}), 1, engine="exact")
    >>> [[one]] = mp.enclosures(found)
    >>> ((low, high),) = one.box
    >>> one.how, float(low) == found.instances[0].solutions[0][0], low == high
    ('rational', True, True)
    """
    # Path tracking's kernels are loaded only where something is certified.
    from numeric.certification.enclosures import enclosures as enclose

    return enclose(found)


def minimal_polynomials(found: CountResult) -> list[list[tuple[fmpz_poly, ...] | None]]:
    """The minimal polynomial over Q of each learnable weight of each real solution.

    Parameters
    ----------
    found : CountResult
        From `count` by the engine ``exact``, which one's own instance of a network whose
        equations are polynomials is counted by.

    Returns
    -------
    list of list of tuple of fmpz_poly or None
        For each instance, for each of its `solutions`, one polynomial for each weight: irreducible,
        with integer coefficients without a common divisor.  None where another engine counted, or
        numbers become too long.

    Examples
    --------
    A weight with w² = 2:

    >>> import matchprob as mp
    >>> problem = mp.Problem(mp.LinearRNN(n=1, T=2, b=1, d=1, m=1), {"W": [[1]]})
    >>> own = {
    ...     "weights": {"B": [[1]], "D": [[1]]},
    ...     "samples": {"X": [[1], [0]]},
    ...     "labels": {"Y": [[2]]},
    ... }
    >>> mp.minimal_polynomials(mp.count(problem, instance=own))
    [[(x^2 + (-2),), (x^2 + (-2),)]]
    """
    from numeric.engines.exact import weight_polynomials

    return weight_polynomials(found)


def monodromy_group(found: CountResult, *, timeout: float = math.inf) -> MonodromyGroup:
    """The monodromy group of the solutions that were counted: how they can be solved for.

    Parameters
    ----------
    found : CountResult
        From `count`, of a linear network with as many weights as equations; one instance is enough.
    timeout : float, optional
        Seconds.

    Returns
    -------
    MonodromyGroup
        Its order, its blocks and whether it is solvable, with what each rests on.

    Raises
    ------
    InputError
        Where the solutions are not finitely many, or N is not known.

    Examples
    --------
    >>> import matchprob as mp
    >>> diagonal = mp.Problem(mp.LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 0], [0, 1]]})
    >>> mp.monodromy_group(mp.count(diagonal, 1)).group.order
    2
    """
    # Path tracking's kernels are loaded only where paths are followed.
    from numeric.engines.homotopy import group_of_solutions

    problem, N = found.problem, found.generic_root_count
    if problem is None or problem.is_random or N is None or N < 1:
        number = "not known" if N is None else str(N)
        raise InputError(
            f"no monodromy group: the generic root count N is {number} "
            f"({found.root_count_source}); it takes a fixed allocation that is not minimal, with "
            "as many weights as equations, whose N is within reach"
        )
    with limited(positive_seconds(timeout, "timeout")):
        return group_of_solutions(problem, N, found.root_count_source, found.seed)


def estimate(
    question: Question,
    trials: int = 1000,
    *,
    seed: int = 0,
    engine: str | None = None,
    confidence: float = 0.95,
    timeout: float = math.inf,
    trial_timeout: float = 600.0,
    certify: bool = True,
    complete: bool = False,
    half_width: float | None = None,
    epsilon: float | None = None,
    store: str | Path | Store | None = None,
    workers: int = 1,
    scheduler: str | None = None,
    name: str | None = None,
    advance: Advance | None = None,
) -> Estimate:
    """Estimate a match probability from random trials.

    Parameters
    ----------
    question : Problem, str or Path
    trials : int, optional
        With `half_width`: at most so many.
    seed : int, optional
    engine : str, optional
        The network's default where none is named.
    confidence : float, optional
    timeout : float, optional
        Seconds for the whole call, which then ends as by an interrupt.
    trial_timeout : float, optional
        Seconds for one trial in the engine.
    certify : bool, optional
        Whether trials of certified minimal and maximal allocations are settled without
        computing.
    complete : bool, optional
        Whether all solutions of every trial are counted, even where one decides the match.
    half_width : float, optional
        Stop when a confidence sequence is this narrow.
    epsilon : float, optional
        Also the share of instances whose loss, the mean squared error of the labels, gets below
        this: those with an exact match, and those for which a search reaches it (`approximate` of
        the result).  Where it does not, the instance is open: a lower bound.
    store : str or Path, optional
        SQLite file that keeps the trials; the same call goes on from there.
    workers : int, optional
        Local processes.
    scheduler : str, optional
        Address of a Dask scheduler.
    name : str, optional
        Of the study in the store; by default the problem file's, where it has none.
    advance : callable, optional
        Told of each trial as it is taken in.

    Returns
    -------
    Estimate
        An interrupt (Ctrl-C) ends the work and keeps the trials done.

    See Also
    --------
    Study : the same in steps.
    """
    positive_seconds(timeout, "timeout")
    if epsilon is not None:
        _check_epsilon(epsilon, half_width)
    end = moment_after(timeout)
    counting_ends = moment_after(timeout if epsilon is None else _COUNTING * timeout)
    with Study(
        as_problem(question),
        seed=seed,
        engine=engine,
        store=store,
        workers=workers,
        scheduler=scheduler,
        confidence=confidence,
        timeout=trial_timeout,
        certify=certify,
        complete=complete,
        name=stem_of(question),
    ) as study:
        if name:
            study.rename(name)
        # Loading and connecting take their share.
        with watched(advance, "estimating", trials, confidence) as told:
            found = study.run(
                trials, half_width=half_width, timeout=limit_until(counting_ends), advance=told
            )
        if epsilon is None:
            return found
        with watched(None, "searching", len(found.counts)) as searched:
            return _with_approximate(found, epsilon, study, limit_until(end), searched)


def _check_epsilon(epsilon: float, half_width: float | None) -> None:
    number = isinstance(epsilon, (int, float)) and not isinstance(epsilon, bool)
    if not number or not 0 < epsilon < math.inf:
        raise InputError(f"`epsilon` ({epsilon!r}) must be a positive number, such as 1e-3")
    if half_width is not None:
        raise InputError(
            "`epsilon` and `half_width` do not go together: the interval for approximate matches "
            "needs a number of trials that does not follow from the outcomes"
        )


def _with_approximate(
    found: Estimate, epsilon: float, study: Study, seconds: float, advance: Advance | None
) -> Estimate:
    """An estimate, with the share of its instances that get below a loss.

    What the search found is kept in the study's store, for every loss that is asked for later.
    """
    # Loaded where it is asked for: optimizers, which estimates do without.
    from numeric.training.approximate import STARTS, STEPS, VERSION, least_loss

    done = {"experiment": "least loss", "version": VERSION, "study": study.work.key}
    name = json.dumps({**done, "starts": STARTS, "steps": STEPS}, sort_keys=True)
    kept = study.store.results(name) if study.store else {}
    exact = reached = unsearched = 0
    over = False
    for count in found.counts:
        loss: float | None = None
        if count.outcome == "matched":
            exact += 1
        elif count.index in kept:
            loss = kept[count.index]["loss"]
        elif not over:
            try:
                with within(seconds):
                    loss = least_loss(draw_instance(found.problem, found.seed, count.index))
                if study.store:
                    told = None if math.isinf(loss) else loss
                    study.store.keep(name, count.index, {"loss": told}, instead=True)
            except (OutOfTime, KeyboardInterrupt):
                over = True
        if over and count.outcome != "matched" and count.index not in kept and loss is None:
            unsearched += 1
        reached += loss is not None and loss < epsilon
        if advance is not None:
            advance(count)
    share = ApproximateShare(
        epsilon, len(found.counts), exact, reached, unsearched, found.confidence,
        certified=found.certified == 1,
    )  # fmt: skip
    return replace(found, approximate=share)


def constrain(
    found: Estimate, constraints: Constraints, *, timeout: float = math.inf, **settings: Any
) -> Estimate:
    """An estimate under constraints, from one without.

    Parameters
    ----------
    found : Estimate
        Whose trials keep their real solutions: counted completely, not settled by a verdict.
    constraints : Constraints
    timeout : float, optional
        Seconds for the whole call.
    **settings
        As for `estimate`: `trial_timeout`, `certify`.

    Returns
    -------
    Estimate
        Of the same trials.  Only those are computed that the solutions known do not decide.

    Examples
    --------
    >>> import matchprob as mp
    >>> net = mp.LinearEstimator(q=1, d=1, m=1)
    >>> found = mp.estimate(mp.Problem(net, {"W": [[1]]}), 20, complete=True)
    >>> mp.constrain(found, mp.Constraints(sign="+")).trials
    20
    """
    if found.problem.constraints:
        raise InputError("`found` has constraints already: its other solutions are not known")
    positive_seconds(timeout, "timeout")
    if "trial_timeout" in settings:
        settings["timeout"] = settings.pop("trial_timeout")
    problem = replace(found.problem, constraints=constraints)
    if not found.trials:
        raise InputError("`found` has no trial")
    with Study(
        problem, seed=found.seed, engine=found.engine, confidence=found.confidence, **settings
    ) as study:
        study.add_unconstrained(found.counts)
        return study.run(found.trials, timeout=timeout)


def compare(
    first: Question,
    second: Question,
    trials: int = 1000,
    *,
    seed: int = 0,
    timeout: float = math.inf,
    trial_timeout: float = 600.0,
    store: str | Path | Store | None = None,
    workers: int = 1,
    scheduler: str | None = None,
    advance: Advance | None = None,
    **settings: Any,
) -> Comparison:
    """Compare two allocations on common random instances.

    Parameters
    ----------
    first, second : Problem, str or Path
        Of the same network and laws; trial i of both has the same weights and samples.
    trials : int, optional
    seed : int, optional
    timeout, trial_timeout : float, optional
        Seconds for the whole call, and for one trial.
    store, workers, scheduler : optional
        As for `estimate`.
    advance : callable, optional
        Told of each trial of either.
    **settings
        As for `estimate`: `engine`, `confidence`, `certify`, `complete`.

    Returns
    -------
    Comparison
        The two take turns, so that an interrupt (Ctrl-C), which ends both, leaves them at
        about the same trial.
    """
    positive_seconds(timeout, "timeout")
    end = moment_after(timeout)
    problems = as_problem(first), as_problem(second)
    check_common(problems)
    with ExitStack() as stack:
        kept, crew = stack.enter_context(shared(store, workers, scheduler))
        studies = [
            stack.enter_context(
                Study(
                    problem, seed=seed, timeout=trial_timeout, store=kept, workers=crew,
                    name=stem_of(question), **settings,
                )
            )
            for problem, question in zip(problems, (first, second), strict=True)
        ]  # fmt: skip
        with watched(advance, "comparing", 2 * trials) as told:
            found = run_together(studies, trials, timeout=limit_until(end), advance=told)
    return Comparison(*found)
