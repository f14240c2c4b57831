r"""Critical points of a distance on the variety of students, as a system for the tracker.

With more learnable weights than equations, r > ρ, the students of an instance form a variety of
dimension r − ρ.  A student w is a critical point of the distance from a point a in R^r if

.. math:: f(w) = Y, \quad w + J(w)^T λ = a

for ρ multipliers λ.  `algebra.arguments.critical_points` proves that a generic
instance has the same number C of complex critical points as any other, all simple.

**One instance.**  Let C distinct simple critical points of an instance be known.  *If one is real,
its w is a real student.  If none is real, there is no real student.*  Proof of the second part:
near each of the C points the map from (fixed weights, samples, w, λ) to (fixed weights, samples, Y,
a) is a local isomorphism, so nearby generic pairs of labels and points have C non-real critical
points, hence no others, and no real student: at a generic real student the rank of J is ρ, and the
one nearest to a is a critical point.  If the instance had a real student w, labels of students
near w at which the rank of J is ρ would fill an open set arbitrarily near Y, and the instances with
these labels would have real students. ∎

Here a is the point of the drawn weights, which neither the fixed weights nor the teacher depend on.
Each equation has a factor of its own among the parameters, 1 in every instance, so that there are
equivalent parameter vectors (`CriticalSystem.turned`).  The graph over w, λ and all parameters but
Y and a is irreducible, so that monodromy acts transitively on the C points.

A parameter vector holds, in this order, that of the network without its labels, the multipliers
(ignored), the factors, Y and a.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import fmpq

from algebra.problems.allocation import Allocation
from numeric.equations.chain import Chain, laid_out
from numeric.equations.products import FormBuilder, ProductForm, RecordedSum
from numeric.equations.system import Output, ParameterSystem, check_rank


@dataclass(frozen=True)
class CriticalSystem(ParameterSystem):
    """The critical points of one allocation of a linear network; unknowns are w, then λ.

    Created by `make_critical_system`.

    Attributes
    ----------
    allocation : Allocation
    support : mapping of str to ndarray
        0/1 masks of the weights that exist.
    base : Chain
        The labels and their coordinates.
    """

    allocation: Allocation
    support: Mapping[str, np.ndarray]
    base: Chain

    @property
    def labels(self) -> int:
        """Number ρ of labels that are equations."""
        return len(self.base.equations)

    @property
    def unknowns(self) -> int:
        """Number r + ρ of weights and multipliers."""
        return self.allocation.size + self.labels

    @cached_property
    def places(self) -> tuple[int, ...]:
        """Place of each unknown in a parameter vector."""
        first = self.base.y_at
        return (*self.base.cells[:, 4].tolist(), *range(first, first + self.labels))

    @property
    def factors_at(self) -> int:
        """Place of the first factor."""
        return self.base.y_at + self.labels

    @property
    def y_at(self) -> int:  # type: ignore[override]
        """Offset of Y."""
        return self.factors_at + self.unknowns

    @property
    def a_at(self) -> int:
        """Offset of the point."""
        return self.y_at + self.base.size - self.base.y_at

    @property
    def size(self) -> int:  # type: ignore[override]
        """Length of a parameter vector."""
        return self.a_at + self.allocation.size

    # -- parameter vectors -------------------------------------------------------------------

    def raw_of(
        self, weights: Mapping[str, np.ndarray], X: np.ndarray, Y: np.ndarray,
        keep_cells: bool = False,
    ) -> np.ndarray:  # fmt: skip
        """See `ParameterSystem.raw_of`; the weights of learnable cells are the point."""
        own = self.base.raw_of(weights, X, Y, True)
        head, labels = np.split(own, [self.base.y_at], axis=1)
        point = head[:, self.base.cells[:, 4]]
        one = fmpq(1) if own.dtype == object else 1.0
        if not keep_cells:
            head[:, self.base.cells[:, 4]] = one * 0
        extra = np.full((len(own), self.labels + self.unknowns), one, own.dtype)
        extra[:, : self.labels] = one * 0
        return np.concatenate([head, extra, labels, point], axis=1)

    def raw(
        self, weights: Mapping[str, np.ndarray], X: np.ndarray, Y: np.ndarray,
        keep_cells: bool = False,
    ) -> np.ndarray:  # fmt: skip
        one = {name: np.asarray(value)[None] for name, value in weights.items()}
        return self.raw_of(one, X[None], Y[None], keep_cells)[0]

    def independent_samples(self, X: np.ndarray) -> np.ndarray:
        return self.base.independent_samples(X)

    def label_columns(self, Y: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        return self.base.label_columns(Y, chosen)

    @property
    def label_shape(self) -> tuple[int, int]:
        return self.base.label_shape

    def equation_labels(self, parameters: np.ndarray) -> np.ndarray:
        """The labels of the equations, then the point."""
        Y = parameters[self.y_at : self.a_at].reshape(self.label_shape)
        return np.concatenate([Y[tuple(self.base.equations.T)], parameters[self.a_at :]])

    def random(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        samples = self.base.samples * self.network.m // self.network.columns
        weights, X, w = self.random_student(samples, rng)
        pair = rng.standard_normal((2, self.labels))
        root = np.concatenate([w, (pair[0] + 1j * pair[1]) / np.sqrt(2.0)])
        vector = self.raw(weights, X, np.zeros(self.label_shape, complex))
        vector[self.y_at :] = 0
        values = self.residuals(vector, root[None])[0][0]
        Y = vector[self.y_at : self.a_at].reshape(self.label_shape)
        Y[tuple(self.base.equations.T)] = values[: self.labels]
        vector[self.a_at :] = values[self.labels :]
        return vector, root

    def turned(self, parameters: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """A random equivalent parameter vector: each equation times a number of modulus one."""
        p = np.array(parameters, complex)
        turns = np.exp(2j * np.pi * rng.random(self.unknowns))
        p[self.factors_at : self.y_at] *= turns
        Y = p[self.y_at : self.a_at].reshape(self.label_shape)
        Y[tuple(self.base.equations.T)] *= turns[: self.labels]
        p[self.a_at :] *= turns[self.labels :]
        return p

    # -- tapes ---------------------------------------------------------------------------------

    @property
    def has_states(self) -> bool:
        """There is no system with values as unknowns."""
        return False

    @cached_property
    def _groups(self) -> list[int]:
        """The weights of a row are a group, and so are the multipliers."""
        rows = super()._groups
        return [*rows, *([max(rows) + 1] * self.labels)]

    @cached_property
    def form(self) -> ProductForm:  # type: ignore[override]
        """The equations as sums of products."""
        build, outputs, samples = self.recorded()
        form = build.form(outputs, samples, self.places, self.size)
        return ProductForm(**{**vars(form), "groups": (-1,) * len(form.values)})

    def recorded(self) -> tuple[FormBuilder, list[Output], int]:
        build, labels = self.base.recorded_singly()
        first, weights = self.base.y_at, self.places[: self.allocation.size]
        total = sum(
            (label * build.parameter(first + k) for k, label in enumerate(labels)),
            RecordedSum(build, ()),
        )
        slopes = build.derivatives(total, weights)
        rows = [*labels, *(build.parameter(at) + f for at, f in zip(weights, slopes, strict=True))]
        m = self.base.samples
        places = [self.y_at + a * m + s for a, s in self.base.equations.tolist()]
        places += range(self.a_at, self.size)
        factors = (build.parameter(self.factors_at + k) for k in range(self.unknowns))
        return (
            build,
            [(row * factor, at, 1) for row, factor, at in zip(rows, factors, places, strict=True)],
            1,
        )


def make_critical_system(
    allocation: Allocation, support: Mapping[str, np.ndarray] | None = None
) -> CriticalSystem:
    """The critical points of the distance for an allocation with more weights than equations.

    Raises
    ------
    InputError
        If the network is not linear, or the labels' Jacobian has no full rank.
    """
    system = CriticalSystem(allocation, dict(support or {}), laid_out(allocation, support))
    check_rank(system)
    return system
