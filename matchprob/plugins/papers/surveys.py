"""Verbs over many allocations of a network: audit, atlas."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import comb, factorial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from algebra.errors import InputError, whole_number
from algebra.time_limits import OutOfTime, limited, positive_seconds
from matchprob.api.question import network_of
from matchprob.plugins.papers.principles import check_only_principles, survey_principles
from matchprob.verbs import parameters as common
from matchprob.verbs.verb import Arguments, LineOption, ResultFile, verb

if TYPE_CHECKING:
    from algebra.certificates.certificate import Certificate
    from algebra.networks.base import Network
    from algebra.plugins.papers.atlas import Atlas
    from algebra.plugins.papers.audit import Audit, AuditResult
    from algebra.problems.problem import Problem
    from numeric.plugins.papers.principles.survey import PrincipleSurvey

# Trials of each class in a survey of principles.
_TRIALS = 300


def _unchecked(found: Audit | PrincipleSurvey, arguments: Arguments) -> str:
    if not found.is_partial:
        return ""
    if arguments.get("principles"):
        store = arguments.get("store")
        kept = f"kept in {store}; the same command goes on" if store else "not kept: use --store"
        return (
            f"stopped after {found.checked} of {found.requested} classes, whose trials are {kept}"
        )
    return (
        f"stopped after {found.checked} of {found.requested} allocations, which the result above "
        "is about"
    )


@verb(unfinished=_unchecked, is_drawn=True)
def audit(
    question: common.NetworkQuestion,
    *,
    matrices: Annotated[Sequence[str] | None, LineOption(flag="--matrix")] = None,
    budget: int | None = None,
    count: Annotated[int | None, LineOption(least=1)] = None,
    corrected: bool = False,
    principles: bool = False,
    trials: Annotated[int | None, LineOption(least=1)] = None,
    confidence: Annotated[float | None, LineOption()] = None,
    store: common.StoreFile = None,
    workers: common.Workers = 1,
    timeout: common.Timeout = math.inf,
    seed: common.Seed = 0,
    progress: common.WorkProgress = None,
) -> Audit | PrincipleSurvey:
    """Compare the papers' theorems, as stated, with the exact verdict.

    With `principles`: compare the papers' unproved principles for allocations between minimal and
    maximal with estimated match probabilities.

    Parameters
    ----------
    matrices : sequence of str, optional
        Matrices in which weights learn; each matrix by default. They are audited one by one, if
        they are large enough.
    budget : int, optional
        Number of learnable weights; dm by default, as the theorems assume.
    count : int, optional
        Total number of random allocations, divided among the matrices; all by default. If a matrix
        has fewer, the rest is divided among the others.
    corrected : bool, optional
        Audit the corrected theorems too (slower).
    principles : bool, optional
        Compare principles (more rows, more quadratic equations, …) with match probabilities.  Of
        one allocation for each class up to symmetry, with all weights in `matrices` together: W of
        a recurrent net, W1 of a ReLU net, all matrices of others by default.
    trials : int, optional
        With principles: number of common random trials of each class; 300 by default.
    confidence : float, optional
        With principles: level of the intervals, and of all ordered pairs together; 0.95 by default.

    Returns
    -------
    Audit or PrincipleSurvey
        A sequence of results, one for each matrix, and their totals.  With `principles` the classes
        between minimal and maximal with their match probability, Kendall's τ of each predictor, and
        the pairs of classes that contradict a principle.
    """
    from algebra.plugins.papers import audit as audits
    from algebra.questions.premises import need_generic
    from matchprob.io.progress import counted

    problem = network_of(question)
    positive_seconds(timeout, "timeout")
    problem.network.check_verb("audit")
    need_generic(problem, "audit")
    if principles:
        _need_exchangeable(problem, "audit --principles")
        if corrected:
            raise InputError("`corrected` (True) is about theorems: it excludes `principles`")
        return survey_principles(
            problem, matrices=list(matrices or []), budget=budget, count=count,
            trials=_TRIALS if trials is None else trials,
            confidence=0.95 if confidence is None else confidence, store=store, workers=workers,
            timeout=timeout, seed=seed, progress=progress,
        )  # fmt: skip
    check_only_principles(trials=trials, confidence=confidence, store=store)
    from algebra.networks.protocols import jacobian_of

    network = jacobian_of(problem.network)
    size = network.outputs if budget is None else budget
    names = list(matrices or [])
    if not names:
        names = [n for n, (rows, columns) in network.shapes.items() if rows * columns >= size]
        if not names:
            raise InputError(f"no matrix of this network has {size} weights")
    shares: dict[str, int | None] = dict.fromkeys(names)
    if count is not None:
        shares.update(_shares(network, problem, names, size, count))
    found: list[AuditResult] = []
    with limited(timeout), counted(progress, "auditing") as on_progress:
        for name, share in shares.items():
            if share == 0:
                continue
            try:
                found.append(
                    audits.audit(
                        network, name, budget=budget, count=share, corrected=corrected,
                        support=problem.support, seed=seed, progress=on_progress,
                    )
                )  # fmt: skip
            except OutOfTime:
                break
            if found[-1].checked < found[-1].requested:
                break
    there = _numbers(problem, [name for name, share in shares.items() if share != 0], size)
    return audits.Audit(
        tuple(found), seed, sum(shares[name] or number for name, number in there.items())
    )


def _need_exchangeable(problem: Problem, verb: str) -> None:
    """Refuse laws under which the order of units matters."""
    if problem.distribution.signs:
        raise InputError(
            f"{verb} treats all allocations that differ by the order of units only as one, and "
            "signs distinguish these: remove signs from [distribution], or certify single "
            "allocations"
        )


def _shares(
    network: Network, problem: Problem, names: Sequence[str], size: int, count: int
) -> dict[str, int | None]:
    """The number of the `count` allocations for each matrix, as even as possible."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise InputError(f"`count` ({count!r}) must be a whole number, at least 1")
    for name in names:
        network.shape_of(name)
    there = _numbers(problem, names, size)
    shares: dict[str, int] = {}
    left = count
    for k, name in enumerate(sorted(there, key=lambda name: there[name])):
        shares[name] = min(there[name], -(-left // (len(there) - k)))
        left -= shares[name]
    # All allocations of a matrix are enumerated, not drawn.
    return {name: None if shares[name] == there[name] else shares[name] for name in there}


def _numbers(problem: Problem, names: Sequence[str], size: int) -> dict[str, int]:
    """The number of allocations of this number of weights in each matrix."""
    there = {}
    for name in names:
        rows, columns = problem.network.shapes[name]
        mask = problem.support.get(name)
        there[name] = comb(rows * columns if mask is None else int((mask != 0).sum()), size)
    return there


def _uncertified(found: Atlas, arguments: Arguments) -> str:
    done, store = len(found.entries), arguments.get("store")
    if done >= found.orbits:
        return ""
    kept = f"kept in {store}; the same command goes on" if store else "not kept: use --store"
    return f"stopped after {done} of {found.orbits} orbits, {kept}"


@verb(
    files=(ResultFile("--csv", "Write the table.", lambda found, *_: found.to_csv()),),
    unfinished=_uncertified,
    is_drawn=True,
)
def atlas(
    question: common.NetworkQuestion,
    budget: Annotated[int | None, LineOption(least=1)] = None,
    *,
    matrices: Annotated[Sequence[str] | None, LineOption(flag="--matrix")] = None,
    store: Annotated[Path | None, LineOption(metavar="FILE", is_store=True)] = None,
    search: float = 2.0,
    effort: float = 1.0,
    transposition: bool = False,
    limit: bool = False,
    trials: Annotated[int | None, LineOption(least=1)] = None,
    confidence: Annotated[float | None, LineOption()] = None,
    timeout: common.Timeout = math.inf,
    seed: common.Seed = 0,
    progress: common.WorkProgress = None,
) -> Atlas:
    """Certify every allocation of a small net, up to the symmetries that preserve MP.

    Parameters
    ----------
    budget : int, optional
        Number of learnable weights; dm by default, as for `audit`.
    matrices : sequence of str, optional
        Matrices of the learnable weights. By default W of a recurrent net, all matrices of others.
    store : Path, optional
        Keep entries in this file, and continue from those it contains.
    search : float, optional
        Work for each orbit to search for an instance without real roots, in seconds of a quiet
        machine.
    effort : float, optional
        Factor of the work of all searches and counts, as for `certify`.
    transposition : bool, optional
        Count an allocation and its transpose as one. Only if that is a symmetry
        (`algebra.problems.symmetry`).
    limit : bool, optional
        Of large networks: all digraphs of `budget` cells of W, and what MP tends to if the number
        of hidden units grows. Of a file of kind ``limit`` always.
    trials : int, optional
        Also estimate MP with so many trials, where no verdict gives it; the table has MP and its
        interval, those with the largest MP first.
    confidence : float, optional
        Level of these intervals; 0.95 by default.

    Returns
    -------
    Atlas
        With `trials` an `EstimatedAtlas`.
    """
    from algebra.plugins.papers import atlas as atlases
    from algebra.plugins.papers.limits import limit_verdict
    from algebra.questions.premises import need_generic
    from matchprob.api.certify import certify
    from matchprob.io.progress import counted
    from numeric.plugins.papers.atlas import EstimatedAtlas
    from numeric.statistics.intervals import proportion_interval

    problem = network_of(question)
    positive_seconds(timeout, "timeout")
    problem.network.check_verb("atlas")
    size = problem.network.outputs if budget is None else whole_number(budget, "budget", 1)
    if limit := limit or problem.network.made_from_problems:
        problem = _growing(problem, size)
    need_generic(problem, "atlas")
    _need_exchangeable(problem, "atlas")
    if trials is None and confidence is not None:
        raise InputError("`confidence` goes with `trials`: give the number of trials")
    tried = None
    if trials is not None:
        tried = _trials_of(problem, whole_number(trials, "trials", 1), seed, limit)
    level = 0.95 if confidence is None else confidence
    # It is checked before the work.
    proportion_interval(0, 0, confidence=level)

    def decide(one: Problem) -> Certificate:
        return certify(one, seed=seed, search=search, effort=effort)

    with limited(timeout), counted(progress, "certifying") as on_progress:
        found = atlases.atlas(
            problem.network,
            size,
            matrices=matrices,
            support=problem.support,
            transposition=transposition,
            limit=limit,
            seed=seed,
            decide=partial(limit_verdict, decide=decide, seed=seed) if limit else decide,
            trials=trials,
            tried=tried,
            store=store,
            progress=on_progress,
        )
    return found if trials is None else EstimatedAtlas.of(found, trials, level)


def _growing(problem: Problem, budget: int) -> Problem:
    """The linear RNN whose W holds every digraph of so many cells, with the sizes of a problem."""
    from algebra.networks.recurrent import LinearRNN
    from algebra.problems.problem import Problem
    from algebra.problems.symmetry import LARGEST_GROUP
    from algebra.systems.growth import need_covered

    need_covered(problem)
    if factorial(2 * budget) > LARGEST_GROUP:
        raise InputError(
            f"`budget` ({budget}) is too large for an atlas of large networks, which have millions "
            "of such digraphs: choose at most 4 cells"
        )
    network: Any = problem.network
    sizes = {name: getattr(network, name) for name in ("T", "b", "d", "m")}
    return Problem(LinearRNN(n=2 * budget, **sizes), {})


def _trials_of(
    problem: Problem, trials: int, seed: int, limit: bool
) -> Callable[[Problem], tuple[int, int, int]]:
    """What tries an allocation: trials with the laws of a problem.

    Raises
    ------
    InputError
        If MP differs between allocations that an atlas counts as one.
    """
    from algebra.systems.growth import LimitUnknown, limit_of
    from numeric.statistics.estimate import any_of
    from numeric.studies.study import Study

    for name in ("values", "constraints", "teacher"):
        if getattr(problem, name):
            raise InputError(
                f"atlas estimates MP for weights that differ in nothing but their place: remove "
                f"[{name}], or estimate single allocations"
            )

    def tried(one: Problem) -> tuple[int, int, int]:
        parts: Sequence[Problem] = (replace(one, distribution=problem.distribution),)
        if limit:
            try:
                parts = limit_of(one, seed=seed).deciding
            except LimitUnknown:
                return 0, 0, trials
        every = []
        for part in parts:
            with Study(part, seed=seed, certify=False) as study:
                every.append(study.run(trials))
            if every[-1].is_partial or every[-1].trouble:
                raise OutOfTime("the trials of an allocation were not finished")
        found = any_of(every)
        return found.matched, found.unmatched, found.undetermined

    return tried
