r"""Khatri–Rao products: their generic rank, dense or sparse, and the widths it leads to.

The Khatri–Rao product A ⊙ B of an n×w and an m×w matrix has the columns a_j ⊗ b_j.  It is
the matrix of the linear system for scales between two frozen layers (Lemma 1 of [1]_):

.. math:: W_2 Γ W_1 = W^* \iff (W_2 ⊙ W_1^T) \mathrm{vecd}(Γ) = \mathrm{vec}(W^*),

vec row by row, W_2 n×w, W_1 w×m.

**Theorem (structural rank = generic rank).** Let the entries of A and B outside given
zero patterns be independent variables.  The rank of A ⊙ B over the rational functions is
the size of a maximum matching between its rows and columns.

*Proof.* Take k rows (i, c), an entry of A's row i times one of B's row c, and k columns. The minor
is Σ_σ ± Π_j a_{i_σ(j), j} b_{c_σ(j), j}.  Each column j has its own variables, so a monomial
determines for each j the row σ(j) = (i, c): no two permutations share a monomial, nothing cancels,
and the minor is the zero polynomial if and only if no permutation has only nonzero entries, i.e. if
there is no perfect matching. ∎

This contains Lemma 2 (dense, w = nm: full rank), the equivalence "determinant ≠ 0 ⟺ Boolean
determinant ≠ 0" of section 4.3 and more: all minors, any width.  The Boolean determinant of
Definition 4 is the existence of a perfect matching; its expansion takes exponential time, a
matching very little.  The monomials have coefficients ±1, so the theorem holds modulo every prime.

The theorem depends on the *independence of the columns*.  The systems of the first paper have the
columns z_j ⊗ a_i of a learnable cell (i, j): two cells of a row share a_i, two of a column z_j.
Then permutations do share monomials, which cancel, and the structural rank is only an upper bound:
learnable cells (0,1), (0,2), (1,0), (2,0) with d = m = 2 have a full matching (all entries are
nonzero) and rank 3.  So its Theorem 4.1, which counts, fails although this one holds.

References
----------
.. [1] A. Giannou, S. Rajput, D. Papailiopoulos, "The expressive power of tuning only the
   normalization layers", COLT 2023 (arXiv 2302.07937).
"""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np

from algebra.errors import InputError, whole_number
from algebra.linalg.primes import random_points
from algebra.linalg.ranks import modular_rank
from algebra.linalg.residues import Residues, random_residues
from algebra.ranks.deficits import TARGET_ERROR
from algebra.ranks.generic_rank import GenericRank

# Number of entries of the Boolean matrices that are matched in one call.
_AT_ONCE = 20_000_000


def khatri_rao(A: Any, B: Any) -> np.ndarray:
    """The product A ⊙ B: column j is a_j ⊗ b_j.

    Parameters
    ----------
    A : ndarray, shape (…, n, w)
    B : ndarray, shape (…, m, w)
        Entries of any ring; leading axes are a batch.

    Returns
    -------
    ndarray, shape (…, n·m, w)
        Row i·m + c is row i of A times row c of B.

    Examples
    --------
    >>> khatri_rao(np.array([[1, 2]]), np.array([[3, 4], [5, 6]])).tolist()
    [[3, 8], [5, 12]]
    """
    A, B = np.asarray(A), np.asarray(B)
    if A.ndim < 2 or B.ndim < 2 or A.shape[-1] != B.shape[-1]:
        raise InputError(
            f"`A` {A.shape} and `B` {B.shape} must be matrices with equally many columns"
        )
    product = A[..., :, None, :] * B[..., None, :, :]
    return product.reshape(*product.shape[:-3], A.shape[-2] * B.shape[-2], A.shape[-1])


def structural_rank(pattern: Any) -> int:
    """Size of a maximum matching between the rows and columns of a 0/1 matrix.

    Examples
    --------
    >>> structural_rank([[1, 1], [0, 0]])
    1
    """
    return int(structural_ranks(np.asarray(pattern)[None])[0])


def structural_ranks(patterns: np.ndarray) -> np.ndarray:
    """Sizes of maximum matchings of many 0/1 matrices.

    Parameters
    ----------
    patterns : ndarray, shape (N, rows, columns)

    Returns
    -------
    ndarray of int64, shape (N,)

    Notes
    -----
    The matrices become the blocks of one block diagonal matrix, matched by Hopcroft and
    Karp's algorithm in one call.
    """
    # Imported here: importing SciPy takes longer than most commands.
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    patterns = np.asarray(patterns) != 0
    count, rows, columns = patterns.shape
    step = max(1, _AT_ONCE // max(1, rows * columns))
    if count > step:
        parts = [structural_ranks(patterns[k : k + step]) for k in range(0, count, step)]
        return np.concatenate(parts)
    if not rows or not columns:
        return np.zeros(count, np.int64)
    block, i, j = np.nonzero(patterns)
    pointers = np.concatenate([[0], np.cumsum(patterns.sum(axis=2, dtype=np.int64).ravel())])
    graph = csr_array(
        (np.ones(len(i), np.int8), block * columns + j, pointers),
        shape=(count * rows, count * columns),
    )
    matched = maximum_bipartite_matching(graph, perm_type="column") >= 0
    return matched.reshape(count, rows).sum(axis=1, dtype=np.int64)


def product_patterns(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Zero patterns of Khatri–Rao products of matrices with the patterns left and right."""
    return khatri_rao(np.asarray(left) != 0, np.asarray(right) != 0)


def khatri_rao_rank(
    rows: int,
    columns: int,
    width: int,
    *,
    left: Any = None,
    right: Any = None,
    seed: int = 0,
    target: Fraction = TARGET_ERROR,
) -> GenericRank:
    """Generic rank of the system of Lemma 1 for a rows×columns target at a width.

    Parameters
    ----------
    rows, columns : int
        Of the target W*: n and m.
    width : int
        Hidden width w.
    left, right : array_like, optional
        Zero patterns of W_2 (n×w) and W_1 transposed (m×w); all nonzero by default.
    seed : int, optional
        They determine primes and points.
    target : Fraction, optional
        Points are added until the error bound is below this.

    Returns
    -------
    GenericRank
        Its upper bound is the structural rank, which is the generic rank: so it is proved at the
        first point, unless that point is unlucky.

    Examples
    --------
    >>> khatri_rao_rank(3, 3, 9).is_proved, khatri_rao_rank(3, 3, 8).rank
    (True, 8)
    """
    n, m = whole_number(rows, "rows", 1), whole_number(columns, "columns", 1)
    w = whole_number(width, "width", 0)
    patterns = []
    for name, value, size in (("left", left, n), ("right", right, m)):
        pattern = np.ones((size, w), np.int64) if value is None else np.asarray(value) != 0
        if pattern.shape != (size, w):
            raise InputError(f"`{name}` {pattern.shape} must be {size}×{w}")
        patterns.append(pattern.astype(np.int64))
    if left is None and right is None:
        bound = min(w, n * m)
    else:
        bound = structural_rank(product_patterns(*patterns))
    points_of = random_points(f"khatri-rao/{seed}")
    best, witness, error = -1, (0, 0), Fraction(1)
    points: list[tuple[int, int]] = []
    while error >= target:
        points.append(next(points_of))
        found = rank_at_point(patterns[0], patterns[1], *points[-1])
        if found > best:
            best, witness, error = found, points[-1], Fraction(1)
        if best >= bound:
            error = Fraction(0)
            break
        error *= Fraction(2 * bound, 1 << 30)
    return GenericRank(best, bound, *witness, tuple(points), error)


def rank_at_point(left: Residues, right: Residues, p: int, seed: int) -> int:
    """Rank modulo p at the point with this number, as named in a certificate."""
    rng = random.Random(f"{p}/{seed}")
    A = random_residues(left.shape, p, rng) * left
    B = random_residues(right.shape, p, rng) * right
    return modular_rank(khatri_rao(A, B) % p, p)


def width_needed(
    rows: int,
    columns: int,
    *,
    second_scales: bool = False,
    target_rank: int | None = None,
) -> int:
    r"""Smallest hidden width at which tuned scales realize every target of a size.

    Parameters
    ----------
    rows, columns : int
        Of the target W*: n and m.
    second_scales : bool, optional
        Whether the scales Γ_2 of the outputs are tuned too.
    target_rank : int, optional
        Corollary 1: targets of at most this rank, realized in *four* frozen layers.

    Returns
    -------
    int
        nm for Γ_1 alone; nm − n + 1 with Γ_2; r·max(n, m) for rank r in four layers (one less than
        the larger block needs, by the same argument, with all scales tuned).

    Notes
    -----
    Γ_1 alone: the image of γ ↦ (W_2 ⊙ W_1ᵀ)γ has dimension min(w, nm), so at w = nm − 1 it is a
    hyperplane that does not contain a generic target.

    With Γ_2 = diag(δ)^{-1}: W_2 Γ_1 W_1 = diag(δ) W* is linear and homogeneous in (γ, δ), nm
    equations in w + n unknowns, so for w ≥ nm − n + 1 there is a nonzero solution, with all δ_i ≠ 0
    for generic data.  Conversely the image of (γ, Γ_2) has dimension at most w + n − 1 (a common
    factor can be moved from one to the other), which is below nm if w ≤ nm − n.  The paper sets Γ_2
    to the identity and therefore requires n − 1 units more.

    For a target of one layer ReLU gives no advantage over its linear regime
    (`algebra.plugins.normalization.reconstruct` has the proof).  Inner blocks of deeper targets
    may have fewer units (`algebra.plugins.normalization.hidden_scales`), but not for every target.

    Examples
    --------
    >>> width_needed(3, 3), width_needed(3, 3, second_scales=True)
    (9, 7)
    >>> width_needed(10, 10, target_rank=2)
    20
    """
    n, m = whole_number(rows, "rows", 1), whole_number(columns, "columns", 1)
    if target_rank is None:
        return n * m - (n - 1) * second_scales
    r = whole_number(target_rank, "target_rank", 1, min(n, m))
    first, second = (width_needed(a, b, second_scales=second_scales) for a, b in ((r, m), (n, r)))
    return max(first, second)
