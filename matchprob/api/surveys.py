"""Verbs over many allocations of a network: audit, atlas."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from math import comb
from pathlib import Path

from algebra.errors import InputError, whole_number
from algebra.networks.base import Network
from algebra.problems.problem import Problem
from algebra.surveys import atlas as atlases
from algebra.surveys import audit as audits
from algebra.surveys.atlas import Atlas
from algebra.surveys.audit import Audit, AuditResult
from algebra.time_limits import OutOfTime, limited, positive_seconds
from matchprob.api.certify import certify
from matchprob.api.question import Question, network_of


def audit(
    question: Question | Network,
    *,
    matrices: Sequence[str] | None = None,
    budget: int | None = None,
    count: int | None = None,
    corrected: bool = False,
    timeout: float = math.inf,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Audit:
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
    timeout : float, optional
        Seconds for the whole call; what is checked by then is reported.
    seed : int, optional
    progress : callable, optional
        Told (done, all) as the work goes on.

    Returns
    -------
    Audit
        A sequence of results, one for each matrix, and their totals.
    """
    problem = network_of(question)
    positive_seconds(timeout, "timeout")
    problem.network.check_verb("audit")
    problem.need_generic("audit")
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
    found: list[AuditResult] = []
    with limited(timeout):
        for name, share in shares.items():
            if share == 0:
                continue
            try:
                found.append(
                    audits.audit(
                        network, name, budget=budget, count=share, corrected=corrected,
                        support=problem.support, seed=seed, progress=progress,
                    )
                )  # fmt: skip
            except OutOfTime:
                break
            if found[-1].checked < found[-1].requested:
                break
    there = _numbers(problem, [name for name, share in shares.items() if share != 0], size)
    return Audit(tuple(found), seed, sum(shares[name] or number for name, number in there.items()))


def _shares(
    network: Network, problem: Problem, names: Sequence[str], size: int, count: int
) -> dict[str, int | None]:
    """How many of `count` allocations each matrix gets: as even as their numbers allow."""
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
    # All of a matrix's allocations are gone through one by one, not drawn.
    return {name: None if shares[name] == there[name] else shares[name] for name in there}


def _numbers(problem: Problem, names: Sequence[str], size: int) -> dict[str, int]:
    """How many allocations of so many weights each matrix has."""
    there = {}
    for name in names:
        rows, columns = problem.network.shapes[name]
        mask = problem.support.get(name)
        there[name] = comb(rows * columns if mask is None else int((mask != 0).sum()), size)
    return there


def atlas(
    question: Question | Network,
    budget: int,
    *,
    matrices: Sequence[str] | None = None,
    store: Path | None = None,
    search: float = 2.0,
    transposition: bool = False,
    timeout: float = math.inf,
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
        (`algebra.problems.symmetry`).
    timeout : float, optional
        Seconds for the whole call; the orbits certified by then are reported (and kept).
    seed : int, optional
    progress : callable, optional
        Told (done, all) after each orbit.

    Returns
    -------
    Atlas
    """
    problem = network_of(question)
    positive_seconds(timeout, "timeout")
    problem.network.check_verb("atlas")
    problem.need_generic("atlas")
    if problem.distribution.signs:
        raise InputError(
            "atlas has one verdict for allocations that differ by the order of units, and signs "
            "tell these apart: leave signs out of [distribution], or certify single allocations"
        )
    with limited(timeout):
        return atlases.atlas(
            problem.network,
            whole_number(budget, "budget", 1),
            matrices=matrices,
            support=problem.support,
            transposition=transposition,
            seed=seed,
            decide=lambda p: certify(p, seed=seed, search=search),
            store=store,
            progress=progress,
        )
