r"""A chain's equations in the states that its linear equations leave free, weights projected out.

With the states of a chain as unknowns beside the learnable weights all equations are bilinear
(`numeric.equations.chain` has the letters).  Rows of M_k and D in which nothing learns, and entries
of S_0 that do not learn, give linear equations in the states alone.  Their solutions are an affine
space

    S = S* + N z,    the columns of N orthonormal,

of as many dimensions as the core system of `algebra.systems.core` has unknowns.  Each other row i,
with learnable cells A_i, requires

    Σ_{j in A_i} w_ij s_j(z) = t_i(z),

where s_j and t_i are vectors, affine in z: rows of the states (of all steps, if one matrix is used
in all of them), without the contribution of the row's fixed weights.  For given z the best w_i is a
linear least-squares solution, and what is left,

    r_i(z) = (1 − P_i(z)) t_i(z),    P_i the orthogonal projector onto the span of the s_j,

has no weights any more: variable projection [1]_.  Its zeros are the instance's solutions.  The
derivative is Kaufman's, ``(1 − P_i)(dt_i − Σ_j w_ij ds_j)`` [2]_: what is omitted is as small as
r_i.

No power of a matrix occurs, and z has few components if few rows learn.  Of random real starts of
damped Gauss–Newton steps a third to a tenth end at a solution, where in the weights none of
hundreds does (n = 16, T = 8, six rows).

*Growth.*  A solution's weights are larger than the fixed ones, as few of them do the work of all,
so its states grow.  In units ``g^k`` of S_k its states are of about the same size at all steps, and
the least-squares problem weighs all steps alike.

References
----------
.. [1] G. H. Golub, V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares
   problems whose variables separate", SIAM J. Numer. Anal. 10 (1973).
.. [2] L. Kaufman, "A variable projection method for solving separable nonlinear least squares
   problems", BIT 15 (1975).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from numeric.equations.chain import IN_D, IN_S0, Chain
from numeric.equations.inputs import IN_M

# The affine space is computed by a dense factorisation, and each step of a search solves with
# dense matrices of its dimension.
_MOST_STATES = 1024
_MOST_FREE = 128


@dataclass(frozen=True)
class _AlikeRows:
    """Rows of one matrix with equally many learnable weights.

    Attributes
    ----------
    numbers : ndarray of int, shape (rows, weights)
        Indices of the weights among the chain's unknowns.
    factors : ndarray, shape (rows, weights, equations, free + 1)
        s_j of each weight; the last entry is the constant.
    right : ndarray, shape (rows, equations, free + 1)
        t_i.
    """

    numbers: np.ndarray
    factors: np.ndarray
    right: np.ndarray

    @property
    def is_solved(self) -> bool:
        """Whether any states allow such rows: they restrict nothing."""
        return self.numbers.shape[1] == self.right.shape[1]

    def solve(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weights (k, rows, weights), what they leave (k, rows, equations), and bases of spans."""
        factors = self.factors[..., :-1] @ z.T + self.factors[..., -1:]
        right = self.right[..., :-1] @ z.T + self.right[..., -1:]
        basis, triangle = np.linalg.qr(factors.transpose(3, 0, 2, 1))
        right = right.transpose(2, 0, 1)[..., None]
        onto = basis.swapaxes(-1, -2) @ right
        # Of dependent vectors the weights are not numbers, and the point is not used.
        each = np.arange(triangle.shape[-1])
        diagonal = triangle[..., each, each]
        triangle[..., each, each] = np.where(diagonal == 0, np.nan, diagonal)
        weights = np.linalg.solve(triangle, onto)
        return weights[..., 0], (right - basis @ onto)[..., 0], basis


class ProjectedSystem:
    """The equations r(z) = 0 of one real instance.

    Parameters
    ----------
    unknowns : int
        Number of learnable weights.
    rows : list of _AlikeRows
    size : float
        Root mean square of the states S*, in their units; of the labels if these states are 0.
    """

    def __init__(self, unknowns: int, rows: list[_AlikeRows], size: float) -> None:
        self.size = size
        self._unknowns = unknowns
        self._rows = rows

    @property
    def free(self) -> int:
        """Number of components of z."""
        return int(self._rows[0].right.shape[-1]) - 1

    def residuals(
        self, z: np.ndarray, of: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """r (k, ·) at points (k, free), and its derivatives (k, ·, free).

        NaN where the s_j of a row are dependent, so that its weights are not determined.  Nothing
        depends on the numbers of starts (`numeric.linalg.levenberg_marquardt`).
        """
        values, slopes = [], []
        for own in self._rows:
            if own.is_solved:
                continue
            weights, rest, basis = own.solve(z)
            rest = np.where(np.isfinite(weights).all(axis=-1, keepdims=True), rest, np.nan)
            rows, count, equations, _ = own.factors.shape
            part = own.factors[..., :-1].reshape(rows, count, -1)
            moved = weights.swapaxes(0, 1) @ part
            slope = own.right[:, None, :, :-1] - moved.reshape(rows, len(z), equations, -1)
            slope = slope.swapaxes(0, 1)
            slope = slope - basis @ (basis.swapaxes(-1, -2) @ slope)
            values.append(rest.reshape(len(z), -1))
            slopes.append(slope.reshape(len(z), -1, self.free))
        return np.concatenate(values, axis=1), np.concatenate(slopes, axis=1)

    def weights(self, z: np.ndarray) -> np.ndarray:
        """Learnable weights (k, r) at points (k, free)."""
        out = np.empty((len(z), self._unknowns))
        for own in self._rows:
            out[:, own.numbers] = own.solve(z)[0]
        return out


def project(chain: Chain, parameters: np.ndarray, growth: float) -> ProjectedSystem | None:
    """The equations of an instance with the weights projected out.

    Parameters
    ----------
    chain : Chain
    parameters : ndarray of float, shape (chain.size,)
        A real parameter vector.
    growth : float
        g.

    Returns
    -------
    ProjectedSystem or None
        None if the space of states is too large to be computed so, if nothing is left to solve, or
        if a layer is narrower than both d and the number of samples.
    """
    n, c, m, K = chain.widths.tolist(), chain.columns, chain.samples, chain.steps
    kinds = set(chain.cells[:, 0].tolist())
    first = 0 if IN_S0 in kinds else 1
    entries = sum(n[first:]) * c
    if entries > _MOST_STATES or len(chain.equations) != chain.network.d * m:
        return None
    p = np.array(parameters, float)
    p[chain.cells[:, 4]] = 0

    def block(at: int, rows: int, columns: int) -> np.ndarray:
        return p[at : at + rows * columns].reshape(rows, columns)

    # States are affine in all their entries: coefficients, and the constant as the last one.
    start, given = np.zeros((n[0], c, entries + 1)), block(chain.s0_at, n[0], c)
    if first == 1:
        start[..., -1] = given
    states, at = [start], 0
    for k in range(first, K + 1):
        if k > 0:
            states.append(np.zeros((n[k], c, entries + 1)))
        size = n[k] * c
        states[k].reshape(size, -1)[np.arange(size), at + np.arange(size)] = growth**k
        at += size
    # Matrices: their kind and step, inputs and outputs of all their uses, units of the outputs.
    units = growth ** np.arange(K + 1.0)
    uses: list[tuple[tuple[int, int], np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []
    if chain.read_all:
        M = block(chain.m_at[1], n[0], n[0])
        before, after = (np.concatenate(some, axis=1) for some in (states[:-1], states[1:]))
        uses.append(((IN_M, 0), M, before, after, np.repeat(units[1:], c)))
        P = block(chain.p_at[1], K * c, m)
        read = np.einsum("ixs,xa->ias", after, P)
    else:
        for k in range(1, K + 1):
            M = block(chain.m_at[k], n[k], n[k - 1])
            uses.append(((IN_M, k), M, states[k - 1], states[k], np.repeat(units[k], c)))
        read = states[K]
    labels = np.zeros((chain.network.d, m, entries + 1))
    labels[..., -1] = block(chain.y_at, chain.network.d, m)
    uses.append(((IN_D, 0), block(chain.d_at, chain.network.d, n[K]), read, labels, np.ones(m)))

    linear: list[np.ndarray] = []
    entering = np.flatnonzero(chain.cells[:, 0] == IN_S0)
    if first == 0:
        # Entries of S_0 are states; those that do not learn have given values.
        is_fixed = np.ones((n[0], c), bool)
        is_fixed[tuple(chain.cells[entering, 2:4].T)] = False
        held = start[is_fixed]
        held[:, -1] = -given[is_fixed]
        linear.append(held)
    learning = []
    for kind, M, before, after, unit in uses:
        learns = np.flatnonzero((chain.cells[:, :2] == kind).all(axis=1))
        of = chain.cells[learns, 2]
        rest = (after - np.tensordot(M, before, 1)) / unit[:, None]
        linear.append(rest[np.setdiff1d(np.arange(len(M)), of)].reshape(-1, entries + 1))
        learning.append((learns, of, before / unit[:, None], rest))
    equations = np.concatenate(linear)
    count, free = len(equations), entries - len(equations)
    if not 0 < free <= _MOST_FREE:
        return None
    basis, triangle = np.linalg.qr(equations[:, :-1].T, mode="complete")
    if not np.abs(np.diagonal(triangle)).min(initial=1.0) > 0:
        return None
    constant = basis[:, :count] @ np.linalg.solve(triangle[:count].T, -equations[:, -1])
    space = np.zeros((entries + 1, free + 1))
    space[:-1, :-1], space[:-1, -1], space[-1, -1] = basis[:, count:], constant, 1.0
    rows = []
    if len(entering):
        ones = np.zeros((len(entering), 1, 1, free + 1))
        ones[..., -1] = 1.0
        values = start[tuple(chain.cells[entering, 2:4].T)] @ space
        rows.append(_AlikeRows(entering[:, None], ones, values[:, None]))
    for learns, of, before, rest in learning:
        counts = np.bincount(of)
        for size in np.unique(counts[counts > 0]).tolist():
            own = np.flatnonzero(counts == size)
            numbers = np.array([learns[of == i] for i in own])
            factors = before[chain.cells[numbers, 3]] @ space
            rows.append(_AlikeRows(numbers, factors, rest[own] @ space))
    return ProjectedSystem(chain.unknowns, rows, _size(constant) or _size(labels[..., -1]))


def _size(values: np.ndarray) -> float:
    """Root mean square."""
    return float(np.sqrt((values**2).mean()))
