"""Bipartite graphs as bit sets: matching, reachability, strongly connected components.

A row of an incidence matrix is one integer, bit u for unknown u.  The new unknowns of an
equation are found by one operation on a few hundred bytes, for any number of them, so
that a search costs a step for each equation and unknown and none for each entry.  Patterns of
several thousand dense equations are ordered in less time than SciPy takes to load.

References
----------
.. [1] A. Pothen, C.-J. Fan, "Computing the block triangular form of a sparse matrix",
   ACM Trans. Math. Softw. 16 (1990) 303–324.
.. [2] M. Sharir, "A strong-connectivity algorithm and its applications in data flow
   analysis", Comput. Math. Appl. 7 (1981) 67–72.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np


def bit_rows(matrix: np.ndarray) -> list[int]:
    """The rows of a boolean matrix, bit u for column u."""
    packed = np.packbits(matrix, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def members(bits: int) -> Iterator[int]:
    """The positions of the bits that are set, in ascending order."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


def matched(rows: Sequence[int], unknowns: int) -> tuple[list[int | None], list[int | None]]:
    """A maximum matching: each row's unknown, and each unknown's row.

    Notes
    -----
    A greedy matching, the sparsest rows first, then phases of depth-first searches that share their
    visited nodes, each with a test of the free unknowns first [1]_.  The nodes visited by a failed
    search lead to no free unknown; a phase in which all fail proves that none is left.
    """
    mate: list[int | None] = [None] * len(rows)
    owner: list[int | None] = [None] * unknowns
    free = (1 << unknowns) - 1
    for e in sorted(range(len(rows)), key=lambda e: rows[e].bit_count()):
        if low := rows[e] & free:
            low &= -low
            free ^= low
            mate[e] = u = low.bit_length() - 1
            owner[u] = e
    waiting = [e for e, u in enumerate(mate) if u is None]
    found = True
    while waiting and found:
        unseen, left = (1 << unknowns) - 1, []
        for e in waiting:
            path = [e]
            while path:
                row = rows[path[-1]]
                if low := row & free:
                    low &= -low
                    free ^= low
                    given: int | None = low.bit_length() - 1
                    for r in reversed(path):
                        assert given is not None
                        owner[given] = r
                        mate[r], given = given, mate[r]
                    break
                if low := row & unseen:
                    low &= -low
                    unseen ^= low
                    holder = owner[low.bit_length() - 1]
                    assert holder is not None
                    path.append(holder)
                else:
                    path.pop()
            else:
                left.append(e)
        found, waiting = len(left) < len(waiting), left
    return mate, owner


def reached(
    starts: Iterable[int], rows: Sequence[int], owner: Sequence[int | None]
) -> tuple[set[int], set[int]]:
    """Rows and unknowns on alternating paths from some rows; `owner` is each unknown's row."""
    found, met = set(starts), 0
    stack = list(found)
    while stack:
        new = rows[stack.pop()] & ~met
        met |= new
        for u in members(new):
            following = owner[u]
            if following is not None and following not in found:
                found.add(following)
                stack.append(following)
    return found, set(members(met))


def strong_components(matrix: np.ndarray) -> np.ndarray:
    """A label 0, 1, … for each node, the same for nodes that reach each other.

    Parameters
    ----------
    matrix : ndarray of bool, shape (nodes, nodes)
        Entry (i, j) if there is an arrow from i to j.

    Notes
    -----
    Two rounds of depth-first search [2]_: the second, against the arrows, in the order in which
    the first left the nodes, last first.
    """
    count = len(matrix)
    forward, backward = bit_rows(matrix), bit_rows(matrix.T)
    unseen, order = (1 << count) - 1, list[int]()
    for start in range(count):
        if not unseen >> start & 1:
            continue
        unseen ^= 1 << start
        path = [start]
        while path:
            if low := forward[path[-1]] & unseen:
                low &= -low
                unseen ^= low
                path.append(low.bit_length() - 1)
            else:
                order.append(path.pop())
    label = np.zeros(count, np.int64)
    unseen, components = (1 << count) - 1, 0
    for start in reversed(order):
        if not unseen >> start & 1:
            continue
        unseen ^= 1 << start
        stack = [start]
        while stack:
            node = stack.pop()
            label[node] = components
            new = backward[node] & unseen
            unseen ^= new
            stack.extend(members(new))
        components += 1
    return label
