"""Programs of polynomial operations with learnable cells, ready for the tracker.

The labels of the program are sums of products (`numeric.equations.products`), from which all tapes
are made.  Each label has a factor of its own among the parameters,

    factor · label(w; weights, samples) = Y,

which is 1 in every instance.  Factor and Y times the same number are an equivalent instance
(`ProgramSystem.turned`), whatever learns.  The graph over w and the other parameters stays
irreducible.

A parameter vector holds, in this order, the weights, the samples (m numbers for each input), the
factors of the labels, the rational constants of the program, and Y.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpq

from algebra.errors import InputError
from algebra.problems.allocation import Allocation
from numeric.equations.chain import make_chain
from numeric.equations.products import FormBuilder, ProductForm, RecordedSum, traced_labels
from numeric.equations.system import Output, ParameterSystem, check_rank


@dataclass(frozen=True)
class ProgramSystem(ParameterSystem):
    """One allocation of one network whose labels are polynomials in the weights.

    Created by `make_program_system`.

    Attributes
    ----------
    allocation : Allocation
    support : mapping of str to ndarray
        0/1 masks of the weights that exist.
    constants : tuple of Fraction
        Rational constants.
    x_at, factors_at, constants_at, y_at, size : int
        Offsets of samples, factors of the labels, constants and Y; length of a parameter vector.
    form : ProductForm
    """

    allocation: Allocation
    support: Mapping[str, np.ndarray]
    constants: tuple[Fraction, ...]
    x_at: int
    factors_at: int
    constants_at: int
    y_at: int
    size: int
    form: ProductForm

    # -- parameter vectors -------------------------------------------------------------------

    def raw(
        self, weights: Mapping[str, np.ndarray], X: np.ndarray, Y: np.ndarray,
        keep_cells: bool = False,
    ) -> np.ndarray:  # fmt: skip
        """The parameter vector in the arguments' common type; over Q constants are not rounded."""
        parts = [np.asarray(weights[name]).ravel() for name in self.network.shapes]
        kind = np.result_type(*parts, X, Y)
        constants: list[Any]
        if kind == np.dtype(object):
            one: Any = fmpq(1)
            constants = [fmpq(c.numerator, c.denominator) for c in self.constants]
        else:
            one, constants = 1.0, [c.numerator / c.denominator for c in self.constants]
        ones = np.full(self.constants_at - self.factors_at, one, kind)
        vector = np.concatenate(
            [*parts, np.ravel(X), ones, np.array(constants, kind), np.ravel(Y)]
        ).astype(kind)
        if not keep_cells:
            vector[list(self.form.places)] = one * 0
        return vector

    @cached_property
    def constant_radii(self) -> np.ndarray:  # type: ignore[override]
        """One unit in the last place of each rounded constant, which exceeds its rounding error."""
        radii = np.zeros(self.size)
        for k, c in enumerate(self.constants):
            nearest = c.numerator / c.denominator
            if Fraction(nearest) != c:
                radii[self.constants_at + k] = np.spacing(abs(nearest))
        return radii

    def independent_samples(self, X: np.ndarray) -> np.ndarray:
        """The indices of all samples."""
        return np.arange(X.shape[1])

    def label_columns(self, Y: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """The labels of all samples."""
        return Y

    @property
    def label_shape(self) -> tuple[int, int]:
        """Outputs and columns of the network's labels."""
        return self.network.d, self.network.columns

    def equation_labels(self, parameters: np.ndarray) -> np.ndarray:
        """All labels, row by row."""
        return parameters[self.y_at :]

    def random(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        weights, X, root = self.random_student(self.form.samples, rng)
        vector = self.raw(weights, X, np.zeros(self.label_shape, complex))
        vector[self.y_at :] = self.residuals(vector, root[None])[0][0]
        return vector, root

    def turned(self, parameters: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """A random equivalent parameter vector: each label times a number of modulus one."""
        p = np.array(parameters, complex)
        turns = np.exp(2j * np.pi * rng.random(self.unknowns))
        p[self.factors_at : self.constants_at] *= turns
        p[self.y_at :] *= turns
        return p

    # -- tapes ---------------------------------------------------------------------------------

    def recorded(self) -> tuple[FormBuilder, list[Output], int]:
        """The labels of one sample, times their factors."""
        build, labels = _written(self.allocation, self.support, self.constants_at)
        m = self.form.samples
        return build, [(label, self.y_at + k * m, m) for k, label in enumerate(labels)], m


def make_system(
    allocation: Allocation, support: Mapping[str, np.ndarray] | None = None
) -> ParameterSystem:
    """The system of a square, generically full-rank allocation: a chain or that of a program.

    Raises
    ------
    InputError
        As `make_chain` and `make_program_system`.
    """
    if allocation.network.chain() is not None:
        return make_chain(allocation, support)
    return make_program_system(allocation, support)


def make_program_system(
    allocation: Allocation, support: Mapping[str, np.ndarray] | None = None
) -> ProgramSystem:
    """The system of a square, generically full-rank allocation.

    Parameters
    ----------
    allocation : Allocation
        Of a network whose labels are polynomials in its weights.
    support : mapping of str to ndarray, optional
        Structural zeros, as in `Problem.support`.

    Raises
    ------
    InputError
        If the labels are no polynomials, the number of learnable weights differs from that of the
        labels, or the Jacobian is generically singular.
    """
    network, support = allocation.network, dict(support or {})
    if network.equations_are != "polynomial" and network.chain() is None:
        raise InputError(
            f"`allocation` is of a {network.title} network: paths are followed only for a linear "
            "network or one with a polynomial activation"
        )
    labels = network.d * network.columns
    if allocation.size != labels:
        raise InputError(
            f"{allocation.size} learnable weights face {labels} labels: only an equal number "
            "leaves finitely many roots to follow; change the allocation or the number of "
            "samples `m`, or take another engine"
        )
    x_at = sum(a * b for a, b in network.shapes.values())
    factors_at = x_at + network.input_shape[0] * network.m
    constants_at = factors_at + labels
    build, outputs = _written(allocation, support, constants_at)
    y_at = constants_at + len(build.constants)
    places = [_place(allocation, cell) for cell in allocation.cells]
    rows = [(out, y_at + k * network.m, network.m) for k, out in enumerate(outputs)]
    size = y_at + labels
    form = build.form(rows, network.m, places, size)
    system = ProgramSystem(
        allocation, support, tuple(build.constants), x_at, factors_at, constants_at, y_at, size,
        form,
    )  # fmt: skip
    check_rank(system)
    return system


def _place(allocation: Allocation, cell: tuple[str, int, int]) -> int:
    """Place of a weight in the parameter vector."""
    at = 0
    for name, (rows, columns) in allocation.network.shapes.items():
        if name == cell[0]:
            return at + cell[1] * columns + cell[2]
        at += rows * columns
    raise AssertionError(f"no weight {cell}")


def _written(
    allocation: Allocation, support: Mapping[str, np.ndarray], constants_at: int
) -> tuple[FormBuilder, list[RecordedSum]]:
    """The labels of one sample, times their factors."""
    network, build = allocation.network, FormBuilder(constants_at)

    def entries(at: int, shape: tuple[int, ...], step: int, exists: np.ndarray) -> np.ndarray:
        found = np.empty(shape, object)
        for k, index in enumerate(np.ndindex(*shape)):
            made = build.parameter(at + k * step, batched=step > 1 or batched)
            found[index] = made if exists[index] else RecordedSum(build, ())
        return found

    at, batched, weights = 0, False, {}
    for name, shape in network.shapes.items():
        weights[name] = entries(at, shape, 1, support.get(name, np.ones(shape)))
        at += shape[0] * shape[1]
    batched, count = True, network.input_shape[0]
    x = entries(at, (count,), network.m, np.ones(count))
    factors = at + count * network.m
    return build, [
        label * build.parameter(factors + k * network.m, batched=True)
        for k, label in enumerate(traced_labels(network, build, weights, x))
    ]
