"""Inspection: the equations of an allocation and their structure.

The report has for each lifted form the numbers of linear and quadratic equations, the parts with
too many or too few equations, the block triangular form, and the core after exact elimination.
Sizes are those of a generic instance: elimination is done at a random point over GF(p).
"""

from __future__ import annotations

import random
from functools import cache

from algebra.linalg.primes import random_prime
from algebra.linalg.residues import rational_residues
from algebra.networks.base import Support
from algebra.networks.protocols import HasLimits
from algebra.polynomials.rings import RationalField
from algebra.problems.allocation import Allocation
from algebra.problems.instance_files import GivenNumbers
from algebra.problems.laws.pinned import prime_for
from algebra.ranks.budgets.cover import budget_violations
from algebra.ranks.budgets.lines import budgets
from algebra.systems.elimination import eliminate
from algebra.systems.inspection import FormReport, Inspection, form_report, form_reports
from algebra.systems.instances import ModularInstance, modular_instance
from algebra.systems.system import (
    PolynomialSystem,
    WrittenSystem,
    build_system,
    residue_system,
)

# Forms with more unknowns are described only by their sizes.
LARGEST = 4000


def inspect_linear(
    allocation: Allocation,
    support: Support,
    seed: int = 0,
    all_forms: bool = False,
    largest: int = LARGEST,
) -> Inspection:
    """Structure report of an allocation whose equations are polynomials.

    Forms with more unknowns than `largest` are described only by their sizes.
    """
    p = prime_for(support, random.Random(f"inspect/{seed}"))

    # Drawn when it is used: not if every form is too large to be written out.
    @cache
    def instance() -> ModularInstance:
        return modular_instance(allocation, p, seed, support, key="inspect", teacher=True)

    reports, skipped = form_reports(
        allocation, all_forms, lambda form: form_report(instance().system(form)), largest
    )
    counted = isinstance(allocation.network, HasLimits)
    return Inspection(
        allocation=allocation,
        prime=p,
        forms=reports,
        skipped=skipped,
        budgets=budgets(allocation) if counted else (),
        violations=budget_violations(allocation) if counted else (),
    )


def inspect_numbers(numbers: GivenNumbers, *, seed: int = 0, all_forms: bool = False) -> Inspection:
    """Structure report of one instance: its own equations, eliminated over Q.

    Parameters
    ----------
    numbers : GivenNumbers
        The equations of its network are polynomials.
    seed, all_forms : optional
        As for `inspect_linear`.

    Notes
    -----
    The occurring terms are determined modulo a prime that divides no numerator and no denominator
    of a coefficient: modulo such a prime the same terms occur as over Q.
    """
    allocation = numbers.problem.allocation
    p = 0

    def report(form: str) -> FormReport:
        nonlocal p
        whole = build_system(
            allocation, numbers.weights, numbers.X, numbers.Y, RationalField(), form
        )
        p, system = _faithful(whole, numbers, form, seed)
        return form_report(system, eliminate(whole))

    reports, skipped = form_reports(allocation, all_forms, report, LARGEST)
    return Inspection(
        allocation=allocation,
        prime=p,
        forms=reports,
        skipped=skipped,
        budgets=budgets(allocation),
        violations=(),
        labels="the teacher's" if numbers.has_teacher else "given",
    )


def _faithful(
    whole: PolynomialSystem, numbers: GivenNumbers, form: str, seed: int
) -> tuple[int, WrittenSystem]:
    """The system modulo a prime that preserves every term."""
    allocation, rng = numbers.problem.allocation, random.Random(f"inspect/{seed}")
    while True:
        p = random_prime(rng)
        try:
            weights = {name: rational_residues(w, p) for name, w in numbers.weights.items()}
            X, Y = rational_residues(numbers.X, p), rational_residues(numbers.Y, p)
        except ZeroDivisionError:  # it divides a denominator
            continue
        system = residue_system(allocation, weights, X, Y, p, form)
        if system.terms == whole.terms:
            return p, system
