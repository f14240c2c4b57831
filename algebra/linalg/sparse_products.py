"""Products of sparse matrices: of many terms by SciPy's matrices of doubles that hold integers.

The limbs and the bounds of partial sums are those of `algebra.linalg.products`.  Rows with more
entries than a sum may have are cut: the matrix is a sum of matrices with fewer entries in each row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from algebra.linalg.products import inner_limit, limb_product, limbs, with_sums
from algebra.linalg.residues import Residues, times
from algebra.linalg.short_primes import BITS, WIDTH, as_doubles, reduced
from algebra.linalg.sums import added_groups
from algebra.time_limits import check_time

if TYPE_CHECKING:
    from algebra.linalg.sparse import SparseMatrix

# Columns of the other factor that are multiplied at a time.
_COLUMNS = 64
# Terms up to which they are added one by one.
_FEW = 1 << 11


def modular_product(a: SparseMatrix, b: Residues, p: int) -> Residues:
    """A sparse matrix times a matrix of residues, modulo p."""
    if len(a.values) * b.shape[1] <= _FEW and b.dtype == np.int64:
        return _few_terms(a, b, p)
    out = np.empty((a.shape[0], b.shape[1]), np.int64)
    parts = a.kept(p, lambda: list(_parts(a, p)))
    for start in range(0, b.shape[1], _COLUMNS):
        check_time()
        some = slice(start, start + _COLUMNS)
        block = np.ascontiguousarray(b[:, some])
        total = _product(parts[0], block, p)
        for part in parts[1:]:
            total = (total + _product(part, block, p)) % p
        out[:, some] = total
    return out


def _few_terms(a: SparseMatrix, b: Residues, p: int) -> Residues:
    """The same for few terms, without SciPy, which the check of a small proof may not have."""
    starts = np.flatnonzero(np.diff(a.rows, prepend=-1))
    out = np.zeros((a.shape[0], b.shape[1]), np.int64)
    if len(starts):
        terms = times((a.values % p)[None], np.ascontiguousarray(b[a.columns].T), p)
        out[a.rows[starts]] = added_groups(terms, starts, p).T
    return out


def ring_product(a: SparseMatrix, b: np.ndarray) -> np.ndarray:
    """A sparse matrix times a matrix over any ring of which NumPy's arrays hold the entries.

    Those of doubles, which `numeric` computes with, by SciPy.
    """
    kind = np.result_type(a.values, b)
    if kind.kind == "f":
        from scipy.sparse import csr_array

        return np.asarray(csr_array((a.values, (a.rows, a.columns)), shape=a.shape) @ b)
    starts = np.flatnonzero(np.diff(a.rows, prepend=-1))
    out = np.zeros((a.shape[0], b.shape[1]), kind)
    if not len(starts):
        return out
    # A zero of the ring.
    out += a.values[:1, None] * 0 * b[:1, :]
    for k in range(b.shape[1]):
        check_time()
        terms = a.values * b[a.columns, k]
        out[a.rows[starts], k] = np.add.reduceat(terms, starts)
    return out


def _parts(a: SparseMatrix, p: int) -> Iterator[Any]:
    """Sparse matrices of limbs whose products with limbs are sums of few terms."""
    limit = WIDTH if p < 1 << BITS else inner_limit(p)
    counts = np.bincount(a.rows, minlength=a.shape[0])
    if counts.max(initial=0) <= limit:
        yield _limbs(a, slice(None), counts, p)
        return
    ends = np.cumsum(counts)
    number = np.arange(len(a.rows)) - np.repeat(ends - counts, counts)
    for start in range(0, int(counts.max()), limit):
        some = (number >= start) & (number < start + limit)
        yield _limbs(a, some, np.clip(counts - start, 0, limit), p)


def _limbs(a: SparseMatrix, some: Any, counts: np.ndarray, p: int) -> Any:
    from scipy.sparse import csr_array

    starts = np.concatenate([[0], np.cumsum(counts)])
    place = np.ascontiguousarray(a.columns[some]), starts
    values = a.values[some] % p
    tables = [as_doubles(values, p)] if p < 1 << BITS else with_sums(limbs(values, p))
    return [csr_array((table, *place), shape=a.shape) for table in tables]


def _product(part: list[Any], b: Residues, p: int) -> Residues:
    if p < 1 << BITS:
        found = reduced(part[0] @ as_doubles(b, p), p).astype(np.int64)
        return np.asarray(found % p)
    return limb_product(part, b, p)
