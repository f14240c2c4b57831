"""The equations of a chain in ball arithmetic of any precision: residuals and Jacobian.

Used for the certification of hard roots (`numeric.certification.krawczyk_balls`) and the end of
hard paths (`numeric.tracking.precise`).  The unknowns are the weights alone: additional digits
make up for the cancellation in the powers of a large matrix.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import acb, acb_mat

from numeric.chains.chain import Chain
from numeric.chains.table import IN_D, IN_M, IN_S0


class BallSystem:
    """Equations of a chain at one parameter vector.

    Parameters
    ----------
    chain : Chain
    vector : sequence of acb
        The parameter vector, in the layout of `Chain.pack` and `Chain.raw`.
    """

    def __init__(self, chain: Chain, vector: Sequence[acb]) -> None:
        self.chain = chain
        self.vector = list(vector)
        self._widths = [int(x) for x in chain.widths]
        self._at = [int(x) for x in chain.cells[:, 4]]
        self._equations: list[list[int]] = chain.equations.tolist()

    def _block(self, p: list[acb], at: int, rows: int, columns: int) -> acb_mat:
        return acb_mat(rows, columns, p[int(at) : int(at) + rows * columns])

    def _parts(
        self, w: Sequence[acb]
    ) -> tuple[list[acb], list[acb_mat], list[acb_mat], list[acb_mat]]:
        """Parameters with w in place, M_1 … M_K, S_0 … S_K, P_1 … P_K."""
        chain, n = self.chain, self._widths
        c, m, K = chain.columns, chain.samples, chain.steps
        p = list(self.vector)
        for at, value in zip(self._at, w, strict=True):
            p[at] = value
        M = [self._block(p, chain.m_at[k], n[k], n[k - 1]) for k in range(1, K + 1)]
        S = [self._block(p, chain.s0_at, n[0], c)]
        for matrix in M:
            S.append(matrix * S[-1])
        P = []
        if chain.read_all:
            P = [self._block(p, chain.p_at[k], c, m) for k in range(1, K + 1)]
        return p, M, S, P

    @staticmethod
    def _read(S: Sequence[acb_mat], P: Sequence[acb_mat]) -> acb_mat:
        """``Z`` computed from the states."""
        if not P:
            return S[-1]
        Z = S[1] * P[0]
        for state, samples in zip(S[2:], P[1:], strict=True):
            Z = Z + state * samples
        return Z

    def states(self, w: Sequence[acb]) -> list[acb_mat]:
        """States S_0, …, S_K computed from w."""
        return self._parts(w)[2]

    def step(
        self, w: Sequence[acb], change: Sequence[acb], base: Sequence[acb_mat]
    ) -> list[acb_mat]:
        """States after a lifted Newton step: ``S⁺_k = M_k S⁺_{k-1} + δM_k S_{k-1}``.

        Parameters
        ----------
        w, change : sequence of acb
            The old weights and their increment.
        base : sequence of acb_mat
            The old states S_0, …, S_K.
        """
        zero = [acb(0)] * len(self.vector)
        moved = BallSystem(self.chain, zero)
        p, M, _, _ = self._parts(w)
        dp, dM, _, _ = moved._parts(change)
        chain, n = self.chain, self._widths
        state = self._block(p, chain.s0_at, n[0], chain.columns)
        out = [state + self._block(dp, chain.s0_at, n[0], chain.columns)]
        for k in range(chain.steps):
            out.append(M[k] * out[-1] + dM[k] * base[k])
        return out

    def _difference(self, p: list[acb], Y: acb_mat) -> acb_mat:
        m, y = self.chain.samples, self.chain.y_at
        entries = [Y[a, x] - p[y + a * m + x] for a, x in self._equations]
        return acb_mat(len(entries), 1, entries)

    def taylor(
        self, w: Sequence[acb], base: Sequence[acb_mat], slope: Sequence[acb], order: int
    ) -> tuple[list[list[acb]], list[list[acb_mat]]]:
        """Taylor coefficients 0 … order of weights and states as the parameters move.

        The recurrence of `numeric.chains.lanes.condensed`: the equations are bilinear in
        weights and states, so every order solves the same linear system.

        Parameters
        ----------
        w, base
            A lifted point: weights and states S_0, …, S_K.
        slope : sequence of acb
            Derivative of the parameter vector; entries of learnable cells are ignored.
        order : int
        """
        chain, n = self.chain, self._widths
        K, d, r = chain.steps, chain.network.d, chain.unknowns
        none = [acb(0)] * r
        moved = BallSystem(chain, slope)
        dp, dM, dS, dP = moved._parts(none)
        p, M, _, P = self._parts(w)
        D = self._block(p, chain.d_at, d, n[K])
        dD = self._block(dp, chain.d_at, d, n[K])
        inverse = self.evaluate(w, base)[1].mid().inv().mid()
        cells = BallSystem(chain, [acb(0)] * len(p))
        learns_d = bool((chain.cells[:, 0] == IN_D).any())
        W: list[list[acb]] = [list(w)]
        S: list[list[acb_mat]] = [list(base)]
        Z = [self._read(base, P)]
        parts: list[tuple[list[acb], list[acb_mat], acb_mat]] = []
        for j in range(1, order + 1):
            rest = [dS[0] if j == 1 else 0 * dS[0]]
            for k in range(K):
                total = dM[k] * S[j - 1][k]
                for q in range(1, j):
                    total = total + parts[q - 1][1][k] * S[j - q][k]
                rest.append(total.mid())
            sigma = [rest[0]]
            for k in range(K):
                sigma.append(M[k] * sigma[-1] + rest[k + 1])
            read = self._read(sigma, P)
            if chain.read_all:
                drift = self._read(S[j - 1], dP)
                read = read + drift
            labels = D * read + dD * Z[j - 1]
            if learns_d:
                for q in range(1, j):
                    labels = labels + self._block(parts[q - 1][0], chain.d_at, d, n[K]) * Z[j - q]
            y = dp if j == 1 else cells.vector
            new = (inverse * self._difference(y, labels)).mid().entries()
            new = [-z for z in new]
            at, Mq, S0, _ = cells._parts(new)
            parts.append((at, Mq, S0[0]))
            states = [rest[0] + S0[0]]
            for k in range(K):
                states.append((M[k] * states[-1] + Mq[k] * base[k] + rest[k + 1]).mid())
            W.append(new)
            S.append(states)
            value = self._read(states, P)
            Z.append((value + drift if chain.read_all else value).mid())
        return W, S

    def residual(self, w: Sequence[acb]) -> acb_mat:
        """``D Z - Y`` on the equations (r×1) at w."""
        p, _, S, P = self._parts(w)
        chain = self.chain
        D = self._block(p, chain.d_at, chain.network.d, self._widths[-1])
        return self._difference(p, D * self._read(S, P))

    def evaluate(
        self, w: Sequence[acb], base: Sequence[acb_mat] | None = None
    ) -> tuple[acb_mat, acb_mat]:
        """Residuals (r×1) and Jacobian (r×r) at w.

        If `base` holds the states S_0, …, S_K of a lifted point, the Jacobian is that of the
        condensed lifted system (`numeric.chains.lanes.condensed`).
        """
        chain, n = self.chain, self._widths
        m, K, d = chain.samples, chain.steps, chain.network.d
        p, M, S, P = self._parts(w)
        labels = self._block(p, chain.d_at, d, n[K]) * self._read(S, P)
        if base is not None:
            S = list(base)
        Z = self._read(S, P)
        A = [self._block(p, chain.d_at, d, n[K])]
        for matrix in reversed(M):
            A.append(A[-1] * matrix)
        H = []
        if chain.read_all:
            for q in range(K):
                total = S[0] * P[q]
                for k in range(2, K - q + 1):
                    total = total + S[k - 1] * P[k + q - 1]
                H.append(total)

        def across(left: list[acb_mat], i: int, right: list[acb_mat], j: int) -> acb_mat:
            """``Σ_q left_q[:, i] ⊗ right_q[j, :]``."""
            first = [x[a, i] for a in range(d) for x in left]
            second = [x[j, s] for x in right for s in range(m)]
            return acb_mat(d, len(left), first) * acb_mat(len(right), m, second)

        zero = acb(0)
        columns = []
        for kind, step, i, j, _ in chain.cells.tolist():
            if kind == IN_M and chain.read_all:
                block = across(A[:K], i, H, j)
            elif kind == IN_M:
                block = across([A[K - step]], i, [S[step - 1]], j)
            elif kind == IN_S0:
                block = across(A[1:], i, P, j)
            else:
                block = acb_mat(
                    d, m, [Z[j, x] if a == i else zero for a in range(d) for x in range(m)]
                )
            columns.append([block[a, x] for a, x in self._equations])
        r = len(columns)
        J = acb_mat(r, r, [column[e] for e in range(r) for column in columns])
        return self._difference(p, labels), J
