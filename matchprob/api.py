"""The verbs as Python functions; the command line is a thin layer over them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from algebra import certificate as certificates
from algebra import inspection, verification
from algebra.certificate import Certificate
from algebra.errors import InputError
from algebra.inspection import Inspection
from algebra.problem import Problem, load_problem
from algebra.verification import Verification
from numeric.counting import Counter
from numeric.counts import CountResult, InstanceCount
from numeric.estimation import Estimate, estimate_with, run_trials
from numeric.instances import draw_instance

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
    return inspection.inspect_allocation(
        allocation, problem.support, seed=seed, all_forms=all_forms
    )


def certify(
    question: Question, *, seed: int = 0, timeout: float = 60.0, search: float = 3.0
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
        See `algebra.certificate`.
    """
    problem = as_problem(question)

    return certificates.certify(problem, seed=seed, timeout=timeout, search=search)


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
        The object, the content of ``cert.json``, or the file.
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
    return verification.verify(certificate, seed=seed, timeout=timeout)


def count(
    question: Question,
    instances: int = 20,
    *,
    seed: int = 0,
    engine: str = "phcpy",
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
    with Counter(problem, engine, timeout=timeout) as counter:
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
        engine=engine,
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
    engine: str = "phcpy",
    confidence: float = 0.95,
    timeout: float = 600.0,
    certify: bool = True,
    advance: Advance | None = None,
) -> Estimate:
    """Estimate a match probability from random trials.

    Parameters
    ----------
    question : Problem, str or Path
    trials : int, optional
    seed : int, optional
    engine : str, optional
    confidence : float, optional
    timeout : float, optional
        Seconds for one trial.
    certify : bool, optional
        Whether trials of a certified minimal allocation are settled without computing.
    advance : callable, optional
        Told of each count as it is made.

    Returns
    -------
    Estimate
        An interrupt (Ctrl-C) ends the work and keeps the trials done.
    """
    problem = as_problem(question)
    with Counter(problem, engine, timeout=timeout, certify=certify) as counter:
        counter.prepare()
        return estimate_with(problem, counter, trials, seed, confidence=confidence, advance=advance)
