"""Rational instances solved exactly, as witnesses that a match can fail.

An instance with N distinct complex solutions, N the generic root count, none of them real, proves
MP < 1.  The instances are those of `algebra.systems.instances`, with entries short enough for
msolve to be fast.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from itertools import count
from typing import Any

import numpy as np

from algebra.families.linear.evidence import Witness
from algebra.polynomials.msolve.process import MsolveFailed, MsolveMissing, MsolveTimeout
from algebra.polynomials.msolve.solver import real_roots
from algebra.polynomials.real_roots import RealRoots
from algebra.problems.problem import Problem
from algebra.systems.elimination import DEGREVLEX
from algebra.systems.instances import rational_core, rational_instance
from algebra.systems.root_count import RootCount


def solve_exactly(
    problem: Problem,
    student: Mapping[str, np.ndarray],
    X: np.ndarray,
    Y: np.ndarray,
    timeout: float,
    form: str | None = None,
) -> RealRoots | None:
    """All solutions of one rational instance's core; None if elimination refutes it."""
    core = rational_core(problem.allocation, student, X, Y, form)
    if not core.consistent or not core.equations:
        return None
    return real_roots(core.equations, timeout=max(1, round(timeout)))


def find_witness(
    problem: Problem, roots: RootCount, seed: int, search: float, most: float = math.inf
) -> tuple[dict[str, Any] | None, str]:
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
    witness : dict or None
        Plain data for the certificate.
    tried : str
        If there is none, the attempts in words.
    """
    start = time.monotonic()
    solved, least = 0, None
    for index in count():
        left = search - (time.monotonic() - start)
        if left <= 0 or index >= most:
            break
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
                tuple(found.variables), found.parametrization, order=DEGREVLEX,
            )  # fmt: skip
            return witness.to_dict(), ""
    text = f"{solved} rational instances solved exactly"
    if least is not None:
        text += f": each has at least {least} real solution{'s' * (least != 1)}"
    return None, text
