r"""Matrices that learn by an update of few parameters: low rank, gains, ties.

Fine-tuning rarely changes single cells.  An *update* says how a matrix W, drawn at random, moves
with parameters θ of its own:

======================  ==========================================  ======================
in [learnable]          the matrix becomes                          parameters
======================  ==========================================  ======================
``{ lora = k }``        W + U Vᵀ, U rows×k, V columns×k             k (rows + columns)
``{ gain = "rows" }``   diag(g) W: one factor for each row          rows
``{ gain = "columns" }``  W diag(g)                                 columns
``{ tied = [[…]] }``    W + Σ_k t_k 1[number = k]: cells with       different numbers
                        equal numbers move by the same amount
======================  ==========================================  ======================

**What moves.**  The map is a polynomial in (W, θ), and (W, θ) ↦ (updated W, θ) can be undone: at a
generic (W, θ) the updated matrix is as generic as any, and independent of U and V.  So the tangent
of every update is told by a generic W and, for a low rank, generic U and V (at the usual start
V = 0 it would be smaller; a match may lie anywhere).  It is spanned by matrices
Σ left[:, i] right[j, :], the sum over a few places (i, j) for each parameter (`Motion`):

* low rank: dU Vᵀ + U dVᵀ, places (i, a) with right = Vᵀ and (a, j) with left = U;
* gains: diag(dg) W, the places (i, i) with right = W (up to the factors 1/g, which change no
  span), or W diag(dg), with left = W;
* ties: the places of each number.

**Dimension.**  U Vᵀ = (U G)(V G⁻ᵀ)ᵀ for every G in GL_k: of the k (p + q) parameters k² are gauge,
the matrices of rank k form a variety of dimension k (p + q − k) [1]_.  Gains and ties have none.

References
----------
.. [1] J. Harris, "Algebraic Geometry: A First Course", Springer 1992, Proposition 12.2.
.. [2] E. J. Hu et al., "LoRA: low-rank adaptation of large language models", arXiv 2106.09685.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from algebra.errors import InputError, one_line, shown, whole_number
from algebra.networks.base import Cell, Network
from algebra.problems.allocation import Allocation

# A place of a motion: column of `left`, row of `right`.
Place = tuple[int, int]


@dataclass(frozen=True)
class Motion:
    """Directions Σ left[:, i] right[j, :] in which an update moves a matrix.

    Attributes
    ----------
    left, right : ndarray or None
        None is the identity.
    places : tuple of tuples of (int, int)
        For each parameter the places (i, j) that are summed.
    """

    left: np.ndarray | None
    right: np.ndarray | None
    places: tuple[tuple[Place, ...], ...]


class Update(ABC):
    """How a matrix learns other than cell by cell: `LowRank`, `Gain` or `Tied`.

    Attributes
    ----------
    keyword : str
        Its key in a problem file.
    is_linear : bool
        Whether the matrix is affine in the parameters.
    """

    keyword: ClassVar[str]
    is_linear: ClassVar[bool] = True

    @abstractmethod
    def check(self, name: str, shape: tuple[int, int], support: np.ndarray | None) -> None:
        """Refuse what does not fit the matrix.

        Raises
        ------
        InputError
        """

    @abstractmethod
    def arrays(self, shape: tuple[int, int]) -> dict[str, tuple[int, int]]:
        """Parameters as arrays: letter to shape, in the order in which they are numbered."""

    @abstractmethod
    def names(self, name: str, shape: tuple[int, int]) -> list[str]:
        """What each parameter is called, in that order."""

    @abstractmethod
    def apply(self, W: Any, values: Mapping[str, Any]) -> Any:
        """The updated matrix, over any ring: `values` are the arrays of the parameters."""

    @abstractmethod
    def motions(self, W: np.ndarray, values: Mapping[str, np.ndarray]) -> tuple[Motion, ...]:
        """The tangent at an updated matrix W, parameters in their order."""

    @abstractmethod
    def mask(self, shape: tuple[int, int], support: np.ndarray | None) -> np.ndarray:
        """The cells that can change."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """As in a problem file."""

    @abstractmethod
    def words(self, name: str, shape: tuple[int, int]) -> str:
        """What it does, in a few words."""

    def size(self, shape: tuple[int, int]) -> int:
        """Number of parameters."""
        return sum(rows * columns for rows, columns in self.arrays(shape).values())

    def dimension(self, shape: tuple[int, int]) -> int:
        """Dimension of the set of updated matrices."""
        return self.size(shape)

    def drawn(self, shape: tuple[int, int]) -> tuple[str, ...]:
        """Arrays of parameters that the tangent depends on."""
        return ()

    def as_cells(
        self, shape: tuple[int, int], support: np.ndarray | None, enough: int
    ) -> np.ndarray | None:
        """The mask of cells that reach the same labels; None where no cells do.

        Parameters
        ----------
        shape : (int, int)
        support : mask or None
        enough : int
            A rank of changes beyond which nothing is gained: `Network.enough_rank`.
        """
        return None


@dataclass(frozen=True)
class LowRank(Update):
    """W + U Vᵀ with k columns in U and in V: ``{ lora = k }``.

    Examples
    --------
    >>> LowRank(2).size((4, 3)), LowRank(2).dimension((4, 3))
    (14, 10)
    """

    rank: int

    keyword: ClassVar[str] = "lora"
    is_linear: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "rank", whole_number(self.rank, "lora", 1))

    def check(self, name: str, shape: tuple[int, int], support: np.ndarray | None) -> None:
        if self.rank > min(shape):
            raise InputError(
                f"learnable.{name}: lora = {shown(self.rank)} is more than {min(shape)}: no "
                f"{shape[0]}×{shape[1]} matrix has a larger rank"
            )
        if support is not None and not np.asarray(support).all():
            raise InputError(
                f"learnable.{name}: a low-rank update fills the structural zeros of "
                f"support.{name}; take cells, gains or ties there"
            )

    def arrays(self, shape: tuple[int, int]) -> dict[str, tuple[int, int]]:
        return {"U": (shape[0], self.rank), "V": (self.rank, shape[1])}

    def names(self, name: str, shape: tuple[int, int]) -> list[str]:
        k = self.rank
        first = [f"U_{name}[{i},{a}]" for i in range(shape[0]) for a in range(k)]
        return first + [f"V_{name}[{j},{a}]" for a in range(k) for j in range(shape[1])]

    def apply(self, W: Any, values: Mapping[str, Any]) -> Any:
        return W + values["U"] @ values["V"]

    def motions(self, W: np.ndarray, values: Mapping[str, np.ndarray]) -> tuple[Motion, ...]:
        rows, columns, k = len(W), W.shape[1], self.rank
        first = tuple(((i, a),) for i in range(rows) for a in range(k))
        second = tuple(((a, j),) for a in range(k) for j in range(columns))
        return Motion(None, values["V"], first), Motion(values["U"], None, second)

    def mask(self, shape: tuple[int, int], support: np.ndarray | None) -> np.ndarray:
        return np.ones(shape, np.int8)

    def dimension(self, shape: tuple[int, int]) -> int:
        return self.rank * (sum(shape) - self.rank)

    def drawn(self, shape: tuple[int, int]) -> tuple[str, ...]:
        return ("U", "V")

    def as_cells(
        self, shape: tuple[int, int], support: np.ndarray | None, enough: int
    ) -> np.ndarray | None:
        return self.mask(shape, support) if self.rank >= enough else None

    def to_dict(self) -> dict[str, Any]:
        return {self.keyword: self.rank}

    def words(self, name: str, shape: tuple[int, int]) -> str:
        return f"{name} + U Vᵀ of rank {self.rank}"


@dataclass(frozen=True)
class Gain(Update):
    """diag(g) W or W diag(g): ``{ gain = "rows" | "columns" }``."""

    line: str

    keyword: ClassVar[str] = "gain"

    def __post_init__(self) -> None:
        if self.line not in ("rows", "columns"):
            raise InputError(f'`gain` ({shown(self.line)}) must be "rows" or "columns"')

    @property
    def _axis(self) -> int:
        return 0 if self.line == "rows" else 1

    def check(self, name: str, shape: tuple[int, int], support: np.ndarray | None) -> None:
        """Gains keep structural zeros: they fit every matrix."""

    def arrays(self, shape: tuple[int, int]) -> dict[str, tuple[int, int]]:
        return {"g": (shape[0], 1) if self.line == "rows" else (1, shape[1])}

    def names(self, name: str, shape: tuple[int, int]) -> list[str]:
        return [f"g_{name}[{k}]" for k in range(shape[self._axis])]

    def apply(self, W: Any, values: Mapping[str, Any]) -> Any:
        return values["g"] * W

    def motions(self, W: np.ndarray, values: Mapping[str, np.ndarray]) -> tuple[Motion, ...]:
        places = tuple(((k, k),) for k in range(W.shape[self._axis]))
        return (Motion(None, W, places) if self.line == "rows" else Motion(W, None, places),)

    def mask(self, shape: tuple[int, int], support: np.ndarray | None) -> np.ndarray:
        return np.ones(shape, np.int8) if support is None else np.asarray(support, np.int8)

    def as_cells(
        self, shape: tuple[int, int], support: np.ndarray | None, enough: int
    ) -> np.ndarray | None:
        """Where each line holds one weight at most: a factor of a weight that is not 0."""
        mask = self.mask(shape, support)
        return mask if (mask.sum(axis=1 - self._axis) <= 1).all() else None

    def to_dict(self) -> dict[str, Any]:
        return {self.keyword: self.line}

    def words(self, name: str, shape: tuple[int, int]) -> str:
        return f"diag(g) {name}" if self.line == "rows" else f"{name} diag(g)"


@dataclass(frozen=True)
class Tied(Update):
    """Cells with equal numbers move by the same amount: ``{ tied = [[1, 1], [2, 0]] }``.

    Those with the number 0 are fixed.

    Examples
    --------
    >>> Tied([[1, 1], [7, 0]]).names("W", (2, 2))
    ['t_W[1]', 't_W[7]']
    """

    numbers: Any

    keyword: ClassVar[str] = "tied"

    def __post_init__(self) -> None:
        value = self.numbers
        if isinstance(value, np.ndarray):
            value = value.tolist()
        is_rows = isinstance(value, (list, tuple)) and all(
            isinstance(row, (list, tuple)) for row in value
        )
        if not is_rows or len({len(row) for row in value}) != 1:
            raise InputError(f"`tied` ({shown(value)}) must be a matrix of whole numbers")
        rows = tuple(
            tuple(whole_number(v, f"tied[{i}][{j}]", 0) for j, v in enumerate(row))
            for i, row in enumerate(value)
        )
        object.__setattr__(self, "numbers", rows)

    @cached_property
    def groups(self) -> dict[int, tuple[Place, ...]]:
        """The cells of each number."""
        found: dict[int, list[Place]] = {}
        for i, row in enumerate(self.numbers):
            for j, number in enumerate(row):
                if number:
                    found.setdefault(number, []).append((i, j))
        return {number: tuple(found[number]) for number in sorted(found)}

    def check(self, name: str, shape: tuple[int, int], support: np.ndarray | None) -> None:
        own = len(self.numbers), len(self.numbers[0])
        if own != shape:
            raise InputError(
                f"learnable.{name}: `tied` is {own[0]}×{own[1]} but the network's matrix is "
                f"{shape[0]}×{shape[1]}"
            )
        if support is not None:
            bad = np.argwhere((np.asarray(self.numbers) != 0) & (np.asarray(support) == 0))
            if len(bad):
                i, j = bad[0]
                raise InputError(
                    f"learnable.{name}: tied[{i}][{j}] is {self.numbers[i][j]} but "
                    f"support.{name}[{i}, {j}] is 0: a weight that does not exist cannot learn"
                )

    def arrays(self, shape: tuple[int, int]) -> dict[str, tuple[int, int]]:
        return {"t": (len(self.groups), 1)}

    def names(self, name: str, shape: tuple[int, int]) -> list[str]:
        return [f"t_{name}[{number}]" for number in self.groups]

    def apply(self, W: Any, values: Mapping[str, Any]) -> Any:
        index = np.zeros((len(self.numbers), len(self.numbers[0])), int)
        for k, places in enumerate(self.groups.values()):
            for place in places:
                index[place] = k + 1
        if not self.groups:
            return W
        t = values["t"]
        # A zero first: cells with the number 0 stay.
        padded = np.concatenate([t[:1] * 0, t])
        return W + padded[:, 0][index]

    def motions(self, W: np.ndarray, values: Mapping[str, np.ndarray]) -> tuple[Motion, ...]:
        return (Motion(None, None, tuple(self.groups.values())),)

    def mask(self, shape: tuple[int, int], support: np.ndarray | None) -> np.ndarray:
        return (np.asarray(self.numbers) != 0).astype(np.int8)

    def as_cells(
        self, shape: tuple[int, int], support: np.ndarray | None, enough: int
    ) -> np.ndarray | None:
        """Where no two cells have the same number."""
        alone = all(len(places) == 1 for places in self.groups.values())
        return self.mask(shape, support) if alone else None

    def to_dict(self) -> dict[str, Any]:
        return {self.keyword: [list(row) for row in self.numbers]}

    def words(self, name: str, shape: tuple[int, int]) -> str:
        cells = sum(map(len, self.groups.values()))
        return f"{name} with {cells} cells tied in {len(self.groups)} groups"


UPDATES: dict[str, type[Update]] = {cls.keyword: cls for cls in (LowRank, Gain, Tied)}


def read_update(data: Mapping[str, Any], name: str) -> Update:
    """An update from its table in a problem file.

    Raises
    ------
    InputError
        Beginning with `name`.
    """
    if len(data) != 1 or next(iter(data)) not in UPDATES:
        raise InputError(
            f"{name}: {shown(dict(data))} must have one of the keys random, " + ", ".join(UPDATES)
        )
    [(key, value)] = data.items()
    try:
        return UPDATES[key](value)  # type: ignore[call-arg]
    except InputError as error:
        raise InputError(f"{name}: {one_line(error)}") from None


@dataclass(frozen=True)
class Learning:
    """All that learns: cells, and matrices with updates.

    Parameters, where they are numbered, are the cells in their order, then the updates' in the
    order of the network's matrices.

    Attributes
    ----------
    network : Network
    cells : tuple of cells
    updates : mapping of str to Update
    support : mapping of str to mask
    """

    network: Network
    cells: tuple[Cell, ...]
    updates: Mapping[str, Update]
    support: Mapping[str, np.ndarray]

    @property
    def size(self) -> int:
        """Number r of parameters that learn."""
        shapes = self.network.shapes
        return len(self.cells) + sum(u.size(shapes[name]) for name, u in self.updates.items())

    @property
    def dimension(self) -> int:
        """Dimension of the set of students: r less the gauge."""
        shapes = self.network.shapes
        own = sum(u.dimension(shapes[name]) for name, u in self.updates.items())
        return len(self.cells) + own

    @property
    def names(self) -> list[str]:
        """What each parameter is called."""
        found = [f"{name}[{i},{j}]" for name, i, j in self.cells]
        for name, update in self.updates.items():
            found += update.names(name, self.network.shapes[name])
        return found

    @property
    def matrices(self) -> tuple[str, ...]:
        """Names of the matrices that learn at all."""
        used = {cell[0] for cell in self.cells} | set(self.updates)
        return tuple(name for name in self.network.shapes if name in used)

    @cached_property
    def moving(self) -> Allocation:
        """The cells that can change, each by itself or with others."""
        masks = {
            name: update.mask(self.network.shapes[name], self.support.get(name))
            for name, update in self.updates.items()
        }
        moved = Allocation.from_masks(self.network, masks)
        return Allocation.from_cells(self.network, (*self.cells, *moved.cells))

    @property
    def is_affine(self) -> bool:
        """Whether the labels are affine in all parameters together."""
        linear = all(update.is_linear for update in self.updates.values())
        return linear and self.network.affine_in(self.matrices)
