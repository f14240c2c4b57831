"""The interface of a system of equations for tracking, monodromy, trace test and certification.

The equations are those of an allocation: labels(w; parameters) = Y, as many as there are learnable
weights w.  The set of all (w, parameters) is a graph over w and all parameters but Y, hence
irreducible: any complex line between two parameter vectors stays inside the family.

Linear networks are chains of matrix products (`numeric.equations.chain`), others programs of
polynomial operations (`numeric.equations.program_system`).  Both record their labels as sums of
products (`numeric.equations.products`), from which all tapes are made.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from algebra.errors import InputError
from algebra.networks.base import Network
from algebra.problems.allocation import Allocation
from numeric.equations.arrays import run_arrays
from numeric.equations.lanes.lifted import make_lifted
from numeric.equations.lanes.products import make_products
from numeric.equations.lanes.tape import LaneSystem
from numeric.equations.products import FormBuilder, ProductForm, RecordedSum
from numeric.equations.system_forms import EquationTapes, write_equations, write_labels
from numeric.trials.instances import Instance

if TYPE_CHECKING:
    from numeric.equations.inputs import InputsForm

Made = TypeVar("Made")
# The labels of one row: their sums, their place in a parameter vector, their number.
Output = tuple[RecordedSum, int, int]


class ParameterSystem(ABC):
    """A square system of polynomial equations with parameters.

    A *parameter vector* is one flat array; its entries for learnable cells are ignored, and those
    of the labels Y are its last.

    Attributes
    ----------
    allocation : Allocation
    support : mapping of str to ndarray
        0/1 masks of the weights that exist.
    size : int
        Length of a parameter vector.
    y_at : int
        Offset of Y in it.
    form : ProductForm
        The labels as sums of products.
    """

    allocation: Allocation
    support: Mapping[str, np.ndarray]
    size: int
    y_at: int
    form: ProductForm

    @cached_property
    def _stored(self) -> dict[Hashable, Any]:
        return {}

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """The result of `make`, computed once for each key and stored in the system."""
        if key not in self._stored:
            self._stored[key] = make()
        return self._stored[key]  # type: ignore[no-any-return]

    @property
    def network(self) -> Network:
        """The network of the allocation."""
        return self.allocation.network

    @property
    def unknowns(self) -> int:
        """Number r of learnable weights, which is the number of equations."""
        return self.allocation.size

    @property
    def raw_form(self) -> ProductForm:
        """The labels as sums of products, also in the coordinates of `raw`."""
        return self.form

    # -- parameter vectors -------------------------------------------------------------------

    @abstractmethod
    def raw(
        self, weights: Mapping[str, np.ndarray], X: np.ndarray, Y: np.ndarray,
        keep_cells: bool = False,
    ) -> np.ndarray:  # fmt: skip
        """The parameter vector in the original coordinates and the arguments' common type.

        Only constants of a program may be rounded (`constant_radii`).  Learnable cells are 0 unless
        `keep_cells`.
        """

    def raw_of(
        self, weights: Mapping[str, np.ndarray], X: np.ndarray, Y: np.ndarray,
        keep_cells: bool = False,
    ) -> np.ndarray:  # fmt: skip
        """`raw` of several instances, along the first axis of all arrays."""
        own = ({name: value[k] for name, value in weights.items()} for k in range(len(X)))
        rows = zip(own, X, Y, strict=True)
        return np.array([self.raw(*row, keep_cells) for row in rows])

    def pack(self, weights: Mapping[str, np.ndarray], X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """The parameter vector in the coordinates in which paths are tracked."""
        return self.raw(weights, X, Y)

    @property
    def constant_radii(self) -> np.ndarray:
        """Bounds of the rounding errors of a double parameter vector's constant entries."""
        return np.zeros(self.size)

    @abstractmethod
    def independent_samples(self, X: np.ndarray) -> np.ndarray:
        """Indices of samples whose labels determine all labels."""

    def independent_samples_of(self, instances: Sequence[Instance]) -> list[np.ndarray]:
        """`independent_samples` of several instances."""
        return [self.independent_samples(instance.X) for instance in instances]

    @abstractmethod
    def label_columns(self, Y: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """From all labels Y those of some samples, in any ring; further axes come first."""

    @property
    @abstractmethod
    def label_shape(self) -> tuple[int, int]:
        """Shape of Y in a parameter vector."""

    @abstractmethod
    def equation_labels(self, parameters: np.ndarray) -> np.ndarray:
        """The labels (r,) of the equations, of a parameter vector."""

    def parameters(self, instance: Instance, chosen: np.ndarray | None = None) -> np.ndarray:
        """The (real) parameter vector of an instance; `chosen` are its independent samples."""
        if chosen is None:
            chosen = self.independent_samples(instance.X)
        Y = self.label_columns(instance.labels, chosen)
        return self.pack(instance.weights, instance.X[:, chosen], Y)

    def parameters_of(
        self, instances: Sequence[Instance], chosen: Sequence[np.ndarray]
    ) -> np.ndarray:
        """The parameter vectors of instances, and of the independent samples of each."""
        pairs = zip(instances, chosen, strict=True)
        return np.array([self.parameters(instance, own) for instance, own in pairs])

    @abstractmethod
    def random(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """A random complex parameter vector and one root of it.

        The labels are the student's own at random complex learnable weights.

        Returns
        -------
        parameters : ndarray of complex, shape (size,)
        root : ndarray of complex, shape (r,)
        """

    def random_student(
        self, samples: int, rng: np.random.Generator
    ) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
        """Random complex weights and samples, and the learnable weights among the first."""

        def gaussian(shape: tuple[int, int], scale: float) -> np.ndarray:
            pair = rng.standard_normal((2, *shape)) * scale
            return (pair[0] + 1j * pair[1]) / np.sqrt(2.0)

        network = self.network
        weights = {n: gaussian(s, s[1] ** -0.5) for n, s in network.shapes.items()}
        for name, mask in self.support.items():
            weights[name] = weights[name] * mask
        X = gaussian((network.input_shape[0], samples), 1.0)
        root = np.array([weights[name][i, j] for name, i, j in self.allocation.cells])
        return weights, X, root

    @abstractmethod
    def turned(self, parameters: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """A random parameter vector with the same roots; the line of parameters to it differs."""

    # -- values --------------------------------------------------------------------------------

    def residuals(self, parameters: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals (k, r) and Jacobians (k, r, r) at weights w (k, r).

        Residuals are labels minus those of `parameters`.  Results are in the common type of both,
        of any precision.
        """
        tapes, r = self.once("equations", lambda: self.equations_as_tapes(False)), self.unknowns
        x = self._slots(tapes.slots, parameters, w)
        run_arrays(x, tapes.values)
        run_arrays(x, tapes.derivatives)
        jacobian = x[tapes.jacobian : tapes.jacobian + r * r].T.reshape(-1, r, r)
        return -x[tapes.f : tapes.f + r].T, jacobian

    def term_sizes(self, parameters: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Sizes (r,) of the terms that cancel in the residuals at w (r,).

        They are the labels at the absolute values of parameters and weights.
        """
        table, at, slots = self.once("labels", self.labels_as_tape)
        x = self._slots(slots, np.abs(parameters), np.abs(w)[None])
        run_arrays(x, table)
        return self.equation_labels(x[at - self.y_at : at - self.y_at + self.size, 0])

    def _slots(self, slots: int, parameters: np.ndarray, w: np.ndarray) -> np.ndarray:
        x = np.zeros((slots, len(w)), np.result_type(parameters, w))
        x[: self.size] = parameters[:, None]
        x[list(self.form.places)] = w.T
        return x

    # -- tapes ---------------------------------------------------------------------------------

    @abstractmethod
    def recorded(self) -> tuple[FormBuilder, list[Output], int]:
        """The labels of the equations, recorded anew, and the number of samples of each value."""

    @cached_property
    def _groups(self) -> list[int]:
        """The weights of a row are a group."""
        rows = [cell[:2] for cell in self.allocation.cells]
        index = {row: k for k, row in enumerate(dict.fromkeys(rows))}
        return [index[row] for row in rows]

    def equations_as_tapes(self, lifted: bool) -> EquationTapes:
        """The equations in the weights, or those with values as unknowns too."""
        return write_equations(self.raw_form, lifted)

    def labels_as_tape(self) -> tuple[np.ndarray, int, int]:
        """The tape of the labels Y of a parameter vector, their slot, and the number of slots."""
        return write_labels(self.raw_form)

    def lane_system(self, order: int, lifted: bool) -> LaneSystem:
        """The tracker's system for series of an order; `lifted` has values as unknowns too."""
        make = make_lifted if lifted and self.has_states else make_products
        return make(self.form, self._groups, order)

    def curve_system(self, order: int) -> LaneSystem:
        r"""The system of a curve of labels and a moving section (`numeric.tracking.label_curve`).

        Unknowns are the weights w and a number τ, whose place is after all parameters: the labels
        of w are ``Y + τ V``, and the form ``(1, w)ᵀ Q (1, τ) = 0`` cuts the curve of all (w, τ) in
        points.  Only Q moves; Y, V and all fixed weights stay.
        """
        r, V = self.unknowns, self.size
        Q, tau_at = V + r, V + r + 2 * (r + 1)
        build, outputs, samples = self.recorded()
        tau, at = build.parameter(tau_at).kept(), V
        rows: list[tuple[RecordedSum, int | None, int]] = []
        for out, y_at, count in outputs:
            rows.append((out + tau * build.parameter(at, batched=True), y_at, count))
            at += count
        # Columns Q (1, τ), then (1, w) times them.
        cuts = [build.parameter(k) + tau * build.parameter(k + 1) for k in range(Q, tau_at, 2)]
        w = (build.parameter(at) for at in self.form.places)
        section = sum((a * b for a, b in zip(w, cuts[1:], strict=True)), cuts[0])
        rows.append((section, None, 1))
        form = build.form(rows, samples, (*self.form.places, tau_at), tau_at)
        return make_products(form, [*self._groups, max(self._groups) + 1], order, (r, 1))

    def curve_parameters(
        self, parameters: np.ndarray, direction: np.ndarray, section: np.ndarray
    ) -> np.ndarray:
        """The parameters of `curve_system`: of a direction V of labels and a section Q.

        The direction has the opposite sign: the system adds its product with τ.
        """
        return np.concatenate([parameters, -direction, section.ravel()]).astype(complex)

    @property
    def has_states(self) -> bool:
        """Whether there is a system with values as unknowns."""
        return max(self.raw_form.groups, default=-1) >= 0

    @property
    def states(self) -> int:
        """Number of values that are coordinates of the tracker besides the weights."""
        inner = len(self.form.values) - len(self.form.rows)
        return inner * self.form.samples if self.has_states else 0

    def free_inputs(self, *, labels_only: bool = False) -> InputsForm | None:
        """The form in few unknowns (`numeric.equations.inputs`), if there is one."""
        return None


def labels_of_samples(
    system: ParameterSystem, labels: np.ndarray, chosen: Sequence[np.ndarray]
) -> np.ndarray:
    """From all labels of instances, along the first axis, those of the samples of each."""
    if all(own is chosen[0] for own in chosen):
        return system.label_columns(labels, chosen[0])
    pairs = zip(labels, chosen, strict=True)
    return np.array([system.label_columns(own, some) for own, some in pairs])


def check_rank(system: ParameterSystem) -> None:
    """Reject allocations whose Jacobian is singular at two random complex points.

    Raises
    ------
    InputError
        If it is: the allocation is minimal.
    """
    for seed in range(2):
        parameters, root = system.random(np.random.default_rng(seed))
        jacobian = system.residuals(parameters, root[None])[1][0]
        values = np.linalg.svd(jacobian, compute_uv=False)
        if values.size == 0 or values[-1] > 1e-11 * values[0]:
            return
    rank = int((values > 1e-11 * values[0]).sum())
    raise InputError(
        f"the Jacobian of `{system.allocation}` has rank {rank} of {system.unknowns} at a random "
        "point: the allocation is minimal, its instances have no isolated roots to count"
    )
