"""An upper bound of the least error of a family of matches: the error of a certified match.

With more learnable weights than equations matches form families.  From several starts

    K² |labels of w − Y|² + |f_w − f*|²,    K = 1, 30, 1000,

is minimized by least squares, f the values at 0 and at the unit vectors.  With the surplus weights
fixed at the end, Newton's method on the others must converge at once to a solution that is
certified (`numeric.experiments.training.arrival`): a match of the trial.  Its error, enclosed, is a
bound of the least one; nothing shows that no other match has a smaller error.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import least_squares

from algebra.errors import InputError
from algebra.time_limits import check_time
from numeric.certification.pool import certified_pool
from numeric.engines.plans import rank_plan
from numeric.equations.chain import make_chain
from numeric.equations.programs.students import starts_of
from numeric.experiments.training.arrival import ChainArrivals
from numeric.instances import Instance, teacher_of

STARTS = 4
_WEIGHTS = (1.0, 30.0, 1000.0)


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
