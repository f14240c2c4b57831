"""The lifted equations of a chain in discs: the states are unknowns too.

With weights of size R the equations in the weights alone have a condition number near R^K;
with the states S_1, …, S_K as unknowns too the system ``M_k S_{k-1} - S_k = 0``,
``D Z - Y = 0`` is bilinear and as well conditioned as the problem itself.  The entries of its
Jacobian over a polydisc are unknowns or data, so their discs are exact.  The (real) roots of the
lifted system correspond to the (real) roots of the equations.
Unknowns are S_1, …, S_K in storage order, then w; equations those of the states, then those of
the labels.  The notation is that of `numeric.chains.discs`, to whose four functions these
correspond.
"""

from __future__ import annotations

from numeric.chains.discs import OPTIONS, fused, matmul, minus, residual, since
from numeric.chains.table import IN_D, IN_M, IN_S0
from numeric.kernels import njit


@njit(**OPTIONS)
def lifted_residual(t, p, S, Z, Y, T, f):
    """Discs of the lifted equations; Y is overwritten by the labels, T by states."""
    first = t.s_at[1]
    for k in range(1, t.steps + 1):
        matmul(
            since(p, t.m_at[k]), since(S, t.s_at[k - 1]), since(T, t.s_at[k]),
            t.widths[k], t.widths[k - 1], t.columns,
        )  # fmt: skip
    for e in range(first, t.states):
        minus(T, e, S, e, f, e - first)
    residual(t, p, Z, Y, since(f, t.states - first))


@njit(**OPTIONS)
def _put(J, e, v, x, i):
    J.mid[e, v] = x.mid[i]
    J.rad[e, v] = x.rad[i]


@njit(inline="always", **OPTIONS)
def _state_rows(t, p, S, J):
    """Rows of ``M_k S_{k-1} - S_k``."""
    K, c = t.steps, t.columns
    first = t.s_at[1]
    states = t.states - first
    for k in range(1, K + 1):
        for i in range(t.widths[k]):
            for x in range(c):
                e = t.s_at[k] + i * c + x - first
                J.mid[e, e] = -1.0
                if k > 1:
                    for j in range(t.widths[k - 1]):
                        v = t.s_at[k - 1] + j * c + x - first
                        _put(J, e, v, p, t.m_at[k] + i * t.widths[k - 1] + j)
    for v in range(t.unknowns):
        kind, step, i, j = t.cells[v, 0], t.cells[v, 1], t.cells[v, 2], t.cells[v, 3]
        if kind == IN_M:
            low = step if step else 1
            high = step if step else K
            for k in range(low, high + 1):
                for x in range(c):
                    e = t.s_at[k] + i * c + x - first
                    _put(J, e, states + v, S, t.s_at[k - 1] + j * c + x)
        elif kind == IN_S0:
            for i1 in range(t.widths[1]):
                _put(J, i1 * c + j, states + v, p, t.m_at[1] + i1 * t.widths[0] + i)


@njit(inline="always", **OPTIONS)
def _label_rows(t, p, Z, J):
    """Rows of ``D Z - Y``."""
    K, c, m = t.steps, t.columns, t.samples
    first = t.s_at[1]
    states = t.states - first
    width = t.widths[K]
    for q in range(t.unknowns):
        a = t.equations[q, 0]
        s = t.equations[q, 1]
        e = states + q
        for i in range(width):
            u = t.d_at + a * width + i
            if t.read_all:
                for k in range(1, K + 1):
                    for g in range(c):
                        v = t.s_at[k] + i * c + g - first
                        J.mid[e, v], J.rad[e, v] = fused(0j, 0.0, p, u, p, t.p_at[k] + g * m + s)
            elif K > 0:
                _put(J, e, t.s_at[K] + i * c + s - first, p, u)
        for v in range(t.unknowns):
            if t.cells[v, 0] == IN_D and t.cells[v, 2] == a:
                _put(J, e, states + v, Z, t.cells[v, 3] * m + s)


@njit(**OPTIONS)
def lifted_jacobian(t, p, S, Z, J):
    """Discs of the lifted Jacobian."""
    J.mid[:] = 0j
    J.rad[:] = 0.0
    _state_rows(t, p, S, J)
    _label_rows(t, p, Z, J)
