r"""Matrices that learn by an update of few parameters: low rank, gains, ties.

Fine-tuning rarely changes single cells.  An *update* is a map from parameters θ of its own to
changes of a matrix W that is drawn at random:

========================  =======================================  ======================
in [learnable]            the matrix becomes                       parameters
========================  =======================================  ======================
``{ lora = k }``          W + U Vᵀ, U rows×k, V columns×k          k (rows + columns)
``{ gain = "rows" }``     diag(g) W: one factor for each row       rows
``{ gain = "columns" }``  W diag(g)                                columns
``{ gain = …, groups }``  one factor for each group of lines,      different numbers
                          or of cells (``gain = "cells"``)
``{ tied = [[…]] }``      W + Σ_k t_k 1[number = k]: cells with    different numbers
                          equal numbers move by the same amount
========================  =======================================  ======================

**As a program.**  `Update.learned` writes the updated matrix into a program, as a value of W and of
new blocks for the parameters, or its product with a value x (`algebra.programs.rewriting`):

.. math:: (W + U V) x = W x + U (V x), \quad diag(g) W x = g ∘ (W x), \quad W diag(g) x = W (g ∘ x).

All values and derivatives follow from it, also where W is given by its entries.  Gains and ties
move each cell by one parameter (`Update.numbers_at`).

**Generic points.**  The map is a polynomial in (W, θ), and (W, θ) ↦ (updated W, θ) is invertible:
at a generic (W, θ) the updated matrix is as generic as any, and independent of U and V.  So the
tangent of every update is computed at a generic W and, for a low rank, generic U and V (at the
usual start V = 0 it would be smaller, but a match may be anywhere).

**Dimension.**  U Vᵀ = (U G)(V G⁻ᵀ)ᵀ for every G in GL_k: of the k (p + q) parameters k² are gauge,
and the matrices of rank k form a variety of dimension k (p + q − k) [1]_.  Gains and ties have no
gauge.

References
----------
.. [1] J. Harris, "Algebraic Geometry: A First Course", Springer 1992, Proposition 12.2.
.. [2] E. J. Hu et al., "LoRA: low-rank adaptation of large language models", arXiv 2106.09685.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from algebra.errors import ErrorsAt, InputError, need_shape, shown, whole_number
from algebra.files.arrays import coordinates_of
from algebra.linalg.sparse import SparseMatrix
from algebra.networks.masks import LARGE
from algebra.problems.premises import Feature
from algebra.words import plural

if TYPE_CHECKING:
    from algebra.programs.program import Builder, Value

# Matrices of numbers with more entries are held by those that are not 0.
_LARGE = 1 << 16
# A place of a motion: a column of `left`, a row of `right`.
Place = tuple[int, int]


class Update(ABC):
    """A rule by which a matrix learns, other than cell by cell: `LowRank`, `Gain` or `Tied`.

    Attributes
    ----------
    keyword : str
        Its key in a problem file.
    feature : Feature
        What a theorem on it has to cover.
    is_linear : bool
        Whether the matrix is affine in the parameters.
    moves_cells : bool
        Whether its product with a value has no other form than that of the updated matrix.
    """

    keyword: ClassVar[str]
    feature: ClassVar[Feature]
    is_linear: ClassVar[bool] = True
    moves_cells: ClassVar[bool]

    @abstractmethod
    def check(self, name: str, shape: tuple[int, int], support: np.ndarray | None) -> None:
        """Refuse an update that does not fit the matrix.

        Raises
        ------
        InputError
        """

    @abstractmethod
    def arrays(self, shape: tuple[int, int]) -> dict[str, tuple[int, int]]:
        """Arrays of parameters: letter to shape, in the order of numbering."""

    @abstractmethod
    def names(self, name: str, shape: tuple[int, int]) -> list[str]:
        """The name of each parameter, in that order."""

    @abstractmethod
    def apply(self, W: Any, values: Mapping[str, Any]) -> Any:
        """The updated matrix, over any ring: `values` are the arrays of the parameters."""

    def numbers_at(
        self, shape: tuple[int, int], rows: np.ndarray, columns: np.ndarray
    ) -> np.ndarray:
        """The number, from 1, of the one parameter that moves each of some cells; 0 for none."""
        return self.moved_by(shape, None)[rows, columns]

    @abstractmethod
    def learned(self, build: Builder, W: Value, name: str, x: Value | None = None) -> Value:
        """The updated matrix in a program; the arrays of its parameters are blocks of one column.

        Parameters
        ----------
        build : Builder
        W : Value
            The matrix as it is drawn.
        name : str
            Its name; that of the array U is then ``U_name``.
        x : Value, optional
            What it multiplies; then the product is returned.
        """

    def block(self, build: Builder, W: Value, name: str, letter: str) -> Value:
        """An array of parameters in a program, in its own shape."""
        rows, columns = self.arrays((W.shape[0], W.shape[1]))[letter]
        flat = build.weight(f"{letter}_{name}", (rows * columns, 1))
        return build.reshaped(flat, (rows, columns))

    @abstractmethod
    def mask(self, shape: tuple[int, int], support: np.ndarray | None) -> np.ndarray:
        """The cells that can change."""

    def cells(self, shape: tuple[int, int], support: Any) -> Any:
        """`mask`, by its entries if those of the matrix that exist are given so."""
        return self.mask(shape, support)

    def moved_by(self, shape: tuple[int, int], support: np.ndarray | None) -> np.ndarray:
        """The number, from 1, of the one parameter that moves each cell; 0 where there is none."""
        return np.zeros(shape, np.int64)

    def alone(self, shape: tuple[int, int], support: np.ndarray | None) -> np.ndarray:
        """The cells that take any value while no other cell of the matrix changes."""
        numbers = self.moved_by(shape, support)
        counts = np.bincount(numbers.ravel())
        return ((numbers > 0) & (counts[numbers] == 1)).astype(np.int8)

    @abstractmethod
    def restricted(self, shape: tuple[int, int], kept: Mapping[str, np.ndarray]) -> Update | None:
        """The update restricted to some of its parameters; None if there are none.

        Parameters
        ----------
        shape : (int, int)
        kept : mapping of str to mask
            For each array of `arrays`, which of its parameters are left.
        """

    def identified(self, shape: tuple[int, int]) -> dict[str, np.ndarray]:
        """Masks of parameters that together span the tangent, without gauge."""
        return {letter: np.ones(own, np.int8) for letter, own in self.arrays(shape).items()}

    def start(self, letter: str) -> int:
        """The value before learning of an array's parameters, if it is not drawn."""
        return 0

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The table of a problem file."""

    def named_dict(self) -> dict[str, Any]:
        """The table of a problem file, with the names of groups."""
        return self.to_dict()

    @abstractmethod
    def words(self, name: str, shape: tuple[int, int]) -> str:
        """A short description of the updated matrix."""

    def size(self, shape: tuple[int, int]) -> int:
        """Number of parameters."""
        return sum(rows * columns for rows, columns in self.arrays(shape).values())

    def dimension(self, shape: tuple[int, int]) -> int:
        """Dimension of the set of updated matrices."""
        return self.size(shape)

    def drawn(self, shape: tuple[int, int]) -> tuple[str, ...]:
        """Arrays of parameters on which the tangent depends."""
        return ()

    def as_cells(
        self, shape: tuple[int, int], support: np.ndarray | None, enough: int
    ) -> np.ndarray | None:
        """The mask of cells that reach the same labels; None if there is none.

        Here it exists if each parameter moves at most one cell: a factor of a non-zero weight, or a
        summand.

        Parameters
        ----------
        shape : (int, int)
        support : mask or None
        enough : int
            A rank of changes that is as good as any larger one: `HasJacobian.enough_rank`.
        """
        mask = self.mask(shape, support)
        return mask if (self.alone(shape, support) == mask).all() else None


@dataclass(frozen=True)
class LowRank(Update):
    """W + U Vᵀ with k columns in U and in V: ``{ lora = k }``.

    Examples
    --------
    >>> LowRank(2).size((4, 3)), LowRank(2).dimension((4, 3))
    (14, 10)
    """

    feature: ClassVar[Feature] = Feature.LOW_RANKS

    rank: int

    keyword: ClassVar[str] = "lora"
    is_linear: ClassVar[bool] = False
    moves_cells: ClassVar[bool] = False

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

    def learned(self, build: Builder, W: Value, name: str, x: Value | None = None) -> Value:
        U, V = (self.block(build, W, name, letter) for letter in "UV")
        if x is None:
            return build.add(W, build.contract("ia,aj->ij", U, V))
        inner = build.contract("aj,j->a", V, x)
        return build.add(build.contract("ij,j->i", W, x), build.contract("ia,a->i", U, inner))

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

    def restricted(self, shape: tuple[int, int], kept: Mapping[str, np.ndarray]) -> Update | None:
        whole = self.identified(shape)
        if all((kept[letter] == whole[letter]).all() for letter in whole):
            return self
        if not any(mask.any() for mask in kept.values()):
            return None
        raise InputError(
            f"`lora` ({self.rank}): a low-rank update learns as a whole; its parameters are not "
            "chosen or lost one by one: take cells, gains or ties"
        )

    def identified(self, shape: tuple[int, int]) -> dict[str, np.ndarray]:
        """All of U, and the entries of V that are left when k of its columns fix the gauge."""
        found = super().identified(shape)
        found["V"][:, : self.rank] = 0
        return found

    def to_dict(self) -> dict[str, Any]:
        return {self.keyword: self.rank}

    def words(self, name: str, shape: tuple[int, int]) -> str:
        return f"{name} + U Vᵀ of rank {self.rank}"


class CellwiseUpdate(Update):
    """An update by which each cell is moved by one parameter at most.

    Attributes
    ----------
    letter : str
        Of the array of its parameters.
    neutral : int
        The parameter that moves nothing: 1 if cells are multiplied, 0 if it is added.
    called : tuple of (int, str)
        Names of groups in reports.
    """

    letter: ClassVar[str]
    neutral: ClassVar[int]

    called: tuple[tuple[int, str], ...]

    @property
    @abstractmethod
    def given(self) -> Any:
        """The numbers of groups as they were given; None if each line has its own."""

    def named_dict(self) -> dict[str, Any]:
        if not self.called:
            return self.to_dict()
        called = dict(self.called)
        names = [called.get(k, str(k)) for k in _different(self.given).tolist()]
        return {**self.to_dict(), CALLED: names}

    def with_names(self, names: Any) -> CellwiseUpdate:
        """With names of the groups, in the order of their numbers.

        Raises
        ------
        InputError
            If they are not different words, one for each group.
        """
        numbers = [] if self.given is None else _different(self.given).tolist()
        if not isinstance(names, (list, tuple)) or len(names) != len(numbers):
            raise InputError(
                f"`{CALLED}` ({shown(names)}) must be a list of {len(numbers)} names, one for each "
                "number of a group, in the order of the numbers"
            )
        for k, name in enumerate(names):
            if not isinstance(name, str) or not name.strip() or not name.isprintable():
                raise InputError(f"`{CALLED}[{k}]` ({shown(name)}) must be a word")
        if twice := [name for name, count in Counter(names).items() if count > 1]:
            raise InputError(f"`{CALLED}` names two groups {shown(twice[0])}")
        own: Any = self
        renamed: CellwiseUpdate = replace(own, called=tuple(zip(numbers, names, strict=True)))
        return renamed

    @abstractmethod
    def numbered(self, shape: tuple[int, int]) -> list[int]:
        """The number of each parameter's group, as it was given."""

    @abstractmethod
    def _index(self, shape: tuple[int, int]) -> np.ndarray:
        """For each cell the number of its parameter, from 1, or 0; equal lines once."""

    def arrays(self, shape: tuple[int, int]) -> dict[str, tuple[int, int]]:
        return {self.letter: (len(self.numbered(shape)), 1)}

    def names(self, name: str, shape: tuple[int, int]) -> list[str]:
        called = dict(self.called)
        return [f"{self.letter}_{name}[{called.get(k, k)}]" for k in self.numbered(shape)]

    def apply(self, W: Any, values: Mapping[str, Any]) -> Any:
        shape = getattr(W, "value", W).shape
        return self.applied(W, self.moved_by(shape, None), values)

    def applied(self, entries: Any, numbers: np.ndarray, values: Mapping[str, Any]) -> Any:
        """The updated entries, each with the number of its parameter in an array alike."""
        if not numbers.any():
            return entries
        own = values[self.letter][:, 0]
        amounts = np.concatenate([own[:1] * 0 + self.neutral, own])[numbers]
        return amounts * entries if self.neutral else amounts + entries

    def learned(self, build: Builder, W: Value, name: str, x: Value | None = None) -> Value:
        amounts = self.amounts(build, W, name, self.moved_by((W.shape[0], W.shape[1]), None))
        value = build.multiply(amounts, W) if self.neutral else build.add(W, amounts)
        return value if x is None else build.contract("ij,j->i", value, x)

    def amounts(self, build: Builder, W: Value, name: str, numbers: np.ndarray) -> Value:
        """The parameters of these numbers in a program; the neutral one for 0."""
        neutral = build.constant(np.full(1, self.neutral, np.int64))
        shape = self.arrays((W.shape[0], W.shape[1]))[self.letter]
        return build.index(numbers, neutral, build.weight(f"{self.letter}_{name}", shape))

    def moved_by(self, shape: tuple[int, int], support: np.ndarray | None) -> np.ndarray:
        index = np.broadcast_to(self._index(shape), shape)
        return index if support is None else index * np.asarray(support, np.int64)

    def mask(self, shape: tuple[int, int], support: np.ndarray | None) -> np.ndarray:
        return (self.moved_by(shape, support) > 0).astype(np.int8)

    def cells(self, shape: tuple[int, int], support: Any) -> Any:
        if not isinstance(support, SparseMatrix):
            return self.mask(shape, support)
        numbers = self.numbers_at(shape, support.rows, support.columns)
        return support.with_values((numbers > 0).astype(np.int8)).without_zeros()

    def start(self, letter: str) -> int:
        return self.neutral


@dataclass(frozen=True)
class Gain(CellwiseUpdate):
    """diag(g) W or W diag(g): ``{ gain = "rows" | "columns" | "cells", groups = … }``.

    Parameters
    ----------
    line : {"rows", "columns", "cells"}
        The lines or cells that a factor multiplies.
    groups : sequence, optional
        A number for each row or column, for "cells" a matrix of numbers: lines (or cells) with
        equal numbers share a factor, those with number 0 have none.  By default each line has its
        own.
    called : sequence of (int, str), optional
        Names of groups in reports; by default their numbers.

    Examples
    --------
    >>> Gain("rows", [1, 1, 2, 0]).names("W", (4, 4))
    ['g_W[1]', 'g_W[2]']
    """

    feature: ClassVar[Feature] = Feature.GAINS

    line: str
    groups: Any = None
    called: tuple[tuple[int, str], ...] = field(default=(), compare=False, repr=False)

    keyword: ClassVar[str] = "gain"
    letter: ClassVar[str] = "g"
    neutral: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if self.line not in ("rows", "columns", "cells"):
            raise InputError(f'`gain` ({shown(self.line)}) must be "rows", "columns" or "cells"')
        if self.groups is None:
            return
        if self.line == "cells":
            object.__setattr__(self, "groups", _numbers(self.groups, "groups"))
            return
        rows = self.groups.tolist() if isinstance(self.groups, np.ndarray) else self.groups
        if not isinstance(rows, (list, tuple)):
            raise InputError(f"`groups` ({shown(rows)}) must be a list of whole numbers")
        numbers = tuple(whole_number(v, f"groups[{k}]", 0) for k, v in enumerate(rows))
        object.__setattr__(self, "groups", numbers)

    @property
    def given(self) -> Any:
        return self.groups

    @property
    def _axis(self) -> int:
        return 0 if self.line == "rows" else 1

    def numbered(self, shape: tuple[int, int]) -> list[int]:
        found = range(shape[self._axis]) if self.groups is None else _different(self.groups)
        return list(map(int, found))

    def _index(self, shape: tuple[int, int]) -> np.ndarray:
        if self.groups is None:
            index = np.arange(1, shape[self._axis] + 1)
        else:
            index = _ranked(np.asarray(self.groups))
        if self.line == "cells":
            return index
        return index[:, None] if self.line == "rows" else index[None, :]

    def check(self, name: str, shape: tuple[int, int], support: np.ndarray | None) -> None:
        """Gains preserve structural zeros; there must be one group number for each line."""
        if is_by_cells(self):
            raise InputError(
                f'learnable.{name}: `gain` = "cells" needs `groups`, a matrix of numbers: cells '
                "with equal numbers share a factor; or [types] of neurons, whose pairs share one"
            )
        if self.groups is None:
            return
        if self.line == "cells":
            need_shape(_shape(self.groups), f"learnable.{name}: `groups`", shape)
        elif len(self.groups) != shape[self._axis]:
            raise InputError(
                f"learnable.{name}: `groups` has {len(self.groups)} numbers for "
                f"{shape[self._axis]} {self.line}"
            )

    @property
    def moves_cells(self) -> bool:  # type: ignore[override]
        return self.line == "cells"

    def learned(self, build: Builder, W: Value, name: str, x: Value | None = None) -> Value:
        if x is None or self.moves_cells:
            return super().learned(build, W, name, x)
        g = self.amounts(build, W, name, self._index((W.shape[0], W.shape[1])).ravel())
        if self.line == "rows":
            return build.multiply(g, build.contract("ij,j->i", W, x))
        return build.contract("ij,j->i", W, build.multiply(g, x))

    def numbers_at(
        self, shape: tuple[int, int], rows: np.ndarray, columns: np.ndarray
    ) -> np.ndarray:
        if self.line == "cells":
            return self.table.at(rows, columns)
        index = self._index(shape).ravel()
        return index[rows if self.line == "rows" else columns]

    @cached_property
    def table(self) -> SparseMatrix:
        """Numbers of the parameters of cells, from 1."""
        return _ranked_table(self.groups)

    def restricted(self, shape: tuple[int, int], kept: Mapping[str, np.ndarray]) -> Update | None:
        left = np.concatenate([[False], kept["g"].ravel() != 0])
        if left[1:].all():
            return self
        index = self._index(shape)
        numbers = np.where(left[index], index if self.groups is None else self.groups, 0)
        groups = numbers if self.line == "cells" else numbers.ravel()
        return replace(self, groups=groups) if groups.any() else None

    def to_dict(self) -> dict[str, Any]:
        if self.groups is None:
            return {self.keyword: self.line}
        return {self.keyword: self.line, "groups": _plain_numbers(self.groups)}

    def words(self, name: str, shape: tuple[int, int]) -> str:
        if self.groups is None:
            return f"diag(g) {name}" if self.line == "rows" else f"{name} diag(g)"
        count = self.size(shape)
        return f"{name} with {plural(count, f'{count} gain')} of groups of {self.line}"


@dataclass(frozen=True)
class Tied(CellwiseUpdate):
    """Cells with equal numbers move by the same amount: ``{ tied = [[1, 1], [2, 0]] }``.

    Cells with the number 0 are fixed.  `called` gives names of groups for reports.

    Examples
    --------
    >>> Tied([[1, 1], [7, 0]]).names("W", (2, 2))
    ['t_W[1]', 't_W[7]']
    """

    feature: ClassVar[Feature] = Feature.TIES

    numbers: Any
    called: tuple[tuple[int, str], ...] = field(default=(), compare=False, repr=False)

    keyword: ClassVar[str] = "tied"
    moves_cells: ClassVar[bool] = True
    letter: ClassVar[str] = "t"
    neutral: ClassVar[int] = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", _numbers(self.numbers, "tied"))

    @property
    def given(self) -> Any:
        return self.numbers

    @cached_property
    def table(self) -> SparseMatrix:
        """Numbers of the parameters of cells, from 1."""
        return _ranked_table(self.numbers)

    @cached_property
    def groups(self) -> dict[int, tuple[Place, ...]]:
        """The cells with each number."""
        own = self.table
        places = list(zip(own.rows.tolist(), own.columns.tolist(), strict=True))
        found: dict[int, list[Place]] = {number: [] for number in _different(self.numbers).tolist()}
        lists = list(found.values())
        for place, k in zip(places, own.values.tolist(), strict=True):
            lists[k - 1].append(place)
        return {number: tuple(of) for number, of in found.items()}

    def check(self, name: str, shape: tuple[int, int], support: np.ndarray | None) -> None:
        need_shape(_shape(self.numbers), f"learnable.{name}: `tied`", shape)
        if support is not None:
            own = self.table
            exists = (
                support.at(own.rows, own.columns)
                if isinstance(support, SparseMatrix)
                else np.asarray(support)[own.rows, own.columns]
            )
            if not exists.all():
                k = int(np.argmin(exists != 0))
                i, j = own.rows[k], own.columns[k]
                number = _different(self.numbers)[own.values[k] - 1]
                raise InputError(
                    f"learnable.{name}: tied[{i}][{j}] is {number} but "
                    f"support.{name}[{i}][{j}] is 0: a weight that does not exist cannot learn"
                )

    def numbered(self, shape: tuple[int, int]) -> list[int]:
        return list(map(int, _different(self.numbers)))

    def _index(self, shape: tuple[int, int]) -> np.ndarray:
        return _ranked(np.asarray(self.numbers))

    def numbers_at(
        self, shape: tuple[int, int], rows: np.ndarray, columns: np.ndarray
    ) -> np.ndarray:
        return self.table.at(rows, columns)

    def restricted(self, shape: tuple[int, int], kept: Mapping[str, np.ndarray]) -> Update | None:
        left = np.concatenate([[False], kept["t"].ravel() != 0])
        numbers = np.array(self.numbers)
        numbers[~left[_ranked(numbers)]] = 0
        return replace(self, numbers=numbers) if numbers.any() else None

    def to_dict(self) -> dict[str, Any]:
        return {self.keyword: _plain_numbers(self.numbers)}

    def words(self, name: str, shape: tuple[int, int]) -> str:
        numbers = self.table.values
        return f"{name} with {len(numbers)} cells tied in {numbers.max(initial=0)} groups"


# Key beside `gain`: the lines that share a factor.
GROUPS = "groups"
# Key beside `groups` and `tied`: names of the groups.
CALLED = "called"
UPDATES: dict[str, type[Update]] = {cls.keyword: cls for cls in (LowRank, Gain, Tied)}


def _numbers(value: Any, key: str) -> Any:
    """A matrix of whole numbers: rows, or a large one by its entries that are not 0."""
    if callable(getattr(value, "tocoo", None)):
        value = entries_of(value)
    if isinstance(value, SparseMatrix):
        if value.values.dtype.kind not in "iu" or value.values.min(initial=0) < 0:
            raise InputError(f"`{key}` must be a matrix of whole numbers")
        return value
    if isinstance(value, np.ndarray):
        if value.size > _LARGE and value.ndim == 2 and value.dtype.kind in "iu":
            return _numbers(SparseMatrix.of(value), key)
        value = value.tolist()
    is_rows = isinstance(value, (list, tuple)) and all(
        isinstance(row, (list, tuple)) for row in value
    )
    if not is_rows or len({len(row) for row in value}) != 1:
        raise InputError(f"`{key}` ({shown(value)}) must be a matrix of whole numbers")
    return tuple(
        tuple(whole_number(v, f"{key}[{i}][{j}]", 0) for j, v in enumerate(row))
        for i, row in enumerate(value)
    )


def entries_of(matrix: Any) -> SparseMatrix:
    """The entries of a sparse matrix of SciPy that are not 0; those given twice are added up.

    Raises
    ------
    InputError
        As for `algebra.files.arrays.coordinates_of`.
    """
    found = coordinates_of(matrix)
    found.sum_duplicates()
    rows, columns = (np.asarray(of, np.int64) for of in found.coords)
    kept = found.data != 0
    return SparseMatrix.sorted(rows[kept], columns[kept], found.data[kept], found.shape)


def is_by_cells(learns: Any) -> bool:
    """Whether it is a gain of cells whose groups are to be those of types."""
    return isinstance(learns, Gain) and learns.line == "cells" and learns.groups is None


def _plain_numbers(numbers: Any) -> Any:
    """Numbers of groups as rows, or in the sparse form of proof files."""
    if isinstance(numbers, SparseMatrix) and prod(numbers.shape) > LARGE:
        return numbers.to_dict()
    return np.asarray(numbers).tolist()


def _shape(numbers: Any) -> tuple[int, int]:
    return numbers.shape if isinstance(numbers, SparseMatrix) else (len(numbers), len(numbers[0]))


def _ranked_table(numbers: Any) -> SparseMatrix:
    """The index of each number that is not 0 among the distinct ones, from 1."""
    if not isinstance(numbers, SparseMatrix):
        numbers = SparseMatrix.of(np.array(numbers))
    return numbers.with_values(_ranked(numbers.values))


def _different(numbers: Any) -> np.ndarray:
    """The distinct non-zero numbers, in increasing order."""
    found = np.unique(numbers.values if isinstance(numbers, SparseMatrix) else numbers)
    return found[found != 0]


def _ranked(numbers: np.ndarray) -> np.ndarray:
    """The index of each number among the distinct ones, from 1; 0 for the number 0."""
    index = np.searchsorted(_different(numbers), numbers) + 1
    index[numbers == 0] = 0
    return index


def read_update(data: Mapping[str, Any], name: str) -> Update:
    """An update from its table in a problem file.

    Raises
    ------
    InputError
        Beginning with `name`.
    """
    keys = [key for key in data if key not in (GROUPS, CALLED)]
    if len(keys) != 1 or keys[0] not in UPDATES:
        raise InputError(
            f"{name}: {shown(dict(data))} must have one of the keys random, " + ", ".join(UPDATES)
        )
    [key] = keys
    if GROUPS in data and key != Gain.keyword:
        raise InputError(f"{name}: `{GROUPS}` belongs to `{Gain.keyword}`, not to `{key}`")
    with ErrorsAt(name):
        found: Update
        if key == Gain.keyword:
            found = Gain(data[key], data.get(GROUPS))
        else:
            found = UPDATES[key](data[key])  # type: ignore[call-arg]
        if CALLED not in data:
            return found
        if not isinstance(found, CellwiseUpdate):
            raise InputError(f"`{CALLED}` names groups of `{GROUPS}` or `tied`, not of `{key}`")
        return found.with_names(data[CALLED])
