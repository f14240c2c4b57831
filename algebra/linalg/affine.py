r"""Affine equations over GF(p), solved for the unknowns of highest index; in stages if sparse.

The result is that of the reduced echelon form, for both methods.
"""

from __future__ import annotations

import numpy as np

from algebra.linalg.echelon import modular_echelon
from algebra.linalg.modular import matmul
from algebra.linalg.residues import Residues
from algebra.time_limits import check_time

# Entries of equations that are reduced at a time.
_AT_ONCE = 1 << 16
# Rows with more unknowns are compared with each other.
_FEW = 64


class Inconsistent(ArithmeticError):
    """The equations contradict each other."""


def solve_affine(rows: Residues, p: int) -> tuple[Residues, np.ndarray]:
    """Solve affine equations: the unknowns that stay free, and all as affine forms in them.

    Parameters
    ----------
    rows : ndarray of int64, shape (equations, n + 1)
        Coefficients modulo p, the constant last: each row vanishes.
    p : int

    Returns
    -------
    images : ndarray of int64, shape (n + 1, f + 1)
        Row k is the affine form of unknown k in the free ones, its constant last; the last row
        is that of 1.
    free : ndarray of int, shape (f,)
        In ascending order.  The unknowns of highest index become pivots.

    Raises
    ------
    Inconsistent
    """
    n = rows.shape[1] - 1
    if rows.size > _AT_ONCE:
        return _solve_in_stages(rows, p)
    used = np.flatnonzero((rows[:, :n] != 0).any(axis=0))[::-1]
    table, pivots = modular_echelon(rows[:, [*used, n]], p)
    if pivots and pivots[-1] == len(used):
        raise Inconsistent
    solved = used[pivots]
    free = np.setdiff1d(np.arange(n), solved)
    column = np.full(n + 1, -1)
    column[free] = np.arange(len(free))
    column[n] = len(free)
    images = np.zeros((n + 1, len(free) + 1), np.int64)
    images[[*free, n], np.arange(len(free) + 1)] = 1
    others = np.setdiff1d(np.arange(len(used) + 1), pivots)
    target = column[np.append(used, n)[others]]
    images[np.ix_(solved, target)] = -table[:, others] % p
    return images, free


def _solve_in_stages(rows: Residues, p: int) -> tuple[Residues, np.ndarray]:
    r"""The same for many equations, most of them sparse.

    Equations are taken in the order in which they can be solved: next those with the fewest new
    unknowns, together with all that contain no others.  Known images are substituted, and a small
    system in the new unknowns remains.  The equations of a lifted form proceed from step to step in
    this way, and the cost falls from the cube of their number to its square.

    The result is some free unknowns u and images x = L u + c.  The pivots of highest index belong
    to the echelon form in which each solved unknown is a form in free ones of lower index; if
    that does not hold yet, the free ones are the first rows of L that are independent, and L in
    these is the reduced echelon form of :math:`L^T`, transposed.
    """
    rows = _sparser(rows, p)
    n = rows.shape[1] - 1
    occupied = rows[:, :n] != 0
    counts = occupied.sum(axis=1)
    waiting, seen = np.ones(len(rows), bool), np.zeros(n, bool)
    images = _Images(n, p)
    while waiting.any():
        check_time()
        least = counts[waiting].min()
        if least > 1:
            own = occupied[np.flatnonzero(waiting & (counts == least))[0]] & ~seen
            pick = waiting & (counts == occupied[:, own].sum(axis=1))
        else:
            pick = waiting & (counts == least)
            own = occupied[pick].any(axis=0) & ~seen
        images.solve(rows[pick], np.flatnonzero(own)[::-1], seen)
        waiting &= ~pick
        seen |= own
        counts -= occupied[:, own].sum(axis=1)
    images.add_free(np.flatnonzero(~seen))
    return images.canonical()


def _sparser(rows: Residues, p: int) -> Residues:
    """Rows of the same span: the echelon form of those with the same many unknowns.

    If samples mix the columns of F, as in D F X = Y, this separates them again.
    """
    occupied = rows[:, :-1] != 0
    dense = np.flatnonzero(occupied.sum(axis=1) > _FEW)
    if len(dense) < 2:
        return rows
    sets, which = np.unique(np.packbits(occupied[dense], axis=1), axis=0, return_inverse=True)
    which = which.ravel()
    parts = [np.delete(rows, dense, axis=0)]
    for k in range(len(sets)):
        same = dense[which == k]
        columns = np.append(np.flatnonzero(occupied[same[0]])[::-1], rows.shape[1] - 1)
        table, _ = modular_echelon(rows[np.ix_(same, columns)], p)
        reduced = np.zeros((len(table), rows.shape[1]), np.int64)
        reduced[:, columns] = table
        parts.append(reduced)
    return np.concatenate(parts)


class _Images:
    """Affine forms of the known unknowns, in those of them that are free."""

    def __init__(self, n: int, p: int) -> None:
        self.p = p
        self.free: list[int] = []  # the unknown of each column but the first, the constants
        self.table = np.zeros((n, 1), np.int64)

    def add_free(self, unknowns: np.ndarray) -> None:
        """Add free unknowns."""
        new = np.zeros((len(self.table), len(unknowns)), np.int64)
        new[unknowns, np.arange(len(unknowns))] = 1
        self.table = np.concatenate([self.table, new], axis=1)
        self.free.extend(unknowns.tolist())

    def solve(self, rows: Residues, own: np.ndarray, seen: np.ndarray) -> None:
        """Include further equations; `own` are the new unknowns, the highest first."""
        p, n = self.p, len(seen)
        known = np.flatnonzero((rows[:, :n] != 0).any(axis=0) & seen)
        part = matmul(rows[:, known], self.table[known], p)
        part[:, 0] = (part[:, 0] + rows[:, n]) % p
        order = 1 + np.argsort(self.free)[::-1].astype(np.int64)
        block = np.concatenate([rows[:, own], part[:, order], part[:, :1]], axis=1)
        table, pivots = modular_echelon(block, p)
        if pivots and pivots[-1] == block.shape[1] - 1:
            raise Inconsistent
        fresh = sum(pivot < len(own) for pivot in pivots)
        solved, rest = own[pivots[:fresh]], np.delete(own, pivots[:fresh])
        # Relations between unknowns that were free.
        columns = np.append(order, 0)
        gone = columns[np.array(pivots[fresh:], np.int64) - len(own)]
        if len(gone):
            images = np.zeros((len(gone), self.table.shape[1]), np.int64)
            images[:, columns] = -table[fresh:, len(own) :] % p
            images[np.arange(len(gone)), gone] = 0
            self.table = (self.table + matmul(self.table[:, gone], images, p)) % p
        old = np.zeros((fresh, self.table.shape[1]), np.int64)
        old[:, columns] = -table[:fresh, len(own) :] % p
        self.table[solved] = old
        if len(gone):
            kept = np.setdiff1d(np.arange(self.table.shape[1]), gone)
            self.table = self.table[:, kept]
            self.free = [self.free[k - 1] for k in kept[1:]]
        width = self.table.shape[1]
        self.add_free(rest)
        chosen = np.delete(np.arange(len(own)), pivots[:fresh])
        self.table[solved, width:] = -table[:fresh, chosen] % p

    def canonical(self) -> tuple[Residues, np.ndarray]:
        """The images of all unknowns, and the free ones: in ascending order, the lowest."""
        p, n = self.p, len(self.table)
        order = np.argsort(self.free).astype(np.int64)
        free = np.array(self.free, np.int64)[order]
        linear, constant = self.table[:, 1 + order], self.table[:, 0]
        highest = np.where(linear != 0, free, -1).max(axis=1, initial=-1)
        if (highest > np.arange(n)).any():
            table, pivots = modular_echelon(linear.T, p)
            free, linear = np.array(pivots, np.int64), table.T
            constant = (constant - matmul(linear, constant[free], p)) % p
        images = np.zeros((n + 1, len(free) + 1), np.int64)
        images[:n, :-1], images[:n, -1], images[n, -1] = linear, constant, 1
        return images, free
