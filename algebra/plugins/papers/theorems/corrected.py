r"""True versions of the papers' theorems.

They have the type of those in `algebra.plugins.papers.theorems.statements`, so that
`algebra.plugins.papers.audit` can also compare them with the exact verdict.  They apply to more
networks (m > Tb, r ≠ dm) and give no conclusion if only the generic rank decides.  Proofs are in
docs/theorems.md.

Throughout κ = min(m, Tb) (or min(m, q)), the number of independent samples; in wide nets the
generic rank of the whole Jacobian is then dκ.

**Tensors.**  The cell (i, j) of one layer contributes ``a_i ⊗ z_j``, with generic a_i ∈ K^d
(columns of what follows) and z_j ∈ K^κ (rows of what comes before).  The rank of a set of
such products has a closed form (`tensor_rank`) where d ≤ 2, κ ≤ 2, or the a_i or the z_j
are independent.

- d = 1: min(κ, number of columns used).
- d = 2: let s columns have 2 or more cells, and let row i have c_i cells outside them.  For
  s ≥ κ the rank is 2κ, else ``2s + min(2(κ − s), Σ_i min(c_i, κ − s))``.

  *Proof.* A column with two cells contains K²⊗z_j.  Modulo these, κ' = κ − s dimensions and columns
  with one cell remain: subspaces a_i ⊗ Z_i with Z_i generic of dimension min(c_i, κ').  If these
  dimensions sum to at most 2κ' (else shrink some Z_i), let the Z_i be spanned by coordinate vectors
  assigned in cyclic order, so that none repeats in a Z_i and each is used at most twice: the sum is
  then direct, as any two a_i are independent. ∎

**Regularity.**  If the layer has at most d + 1 rows or at most κ + 1 columns, an allocation
with r = dκ is maximal exactly when no row, column or cross budget is exceeded: that is the
theorem of Gopalan et al. [1]_ on tensor codes with one parity check a column, read for the
complement.  With d, κ ≥ 3 and a 5×5 layer that fails.

**Rows of Tb in W.**  That they suffice if b divides m is based on [3]_; docs/theorems.md has the
argument.

References
----------
.. [1] P. Gopalan, G. Hu, S. Kopparty, S. Saraf, C. Wang, S. Yekhanin, "Maximally recoverable
   codes for grid-like topologies", arXiv 1605.05412.
.. [2] J. Brakensiek, M. Dhar, J. Gao, S. Gopi, M. Larson, "Rigidity matroids and linear
   algebraic matroids with applications to matrix completion and tensor codes",
   arXiv 2405.00778.
.. [3] F. De Terán, F. M. Dopico, P. Van Dooren, "Matrix polynomials with completely
   prescribed eigenstructure", SIAM J. Matrix Anal. Appl. 36 (2015) 302–328.
"""

from __future__ import annotations

import numpy as np

from algebra.networks.base import Network
from algebra.networks.feedforward import LinearFeedForward
from algebra.networks.recurrent import LinearRNN
from algebra.plugins.papers.theorems.roles import too_narrow
from algebra.plugins.papers.theorems.statements import (
    Codes,
    Masks,
    Theorem,
    decoder,
    encoder,
    hidden_layers,
    recurrent,
)
from algebra.problems.allocation import Allocation
from algebra.ranks.budgets.cover import budget_violations, rank_bound
from algebra.ranks.budgets.crosses import violated_crosses

_HERE = "docs/theorems.md"


def tensor_rank(masks: Masks, d: int, m: int) -> np.ndarray | None:
    """Ranks of sets of products a_i ⊗ z_j, generic a_i ∈ K^d and z_j ∈ K^m.

    Parameters
    ----------
    masks : ndarray of 0 and 1, shape (N, rows, columns)
        The pairs (i, j) of each set.
    d, m : int

    Returns
    -------
    ndarray of int64, shape (N,), or None
        None if no closed form is known (d, m ≥ 3, more rows than d and columns than m).

    Examples
    --------
    >>> cross = [[[0, 1, 1], [1, 0, 0], [1, 0, 0]]]
    >>> tensor_rank(np.array(cross), 2, 2).tolist()
    [3]
    """
    masks = np.asarray(masks, np.int64)
    rows, columns = masks.sum(axis=2), masks.sum(axis=1)
    if d >= masks.shape[1]:
        return np.minimum(rows, m).sum(axis=1)
    if m >= masks.shape[2]:
        return np.minimum(columns, d).sum(axis=1)
    if d == 1:
        return np.minimum(m, (columns > 0).sum(axis=1))
    if d == 2:
        double = columns >= 2
        s = np.minimum(double.sum(axis=1), m)
        single = np.where(double[:, None, :], 0, masks).sum(axis=2)
        rest = np.minimum(single, (m - s)[:, None]).sum(axis=1)
        return 2 * s + np.minimum(2 * (m - s), rest)
    if m <= 2:
        return tensor_rank(masks.transpose(0, 2, 1), m, d)
    return None


def _independent_samples(network: Network) -> int:
    return min(network.m, network.input_shape[0])


def _decoder(network: Network, name: str, masks: Masks) -> Codes:
    rows = masks.sum(axis=2, dtype=np.int64)
    return np.where((rows >= _independent_samples(network)).all(axis=1), 1, -1)


def _allocations(network: Network, name: str, masks: Masks) -> list[Allocation]:
    return [Allocation.from_masks(network, {name: mask}) for mask in masks]


def _by_budgets(network: Network, name: str, masks: Masks) -> Codes:
    needed = network.d * _independent_samples(network)
    bounds = [rank_bound(a) for a in _allocations(network, name, masks)]
    return np.where(np.array(bounds, np.int64) < needed, -1, 0)


def _encoder(network: LinearRNN, name: str, masks: Masks) -> Codes:
    d, T, k = network.d, network.T, _independent_samples(network)
    rank = None
    if T == 1:
        rank = tensor_rank(masks, d, k)
    elif d == 1:
        columns = masks.sum(axis=1, dtype=np.int64)
        rank = np.minimum(k, np.minimum(columns, T).sum(axis=1))
    elif k == 1:
        rows = masks.sum(axis=2, dtype=np.int64)
        rank = np.minimum(d, np.minimum(rows, T).sum(axis=1))
    if rank is None:
        return _by_budgets(network, name, masks)
    return np.where(rank == d * k, 1, -1)


def rows_of_Tb_suffice(network: LinearRNN) -> bool | None:
    """Whether W with Tb or 0 learnable weights a row, r = dm, Tb ≤ n and Td ≤ n, is maximal.

    Returns
    -------
    bool or None
        True if it is proved to be maximal: b divides m, or m > Tb, where Tb samples determine all
        labels and d of the rows are enough.  False if it is minimal: b does not divide
        m and ``m (T − ⌊m/b⌋) < Tb``.  None otherwise: the rank decides (it was full for all sizes
        tried).

    Notes
    -----
    Let k = dm/(Tb) be the number of rows and f = ⌊m/b⌋.  The m − fb dimensions of combinations of
    samples whose first f inputs are 0 use only T − f steps: the changes of their labels are
    ``Σ_{s < T−f} (D W^s)[:, rows] G_s``, at most (T − f) k directions per dimension, while d are
    needed.

    Examples
    --------
    >>> [rows_of_Tb_suffice(LinearRNN(n=8, T=2, b=2, d=4, m=m)) for m in (1, 2, 3, 4)]
    [False, True, False, True]
    """
    T, b, m = network.T, network.b, network.m
    if m % b == 0 or m > T * b:
        return True
    return False if m * (T - m // b) < T * b else None


def _recurrent_lines(network: LinearRNN, name: str, masks: Masks) -> Codes:
    T, b, d, m = network.T, network.b, network.d, network.m
    codes = np.zeros(len(masks), np.int8)
    rows, columns = masks.sum(axis=2, dtype=np.int64), masks.sum(axis=1, dtype=np.int64)
    right_size = rows.sum(axis=1) == d * m
    by_rows = ((rows == 0) | (rows == T * b)).all(axis=1) & right_size
    by_columns = ((columns == 0) | (columns == T * d)).all(axis=1) & right_size
    codes[by_rows] = {True: 1, False: -1, None: 0}[rows_of_Tb_suffice(network)]
    codes[by_columns] = 1
    return codes


def _layer(network: LinearFeedForward, name: str, masks: Masks) -> Codes:
    d, k = network.d, _independent_samples(network)
    rank = tensor_rank(masks, d, k)
    if rank is not None:
        return np.where(rank == d * k, 1, -1)
    codes = _by_budgets(network, name, masks)
    height, width = network.shapes[name]
    if height == d + 1 or width == k + 1:
        for index, allocation in enumerate(_allocations(network, name, masks)):
            if (
                allocation.size == d * k
                and not budget_violations(allocation)
                and violated_crosses(allocation).exhaustive
            ):
                codes[index] = 1
    return codes


CORRECTED: dict[str, Theorem] = {
    theorem.name: theorem
    for theorem in (
        Theorem(
            "3.1 corrected",
            "An allocation learning the decoder is maximal if every row has at least κ learnable "
            "weights, else it is minimal.",
            _HERE,
            True,
            decoder,
            _decoder,
            too_narrow,
        ),
        Theorem(
            "3.2 corrected",
            "An allocation learning the encoder B is minimal if it exceeds a row, column or cross "
            "budget.  For T = 1 and d or κ at most 2, and for d = 1 or κ = 1, every other one is "
            "maximal (r = dκ).  Beyond that the rank decides.",
            _HERE,
            True,
            encoder,
            _encoder,
            too_narrow,
        ),
        Theorem(
            "3.4 corrected",
            "An allocation learning W is minimal if a cover by row, column and cross budgets "
            "(rows min(Tb, Tm), columns Td) leaves fewer than dκ equations.  Beyond that the rank "
            "decides.",
            _HERE,
            True,
            recurrent,
            _by_budgets,
            too_narrow,
        ),
        Theorem(
            "3.5 corrected",
            "Let r = dm.  Columns of Td or 0 learnable weights: maximal.  Rows of Tb or 0: maximal "
            "if b divides m or m > Tb; minimal if not and m(T − ⌊m/b⌋) < Tb; else the rank "
            "decides.  Where it is not minimal and m ≤ Tb, the solution is unique and rational.",
            _HERE,
            True,
            recurrent,
            _recurrent_lines,
            too_narrow,
        ),
        Theorem(
            "4.1 corrected",
            "An allocation learning an intermediate or encoder layer is minimal if it exceeds a "
            "row (κ), column (d) or cross (aκ + bd − ab) budget.  Every other one with r = dκ is "
            "maximal if d ≤ 2 or κ ≤ 2 or the layer has at most d + 1 rows or κ + 1 columns.  "
            "Beyond that the rank decides.",
            _HERE,
            True,
            hidden_layers,
            _layer,
            too_narrow,
        ),
    )
}
