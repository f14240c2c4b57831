"""Network architectures: sizes, weight matrices and the map they compute.

A network is a description, without weights: which matrices there are, their shapes, and how the
output follows from them.  The forward map is written once, over any ring of entries.  Letters are
those of Schlisselberg & Darshan (arXiv 2502.06300), with 0-based indices.

The rest of the project asks a kind by these methods; one without an answer raises `NotKnown`.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from algebra.errors import InputError, one_line, shown, whole_number
from algebra.linalg.modular import matmul as modular_matmul
from algebra.networks.readings import LABELS, TRACES, Reading, of_units
from algebra.programs.program import Program
from algebra.programs.programmed import Programmed

if TYPE_CHECKING:
    from algebra.networks.chain import ChainLayout
    from algebra.networks.limits import MatrixLimits
    from algebra.programs.generic import Model

Matrix = Any
Matmul = Callable[[Matrix, Matrix], Matrix]
# The factors L and R of each matrix's part of the Jacobian: see `Network.modular_tangents`.
Factors = dict[str, tuple[np.ndarray, np.ndarray]]
# A weight: matrix, row, column, 0-based.
Cell = tuple[str, int, int]
# Structural zeros: masks that are 0 where a weight does not exist; others exist.
Support = Mapping[str, np.ndarray]

# A dense matrix beyond this many entries cannot be held or certified on one machine.
MAX_CELLS = 10**8


@dataclass(frozen=True)
class Point:
    """A point over GF(p): weights and samples.

    Attributes
    ----------
    p : int
    seed : int
        The point's number: what is drawn besides weights and samples follows from it.
    weights : dict of str to matrix over GF(p)
    X : matrix over GF(p)
    """

    p: int
    seed: int
    weights: Mapping[str, Matrix]
    X: Matrix

    def matmul(self, a: Matrix, b: Matrix) -> Matrix:
        """Product modulo p, of residues."""
        return modular_matmul(a, b, self.p)

    def reduced(self, a: Matrix) -> Matrix:
        """The residues of a sum."""
        return a % self.p


# The kinds by their names in a problem file; every subclass that has a `kind` enters itself.
KINDS: dict[str, type[Network]] = {}


class NotKnown(InputError):
    """A question that a kind of network has no answer to.

    Parameters
    ----------
    network : Network
    what : str
        What was asked for, as the subject of "… not known".
    instead : str, optional
        What to try.
    """

    def __init__(self, network: Network, what: str, instead: str = "") -> None:
        super().__init__(
            f"{what} of a {network.title} network (kind {network.kind!r}) are not known"
            + (f"; {instead}" if instead else "")
        )


@dataclass(frozen=True)
class Axis:
    """Units that can be permuted among each other.

    Attributes
    ----------
    name : str
    size : int
    places : tuple of (str, int)
        Matrix and axis (0 rows, 1 columns) that they index.
    """

    name: str
    size: int
    places: tuple[tuple[str, int], ...]


class Lowering(ABC):
    """A network as one of another kind: the same weights, perhaps at other places, the same labels.

    Generic ranks, numbers of solutions and of real ones carry over; each lowering says why.
    """

    @property
    @abstractmethod
    def network(self) -> Network:
        """The network of the other kind."""

    @property
    def labels(self) -> tuple[Network, Support]:
        """A network whose labels are the teacher's, which need not be of the student's kind."""
        return self.network, {}

    def cell(self, cell: Cell) -> Cell:
        """Where a weight stands in the other network."""
        return cell

    def weights(self, weights: Mapping[str, np.ndarray], one: Any) -> dict[str, np.ndarray]:
        """The other network's matrices; `one` is that of the entries' ring."""
        return dict(weights)

    def teacher(self, teacher: Mapping[str, np.ndarray], one: Any) -> dict[str, np.ndarray]:
        """Weights of the other network that give the teacher's labels, where there are some."""
        return dict(teacher)

    def samples(self, X: np.ndarray, one: Any) -> np.ndarray:
        """The other network's samples."""
        return X


class Network(Programmed):
    """Base of the network kinds; use one of its subclasses, which are frozen dataclasses.

    Attributes
    ----------
    kind : str
        The name of the kind in a problem file.
    title : str
        What it is called in a sentence.
    column_letter : str
        What the number of label columns is called in words.
    drive_letter : str
        What drives the first matrix in written equations: the samples X, or U.
    only_verbs : str
        The verbs that know this kind, where those over all allocations do not.
    is_linear : bool
        Whether the labels are polynomials in the weights and linear in the samples.
    needs_entries : bool
        Whether the forward map needs entries that know their ring, not residues and a product.
    words : mapping of str to tuple of str
        What each choice among words may be.
    words_with_numbers : frozenset of str
        Those of them that take numbers: ``{ word = [c0, c1, …] }`` in a problem file.
    rates : tuple of str
        Matrices whose weights lie between 0 and 1.
    has_instances : bool
        Whether instances can be drawn and counted.
    meanings : mapping of str to str
    """

    kind: ClassVar[str] = ""
    title: ClassVar[str] = ""
    column_letter: ClassVar[str] = "m"
    drive_letter: ClassVar[str] = "X"
    only_verbs: ClassVar[str] = ""
    is_linear: ClassVar[bool] = True
    needs_entries: ClassVar[bool] = False
    words: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    words_with_numbers: ClassVar[frozenset[str]] = frozenset()
    rates: ClassVar[tuple[str, ...]] = ()
    has_instances: ClassVar[bool] = True
    meanings: ClassVar[Mapping[str, str]] = {}

    d: int
    m: int

    def __init_subclass__(cls) -> None:
        if "kind" in cls.__dict__:
            other = KINDS.setdefault(cls.kind, cls)
            if (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
                raise TypeError(f"two classes of kind {cls.kind!r}: {other} and {cls}")

    @classmethod
    def choices(cls) -> frozenset[str]:
        """Keys that are no sizes but choices, of words or yes or no: the kind checks them."""
        found = fields(cls)  # type: ignore[arg-type]
        return frozenset(f.name for f in found if isinstance(f.default, (str, bool)))

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            size: Any
            if field.name in self.choices():
                continue
            if field.name in ("widths", "hidden"):
                name = field.name
                if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
                    raise InputError(f"`{name}` ({shown(value)}) must be a list of whole numbers")
                size = tuple(
                    whole_number(width, f"{name}[{k}]", 1, MAX_CELLS)
                    for k, width in enumerate(value)
                )
            else:
                size = whole_number(value, field.name, 1, MAX_CELLS)
            object.__setattr__(self, field.name, size)
        held = {
            **self.shapes,
            "the samples X": self.input_shape,
            "the labels Y": (self.d, self.columns),
        }
        for name, (rows, columns) in held.items():
            if rows * columns > MAX_CELLS:
                raise InputError(
                    f"{name} would be {rows}×{columns}: more than {MAX_CELLS:.0e} entries; "
                    "choose smaller sizes"
                )

    @classmethod
    def located(cls, data: Mapping[str, Any], folder: Path | None) -> Mapping[str, Any]:
        """The [network] table with the names of files as seen from here, not from a folder."""
        return data

    @property
    @abstractmethod
    def shapes(self) -> dict[str, tuple[int, int]]:
        """Weight matrices in the order in which they act last to first: name to (rows, columns)."""

    def shape_of(self, name: Any, where: str = "") -> tuple[int, int]:
        """The shape of a matrix; refused, with the place it was named at, where there is none."""
        if not isinstance(name, str) or name not in self.shapes:
            raise InputError(
                f"{where}there is no matrix `{one_line(name)}` in a {self.title}; it has "
                + ", ".join(self.shapes)
            )
        return self.shapes[name]

    @property
    def drawn_shapes(self) -> dict[str, tuple[int, int]]:
        """The matrices that are drawn at a random point; the others are 0 there."""
        return self.shapes

    @property
    @abstractmethod
    def input_shape(self) -> tuple[int, int]:
        """Shape of the sample matrix X, one column a sample."""

    @property
    def columns(self) -> int:
        """Columns of the label matrix Y: the m samples, unless a kind reads each several times."""
        return self.m

    @property
    def equations_are(self) -> str:
        """What sort of equations a family leads to, where it depends on the network; else ""."""
        return ""

    def ranks_are_exact(self, support: Support) -> bool:
        """Whether ranks at points modulo primes are proved to tend to the generic ranks."""
        return True

    @property
    def rank_decides(self) -> bool:
        """Whether MP = 0 if and only if the allocation's Jacobian lacks rank.

        So where the labels are analytic in the weights, one piece for all samples.
        """
        return self.is_linear

    @property
    def independent_columns(self) -> int:
        """How many of Y's columns are linearly independent functions of the network's map.

        With more samples than inputs the labels of some follow from those of the others, for
        student and teacher alike.
        """
        return min(self.columns, self.input_shape[0])

    @property
    def teacher_shapes(self) -> dict[str, tuple[int, int]]:
        """Weight matrices of the teacher: the student's own, unless a kind says otherwise."""
        return self.shapes

    def teach(
        self, teacher: Mapping[str, Matrix], X: Matrix, matmul: Matmul = operator.matmul
    ) -> Matrix:
        """Labels Y (d×columns) that a teacher gives the samples."""
        return self.forward(teacher, X, matmul)

    @property
    def sizes(self) -> dict[str, Any]:
        """The sizes as they stand in a problem file."""
        return {
            f.name: list(v) if isinstance(v := getattr(self, f.name), tuple) else v
            for f in fields(self)  # type: ignore[arg-type]
        }

    def to_dict(self) -> dict[str, Any]:
        """The [network] table of a problem file."""
        return {"kind": self.kind, **self.sizes}

    @property
    def outputs(self) -> int:
        """Number of label entries, dm."""
        return self.d * self.columns

    @property
    def parameters(self) -> int:
        """Number of weights p."""
        return sum(rows * columns for rows, columns in self.shapes.values())

    def build(self) -> Program:
        raise self._no_jacobian()

    def drawn_model(self, support: Support, weights: int) -> tuple[Model, int, int | None] | None:
        """What is drawn from where ranks need it, an upper bound of the dimension, the ambient."""
        return None

    def reached(self, weights: Mapping[str, Matrix], X: Matrix) -> Matrix:
        """Labels that are 0 only where no path leads, of weights and samples that are 0 or 1."""
        return self.forward(weights, X)

    def affine_in(self, names: Collection[str]) -> bool:
        """Whether the labels are affine functions of all the weights of these matrices together."""
        return False

    @property
    def read_out(self) -> str | None:
        """The matrix D where Y = D Z, biases aside, and Z does not depend on D; None of others."""
        return None

    def chain(self) -> ChainLayout | None:
        """The network as a product of matrices, where it is one."""
        return None

    # -- the Jacobian ----------------------------------------------------------------

    def modular_tangents(self, point: Point, names: Sequence[str] | None) -> Factors:
        """The factors of the Jacobian's columns at a point over GF(p).

        Parameters
        ----------
        point : Point
        names : sequence of str or None
            Only these matrices.

        Returns
        -------
        dict of str to (ndarray, ndarray)
            L and R for each matrix; R has shape (S, columns, label columns), L (S, d, rows) or,
            where it differs from sample to sample, (S, d, label columns, rows).  The cell (i, j)
            moves the label (k, c) by the sum over s of L[s, k, (c,) i] R[s, j, c].
        """
        raise self._no_jacobian()

    def modular_forward(self, point: Point) -> Matrix:
        """Labels at a point of any matrices over GF(p) with the operations that `forward` uses.

        Of dual numbers, for instance: see `algebra.linear.derivatives`.
        """
        return self.forward(point.weights, point.X)

    def ball_columns(
        self, weights: Mapping[str, np.ndarray], X: np.ndarray, number: int, cells: Sequence[Cell]
    ) -> np.ndarray:
        """Columns of the Jacobian at a rational point, as balls of python-flint's precision.

        What is drawn besides weights and samples follows from the point's number.
        """
        raise self._no_jacobian()

    # -- what can be recorded ----------------------------------------------------------

    @property
    def label_steps(self) -> tuple[int | None, ...]:
        """The steps, from 0, at which the labels are read: m columns of Y each."""
        return (None,)

    def readings(self, what: str) -> tuple[Reading, ...]:
        """What can be recorded, one entry for each population and step.

        Parameters
        ----------
        what : {"labels", "traces", "states"}
            The labels; the outputs at every step; the states of the hidden units.
        """
        if what == LABELS:
            return tuple(Reading("outputs", step, self.d) for step in self.label_steps)
        raise self._no_reading(what)

    def modular_readings(
        self,
        what: str,
        point: Point,
        names: Sequence[str] | None,
        units: Sequence[np.ndarray] | None = None,
    ) -> list[Factors]:
        """The factors of the derivatives of `readings` (or of these units), at a point over GF(p).

        As of `modular_tangents`, with the units of each reading in place of the outputs; a matrix
        that a reading does not depend on is missing.
        """
        if what != LABELS:
            raise self._no_reading(what)
        factors, found = self.modular_tangents(point, names), []
        for k in range(len(self.label_steps)):
            at = slice(k * self.m, (k + 1) * self.m)
            parts = {
                n: (L if L.ndim == 3 else L[:, :, at], R[:, :, at]) for n, (L, R) in factors.items()
            }
            found.append(parts)
        return of_units(found, units)

    def factor_entries(self, what: str) -> int:
        """How many numbers the factors of `modular_readings` hold at most; 0 where they are few."""
        return 0

    def modular_values(self, what: str, point: Point) -> list[Matrix]:
        """What `modular_readings` differentiates, one matrix (units×m) each.

        At a point of dual numbers, as for `modular_forward`.
        """
        if what != LABELS:
            raise self._no_reading(what)
        Y = self.modular_forward(point)
        return [Y[:, k * self.m : (k + 1) * self.m] for k in range(len(self.label_steps))]

    def _no_reading(self, what: str) -> NotKnown:
        instead = "record outputs, entries or samples"
        if what == TRACES:
            return NotKnown(self, "steps at which outputs could be read", instead)
        return NotKnown(self, "derivatives of the states of hidden units", instead)

    @property
    def label_dimension_bound(self) -> int:
        """An upper bound, from counting, on the rank ρ of the whole Jacobian."""
        raise self._no_jacobian()

    @property
    def entry_degree(self) -> int:
        """Degree of a Jacobian entry as a polynomial in all that is drawn at a point."""
        raise self._no_jacobian()

    @property
    def entry_bits(self) -> int:
        """Bits of a bound on the sum of absolute coefficients of a Jacobian entry."""
        raise self._no_jacobian()

    @property
    def formal_collisions(self) -> int:
        """Pairs of values drawn at a point that should be independent but could meet by chance."""
        return 0

    def _no_jacobian(self) -> NotKnown:
        return NotKnown(
            self,
            "the Jacobian and the lifted equations",
            "a linear network is needed: here they depend on the activation pattern, or are those "
            "of the lowered network",
        )

    def lower(self) -> Lowering | None:
        """The network as one of another kind, where it is one in disguise."""
        return None

    def axes(self) -> tuple[Axis, ...]:
        """The units that may be renamed among each other, outputs first."""
        raise NotKnown(self, "the symmetries")

    def transposed(self) -> dict[str, str]:
        """Which matrix each becomes by transposition; empty where that is no symmetry."""
        return {}

    def limits(self) -> dict[str, MatrixLimits]:
        """How many equations the rows and columns of each matrix take part in."""
        raise NotKnown(self, "equation budgets", "use the generic rank instead")

    def enough_rank(self, name: str) -> int:
        """A rank such that changes of a matrix of this rank reach all labels that any change does.

        Let the labels depend on M only through what it does to the columns of some matrix R (what
        it receives) or the rows of some matrix L (what follows it), of rank at most k whatever the
        other weights.  With the projection P onto the columns of R, M + (M' − M) P does what M'
        does, and differs from M by a matrix of rank at most k; likewise from the left.  Where M
        stands at several places, R is all that it receives there: by induction along the network
        what it receives does not change.

        By default the rank of any matrix of its shape.
        """
        return min(self.shapes[name])

    @property
    def own_forms(self) -> tuple[str, ...]:
        """Names of the lifted forms that fit, of a network that is no chain."""
        raise self._no_jacobian()

    @property
    def has_limits(self) -> bool:
        """Whether the equation budgets of this kind are known."""
        try:
            return bool(self.limits())
        except NotKnown:
            return False

    def weight_text(self, name: str, row: str, column: str) -> str:
        """A weight as it is printed, its row and column by name or number."""
        return f"{name}[{row},{column}]"

    def population(self, name: str, line: str) -> str:
        """The units that the rows (or, by "column", the columns) of a matrix belong to.

        By default those of one matrix are a population of their own, named after it.
        """
        return name

    def roles(self) -> dict[str, tuple[str, ...]]:
        """The matrices that the papers' theorems speak of, by the name of their part.

        Parts are "decoder", "encoder", "recurrent" and "hidden layers"; a kind of which the
        papers do not speak has none.
        """
        return {}

    def check_verb(self, verb: str) -> None:
        """Check that a verb over all allocations (audit, atlas, design) knows this kind.

        Raises
        ------
        InputError
            Naming the verbs that do.
        """
        if self.only_verbs:
            raise InputError(f"{verb} does not know {self.title} networks; {self.only_verbs} do")

    def need_ranks(self, verb: str, support: Support) -> None:
        """Refuse a verb that rests on generic ranks, where these are not known exactly."""
        return

    def narrow(self) -> list[str]:
        """What is too narrow for "a fully-learned teacher can express any linear function"."""
        return []

    def __str__(self) -> str:
        sizes = ", ".join(f"{k} = {v}" for k, v in self.sizes.items())
        return f"{self.title}: {sizes}"
