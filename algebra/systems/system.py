"""The polynomial equations of an allocation, over any ring, or over GF(p) as arrays.

`algebra.systems.forms` defines the equations; here they get their unknowns and coefficients.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpq

from algebra.linalg.residues import Residues
from algebra.polynomials.quadratic import DegreeAboveTwo, QuadraticArray, Quadrics, chained
from algebra.polynomials.rings import CoefficientRing, PrimeField
from algebra.problems.allocation import Allocation
from algebra.programs.arrays import EntryArithmetic
from algebra.programs.residues import QuadraticArithmetic
from algebra.systems.forms import Equations, LiftedForm, form_of


@dataclass(frozen=True)
class PolynomialSystem:
    """A polynomial system over some ring.

    Attributes
    ----------
    form : str
        "B", "D", "forward", "backward", "sums" or "direct".
    ring : CoefficientRing
    unknowns : tuple of str
        Names: first the learnable weights in the allocation's order (``W_0_1``), then the
        auxiliary unknowns (``F_2_0``: row 2, column 0).
    weights : int
        Number of unknowns that are weights.
    equations : tuple
        Polynomials that must be 0, one for each label (a plain ring element if no unknown occurs).
    labels : tuple of str
        Description of each equation, such as ``"W g_B(F) = F [2, 0]"``.
    """

    form: str
    ring: Any
    unknowns: tuple[str, ...]
    weights: int
    equations: tuple[Any, ...]
    labels: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.equations)

    @property
    def auxiliary(self) -> tuple[str, ...]:
        """Names of the auxiliary unknowns."""
        return self.unknowns[self.weights :]

    # Over a field: the methods that a structure report needs, for both kinds of system.

    @cached_property
    def polynomials(self) -> tuple[Any, ...]:
        """The equations as polynomials, including constants."""
        context = self.ring.context(self.unknowns)
        return tuple(e if hasattr(e, "monoms") else context.constant(e) for e in self.equations)

    @cached_property
    def _monomials(self) -> list[np.ndarray]:
        """Exponents of each equation's monomials, shape (terms, unknowns)."""
        size = len(self.unknowns)
        return [np.array(e.monoms(), np.int64).reshape(-1, size) for e in self.polynomials]

    @cached_property
    def degrees(self) -> np.ndarray:
        """Total degree of each equation; −1 for the equation 0."""
        return np.array([int(m.sum(axis=1).max(initial=-1)) for m in self._monomials], np.int64)

    @property
    def terms(self) -> int:
        """Number of terms."""
        return sum(map(len, self._monomials))

    @cached_property
    def occurs(self) -> np.ndarray:
        """The unknowns that occur in each equation, shape (equations, unknowns)."""
        return np.array([m.any(axis=0) for m in self._monomials], bool).reshape(
            len(self), len(self.unknowns)
        )

    @property
    def in_products(self) -> np.ndarray:
        """The unknowns that occur in a term of degree above 1."""
        return np.array([m[m.sum(axis=1) > 1].any(axis=0) for m in self._monomials], bool).reshape(
            len(self), len(self.unknowns)
        )

    def degree_in(self, part: np.ndarray) -> np.ndarray:
        """Each equation's degree in some of the unknowns, given by a mask for each equation."""
        degrees = [
            int((m @ own).max(initial=0)) for m, own in zip(self._monomials, part, strict=True)
        ]
        return np.array(degrees, np.int64)

    def without_identities(self) -> PolynomialSystem:
        """Without the equations that read 0 = 0."""
        kept = np.flatnonzero(self.degrees >= 0)
        return replace(
            self,
            equations=tuple(self.equations[e] for e in kept),
            labels=tuple(self.labels[e] for e in kept),
        )

    def __str__(self) -> str:
        return (
            f"{self.form} form: {len(self.equations)} equations in {len(self.unknowns)} unknowns "
            f"({self.weights} weights, {len(self.auxiliary)} auxiliary)"
        )


@dataclass(frozen=True)
class QuadraticSystem:
    """A system of degree at most two over GF(p).

    Attributes
    ----------
    form : str
    unknowns : tuple of str
        As in `PolynomialSystem`.
    weights : int
    equations : Quadrics
    labels : tuple of str
    """

    form: str
    unknowns: tuple[str, ...]
    weights: int
    equations: Quadrics
    labels: tuple[str, ...]

    @cached_property
    def ring(self) -> PrimeField:
        """The field of the coefficients."""
        return PrimeField(self.equations.p)

    def __len__(self) -> int:
        return self.equations.count

    @property
    def degrees(self) -> np.ndarray:
        """Total degree of each equation; −1 for the equation 0."""
        return self.equations.degrees

    @property
    def terms(self) -> int:
        """Number of terms."""
        return self.equations.terms

    @property
    def occurs(self) -> np.ndarray:
        """The unknowns that occur in each equation, shape (equations, unknowns)."""
        return self.equations.occurs

    @property
    def in_products(self) -> np.ndarray:
        """The unknowns that occur in a term of degree above 1."""
        equations = self.equations
        product = equations.second < equations.unknowns
        found = np.zeros((equations.count, equations.unknowns), bool)
        for factor in (equations.first, equations.second):
            found[equations.polynomial[product], factor[product]] = True
        return found

    def degree_in(self, part: np.ndarray) -> np.ndarray:
        """Each equation's degree in some of the unknowns, given by a mask for each equation."""
        return self.equations.degree_in(part)

    def without_identities(self) -> QuadraticSystem:
        """Without the equations that read 0 = 0."""
        kept = np.flatnonzero(self.degrees >= 0)
        labels = tuple(self.labels[e] for e in kept)
        return replace(self, equations=self.equations[kept], labels=labels)


# The systems that a structure report describes.
WrittenSystem = PolynomialSystem | QuadraticSystem


def build_system(
    allocation: Allocation,
    weights: Mapping[str, np.ndarray],
    X: np.ndarray,
    Y: np.ndarray,
    ring: CoefficientRing,
    form: str,
) -> PolynomialSystem:
    """The system of one instance, in one form, over one ring.

    Parameters
    ----------
    allocation : Allocation
    weights : mapping of str to ndarray
        Object arrays of the student's weights with entries of the ring; those of learnable cells
        are ignored.
    X, Y : ndarray
        Samples and labels.
    ring : CoefficientRing
    form : str
        One of `forms`, or "direct".

    Returns
    -------
    PolynomialSystem
    """
    chosen, network = form_of(allocation, form), allocation.network
    arithmetic = network.entries(number=lambda above, below: ring.constant(fmpq(above, below)))
    return written_system(chosen, allocation, weights, X, Y, ring, arithmetic)


def written_system(
    form: LiftedForm,
    allocation: Allocation,
    weights: Mapping[str, np.ndarray],
    X: np.ndarray,
    Y: np.ndarray,
    ring: CoefficientRing,
    arithmetic: EntryArithmetic,
) -> PolynomialSystem:
    """The same in an arithmetic of one's own, whatever the equations are."""
    network, names, shapes = allocation.network, *_layout(allocation, form)
    generators = ring.generators(names)
    student = {name: _constants(ring, matrix) for name, matrix in weights.items()}
    for (name, i, j), generator in zip(allocation.cells, generators, strict=False):
        student[name][i, j] = generator
    lifted: dict[str, np.ndarray] = {}
    offset = allocation.size
    for prefix, (rows, columns) in shapes.items():
        block = np.empty(rows * columns, dtype=object)
        block[:] = generators[offset : offset + rows * columns]
        lifted[prefix] = block.reshape(rows, columns)
        offset += rows * columns
    given = network.placed(student, _constants(ring, X))
    made = form.program(network).written(arithmetic, given, lifted, _constants(ring, Y))
    return PolynomialSystem(
        form=form.name,
        ring=ring,
        unknowns=tuple(names),
        weights=allocation.size,
        equations=tuple(e for _, block in made for e in block.ravel()),
        labels=_labels(made),
    )


def residue_system(
    allocation: Allocation,
    weights: Mapping[str, Residues],
    X: Residues,
    Y: Residues,
    p: int,
    form: str,
) -> WrittenSystem:
    """The system of one instance over GF(p): as arrays if its degree is at most two.

    Parameters
    ----------
    allocation, weights, X, Y, p, form
        As for `quadratic_system`.
    """
    try:
        return quadratic_system(allocation, weights, X, Y, p, form)
    except DegreeAboveTwo:
        # The direct form of a matrix that occurs several times, or a polynomial activation.
        return build_system(allocation, weights, X, Y, PrimeField(p), form)


def quadratic_system(
    allocation: Allocation,
    weights: Mapping[str, Residues],
    X: Residues,
    Y: Residues,
    p: int,
    form: str,
) -> QuadraticSystem:
    """The system of one instance over GF(p) in a form of degree at most two, as arrays.

    Parameters
    ----------
    allocation : Allocation
    weights : mapping of str to ndarray of int64
        The student's weights; those of learnable cells are ignored.
    X, Y : ndarray of int64
        Samples and labels.
    p : int
    form : str
    """
    network, chosen = allocation.network, form_of(allocation, form)
    if network.needs_entries:
        raise DegreeAboveTwo
    names, shapes = _layout(allocation, chosen)
    unknowns = len(names)
    places = {name: np.full(shape, -1) for name, shape in network.shapes.items()}
    for k, (name, i, j) in enumerate(allocation.cells):
        places[name][i, j] = k

    def matrix(values: Residues, generators: np.ndarray | None = None) -> QuadraticArray:
        return QuadraticArray.of(values, p, unknowns, generators)

    given = {name: matrix(weights[name], places[name])[..., None] for name in network.shapes}
    lifted: dict[str, QuadraticArray] = {}
    offset = allocation.size
    for prefix, shape in shapes.items():
        place = np.arange(offset, offset + shape[0] * shape[1]).reshape(shape)
        lifted[prefix] = matrix(np.zeros(shape, np.int64), place)
        offset += place.size
    given["X"] = matrix(network.drive(X) % p)
    arithmetic = QuadraticArithmetic(p, unknowns)
    made = chosen.program(network).written(arithmetic, given, lifted, matrix(Y))
    return QuadraticSystem(
        form=form,
        unknowns=tuple(names),
        weights=allocation.size,
        equations=chained([block.entries for _, block in made]),
        labels=_labels(made),
    )


def _labels(made: Equations) -> tuple[str, ...]:
    return tuple(f"{label} [{i}, {j}]" for label, b in made for i, j in np.ndindex(b.shape))


def _layout(
    allocation: Allocation, form: LiftedForm
) -> tuple[list[str], dict[str, tuple[int, int]]]:
    """Names of all unknowns, and the shapes of the auxiliary matrices."""
    shapes = form.unknowns(allocation.network)
    names = [f"{name}_{i}_{j}" for name, i, j in allocation.cells]
    for prefix, (rows, columns) in shapes.items():
        names += [f"{prefix}_{i}_{j}" for i in range(rows) for j in range(columns)]
    return names, shapes


def _constants(ring: CoefficientRing, array: np.ndarray) -> np.ndarray:
    out = np.empty(array.shape, dtype=object)
    for index, value in np.ndenumerate(array):
        out[index] = ring.constant(value)
    return out
