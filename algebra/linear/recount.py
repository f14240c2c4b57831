"""The generic root count made again, by other routes: for verification.

Small cores by SymPy's Gröbner bases; else another form, or the same one without deferred
blocks, by msolve modulo a new prime; where msolve is missing or too slow, numerically.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

import numpy as np
import sympy
from sympy.polys.orderings import grevlex

from algebra.linalg.modular import random_prime
from algebra.polynomials.msolve.process import MsolveMissing
from algebra.polynomials.msolve.solver import MsolveFailed, MsolveTimeout, quotient_degree
from algebra.problems.allocation import Allocation
from algebra.systems.core import Core
from algebra.systems.forms import preferred_forms
from algebra.systems.instances import modular_core
from algebra.systems.root_count import RootCounter, RootCountError

# SymPy's Gröbner bases are quick enough below these sizes.
_SYMPY_UNKNOWNS, _SYMPY_ROOTS = 3, 8


def recount(
    target: Allocation,
    support: Mapping[str, np.ndarray],
    core: Core,
    p: int,
    *,
    seed: int,
    timeout: float,
    fallback: RootCounter | None = None,
) -> tuple[int | None, str]:
    """N by another route than `algebra.systems.root_count` takes.

    Parameters
    ----------
    target : Allocation
    support : mapping of str to mask
    core : Core
        Of a random instance modulo p, in the preferred form.
    p : int
        A prime that the certificate did not use.
    seed : int
        Other instances follow from it.
    timeout : float
        Seconds for each Gröbner basis.
    fallback : callable, optional
        Counts where msolve is missing or does not finish.

    Returns
    -------
    count : int or None
        None where no route came to an end.
    how : str
        The route, or why there is none.
    """
    if len(core.unknowns) <= _SYMPY_UNKNOWNS and core.bezout <= _SYMPY_ROOTS:
        return sympy_degree(core, p), f"modulo {p} by SymPy's Gröbner basis"
    routes: list[tuple[Core, str]] = [(core, "the same form")]
    plain, _ = modular_core(target, p, seed, core.system.form, support, defer=False)
    if len(plain.unknowns) <= 2 * len(core.unknowns):
        routes.insert(0, (plain, f"the {core.system.form} form, no block deferred"))
    for form in preferred_forms(target.network, target):
        if form == core.system.form:
            continue
        other, _ = modular_core(target, p, seed, form, support)
        if len(other.unknowns) <= 2 * len(core.unknowns):
            routes.insert(0, (other, f"the {form} form"))
    for system, how in routes:
        try:
            degree = quotient_degree(system.equations, timeout=max(1, round(timeout))).degree
        except (MsolveTimeout, MsolveFailed):
            continue
        except MsolveMissing as missing:
            return _by_trace_test(target, support, seed, fallback, str(missing))
        return degree, f"modulo {p} in {how}"
    why = f"counting it took more than {timeout:g} s"
    return _by_trace_test(target, support, seed, fallback, why)


def _by_trace_test(
    target: Allocation,
    support: Mapping[str, np.ndarray],
    seed: int,
    fallback: RootCounter | None,
    why: str,
) -> tuple[int | None, str]:
    """N by the numerical counter, where there is one."""
    if fallback is None:
        return None, why
    try:
        found = fallback(target, support, seed + 7_777_777)
    except RootCountError as error:
        return None, f"{why}; {error}"
    return found.value, f"by {found.how} ({why})"


def prime_not_in(used: list[int], rng: random.Random) -> int:
    """A random prime that was not used before."""
    while True:
        p = random_prime(rng)
        if p not in used:
            return p


def sympy_degree(core: Core, p: int) -> int:
    """Dimension of the quotient algebra, by SymPy's Gröbner basis over GF(p)."""
    symbols = [sympy.Symbol(f"x{k}") for k in range(len(core.unknowns))]
    polynomials = [
        sympy.Poly(
            {tuple(map(int, m)): int(c) for m, c in e.to_dict().items()}, *symbols, modulus=p
        )
        for e in core.equations
    ]
    basis = sympy.groebner(polynomials, *symbols, modulus=p, order="grevlex")
    leading = [g.monoms(order=grevlex)[0] for g in basis.polys]
    return _under_staircase(leading, len(symbols))


def _under_staircase(leading: list[tuple[int, ...]], unknowns: int) -> int:
    """Number of monomials that no leading monomial divides."""
    todo, seen = [(0,) * unknowns], set()
    while todo:
        monomial = todo.pop()
        if monomial in seen or any(
            all(a <= b for a, b in zip(lead, monomial, strict=True)) for lead in leading
        ):
            continue
        seen.add(monomial)
        todo += [(*monomial[:k], monomial[k] + 1, *monomial[k + 1 :]) for k in range(unknowns)]
    return len(seen)
