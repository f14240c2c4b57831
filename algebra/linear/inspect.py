"""Inspection: which equations an allocation leads to, and how they hang together.

For each lifted form: how many equations are linear and quadratic, which parts hold too
many equations or too few, the block triangular form, and the core that exact elimination
leaves.  Sizes are those of a generic instance: elimination runs at a random point over
GF(p).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from algebra.linalg.modular import Residues, random_prime
from algebra.linalg.rational import Rationals
from algebra.networks.chain import need_chain
from algebra.phases import phase
from algebra.polynomials.rings import RationalField, SymbolicRing
from algebra.problems.allocation import Allocation
from algebra.problems.instance_files import GivenNumbers
from algebra.ranks.budgets.cover import budget_violations, budgets
from algebra.systems.core import Core
from algebra.systems.elimination import eliminate
from algebra.systems.forms import preferred_forms, unknown_count
from algebra.systems.incidence import block_triangular_form
from algebra.systems.inspection import BlockSummary, FormReport, Inspection
from algebra.systems.instances import ModularInstance, modular_instance
from algebra.systems.modular_elimination import eliminate_modular
from algebra.systems.system import (
    PolynomialSystem,
    QuadraticSystem,
    build_system,
    quadratic_system,
    symbolic_system,
)

# Forms with more unknowns or equations than this are described by their sizes only.
LARGEST, MOST_EQUATIONS = 4000, 40_000


def inspect_linear(
    allocation: Allocation,
    support: Mapping[str, np.ndarray],
    *,
    seed: int = 0,
    all_forms: bool = False,
) -> Inspection:
    """Structure report of an allocation of a linear network.

    Parameters
    ----------
    allocation : Allocation
    support : mapping of str to mask
    seed : int, optional
        The random point follows from it.
    all_forms : bool, optional
        Eliminate every form, not only the one with the smaller core.

    Returns
    -------
    Inspection
    """
    p = random_prime(random.Random(f"inspect/{seed}"))

    # Drawn where it is used: not where every form is too large to be written out.
    @cache
    def instance() -> ModularInstance:
        return modular_instance(allocation, p, seed, support, key="inspect", teacher=True)

    reports, skipped = _reports(
        allocation, all_forms, lambda form: _report(instance().system(form))
    )
    return Inspection(
        allocation=allocation,
        prime=p,
        forms=reports,
        skipped=skipped,
        budgets=budgets(allocation),
        violations=budget_violations(allocation),
    )


def inspect_numbers(numbers: GivenNumbers, *, seed: int = 0, all_forms: bool = False) -> Inspection:
    """Structure report of one instance: its own equations, eliminated over Q.

    Parameters
    ----------
    numbers : GivenNumbers
        Of a network that is a matrix chain.
    seed, all_forms : optional
        As for `inspect_linear`.

    Notes
    -----
    Which terms occur is read off modulo a prime that divides no numerator and no denominator of a
    coefficient: such a prime shows the very terms that there are over Q.
    """
    allocation = numbers.problem.allocation
    need_chain(allocation.network)
    p = 0

    def report(form: str) -> FormReport:
        nonlocal p
        whole = build_system(
            allocation, numbers.weights, numbers.X, numbers.Y, RationalField(), form
        )
        p, system = _faithful(whole, numbers, form, seed)
        return _report(system, eliminate(whole))

    reports, skipped = _reports(allocation, all_forms, report)
    return Inspection(
        allocation=allocation,
        prime=p,
        forms=reports,
        skipped=skipped,
        budgets=budgets(allocation),
        violations=(),
        labels="the teacher's" if numbers.has_teacher else "given",
    )


def _reports(
    allocation: Allocation, all_forms: bool, report: Callable[[str], FormReport]
) -> tuple[tuple[FormReport, ...], tuple[str, ...]]:
    """The forms that are eliminated, and why others are not."""
    reports: list[FormReport] = []
    skipped: list[str] = []
    for rank, form in enumerate(preferred_forms(allocation.network, allocation)):
        if rank and not all_forms:
            skipped.append(f"{form} form: its core is larger (ask for it with --all-forms)")
            continue
        unknowns = unknown_count(allocation, form)
        if unknowns > LARGEST:
            skipped.append(
                f"{form} form: {unknowns} unknowns, more than {LARGEST}: not written out"
            )
            continue
        if (labels := allocation.network.outputs) > MOST_EQUATIONS:
            skipped.append(
                f"{form} form: an equation for each of {labels} labels, more than "
                f"{MOST_EQUATIONS}: not written out"
            )
            continue
        with phase(f"elimination of the {form} form ({unknowns} unknowns)"):
            reports.append(report(form))
    return tuple(reports), tuple(skipped)


def _faithful(
    whole: PolynomialSystem, numbers: GivenNumbers, form: str, seed: int
) -> tuple[int, QuadraticSystem]:
    """The system modulo a prime that keeps every term."""
    terms = sum(len(e.monoms()) if hasattr(e, "monoms") else e != 0 for e in whole.equations)
    rng = random.Random(f"inspect/{seed}")
    while True:
        p = random_prime(rng)
        try:
            weights = {name: _residues(value, p) for name, value in numbers.weights.items()}
            X, Y = _residues(numbers.X, p), _residues(numbers.Y, p)
        except ValueError:  # it divides a denominator
            continue
        system = quadratic_system(numbers.problem.allocation, weights, X, Y, p, form)
        if int(system.equations.terms) == terms:
            return p, system


def _residues(values: Rationals, p: int) -> Residues:
    out = np.empty(values.shape, np.int64)
    for at, value in np.ndenumerate(values):
        out[at] = int(value.p) * pow(int(value.q), -1, p) % p
    return out


def _report(system: QuadraticSystem, core: Core | None = None) -> FormReport:
    system = system.without_identities()
    equations, unknowns = system.equations, len(system.unknowns)
    triangular = block_triangular_form(equations.patterns(), unknowns)
    block_of = np.full(len(system), -1)
    own = np.full(unknowns, -2)
    for k, block in enumerate(triangular.blocks):
        block_of[list(block.equations)] = k
        own[list(block.unknowns)] = k
    linear = equations.degree_in(own[None, :] == block_of[:, None]) <= 1
    blocks = []
    for block in triangular.blocks:
        size, straight = len(block.equations), int(linear[list(block.equations)].sum())
        blocks.append(BlockSummary(size, straight, size - straight))
    core = core or eliminate_modular(system)
    core_triangular = block_triangular_form(core.patterns, len(core.unknowns))
    terms, possible = core.density
    return FormReport(
        form=system.form,
        equations=len(system),
        unknowns=unknowns,
        weights=system.weights,
        by_degree=dict(sorted(Counter(equations.degrees.tolist()).items())),
        overdetermined=_sizes(triangular.overdetermined),
        underdetermined=_sizes(triangular.underdetermined),
        blocks=tuple(blocks),
        core_equations=core.equation_count,
        core_unknowns=len(core.unknowns),
        core_degree=max(core.degrees, default=0),
        bezout=core.bezout,
        terms=terms,
        possible_terms=possible,
        core_blocks=tuple(len(b.unknowns) for b in core_triangular.blocks),
        deferred=tuple(map(len, core.deferred_unknowns)),
        consistent=core.consistent,
        system=system,
        triangular=triangular,
    )


def _sizes(part: Any) -> tuple[int, int]:
    return len(part.equations), len(part.unknowns)


def linear_equations(
    found: Inspection, support: Mapping[str, np.ndarray]
) -> tuple[str, list[tuple[str, Any]]] | None:
    """The equations of the first form of a report, in SymPy: symbols for all data."""
    if not found.forms:
        return None
    system = symbolic_system(found.allocation, found.forms[0].form, support)
    pairs = list(zip(system.labels, system.equations, strict=True))
    return f"Equations of the {system.form} form", pairs


def numbers_equations(numbers: GivenNumbers, form: str) -> tuple[str, list[tuple[str, Any]]]:
    """The equations of one instance in one form, in SymPy."""
    system = build_system(
        numbers.problem.allocation, numbers.weights, numbers.X, numbers.Y, SymbolicRing(), form
    )
    pairs = list(zip(system.labels, system.equations, strict=True))
    return f"Equations of the {form} form, for the instance", pairs
