"""Inspection: which equations an allocation leads to, and how they hang together.

For each lifted form: how many equations are linear and quadratic, which parts hold too
many equations or too few, the block triangular form, and the core that exact elimination
leaves.  Sizes are those of a generic instance: elimination runs at a random point over
GF(p).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from algebra.linalg.modular import random_prime
from algebra.polynomials.rings import PrimeField
from algebra.problems.allocation import Allocation
from algebra.ranks.budgets.cover import budget_violations, budgets
from algebra.systems.elimination import CoreSystem, eliminate
from algebra.systems.incidence import block_triangular_form
from algebra.systems.inspection import BlockSummary, FormReport, Inspection
from algebra.systems.root_count import preferred_forms
from algebra.systems.system import (
    PolynomialSystem,
    build_system,
    symbolic_system,
    unknown_count,
)

# Forms with more unknowns than this are described by their sizes only.
LARGEST = 1500


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
    network = allocation.network
    rng = random.Random(f"inspect/{seed}")
    p = random_prime(rng)
    reports: list[FormReport] = []
    skipped: list[str] = []
    for rank, form in enumerate(preferred_forms(network, allocation)):
        if rank and not all_forms:
            skipped.append(f"{form} form: its core is larger (ask for it with --all-forms)")
            continue
        unknowns = unknown_count(allocation, form)
        if unknowns > LARGEST:
            skipped.append(
                f"{form} form: {unknowns} unknowns, more than {LARGEST}: not written out"
            )
            continue
        reports.append(_report(_generic_system(allocation, p, seed, form, support)))
    return Inspection(
        allocation=allocation,
        prime=p,
        forms=tuple(reports),
        skipped=tuple(skipped),
        budgets=budgets(allocation),
        violations=budget_violations(allocation),
    )


def _generic_system(
    allocation: Allocation, p: int, seed: int, form: str, support: Mapping[str, np.ndarray]
) -> PolynomialSystem:
    """The system of a random student, teacher and samples over GF(p)."""
    network, field = allocation.network, PrimeField(p)
    rng = random.Random(f"inspect/{p}/{seed}")
    weights, teacher = (
        {n: field.random_array(s, rng) for n, s in network.shapes.items()} for _ in range(2)
    )
    for matrices in (weights, teacher):
        for name, mask in support.items():
            matrices[name] = np.where(np.asarray(mask) != 0, matrices[name], field.constant(0))
    X = field.random_array(network.input_shape, rng)
    return build_system(allocation, weights, X, network.forward(teacher, X), field, form)


def _report(system: PolynomialSystem) -> FormReport:
    system = _without_identities(system)
    polynomials = system.equations
    patterns = [[k for k, d in enumerate(e.degrees()) if d > 0] for e in polynomials]
    triangular = block_triangular_form(patterns, len(system.unknowns))
    blocks = []
    for block in triangular.blocks:
        own = set(block.unknowns)
        degrees = [
            max(sum(m[k] for k in own) for m in polynomials[e].monoms()) for e in block.equations
        ]
        linear = sum(d <= 1 for d in degrees)
        blocks.append(BlockSummary(len(degrees), linear, len(degrees) - linear))
    core: CoreSystem = eliminate(system)
    core_triangular = block_triangular_form(core.patterns, len(core.unknowns))
    terms, possible = core.density
    return FormReport(
        form=system.form,
        equations=len(system.equations),
        unknowns=len(system.unknowns),
        weights=system.weights,
        by_degree=dict(sorted(Counter(int(e.total_degree()) for e in polynomials).items())),
        overdetermined=_sizes(triangular.overdetermined),
        underdetermined=_sizes(triangular.underdetermined),
        blocks=tuple(blocks),
        core_equations=len(core.equations),
        core_unknowns=len(core.unknowns),
        core_degree=max(core.degrees, default=0),
        bezout=core.bezout,
        terms=terms,
        possible_terms=possible,
        core_blocks=tuple(len(b.unknowns) for b in core_triangular.blocks),
        deferred=tuple(len(b.unknowns) for b in core.deferred),
        consistent=core.consistent,
        system=system,
        triangular=triangular,
    )


def _without_identities(system: PolynomialSystem) -> PolynomialSystem:
    """The system with polynomials only, and without equations that read 0 = 0.

    An equation c = 0 that holds no unknown stays: it belongs to an overdetermined part.
    """
    ring = system.ring.context(system.unknowns)
    kept = [
        (e if hasattr(e, "monoms") else ring.constant(e), label)
        for e, label in zip(system.equations, system.labels, strict=True)
        if e != 0
    ]
    return replace(
        system, equations=tuple(e for e, _ in kept), labels=tuple(label for _, label in kept)
    )


def _sizes(part: Any) -> tuple[int, int]:
    return len(part.equations), len(part.unknowns)


def linear_equations(
    found: Inspection, support: Mapping[str, np.ndarray]
) -> tuple[str, list[tuple[str, Any]]] | None:
    """The equations of the first form of a report, in SymPy."""
    if not found.forms:
        return None
    system = symbolic_system(found.allocation, found.forms[0].form, support)
    pairs = list(zip(system.labels, system.equations, strict=True))
    return f"Equations of the {system.form} form", pairs
