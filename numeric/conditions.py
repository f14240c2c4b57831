r"""How well a match is determined: bounds of the smallest singular value of its Jacobian.

At a match w let J be the derivative of vec(Y) by the r learnable weights.  A change of the labels
by a small δ moves the match by at most ``|δ| / σ`` with σ the smallest singular value of J that
counts: of all r where r ≤ dm, and of the dm largest where weights are to spare (then the nearest
match is meant).  The relative condition number of w as a function of the labels is
``|Y| / (|w| σ)``, Euclidean lengths throughout [1]_.

J is rational at rational weights, and is computed over Q; of analytic activations in balls.  With
G = JᵀJ or J Jᵀ, whichever is smaller, and q its size, M = G⁻¹ is positive definite and for every p

    (tr Mᵖ / q)^(1/p)  ≤  σ⁻²  ≤  (tr Mᵖ)^(1/p),

the two ends being apart by the factor q^(1/p).  With p = 1024, in balls of as many digits as it
takes, both are certain and within 1 % of each other for q up to 10⁴.

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

from algebra.networks.activated import ActivatedNetwork
from numeric.activations.krawczyk import ActivationBallSystem
from numeric.instances import Instance, to_rational

# M to the power 2^_SQUARINGS.
_SQUARINGS = 10
_BITS, _MOST_BITS = 192, 3072


@dataclass(frozen=True)
class Bounds:
    """A number between two doubles.

    Attributes
    ----------
    low, high : float
        Both ends are certain.

    Examples
    --------
    >>> 2.5 in Bounds(2.0, 3.0)
    True
    """

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def jacobian(instance: Instance, values: Sequence[Any]) -> fmpq_mat:
    """The derivative of vec(Y) by the learnable weights over Q, dm×r.

    Parameters
    ----------
    instance : Instance
    values : sequence of fmpq
        The learnable weights, in the allocation's order.

    Notes
    -----
    A ReLU unit whose input is exactly 0 counts as silent: there the labels have one-sided
    derivatives only.

    Examples
    --------
    >>> from algebra.networks.linear import LinearEstimator
    >>> from algebra.problems.problem import Problem
    >>> from numeric.instances import draw_instance
    >>> instance = draw_instance(Problem(LinearEstimator(q=1, d=1, m=1), {"W": [[1]]}), 0, 0)
    >>> jacobian(instance, [fmpq(0)])[0, 0] == instance.exact[1][0, 0]
    True
    """
    network, cells = instance.problem.network, instance.allocation.cells
    weights, X, Y = instance.exact
    student = {name: value.copy() for name, value in weights.items()}
    for (name, i, j), value in zip(cells, values, strict=True):
        student[name][i, j] = value
    columns = []
    if network.chain() is not None:
        names = sorted({name for name, _, _ in cells})
        factors = network.tangents(student, X, names)  # type: ignore[attr-defined]
        for name, i, j in cells:
            L, R = factors[name]
            columns.append((L[:, :, i].T @ R[:, j, :]).ravel())
    elif isinstance(network, ActivatedNetwork):
        columns.extend(network.jacobian(student, X, cells).T)
    else:
        for name, i, j in cells:
            moved = dict(student)
            moved[name] = student[name].copy()
            moved[name][i, j] = _Dual(student[name][i, j], fmpq(1))
            columns.append([_slope(y) for y in network.forward(moved, X).ravel()])
    size = Y.size
    return fmpq_mat(size, len(cells), [fmpq(c[e]) for e in range(size) for c in columns])


def smallest_singular_value(J: fmpq_mat | Callable[[], arb_mat]) -> Bounds | None:
    """Bounds of the smallest of the min(rows, columns) singular values.

    Parameters
    ----------
    J : fmpq_mat or callable
        What gives the matrix in balls of the precision set, where it is not rational.

    Returns
    -------
    Bounds or None
        None where the rank is not full, or no precision tried tells it from that.

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
    """Bounds of the square root of the least eigenvalue; None where digits are missing."""
    try:
        M = G.inv()
    except ZeroDivisionError:
        return None
    # Scaled before each square; `log` gathers the logarithm of the scale, per power.
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
    # The eigenvalue is e^-x for an x from `low` to `high`.
    least, most = (-high / 2).exp(), (-low / 2).exp()
    if not least.rel_accuracy_bits() > 20:
        return None
    return Bounds(_down(least), _up(most))


def relative_condition(
    instance: Instance, values: Sequence[Any], smallest: Bounds | None
) -> Bounds | None:
    """Bounds of ``|Y| / (|w| σ)``; None where σ or w is 0.

    Parameters
    ----------
    instance : Instance
    values : sequence of fmpq
        The learnable weights.
    smallest : Bounds or None
        Of σ.
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
    """Bounds of σ and of the relative condition number at doubles.

    Parameters
    ----------
    instance : Instance
    solution : sequence of float
        Learnable weights in the allocation's order.
    """
    values = list(to_rational(np.asarray(solution, float)))
    smallest = smallest_singular_value(
        partial(_balls, instance, values) if _is_analytic(instance) else jacobian(instance, values)
    )
    return smallest, relative_condition(instance, values, smallest)


def _is_analytic(instance: Instance) -> bool:
    return instance.problem.network.equations_are == "analytic"


def _balls(instance: Instance, values: Sequence[fmpq]) -> arb_mat:
    """The derivative in balls of the precision set."""
    return ActivationBallSystem(instance).jacobian([arb(v) for v in values])


def _labels(instance: Instance) -> Sequence[Any]:
    """The teacher's labels, in rationals or in balls."""
    found = ActivationBallSystem(instance).labels if _is_analytic(instance) else instance.exact[2]
    return list(found.flat)


def _down(x: arb) -> float:
    return math.nextafter(float(x.lower()), 0.0)


def _up(x: arb) -> float:
    return math.nextafter(float(x.upper()), math.inf)


@dataclass(frozen=True)
class _Dual:
    """a + bε with ε² = 0."""

    value: Any
    slope: Any

    def __add__(self, other: Any) -> _Dual:
        return _Dual(self.value + _value(other), self.slope + _slope(other))

    __radd__ = __add__

    def __mul__(self, other: Any) -> _Dual:
        if isinstance(other, (bool, np.bool_)):
            other = int(other)
        slope = self.slope * _value(other) + self.value * _slope(other)
        return _Dual(self.value * _value(other), slope)

    __rmul__ = __mul__

    def __gt__(self, other: Any) -> bool:
        return bool(self.value > other)


def _value(x: Any) -> Any:
    return x.value if isinstance(x, _Dual) else x


def _slope(x: Any) -> Any:
    return x.slope if isinstance(x, _Dual) else fmpq(0)
