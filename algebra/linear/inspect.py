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
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from algebra.linalg.modular import random_prime
from algebra.networks.normalization import NormNet
from algebra.polynomials.rings import PrimeField
from algebra.problems.allocation import Allocation
from algebra.ranks.budgets.cover import Budget, Violation, budget_violations, budgets
from algebra.relu.pattern_lemmas import patterns_left_by_D3, patterns_left_by_D4
from algebra.relu.patterns import sample_pattern_ranks
from algebra.systems.elimination import CoreSystem, eliminate
from algebra.systems.incidence import BlockTriangularForm, block_triangular_form
from algebra.systems.root_count import preferred_forms
from algebra.systems.system import PolynomialSystem, build_system, unknown_count

# Forms with more unknowns than this are described by their sizes only.
LARGEST = 1500


@dataclass(frozen=True)
class BlockSummary:
    """One block of the triangular form.

    Attributes
    ----------
    size : int
        Equations, as many as unknowns.
    linear, quadratic : int
        Equations of degree at most 1, and higher, in the block's own unknowns.
    """

    size: int
    linear: int
    quadratic: int


@dataclass(frozen=True)
class FormReport:
    """One form of the system, before and after elimination.

    Attributes
    ----------
    form : str
    equations, unknowns, weights : int
        Before elimination, without 0 = 0; `weights` of the unknowns are learnable weights.
    by_degree : dict of int to int
        Equations by total degree; degree 0 is a contradiction.
    overdetermined, underdetermined : (int, int)
        Equations and unknowns of these parts of the Dulmage–Mendelsohn decomposition.
    blocks : tuple of BlockSummary
        The square part, in solving order.
    core_equations, core_unknowns, core_degree : int
    bezout : int
        Bézout bound of the core.
    terms, possible_terms : int
        Sparsity of the core.
    core_blocks : tuple of int
        Sizes of the core's blocks.
    deferred : tuple of int
        Sizes of the linear blocks put aside.
    consistent : bool
        False where elimination meets 1 = 0.
    system : PolynomialSystem
        The equations counted, over GF(p).
    triangular : BlockTriangularForm
        Of `system`, by position.
    """

    form: str
    equations: int
    unknowns: int
    weights: int
    by_degree: Mapping[int, int]
    overdetermined: tuple[int, int]
    underdetermined: tuple[int, int]
    blocks: tuple[BlockSummary, ...]
    core_equations: int
    core_unknowns: int
    core_degree: int
    bezout: int
    terms: int
    possible_terms: int
    core_blocks: tuple[int, ...]
    deferred: tuple[int, ...]
    consistent: bool
    system: PolynomialSystem
    triangular: BlockTriangularForm

    def to_dict(self) -> dict[str, Any]:
        """Plain data for ``--json``."""
        return {
            "form": self.form,
            "equations": self.equations,
            "unknowns": self.unknowns,
            "weights": self.weights,
            "linear": sum(v for k, v in self.by_degree.items() if k <= 1),
            "quadratic": sum(v for k, v in self.by_degree.items() if k > 1),
            "by_degree": {str(k): v for k, v in self.by_degree.items()},
            "overdetermined": list(self.overdetermined),
            "underdetermined": list(self.underdetermined),
            "blocks": [[b.size, b.linear, b.quadratic] for b in self.blocks],
            "core": {
                "consistent": self.consistent,
                "equations": self.core_equations,
                "unknowns": self.core_unknowns,
                "degree": self.core_degree,
                "bezout_bound": self.bezout,
                "terms": self.terms,
                "possible_terms": self.possible_terms,
                "blocks": list(self.core_blocks),
                "deferred": list(self.deferred),
            },
        }


@dataclass(frozen=True)
class Inspection:
    """The structure report of an allocation.

    Attributes
    ----------
    allocation : Allocation
    prime : int
        Modulo which the generic sizes were found.
    forms : tuple of FormReport
        The form with the smaller core first.
    skipped : tuple of str
        Forms left out, and why.
    budgets : tuple of Budget
    violations : tuple of Violation
    """

    allocation: Allocation
    prime: int
    forms: tuple[FormReport, ...]
    skipped: tuple[str, ...]
    budgets: tuple[Budget, ...]
    violations: tuple[Violation, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for ``--json``."""
        network = self.allocation.network
        return {
            "network": {"kind": network.kind, **network.sizes},
            "learnable": self.allocation.size,
            "labels": network.outputs,
            "parameters": network.parameters,
            "cells": [list(cell) for cell in self.allocation.cells],
            "prime": self.prime,
            "forms": [form.to_dict() for form in self.forms],
            "skipped": list(self.skipped),
            "violations": [
                {
                    "matrices": list(v.matrices),
                    "kind": v.kind,
                    "learnable": v.learnable,
                    "limit": v.limit,
                    "excess": v.excess,
                    "text": str(v),
                }
                for v in self.violations
            ],
        }

    def __str__(self) -> str:
        lines = [str(self.allocation.network), f"  {self.allocation.size} learnable weights"]
        lines += [f"  {v}" for v in self.violations]
        for form in self.forms:
            lines.append(
                f"  {form.form} form: {form.equations} equations in {form.unknowns} unknowns; "
                f"core {form.core_equations} in {form.core_unknowns}, Bézout bound {form.bezout}"
            )
        return "\n".join([*lines, *(f"  {text}" for text in self.skipped)])


def inspect_allocation(
    allocation: Allocation,
    support: Mapping[str, np.ndarray] | None = None,
    *,
    seed: int = 0,
    all_forms: bool = False,
) -> Inspection:
    """Structure report of an allocation.

    Parameters
    ----------
    allocation : Allocation
    support : mapping of str to mask, optional
    seed : int, optional
        The random point follows from it.
    all_forms : bool, optional
        Eliminate every form, not only the one with the smaller core.

    Returns
    -------
    Inspection
    """
    network = allocation.network
    if isinstance(network, NormNet):
        # Imported here: it inspects lowered networks with this function.
        from algebra.normalization.inspect import inspect_normnet

        return inspect_normnet(allocation, support, seed=seed, all_forms=all_forms)
    rng = random.Random(f"inspect/{seed}")
    p = random_prime(rng)
    reports: list[FormReport] = []
    skipped: list[str] = []
    if network.is_linear:
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
            reports.append(_report(_generic_system(allocation, p, seed, form, support or {})))
    else:
        skipped += _relu_words(allocation, seed)
    return Inspection(
        allocation=allocation,
        prime=p,
        forms=tuple(reports),
        skipped=tuple(skipped),
        budgets=budgets(allocation),
        violations=budget_violations(allocation),
    )


def _relu_words(allocation: Allocation, seed: int) -> list[str]:
    """What counting and ranks say of the activation patterns of a ReLU net."""
    network = allocation.network
    counts = [c for c in allocation.row_counts("W1") if c]
    units = len(counts)
    words = [
        f"the equations hold for one activation pattern at a time: {units} learning units on "
        f"{network.m} samples, 2^{units * network.m} patterns"
    ]
    if allocation.matrices == ("W1",) and allocation.size == network.outputs:
        words.append(
            f"Lemma D.3 leaves {patterns_left_by_D3(units, network.d, network.m)} of them, "
            f"Lemma D.4 {patterns_left_by_D4(counts, network.m)} (where no right-hand side is 0)"
        )
    if allocation.size:
        ranks = sample_pattern_ranks(allocation, seed=seed)
        words.append(
            f"rank of the linear system: {ranks.ranks[0]} of {ranks.needed} with all units "
            f"active; full for {ranks.full} of {len(ranks.ranks)} random patterns"
        )
    return words


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
