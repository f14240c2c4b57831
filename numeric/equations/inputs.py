r"""The equations of a recurrent net in its free inputs: few unknowns, no power of W.

With as many independent samples as inputs (m ≥ Tb) the labels determine D F_k for every state
``F_k = W^k B``, k = 1 … T: they are coefficients y_k, up to the change of coordinates that
`numeric.equations.chain.Chain.pack` makes.  Let R be the k_R rows of W that learn, Φ the others.
Rows Φ of F_k follow from F_{k-1} by fixed weights; of rows R the labels leave e = k_R − d free
directions V (the kernel of D_R), so that

    F_k = α_k + Σ_{l ≤ k} β_{k-l} u_l,    u_l in C^{e×b} free,

with ``β_0 = V`` (in rows R), ``β_{j+1} = Q β_j``, ``α_0 = B``, ``α_k = Q α_{k-1} + D_R^+ y_k``
and Q the closed loop: W_Φ in rows Φ, ``−D_R^+ D_Φ W_Φ`` in rows R.  A row i of W with a_i
learnable cells A_i then requires

    Σ_{j in A_i} w_ij F_{k-1, j} = F_{k, i} − Σ_{j not in A_i} W_ij F_{k-1, j},    k = 1 … T,

Tb equations, bilinear in (w, u).  A row with a_i = Tb restricts nothing: its weights are a linear
solve once u is known.  It is removed; the remaining system has the weights of the other rows and
eTb inputs as unknowns, and as many equations.

The relevant parameters are α, β and the fixed weights of the remaining rows.  They move
freely on straight lines: *any* generic (α, β), with β_0 zero in rows Φ, comes from a network.
Proof: W_Φ must map the columns (α_0 … α_{T-1}, β_0 … β_{T-2}) to (α_1 … α_T, β_1 … β_{T-1}); with
n free weights in each row this is possible if ``Tb + e(T − 1) ≤ n``.  D must be orthogonal to
β_0 … β_{T-1}, which is possible with rank d if ``eT ≤ n − d``; y_k = D α_k is then determined.
(There must be no structural zeros.)  So a generic instance in these parameters has the generic
root count N of the allocation, and N paths lead from one generic instance to another.

*Unit of time.*  ``W → γ W``, ``F_k → γ^k F_k``, ``u_l → γ^l u_l`` is the same instance.  If D_R
is nearly singular β_k grows like 50^k, and on a line from a balanced instance all changes would
occur at its very beginning.  So each instance is scaled by the γ that keeps β_k bounded;
as γ is a power of two, this causes no rounding.

If W_Φ and D are constant and only B, the labels and the fixed weights of the remaining rows move,
then Q and β are constant too and α moves linearly: such a line stays among the instances for every
n (and for all structural zeros of W).

`inputs_form` decides for which chains this holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import acb, arb, fmpq_mat

if TYPE_CHECKING:
    from numeric.equations.chain import Chain
    from numeric.trials.instances import Instance

# Kind of the learnable cells of a matrix M_k in `Chain.cells`.
IN_M = 0


@dataclass(frozen=True)
class InputsForm:
    """The system in the free inputs, for one chain.

    Attributes
    ----------
    chain : Chain
    learning : ndarray of int
        R: rows of W that learn.
    rows : ndarray of int
        The rows among them with fewer than Tb learnable cells.
    cells : ndarray of int, shape (·, 2)
        Index into `rows`, and column, of each weight that is an unknown here.
    numbers : ndarray of int
        Indices of these weights among the chain's unknowns.
    free : int
        e, the number of inputs at each time step and column of B.
    """

    chain: Chain
    learning: np.ndarray
    rows: np.ndarray
    cells: np.ndarray
    numbers: np.ndarray
    free: int

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """n, T, b, e."""
        return int(self.chain.widths[0]), self.chain.steps, self.chain.columns, self.free

    @property
    def size(self) -> int:
        """Length of a vector of parameters (α, β, fixed weights)."""
        n, T, b, e = self.shape
        return (T + 1) * n * b + T * n * e + len(self.rows) * n

    @property
    def unknowns(self) -> int:
        """Number of unknowns (weights, inputs)."""
        _, T, b, e = self.shape
        return len(self.cells) + T * e * b

    @cached_property
    def whole(self) -> InputsForm:
        """The same with the weights of every row among the unknowns."""
        return _with_rows(self.chain, self.learning, self.learning, self.free)

    def reduce(self, parameters: np.ndarray) -> Reduced:
        """The parameters (α, β, fixed weights) for a chain's parameter vector."""
        chain = self.chain
        n, _, b, _ = self.shape
        d = chain.network.d
        p = np.asarray(parameters)
        W = p[chain.m_at[1] : chain.m_at[1] + n * n].reshape(n, n)
        B = p[chain.s0_at : chain.s0_at + n * b].reshape(n, b)
        D = p[chain.d_at : chain.d_at + d * n].reshape(d, n)
        Y = p[chain.y_at : chain.y_at + d * chain.samples].reshape(d, -1)
        U, sizes, VH = np.linalg.svd(D[:, self.learning])
        # Without full rank D_R has no right inverse, and the instance no coordinates of this form.
        inverses = np.divide(1.0, sizes, out=np.full(sizes.shape, np.nan), where=sizes > 0)
        inverse = (VH[:d].conj().T * inverses) @ U.conj().T
        return self.closed_loop(W, B, D, Y, inverse, VH[d:].conj().T)

    def closed_loop(
        self, W: np.ndarray, B: np.ndarray, D: np.ndarray, Y: np.ndarray, inverse: np.ndarray,
        V: np.ndarray, unit: Any = None,
    ) -> Reduced:  # fmt: skip
        """The parameters for matrices over any ring, learnable cells of W being 0.

        Parameters
        ----------
        W, B, D : ndarray
        Y : ndarray, shape (d, Tb)
            The labels; block k has the coefficients of S_{T-k}.
        inverse : ndarray, shape (k_R, d)
            A right inverse of D_R.
        V : ndarray, shape (k_R, e)
            A basis of the kernel of D_R.
        unit : optional
            γ; chosen from β if None.
        """
        R = self.learning
        n, T, b, e = self.shape
        kind = np.result_type(W, Y, V)
        fixed = np.setdiff1d(np.arange(n), R)
        Q = np.zeros((n, n), kind)
        Q[fixed] = W[fixed]
        Q[R] = -inverse @ (D[:, fixed] @ W[fixed])
        beta = np.zeros((T, n, e), kind)
        beta[0, R] = V
        for k in range(1, T):
            beta[k] = Q @ beta[k - 1]
        if unit is None:
            unit = _unit_of_time(beta)
        W, Q = W * unit, Q * unit
        alpha = np.zeros((T + 1, n, b), kind)
        alpha[0] = B
        for k in range(1, T + 1):
            alpha[k] = Q @ alpha[k - 1]
            alpha[k, R] += inverse @ Y[:, (T - k) * b : (T - k + 1) * b] * unit**k
            if k < T:
                beta[k] *= unit**k
        vector = np.concatenate([alpha.ravel(), beta.ravel(), W[self.rows].ravel()])
        return Reduced(vector, W, B, V, unit)

    def unknowns_of(self, at: Reduced, weights: np.ndarray) -> np.ndarray:
        """Unknowns (·, q) for learnable weights (·, r) that solve the chain's equations."""
        n, T, b, e = self.shape
        W = np.repeat(at.W[None].astype(complex), len(weights), axis=0)
        weights = weights * at.unit
        W.reshape(len(weights), -1)[:, self.chain.cells[:, 4] - self.chain.m_at[1]] = weights
        F = np.repeat(at.B[None].astype(complex), len(weights), axis=0)
        alpha = at.vector[: (T + 1) * n * b].reshape(T + 1, n, b)
        beta = at.vector[alpha.size : alpha.size + T * n * e].reshape(T, n, e)
        u = np.zeros((len(weights), T, e, b), complex)
        project = at.V.conj().T
        for k in range(1, T + 1):
            F = W @ F
            rest = alpha[k] + sum(
                (beta[k - 1 - j] @ u[:, j] for j in range(k - 1)), np.zeros((n, b))
            )
            u[:, k - 1] = project @ (F - rest)[:, self.learning]
        return np.column_stack([weights[:, self.numbers], u.reshape(len(weights), -1)])

    def weights_of(
        self, at: Reduced, x: np.ndarray, solve: Callable[..., np.ndarray] = np.linalg.solve
    ) -> np.ndarray:
        """All learnable weights (·, r) for unknowns (·, q).

        The weights of rows with Tb learnable cells are solutions of linear systems; NaN where such
        a system is singular.

        Parameters
        ----------
        at : Reduced
        x : ndarray, shape (·, q)
        solve : callable, optional
            Solves with matrices (·, Tb, Tb) and right-hand sides (·, Tb, 1), over the ring of x.
        """
        n, T, b, e = self.shape
        cells = self.chain.cells
        weights = np.full((len(x), len(cells)), np.nan, x.dtype)
        weights[:, self.numbers] = x[:, : len(self.numbers)]
        whole = [i for i in self.learning if i not in self.rows]
        if not whole or not len(x):
            return weights / at.unit
        u = x[:, len(self.numbers) :].reshape(-1, T, e, b)
        alpha = at.vector[: (T + 1) * n * b].reshape(T + 1, n, b)
        beta = at.vector[alpha.size : alpha.size + T * n * e].reshape(T, n, e)
        F = np.repeat(alpha[None].astype(np.result_type(alpha, x)), len(x), axis=0)
        for k in range(1, T + 1):
            for j in range(k):
                F[:, k] += beta[k - 1 - j] @ u[:, j]
        # Columns (k, x) of F_0 … F_{T-1} and of F_1 … F_T.
        before = F[:, :-1].transpose(0, 2, 1, 3).reshape(len(x), n, T * b)
        after = F[:, 1:].transpose(0, 2, 1, 3).reshape(len(x), n, T * b)
        good = np.array([all(v == v for v in row) for row in x.tolist()])
        for i in whole:
            mine = np.flatnonzero(cells[:, 2] == i)
            right = after[good, i] - at.W[i] @ before[good]
            matrix = before[good][:, cells[mine, 3]].transpose(0, 2, 1)
            try:
                weights[np.ix_(good, mine)] = solve(matrix, right[..., None])[..., 0]
            except (np.linalg.LinAlgError, ZeroDivisionError):
                continue  # The weights stay NaN: these paths count as lost.
        return weights / at.unit


def _unit_of_time(beta: np.ndarray) -> float:
    """The power of two γ for which γ^k β_k on average neither grows nor decreases."""
    size = np.linalg.norm(beta.reshape(len(beta), -1), axis=1)
    steps = np.flatnonzero(np.isfinite(size) & (size > 0))
    if len(steps) < 2:
        return 1.0
    growth = np.polyfit(steps, np.log2(size[steps]), 1)[0]
    return float(2.0 ** -np.clip(np.round(growth), -30, 30))


@dataclass(frozen=True)
class Reduced:
    """One instance in its free inputs.

    Attributes
    ----------
    vector : ndarray of complex, shape (size,)
        α, β and the fixed weights of the remaining rows, concatenated.
    W, B : ndarray
        The instance's matrices, W in the unit of time; learnable cells 0.
    V : ndarray, shape (k_R, e)
        Basis of the free directions.
    unit : float
        γ, a power of two.
    """

    vector: np.ndarray
    W: np.ndarray
    B: np.ndarray
    V: np.ndarray
    unit: Any


def inputs_form(chain: Chain, *, labels_only: bool = False) -> InputsForm | None:
    """The system in the free inputs, or None if it does not apply.

    Parameters
    ----------
    chain : Chain
    labels_only : bool, optional
        Whether it is used only for lines along which the labels move, and D and W do not.
    """
    only_recurrent = bool((chain.cells[:, :2] == (IN_M, 0)).all())
    if not (chain.read_all and only_recurrent):
        return None
    if set(chain.support) - {chain.network.chain().recurrent} or (
        chain.support and not labels_only
    ):
        return None
    n, T, b, d = int(chain.widths[0]), chain.steps, chain.columns, chain.network.d
    if chain.samples != T * b or len(chain.equations) != d * T * b:
        return None
    counts = np.bincount(chain.cells[:, 2], minlength=n)
    learning = np.flatnonzero(counts)
    e = len(learning) - d
    if e < 1 or counts.max() > T * b:
        return None
    if not labels_only and (T * b + e * (T - 1) > n or e * T > n - d):
        return None
    return _with_rows(chain, learning, learning[counts[learning] < T * b], e)


def _with_rows(
    chain: Chain, learning: np.ndarray, rows: np.ndarray, free: int
) -> InputsForm:  # fmt: skip
    """The form with the weights of some rows among the unknowns."""
    numbers = np.flatnonzero(np.isin(chain.cells[:, 2], rows))
    numbers = numbers[np.lexsort((chain.cells[numbers, 3], chain.cells[numbers, 2]))]
    places = np.searchsorted(rows, chain.cells[numbers, 2])
    cells = np.column_stack([places, chain.cells[numbers, 3]]).astype(np.int64)
    return InputsForm(chain, learning, rows, cells, numbers, free)


def rational_inputs(form: InputsForm, instance: Instance, at: Reduced) -> Reduced:
    """The rational instance in balls, at the present precision; `at` fixes the basis V.

    The reduction is exact over Q but for the basis V of free directions.  Any real basis does;
    that of the instance in doubles is projected onto the kernel of D_R, so that the unknowns are
    those of the paths.
    """
    chain, R = form.chain, form.learning.tolist()
    weights, X, Y = instance.exact
    chosen = chain.independent_samples(instance.X)
    drive = fmpq_mat(chain.network.drive(X[:, chosen]).tolist())
    labels = fmpq_mat(chain.label_columns(Y, chosen).tolist()) * drive.inv()
    D = weights["D"]
    DR = fmpq_mat(D[:, R].tolist())
    inverse = DR.transpose() * (DR * DR.transpose()).inv()
    W = np.array(weights["W"], dtype=object)
    W.reshape(-1)[chain.cells[:, 4] - chain.m_at[1]] = 0
    V = np.array([[acb(float(z)) for z in row] for row in at.V.real])
    back = _balls(inverse.tolist())
    V = V - back @ (_balls(DR.tolist()) @ V)
    return form.closed_loop(
        _balls(W), _balls(weights["B"]), _balls(D), _balls(labels.tolist()), back, V, acb(at.unit)
    )


def _balls(values: Iterable[Iterable[Any]]) -> np.ndarray:
    """Rational entries as balls."""
    return np.array([[acb(arb(z)) for z in row] for row in values])
