"""MP of large networks for eleven sets of cells, by NumPy alone: closed forms and resultants.

Each function writes the limit's equations by hand (T = r, b = d = 1), and decides them for k draws
at once; `normal(shape)` gives standard normal numbers.  `matchprob estimate FILE --limit` of the
first five must agree, and does, trial by trial (tests/benchmarks/test_large_network_limits.py).
The next five have more cells than equations, at n = 10^16; the last one is a network of three
layers.  large_network_limits.csv has what 100,000 draws give.

    python benchmarks/large_network_limits.py [draws] > benchmarks/large_network_limits.csv
"""

import sys
from functools import partial

import numpy as np


def two_loops(normal, k):
    """a ξ + b η = y, a ξ² + b η² = 0: real if and only if ab < 0."""
    a, b = normal(k) * normal(k), normal(k) * normal(k)
    return a * b < 0


def loop_and_cell(normal, k):
    """ξ² P Q = y_2 − η (…), η from the first equation: real if the two sides have one sign."""
    P, Q, P0, P1, Q0, Q1, y1, y2 = normal(8, k) * np.array([[1]] * 6 + [[2**0.5]] * 2)
    eta = y1 / (P0 * Q0)
    return (y2 - eta * (P0 * Q1 + P1 * Q0)) * P * Q > 0


def diagonal(normal, k):
    """Σ c ξ = y, Σ c ξ² = Σ c ξ³ = 0: real points of a conic and a cubic in the plane."""
    c1, c2, c3 = normal(3, k) * normal(3, k)
    # With ξ3 = 1: x² = −(c2 y² + c3)/c1, and x (c1 x²) = −(c2 y³ + c3): squared, of degree 6 in y.
    found = np.zeros(k, bool)
    for i in range(k):
        conic = np.array([-c2[i], 0, -c3[i]]) / c1[i]
        cubic = np.array([-c2[i], 0, 0, -c3[i]]) / c1[i]
        equation = np.polysub(np.polymul(np.polymul(conic, conic), conic), np.polymul(cubic, cubic))
        y = np.roots(equation)
        y = y[abs(y.imag) < 1e-7 * (1 + abs(y))].real
        found[i] = (np.polyval(conic, y) >= 0).any()
    return found


def disjoint(normal, k):
    """Three disjoint cells: a line and two quadrics, by the discriminant on the line."""
    P, Q, P1, Q1, P2, Q2 = normal(6, 3, k)
    y = normal(3, k) * 2**0.5
    rows = [P * Q, P * Q1 + P1 * Q, P * Q2 + P1 * Q1 + P2 * Q]
    # Two weights with one step between, e_j^T W e_i at [i, j]: only in D W^3 B.
    quadratic = np.einsum("ik,ijk,jk->ijk", P, normal(3, 3, k), Q)
    found = np.zeros(k, bool)
    for i in range(k):
        A = np.array([rows[0][:, i], rows[1][:, i]])
        base = np.linalg.lstsq(A, y[:2, i], rcond=None)[0]
        direction = np.cross(A[0], A[1])
        M = quadratic[:, :, i]
        a = direction @ M @ direction
        b = direction @ (M + M.T) @ base + rows[2][:, i] @ direction
        c = base @ M @ base + rows[2][:, i] @ base - y[2, i]
        found[i] = b * b - 4 * a * c >= 0
    return found


def cycle(normal, k):
    """A 3-cycle: one weight of order √n, from the first equation; then a line and a quadric.

    In three ways, one for each weight, on the same numbers.
    """
    P, Q, P1, Q1, P2, Q2 = normal(6, 3, k)
    G = normal(3, k)
    y = normal(3, k) * 2**0.5
    found = np.zeros(k, bool)
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        # Cells (a, b) of weight ξ √n, (b, c) of weight u, (c, a) of weight v.
        x = y[0] / (P[a] * Q[b])
        r = y[1] / x - (P[a] * Q1[b] + P1[a] * Q[b])
        s = y[2] / x - (P[a] * Q2[b] + P1[a] * Q1[b] + P2[a] * Q[b]) - x * P[a] * G[a] * Q[b]
        # p u + q v = r, and e u + f v + g u v = s.
        p, q = P[a] * Q[c], P[c] * Q[b]
        e, f = P[a] * Q1[c] + P1[a] * Q[c], P[c] * Q1[b] + P1[c] * Q[b]
        g = P[c] * Q[c] + P[a] * Q[a] + P[b] * Q[b]
        # With v = (r − p u)/q.
        A, B, C = -g * p, e * q - f * p + g * r, f * r - s * q
        found |= B * B - 4 * A * C >= 0
    return found


def two_steps(cells, normal, k, root=1e8):
    """Any cells, T = m = 2, n = root² units: a quadric on a hyperplane, by eigenvalues."""
    heads, tails = np.array(cells).T
    units = int(max(heads.max(), tails.max())) + 1
    joined = (tails[:, None] == heads[None]) * root
    found = np.zeros(k, bool)
    for i in range(k):
        P, Q, P1, Q1 = normal(4, units)
        y = normal(2) * 2**0.5
        c, more = P[heads] * Q[tails], P[heads] * Q1[tails] + P1[heads] * Q[tails]
        # w_k w_l P_{head k} Q_{tail l} where the tail of k is the head of l.
        M = joined * np.outer(P[heads], Q[tails])
        M = M + M.T
        base, plane = c * y[0] / (c @ c), np.linalg.svd(c[None])[2][1:].T
        values, axes = np.linalg.eigh(plane.T @ M @ plane / root)
        linear = axes.T @ plane.T @ (M @ base + more)
        constant = base @ M @ base / 2 + more @ base - y[1]
        flat = abs(values) < 1e-12
        up, down = (values > 0) & ~flat, (values < 0) & ~flat
        if (up.any() and down.any()) or flat.any():
            found[i] = True
            continue
        # The least value, or the largest, of a definite form.
        extreme = constant - (linear**2 / (2 * values * root)).sum()
        found[i] = extreme * values[0] <= 0
    return found


def layers(normal, k):
    """W_3 W_2 W_1, two inputs, two outputs: a cell of W_1 for each input, of W_3 for each output.

    y_oi = w_i p_io + u_o q_oi + u_o w_i g_oi: without w_i two bilinear equations in u_1, u_2.
    """
    p, q, g = normal(3, 2, 2, k)
    y = normal(2, 2, k) * 2**0.5
    # (y_1i − u_1 q_1i)(p_i2 + u_2 g_2i) = (y_2i − u_2 q_2i)(p_i1 + u_1 g_1i): 1, u_1, u_2, u_1 u_2.
    rows = [
        (
            y[0, i] * p[i, 1] - y[1, i] * p[i, 0],
            -q[0, i] * p[i, 1] - y[1, i] * g[0, i],
            y[0, i] * g[1, i] + q[1, i] * p[i, 0],
            q[1, i] * g[0, i] - q[0, i] * g[1, i],
        )
        for i in range(2)
    ]
    (a, b, c, d), (e, f, s, t) = rows
    # u_2 = −(a + b u_1)/(c + d u_1) in the other.
    A, B, C = f * d - t * b, e * d + f * c - s * b - t * a, e * c - s * a
    return B * B - 4 * A * C >= 0


LOOPS = ((0, 0), (1, 1), (2, 2), (3, 3))
CASES = {
    "2 loops, T = 2": two_loops,
    "loop and cell, T = 2": loop_and_cell,
    "diagonal of 3, T = 3": diagonal,
    "3 disjoint cells, T = 3": disjoint,
    "3-cycle, T = 3": cycle,
    "3 loops, T = 2": partial(two_steps, LOOPS[:3]),
    "4 loops, T = 2": partial(two_steps, LOOPS),
    "2 loops and a cell, T = 2": partial(two_steps, (*LOOPS[:2], (2, 3))),
    "2 loops, a joined cell, T = 2": partial(two_steps, (*LOOPS[:2], (1, 3))),
    "3-cycle, T = 2": partial(two_steps, ((0, 1), (1, 2), (2, 0))),
    "4 cells of 3 layers": layers,
}

if __name__ == "__main__":
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    rng = np.random.default_rng(63)
    print("cells,draws,mp,half_width")
    for name, decide in CASES.items():
        share = decide(lambda *shape: rng.standard_normal(shape), draws).mean()
        print(f'"{name}",{draws},{share:.4f},{1.96 * (share * (1 - share) / draws) ** 0.5:.4f}')
