"""The unknowns of a system at all points of its core at once, modulo a prime."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from algebra.polynomials.quotient import Element, QuotientAlgebra
from algebra.systems.core import Core

Terms = Iterable[tuple[Sequence[int], int]]


def stage_values(
    core: Core,
    root: Sequence[Element],
    algebra: QuotientAlgebra,
    terms: Callable[[Any], Terms],
    rng: random.Random,
) -> list[Element] | None:
    """All unknowns after step 1 of the elimination, as functions on the points of the core.

    Parameters
    ----------
    core : Core
    root : sequence of elements
        The values of the core's unknowns.
    algebra : QuotientAlgebra
    terms : callable
        Exponents and coefficients modulo the prime of one of the core's polynomials.
    rng : random.Random
        For random combinations of the equations of the deferred blocks.

    Returns
    -------
    list of elements, in the order of `core.stage_unknowns`, or None
        None if a deferred block is singular at a point.
    """
    values = {
        k: algebra.evaluate(terms(image), root)
        for k, image in zip(core.kept, core.core_images, strict=True)
    }
    for block in core.deferred:
        place = {k: c for c, k in enumerate(block.unknowns)}
        matrix, right = [], []
        for equation in block.equations:
            row = [algebra.constant(0)] * len(place)
            constant = algebra.constant(0)
            for monomial, coefficient in terms(equation):
                value, target = algebra.constant(coefficient), None
                for k, exponent in enumerate(monomial):
                    if not exponent:
                        continue
                    if k in place:
                        target = place[k]
                    else:
                        value = algebra.times(value, algebra.power(values[k], exponent))
                if target is None:
                    constant -= value
                else:
                    row[target] += value
            matrix.append(row)
            right.append(constant)
        solution = algebra.solve(matrix, right, len(place), rng)
        if solution is None:
            return None
        values |= dict(zip(block.unknowns, solution, strict=True))
    return [values[k] for k in range(len(core.stage_unknowns))]
