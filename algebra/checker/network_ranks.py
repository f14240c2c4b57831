"""Ranks of networks of every kind, in arrays: at the points of a file, and at new ones.

* Jacobians are compared with forward-mode derivatives (dual numbers) in random directions; ranks
  are computed by the verifier's own elimination (`algebra.checker.new_points`).
* A rank deficit is tested at new random primes and points.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import fmpq

from algebra.checker.checks import PROBABLE, PROVED, CheckFailed
from algebra.checker.fields import RefusedAt
from algebra.checker.new_points import own_rank, rank_again
from algebra.checker.points import RankClaim
from algebra.checker.rank_claims import (
    EvidenceOnRanks,
    JacobianColumns,
    RankChecker,
    enough_columns,
)
from algebra.linalg.modular import matmul
from algebra.linalg.ranks import modular_rank
from algebra.linalg.residues import random_residues
from algebra.networks.base import Cell, Network, Point, Support
from algebra.networks.protocols import jacobian_of
from algebra.problems.laws.pinned import pins, residue
from algebra.problems.problem import Problem
from algebra.ranks.derivatives import dual_derivative
from algebra.ranks.jacobian import (
    all_cells,
    at_enough_samples,
    base_of,
    jacobian,
    random_point,
    tangent_factors,
)

if TYPE_CHECKING:
    from algebra.ranks.minors import Minor

Matrices = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class ArguedEvidence:
    """The evidence of a certificate.

    Attributes
    ----------
    ranks : EvidenceOnRanks
        With N, if the file has it.
    minor : Minor or None
        A regular minor.
    pattern : int or None
        The number of the point whose piece the ranks are of.
    upper_bounds : bool
        Whether the file says that the ranks are only upper bounds.
    argument : Argument or None
        Besides N.
    value : object
        The evidence of the argument.
    """

    ranks: EvidenceOnRanks
    minor: Minor | None = None
    pattern: int | None = None
    upper_bounds: bool = False
    argument: Any = None
    value: Any = None


def context_of(problem: Problem) -> dict[str, Any]:
    """The context in which evidence on a problem is read.

    No point of a file has the parameters of updates, which are 0 there; a minor may be one of them.
    """
    return {"problem": problem, "network": base_of(problem.network), "moved": problem}


def why_generic(problem: Problem, is_minimal: bool, seed: object) -> str:
    """Why ranks at random points are the generic ones; "" if they may be upper bounds only.

    Parameters
    ----------
    problem : Problem
    is_minimal : bool
        Whether it is the network's rank that is to be attained; otherwise the student's, and if its
        pre-activations contain given numbers, the values at them need not be independent.
    seed : object
        As for `Network.why_exact`.
    """
    why = problem.network.why_exact(problem.support, seed)
    is_analytic = problem.network.equations_are == "analytic"
    return "" if is_analytic and not is_minimal and pins(problem.student()) else why


def point_of(claim: RankClaim, problem: Problem, support: Support) -> Point:
    """The witness of a claim, with the structural zeros and the exact numbers of the problem.

    Parameters
    ----------
    claim : RankClaim
    problem : Problem
    support : mapping of str to mask
        With which the random point is drawn.

    Raises
    ------
    CheckFailed
        If the file gives a point with others.
    """
    (p, number), given = claim.witness, claim.witness_point
    with RefusedAt(f"{claim.place}.witness"):
        numbers = {cell: residue(p)(rational(value)) for cell, value in pins(support).items()}
    if given is None:
        return random_point(base_of(problem.network), p, number, support)
    weights = {name: np.array(value, np.int64) for name, value in given.weights.items()}
    at = f"{claim.place}.witness_point.weights"
    need_support(weights, problem, at)
    need_numbers(weights, numbers, at)
    return Point(p, number, weights, np.array(given.X, np.int64))


def need_numbers(matrices: Matrices, numbers: Mapping[Cell, Any], place: str) -> None:
    """Weights with exact numbers must have these.

    Raises
    ------
    CheckFailed
    """
    for (name, i, j), value in numbers.items():
        if matrices[name][i, j] != value:
            raise CheckFailed(f"{place}.{name}[{i}][{j}]", f"is not {value}, as in [values]")


def need_support(matrices: Matrices, problem: Problem, place: str) -> None:
    """Weights that do not exist must be 0.

    Raises
    ------
    CheckFailed
    """
    for name, mask in problem.support.items():
        if any(v != 0 for v in matrices[name][np.asarray(mask) == 0]):
            raise CheckFailed(f"{place}.{name}", f"is not 0 outside support.{name}")


def rational(value: Fraction) -> fmpq:
    """The same number for FLINT."""
    return fmpq(value.numerator, value.denominator)


@dataclass(frozen=True)
class NetworkColumns(JacobianColumns):
    """Columns of the Jacobian of a network.

    Attributes
    ----------
    network : Network
    cells : sequence of cells
    support : mapping of str to mask
        A student's with its exact numbers.
    problem : Problem
        That of the file, whose points are meant.
    """

    network: Network
    cells: Sequence[Cell]
    support: Support
    problem: Problem

    @property
    def size(self) -> int:
        return len(self.cells)

    @property
    def most(self) -> int:
        return jacobian_of(self.network).label_dimension_bound

    def rank_at(self, claim: RankClaim, seed: int) -> int:
        point = point_of(claim, self.problem, self.support)
        if not self.cells:
            return 0
        network, cells = self.network, list(self.cells)
        # Parameters of updates are those of the point itself: differences of 0.
        missing = network.shapes.keys() - point.weights.keys()
        zeros = {name: np.zeros(network.shapes[name], np.int64) for name in missing}
        point = replace(point, weights={**zeros, **point.weights})
        network, point = at_enough_samples(network, point, len(cells))
        p = point.p
        names = sorted({cell[0] for cell in cells})
        chosen = enough_columns(cells, claim.rank, seed)
        matrix = jacobian(tangent_factors(network, point, names), chosen, p)
        _compare_derivatives(
            matrix, p, claim.place, seed, lambda step: dual_derivative(network, point, chosen, step)
        )
        found = own_rank(matrix, p)
        if found < claim.rank and len(chosen) < len(cells):
            found = modular_rank(jacobian(tangent_factors(network, point, names), cells, p), p)
        return found

    def rank_again(self, upper: int | None, seed: int) -> tuple[int, Fraction]:
        return rank_again(self.network, self.cells, self.support, upper, seed)


def _compare_derivatives(
    matrix: np.ndarray, p: int, place: str, seed: int, along: Callable[[np.ndarray], np.ndarray]
) -> None:
    """Compare the Jacobian times random directions with forward-mode derivatives."""
    rng = random.Random(f"directions/{seed}")
    for _ in range(3):
        step = random_residues((matrix.shape[1],), p, rng)
        if not np.array_equal(matmul(matrix, step[:, None], p)[:, 0], along(step).ravel()):
            raise CheckFailed(place, "the Jacobian differs from forward-mode derivatives")


class NetworkRankChecker(RankChecker):
    """The checks of one claim on a network of any kind."""

    problem: Problem
    minor: Minor | None = None

    @property
    def whole(self) -> NetworkColumns:
        network, support = self.problem.network.anywhere(), self.problem.support
        return NetworkColumns(network, all_cells(network, support), support, self.claim.problem)

    @property
    def learning(self) -> NetworkColumns:
        problem = self.problem
        cells = problem.allocation.cells
        return NetworkColumns(problem.network, cells, problem.student(), self.claim.problem)

    def _regular(
        self, network: Network, cells: Collection[Cell], support: Mapping[str, np.ndarray]
    ) -> None:
        """The regular minor proves that the rank is at least the number of equations."""
        from algebra.checker.minors import check_minor

        assert self.minor is not None
        check_minor(self.minor, network, self.claim, cells, support)
        text = f"regular in ball arithmetic: rank at least {self.claim.equations}"
        self.say("evidence.regular_minor", PROVED, text)

    def _known_by_minor(self, known: str) -> str:
        """Status of ρ: at most by new formal points or by counting, at least by the minor."""
        if self.minor is None:
            return known
        is_most = self.claim.equations == self.learning.most
        return PROVED if is_most else PROBABLE
