r"""The condition of a match: bounds of the smallest singular value of its Jacobian.

At a match w let J be the derivative of vec(Y) with respect to the r learnable weights.  A small
change δ of the labels moves the match by at most ``|δ| / σ``, where σ is the min(r, dm)-th
singular value of J (for r > dm the nearest match is meant).  The relative condition number of w
as a function of the labels is ``|Y| / (|w| σ)``, with Euclidean norms [1]_.

J is computed over Q at rational weights, and in balls for analytic activations.  Let G be the
smaller of JᵀJ and J Jᵀ, and q its size.  Then M = G⁻¹ is positive definite and for every p

    (tr Mᵖ / q)^(1/p)  ≤  σ⁻²  ≤  (tr Mᵖ)^(1/p),

so that the two bounds differ by the factor q^(1/p).  With p = 1024 and balls of sufficient
precision, both are certified and within 1 % of each other for q up to 10⁴.

References
----------
.. [1] L. N. Trefethen, D. Bau, *Numerical Linear Algebra*, SIAM 1997, lecture 12.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from numeric.families.activations.krawczyk import ActivationBallSystem
from numeric.trials.instances import Instance, to_rational

# M to the power 2^_SQUARINGS.
_SQUARINGS = 10
_BITS = 192
_MOST_BITS = 3072


@dataclass(frozen=True)
class Bounds:
    """A certified enclosure of a number between two doubles.

    Attributes
    ----------
    low, high : float
        Both bounds are certified.

    Examples
    --------
    >>> 2.5 in Bounds(2.0, 3.0)
    True
    """

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def rational_jacobian(instance: Instance, values: Sequence[Any]) -> fmpq_mat:
    """The derivative of vec(Y) with respect to the learnable weights over Q, dm×r.

    Parameters
    ----------
    instance : Instance
    values : sequence of fmpq
        The learnable weights, in the allocation's order.

    Notes
    -----
    A ReLU unit whose input is exactly 0 counts as inactive; there the labels have only one-sided
    derivatives.

    Examples
    --------
    >>> from algebra.networks.feedforward import LinearEstimator
    >>> from algebra.problems.problem import Problem
    >>> from numeric.trials.instances import draw_instance
    >>> instance = draw_instance(Problem(LinearEstimator(q=1, d=1, m=1), {"W": [[1]]}), 0, 0)
    >>> rational_jacobian(instance, [fmpq(0)])[0, 0] == instance.exact[1][0, 0]
    True
    """
    network, cells = instance.problem.network, instance.allocation.cells
    weights, X, _ = instance.exact
    student = {name: value.copy() for name, value in weights.items()}
    for (name, i, j), value in zip(cells, values, strict=True):
        student[name][i, j] = value
    return fmpq_mat([list(map(fmpq, row)) for row in network.jacobian(student, X, cells)])


def smallest_singular_value(J: fmpq_mat | Callable[[], arb_mat]) -> Bounds | None:
    """Bounds of the min(rows, columns)-th singular value.

    Parameters
    ----------
    J : fmpq_mat or callable
        A callable returns the matrix in balls at the current precision, where it is not rational.

    Returns
    -------
    Bounds or None
        None if the rank is not full, or if no precision tried can decide that it is.

    Examples
    --------
    >>> J = fmpq_mat(2, 2, [3, 0, 0, 4])
    >>> found = smallest_singular_value(J)
    >>> 3.0 in found, found.high / found.low < 1.001
    (True, True)
    """
    exact: Any = None if callable(J) else _gram(J)
    saved = ctx.prec
    try:
        ctx.prec = _BITS
        while ctx.prec <= _MOST_BITS:
            G = _gram(J()) if callable(J) else arb_mat(exact)
            if not G.nrows():
                return None
            found = _least(G, G.nrows())
            if found is not None:
                return found
            ctx.prec *= 2
    finally:
        ctx.prec = saved
    return None


def _gram(J: Any) -> Any:
    """JᵀJ or J Jᵀ, whichever is smaller."""
    return J.transpose() * J if J.ncols() <= J.nrows() else J * J.transpose()


def _least(G: arb_mat, q: int) -> Bounds | None:
    """Bounds of the square root of the least eigenvalue; None if the precision is too low."""
    try:
        M = G.inv()
    except ZeroDivisionError:
        return None
    # M is scaled before it is squared; the accumulated scale is exp(`log` · `power`).
    log, power = arb(0), 1
    for _ in range(_SQUARINGS):
        size = M.trace().mid()
        if not size > 0:
            return None
        M = M / size
        log += size.log() / power
        M = M * M
        power *= 2
    trace = M.trace()
    if not trace > 0:
        return None
    high = log + trace.log() / power
    low = high - arb(q).log() / power
    # The eigenvalue is e^-x with x between `low` and `high`.
    least, most = (-high / 2).exp(), (-low / 2).exp()
    if not least.rel_accuracy_bits() > 20:
        return None
    return Bounds(_down(least), _up(most))


def relative_condition(
    instance: Instance, values: Sequence[Any], smallest: Bounds | None
) -> Bounds | None:
    """Bounds of ``|Y| / (|w| σ)``; None if σ or w is 0.

    Parameters
    ----------
    instance : Instance
    values : sequence of fmpq
        The learnable weights.
    smallest : Bounds or None
        Bounds of σ.
    """
    length = sum((fmpq(w) * w for w in values), fmpq(0))
    labels = sum(arb(y) ** 2 for y in _labels(instance))
    if smallest is None or not length:
        return None
    ratio = (labels / arb(length)).sqrt()
    return Bounds(_down(ratio / arb(smallest.high)), _up(ratio / arb(smallest.low)))


def conditions(
    instance: Instance, solution: Sequence[float]
) -> tuple[Bounds | None, Bounds | None]:
    """Bounds of σ and of the relative condition number at a solution in doubles.

    Parameters
    ----------
    instance : Instance
    solution : sequence of float
        Learnable weights in the allocation's order.

    Returns
    -------
    smallest : Bounds or None
        Bounds of σ (`smallest_singular_value`).
    relative : Bounds or None
        Bounds of the relative condition number (`relative_condition`).
    """
    values = list(to_rational(np.asarray(solution, float)))
    smallest = smallest_singular_value(
        partial(_balls, instance, values)
        if _is_analytic(instance)
        else rational_jacobian(instance, values)
    )
    return smallest, relative_condition(instance, values, smallest)


def _is_analytic(instance: Instance) -> bool:
    return instance.problem.network.equations_are == "analytic"


def _balls(instance: Instance, values: Sequence[fmpq]) -> arb_mat:
    """The derivative in balls, at the current precision."""
    return ActivationBallSystem(instance).jacobian([arb(v) for v in values])


def _labels(instance: Instance) -> Sequence[Any]:
    """The teacher's labels, in rationals or in balls."""
    found = ActivationBallSystem(instance).labels if _is_analytic(instance) else instance.exact[2]
    return list(found.flat)


def _down(x: arb) -> float:
    return math.nextafter(float(x.lower()), 0.0)


def _up(x: arb) -> float:
    return math.nextafter(float(x.upper()), math.inf)
