"""The linear programs of a ReLU instance over convex hulls of its units' activations.

Each learning unit contributes a point of {relu(h(w))}, a piecewise linear surface in R^m; its
convex hull is spanned by the vertices and extreme rays of the unit's arrangement (see
`algebra.plugins.relu.arrangement`).  With their convex and conic weights as unknowns the label
equations and one convexity row for each unit form a linear program of dm + k rows.  Choosing a side
of a hyperplane removes columns.  This is the strongest relaxation unit by unit: compared with the
pairs (u, v) of `numeric.plugins.relu.pairs_kernel`, which only use u ≥ relu(h), it needs about
forty times fewer nodes at n = k = 12.  The number of columns grows like (m choose ρ), so it is for
few samples or few weights in a row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from flint import fmpq

from algebra.linalg.arrangements import arrangement_size
from algebra.linalg.rational import rational_echelon
from algebra.plugins.relu.arrangement import Refuter, allowed
from algebra.plugins.relu.network import ShallowReLU
from numeric.trials.instances import Instance, to_double, to_rational

# Limit of the entries of the columns times the depth of the tree.
_MOST_ENTRIES = 75e6
# Bits of the integers in a refutation: short ones are tried first.
_BITS = (12, 24, 40, 52)
# Slack that counts as positive, for columns of norm 1.
_STRICT = 1e-8


@dataclass(frozen=True)
class Hull:
    """Columns and rows of the linear program of one instance.

    Attributes
    ----------
    A : ndarray, (dm + k)×C
        Rows of size at most 1; row s·d + o is label o of sample s, then the convexity rows.
    b : ndarray, dm + k
    row_sizes : ndarray, dm + k
        Divisors of the rows.
    unit : ndarray of int64, C
    is_ray : ndarray of bool, C
    inputs : ndarray, C×m
        The inputs h of the unit at the vertex, or the slopes of the ray.
    signs : ndarray of int8, C×m
        Their signs; 0 if the entry may be 0 up to rounding, which only relaxes the program.
    costs : ndarray, C
        Positive; rays cost more than vertices, which gave the smallest trees.
    activations : ndarray, m×C
        Activations of the columns, of which A is made: row s·d + o of a column of unit i is
        `outputs[i, s, o] * activations[s]`.
    outputs : ndarray, k×m×d
    """

    A: np.ndarray
    b: np.ndarray
    row_sizes: np.ndarray
    unit: np.ndarray
    is_ray: np.ndarray
    inputs: np.ndarray
    signs: np.ndarray
    costs: np.ndarray
    activations: np.ndarray
    outputs: np.ndarray


def learning_units(instance: Instance) -> np.ndarray:
    """Units with learnable weights in W1 and a nonzero column of W2, ascending.

    Other units have no path from a learnable weight to an output.
    """
    mask = np.asarray(instance.allocation.masks["W1"]) != 0
    return np.flatnonzero(mask.any(axis=1) & (instance.weights["W2"] != 0).any(axis=0))


def hull_fits(instance: Instance) -> bool:
    """Whether only W1 of a shallow net learns, and the hull program has few enough columns."""
    network = instance.problem.network
    if not isinstance(network, ShallowReLU) or set(instance.allocation.matrices) != {"W1"}:
        return False
    mask = np.asarray(instance.allocation.masks["W1"]) != 0
    counts = [int(c) for c in mask[learning_units(instance)].sum(axis=1)]
    columns = sum(arrangement_size(c, network.m) for c in counts)
    rows = network.d * network.m + len(counts)
    return rows * columns * (len(counts) * network.m + 2) < _MOST_ENTRIES


def make_hull(instance: Instance) -> Hull:
    """The linear program of an instance with learnable weights in W1 alone."""
    network = instance.problem.network
    W1, W2, X, Y = instance.weights["W1"], instance.weights["W2"], instance.X, instance.labels
    mask = np.asarray(instance.allocation.masks["W1"]) != 0
    units = learning_units(instance)
    fixed = np.flatnonzero(~mask.any(axis=1))
    k, m, d = len(units), network.m, network.d
    G = Y - W2[:, fixed] @ np.maximum(W1[fixed] @ X, 0.0)
    inputs, signs, unit, is_ray = [], [], [], []
    for t, i in enumerate(units):
        at, at_signs, along, along_signs = _arrangement(X[mask[i]], (W1[i] * ~mask[i]) @ X)
        useful = (along_signs > 0).any(axis=1)
        inputs += [at, along[useful]]
        signs += [at_signs, along_signs[useful]]
        unit.append(np.full(len(at) + int(useful.sum()), t))
        is_ray.append(np.arange(len(unit[-1])) >= len(at))
    H, sign = np.concatenate(inputs), np.concatenate(signs)
    owner, ray = np.concatenate(unit).astype(np.int64), np.concatenate(is_ray)
    # Columns are scaled to about unit size, for distant vertices and small rays too.
    U = np.maximum(H, 0.0) * (sign > 0)
    scale = 1.0 / np.hypot(np.linalg.norm(U, axis=1), ~ray)
    U *= scale[:, None]
    A = np.zeros((d * m + k, len(owner)))
    A[: d * m] = (U.T[:, None, :] * W2[:, units][:, owner][None]).reshape(d * m, -1)
    A[d * m + owner, np.arange(len(owner))] = np.where(ray, 0.0, scale)
    b = np.concatenate([G.T.ravel(), np.ones(k)])
    sizes = np.abs(A).max(axis=1)
    sizes[sizes == 0.0] = 1.0
    # Slightly different costs: no two reduced costs are equal, so the simplex does not cycle.
    noise = np.random.default_rng(12345).random(len(owner))
    costs = np.where(ray, 1.0, 0.15 + 0.5 * scale) * (1.0 + 0.1 * noise)
    outputs = W2[:, units].T[:, None, :] / sizes[: d * m].reshape(m, d)
    return Hull(
        A / sizes[:, None], b / sizes, sizes, owner, ray, H, sign, costs,
        np.ascontiguousarray(U.T), outputs,
    )  # fmt: skip


def columns_left(program: Hull, sides: np.ndarray) -> np.ndarray:
    """The columns that are consistent with fixings (k×m; see `algebra.plugins.relu.equations`)."""
    return allowed(program.signs, np.asarray(sides)[program.unit])


def refutation(program: Hull, refuter: Refuter, sides: np.ndarray) -> np.ndarray | None:
    """Integers μ that refute a leaf over Q, or None if none were found.

    Parameters
    ----------
    program : Hull
    refuter : Refuter
        For the same instance; it checks every result exactly.
    sides : ndarray of int, k×m

    Notes
    -----
    A linear program maximizes the slack of μ at every ray, so that rounding to a few bits
    preserves it.  If some rays cancel each other, their slack is 0 for every μ: a second
    program finds these, and μ is corrected over Q to be exactly 0 on them.
    """
    left = np.flatnonzero(columns_left(program, sides))
    points = left[~program.is_ray[left]]
    if len(np.unique(program.unit[points])) < len(sides):
        # A unit has no weights with these signs.
        mu = to_rational(np.zeros(refuter.system.G.shape))
        return mu if refuter.refutes(sides, mu) else None
    A = program.A[:, left]
    A = A / np.linalg.norm(A, axis=0)
    rays = program.is_ray[left]
    y, slack = _most_slack(A, program.b, rays)
    if slack > _STRICT:
        return _rounded(program, refuter, sides, y, left[:0])
    found = _widest_slack(A, program.b, rays)
    if found is None:
        return None
    return _rounded(program, refuter, sides, found[0], left[found[1]])


def _solved(costs: np.ndarray, **program: Any) -> Any:
    """SciPy's solution of a linear program by HiGHS."""
    # Loaded here: SciPy's optimizers take long to load, and small nets do not need them.
    from scipy.optimize import linprog

    return linprog(costs, method="highs", **program)


def _most_slack(A: np.ndarray, b: np.ndarray, rays: np.ndarray) -> tuple[np.ndarray, float]:
    """(y, t) with the largest t: y·A ≥ t at rays, y·A ≥ 0 elsewhere, −y·b ≥ t|b|, |y| ≤ 1."""
    rows, columns = A.shape
    upper = np.zeros((columns + 1, rows + 1))
    upper[:-1, :-1] = -A.T
    upper[:-1, -1] = rays
    upper[-1, :-1] = b / max(float(np.linalg.norm(b)), 1e-300)
    upper[-1, -1] = 1.0
    bounds = [(-1.0, 1.0)] * rows + [(0.0, 1.0)]
    goal = np.zeros(rows + 1)
    goal[-1] = -1.0
    found = _solved(goal, A_ub=upper, b_ub=np.zeros(columns + 1), bounds=bounds)
    return (found.x[:-1], float(found.x[-1])) if found.x is not None else (np.zeros(rows), 0.0)


def _widest_slack(
    A: np.ndarray, b: np.ndarray, rays: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """y that refutes, with slack at as many rays as possible, and the other rays."""
    rows, columns = A.shape
    where = np.flatnonzero(rays)
    upper = np.zeros((columns + 1, rows + len(where)))
    upper[:-1, :rows] = -A.T
    upper[where, rows + np.arange(len(where))] = 1.0
    upper[-1, :rows] = b / max(float(np.linalg.norm(b)), 1e-300)
    right = np.zeros(columns + 1)
    right[-1] = -1.0
    bounds = [(None, None)] * rows + [(0.0, 1.0)] * len(where)
    goal = np.concatenate([np.zeros(rows), -np.ones(len(where))])
    found = _solved(goal, A_ub=upper, b_ub=right, bounds=bounds)
    if found.x is None:
        return None
    return found.x[:rows], where[found.x[rows:] < 1e-6]


def _rounded(
    program: Hull, refuter: Refuter, sides: np.ndarray, y: np.ndarray, tight: np.ndarray
) -> np.ndarray | None:
    system = refuter.system
    d, m = system.G.shape
    mu = (y / program.row_sizes)[: d * m].reshape(m, d).T
    largest = float(np.abs(mu).max(initial=0.0))
    if largest == 0.0:
        return None
    correct = _correction(program, refuter, tight) if len(tight) else None
    for bits in _BITS:
        whole = np.rint(mu / largest * 2.0**bits)
        exact = to_rational(whole)
        if correct is not None:
            exact = correct(exact)
        if refuter.refutes(sides, exact):
            return exact
    return None


def _correction(
    program: Hull, refuter: Refuter, tight: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """A function that changes μ so that these rays have slack exactly 0."""
    system = refuter.system
    d, m = system.G.shape
    zero = fmpq(0)
    rows: list[Any] = []
    for column in tight:
        t = int(program.unit[column])
        rays = refuter.arrangement(t).rays
        sizes = to_double(rays)
        sizes /= np.linalg.norm(sizes, axis=1)[:, None]
        own = program.inputs[column] / np.linalg.norm(program.inputs[column])
        ray = rays[int(np.abs(sizes - own).sum(axis=1).argmin())]
        W2 = system.outer[:, t]
        rows.append([value * ray[s] if ray[s] > 0 else zero for value in W2 for s in range(m)])
    reduced, leads = rational_echelon(rows, d * m)
    free = [j for j in range(d * m) if j not in leads]

    def correct(mu: np.ndarray) -> np.ndarray:
        flat = list(mu.ravel())
        for i, lead in enumerate(leads):
            flat[lead] = -sum((reduced[i, j] * flat[j] for j in free), zero)
        return np.array(flat, dtype=object).reshape(d, m)

    return correct


def _arrangement(
    own: np.ndarray, constants: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Inputs at vertices, their signs, slopes of rays (norm 1), their signs."""
    m = len(constants)
    _, sizes, basis = np.linalg.svd(own, full_matrices=False)
    rank = int((sizes > 1e-10 * max(sizes.max(initial=0.0), 1e-300)).sum())
    basis = basis[:rank]
    if rank == 0:
        at = constants[None].copy()
        return at, np.sign(at).astype(np.int8), np.empty((0, m)), np.empty((0, m), np.int8)
    sets = np.array(list(combinations(range(m), rank)), int).reshape(-1, rank)
    square = basis[:, sets].transpose(1, 2, 0)
    regular = np.abs(np.linalg.det(square)) > 1e-12
    sets, square = sets[regular], square[regular]
    if not constants.any():
        # All hyperplanes meet at 0.
        sets, square = sets[:1], square[:1]
    w = np.linalg.solve(square, -constants[sets][..., None])[..., 0]
    at = w @ basis + constants
    np.put_along_axis(at, sets, 0.0, axis=1)
    # Rounding of the solution grows with |w| and the condition of the equations.
    noise = 1e-13 * (1.0 + np.abs(w).sum(axis=1)) * np.linalg.cond(square)
    at_signs = (np.sign(at) * (np.abs(at) > noise[:, None])).astype(np.int8)

    along = np.array(basis)
    noise = np.full(1, 1e-13)
    if rank > 1:
        sets = np.array(list(combinations(range(m), rank - 1)), int)
        _, sizes, V = np.linalg.svd(basis[:, sets].transpose(1, 2, 0))
        smallest = sizes.min(axis=1)
        regular = smallest > 1e-12
        along = V[regular, -1] @ basis
        np.put_along_axis(along, sets[regular], 0.0, axis=1)
        noise = 1e-13 / smallest[regular]
    along /= np.linalg.norm(along, axis=1)[:, None]
    signs = (np.sign(along) * (np.abs(along) > noise[:, None])).astype(np.int8)
    return at, at_signs, np.concatenate([along, -along]), np.concatenate([signs, -signs])
