"""The verbs as Python functions; the command line is a thin layer over them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from algebra import families
from algebra.certificates.certificate import Certificate
from algebra.certificates.checks import Verification
from algebra.design import proof as design_certificate
from algebra.errors import InputError
from algebra.normalization.lowering import solvable
from algebra.problems.problem import Problem, load_problem
from algebra.relu import decision as relu_certificate
from algebra.systems.inspection import Inspection
from numeric.counts import CountResult, InstanceCount
from numeric.engines.normalization import make_counter
from numeric.engines.witness_search import rootless_instances
from numeric.instances import draw_instance
from numeric.relu.decide import ReluDecision
from numeric.relu.decide import decide as decide_relu
from numeric.relu.evidence import refuted_instance
from numeric.statistics.comparison import Comparison
from numeric.statistics.estimate import Estimate, run_trials
from numeric.studies.store import Store
from numeric.studies.study import Study
from numeric.tracking.root_count import monodromy_root_count

Question = Problem | str | Path
Advance = Callable[[InstanceCount], None]


def as_problem(question: Question) -> Problem:
    """A problem, or the one in a problem file."""
    return question if isinstance(question, Problem) else load_problem(question)


def inspect(question: Question, *, seed: int = 0, all_forms: bool = False) -> Inspection:
    """Structure of the equations an allocation leads to.

    Parameters
    ----------
    question : Problem, str or Path
        A random allocation is drawn as for trial 0 of the seed.
    seed : int, optional
    all_forms : bool, optional
        Eliminate every form, not only the one with the smaller core.

    Returns
    -------
    Inspection

    Examples
    --------
    >>> import matchprob as mp
    >>> net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> report = mp.inspect(mp.Problem(net, {"W": [[1, 0], [0, 1]]}))
    >>> report.forms[0].core_unknowns, report.forms[0].bezout
    (1, 2)
    """
    problem = as_problem(question)
    allocation = draw_instance(problem, seed, 0).allocation
    return families.inspect_allocation(allocation, problem.support, seed=seed, all_forms=all_forms)


def certify(
    question: Question, *, seed: int = 0, timeout: float = 60.0, search: float = 2.0
) -> Certificate:
    """Verdict on an allocation, with evidence.

    Parameters
    ----------
    question : Problem, str or Path
        With a fixed allocation.
    seed : int, optional
        Random points and instances follow from it.
    timeout : float, optional
        Seconds for one Gröbner basis.
    search : float, optional
        Seconds for the search of an instance without real solutions.

    Returns
    -------
    Certificate
        See `algebra.certificates.certificate` and `algebra.families`.
    """
    problem = as_problem(question)

    def guess(root_count: int) -> Iterator[int]:
        return rootless_instances(solvable(problem), root_count, seed, search)

    return families.certify(
        problem,
        seed=seed,
        timeout=timeout,
        search=search,
        candidates=guess,
        fallback=partial(monodromy_root_count, timeout=timeout),
        refuted=partial(refuted_instance, problem, seed, search),
    )


def decide(
    question: Question, index: int = 0, *, seed: int = 0, certify: bool = True
) -> ReluDecision:
    """Whether some weights match one trial of a shallow ReLU net.

    Parameters
    ----------
    question : Problem, str or Path
    index, seed : int, optional
        Of the trial.
    certify : bool, optional
        Refute every leaf of "no match" over Q; otherwise only those that rounding leaves in
        doubt.

    Returns
    -------
    ReluDecision
        Its ``certificate()`` is the content of a file that `verify` checks.
    """
    return decide_relu(draw_instance(as_problem(question), seed, index), certify=certify)


def verify(
    certificate: Certificate | Mapping[str, Any] | str | Path,
    *,
    seed: int = 1,
    timeout: float = 60.0,
) -> Verification:
    """Check a certificate from scratch.

    Parameters
    ----------
    certificate : Certificate, mapping, str or Path
        The object, the content of ``cert.json``, or the file; also the proof of a design.
    seed : int, optional
        New points and primes follow from it.
    timeout : float, optional
        Seconds for one Gröbner basis.

    Returns
    -------
    Verification
    """
    if isinstance(certificate, Certificate):
        certificate = json.loads(certificate.to_json())
    elif isinstance(certificate, (str, Path)):
        path = Path(certificate)
        try:
            certificate = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise InputError(f"{path}: no such file") from None
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"{path}: not a certificate: {error}") from None
    assert not isinstance(certificate, (Certificate, str, Path))
    if isinstance(certificate, Mapping) and certificate.get("format") == relu_certificate.FORMAT:
        return relu_certificate.verify_decision(certificate)
    if isinstance(certificate, Mapping) and certificate.get("format") == design_certificate.FORMAT:
        return design_certificate.verify_design(certificate, seed=seed)
    return families.verify(
        certificate,
        seed=seed,
        timeout=timeout,
        fallback=partial(monodromy_root_count, timeout=timeout),
    )


def count(
    question: Question,
    instances: int = 20,
    *,
    seed: int = 0,
    engine: str | None = None,
    timeout: float = 600.0,
    advance: Advance | None = None,
) -> CountResult:
    """Count the real solutions of random instances, completely.

    Parameters
    ----------
    question : Problem, str or Path
    instances : int, optional
    seed : int, optional
    engine : str, optional
    timeout : float, optional
        Seconds for one instance.
    advance : callable, optional
        Told of each count as it is made.

    Returns
    -------
    CountResult
        An interrupt (Ctrl-C) ends the work and keeps what is done.
    """
    problem = as_problem(question)
    if isinstance(instances, bool) or not isinstance(instances, int) or instances < 1:
        raise InputError(f"`instances` ({instances!r}) must be a whole number, at least 1")
    start = time.perf_counter()
    counts: list[InstanceCount] = []
    with make_counter(problem, engine, timeout=timeout, root_timeout=min(timeout, 60.0)) as counter:
        counter.prepare()
        root_count, source = None, "differs by trial: the allocation is random"
        if not problem.is_random:
            plan = counter.plan(problem.allocation)
            root_count, source = plan.root_count, plan.source
            if plan.is_part:
                root_count, source = None, "infinite: more weights than equations"
        try:
            for found in run_trials(problem, counter, instances, seed, advance):
                counts.append(found)
        except KeyboardInterrupt:
            pass
    return CountResult(
        engine=counter.name,
        seed=seed,
        generic_root_count=root_count,
        instances=tuple(counts),
        root_count_source=source,
        seconds=time.perf_counter() - start,
        requested=instances,
    )


def estimate(
    question: Question,
    trials: int = 1000,
    *,
    seed: int = 0,
    engine: str | None = None,
    confidence: float = 0.95,
    timeout: float = 600.0,
    certify: bool = True,
    complete: bool = False,
    half_width: float | None = None,
    store: str | Path | Store | None = None,
    workers: int = 1,
    scheduler: str | None = None,
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
        Seconds for one trial.
    certify : bool, optional
        Whether trials of certified minimal and maximal allocations are settled without
        computing.
    complete : bool, optional
        Whether all solutions of every trial are counted, even where one decides the match.
    half_width : float, optional
        Stop when a confidence sequence is this narrow.
    store : str or Path, optional
        SQLite file that keeps the trials; the same call goes on from there.
    workers : int, optional
        Local processes.
    scheduler : str, optional
        Address of a Dask scheduler.
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
    with Study(
        as_problem(question),
        seed=seed,
        engine=engine,
        store=store,
        workers=workers,
        scheduler=scheduler,
        confidence=confidence,
        timeout=timeout,
        certify=certify,
        complete=complete,
    ) as study:
        return study.run(trials, half_width=half_width, advance=advance)


def compare(
    first: Question,
    second: Question,
    trials: int = 1000,
    *,
    seed: int = 0,
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
    advance : callable, optional
        Told of each trial of either.
    **settings
        As for `estimate`: `engine`, `store`, `workers`, `scheduler`, `confidence`, ….

    Returns
    -------
    Comparison
    """
    problems = as_problem(first), as_problem(second)
    if problems[0].network != problems[1].network:
        raise InputError(
            f"`first` ({problems[0].network}) and `second` ({problems[1].network}) are different "
            "networks: only allocations of one network have common instances"
        )
    if (problems[0].distribution, problems[0].support) != (
        problems[1].distribution,
        problems[1].support,
    ):
        raise InputError("`first` and `second` differ in [distribution] or [support]")
    found = []
    for problem in problems:
        with Study(problem, seed=seed, **settings) as study:
            found.append(study.run(trials, advance=advance))
    return Comparison(*found)
