"""Labels and Jacobians at many points, in NumPy, real or complex, of any precision.

`run_arrays` computes tapes. The labels of chains are computed without one, by fewer and larger
products: the states ``S_k = M_k … M_1 S_0`` and the adjoints ``A_q = D M_K … M_{K-q+1}`` are
products of stacks of matrices; by the product rule the derivative of ``Y = D Z`` by the entry (i,
j) of a matrix is a sum of (column i of the factors before it) times (row j of the factors after
it), one term for each occurrence of the matrix in the chain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from numeric.equations.lanes.tape import ADD, CLEAR, COPY, DOTS, SET_ONE

if TYPE_CHECKING:
    from numeric.equations.chain import Chain


def labels(chain: Chain, parameters: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Label entries of the equations, and their derivatives.

    Parameters
    ----------
    chain : Chain
    parameters : ndarray, shape (size,) or (k, size)
        A parameter vector, or one for each point; its learnable cells are not read.
    w : ndarray, shape (k, r)
        Learnable weights.

    Returns
    -------
    values : ndarray, shape (k, e)
    jacobian : ndarray, shape (k, e, r)
        Row e, column j: derivative of equation e by weight j. Both in the common type of
        `parameters` and `w`.
    """
    count, r = w.shape
    n, c, m, K = chain.widths, chain.columns, chain.samples, chain.steps
    kind = np.result_type(parameters, w)
    p = np.broadcast_to(parameters, (count, chain.size)).astype(kind)
    p[:, chain.cells[:, 4]] = w

    def block(at: int, rows: int, columns: int) -> np.ndarray:
        return p[:, at : at + rows * columns].reshape(count, rows, columns)

    S = [block(chain.s0_at, n[0], c)]
    M = [None] + [block(chain.m_at[k], n[k], n[k - 1]) for k in range(1, K + 1)]
    for k in range(1, K + 1):
        S.append(M[k] @ S[-1])
    if chain.read_all:
        # The P_k are stored consecutively: sums over k are single products.  H_q begins at P_{q+1}.
        own = np.atleast_2d(parameters)
        P = own[:, chain.p_at[1] :][:, : K * c * m].reshape(len(own), K * c, m)
        before = np.concatenate(S, axis=2)
        Z = before[:, :, c:] @ P
        later = np.zeros((len(own), K * c, K, m), own.dtype)
        for q in range(K):
            later[:, : (K - q) * c, q] = P[:, q * c :]
        H = before[:, :, : K * c] @ later.reshape(-1, K * c, K * m)
    else:
        Z = S[K]
    A = [block(chain.d_at, chain.network.d, n[K])]
    for q in range(1, K + 1):
        A.append(A[-1] @ M[K - q + 1])
    a, x = chain.equations.T
    values = (A[0] @ Z)[:, a, x]
    e = len(a)
    J = np.zeros((count, e, r), kind)
    a, x = a[:, None], x[:, None]
    for matrix, step, v, i, j in chain.learning:
        if matrix == "M" and chain.read_all:
            # Of each weight a product of matrices: columns i of all A_q, and rows j of all H_q.
            left = np.stack(A[:K], axis=3)[:, :, i].transpose(0, 2, 1, 3)
            right = H[:, j].reshape(count, len(v), K, m)
            J[:, :, v] = (left @ right)[:, :, a[:, 0], x[:, 0]].transpose(0, 2, 1)
        elif matrix == "M":
            J[:, :, v] = A[K - step][:, a, i] * S[step - 1][:, j, x]
        elif matrix == "S0":
            J[:, :, v] = sum(A[q][:, a, i] * P[:, (q - 1) * c + j, x] for q in range(1, K + 1))
        else:
            J[:, :, v] = np.where(a == i, Z[:, j, x], 0.0)
    return values, J


def residuals(chain: Chain, parameters: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Residuals (k, e) of the equations, labels minus those of `parameters`, and Jacobian."""
    values, jacobian = labels(chain, parameters, w)
    Y = parameters[..., chain.y_at :].reshape(*parameters.shape[:-1], -1, chain.samples)
    return values - Y[..., *chain.equations.T], jacobian


def pulled(
    chain: Chain, parameters: np.ndarray, w: np.ndarray, covectors: np.ndarray
) -> np.ndarray:
    """Gradients of covector · labels by the entries of a parameter vector.

    Parameters
    ----------
    chain : Chain
    parameters : ndarray, shape (size,)
    w, covectors : ndarray, shape (k, r)
        Learnable weights, and a factor for each equation.

    Returns
    -------
    ndarray, shape (k, size)
        Those of learnable cells too; 0 for Y.
    """
    count, kind = len(w), np.result_type(parameters, w, covectors)
    n, c, m, K = chain.widths, chain.columns, chain.samples, chain.steps
    p = np.broadcast_to(parameters, (count, chain.size)).astype(kind)
    p[:, chain.cells[:, 4]] = w
    out = np.zeros((count, chain.size), kind)

    def block(at: int, rows: int, columns: int) -> np.ndarray:
        return p[:, at : at + rows * columns].reshape(count, rows, columns)

    def add(at: int, left: np.ndarray, right: np.ndarray) -> None:
        product = (left @ right).reshape(count, -1)
        out[:, at : at + product.shape[1]] += product

    S = [block(chain.s0_at, n[0], c)]
    M = [block(chain.m_at[k], n[k], n[k - 1]) for k in range(1, K + 1)]
    for step in M:
        S.append(step @ S[-1])
    P = [block(at, c, m) for at in chain.p_at] if chain.read_all else []
    Z = sum(S[k] @ P[k] for k in range(1, K + 1)) if P else S[K]
    C = np.zeros((count, *chain.label_shape), kind)
    C[:, *chain.equations.T] = covectors
    D = block(chain.d_at, chain.network.d, n[K])
    add(chain.d_at, C, Z.transpose(0, 2, 1))
    onto = D.transpose(0, 2, 1) @ C
    # The adjoint of S_k, from the last state back to the first.
    back = np.zeros_like(S[K]) if P else onto
    for k in range(K, 0, -1):
        if P:
            add(chain.p_at[k], S[k].transpose(0, 2, 1), onto)
            back = back + onto @ P[k].transpose(0, 2, 1)
        add(chain.m_at[k], back, S[k - 1].transpose(0, 2, 1))
        back = M[k - 1].transpose(0, 2, 1) @ back
    add(chain.s0_at, back, np.eye(c, dtype=kind))
    return out


def run_arrays(x: np.ndarray, table: np.ndarray) -> None:
    """Run a tape of values and derivatives (`numeric.equations.lanes.tape`) on arrays.

    Parameters
    ----------
    x : ndarray, shape (slots, k)
        The slots at k points, changed in place.
    table : ndarray of int, shape (instructions, 11)
    """
    for op, c, c_step, a, a_stride, b, b_step, b_stride, count, dots, a_step in table.tolist():
        if op == DOTS:
            to = c + c_step * np.arange(dots)
            q, t = np.arange(count), np.arange(dots)[:, None]
            left, right = x[a + a_stride * q + a_step * t], x[b + b_stride * q + b_step * t]
            x[to] += (left * right).sum(axis=1)
        elif op == COPY:
            x[c : c + count] = x[a : a + count]
        elif op == ADD:
            x[c : c + count] += x[a : a + count] if b > 0 else -x[a : a + count]
        elif op in (CLEAR, SET_ONE):
            x[c : c + count] = int(op == SET_ONE)
        else:
            raise ValueError(f"operation {op} solves: it has no values")
