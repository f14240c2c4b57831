r"""Whether a run ended at a match, decided by certification and not by a small error.

**Chains of matrices.**  A run has found a match if Newton's method, started at its end, converges
at once to a certified solution ζ: the end is an approximate zero in Smale's sense,

    ‖x_k − ζ‖ ≤ (1/2)^(2^k − 1) ‖x_0 − ζ‖   for k = 1, 2, …

[1]_.  The inequalities are checked in doubles for the first five steps, down to rounding error;
that ζ is a solution, real and the only one in its disc, is proved (Krawczyk's test, in
balls where doubles do not suffice).  So the match was found by the run, not by Newton's method:
from a point far from ζ the first steps do not reduce the distance at this rate.  (Equations that
are linear in the learnable weights are an exception: Newton's first step solves them from every
point, and every run counts as successful.)

With more weights than equations matches are not isolated: the surplus weights are fixed at their
final values, and the others must lie in Newton's basin of a certified solution of the remaining
system.

**Shallow ReLU nets.**  A run has found a match if the activation pattern of its end has an exact
witness: rational weights in the closure of that cell that reproduce the labels.  (If a pattern
leaves weights free one solution of its equations is tried, so that a witness may be missed.)

Training does not use constraints on the weights; a match that violates them does not count.

References
----------
.. [1] L. Blum, F. Cucker, M. Shub, S. Smale, *Complexity and Real Computation*, Springer 1998,
   chapter 8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from algebra.errors import InputError
from algebra.linalg.rational import nearest_double
from algebra.problems.allocation import Allocation
from algebra.relu.equations import relu_system
from numeric.certification.constraints import ConstrainedCounts, box_of
from numeric.certification.krawczyk import REAL, Certified, RootPool
from numeric.certification.pool import certified_pool
from numeric.chains.arrays import residuals
from numeric.chains.chain import Chain, make_chain
from numeric.counts import UNDETERMINED, InstanceCount
from numeric.instances import Instance

# Newton steps from an end, and the number of steps whose convergence is checked.
_NEWTON, _CHECKED = 12, 5
# Distances relative to the size of a solution that are rounding error.
_FLOOR = 1e-9
_MOST_BITS = 256


@dataclass(frozen=True)
class Arrival:
    """The match at which a run ended.

    Attributes
    ----------
    weights : ndarray of float, shape (r,)
        The match, rounded.
    number : int or None
        Its index among the instance's listed solutions; None if these are not all known.
    """

    weights: np.ndarray
    number: int | None = None


class ChainArrivals:
    """Tests of the runs of one allocation, for networks that are chains.

    Parameters
    ----------
    allocation : Allocation
        All learnable weights.
    part : Allocation
        The part that is solved for: of full rank, with as many weights as equations.
    support : mapping of str to ndarray

    Raises
    ------
    InputError
        If the part gives no square system: the allocation is minimal.
    """

    def __init__(
        self, allocation: Allocation, part: Allocation, support: Mapping[str, np.ndarray]
    ) -> None:
        self.allocation = allocation
        self._chain: Chain = make_chain(part, support)
        place = {cell: k for k, cell in enumerate(allocation.cells)}
        self._solved = np.array([place[cell] for cell in part.cells])
        self._is_whole = part.size == allocation.size

    def known(self, instance: Instance, solutions: Sequence[Sequence[float]]) -> RootPool | None:
        """The certified solutions of an instance, an argument of `arrival`."""
        if not self._is_whole or not len(solutions):
            return None
        try:
            return certified_pool(self._chain, instance, np.array(solutions))
        except InputError:
            return None

    def arrival(
        self, instance: Instance, end: np.ndarray, known: RootPool | None = None
    ) -> Arrival | None:
        """The match at which a run ended, or None.

        Parameters
        ----------
        instance : Instance
        end : ndarray, shape (r,)
            Learnable weights.
        known : RootPool, optional
            The instance's certified solutions.
        """
        if not np.isfinite(end).all():
            return None
        if not self._is_whole:
            # A student whose surplus weights are those of the end.
            instance = replace(instance, weights=instance.with_weights(end))
        try:
            parameters = self._chain.parameters(instance)
            zero = self._newton(parameters, end[self._solved])
            if zero is None:
                return None
            part = replace(instance, allocation=self._chain.allocation)
            pool = certified_pool(self._chain, part, zero[None], most_bits=_MOST_BITS)
        except InputError:  # a special instance: its samples are dependent
            return None
        if not len(pool):
            return None
        weights = end.copy()
        weights[self._solved] = pool.roots[0].real
        number = None
        if known is not None and len(known):
            owner = int(known.owners(Certified(np.array([REAL]), pool.roots, pool.radii))[0])
            number = owner if owner >= 0 else None
        if number is None and instance.problem.constraints and not self._obeys(instance, pool):
            return None
        return Arrival(weights, number)

    def _obeys(self, instance: Instance, pool: RootPool) -> bool:
        """Whether a match that is not listed certainly satisfies the constraints."""
        one = InstanceCount(
            instance.index, 1, None, UNDETERMINED, solutions=(tuple(pool.roots[0].real),)
        )
        rules = ConstrainedCounts(self._chain.allocation, instance.problem.support, searching=True)
        box = box_of(instance)
        part = replace(instance, allocation=self._chain.allocation)
        return bool(rules.obeying(one, part, box).real)

    def _newton(self, parameters: np.ndarray, end: np.ndarray) -> np.ndarray | None:
        """The limit of Newton's method from a point, if it converges at once."""
        path = [end]
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(_NEWTON):
                F, J = residuals(self._chain, parameters, path[-1][None])
                try:
                    step = np.linalg.solve(J[0], F[0])
                except np.linalg.LinAlgError:
                    return None
                path.append(path[-1] - step)
                size = np.linalg.norm(path[-1])
                if not np.isfinite(size):
                    return None
                if np.linalg.norm(step) <= 1e-14 * size:
                    break
        zero = path[-1]
        floor = _FLOOR * (np.linalg.norm(zero) + 1e-300)
        distances = [float(np.linalg.norm(x - zero)) for x in path]
        for k in range(1, min(_CHECKED, len(path) - 1) + 1):
            if distances[k] > max(0.5 ** (2**k - 1) * distances[0], floor):
                return None
        return zero


class ReluArrivals:
    """Tests of runs of shallow ReLU nets."""

    def known(self, instance: Instance, solutions: Sequence[Sequence[float]]) -> None:
        """No list of their matches is used."""

    def arrival(
        self, instance: Instance, end: np.ndarray, known: RootPool | None = None
    ) -> Arrival | None:
        """The match in the cell where a run ended, or None; see `ChainArrivals.arrival`."""
        if not np.isfinite(end).all():
            return None
        system = relu_system(instance.allocation, *instance.exact)
        student = instance.with_weights(end)
        active = (student["W1"] @ instance.X > 0)[list(system.units)]
        values = system.solve_pattern(active, np.zeros(active.shape, bool))
        if values is None:
            return None
        box = box_of(instance) if instance.problem.constraints else {}
        cells = instance.allocation.cells
        if not all(v in box[c] for c, v in zip(cells, values, strict=True) if c in box):
            return None
        return Arrival(np.array([nearest_double(v) for v in values]))
