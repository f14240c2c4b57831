r"""The group that permutations of N points generate: its order, its blocks, whether it is solvable.

Meant for monodromy groups, which are nearly always the full symmetric group or one that keeps a
system of blocks, of N up to a few hundred.

* **Symmetric and alternating groups** need no list of elements.  If a transitive group has an
  element with a cycle of prime length p, N/2 < p < N − 2, it contains the alternating group
  (Jordan, 1873): the other cycles are shorter than p, so a power of the element is a single
  p-cycle.  That p-cycle either keeps every block of a block system, and then lies in one block,
  of more than N/2 points; or moves p blocks around, that is at least 2p > N points: so the group
  is primitive, and a primitive group with a p-cycle, p ≤ N − 3, contains A_N.  An odd generator
  tells S_N from A_N.  The element is looked for among random products; that it was found is a
  proof, whatever the random numbers.
* **Blocks**: the finest partition that a group keeps and that joins two given points, by joining
  the images of what is joined [1]_.
* **Other groups**: order and derived series by Schreier and Sims (SymPy).

References
----------
.. [1] M. D. Atkinson, "An algorithm for finding the blocks of a permutation group", Math. Comp.
   29 (1975).
.. [2] Á. Seress, Permutation Group Algorithms, Cambridge 2003, Section 10.2.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import factorial

import numpy as np
from flint import fmpz

from algebra.children import call_apart
from algebra.errors import InputError
from algebra.time_limits import OutOfTime, check_time, within

SYMMETRIC, ALTERNATING, OTHER = "symmetric", "alternating", "other"
# Random products among which a cycle of Jordan's theorem is looked for: about one in log2 N is one.
_PRODUCTS = 300
# Seconds for the order of a group that keeps blocks.
_SECONDS = 20


@dataclass(frozen=True)
class RootGroup:
    """A group of permutations of N points.

    Attributes
    ----------
    degree : int
        N.
    kind : str
        "symmetric" (all N! permutations), "alternating" or "other".
    order : int or None
        Number of its elements; None where it was not found in time.
    orbits : tuple of int
        Sizes of the orbits; a single one where it is transitive.
    stages : tuple of int
        n_1, n_2, … with product N: blocks of n_1 points, n_2 of them in each block of the next
        larger system, and so on; (N,) where a transitive group keeps no partition but the trivial
        ones (it is primitive), () where it is not transitive.
    blocks : tuple of tuple of int
        The finest block system that was found: the points of each block; () where there is none.
    is_solvable : bool or None
        Whether roots that it permutes can be written with radicals; None where not known.
    """

    degree: int
    kind: str
    order: int | None
    orbits: tuple[int, ...]
    stages: tuple[int, ...]
    blocks: tuple[tuple[int, ...], ...]
    is_solvable: bool | None

    @property
    def is_transitive(self) -> bool:
        """Whether every point is led to every other."""
        return len(self.orbits) == 1

    @property
    def is_primitive(self) -> bool:
        """Whether it is transitive and keeps no blocks."""
        return self.is_transitive and not self.blocks


def root_group(permutations: Sequence[Sequence[int]], degree: int) -> RootGroup:
    """The group that permutations generate.

    Parameters
    ----------
    permutations : sequence of sequence of int
        Point i is sent to ``permutation[i]``.
    degree : int
        Number of points, N.

    Examples
    --------
    The symmetries of a square keep its two diagonals:

    >>> square = root_group([[1, 2, 3, 0], [0, 3, 2, 1]], 4)
    >>> square.order, square.stages, square.blocks, square.is_solvable
    (8, (2, 2), ((0, 2), (1, 3)), True)
    >>> root_group([[1, 2, 3, 4, 0], [1, 0, 2, 3, 4]], 5).kind
    'symmetric'
    """
    generators = np.array(permutations, np.int64).reshape(-1, degree)
    for generator in generators:
        if not np.array_equal(np.sort(generator), np.arange(degree)):
            raise InputError(f"`permutations` ({generator.tolist()}) must be of 0 … {degree - 1}")
    orbits = _members(_joined(generators, degree))
    sizes = tuple(sorted(map(len, orbits)))
    kind = _kind(generators, degree) if len(orbits) == 1 else OTHER
    blocks: tuple[tuple[int, ...], ...] = ()
    stages: tuple[int, ...] = ()
    if len(orbits) == 1:
        # A_N and S_N are primitive but for N ≤ 2, where there is nothing between.
        blocks = () if kind != OTHER else _blocks(generators, degree)
        stages = _stages(generators, blocks, degree)
    if kind == OTHER:
        order, solvable = _by_schreier_sims(generators, degree)
        if solvable is None and blocks:
            # The group of the blocks is a quotient: where it is not solvable the group is not.
            above = root_group(_on_blocks(generators, blocks).tolist(), len(blocks))
            solvable = False if above.is_solvable is False else None
    else:
        order = factorial(degree) // (1 if kind == SYMMETRIC or degree < 2 else 2)
        solvable = degree <= 4
    return RootGroup(degree, kind, order, sizes, stages, blocks, solvable)


def _joined(
    generators: np.ndarray, degree: int, pairs: Sequence[tuple[int, int]] | None = None
) -> list[int]:
    """For each point a representative of its class in the finest partition the group keeps.

    It joins the given pairs; without any, it joins each point with its images: orbits.
    """
    parent = list(range(degree))

    def find(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    images = [generator.tolist() for generator in generators]
    if pairs is None:
        for image in images:
            for i, j in enumerate(image):
                parent[find(i)] = find(j)
        return [find(i) for i in range(degree)]
    todo = list(pairs)
    while todo:
        i, j = todo.pop()
        first, second = find(i), find(j)
        if first == second:
            continue
        parent[first] = second
        # Two points of a class must go to one class: enough for pairs that join all of it.
        todo += [(image[i], image[j]) for image in images]
    return [find(i) for i in range(degree)]


def _members(of: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    classes: dict[int, list[int]] = {}
    for point, representative in enumerate(of):
        classes.setdefault(representative, []).append(point)
    return tuple(sorted(map(tuple, classes.values())))


def _blocks(generators: np.ndarray, degree: int) -> tuple[tuple[int, ...], ...]:
    """A system of smallest blocks of a transitive group; () where it is primitive."""
    best: tuple[tuple[int, ...], ...] = ()
    for other in range(1, degree):
        check_time()
        found = _members(_joined(generators, degree, [(0, other)]))
        if len(found) > max(1, len(best)):
            best = found
    return best


def _on_blocks(generators: np.ndarray, blocks: Sequence[Sequence[int]]) -> np.ndarray:
    """The permutations of the blocks."""
    of = np.empty(generators.shape[1], np.int64)
    for k, block in enumerate(blocks):
        of[list(block)] = k
    return of[generators[:, [block[0] for block in blocks]]]


def _stages(
    generators: np.ndarray, blocks: tuple[tuple[int, ...], ...], degree: int
) -> tuple[int, ...]:
    sizes = []
    while blocks:
        sizes.append(degree // len(blocks))
        generators, degree = _on_blocks(generators, blocks), len(blocks)
        blocks = _blocks(generators, degree)
    return (*sizes, degree)


def _cycle_lengths(permutation: np.ndarray) -> list[int]:
    left = np.ones(len(permutation), bool)
    lengths = []
    image = permutation.tolist()
    for start in range(len(image)):
        length, i = 0, start
        while left[i]:
            left[i] = False
            i = image[i]
            length += 1
        if length:
            lengths.append(length)
    return lengths


def _is_odd(permutation: np.ndarray) -> bool:
    return sum(length - 1 for length in _cycle_lengths(permutation)) % 2 == 1


def _kind(generators: np.ndarray, degree: int) -> str:
    """Symmetric or alternating, where that is proved, of a transitive group; else other."""
    odd = any(map(_is_odd, generators))
    if degree < 8:
        # No prime in Jordan's range: the order says it.
        order, _ = _by_schreier_sims(generators, degree)
        if order == factorial(degree):
            return SYMMETRIC
        return ALTERNATING if degree > 2 and order == factorial(degree) // 2 else OTHER
    rng = random.Random(f"permutation-group/{degree}")
    # Product replacement: a list of elements, each step multiplies one by another.
    pool = [generators[k % len(generators)] for k in range(max(10, len(generators)))]
    for _ in range(_PRODUCTS):
        check_time()
        i, j = rng.sample(range(len(pool)), 2)
        pool[i] = pool[j][pool[i]] if rng.getrandbits(1) else pool[i][pool[j]]
        for length in _cycle_lengths(pool[i]):
            if degree < 2 * length < 2 * (degree - 2) and fmpz(length).is_prime():
                return SYMMETRIC if odd else ALTERNATING
    return OTHER


def _by_schreier_sims(generators: np.ndarray, degree: int) -> tuple[int | None, bool | None]:
    """Order, and whether the group is solvable; None where they take too long."""
    if degree < 2 or not len(generators):
        return 1, True
    if degree < 8:
        return order_and_solvability(generators.tolist())
    with suppress(OutOfTime, RuntimeError), within(_SECONDS):
        return call_apart(order_and_solvability, generators.tolist())
    check_time()
    return None, None


def order_and_solvability(generators: list[list[int]]) -> tuple[int, bool]:
    """Both by SymPy, which cannot be stopped.

    Parameters
    ----------
    generators : list of list of int

    Examples
    --------
    >>> order_and_solvability([[1, 2, 0], [1, 0, 2]])
    (6, True)
    """
    from sympy.combinatorics import Permutation, PermutationGroup

    group = PermutationGroup([Permutation(generator) for generator in generators])
    return int(group.order()), bool(group.is_solvable)
