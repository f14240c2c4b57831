"""Verdicts on what the match probability of large networks tends to, for their atlas.

A limit consists of one or more systems of kind ``limit`` (`algebra.systems.growth`): MP tends to
the probability that one of them has a real solution.  So a *maximal* system, or one with an odd
number of solutions, decides the whole; if there is one system, its verdict is that of the limit.
Else nothing follows: systems that are intermediate one by one may have their real solutions on
instances that together are all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from algebra.certificates.certificate import Certificate
from algebra.checker.verdicts import MAXIMAL, UNDECIDED
from algebra.problems.problem import Problem
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.systems.growth import Limit, LimitUnknown, limit_of


@dataclass(frozen=True)
class LimitVerdict:
    """What is proved of a limit; `verdict`, `rule`, `rank` and N as those of a certificate.

    Attributes
    ----------
    verdict, rule : str
    rank : int
        Of the networks with the problem's number of units.
    generic_root_count : int or None
        The number of solutions of all systems together; None if only some were found.
    limit : Limit or None
        None if the growths of the solutions are not known.
    """

    verdict: str
    rule: str
    rank: int
    generic_root_count: int | None
    limit: Limit | None


def limit_verdict(
    problem: Problem, decide: Callable[[Problem], Certificate], seed: int = 0
) -> LimitVerdict:
    """What is proved of the match probability as the number of hidden units grows.

    Parameters
    ----------
    problem : Problem
        Of kind ``lrnn``.
    decide : callable
        Certifies one problem.
    seed : int, optional

    Examples
    --------
    >>> from algebra.families.certify import certify
    >>> from algebra.networks.recurrent import LinearRNN
    >>> net = LinearRNN(n=3, T=2, b=1, d=1, m=2)
    >>> path = Problem(net, {"W": [[0, 1, 0], [0, 0, 1], [0, 0, 0]]})
    >>> limit_verdict(path, certify).verdict
    'maximal'
    """
    whole = network_rank(problem.network, None, seed).rank
    rank = allocation_rank(problem.allocation, None, whole, seed).rank
    try:
        found = limit_of(problem, seed=seed)
    except LimitUnknown:
        return LimitVerdict(UNDECIDED, "growths not known", rank, None, None)
    parts = found.deciding
    proofs = [decide(part) for part in parts if part.teacher is None]
    sure = [proof for proof in proofs if proof.verdict == MAXIMAL]
    if sure or len(parts) == len(proofs) == 1:
        (proof, *_) = sure or proofs
        verdict, rule, N = proof.verdict, proof.rule, proof.generic_root_count
    elif found.odd:
        verdict, rule, N = MAXIMAL, "odd growth", None
    else:
        rule = "labels that are 0" if len(parts) == 1 else f"{len(parts)} systems"
        verdict, N = UNDECIDED, sum(found.counts)
    return LimitVerdict(verdict, rule, rank, N, found)
