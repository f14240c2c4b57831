"""Base class of network architectures: sizes, weight matrices and the map that they compute.

A network is a description without weights: its matrices, their shapes, and the map to the output.
The forward map is written once, over any ring of entries.  Letters are those of Schlisselberg &
Darshan (arXiv 2502.06300), with 0-based indices.

Other modules use a kind only through these methods and those of `algebra.networks.protocols`, of
which a kind has what it knows.
"""

from __future__ import annotations

import fnmatch
import operator
from abc import abstractmethod
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from algebra.errors import InputError, one_line, shown, whole_number
from algebra.linalg.modular import matmul as modular_matmul
from algebra.networks.kinds import KINDS as KINDS
from algebra.programs.programmed import Programmed

if TYPE_CHECKING:
    from algebra.networks.chain_layout import ChainLayout
    from algebra.programs.generic import Model
    from algebra.programs.jacobian import Sweep

Matrix = Any
Matmul = Callable[[Matrix, Matrix], Matrix]
# The factors L and R of each matrix's columns of the Jacobian: see `HasJacobian.modular_tangents`.
Factors = dict[str, tuple[np.ndarray, np.ndarray]]
# A weight: matrix, row, column, 0-based.
Cell = tuple[str, int, int]


class ColumnFactors(Factors):
    """The factors of a Jacobian that is no sum of products: its columns are computed on request.

    As the factors of a matrix it returns one R for each column of the matrix, with a single 1, and
    the derivatives as L.

    Parameters
    ----------
    network : HasJacobian
    sweep : Sweep
        Of a program of the network.
    """

    def __init__(self, network: Any, sweep: Sweep) -> None:
        super().__init__()
        self.network, self.sweep = network, sweep

    def columns(self, cells: Sequence[Cell]) -> np.ndarray:
        """Columns of the Jacobian, as for `algebra.ranks.jacobian.jacobian`."""
        return self.sweep.jacobian([self.network.place(cell) for cell in cells])

    def __contains__(self, name: object) -> bool:
        return name in self.network.shapes

    def __missing__(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        rows, columns = self.network.shapes[name]
        cells = [(name, i, j) for i in range(rows) for j in range(columns)]
        J = self.columns(cells).reshape(self.sweep.total, self.sweep.batch, rows, columns)
        ones = np.eye(columns, dtype=np.int64)[:, :, None]
        L = np.moveaxis(J, -1, 0)
        self[name] = L, np.broadcast_to(ones, (columns, columns, self.sweep.batch))
        return self[name]


# Structural zeros: masks that are 0 where a weight does not exist; a matrix without mask is dense.
Support = Mapping[str, np.ndarray]

# Why ranks modulo random primes are the generic ranks: `Network.why_exact`.
POLYNOMIAL_LABELS = "the labels are polynomials"

# A dense matrix beyond this many entries cannot be held or certified on one machine; of a sparse
# one only the entries that exist count (`algebra.networks.masks`).
MAX_CELLS = 10**8
MAX_SPARSE_CELLS = 4 * 10**10
# Number of matrices that a message names.
_MOST_NAMES = 20


# The labels; the outputs of a recurrent network at every step; the states of hidden units.
LABELS, TRACES, STATES = "labels", "traces", "states"


@dataclass(frozen=True)
class Reading:
    """Values at one time: one for each unit of a population and each sample.

    Attributes
    ----------
    axis : str
        The population, by its name among the network's axes: "outputs", "hidden units", ….
    step : int or None
        The step, from 0; None for a network without steps.
    size : int
        Number of units.
    """

    axis: str
    step: int | None
    size: int


@dataclass(frozen=True)
class Point:
    """A point over GF(p): weights and samples.

    Attributes
    ----------
    p : int
    seed : int
        Number of the point: it determines all that is drawn besides weights and samples.
    weights : dict of str to matrix over GF(p)
    X : matrix over GF(p)
    signs : tuple of ndarray of bool
        The activation pattern of given parameters: `algebra.networks.own_point`.
    """

    p: int
    seed: int
    weights: Mapping[str, Matrix]
    X: Matrix
    signs: tuple[np.ndarray, ...] = ()

    def of_samples(self, some: slice) -> Point:
        """The point with some of its samples."""
        signs = tuple(pattern[:, some] for pattern in self.signs)
        return replace(self, X=self.X[:, some], signs=signs)

    def matmul(self, a: Matrix, b: Matrix) -> Matrix:
        """Product of residues modulo p."""
        return modular_matmul(a, b, self.p)

    def reduced(self, a: Matrix) -> Matrix:
        """Residues of a sum."""
        return a % self.p


@dataclass(frozen=True)
class Axis:
    """Units that can be permuted.

    Attributes
    ----------
    name : str
    size : int
    places : tuple of (str, int)
        The matrices and axes (0 rows, 1 columns) that they index.
    """

    name: str
    size: int
    places: tuple[tuple[str, int], ...]


def _width(value: Any, name: str, nested: bool) -> int | tuple[int, ...]:
    """A width; if they are `nested` also a list of them, which is a number if it has one entry."""
    if not nested or not isinstance(value, (list, tuple)):
        return whole_number(value, name, 1, MAX_CELLS)
    if not value:
        raise InputError(f"`{name}` ([]) must name at least one width")
    found = tuple(whole_number(w, f"{name}[{k}]", 1, MAX_CELLS) for k, w in enumerate(value))
    return found if len(found) > 1 else found[0]


def _listed(value: Any) -> Any:
    """Lists in place of tuples, as files have them."""
    return [_listed(entry) for entry in value] if isinstance(value, tuple) else value


class Network(Programmed):
    """Base of the network kinds; use one of its subclasses, which are frozen dataclasses.

    Attributes
    ----------
    kind : str
        The name of the kind in a problem file.
    family : str
        The family that certifies and verifies it: see `algebra.families.registry`.
    title : str
        The kind's name in a sentence.
    column_letter : str
        The letters of the number of label columns.
    drive_letter : str
        The letter of the matrix that the first weight matrix multiplies in printed equations: X or
        U.
    only_verbs : str
        The verbs for this kind, if those over all allocations do not support it.
    is_linear : bool
        Whether the labels are polynomials in the weights and linear in the samples.
    needs_entries : bool
        Whether the forward map needs entries that know their ring, rather than residues and a
        product.
    words : mapping of str to tuple of str
        The permitted values of each option that is a word.
    words_with_numbers : frozenset of str
        Those words that take numbers: ``{ word = [c0, c1, …] }`` in a problem file.
    nested : frozenset of str
        Lists of sizes in which an entry may be a list itself.
    rates : tuple of str
        Matrices whose weights lie between 0 and 1.
    has_instances : bool
        Whether instances can be drawn and counted.
    sparse : frozenset of str
        Matrices that may be given by the weights that exist.
    bounded_by_support : frozenset of str
        Matrices whose size a problem checks, which knows the weights that exist.
    smooth : bool
        Whether all samples are evaluated by the same analytic function; not where each has an
        activation pattern of its own.
    untaught : frozenset of str
        Matrices that are 0 in a drawn teacher.
    meanings : mapping of str to str
    """

    kind: ClassVar[str] = ""
    family: ClassVar[str] = ""
    title: ClassVar[str] = ""
    column_letter: ClassVar[str] = "m"
    drive_letter: ClassVar[str] = "X"
    only_verbs: ClassVar[str] = ""
    is_linear: ClassVar[bool] = True
    needs_entries: ClassVar[bool] = False
    words: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    words_with_numbers: ClassVar[frozenset[str]] = frozenset()
    nested: ClassVar[frozenset[str]] = frozenset()
    rates: ClassVar[tuple[str, ...]] = ()
    has_instances: ClassVar[bool] = True
    # Whether a verb makes networks of this kind, and nobody chooses their sizes.
    made_from_problems: ClassVar[bool] = False
    sparse: ClassVar[frozenset[str]] = frozenset()
    bounded_by_support: ClassVar[frozenset[str]] = frozenset()
    smooth: ClassVar[bool] = True
    untaught: ClassVar[frozenset[str]] = frozenset()
    meanings: ClassVar[Mapping[str, str]] = {}
    # The `Lowered` problem that is solved, if that of a linear network is (`lower`).
    reduction: ClassVar[str] = "algebra.problems.reduction:AsLinear"

    # The SHA-256 of a model that the network was read from.
    digest: ClassVar[str] = ""
    # Whether the map is linear only on each side of kinks: ranks are those at given parameters.
    has_kinks: ClassVar[bool] = False
    # Arrays whose product with others is added to a matrix, and is 0 before training.
    added: tuple[str, ...] = ()
    # Given parameters and samples at which ranks are wanted: `algebra.networks.own_point`.
    own_point: ClassVar[Any] = None
    # The function and the layers of a feed-forward model: `algebra.networks.layered.layers_of`.
    affine_layers: ClassVar[Any] = None

    d: int
    m: int

    def __init_subclass__(cls) -> None:
        if "kind" in cls.__dict__:
            KINDS[cls.kind] = cls

    @classmethod
    def choices(cls) -> frozenset[str]:
        """Keys that are options instead of sizes (words, true or false); the kind checks them."""
        found = fields(cls)  # type: ignore[arg-type]
        return frozenset(f.name for f in found if isinstance(f.default, (str, bool)))

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            name, value = field.name, getattr(self, field.name)
            size: Any
            if name in self.choices():
                continue
            if name in ("widths", "hidden"):
                if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
                    raise InputError(f"`{name}` ({shown(value)}) must be a list of whole numbers")
                nested = name in self.nested
                size = tuple(_width(w, f"{name}[{k}]", nested) for k, w in enumerate(value))
            else:
                size = whole_number(value, name, 1, MAX_CELLS)
            object.__setattr__(self, name, size)
        held = {
            **self.shapes,
            "the samples X": self.input_shape,
            "the labels Y": (self.d, self.columns),
        }
        for name, (rows, columns) in held.items():
            most = MAX_SPARSE_CELLS if name in self.bounded_by_support else MAX_CELLS
            if rows * columns > most:
                raise InputError(
                    f"{name} would be {rows}×{columns}: more than {most:.0e} entries; "
                    "choose smaller sizes"
                )

    @classmethod
    def located(cls, data: Mapping[str, Any], folder: Path | None) -> Mapping[str, Any]:
        """The [network] table, in which file names relative to `folder` are replaced by paths."""
        return data

    @property
    @abstractmethod
    def shapes(self) -> dict[str, tuple[int, int]]:
        """Weight matrices, the last to act first: name to (rows, columns)."""

    def shape_of(self, name: Any, where: str = "") -> tuple[int, int]:
        """The shape of a matrix; an unknown name is refused, with its place in the input."""
        if not isinstance(name, str) or name not in self.shapes:
            raise InputError(
                f"{where}there is no matrix `{one_line(name)}` in a {self.title}; it has "
                + ", ".join(self.shapes)
            )
        return self.shapes[name]

    @property
    @abstractmethod
    def input_shape(self) -> tuple[int, int]:
        """Shape of the sample matrix X, one column for each sample."""

    @property
    def columns(self) -> int:
        """Number of columns of Y: m, unless a kind reads each sample several times."""
        return self.m

    @property
    def divided_unknowns(self) -> int:
        """Up to so many learnable weights, and labels, instances are decided over all weights."""
        return 0

    @property
    def equations_are(self) -> str:
        """The type of the equations, if it depends on the network; otherwise ""."""
        return ""

    def why_exact(self, support: Support, seed: object = 0) -> str:
        """Why ranks modulo random primes are the generic ranks; "" if they may be smaller.

        Parameters
        ----------
        support : mapping of str to mask
        seed : object, optional
            It determines points, where the reason is found at points.
        """
        return POLYNOMIAL_LABELS

    def ranks_are_exact(self, support: Support) -> bool:
        """Whether ranks modulo random primes are the generic ranks, with high probability."""
        return bool(self.why_exact(support))

    @property
    def has_given_weights(self) -> bool:
        """Whether fixed weights are those of a model's file."""
        return False

    def at_file(self, learnable: Support, support: Support) -> Self:
        """The network whose fixed weights are those of its file, if it has given ones."""
        return self

    def anywhere(self) -> Self:
        """The network at arbitrary weights: the teacher's."""
        return self

    @property
    def rank_decides(self) -> bool:
        """Whether MP = 0 if and only if the allocation's Jacobian lacks rank.

        True if the labels are one analytic function of the weights, the same for all samples.
        """
        return self.is_linear

    @property
    def is_affine(self) -> bool:
        """Whether the labels are affine in the sample."""
        return self.is_linear

    @property
    def independent_columns(self) -> int:
        """Number of columns of Y that are linearly independent as functions of the network's map.

        With more samples than inputs some columns are linear combinations of the others, for
        student and teacher alike.
        """
        return min(self.columns, self.input_shape[0])

    @property
    def teacher_shapes(self) -> dict[str, tuple[int, int]]:
        """Weight matrices of the teacher: the student's, unless a kind defines others."""
        return self.shapes

    def teach(
        self, teacher: Mapping[str, Matrix], X: Matrix, matmul: Matmul = operator.matmul
    ) -> Matrix:
        """Labels Y (d×columns) of the samples for a teacher's weights."""
        return self.forward(teacher, X, matmul)

    @property
    def sizes(self) -> dict[str, Any]:
        """The sizes as they are written in a problem file."""
        return {
            f.name: _listed(getattr(self, f.name))
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

    def drawn_model(self, support: Support) -> Model | None:
        """The model to draw if ranks need one."""
        return None

    @property
    def needs_teacher(self) -> str:
        """Why only another network's labels have a meaning; "" if its own have."""
        return ""

    def relays(self, support: Support) -> list[int]:
        """The hidden units that only pass on their inputs: none."""
        return []

    def affine_in(self, names: Collection[str]) -> bool:
        """Whether the labels are an affine function of all weights of these matrices jointly."""
        return False

    def chain(self) -> ChainLayout | None:
        """The network as a product of matrices, if it is one."""
        return None

    # -- what can be recorded ----------------------------------------------------------

    @property
    def label_steps(self) -> tuple[int | None, ...]:
        """The steps, from 0, at which the labels are read; each gives m columns of Y."""
        return (None,)

    def readings(self, what: str) -> tuple[Reading, ...]:
        """The values that can be recorded, one entry for each population and step.

        Parameters
        ----------
        what : {"labels", "traces", "states"}
            The labels; the outputs at every step; the states of the hidden units.

        Returns
        -------
        tuple of Reading
            Empty if the network has no steps, or no hidden units whose states are known.
        """
        if what == LABELS:
            return tuple(Reading("outputs", step, self.d) for step in self.label_steps)
        return ()

    @property
    def determining_samples(self) -> int:
        """The number of generic samples that determine the labels of all others, for all weights.

        The labels of a linear network are Y = A X: a basis of the samples' span is enough.
        """
        return min(self.m, self.input_shape[0]) if self.is_linear else self.m

    def with_samples(self, m: int) -> Self:
        """The same network with another number of samples."""
        return replace(self, m=m)  # type: ignore[type-var]

    def with_input(self) -> Self | None:
        """The network with one more input at every step, the last; None if units have no inputs."""
        return None

    def lower(self) -> Network | None:
        """The linear network that it is solved as, if there is one (`reduction`)."""
        return None

    @property
    def parameters_of(self) -> Mapping[str, tuple[str, Any, str, tuple[int, int]]]:
        """The arrays of parameters of updates: see `algebra.ranks.parametrized`."""
        return {}

    def weight_text(self, name: str, row: str, column: str) -> str:
        """A weight in printed form, its row and column by name or number."""
        return f"{name}[{row},{column}]"

    def matching(self, pattern: str) -> list[str]:
        """The matrices whose names fit a pattern such as ``"*.bias"``."""
        return fnmatch.filter(self.shapes, pattern)

    def known_names(self) -> str:
        """What `matching` takes, in words: the first names of matrices."""
        names = list(self.shapes)
        return ", ".join(names[:_MOST_NAMES]) + ", …" * (len(names) > _MOST_NAMES)

    def population(self, name: str, line: str) -> str:
        """The population of units of the rows (or, by "column", the columns) of a matrix.

        By default those of one matrix are a population of their own, named after it.
        """
        return name

    def check_verb(self, verb: str) -> None:
        """Check that a verb over all allocations (audit, atlas, design) supports this kind.

        Raises
        ------
        InputError
            If it does not; the message names the verbs that do.
        """
        if self.only_verbs:
            raise InputError(f"{verb} does not support {self.title} networks; {self.only_verbs} do")

    def need_ranks(
        self, verb: str, support: Support, attained: Callable[[], bool] | None = None
    ) -> None:
        """Refuse a verb that relies on generic ranks, if these are not known exactly.

        Parameters
        ----------
        verb : str
        support : mapping of str to mask
        attained : callable, optional
            Returns whether the ranks are proved to be the generic ones; called if only upper bounds
            of generic ranks are known.

        Raises
        ------
        InputError
            If the ranks are upper bounds that are not proved to be attained.
        """

    def __str__(self) -> str:
        sizes = ", ".join(f"{k} = {v}" for k, v in self.sizes.items())
        return f"{self.title}: {sizes}"
