"""Does training find the match: the verb train."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from algebra.errors import InputError, whole_number
from algebra.time_limits import OutOfTime, positive_seconds, within
from matchprob.api.question import Question, as_problem, stem_of
from matchprob.io.progress import watched
from numeric.counts import InstanceCount
from numeric.engines.base import engine_info
from numeric.statistics.intervals import tail_of
from numeric.studies.store import Store
from numeric.studies.study import Study
from numeric.studies.trials import TrialSeries
from numeric.training.experiment import Experiment, Trained, TrainingSettings, TrainResult

# Of the time limit, at most so much goes to the counts.
_COUNTING = 0.6


def train(
    question: Question,
    trials: int = 200,
    *,
    optimizer: str = "adam",
    steps: int | None = None,
    restarts: int = 0,
    rate: float | None = None,
    seed: int = 0,
    engine: str | None = None,
    confidence: float = 0.95,
    timeout: float = math.inf,
    trial_timeout: float = 600.0,
    store: str | Path | Store | None = None,
    workers: int = 1,
    advance: Callable[[InstanceCount], None] | None = None,
    trained: Callable[[Trained], None] | None = None,
) -> TrainResult:
    """Train students of random instances, and say which of the existing matches are found.

    Parameters
    ----------
    question : Problem, str or Path
        Of a network that is a chain of matrices, or of a shallow ReLU net.
    trials : int, optional
    optimizer : {"gd", "adam", "levenberg-marquardt"}, optional
    steps : int, optional
        Most steps of a run.
    restarts : int, optional
        Runs from weights drawn again, after the one from the student's own.
    rate : float, optional
        Size of the steps; Levenberg–Marquardt has none.
    seed : int, optional
    engine : str, optional
        Which counts the matches that exist.
    confidence : float, optional
    timeout : float, optional
        Seconds for the whole call, which then ends as by an interrupt.
    trial_timeout : float, optional
        Seconds for one count.
    store : str or Path, optional
        SQLite file that keeps the counts, and what training came to.
    workers : int, optional
        Local processes that count.
    advance, trained : callable, optional
        Told of each count, and of each trial trained.

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
    problem = as_problem(question)
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
    # Whole lists of matches where they are polynomial systems' solutions; else a decision.
    chosen = TrialSeries.of(problem, seed, engine).settings.engine
    with Study(
        problem,
        seed=seed,
        engine=engine,
        store=store,
        workers=workers,
        timeout=trial_timeout,
        complete=engine_info(chosen).plans,
        name=stem_of(question),
    ) as study:
        with watched(advance, "counting", trials) as told:
            counted = study.run(trials, timeout=_COUNTING * timeout, advance=told)
        done: list[Trained] = []
        trouble = counted.trouble
        try:
            with within(timeout - (time.monotonic() - began)):
                for one in _train(experiment, counted.counts, study, trained):
                    done.append(one)
        except KeyboardInterrupt:
            pass
        except OutOfTime as over:
            trouble = trouble or str(over)
    return TrainResult(problem, settings, seed, tuple(done), trials, confidence, trouble=trouble)


def _train(
    experiment: Experiment,
    counts: Sequence[InstanceCount],
    study: Study,
    told: Callable[[Trained], None] | None,
) -> Iterator[Trained]:
    """Trials trained, in order, those in the study's store among them."""
    done = {"experiment": "training", "study": study.work.key, **asdict(experiment.settings)}
    name = json.dumps(done, sort_keys=True)
    rests = {count.index: _rests_on(count) for count in counts}
    kept: dict[int, Trained] = {}
    for index, result in (study.store.results(name) if study.store else {}).items():
        # What is said of a trial's matches rests on its count; a better one may have come since.
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
        if told is not None:
            told(one)
        yield one


def _rests_on(count: InstanceCount) -> list[Any]:
    return [count.status, count.real, len(count.solutions)]
