"""Does training find the match: the verb train."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal

from algebra.errors import InputError, whole_number
from algebra.time_limits import positive_seconds
from matchprob.api.question import as_drawn, stem_of
from matchprob.verbs import parameters as common
from matchprob.verbs.unfinished import COUNTING_SHARE, collected, trials_missing
from matchprob.verbs.verb import Callback, LineOption, verb

if TYPE_CHECKING:
    from numeric.plugins.training.experiment import Experiment, Trained, TrainResult
    from numeric.studies.study import Study
    from numeric.trials.counts import InstanceCount


OptimizerName = Literal["gd", "sgd", "adam", "adahessian", "levenberg-marquardt"]


@verb(unfinished=trials_missing("train"), is_drawn=True)
def train(
    question: common.StudyQuestion,
    trials: common.Trials = 200,
    *,
    optimizer: OptimizerName = "adam",
    steps: Annotated[int | None, LineOption(least=1)] = None,
    restarts: Annotated[int, LineOption(least=0)] = 0,
    rate: float | None = None,
    seed: common.Seed = 0,
    engine: common.EngineName = None,
    confidence: common.Confidence = 0.95,
    timeout: common.Timeout = math.inf,
    trial_timeout: common.TrialTimeout = 600.0,
    store: common.StoreFile = None,
    workers: common.Workers = 1,
    advance: common.CountProgress = None,
    trained: Annotated[Callable[[Trained], None] | None, Callback(passed=None)] = None,
) -> TrainResult:
    """Train on random instances, to see which of the existing matches are found.

    Parameters
    ----------
    question : Problem, str or Path
        Problem file (TOML).  Or a `Problem`, of a network that is a chain of matrices, a shallow
        ReLU net, or a network with activations.
    optimizer : {"gd", "sgd", "adam", "adahessian", "levenberg-marquardt"}, optional
        gd (gradient descent), sgd (each step sees half of the samples), adam, adahessian or
        levenberg-marquardt; the others see all samples.
    steps : int, optional
        Largest number of steps of a run; by default 10000 (gd, sgd), 5000 (adam), 2000 (adahessian)
        or 200.
    restarts : int, optional
        Number of further runs, from other random weights than the student's.
    rate : float, optional
        Size of the steps; levenberg-marquardt has none.
    store : str, Path or Store, optional
        Keep trials in this file, and continue from those it contains.  Both the counts and the
        results of training are kept.
    trained : callable, optional
        Called with each trial trained.

    Returns
    -------
    TrainResult
        An interrupt (Ctrl-C) ends the work and keeps the trials done.

    Examples
    --------
    >>> import matchprob as mp
    >>> net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> found = mp.train(mp.Problem(net, {"W": [[1, 1], [0, 0]]}), 20)
    >>> found.exists, found.false_matches
    (20, 0)
    """
    from matchprob.io.progress import ticked, watched
    from numeric.engines.base import engine_info
    from numeric.plugins.training.experiment import Experiment, TrainingSettings, TrainResult
    from numeric.statistics.intervals import tail_of
    from numeric.studies.study import Study
    from numeric.studies.trials import TrialSeries

    problem = as_drawn(question, timeout)
    if not problem.is_random and not problem.learning.size:
        raise InputError("no weight learns: there is nothing to train")
    whole_number(trials, "trials", 1)
    if steps is not None:
        whole_number(steps, "steps", 1)
    settings = TrainingSettings(optimizer, steps or 0, rate, restarts)
    tail_of(confidence)
    positive_seconds(timeout, "timeout")
    experiment = Experiment(problem, seed, settings)
    began = time.monotonic()
    # Complete lists of matches if equations are polynomials; otherwise decisions.
    chosen = TrialSeries.of(problem, seed, engine).settings.engine
    with ExitStack() as stack:
        if advance is True:
            work = stack.enter_context(ticked("counting, then training", 2 * trials))
            advance = trained = work
        study = stack.enter_context(
            Study(
                problem,
                seed=seed,
                engine=engine,
                store=store,
                workers=workers,
                timeout=positive_seconds(trial_timeout, "trial_timeout"),
                complete=engine_info(chosen).plans,
                name=stem_of(question),
            )
        )
        with watched(advance, "counting", trials) as on_count:
            counted = study.run(trials, timeout=COUNTING_SHARE * timeout, advance=on_count)
        left = timeout - (time.monotonic() - began)
        done, late = collected(_train(experiment, counted.counts, study, trained), left)
    trouble = counted.trouble or late
    return TrainResult(problem, settings, seed, tuple(done), trials, confidence, trouble=trouble)


def _train(
    experiment: Experiment,
    counts: Sequence[InstanceCount],
    study: Study,
    on_trained: Callable[[Trained], None] | None,
) -> Iterator[Trained]:
    """The results of training in the order of the trials; those in the study's store are read."""
    from numeric.plugins.training.experiment import Trained

    done = {"experiment": "training", "study": study.work.key, **asdict(experiment.settings)}
    name = json.dumps(done, sort_keys=True)
    rests = {count.index: _rests_on(count) for count in counts}
    kept: dict[int, Trained] = {}
    for index, result in (study.store.results(name) if study.store else {}).items():
        # What is known of a trial's matches depends on its count; a later count may improve it.
        if result.pop("count") == rests.get(index):
            kept[index] = Trained(**result)
    new = experiment.run([count for count in counts if count.index not in kept])
    for count in counts:
        if count.index in kept:
            one = kept[count.index]
        else:
            one = next(new)
            if study.store:
                result = {**asdict(one), "count": rests[count.index]}
                study.store.keep(name, one.index, result, instead=True)
        if on_trained is not None:
            on_trained(one)
        yield one


def _rests_on(count: InstanceCount) -> list[Any]:
    """The properties of a count on which the result of training depends."""
    return [count.status, count.real, len(count.solutions)]
