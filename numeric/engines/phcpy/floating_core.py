"""A core system in floating point: coefficients for solvers, weights from their roots.

Elimination is exact (`algebra.systems.elimination`); only its result is rounded, each equation
divided by its largest coefficient first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import fmpq

from algebra.linalg.numbers import nearest_double
from algebra.systems.core import CoreSystem

Terms = dict[tuple[int, ...], float]


def scaled_terms(polynomial: Any) -> Terms:
    """A polynomial over Q as a dict from exponents to doubles, the largest of modulus 1."""
    terms = polynomial.to_dict()
    largest = max((abs(c) for c in terms.values()), default=fmpq(1))
    return {tuple(map(int, m)): nearest_double(c / largest) for m, c in terms.items()}


class _FloatPolynomial:
    """Exponents and coefficients as arrays."""

    def __init__(self, polynomial: Any) -> None:
        terms = polynomial.to_dict()
        self.exponents = np.array([list(map(int, m)) for m in terms], dtype=np.int64)
        self.coefficients = np.array([nearest_double(c) for c in terms.values()])

    def __call__(self, point: np.ndarray) -> complex:
        if not self.coefficients.size:
            return 0.0
        return complex(self.coefficients @ np.prod(point**self.exponents, axis=1))


class FloatingCore:
    """A rational core, rounded.

    Parameters
    ----------
    core : CoreSystem
        A core with rational coefficients.

    Attributes
    ----------
    terms : list of dict
        The scaled equations: exponents to coefficients.
    """

    def __init__(self, core: CoreSystem) -> None:
        self.core = core
        self.terms: list[Terms] = [scaled_terms(e) for e in core.equations]
        self._core_images = [_FloatPolynomial(e) for e in core.core_images]
        self._weights = [_FloatPolynomial(e) for e in core.stage_images[: core.system.weights]]
        self._deferred = [
            (np.array(block.unknowns), [_FloatPolynomial(e) for e in block.equations])
            for block in core.deferred
        ]

    def weights(self, root: Sequence[complex] | np.ndarray) -> np.ndarray | None:
        """The learnable weights of a (real or complex) root of the core.

        Returns
        -------
        ndarray or None
            In the allocation's order; None if a deferred block is singular.
        """
        point = np.asarray(root)
        values = np.zeros(len(self.core.stage_unknowns), dtype=complex)
        for k, image in zip(self.core.kept, self._core_images, strict=True):
            values[k] = image(point)
        for own, equations in self._deferred:
            # The block is affine in its own unknowns: evaluate it at 0 and at unit vectors.
            values[own] = 0
            constant = np.array([e(values) for e in equations])
            matrix = np.empty((len(equations), len(own)), dtype=complex)
            for column, k in enumerate(own):
                values[k] = 1
                matrix[:, column] = np.array([e(values) for e in equations]) - constant
                values[k] = 0
            try:
                values[own] = np.linalg.solve(matrix, -constant)
            except np.linalg.LinAlgError:
                return None
        return np.array([e(values) for e in self._weights])
