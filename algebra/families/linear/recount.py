"""The generic root count computed again by other methods, for verification.

Small cores are counted by the Gröbner bases of
`algebra.polynomials.buchberger`; others by minors in the powers of a recurrent
matrix, as labels in the weights alone (`algebra.families.linear.recount`), in another form, or
in the same one without deferred blocks, by msolve modulo a new prime; if msolve is missing or too
slow, numerically.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from algebra.certificates.checks import PROBABLE, PROVED, UNFINISHED, CheckFailed, Say
from algebra.certificates.root_evidence import RootEvidence
from algebra.families.linear.arguments.argument import Claimed
from algebra.families.linear.rows import count_by_minors, sides
from algebra.linalg.modular import Residues, modular_echelon
from algebra.networks.base import Support
from algebra.networks.chain import need_chain
from algebra.polynomials.buchberger import quotient_dimension
from algebra.polynomials.msolve.process import MsolveFailed, MsolveMissing, MsolveTimeout
from algebra.polynomials.msolve.solver import quotient_degree
from algebra.polynomials.rings import PrimeField
from algebra.problems.allocation import Allocation
from algebra.problems.laws.values import pins, prime_for
from algebra.problems.problem import Problem
from algebra.ranks.jacobian import random_point
from algebra.systems.core import Core
from algebra.systems.forms import DIRECT, forms, preferred_form, preferred_forms
from algebra.systems.instances import ModularInstance, modular_core, modular_instance
from algebra.systems.root_count import RootCounter, RootCountError, has_short_labels

# Buchberger's algorithm is fast enough below these sizes.
_FEW_UNKNOWNS = 3
_FEW_ROOTS = 8
# With more unknowns the labels in the weights alone are tried before other forms.
_MANY_UNKNOWNS = 10


@dataclass(frozen=True)
class Recount:
    """The result of counting again.

    Attributes
    ----------
    value : int or None
        None if no method finished.
    how : str
        The method, or the reason why none finished.
    is_proved : bool
        Whether it is proved; otherwise it is a count modulo a prime, or a numerical one.
    at_least : int or None
        The number of solutions found, if no method finished.
    """

    value: int | None
    how: str
    is_proved: bool = False
    at_least: int | None = None


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
    found = recount_again(
        target, problem.student(), roots.primes, seed=claimed.seed, timeout=claimed.seconds,
        fallback=claimed.effort.tools.root_counter,
    )  # fmt: skip
    if found.at_least is not None and found.at_least > value:
        text = f"at least {found.at_least} solutions were found ({found.how}), not {value}"
        raise CheckFailed(place, text)
    if found.value is None:
        text = f"N = {value} ({roots.source}); not counted again: {found.how}"
        claimed.say(place, UNFINISHED, text)
        return UNFINISHED
    if found.value != value:
        raise CheckFailed(place, f"counted again, {found.how}: {found.value}, not {value}")
    status = PROVED if found.is_proved else PROBABLE
    claimed.say(place, status, f"N = {value} again, {found.how}")
    return status


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
    false file has to try the square of the number of files (see `algebra.certificates.reading`),
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

    If only the recurrent matrix W learns: if the linear part of `algebra.families.linear.rows`
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
    tried first.  A core that elimination solves counts as 1; one with unknowns but no equations
    gives no count.  If only a recurrent matrix learns, minors in few unknowns
    (`algebra.families.linear.rows`) are tried before the large systems of the other forms; so are
    the labels if there are fewer weights than unknowns.
    """
    plain, _ = modular_core(target, p, seed, core.system.form, support, defer=False)
    for system in (plain, core):
        if system.equations and _is_small(system):
            count = quotient_dimension(system.equations)
            if count:
                return Recount(count, f"modulo {p} by Buchberger's algorithm")
    instance, seconds = modular_instance(target, p, seed, support), max(1, round(timeout))
    counters: list[tuple[Callable[[ModularInstance, int], int | None], str]] = [
        (partial(count_by_minors, seed=seed), f"minors in the powers of {target.matrices[0]}")
    ]
    if target.size < len(core.unknowns) > _MANY_UNKNOWNS:
        counters.append((count_by_labels, "labels in the weights alone"))
    for counter, how in counters:
        try:
            value = counter(instance, seconds)
        except (MsolveTimeout, MsolveFailed):
            continue
        except MsolveMissing as missing:
            return _by_trace_test(target, support, seed, fallback, str(missing))
        if value:
            return Recount(value, f"modulo {p} by {how}")
    routes: list[tuple[Core, str]] = [(core, "the same form")]
    if len(plain.unknowns) <= 2 * len(core.unknowns):
        routes.insert(0, (plain, f"the {core.system.form} form, no block deferred"))
    for form in preferred_forms(target.network, target):
        if form == core.system.form:
            continue
        other, _ = modular_core(target, p, seed, form, support)
        if len(other.unknowns) <= 2 * len(core.unknowns):
            routes.insert(0, (other, f"the {form} form"))
    for system, how in routes:
        if system.is_linear:
            return Recount(1, f"modulo {p} in {how}: elimination leaves no equation")
        if not system.equations:
            continue
        try:
            degree = quotient_degree(system.equations, timeout=seconds).degree
        except (MsolveTimeout, MsolveFailed):
            continue
        except MsolveMissing as missing:
            return _by_trace_test(target, support, seed, fallback, str(missing))
        if degree is not None and degree > 0:
            return Recount(degree, f"modulo {p} in {how}")
    why = f"counting it took more than {timeout:g} s"
    return _by_trace_test(target, support, seed, fallback, why)


def _is_small(core: Core) -> bool:
    return len(core.unknowns) <= _FEW_UNKNOWNS and core.bezout <= _FEW_ROOTS


def _by_trace_test(
    target: Allocation,
    support: Mapping[str, np.ndarray],
    seed: int,
    fallback: RootCounter | None,
    why: str,
) -> Recount:
    """N by the numerical counter, if there is one."""
    if fallback is None or pins(support):
        # A numerical counter does not support exact numbers.
        return Recount(None, why)
    try:
        found = fallback(target, support, seed + 7_777_777)
    except RootCountError as error:
        return Recount(None, f"{why}; {error}", at_least=error.at_least)
    return Recount(found.value, f"by {found.how} ({why})")


def prime_not_in(used: Sequence[int], rng: random.Random, support: Support | None = None) -> int:
    """A random prime that was not used before, for the exact numbers of a student, if any."""
    while True:
        p = prime_for(support, rng)
        if p not in used:
            return p


def counted_modulo(
    claimed: int,
    used: Sequence[int],
    what: str,
    count: Callable[[int, random.Random], int | None],
    seed: int,
    place: str,
    say: Say,
) -> str:
    """A number counted again modulo a random prime that was not used.

    Parameters
    ----------
    claimed : int
    used : sequence of int
        Primes that the certificate has used.
    what : str
        What is counted; it determines prime and instance together with the seed.
    count : callable
        Takes the prime and a random stream; None if there are not finitely many, or not simple
        ones.
    seed : int
    place : str
    say : callable
        Takes place, status and text of what was found.

    Returns
    -------
    str
        "probable" or "unfinished".

    Raises
    ------
    CheckFailed
        If there are not as many.
    """
    rng = random.Random(f"recount of {what}/{seed}")
    p = prime_not_in(used, rng)
    try:
        found = count(p, rng)
    except (RootCountError, MsolveTimeout, MsolveFailed, MsolveMissing) as error:
        say(place, UNFINISHED, f"{what}: {claimed}; not counted again: {error}")
        return UNFINISHED
    if found != claimed:
        number = "infinitely many or multiple ones" if found is None else found
        raise CheckFailed(place, f"{what} counted again modulo {p}: {number}, not {claimed}")
    say(place, PROBABLE, f"{what}: {found} again, modulo {p} at another instance")
    return PROBABLE


def count_by_labels(instance: ModularInstance, seconds: int) -> int | None:
    """N as the degree of the ideal of the labels minus the student's own.

    The labels are polynomials in the learnable weights alone, and linear in the samples, so an
    invertible combination of the samples does not change the solutions.  Combinations are used that
    contain as few inputs of early steps as possible: those labels have a lower degree in a
    recurrent matrix.

    Parameters
    ----------
    instance : ModularInstance
        The student is its own teacher.
    seconds : int
        Time for msolve; its errors are raised.

    Returns
    -------
    int or None
        None if the network is not linear, the labels would be too long, or the ideal has infinitely
        many zeros.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> from algebra.problems.allocation import Allocation
    >>> from algebra.systems.instances import modular_instance
    >>> net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> diagonal = Allocation.from_cells(net, [("W", 0, 0), ("W", 1, 1)])
    >>> count_by_labels(modular_instance(diagonal, 65521, 0), 10)
    2
    """
    equations = label_equations(instance)
    return quotient_degree(equations, timeout=seconds).degree if equations else None


def label_equations(instance: ModularInstance) -> list[Any]:
    """Labels of combined samples minus their values for the student; [] if they are too long."""
    return polynomial_weights(instance)[2] if has_short_labels(instance.allocation) else []


def polynomial_weights(
    instance: ModularInstance,
) -> tuple[dict[str, np.ndarray], list[int], list[Any]]:
    """Weights whose learnable entries are unknowns, and the equations of the labels.

    Parameters
    ----------
    instance : ModularInstance
        Of a linear network.

    Returns
    -------
    weights : dict of str to ndarray of nmod_mpoly
    root : list of int
        The student's own learnable weights.
    equations : list of nmod_mpoly
        Labels of combined samples minus their values for the student, without constants.
    """
    allocation, p = instance.allocation, instance.p
    ring = PrimeField(p).context([f"w{k}" for k in range(allocation.size)])
    constant = np.frompyfunc(lambda value: ring.constant(int(value)), 1, 1)
    weights = {name: constant(value) for name, value in instance.weights.items()}
    root = []
    for (name, i, j), unknown in zip(allocation.cells, ring.gens(), strict=True):
        root.append(int(instance.weights[name][i, j]))
        weights[name][i, j] = unknown
    labels = allocation.network.forward(weights, constant(_combined(instance.X, p)))
    equations = [y - y(*root) for y in np.asarray(labels).ravel() if not y.is_constant()]
    return weights, root, equations


def _combined(X: Residues, p: int) -> Residues:
    """The samples in echelon form: sample k is 0 up to its own pivot."""
    return modular_echelon(X.T % p, p)[0].T
