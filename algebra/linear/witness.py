"""Rational instances solved exactly: the witness that a match can fail.

An instance with N distinct complex solutions, N the generic root count, and none of them
real proves MP < 1.  The instances are those of `algebra.systems.instances`, with entries short
enough for msolve to be quick.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, count
from typing import Any

import numpy as np

from algebra.linalg.rational import texts
from algebra.polynomials.msolve.process import MsolveFailed, MsolveMissing, MsolveTimeout
from algebra.polynomials.msolve.solver import real_roots
from algebra.polynomials.real_roots import RealRoots
from algebra.problems.problem import Problem
from algebra.systems.instances import rational_core, rational_instance
from algebra.systems.root_count import RootCount

# Instances tried for a second each before guesses are asked for.
_FIRST = 8


def solve_exactly(
    problem: Problem,
    student: Mapping[str, np.ndarray],
    X: np.ndarray,
    Y: np.ndarray,
    timeout: float,
    form: str | None = None,
) -> RealRoots | None:
    """All solutions of one rational instance's core; None where elimination refutes it."""
    core = rational_core(problem.allocation, student, X, Y, form)
    if not core.consistent or not core.equations:
        return None
    return real_roots(core.equations, timeout=max(1, round(timeout)))


def find_witness(
    problem: Problem,
    roots: RootCount,
    seed: int,
    search: float,
    guesses: Iterable[int] = (),
    timeout: float = 60.0,
) -> tuple[dict[str, Any] | None, str]:
    """A rational instance with N distinct complex solutions and no real one.

    Parameters
    ----------
    problem : Problem
    roots : RootCount
    seed : int
    search : float
        Seconds.
    guesses : iterable of int, optional
        Numbers of instances to solve first, found by other means within the same time.
    timeout : float, optional
        Seconds to solve a guessed one: it deserves more than a random one.

    Returns
    -------
    witness : dict or None
        Plain data for the certificate.
    tried : str
        Where there is none, what was tried.
    """
    start = time.monotonic()
    solved, least = 0, None

    def quick() -> Iterator[int]:
        # Where exact solving is quick it needs no guesses, which take time to begin.
        for index in range(_FIRST):
            if time.monotonic() - start > search / 4:
                break
            yield index

    # Number, seconds at least, seconds at most.
    numbered = chain(
        ((i, 0, 1) for i in quick()),
        ((i, timeout, timeout + search) for i in guesses),
        ((i, 0, search) for i in count()),
    )
    seen: set[int] = set()
    for index, least_time, most_time in numbered:
        left = min(max(search - (time.monotonic() - start), least_time), most_time)
        if left <= 0:
            break
        if index in seen and not least_time:
            continue
        seen.add(index)
        student, teacher, X = rational_instance(problem, seed, index)
        Y = problem.network.forward(teacher, X)
        try:
            found = solve_exactly(problem, student, X, Y, max(left, 1), roots.form)
        except (MsolveTimeout, MsolveFailed):
            continue
        except MsolveMissing as missing:
            return None, f"an instance without real solutions was not looked for: {missing}"
        # An instance with fewer solutions than N, or with multiple ones, is special and proves
        # nothing.
        if found is None or not found.complex == found.degree == roots.value:
            continue
        solved += 1
        least = len(found.roots) if least is None else min(least, len(found.roots))
        if not found.roots:
            return _witness_data(student, teacher, X, found, roots.form, index), ""
    text = f"{solved} rational instances solved exactly"
    if least is not None:
        text += f": each has at least {least} real solution{'s' * (least != 1)}"
    return None, text


def _witness_data(
    student: Mapping[str, np.ndarray],
    teacher: Mapping[str, np.ndarray],
    X: np.ndarray,
    found: RealRoots,
    form: str,
    index: int,
) -> dict[str, Any]:
    data: dict[str, Any] = {
        "index": index,
        "form": form,
        "weights": {name: texts(value) for name, value in student.items()},
        "teacher": {name: texts(value) for name, value in teacher.items()},
        "X": texts(X),
        "complex": found.complex,
        "real": len(found.roots),
        "unknowns": list(found.variables),
    }
    points = found.parametrization
    if points is not None:
        data["parametrization"] = {
            "w": [str(c) for c in points.w.coeffs()],
            "denominator": [str(c) for c in points.denominator.coeffs()],
            "scale": str(points.scale),
            "numerators": [[str(c) for c in n.coeffs()] for n in points.numerators],
        }
    return data
