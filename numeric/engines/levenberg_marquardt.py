"""Damped Newton (Levenberg-Marquardt) from many real starts at once, exact Jacobians.

All starts of a batch move together: states, adjoints, Jacobians and normal equations are
products of stacks of small matrices, which leaves the work to the BLAS.

References
----------
.. [1] J. J. Moré, "The Levenberg-Marquardt algorithm: implementation and theory", Numerical
   Analysis (Dundee 1977), Lecture Notes in Mathematics 630.
"""

from __future__ import annotations

import numpy as np

from numeric.chains.chain import IN_M, IN_S0, Chain


def levenberg_marquardt(
    chain: Chain, parameters: np.ndarray, starts: np.ndarray, most_steps: int = 150
) -> tuple[np.ndarray, np.ndarray]:
    """Damped Newton from many real starts at once.

    Parameters
    ----------
    chain : Chain
    parameters : ndarray of float
        A real parameter vector.
    starts : ndarray, shape (·, r)
    most_steps : int, optional

    Returns
    -------
    ends : ndarray, shape (·, r)
    converged : ndarray of bool
        Whether the relative residual fell below 1e-10.
    """
    w = np.array(starts, float)
    damping = np.full(len(w), 1e-2)
    size = max(float(np.abs(parameters[chain.y_at :]).max()), 1e-300)
    f, J = batched_jacobian(chain, parameters, w)
    cost = np.einsum("be,be->b", f, f)
    active = np.isfinite(cost)
    each = np.arange(chain.unknowns)
    for _ in range(most_steps):
        run = np.flatnonzero(active)
        if not len(run):
            break
        across = J[run].transpose(0, 2, 1)
        gram = across @ J[run]
        slope = (across @ f[run, :, None])[..., 0]
        diagonal = np.einsum("bvv->bv", gram).copy()
        damped = gram
        damped[:, each, each] = diagonal * (1.0 + damping[run, None]) + 1e-300
        try:
            delta = np.linalg.solve(damped, slope[..., None])[..., 0]
        except np.linalg.LinAlgError:
            delta = np.array(
                [np.linalg.lstsq(a, b, rcond=None)[0] for a, b in zip(damped, slope, strict=True)]
            )
        trial = w[run] - delta
        with np.errstate(over="ignore", invalid="ignore"):
            new_f, new_J = batched_jacobian(chain, parameters, trial)
            new_cost = np.einsum("be,be->b", new_f, new_f)
        better = new_cost < cost[run]
        up = run[better]
        w[up], f[up], J[up], cost[up] = (
            trial[better],
            new_f[better],
            new_J[better],
            new_cost[better],
        )
        damping[up] = np.maximum(damping[up] * 0.1, 1e-14)
        down = run[~better]
        damping[down] = damping[down] * 8.0
        active[run] = (cost[run] > (1e-15 * size) ** 2) & (damping[run] < 1e10)
    return w, np.sqrt(cost) <= 1e-10 * size


def batched_jacobian(
    chain: Chain, parameters: np.ndarray, w: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Residuals (·, r) and Jacobians (·, r, r) at many weights, by matrix products."""
    B, r = w.shape
    n, c, m, K = chain.widths, chain.columns, chain.samples, chain.steps
    p = np.broadcast_to(parameters, (B, chain.size)).copy()
    p[:, chain.cells[:, 4]] = w

    def block(at: int, rows: int, columns: int) -> np.ndarray:
        return p[:, at : at + rows * columns].reshape(B, rows, columns)

    S = [block(chain.s0_at, n[0], c)]
    M = [None] + [block(chain.m_at[k], n[k], n[k - 1]) for k in range(1, K + 1)]
    for k in range(1, K + 1):
        S.append(M[k] @ S[-1])
    if chain.read_all:
        # All P_k lie behind one another: sums over k are single products.
        P = block(chain.p_at[1], K * c, m)
        before = np.concatenate(S, axis=2)
        Z = before[:, :, c:] @ P
        H = [before[:, :, : (K - q) * c] @ P[:, q * c :] for q in range(K)]
    else:
        Z = S[K]
    A = [block(chain.d_at, chain.network.d, n[K])]
    for q in range(1, K + 1):
        A.append(A[-1] @ M[K - q + 1])
    a, x = chain.equations.T
    Y = p[:, chain.y_at :].reshape(B, -1, m)
    f = (A[0] @ Z - Y)[:, a, x]
    J = np.zeros((B, r, r))
    a, x = a[:, None], x[:, None]
    kinds, steps, rows, columns, _ = chain.cells.T
    for kind, step in sorted(set(zip(kinds.tolist(), steps.tolist(), strict=True))):
        v = np.flatnonzero((kinds == kind) & (steps == step))
        i, j = rows[v], columns[v]
        if kind == IN_M and chain.read_all:
            J[:, :, v] = sum(A[q][:, a, i] * H[q][:, j, x] for q in range(K))
        elif kind == IN_M:
            J[:, :, v] = A[K - step][:, a, i] * S[step - 1][:, j, x]
        elif kind == IN_S0:
            J[:, :, v] = sum(A[q][:, a, i] * P[:, (q - 1) * c + j, x] for q in range(1, K + 1))
        else:
            J[:, :, v] = np.where(a == i, Z[:, j, x], 0.0)
    return f, J
