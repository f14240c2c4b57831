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

**Networks with activations.**  The same with Krawczyk's test for these
(`numeric.families.activations`).

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

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from algebra.errors import InputError
from algebra.families.registry import family_of
from algebra.linalg.numbers import nearest_double
from algebra.networks.base import Network
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from numeric.certification.constraints import ConstrainedCounts, box_of
from numeric.certification.krawczyk import REAL, Certified, RootPool
from numeric.certification.pool import certified_pool
from numeric.engines.plans import rank_plan
from numeric.equations.arrays import residuals
from numeric.equations.chain import Chain, make_chain
from numeric.families.activations.krawczyk import enclose
from numeric.plugins.relu.decide import witness_at
from numeric.programs.losses import Loss
from numeric.programs.students import Students
from numeric.trials.counts import UNDETERMINED, InstanceCount
from numeric.trials.instances import Instance

# Newton steps from an end, and the number of steps whose convergence is checked.
_NEWTON = 12
_CHECKED = 5
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


class IsolatedArrivals(ABC):
    """Tests of the runs of one allocation whose matches are isolated once a part is solved for.

    Parameters
    ----------
    allocation : Allocation
        All learnable weights.
    part : Allocation
        The part that is solved for: of full rank, with as many weights as equations.
    """

    def __init__(self, allocation: Allocation, part: Allocation) -> None:
        self.allocation, self.part = allocation, part
        place = {cell: k for k, cell in enumerate(allocation.cells)}
        self._solved = np.array([place[cell] for cell in part.cells])
        self._is_whole = part.size == allocation.size

    def known(self, instance: Instance, solutions: Sequence[Sequence[float]]) -> RootPool | None:
        """The certified solutions of an instance, an argument of `arrival`; None without a list."""
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
        # A student whose surplus weights are those of the end.
        weights = instance.weights if self._is_whole else instance.with_weights(end)
        part = replace(instance, weights=weights, allocation=self.part)
        try:
            match = self._match(part, end[self._solved], known)
        except InputError:  # a special instance: its samples are dependent
            return None
        if match is None:
            return None
        solved = end.copy()
        solved[self._solved] = match.weights
        return replace(match, weights=solved)

    @abstractmethod
    def _match(self, instance: Instance, end: np.ndarray, known: RootPool | None) -> Arrival | None:
        """The match of an instance of the part near an end."""


class ChainArrivals(IsolatedArrivals):
    """The tests for networks that are chains of matrices.

    Parameters
    ----------
    allocation, part : Allocation
        See `IsolatedArrivals`.
    support : mapping of str to ndarray

    Raises
    ------
    InputError
        If the part gives no square system: the allocation is minimal.
    """

    def __init__(
        self, allocation: Allocation, part: Allocation, support: Mapping[str, np.ndarray]
    ) -> None:
        super().__init__(allocation, part)
        self._chain: Chain = make_chain(part, support)

    def known(self, instance: Instance, solutions: Sequence[Sequence[float]]) -> RootPool | None:
        """The certified solutions of an instance, an argument of `arrival`."""
        if not self._is_whole or not len(solutions):
            return None
        try:
            return certified_pool(self._chain, instance, np.array(solutions))
        except InputError:
            return None

    def _match(self, instance: Instance, end: np.ndarray, known: RootPool | None) -> Arrival | None:
        parameters = self._chain.parameters(instance)
        zero = _newton_limit(lambda x: residuals(self._chain, parameters, x[None]), end)
        if zero is None:
            return None
        pool = certified_pool(self._chain, instance, zero[None], most_bits=_MOST_BITS)
        if not len(pool):
            return None
        number = None
        if known is not None and len(known):
            owner = int(known.owners(Certified(np.array([REAL]), pool.roots, pool.radii))[0])
            number = owner if owner >= 0 else None
        if number is None and instance.problem.constraints and not self._obeys(instance, pool):
            return None
        return Arrival(pool.roots[0].real, number)

    def _obeys(self, instance: Instance, pool: RootPool) -> bool:
        """Whether a match that is not listed provably satisfies the constraints."""
        one = InstanceCount(
            instance.index, 1, None, UNDETERMINED, solutions=(tuple(pool.roots[0].real),)
        )
        rules = ConstrainedCounts(self._chain.allocation, instance.problem.support, searching=True)
        return bool(rules.obeying(one, instance, box_of(instance)).real)


class ActivationArrivals(IsolatedArrivals):
    """The tests for networks with activations; constraints are tested on the enclosure."""

    def _match(self, instance: Instance, end: np.ndarray, known: RootPool | None) -> Arrival | None:
        loss = Loss(Students.of([instance]))
        zero = _newton_limit(lambda x: loss.jacobian(x[None]), end)
        box = None if zero is None else enclose(instance, zero)
        if box is None:
            return None
        rules = box_of(instance) if instance.problem.constraints else {}
        balls = dict(zip(instance.allocation.cells, box.balls, strict=True))
        for cell in balls.keys() & rules.keys():
            low, high = rules[cell].low, rules[cell].high
            if (low is not None and not balls[cell] >= low) or (
                high is not None and not balls[cell] <= high
            ):
                return None
        return Arrival(box.middle)


def _newton_limit(
    function: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]], end: np.ndarray
) -> np.ndarray | None:
    """The limit of Newton's method from a point, if it converges at once.

    `function` maps a point (r,) to residuals (1, r) and their derivatives (1, r, r).
    """
    path = [end]
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(_NEWTON):
            F, J = function(path[-1])
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
        values = witness_at(instance, [end])
        if values is None:
            return None
        return Arrival(np.array([nearest_double(v) for v in values]))


Arrivals = IsolatedArrivals | ReluArrivals


def check_trainable(network: Network) -> None:
    """Reject networks at whose matches an arrival cannot be proved.

    Raises
    ------
    InputError
    """
    if network.chain() is None and family_of(network).name not in ("relu", "activations"):
        raise InputError(
            "train supports chains of matrices, shallow ReLU nets and networks with activations, "
            f"not a {network.title} network"
        )


def arrivals_of(problem: Problem, allocation: Allocation) -> Arrivals | None:
    """The tests of an allocation's runs; None if it has no matches that can be isolated."""
    if family_of(problem.network).name == "relu":
        return ReluArrivals()
    plan = rank_plan(problem, allocation, within_reach=False)
    if plan.is_minimal:
        return None
    if problem.network.chain() is None:
        return ActivationArrivals(allocation, plan.allocation)
    try:
        return ChainArrivals(allocation, plan.allocation, problem.support)
    except InputError:
        return None
