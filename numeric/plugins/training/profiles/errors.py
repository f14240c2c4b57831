r"""The error of a match on new samples, relative to the teacher's labels, enclosed.

For a match w, the teacher's function f* and a new sample x of the input law the error is

.. math:: E|f_w(x) - f^*(x)|^2 \,/\, E|f^*(x)|^2 .

* *Maps affine in the sample*, f(x) = A x + c: the entries of x are independent, of mean 0 and
  variance 1 (for every law of inputs), so E|f(x)|² = ‖A‖² + |c|², Frobenius norms; A and c are the
  values at the unit vectors and at 0.  Where the m samples determine A and c, which is decided over
  Q, a match has those of the teacher, and its error is exactly 0.
* *One ReLU layer, Gaussian inputs*: the difference of two such networks is one with the units of
  both, and its size is a sum of integrals over pairs of units (`numeric.plugins.relu.integral`).
* *Otherwise* the mean over `NEW` new samples, drawn from a stream of their own: an error on a
  stated sample.

The teacher may be another network (``[teacher]``): a closed form needs that of both, and a match
has the teacher's map if both are affine and the samples determine it.

Everything is evaluated in balls, over the certified box of a match.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from flint import arb, ctx, fmpq

from algebra.errors import InputError
from algebra.linalg.numbers import nearest_double
from algebra.linalg.rational import rational_echelon
from algebra.networks.base import Network
from algebra.networks.rectified import HasRectifiedLayers
from algebra.problems.premises import GIVEN_DATA, Feature
from algebra.problems.problem import Problem
from algebra.programs.balls import as_balls, ball_product
from algebra.time_limits import check_time
from numeric.plugins.relu.integral import relu_error, relu_labels, square_sum
from numeric.trials.instances import Instance, draw_entries, teacher_of, to_rational
from numeric.trials.streams import stream

# New samples, where there is no closed form.
NEW = 400
# Working precision.
_BITS = 160

Balls = Mapping[str, np.ndarray]


def check_teacher(problem: Problem) -> None:
    """Reject labels without a function that can be evaluated in balls.

    Raises
    ------
    InputError
    """
    if Feature.ARBITRARY_LABELS in problem.features:
        raise InputError(
            "`by` ('error'): the labels are not a teacher's: remove `labels` from [distribution]"
        )
    if given := problem.features & GIVEN_DATA:
        raise InputError(
            f"`by` ('error'): with {min(given)} there is no law of new samples and their labels"
        )
    network = _networks(problem)[1]
    if network.teacher_shapes != network.shapes and not network.is_affine:
        raise InputError(
            f"`by` ('error'): the error with a teacher of kind {network.kind!r} is not computed; "
            "linear networks, shallow ReLU networks and networks with activations can teach"
        )


def how_computed(problem: Problem) -> str:
    """How the error is computed, in words."""
    if _is_affine(problem):
        return "by the Frobenius norm of the difference of the two maps"
    if _has_integral(problem):
        return "by the Gaussian integral of a ReLU layer"
    return f"on {NEW} new samples, the same for all matches of a trial"


def _networks(problem: Problem) -> tuple[Network, ...]:
    """The student's network and the teacher's."""
    return problem.network, (problem.teacher or problem).network


def _is_affine(problem: Problem) -> bool:
    return all(network.is_affine for network in _networks(problem))


def _has_integral(problem: Problem) -> bool:
    return problem.distribution.inputs == "normal" and all(map(_is_relu, _networks(problem)))


def _is_relu(network: Network) -> bool:
    shallow = ("W1", None), ("W2", None)
    return isinstance(network, HasRectifiedLayers) and network.rectified_layers == shallow


def new_errors(
    instance: Instance, middles: np.ndarray, radii: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds of the errors of matches on new samples.

    Parameters
    ----------
    instance : Instance
        With a teacher.
    middles, radii : ndarray of float, shape (·, r)
        Boxes, each of which contains a match.

    Returns
    -------
    low, high : ndarray of float, shape (·,)
        ``high`` is infinite where the teacher's labels may all be 0.
    """
    if _is_affine(instance.problem) and _spans(instance):
        return np.zeros(len(middles)), np.zeros(len(middles))
    before = ctx.prec
    try:
        ctx.prec = _BITS
        error = _error_of(instance)
        fixed = _fixed(instance)
        ends = []
        for middle, radius in zip(middles, radii, strict=True):
            check_time()
            student = {name: value.copy() for name, value in fixed.items()}
            cells = instance.allocation.cells
            for (name, i, j), x, r in zip(cells, middle, radius, strict=True):
                student[name][i, j] = arb(float(x), float(r))
            ends.append(_ends(error(student)))
    finally:
        ctx.prec = before
    low, high = np.array(ends).reshape(-1, 2).T
    return low, high


def least_error(instance: Instance) -> tuple[float, float] | None:
    """The least error of a family of matches, enclosed, if there is a match.

    Let the labels be affine in the sample and in all learnable weights w jointly.  Matches are the
    solutions of F w = y, and the error is a quadratic form |G w - g|² / |f*|²: its least value is
    at the w of any solution of the equations of Lagrange, linear ones over Q.

    Returns
    -------
    low, high : float, or None
        Infinite if F w = y has no solution; None if the labels are not affine in the sample.  If
        they are not affine in w, the bounds are a relaxation's and the error of a match
        (`numeric.plugins.training.profiles.families`).
    """
    network, allocation = instance.problem.network, instance.allocation
    if not _is_affine(instance.problem):
        return None
    if _spans(instance):
        return 0.0, 0.0
    if not network.affine_in(allocation.matrices):
        return _bounded(instance) if network.chain() is not None else None
    weights, X, Y = instance.exact
    rows = network.input_shape[0]
    units = to_rational(np.hstack([np.zeros((rows, 1)), np.eye(rows)]))

    def function(net: Network, weights: Balls) -> np.ndarray:
        at = np.asarray(net.with_samples(rows + 1).teach(weights, units))
        return _parts(at.reshape(net.d, -1, rows + 1)).ravel()

    def values(student: Balls) -> tuple[np.ndarray, np.ndarray]:
        labels = np.asarray(network.forward(student, X)).ravel()
        return labels, function(network, student)

    def with_cells(at: int) -> dict[str, np.ndarray]:
        student = {name: value.copy() for name, value in weights.items()}
        for k, (name, i, j) in enumerate(allocation.cells):
            student[name][i, j] = fmpq(int(k == at))
        return student

    label, start = values(with_cells(-1))
    columns = [values(with_cells(k)) for k in range(allocation.size)]
    F = np.array([own - label for own, _ in columns], object).T
    G = np.array([own - start for _, own in columns], object).T
    other, teacher = teacher_of(instance)
    goal = function(other, {name: to_rational(value) for name, value in teacher.items()})
    r, equations = allocation.size, len(label)
    system = np.full((r + equations, r + equations + 1), fmpq(0), object)
    system[:r, :r], system[:r, r:-1], system[r:, :r] = G.T @ G, F.T, F
    system[:r, -1], system[r:, -1] = G.T @ (goal - start), Y.ravel() - label
    reduced, pivots = rational_echelon(system)
    if r + equations in pivots:
        return math.inf, math.inf
    w = np.full(r, fmpq(0), object)
    for row, column in enumerate(pivots):
        if column < r:
            w[column] = reduced[row, r + equations]
    off = G @ w + start - goal
    size = sum((v * v for v in goal), fmpq(0))
    if size == 0:
        return 0.0, math.inf
    error = nearest_double(sum((v * v for v in off), fmpq(0)) / size)
    return max(math.nextafter(error, -math.inf), 0.0), error and math.nextafter(error, math.inf)


def _bounded(instance: Instance) -> tuple[float, float]:
    # Loaded here: an optimizer, which other errors do not need.
    from numeric.plugins.training.profiles.families import least_of_relaxation, matches_of_family

    low = least_of_relaxation(instance)
    if math.isinf(low):
        return low, low
    found = matches_of_family(instance)
    return low, float(new_errors(instance, *found)[1].min()) if len(found[0]) else math.inf


def _ends(value: arb) -> tuple[float, float]:
    if not value.is_finite():
        return 0.0, math.inf
    low = math.nextafter(float(value.lower()), -math.inf)
    return max(low, 0.0), math.nextafter(float(value.upper()), math.inf)


def _fixed(instance: Instance) -> dict[str, np.ndarray]:
    """The student's weights in balls, measured ones exactly."""
    found = {name: as_balls(value) for name, value in instance.weights.items()}
    pinned = instance.problem.values.pinned(instance.allocation.cells)
    for (name, i, j), value in pinned.items():
        found[name][i, j] = arb(fmpq(value.numerator, value.denominator))
    return found


def _spans(instance: Instance) -> bool:
    """Whether the first samples are a basis, so that a match has the teacher's linear map.

    A constant is then determined, too: by a further sample, or, without one, not at all.
    """
    network, X = instance.problem.network, instance.X
    has_constant = not network.is_linear
    size = network.input_shape[0] + has_constant
    if X.shape[1] < size:
        return False
    first = to_rational(X[:, :size])
    if has_constant:
        first = np.vstack([first, np.full((1, size), fmpq(1), object)])
    return len(rational_echelon(first)[1]) == size


def _error_of(instance: Instance) -> Callable[[Balls], arb]:
    """The error of a student in balls."""
    problem, network = instance.problem, instance.problem.network
    other, weights = teacher_of(instance)
    teacher = {name: as_balls(value) for name, value in weights.items()}
    is_affine = _is_affine(problem)
    if not is_affine and _has_integral(problem):
        return partial(relu_error, teacher)
    rows = network.input_shape[0]
    if is_affine:
        X = np.hstack([np.zeros((rows, 1)), np.eye(rows)])
    else:
        X = draw_entries(
            stream(instance.seed, instance.index, "new samples"),
            problem.distribution.inputs,
            (rows, NEW),
        )
    inputs = as_balls(X)

    def values(net: Network, weights: Balls) -> np.ndarray:
        if _is_relu(net):
            return relu_labels(weights, inputs)
        new = net.with_samples(X.shape[1])
        found = np.asarray(new.teach(weights, inputs, ball_product))
        return _parts(found.reshape(len(found), -1, X.shape[1])) if is_affine else found

    goal = values(other, teacher)
    whole = square_sum(goal)
    return lambda student: square_sum(values(network, student) - goal) / whole


def _parts(found: np.ndarray) -> np.ndarray:
    """The constant, then the columns of A, of each output and each time it is read.

    From labels (outputs, times, 1 + inputs) at 0 and at the unit vectors.
    """
    return np.concatenate([found[:, :, :1], found[:, :, 1:] - found[:, :, :1]], axis=2)
