"""Masks of large matrices by their entries: a connectome of 45,000 neurons has no n² array.

A mask of a matrix with more than `LARGE` entries, of a network that multiplies sparse matrices
(`Network.sparse`), is a `SparseMatrix`.  `Masks` is a mapping from names to masks as arrays: a
large one becomes an array only when it is asked for as one, within the memory limit.  Code that
works with entries asks for them with `held`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from algebra.errors import InputError, Unfinished
from algebra.linalg.sparse import SparseMatrix
from algebra.networks.base import MAX_CELLS, Network

# Masks of more entries are sparse, if one in so many is not 0.
LARGE = 1 << 24
_SPARSE = 16
# Bytes for each cell of what is made of an array: residues, and copies of them.
_BYTES = 16


class Masks(Mapping[str, Any]):
    """Masks, and perhaps updates, by the names of matrices.

    Parameters
    ----------
    given : mapping of str to SparseMatrix, ndarray or other value

    Examples
    --------
    >>> masks = Masks({"W": SparseMatrix.of(np.eye(2, dtype=np.int8))})
    >>> masks["W"].tolist(), held(masks, "W").values.tolist()
    ([[1, 0], [0, 1]], [1, 1])
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = {name: held(given, name) for name in given}
        self._arrays: dict[str, np.ndarray] = {}

    def held(self, name: str) -> Any:
        """The mask as it is held: an array, or by its entries."""
        return self._given.get(name)

    def __getitem__(self, name: str) -> Any:
        mask = self._given[name]
        if not isinstance(mask, SparseMatrix):
            return mask
        if name not in self._arrays:
            rows, columns = mask.shape
            from algebra.memory_limits import in_units, limit_in_words, memory_limit

            needed = _BYTES * rows * columns
            if needed > memory_limit():
                raise Unfinished(
                    f"all {rows}×{columns} cells of {name} would take {in_units(needed)} of "
                    f"memory, and the limit is {limit_in_words()}: identify and record use the "
                    "weights that exist alone, other verbs need a smaller circuit"
                )
            array = np.asarray(mask, np.int8)
            array.setflags(write=False)
            self._arrays[name] = array
        return self._arrays[name]

    def __contains__(self, name: object) -> bool:
        return name in self._given

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)


def held(masks: Mapping[str, Any] | None, name: str) -> Any:
    """A mask as it is held: an array, by its entries, or None if there is none."""
    if isinstance(masks, Masks):
        return masks.held(name)
    return None if masks is None else masks.get(name)


def lines_with_entries(mask: Any) -> np.ndarray:
    """Which rows of a mask have an entry that is not 0."""
    if isinstance(mask, SparseMatrix):
        return np.bincount(mask.rows[mask.values != 0], minlength=mask.shape[0]) > 0
    return np.asarray(np.asarray(mask).any(axis=1))


def columns_by_row(mask: Any, shape: tuple[int, int]) -> list[list[int]]:
    """For each row of a mask the columns of its entries; all of them without a mask."""
    if mask is None:
        return [list(range(shape[1])) for _ in range(shape[0])]
    found = mask if isinstance(mask, SparseMatrix) else SparseMatrix.of(np.asarray(mask))
    return found.by_row(found.columns)


def is_mask(value: Any) -> bool:
    """Whether what learns in a matrix is given by a mask."""
    return isinstance(value, (np.ndarray, SparseMatrix))


def plain_mask(mask: Any) -> Any:
    """A mask as plain data: rows, or the sparse form of proof files."""
    return mask.to_dict() if isinstance(mask, SparseMatrix) else mask.tolist()


def as_masks(given: dict[str, Any]) -> Mapping[str, Any]:
    """The same masks, or those of which some are held by their entries."""
    if any(isinstance(mask, SparseMatrix) for mask in given.values()):
        return Masks(given)
    return given


def in_form(mask: Any, name: str, network: Network) -> Any:
    """A mask in the form in which it is held."""
    rows, columns = network.shapes[name]
    is_large = name in network.sparse and rows * columns > LARGE
    is_sparse = isinstance(mask, SparseMatrix)
    if not is_large:
        return np.asarray(mask, np.int8) if is_sparse else mask
    if is_sparse:
        return mask
    found = SparseMatrix.of(mask)
    return found if len(found.values) * _SPARSE < rows * columns else mask


def check_held(network: Network, support: Mapping[str, Any]) -> None:
    """Refuse a matrix that is too large, unless only few of its weights exist.

    Raises
    ------
    InputError
    """
    for name, (rows, columns) in network.shapes.items():
        if rows * columns <= MAX_CELLS:
            continue
        mask = held(support, name)
        if not isinstance(mask, SparseMatrix) or len(mask.values) > MAX_CELLS:
            raise InputError(
                f"{name} would be {rows}×{columns}: more than {MAX_CELLS:.0e} entries; choose "
                f"smaller sizes, or give the weights that exist in [support], as an edge list or "
                "a sparse matrix"
            )
