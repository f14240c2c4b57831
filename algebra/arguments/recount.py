"""The generic root count computed again by other methods, for verification.

Small cores are counted by the Gröbner bases of `algebra.polynomials.buchberger`, others as
`algebra.arguments.large_recount` says.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from algebra.arguments.argument import Claimed
from algebra.arguments.rows import sides
from algebra.checker.checks import PROBABLE, PROVED, UNFINISHED, CheckFailed
from algebra.checker.root_evidence import Recount, RootEvidence
from algebra.checker.statements import Statement, StatementShown
from algebra.networks.chain import need_chain
from algebra.polynomials.buchberger import quotient_dimension
from algebra.problems.allocation import Allocation
from algebra.problems.laws.pinned import pins, prime_for, prime_not_in
from algebra.problems.problem import Problem
from algebra.ranks.jacobian import random_point
from algebra.systems.core import Core
from algebra.systems.forms import DIRECT, forms, preferred_form
from algebra.systems.instances import modular_core

if TYPE_CHECKING:
    from algebra.systems.root_count import RootCounter

# Buchberger's algorithm is fast enough below these sizes.
_FEW_UNKNOWNS = 3
_FEW_ROOTS = 8


def check_root_count(
    problem: Problem, target: Allocation, roots: RootEvidence, claimed: Claimed
) -> str:
    """N is the number of complex solutions of a generic instance: counted again.

    Parameters
    ----------
    problem : Problem
    target : Allocation
        What learns, or a part of it: ρ weights of rank ρ.
    roots : RootEvidence
    claimed : Claimed

    Returns
    -------
    str
        "proved", "probable" or "unfinished".

    Raises
    ------
    CheckFailed
    """
    place, value = "evidence.root_count", roots.value
    if target.size != claimed.equations:
        text = f"{target.size} weights for {claimed.equations} equations: N is not finite"
        raise CheckFailed(place, text)
    if roots.form not in (*forms(target.network, target), DIRECT.name):
        raise CheckFailed(f"{place}.form", f"{roots.form!r} does not fit the network")
    again = partial(
        recount_again, target, problem.student(), roots.primes, seed=claimed.seed,
        timeout=claimed.seconds, fallback=claimed.effort.root_counter,
    )  # fmt: skip
    return SolutionCount(place, value, again, roots.source).stated(claimed.seed, claimed.say)


@dataclass(frozen=True)
class SolutionCount(Statement):
    """N is the number of complex solutions of a generic instance, for weights of full rank.

    Attributes
    ----------
    place : str
    value : int
        The claimed N.
    again : callable
        Counts again, with the seed of the check.
    source : str
        Where the claim comes from, in words.
    """

    place: str
    value: int
    again: Callable[[], Recount]
    source: str

    def check(self, seed: int = 0) -> StatementShown:
        found, value = self.again(), self.value
        if found.at_least is not None and found.at_least > value:
            text = f"at least {found.at_least} solutions were found ({found.how}), not {value}"
            raise CheckFailed(self.place, text)
        if found.value is None:
            text = f"N = {value} ({self.source}); not counted again: {found.how}"
            return StatementShown(UNFINISHED, text)
        if found.value != value:
            text = f"counted again, {found.how}: {found.value}, not {value}"
            raise CheckFailed(self.place, text)
        status = PROVED if found.is_proved else PROBABLE
        return StatementShown(status, f"N = {value} again, {found.how}")


def recount_again(
    target: Allocation,
    support: Mapping[str, np.ndarray],
    used: Sequence[int],
    *,
    seed: int,
    timeout: float,
    fallback: RootCounter | None = None,
) -> Recount:
    """N of ρ weights of rank ρ by another method than that of `algebra.systems.root_count`.

    Parameters
    ----------
    target : Allocation
    support : mapping of str to mask
    used : sequence of int
        Primes that the certificate has used.
    seed : int
        It determines primes and instances.
    timeout : float
        Seconds for each Gröbner basis.
    fallback : callable, optional
        Counts if msolve is missing or does not finish.

    Returns
    -------
    Recount

    Notes
    -----
    The count is repeated modulo a second prime if it takes milliseconds, so that whoever makes a
    false file has to try the square of the number of files (see `algebra.checker.reading`),
    and if weights have exact numbers, which somebody chose.
    """
    why_one = one_solution(target, support, seed)
    if why_one:
        return Recount(1, why_one, is_proved=True)
    rng, known = random.Random(f"recount/{seed}"), list(used)
    found: list[Recount] = []
    while True:
        p = prime_not_in(known, rng, support)
        known.append(p)
        core, _ = modular_core(target, p, seed, preferred_form(target), support)
        if core.is_linear:
            how = f"elimination of a random instance modulo {p} leaves no equation"
            found.append(Recount(1, how))
        else:
            found.append(
                recount(target, support, core, p, seed=seed, timeout=timeout, fallback=fallback)
            )
        # No count is too large (`algebra.ranks.root_count_error`): the larger one of two is right.
        best = max(found, key=lambda one: (one.value is None, one.value or 0))
        is_easy = core.is_linear or _is_small(core) or bool(pins(support))
        if best.value is None or len(found) == (2 if is_easy else 1):
            return replace(best, how=" and ".join(dict.fromkeys(one.how for one in found)))


def one_solution(target: Allocation, support: Mapping[str, np.ndarray], seed: int) -> str:
    """The reason why ρ weights of rank ρ have N = 1, if linear algebra proves it; otherwise "".

    Parameters
    ----------
    target : Allocation
    support : mapping of str to mask
    seed : int
        It determines a random point.

    Notes
    -----
    If one matrix learns that acts once, the labels are affine in the weights, and of full rank.

    If only the recurrent matrix W learns: if the linear part of `algebra.arguments.rows`
    determines the F_t at one point modulo a prime, it does so for generic weights.  Then row i of W
    solves a linear system; if its learning part is determined at the point, it is so for generic
    weights.
    Hence N ≤ 1; and N ≥ 1, since the rank is ρ.  The same holds with the columns of W."""
    if target.network.affine_in(target.matrices):
        return f"the labels are affine in {', '.join(target.matrices)}, of full rank"
    if target.network.chain() is None:
        return ""
    network = need_chain(target.network)
    chain = network.chain()
    W = chain.recurrent
    if W is None or chain.start is None or target.matrices != (W,):
        return ""
    rng = random.Random(f"one/{seed}")
    point = random_point(network, prime_for(support, rng), rng.randrange(1 << 32), support)
    U = network.drive(point.X) % point.p
    rows, columns = sides(chain, point.weights, U, target.masks[W], point.p)
    if rows.is_determined():
        return f"linear equations determine the powers of {W} times {chain.start}, then its rows"
    if columns.is_determined():
        return (
            f"linear equations determine {chain.output} times the powers of {W}, then its columns"
        )
    return ""


def recount(
    target: Allocation,
    support: Mapping[str, np.ndarray],
    core: Core,
    p: int,
    *,
    seed: int,
    timeout: float,
    fallback: RootCounter | None = None,
) -> Recount:
    """N from the cores of a random instance modulo p, small ones by Buchberger's algorithm.

    Parameters
    ----------
    target : Allocation
    support : mapping of str to mask
    core : Core
        The core of a random instance modulo p, in the preferred form.
    p : int
        A prime that the certificate did not use.
    seed : int
        It determines other instances.
    timeout : float
        Seconds for each Gröbner basis.
    fallback : callable, optional
        Counts if msolve is missing or does not finish.

    Returns
    -------
    Recount

    Notes
    -----
    A core with deferred blocks may have roots without weights: cores without deferred blocks are
    tried first.
    """
    plain, _ = modular_core(target, p, seed, core.system.form, support, defer=False)
    for system in (plain, core):
        if system.equations and _is_small(system):
            count = quotient_dimension(system.equations)
            if count:
                return Recount(count, f"modulo {p} by Buchberger's algorithm")
    # Loaded here: most counts are small.
    from algebra.arguments.large_recount import recount_large

    return recount_large(
        target, support, plain, core, p, seed=seed, timeout=timeout, fallback=fallback
    )


def _is_small(core: Core) -> bool:
    return len(core.unknowns) <= _FEW_UNKNOWNS and core.bezout <= _FEW_ROOTS
