"""Real solutions by many Newton runs: a rigorous lower bound where N is out of reach.

For large networks the generic root count, hence a complete count, cannot be had.  What can:
run damped Newton (Levenberg-Marquardt, exact Jacobian) from many random real starts, and
follow one real path from the teacher; certify what they reach by Krawczyk's test.  Every
certified solution is real and distinct from the others, so the instance surely has at least
that many.  Finding none proves nothing.

The first paper's rule, "no new solution after so many starts", is a heuristic: the result
reports the starts and how many of them converged, and claims no completeness.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from algebra.errors import InputError
from numeric.chain import IN_M, IN_S0, Chain, make_chain
from numeric.counts import UNDETERMINED, InstanceCount
from numeric.instances import Instance
from numeric.krawczyk import FAILED, REAL, Certified, RootPool, certify, make_target
from numeric.krawczyk_exact import certify_exact
from numeric.tracker import DONE, Settings, track

_BATCH = 64


def multistart_newton(
    instance: Instance,
    starts: int = 400,
    seed: int = 0,
    *,
    chain: Chain | None = None,
    enough: int | None = None,
    warm: bool = True,
    most_steps: int = 150,
) -> InstanceCount:
    """Certified real solutions of one instance, from many starts.

    Parameters
    ----------
    instance : Instance
    starts : int, optional
        Random starts, Gaussian with the variance of the student's weights times a factor
        between 1/16 and 16 drawn for each start.
    seed : int, optional
    chain : Chain, optional
        The allocation's chain, where it has been made already.
    enough : int, optional
        Stop after so many certified solutions (1 decides a match).
    warm : bool, optional
        Whether the teacher's own weights are continued to the instance first.
    most_steps : int, optional
        Newton steps a start.

    Returns
    -------
    InstanceCount
        Status "undetermined": `real` is a lower bound, `paths` the number of starts and
        `certified` the number of solutions, all real.

    Examples
    --------
    >>> from algebra.networks import LinearRNN
    >>> from algebra.problem import Problem
    >>> from numeric.instances import draw_instance
    >>> problem = Problem(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 1], [0, 0]]})
    >>> multistart_newton(draw_instance(problem, 0, 0), starts=20).real
    1
    """
    if starts < 0:
        raise InputError(f"`starts` ({starts}) must be at least 0")
    began = time.process_time()
    chain = chain or make_chain(instance.allocation, instance.problem.support)
    target = make_target(chain, instance)
    parameters = chain.parameters(instance)
    pool = RootPool(chain)

    def take(ends: np.ndarray) -> None:
        certified = certify(chain, target, ends.astype(complex))
        left = certified.kind == FAILED
        if left.any():
            exact = certify_exact(chain, instance, certified.roots[left], most_bits=256)
            pool.add(_real_only(exact))
        pool.add(_real_only(certified))

    converged = 0
    if warm:
        end = _from_teacher(chain, instance, parameters)
        if end is not None:
            take(end[None])
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(instance.index, 0x3357)))
    scale = np.array(
        [instance.weights[name].shape[1] ** -0.5 for name, _, _ in instance.allocation.cells]
    )
    done = 0
    while done < starts and (enough is None or pool.real < enough):
        size = min(_BATCH, starts - done)
        spread = 2.0 ** rng.uniform(-2.0, 2.0, (size, 1))
        first = rng.standard_normal((size, chain.unknowns)) * scale * spread
        ends, good = levenberg_marquardt(chain, parameters, first, most_steps)
        converged += int(good.sum())
        if good.any():
            take(_distinct(ends[good]))
        done += size
    order: Any = np.lexsort(pool.roots.real.T[::-1]) if len(pool) else []
    return InstanceCount(
        index=instance.index,
        real=pool.real,
        complex=len(pool),
        status=UNDETERMINED,
        note=f"at least {pool.real} real: {converged} of {done} starts converged",
        solutions=tuple(tuple(float(x) for x in pool.roots[k].real) for k in order),
        paths=done,
        certified=len(pool),
        seconds=time.process_time() - began,
    )


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
    for _ in range(most_steps):
        run = np.flatnonzero(active)
        if not len(run):
            break
        gram = np.einsum("bev,beu->bvu", J[run], J[run])
        slope = np.einsum("bev,be->bv", J[run], f[run])
        diagonal = np.einsum("bvv->bv", gram).copy()
        damped = gram + np.einsum(
            "bv,vu->bvu", damping[run, None] * diagonal + 1e-300, np.eye(chain.unknowns)
        )
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
    P: list[Any] = [None]
    P += [block(chain.p_at[k], c, m) if chain.read_all else None for k in range(1, K + 1)]
    Z = S[K] if not chain.read_all else sum(S[k] @ P[k] for k in range(1, K + 1))
    A = [block(chain.d_at, chain.network.d, n[K])]
    for q in range(1, K + 1):
        A.append(A[-1] @ M[K - q + 1])
    H = []
    if chain.read_all:
        for q in range(K):
            H.append(sum(S[k - 1] @ P[k + q] for k in range(1, K - q + 1)))
    a, x = chain.equations.T
    Y = p[:, chain.y_at :].reshape(B, -1, m)
    f = (A[0] @ Z - Y)[:, a, x]
    J = np.zeros((B, r, r))
    for v, (kind, step, i, j, _) in enumerate(chain.cells):
        if kind == IN_M and chain.read_all:
            for q in range(K):
                J[:, :, v] += A[q][:, a, i] * H[q][:, j, x]
        elif kind == IN_M:
            J[:, :, v] = A[K - step][:, a, i] * S[step - 1][:, j, x]
        elif kind == IN_S0:
            for q in range(1, K + 1):
                J[:, :, v] += A[q][:, a, i] * P[q][:, j, x]
        else:
            J[:, :, v] = np.where(a == i, Z[:, j, x], 0.0)
    return f, J


def _from_teacher(chain: Chain, instance: Instance, parameters: np.ndarray) -> np.ndarray | None:
    """Continue the teacher's own weights while the fixed ones move to the student's.

    The path is real; it ends early where it meets a fold, which is no error.
    """
    chosen = chain.independent_samples(instance.X)
    first = chain.pack(instance.teacher, instance.X[:, chosen], instance.labels[:, chosen])
    start = np.array([instance.teacher[name][i, j] for name, i, j in instance.allocation.cells])
    zero = np.zeros(1, np.int64)
    tracked = track(
        chain, first[None], parameters[None], zero, zero, start[None], Settings(most_steps=200)
    )
    return tracked.roots[0].real if tracked.status[0] == DONE else None


def _distinct(ends: np.ndarray) -> np.ndarray:
    """One of each cluster of equal endpoints (to about eight digits)."""
    keys = np.round(ends / (np.abs(ends).max(axis=1, keepdims=True) + 1e-300), 8)
    return ends[np.sort(np.unique(keys, axis=0, return_index=True)[1])]


def _real_only(certified: Certified) -> Certified:
    kind = np.where(certified.kind == REAL, REAL, FAILED)
    return Certified(kind, certified.roots, certified.radii)
