"""Rational instances solved exactly, until one has no real solution: the search for a witness.

The theorem and the check: `algebra.arguments.no_real_root`.  The check searches here too if the
instance of a file may be singular, and then checks what is found.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from algebra.arguments.argument import FoundEvidence
from algebra.arguments.witness import Witness
from algebra.checker.verdicts import INTERMEDIATE
from algebra.polynomials.real_roots import RealRoots
from algebra.problems.problem import Problem
from algebra.systems.instances import rational_core, rational_instance
from algebra.time_limits import OutOfTime, phase
from algebra.work import end_of_part, seconds_until, spend

if TYPE_CHECKING:
    from algebra.arguments.case import Case
    from algebra.systems.root_count import RootCount

_NAME = "no_real_root"
# Number of instances solved exactly, one second each, before the search by descent.
_FIRST = 8
# They get the work of a search divided by this number.
_DIVISOR = 4
# Work of an instance besides the solver's.
_INSTANCE = 1 / 100


def search_instances(case: Case) -> FoundEvidence | None:
    """An instance among those that are solved exactly.

    If exact solving is fast, no guesses are needed, which take time to start.
    """
    if case.roots is None:
        return None
    seconds, most = case.effort.limits.searched, math.inf
    if case.effort.tools.candidates is not None:
        seconds, most = seconds / _DIVISOR, _FIRST * max(1, case.effort.limits.effort)
    try:
        with phase("search for an instance without real solutions"):
            witness, text = find_witness(case.problem, case.roots, case.effort.seed, seconds, most)
    except OutOfTime as over:
        case.tried[_NAME] = f"instances without real solutions were searched for: {over}"
        return None
    if witness is None:
        case.tried[_NAME] = text
        return None
    rule = f"an instance with {case.roots.value} complex solutions, none real{case.how}"
    return FoundEvidence(INTERMEDIATE, rule, witness)


def solve_exactly(
    problem: Problem,
    student: Mapping[str, np.ndarray],
    X: np.ndarray,
    Y: np.ndarray,
    timeout: float,
    form: str | None = None,
) -> RealRoots | None:
    """All solutions of one rational instance's core; None if elimination refutes it."""
    from algebra.polynomials.msolve.solver import real_roots

    core = rational_core(problem.allocation, student, X, Y, form)
    if not core.consistent or not core.equations:
        return None
    return real_roots(core.equations, timeout=max(1, round(timeout)))


def find_witness(
    problem: Problem, roots: RootCount, seed: int, search: float, most: float = math.inf
) -> tuple[Witness | None, str]:
    """A rational instance with N distinct complex solutions and no real one.

    Parameters
    ----------
    problem : Problem
    roots : RootCount
    seed : int
    search : float
        Seconds.
    most : float, optional
        Largest number of instances, of at most one second each, if there are other ways to find
        one.

    Returns
    -------
    witness : Witness or None
    tried : str
        If there is none, the attempts in words.
    """
    from algebra.polynomials.msolve.process import MsolveFailed, MsolveMissing, MsolveTimeout

    end = end_of_part(search)
    solved, least = 0, None
    for index in count():
        left = seconds_until(end)
        if left <= 0 or index >= most:
            break
        spend(_INSTANCE)
        student, teacher, X = rational_instance(problem, seed, index)
        Y = problem.network.forward(teacher, X)
        try:
            seconds = max(left, 1) if most == math.inf else 1
            found = solve_exactly(problem, student, X, Y, seconds, roots.form)
        except (MsolveTimeout, MsolveFailed):
            if most < math.inf:
                # The other instances would take as long; the other methods get the time.
                break
            continue
        except MsolveMissing as missing:
            return None, f"no instance was solved exactly: {missing}"
        # An instance with fewer solutions than N, or with multiple ones, is special and proves
        # nothing.
        if found is None or not found.complex == found.degree == roots.value:
            continue
        solved += 1
        least = len(found.roots) if least is None else min(least, len(found.roots))
        if not found.roots:
            witness = Witness(
                index, roots.form, student, teacher, X, found.complex, len(found.roots),
                tuple(found.variables), found.parametrization,
            )  # fmt: skip
            return witness, ""
    text = f"{solved} rational instances solved exactly"
    if least is not None:
        text += f": each has at least {least} real solution{'s' * (least != 1)}"
    return None, text
