"""Root counts of larger cores, and of other ideals, counted again for verification.

N is counted by minors in the powers of a recurrent matrix (`algebra.arguments.row_minors`), as
labels in the weights alone, in another form, or in the same one without deferred blocks, by msolve
modulo a new prime; if msolve is missing or too slow, numerically.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from algebra.arguments.row_minors import count_by_minors
from algebra.checker.checks import PROBABLE, UNFINISHED, CheckFailed, Say
from algebra.checker.root_evidence import Recount
from algebra.linalg.echelon import modular_echelon
from algebra.linalg.residues import Residues
from algebra.polynomials.msolve.process import MsolveFailed, MsolveMissing, MsolveTimeout
from algebra.polynomials.msolve.solver import quotient_degree
from algebra.polynomials.rings import PrimeField
from algebra.problems.allocation import Allocation
from algebra.problems.laws.pinned import pins, prime_not_in
from algebra.systems.core import Core
from algebra.systems.forms import preferred_forms
from algebra.systems.instances import ModularInstance, modular_core, modular_instance
from algebra.systems.root_count import RootCounter, RootCountError, has_short_labels

# With more unknowns the labels in the weights alone are tried before other forms.
_MANY_UNKNOWNS = 10


def recount_large(
    target: Allocation,
    support: Mapping[str, np.ndarray],
    plain: Core,
    core: Core,
    p: int,
    *,
    seed: int,
    timeout: float,
    fallback: RootCounter | None = None,
) -> Recount:
    """N from the core of a random instance modulo p that is not small.

    Parameters
    ----------
    target : Allocation
    support : mapping of str to mask
    plain, core : Core
        Without deferred blocks, and with them.
    p, seed, timeout, fallback
        See `algebra.arguments.recount.recount`.

    Notes
    -----
    A core that elimination solves counts as 1; one with unknowns but no equations gives no count.
    If only a recurrent matrix learns, minors in few unknowns are tried before the large systems of
    the other forms; so are the labels if there are fewer weights than unknowns.
    """
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
