"""Ranks of matrices modulo a prime: of one by FLINT or by blocks, of many small ones at once."""

from __future__ import annotations

from functools import partial

import numpy as np
from flint import nmod_mat

from algebra.linalg.modular import by_flint
from algebra.linalg.primes import PRIME_SIZES
from algebra.linalg.residues import SMALL, Residues, inverses, times
from algebra.time_limits import checked

# Rows and columns from which blocks are faster than FLINT (measured).
LARGE = 1200
# Rows and columns from which a short prime is faster (measured).
MEDIUM = 1000


def modular_rank(matrix: Residues, p: int, *, overwrite: bool = False) -> int:
    """Rank of one matrix modulo p; a large one may be overwritten, which saves its copy."""
    if not matrix.size:
        return 0
    if min(matrix.shape) >= (MEDIUM if p < 1 << PRIME_SIZES.short else LARGE):
        from algebra.linalg.echelon import independent

        return len(independent(matrix, p, overwrite))
    return by_flint(_rank, matrix, p)


def _rank(matrix: Residues, p: int) -> int:
    rows, columns = matrix.shape
    return int(nmod_mat(rows, columns, matrix.ravel().tolist(), p).rank())


def batched_rank(matrices: Residues, p: int) -> np.ndarray:
    """Ranks of many matrices at once.

    Parameters
    ----------
    matrices : ndarray of int64, shape (N, rows, columns)
        Residues modulo p.
    p : int
        A prime below 2^61.

    Returns
    -------
    ndarray of int64, shape (N,)

    Notes
    -----
    Gaussian elimination, one column at a time over the whole batch; each matrix keeps
    its own pivot row.
    """
    work = np.array(matrices, dtype=np.int64) % p
    count, rows, columns = work.shape
    ranks = np.zeros(count, np.int64)
    if not rows or not columns:
        return ranks
    every = np.arange(count)
    for column in checked(range(columns)):
        # Rows above the current rank hold finished pivots.
        open_rows = np.arange(rows)[None, :] >= ranks[:, None]
        candidates = (work[:, :, column] != 0) & open_rows
        has = candidates.any(axis=1)
        index = every[has]
        if not index.size:
            continue
        pivot, target = candidates[index].argmax(axis=1), ranks[index]
        swap = work[index, pivot].copy()
        work[index, pivot] = work[index, target]
        scaled = times(swap, inverses(swap[:, column], p)[:, None], p)
        work[index, target] = scaled
        factors = np.where(open_rows[index], work[index, :, column], 0)
        factors[np.arange(index.size), target] = 0
        # One remainder is enough where the difference fits in 63 bits.
        product = np.multiply if p <= SMALL else partial(times, p=p)
        work[index] = (work[index] - product(factors[:, :, None], scaled[:, None, :])) % p
        ranks[index] += 1
    return ranks
