r"""Bounds of the least error of a family of matches of a linear network.

With more learnable weights than equations matches form families.

**Upper bound**: the error of a certified match.  From several starts

    K² |labels of w − Y|² + |f_w − f*|²,    K = 1, 30, 1000,

is minimized by least squares, f the values at the unit vectors.  With the surplus weights
fixed at the end, Newton's method on the others must converge at once to a solution that is
certified (`numeric.plugins.training.arrival`): a match of the trial.  Its error, enclosed, is a
bound of the least one.

**Lower bound**: a convex relaxation.  Let A be the map of a match, in the lifted form of the
network at the unit vectors (`algebra.systems.forms`: for a recurrent net W g_B(F) = F, A = D F).
Rows in which nothing learns are linear equations in the auxiliary unknowns, and so are entries of A
if what reads them does not learn.  Every match satisfies these and A X = Y; without the auxiliary
unknowns they are C A = e, and the distance of the teacher's map A* from these A,

.. math:: \sqrt{z^T (C C^T)^{-1} z}, \quad z = C A^* - e,

is at most its distance from the map of any match; it is computed over Q.  Equations that are not
linear are left out.  So the bound is 0 if at least d rows and b columns of W learn, and the bounds
meet if fewer than d rows of Tb weights or more do, or fewer than b columns of Td or more: their
weights solve linear equations then.
"""

from __future__ import annotations

import math
from dataclasses import replace
from math import prod

import numpy as np
from flint import fmpq, fmpq_mat
from scipy.optimize import least_squares

from algebra.errors import InputError
from algebra.linalg.numbers import nearest_double
from algebra.linalg.rational import rational_echelon
from algebra.polynomials.rings import RationalField
from algebra.problems.allocation import Allocation
from algebra.systems.forms import FORMS, forms
from algebra.systems.system import build_system
from algebra.time_limits import check_time
from numeric.certification.pool import certified_pool
from numeric.engines.plans import rank_plan
from numeric.equations.chain import make_chain
from numeric.plugins.training.arrival import ChainArrivals
from numeric.programs.students import starts_of
from numeric.trials.instances import Instance, teacher_of, to_rational

STARTS = 4
_WEIGHTS = (1.0, 30.0, 1000.0)
# Unknowns of a relaxation beyond which it is not solved.
_MOST_UNKNOWNS = 300


def least_of_relaxation(instance: Instance) -> float:
    """A lower bound of the error of every match; infinite if there is none.

    Parameters
    ----------
    instance : Instance
        As for `matches_of_family`.
    """
    network, X = instance.problem.network, instance.exact[1]
    rows = network.input_shape[0]
    new = network.with_samples(rows)
    if new.columns != rows:
        # Several labels for each output of a sample: A X is not Y.
        return 0.0
    allocation = Allocation(new, instance.allocation.cells)
    units = to_rational(np.eye(rows))
    other, matrices = teacher_of(instance)
    exact = {name: to_rational(value) for name, value in matrices.items()}
    points = np.hstack([np.full((rows, 1), fmpq(0), object), units])
    values = np.asarray(other.with_samples(rows + 1).teach(exact, points))
    # A teacher may have a constant; matches have none.
    constant = sum((v * v for v in values[:, 0]), fmpq(0))
    goal = (values[:, 1:] - values[:, :1]).ravel()
    size = sum((v * v for v in goal), constant)
    if size == 0:
        return 0.0
    squares = [fmpq(0)]
    for form in forms(new, allocation):
        unknowns = allocation.size + sum(map(prod, FORMS[form].unknowns(new).values()))
        if unknowns + len(goal) <= _MOST_UNKNOWNS:
            square = _distance(instance, allocation, form, units, X, goal)
            if square is None:
                return math.inf
            squares.append(square)
    error = nearest_double((max(squares) + constant) / size)
    return max(math.nextafter(error, -math.inf), 0.0)


def _distance(
    instance: Instance,
    allocation: Allocation,
    form: str,
    units: np.ndarray,
    X: np.ndarray,
    goal: np.ndarray,
) -> fmpq | None:
    """The squared distance of the teacher's map from those that satisfy the linear equations.

    None if no map does.
    """
    weights, _, Y = instance.exact
    d, rows = instance.problem.network.d, len(X)
    nothing = np.full((d, rows), fmpq(0), object)
    system = build_system(allocation, weights, units, nothing, RationalField(), form)
    own, entries = len(system.unknowns), d * rows
    first = len(system.equations) - entries
    table: list[list[fmpq]] = []
    for k, equation in enumerate(system.equations):
        if equation.total_degree() > 1:
            continue
        row = [fmpq(0)] * (own + entries + 1)
        for monomial, coefficient in equation.to_dict().items():
            row[monomial.index(1) if any(monomial) else own + entries] += coefficient
        row[-1] = -row[-1]
        if k >= first:
            row[own + k - first] = fmpq(-1)
        table.append(row)
    for i, outputs in enumerate(Y):
        for sample, output in zip(X.T, outputs, strict=True):
            row = [fmpq(0)] * (own + entries)
            for c, x in enumerate(sample):
                row[own + i * rows + c] = x
            table.append([*row, output])
    reduced, pivots = rational_echelon(table)
    if own + entries in pivots:
        return None
    # The rows below those with a pivot among the unknowns are the equations C A = e.
    kept = [k for k, column in enumerate(pivots) if column >= own]
    C = fmpq_mat([[reduced[k, own + c] for c in range(entries)] for k in kept])
    e = fmpq_mat([[reduced[k, own + entries]] for k in kept])
    z = C * fmpq_mat([[v] for v in goal]) - e
    found: fmpq = (z.transpose() * (C * C.transpose()).solve(z))[0, 0]
    return found


def matches_of_family(instance: Instance) -> tuple[np.ndarray, np.ndarray]:
    """Centres and radii (·, r) of boxes with one match each, of small error on new samples.

    Parameters
    ----------
    instance : Instance
        Of a chain of matrices without constants, as the network of its teacher is.
    """
    network, problem = instance.problem.network, instance.problem
    rows, size = network.input_shape[0], instance.allocation.size
    units = np.eye(rows)
    other, teacher = teacher_of(instance)
    goal = np.asarray(other.with_samples(rows).teach(teacher, units)).ravel()
    new = network.with_samples(rows)

    def residuals(w: np.ndarray, weight: float) -> np.ndarray:
        student = instance.with_weights(w)
        labels = (np.asarray(network.forward(student, instance.X)) - instance.labels).ravel()
        values = np.asarray(new.forward(student, units)).ravel()
        return np.concatenate([weight * labels, values - goal])

    part = rank_plan(problem, instance.allocation).allocation
    place = {cell: k for k, cell in enumerate(instance.allocation.cells)}
    solved = [place[cell] for cell in part.cells]
    try:
        arrivals = ChainArrivals(instance.allocation, part, problem.support)
        chain = make_chain(part, problem.support)
    except InputError:
        return np.zeros((0, size)), np.zeros((0, size))
    middles, radii = [], []
    for end in starts_of(instance, STARTS):
        check_time()
        for weight in _WEIGHTS:
            end = least_squares(residuals, end, args=(weight,), max_nfev=100).x
        found = arrivals.arrival(instance, end)
        if found is None:
            continue
        own = replace(instance, weights=instance.with_weights(found.weights), allocation=part)
        pool = certified_pool(chain, own, found.weights[solved][None])
        if len(pool):
            middle, radius = found.weights.copy(), np.zeros(size)
            middle[solved], radius[solved] = pool.roots[0].real, pool.radii[0]
            middles.append(middle)
            radii.append(radius)
    return np.array(middles).reshape(-1, size), np.array(radii).reshape(-1, size)
