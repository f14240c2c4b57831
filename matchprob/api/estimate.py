"""The verbs that solve random instances: count, estimate, constrain, compare."""

from __future__ import annotations

import json
import math
import time
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, overload

from algebra.errors import InputError, shown, whole_number
from algebra.time_limits import OutOfTime, limited, positive_seconds, within
from algebra.work import limit_until, moment_after
from matchprob.api.question import as_drawn, as_problem, check_common, stem_of
from matchprob.verbs import parameters as common
from matchprob.verbs.unfinished import COUNTING_SHARE, missing_trials, trials_missing
from matchprob.verbs.verb import Arguments, LineArgument, LineOption, verb

if TYPE_CHECKING:
    from collections.abc import Callable

    from flint import fmpz_poly

    from algebra.problems.constraints import Constraints
    from algebra.problems.problem import Problem
    from numeric.certification.enclosures import Enclosure
    from numeric.statistics.comparison import Comparison
    from numeric.statistics.estimate import Estimate
    from numeric.statistics.sweep import SweepResult
    from numeric.studies.study import Study
    from numeric.tracking.monodromy_group import MonodromyGroup
    from numeric.trials.count_result import CountResult
    from numeric.trials.counts import InstanceCount


# Seconds to tell which matches are the teacher's function; or as many as the trials took.
_FUNCTION_SECONDS = 10.0


@verb(
    unfinished=lambda found, arguments: missing_trials(
        len(found), found.requested, "instances", "count", None, found.trouble, has_store=False
    ),
    is_drawn=True,
)
def count(
    question: common.Question,
    instances: Annotated[int, LineOption(least=1)] = 20,
    *,
    seed: common.Seed = 0,
    engine: common.EngineName = None,
    instance: common.OwnInstance = None,
    timeout: common.Timeout = math.inf,
    trial_timeout: common.TrialTimeout = 600.0,
    advance: common.CountProgress = None,
) -> CountResult:
    """Count the real solutions of random instances, or of a given one.

    Parameters
    ----------
    instances : int, optional
        Number of random instances.
    instance : GivenNumbers, mapping, str or Path, optional
        A given instance (TOML): weights, samples, and a teacher or labels. It is counted exactly,
        over Q. If labels are given instead of a teacher, the count of solutions is not about the
        match probability.

    Returns
    -------
    CountResult
        An interrupt (Ctrl-C) ends the work; the finished instances are returned.
    """
    from algebra.systems.equivalent_cells import in_parameters
    from matchprob.api.given import as_instance, count_given
    from matchprob.io.progress import watched
    from numeric.studies.study import Study
    from numeric.trials.count_result import CountResult

    problem = as_drawn(question, timeout)
    if instance is not None:
        own = as_instance(instance, problem)
        return count_given(own, engine=engine, timeout=min(timeout, trial_timeout))
    whole_number(instances, "instances", 1)
    start, end = time.monotonic(), moment_after(timeout)
    positive_seconds(timeout, "timeout")
    with (
        watched(advance, "counting", instances) as on_count,
        Study(
            problem,
            seed=seed,
            engine=engine,
            timeout=positive_seconds(trial_timeout, "trial_timeout"),
            complete=True,
            root_timeout=min(trial_timeout, 60.0),
        ) as study,
    ):
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
                source = "the time limit was reached"
        found = study.run(instances, timeout=limit_until(end), advance=on_count)
    return CountResult(
        engine=found.engine,
        seed=seed,
        generic_root_count=root_count,
        instances=found.counts,
        root_count_source=source,
        root_count_certainty=certainty,
        seconds=time.monotonic() - start,
        requested=instances,
        problem=in_parameters(problem),
        trouble=found.trouble,
    )


def enclosures(found: CountResult) -> list[list[Enclosure | None]]:
    """Intervals for each learnable weight of each real solution, proved to contain it.

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
    # Path tracking's kernels are loaded only if something is certified.
    from numeric.certification.enclosures import enclosures as enclose

    return enclose(_counted(found, "enclosures"))


def _counted(found: object, function: str) -> CountResult:
    """The argument, if it is a count's result.

    Raises
    ------
    InputError
        If it is something else, such as the problem itself.
    """
    from numeric.trials.count_result import CountResult

    if isinstance(found, CountResult):
        return found
    raise InputError(
        f"`found` ({shown(found)}) must be the result of a count, as in "
        f"{function}(count(problem, 1))"
    )


def minimal_polynomials(found: CountResult) -> list[list[tuple[fmpz_poly, ...] | None]]:
    """The minimal polynomial over Q of each learnable weight of each real solution.

    Parameters
    ----------
    found : CountResult
        From `count` by the engine ``exact``, which counts given instances of networks whose
        equations are polynomials.

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

    return weight_polynomials(_counted(found, "minimal_polynomials"))


def monodromy_group(found: CountResult, *, timeout: float = math.inf) -> MonodromyGroup:
    """The monodromy group of the solutions that were counted.

    Parameters
    ----------
    found : CountResult
        From `count`, of a linear network with as many weights as equations; one instance is enough.
    timeout : float, optional
        Seconds.

    Returns
    -------
    MonodromyGroup
        Its order, its blocks and whether it is solvable, each with its evidence.

    Raises
    ------
    InputError
        If there are infinitely many solutions, or N is not known.

    Examples
    --------
    >>> import matchprob as mp
    >>> diagonal = mp.Problem(mp.LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 0], [0, 1]]})
    >>> mp.monodromy_group(mp.count(diagonal, 1)).group.order
    2
    """
    # Path tracking's kernels are loaded only if paths are tracked.
    from numeric.engines.homotopy import group_of_solutions

    found = _counted(found, "monodromy_group")
    problem, N = found.problem, found.generic_root_count
    if problem is None or problem.is_random or N is None or N < 1:
        number = "not known" if N is None else str(N)
        raise InputError(
            f"no monodromy group: the generic root count N is {number} "
            f"({found.root_count_source}); it needs a fixed allocation that is not minimal, with "
            "as many weights as equations, whose N can be computed"
        )
    with limited(positive_seconds(timeout, "timeout")):
        return group_of_solutions(problem, N, found.root_count_source, found.seed)


def _unfinished(found: Estimate | SweepResult, arguments: Arguments) -> str:
    from numeric.statistics.sweep import SweepResult

    if isinstance(found, SweepResult):
        done, wanted = len(found.estimates), len(found.values)
        return f"stopped at value {done} of {wanted}" if found.is_partial else ""
    done, wanted, store = found.trials, found.requested, arguments.get("store")
    if found.trouble or done < wanted:
        return missing_trials(done, wanted, "trials", "estimate", store, found.trouble)
    near = found.approximate
    if near is not None and near.unsearched:
        return missing_trials(done - near.unsearched, done, "searches", "estimate", store)
    half_width = arguments.get("half_width")
    if half_width is None or (reached := found.interval().half_width) <= half_width:
        return ""
    return (
        f"after {done} trials the half-width is {reached:.4f}, not yet {half_width}: more --trials "
        "are needed"
    )


def _expected(arguments: Arguments) -> str:
    """What the trials are expected to cost."""
    from algebra.certificates.trial_costs import expectation

    # With these the trials are those of other problems.
    if arguments.get("sweep") or arguments.get("limit"):
        return ""
    return expectation(as_drawn(arguments["question"]))


@overload
def estimate(
    question: common.StudyQuestion,
    trials: int = ...,
    *,
    sweep: str,
    seed: int = ...,
    engine: str | None = ...,
    confidence: float = ...,
    timeout: float = ...,
    trial_timeout: float = ...,
    certify: bool = ...,
    complete: bool = ...,
    half_width: float | None = ...,
    epsilon: float | None = ...,
    limit: bool = ...,
    store: common.StoreFile = ...,
    workers: common.Workers = ...,
    scheduler: common.Scheduler = ...,
    name: str | None = ...,
    advance: common.CountProgress = ...,
) -> SweepResult: ...
@overload
def estimate(
    question: common.StudyQuestion,
    trials: int = ...,
    *,
    seed: int = ...,
    engine: str | None = ...,
    confidence: float = ...,
    timeout: float = ...,
    trial_timeout: float = ...,
    certify: bool = ...,
    complete: bool = ...,
    half_width: float | None = ...,
    epsilon: float | None = ...,
    limit: bool = ...,
    sweep: None = ...,
    store: common.StoreFile = ...,
    workers: common.Workers = ...,
    scheduler: common.Scheduler = ...,
    name: str | None = ...,
    advance: common.CountProgress = ...,
) -> Estimate: ...
@verb(unfinished=_unfinished, is_drawn=True, before=_expected)
def estimate(
    question: common.StudyQuestion,
    trials: common.Trials = 1000,
    *,
    seed: common.Seed = 0,
    engine: common.EngineName = None,
    confidence: common.Confidence = 0.95,
    timeout: common.Timeout = math.inf,
    trial_timeout: common.TrialTimeout = 600.0,
    certify: common.Certifies = True,
    complete: common.Complete = False,
    half_width: Annotated[float | None, LineOption(metavar="H")] = None,
    epsilon: Annotated[float | None, LineOption(metavar="E")] = None,
    limit: bool = False,
    sweep: Annotated[str | None, LineOption(metavar="ENTRY=A,B,…")] = None,
    store: common.StoreFile = None,
    workers: common.Workers = 1,
    scheduler: common.Scheduler = None,
    name: str | None = None,
    advance: common.CountProgress = None,
) -> Estimate | SweepResult:
    """Estimate the match probability, with a confidence interval.

    Parameters
    ----------
    trials : int, optional
        Number of random trials; with `half_width` the largest number.
    half_width : float, optional
        Stop when the half-width of a confidence sequence is at most this.
    epsilon : float, optional
        Also estimate the share of instances whose mean squared error gets below this.  That is,
        those with an exact match, and those for which a search reaches it (`approximate` of the
        result). If it does not, the instance is open, and the share is a lower bound.
    limit : bool, optional
        Of large networks: what the match probability tends to if the number of hidden units grows
        and the same cells of W learn. See "Large networks" in the documentation.
    sweep : str, optional
        An entry of the problem file and its values, as in ``n=4,8,16`` or
        ``distribution.weights=normal,uniform``: one estimate for each, in one table.
    name : str, optional
        Name of the study in the store; the problem file's by default.

    Returns
    -------
    Estimate
        An interrupt (Ctrl-C) ends the work and keeps the trials done.
        With `sweep` a `SweepResult`.

    See Also
    --------
    Study : the same in steps.
    """
    from matchprob.io.progress import watched
    from numeric.statistics.estimate import any_of
    from numeric.studies.study import Study

    positive_seconds(timeout, "timeout")
    if epsilon is not None:
        _check_epsilon(epsilon, half_width)
    more: dict[str, Any] = {
        "engine": engine, "confidence": confidence, "trial_timeout": trial_timeout,
        "certify": certify, "complete": complete, "half_width": half_width, "epsilon": epsilon,
        "store": store, "workers": workers, "scheduler": scheduler, "advance": advance,
    }  # fmt: skip
    if sweep is not None:
        return _swept(question, sweep, trials, timeout, name, seed=seed, limit=limit, **more)
    if limit:
        from algebra.systems.growth import limit_of

        with within(timeout):
            parts = limit_of(as_problem(question, timeout), seed=seed).deciding
        if len(parts) > 1 and (half_width is not None or epsilon is not None):
            option = "epsilon" if half_width is None else "half_width"
            raise InputError(
                f"`{option}` goes with one system, and the limit of these networks is that of "
                f"{len(parts)} systems: give `trials`"
            )
        end = moment_after(timeout)
        return any_of(
            [
                estimate(p, trials, seed=seed, timeout=limit_until(end), name=name, **more)
                for p in parts
            ]
        )
    began, end = time.monotonic(), moment_after(timeout)
    counting_ends = moment_after(timeout if epsilon is None else COUNTING_SHARE * timeout)
    problem = as_drawn(question, timeout)
    with (
        watched(advance, "estimating", trials, confidence) as on_count,
        Study(
            problem,
            seed=seed,
            engine=engine,
            store=store,
            workers=workers,
            scheduler=scheduler,
            confidence=confidence,
            timeout=positive_seconds(trial_timeout, "trial_timeout"),
            certify=certify,
            complete=complete,
            name=stem_of(question),
        ) as study,
    ):
        if name:
            study.rename(name)
        # Loading and connecting take a part of the time.
        found = study.run(
            trials, half_width=half_width, timeout=limit_until(counting_ends), advance=on_count
        )
        spent = time.monotonic() - began
        seconds = min(limit_until(counting_ends), max(_FUNCTION_SECONDS, spent))
        found = _with_functions(found, trial_timeout, store, workers, seconds)
        if epsilon is None:
            return found
        with watched(None, "searching", len(found.counts)) as searched:
            return _with_approximate(found, epsilon, study, limit_until(end), searched)


def _swept(
    question: Problem | str | Path,
    sweep: str,
    trials: int,
    timeout: float,
    name: str | None,
    **more: Any,
) -> SweepResult:
    """One estimate for each value of an entry of the problem file."""
    from algebra.problems.variants import read_variants, variants
    from numeric.statistics.sweep import SweepResult

    end, (key, values) = moment_after(timeout), read_variants(sweep)
    with within(timeout):
        source = question.path if isinstance(question, common.QuestionFile) else question
        problems = variants(source, key, values)
    found: list[Estimate] = []
    stem = name or stem_of(question) or key
    for value, problem in zip(values, problems, strict=True):
        # A study that the store has keeps its name; in a file's name "/" would be a folder.
        named = f"{stem} {key}={value}".replace("/", "\N{FRACTION SLASH}")
        one: Any = common.QuestionFile(Path(f"{named}.toml"), problem)
        own = estimate(one, trials, timeout=limit_until(end), **more)
        found.append(own)
        if own.is_partial:
            break
    return SweepResult(key, values, tuple(found))


def _check_epsilon(epsilon: float, half_width: float | None) -> None:
    number = isinstance(epsilon, (int, float)) and not isinstance(epsilon, bool)
    if not number or not 0 < epsilon < math.inf:
        raise InputError(f"`epsilon` ({epsilon!r}) must be a positive number, such as 1e-3")
    if half_width is not None:
        raise InputError(
            "`epsilon` and `half_width` exclude each other: the interval for approximate matches "
            "needs a number of trials that does not depend on the outcomes"
        )


def _with_functions(
    found: Estimate, trial_timeout: float, store: Any, workers: int, seconds: float
) -> Estimate:
    """An estimate, with the counts that tell which matches are the teacher's function."""
    from algebra.ranks.generalization import on_a_basis
    from numeric.studies.study import Study

    if found.is_partial or found.generalizes is not None or not found.matched:
        return found
    problem = on_a_basis(found.problem)
    if problem is None:
        return found
    # Some engines refuse some problems: then nothing more is said.
    with suppress(InputError, OutOfTime), within(seconds):
        work: dict[str, Any] = {
            "seed": found.seed, "timeout": min(trial_timeout, seconds), "root_timeout": seconds
        }  # fmt: skip
        with Study(problem, **work) as study:
            # A single solution is real: it needs no count.
            is_single = study.plan().root_count == 1 and not problem.constraints
        if is_single:
            return replace(found, functions=tuple(_one_solution(c.index) for c in found.counts))
        with Study(problem, **work, store=store, workers=workers, complete=True) as study:
            return replace(found, functions=study.run(found.trials, timeout=seconds).counts)
    return found


def _one_solution(index: int) -> InstanceCount:
    from numeric.trials.counts import COMPLETE, InstanceCount

    return InstanceCount(index, 1, 1, COMPLETE)


def _with_approximate(
    found: Estimate,
    epsilon: float,
    study: Study,
    seconds: float,
    advance: Callable[[InstanceCount], None] | None,
) -> Estimate:
    """An estimate, with the share of its instances that get below a loss.

    The result of the search is kept in the study's store, for any later bound of the loss.
    """
    # Loaded here: optimizers, which other estimates do not need.
    from numeric.programs.least_loss import STARTS, STEPS, VERSION, least_loss
    from numeric.statistics.approximate import ApproximateShare
    from numeric.trials.instances import draw_instance

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
                    kept_loss = None if math.isinf(loss) else loss
                    study.store.keep(name, count.index, {"loss": kept_loss}, instead=True)
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
        With the real solutions of its trials: counted completely, not settled by a verdict.
    constraints : Constraints
    timeout : float, optional
        Seconds for the whole call.
    **settings
        As for `estimate`: `trial_timeout`, `certify`.

    Returns
    -------
    Estimate
        Of the same trials. Only those that the known solutions do not decide are computed.

    Examples
    --------
    >>> import matchprob as mp
    >>> net = mp.LinearEstimator(q=1, d=1, m=1)
    >>> found = mp.estimate(mp.Problem(net, {"W": [[1]]}), 20, complete=True)
    >>> mp.constrain(found, mp.Constraints(sign="+")).trials
    20
    """
    from numeric.studies.study import Study

    if found.problem.constraints:
        raise InputError("`found` has constraints already: its other solutions are not known")
    positive_seconds(timeout, "timeout")
    if "trial_timeout" in settings:
        settings["timeout"] = positive_seconds(settings.pop("trial_timeout"), "trial_timeout")
    problem = replace(found.problem, constraints=constraints)
    if not found.trials:
        raise InputError("`found` has no trial")
    with Study(
        problem, seed=found.seed, engine=found.engine, confidence=found.confidence, **settings
    ) as study:
        study.add_unconstrained(found.counts)
        return study.run(found.trials, timeout=timeout)


@verb(unfinished=trials_missing("compare", "common trials"), is_drawn=True)
def compare(
    first: Annotated[Problem | str | Path, LineArgument(word=Path)],
    second: Annotated[Problem | str | Path, LineArgument(word=Path)],
    trials: common.Trials = 1000,
    *,
    seed: common.Seed = 0,
    engine: common.EngineName = None,
    confidence: common.Confidence = 0.95,
    timeout: common.Timeout = math.inf,
    trial_timeout: common.TrialTimeout = 600.0,
    certify: common.Certifies = True,
    complete: common.Complete = False,
    store: common.StoreFile = None,
    workers: common.Workers = 1,
    scheduler: common.Scheduler = None,
    advance: common.CountProgress = None,
) -> Comparison:
    """Compare two allocations of one network on common random instances.

    Parameters
    ----------
    first : Problem, str or Path
        Problem file (TOML).  Or a `Problem`.
    second : Problem, str or Path
        Problem file (TOML).  Of the same network and laws: trial i of both has the same weights and
        samples.

    Returns
    -------
    Comparison
        The trials of the two are computed in turns: after an interrupt (Ctrl-C), which ends both,
        they have about the same number of trials.
    """
    from matchprob.io.progress import watched
    from numeric.statistics.comparison import Comparison
    from numeric.studies.study import Study, shared
    from numeric.studies.together import run_together

    positive_seconds(timeout, "timeout")
    end = moment_after(timeout)
    problems = as_drawn(first, timeout), as_drawn(second, timeout)
    check_common(problems)
    with ExitStack() as stack:
        on_count = stack.enter_context(watched(advance, "comparing", 2 * trials, confidence))
        kept, pool = stack.enter_context(shared(store, workers, scheduler))
        studies = [
            stack.enter_context(
                Study(
                    problem, seed=seed, engine=engine, confidence=confidence,
                    timeout=positive_seconds(trial_timeout, "trial_timeout"), certify=certify,
                    complete=complete, store=kept, workers=pool, name=stem_of(question),
                )
            )
            for problem, question in zip(problems, (first, second), strict=True)
        ]  # fmt: skip
        found = run_together(studies, trials, timeout=limit_until(end), advance=on_count)
    return Comparison(*found)
