"""Symmetries of a network that preserve the match probability.

Renaming units that have the same role changes nothing: the joint law of the weights, the teacher's
and the samples' are the same after the renaming, and the labels are permuted or unchanged.  So
MP(A) = MP(gA) for g in the product of

* permutations of the hidden units (of each hidden layer): rows of the matrix before,
  columns of the matrix after; for the recurrent W rows and columns together;
* permutations of the outputs: rows of the last matrix (the labels' rows move along);
* permutations of the inputs: columns of the first matrix (the samples' rows move along;
  for a recurrent net the b inputs of a step, the same way in every step).

This needs weights that are independent and identically distributed within each matrix,
and samples whose rows are exchangeable, as all laws here are.  With structural zeros only the
permutations that preserve the support are used.

**Transposition** is a further symmetry for some sizes, used only on request.  If the samples have
full row rank (m ≥ Tb, continuous inputs), labels agree exactly when all the matrices A_t = D W^t B,
t = 1, …, T, agree; A_tᵀ = Bᵀ (Wᵀ)^t Dᵀ are those of the recurrent net with W[j, i] in place of
W[i, j], D[j, i] in place of B[i, j] and vice versa.  If also d = b, this is the same network.  The
different variances (1/b for B, 1/n for Dᵀ) do not matter: a factor on all of B or D, learnable
weights included, multiplies every A_t of student and teacher alike, so only the shape of the law
counts.  In the same way a feed-forward net that has the same sizes from both ends (q = d, widths a
palindrome, m ≥ q) may be reversed.  For m < Tb the statement is false: samples act on one side
only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product
from math import factorial, prod

import numpy as np

from algebra.errors import InputError
from algebra.networks.base import Network
from algebra.networks.protocols import units_of
from algebra.problems.allocation import Allocation, Cell
from algebra.time_limits import check_time

# Larger groups are not enumerated.
LARGEST_GROUP = 50_000


class SymmetryGroup:
    """The group that permutes the cells of some matrices.

    Parameters
    ----------
    network : Network
    matrices : sequence of str
        Only the axes that index one of these are permuted; the others act trivially on
        allocations inside these matrices.
    support : mapping of str to mask, optional
    transposition : bool, optional
        Whether transposition is one of the symmetries.

    Attributes
    ----------
    cells : list of cells
        The cells that the group permutes.
    order : int
        Number of permutations of units, including those that do not preserve the support.

    Raises
    ------
    InputError
        If the group is too large to enumerate, or transposition is not a symmetry.
    """

    def __init__(
        self,
        network: Network,
        matrices: Sequence[str],
        support: Mapping[str, np.ndarray] | None = None,
        *,
        transposition: bool = False,
    ) -> None:
        self.network = network
        self.axes = [
            axis
            for axis in units_of(network).axes()
            if any(name in matrices for name, _ in axis.places)
        ]
        self.order = prod(factorial(axis.size) for axis in self.axes)
        if self.order > LARGEST_GROUP:
            sizes = " · ".join(f"{axis.size}!" for axis in self.axes)
            raise InputError(
                f"the symmetry group has {sizes} elements, more than "
                f"{LARGEST_GROUP}: choose a smaller net"
            )
        shapes = network.shapes
        self.cells: list[Cell] = [
            (name, i, j)
            for name in shapes
            if name in matrices
            for i in range(shapes[name][0])
            for j in range(shapes[name][1])
        ]
        position = {cell: k for k, cell in enumerate(self.cells)}
        same = {name: name for name in shapes}
        turns = [(same, False)]
        if transposition:
            becomes = units_of(network).transposed()
            if {becomes.get(name) for name in matrices} != set(matrices):
                raise InputError(
                    f"`transposition` is no symmetry of {', '.join(matrices)} of this {network}; "
                    "it needs m ≥ Tb and d = b (layers: m ≥ q, the same sizes from both ends), "
                    "and with a matrix the one it becomes"
                )
            turns.append((becomes, True))
        masks = {
            name: np.asarray((support or {}).get(name, np.ones(shape)), bool)
            for name, shape in shapes.items()
        }
        images = []
        for element, (becomes, turned) in product(self._elements(), turns):
            if support and not self._keeps(element, becomes, turned, masks):
                continue
            moved = [(n, element[(n, 0)][i], element[(n, 1)][j]) for n, i, j in self.cells]
            if turned:
                moved = [(becomes[n], j, i) for n, i, j in moved]
            images.append([position[cell] for cell in moved])
        # One row for each element: the image of each cell.
        self.images = np.unique(np.array(images, dtype=np.int64), axis=0)
        self._position = position

    def _elements(self) -> Iterator[dict[tuple[str, int], Sequence[int]]]:
        shapes = self.network.shapes
        for choice in product(*(permutations(range(axis.size)) for axis in self.axes)):
            element: dict[tuple[str, int], Sequence[int]] = {
                (name, side): range(shape[side])
                for name, shape in shapes.items()
                for side in (0, 1)
            }
            for axis, permutation in zip(self.axes, choice, strict=True):
                for place in axis.places:
                    element[place] = permutation
            yield element

    @staticmethod
    def _keeps(
        element: Mapping[tuple[str, int], Sequence[int]],
        becomes: Mapping[str, str],
        turned: bool,
        support: Mapping[str, np.ndarray],
    ) -> bool:
        for name, mask in support.items():
            moved = np.zeros_like(mask)
            moved[np.ix_(list(element[(name, 0)]), list(element[(name, 1)]))] = mask
            if not np.array_equal(moved.T if turned else moved, support[becomes[name]]):
                return False
        return True

    def orbit(self, cells: Sequence[int]) -> set[tuple[int, ...]]:
        """All images of a set of cells, each as sorted positions in `cells`."""
        moved = np.sort(self.images[:, list(cells)], axis=1)
        return {tuple(int(v) for v in row) for row in moved}

    def canonical(self, allocation: Allocation) -> Allocation:
        """The first allocation of the orbit, in the order of cells."""
        first, _ = self._first([self._position[cell] for cell in allocation.cells])
        return Allocation.from_cells(self.network, [self.cells[k] for k in first])

    def orbits(self, allowed: Sequence[int], size: int) -> dict[tuple[int, ...], int]:
        """The first set of each orbit of sets of so many cells, and the number of sets in it.

        A set without one of its cells is an image of the first set of a smaller orbit: to each of
        these one more cell is added, of the cells that its own symmetries map to each other the
        first.  Large sets are complements of small ones.

        Parameters
        ----------
        allowed : sequence of int
            Positions in `cells`; the group maps them to each other.
        size : int

        Returns
        -------
        dict
            Sorted positions to numbers, in the order of the positions.
        """
        level: dict[tuple[int, ...], int] = {(): 1}
        few = min(size, len(allowed) - size)
        for _ in range(few):
            found = {}
            for chosen in level:
                check_time()
                moved = np.sort(self.images[:, list(chosen)], axis=1)
                lowest = self.images[(moved == chosen).all(axis=1)].min(axis=0)
                for cell in allowed:
                    if lowest[cell] == cell and cell not in chosen:
                        first, number = self._first((*chosen, cell))
                        found[first] = number
            level = found
        if few < size:
            every = set(allowed)
            level = {self._first(sorted(every.difference(own)))[0]: n for own, n in level.items()}
        return dict(sorted(level.items()))

    def _first(self, chosen: Sequence[int]) -> tuple[tuple[int, ...], int]:
        """The first image of a set of cells, as sorted positions, and the number of images."""
        rows = np.sort(self.images[:, list(chosen)], axis=1)
        for k in range(rows.shape[1]):
            rows = rows[rows[:, k] == rows[:, k].min()]
        # As many elements map the set to each of its images.
        return tuple(int(v) for v in rows[0]), len(self.images) // len(rows)
