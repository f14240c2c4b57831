"""The verbs as Python functions; the command line is a thin layer over them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import comb
from pathlib import Path
from typing import Any

from algebra import atlas as atlases
from algebra import audit as audits
from algebra import certificate as certificates
from algebra import inspection, verification
from algebra.atlas import Atlas
from algebra.audit import AuditResult
from algebra.certificate import Certificate
from algebra.errors import InputError
from algebra.inspection import Inspection
from algebra.networks import Network
from algebra.problem import Problem, load_problem
from algebra.verification import Verification
from numeric.comparison import Comparison
from numeric.counting import Counter
from numeric.counts import CountResult, InstanceCount
from numeric.estimation import Estimate, run_trials
from numeric.instances import draw_instance
from numeric.monodromy_count import monodromy_root_count
from numeric.store import Store
from numeric.study import Study
from numeric.witness_search import rootless_instances

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
        See `algebra.certificate`.
    """
    problem = as_problem(question)

    def guess(root_count: int) -> Iterator[int]:
        return rootless_instances(problem, root_count, seed, search)

    return certificates.certify(
        problem,
        seed=seed,
        timeout=timeout,
        search=search,
        candidates=guess,
        fallback=partial(monodromy_root_count, timeout=timeout),
    )


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
    return verification.verify(
        certificate,
        seed=seed,
        timeout=timeout,
        fallback=partial(monodromy_root_count, timeout=timeout),
    )


def audit(
    question: Question | Network,
    *,
    matrices: Sequence[str] | None = None,
    budget: int | None = None,
    count: int | None = None,
    corrected: bool = False,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[AuditResult, ...]:
    """Hold the papers' theorems, as stated, against the exact verdict.

    Parameters
    ----------
    question : Problem, Network, str or Path
        Of a problem only the network and its support count.
    matrices : sequence of str, optional
        Audited one by one; every matrix that is large enough by default.
    budget : int, optional
        Learnable weights; dm by default, as the theorems assume.
    count : int, optional
        Random allocations in all, shared out among the matrices (a matrix that has fewer
        leaves the rest to the others); all of them by default.
    corrected : bool, optional
        Audit the corrected theorems too.
    seed : int, optional
    progress : callable, optional
        Told (done, all) as the work goes on.

    Returns
    -------
    tuple of AuditResult
        One for each matrix.
    """
    problem = _network_of(question)
    network = problem.network
    size = network.outputs if budget is None else budget
    names = list(matrices or [])
    if not names:
        names = [n for n, (rows, columns) in network.shapes.items() if rows * columns >= size]
        if not names:
            raise InputError(f"no matrix of this network has {size} weights")
    shares: dict[str, int | None] = dict.fromkeys(names)
    if count is not None:
        shares.update(_shares(network, problem, names, size, count))
    return tuple(
        audits.audit(
            network,
            name,
            budget=budget,
            count=share,
            corrected=corrected,
            support=problem.support,
            seed=seed,
            progress=progress,
        )
        for name, share in shares.items()
        if share != 0
    )


def _shares(
    network: Network, problem: Problem, names: Sequence[str], size: int, count: int
) -> dict[str, int | None]:
    """How many of `count` allocations each matrix gets: as even as their numbers allow."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise InputError(f"`count` ({count!r}) must be a whole number, at least 1")
    there = {}
    for name in names:
        if name not in network.shapes:
            raise InputError(
                f"there is no matrix `{name}` in a {network.title}; it has "
                + ", ".join(network.shapes)
            )
        rows, columns = network.shapes[name]
        mask = problem.support.get(name)
        cells = rows * columns if mask is None else int((mask != 0).sum())
        there[name] = comb(cells, size)
    shares: dict[str, int] = {}
    left = count
    for k, name in enumerate(sorted(there, key=lambda name: there[name])):
        shares[name] = min(there[name], -(-left // (len(there) - k)))
        left -= shares[name]
    # All of a matrix's allocations are gone through one by one, not drawn.
    return {name: None if shares[name] == there[name] else shares[name] for name in there}


def audit_to_dict(found: Sequence[AuditResult], seed: int) -> dict[str, Any]:
    """The JSON object of ``matchprob audit``: totals over the matrices, and each of them."""
    return {
        "checked": sum(a.checked for a in found),
        "agree": sum(t.agree for a in found for t in a.theorems),
        "silent": sum(t.silent for a in found for t in a.theorems),
        "theorem_says_maximal_but_minimal": sum(
            t.says_maximal_but_minimal for a in found for t in a.theorems
        ),
        "theorem_says_minimal_but_not": sum(
            t.says_minimal_but_not for a in found for t in a.theorems
        ),
        "examples": [example for a in found for example in a.to_dict()["examples"]],
        "matrices": [a.to_dict() for a in found],
        "seed": seed,
    }


def atlas(
    question: Question | Network,
    budget: int,
    *,
    matrices: Sequence[str] | None = None,
    store: Path | None = None,
    search: float = 2.0,
    transposition: bool = False,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Atlas:
    """Certify every allocation of a small network, up to symmetry.

    Parameters
    ----------
    question : Problem, Network, str or Path
        Of a problem only the network and its support count.
    budget : int
        Learnable weights.
    matrices : sequence of str, optional
        Where they may lie: W of a recurrent net, all matrices of others, by default.
    store : Path, optional
        File that keeps finished entries; the same call takes the work up again.
    search : float, optional
        Seconds an orbit for the search of an instance without real solutions.
    transposition : bool, optional
        Whether an allocation and its transpose are one orbit, where that is a symmetry
        (`algebra.symmetry`).
    seed : int, optional
    progress : callable, optional
        Told (done, all) after each orbit.

    Returns
    -------
    Atlas
    """
    problem = _network_of(question)
    return atlases.atlas(
        problem.network,
        budget,
        matrices=matrices,
        support=problem.support,
        transposition=transposition,
        seed=seed,
        decide=lambda p: certify(p, seed=seed, search=search),
        store=store,
        progress=progress,
    )


def _network_of(question: Question | Network) -> Problem:
    if isinstance(question, Network):
        return Problem(question, {})
    if isinstance(question, Problem):
        return question
    return load_problem(question, need_learnable=False)


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
