r"""Matches that always exist, and labels that no student reaches, for every allocation.

**Everything learns.**  Where every weight that exists learns, the teacher is a student: MP = 1.

**Only the read-out learns.**  Let the weights that learn be in D and e, and let their Jacobian have
the generic rank ρ of the whole network.  Then MP = 1.  *Proof.*  For fixed other weights the
students' labels are an affine space L of dimension ρ.  Near a generic point the labels of all
networks are a manifold of dimension ρ that contains an open part of L; so labels of teachers
nearby lie in L.  "Lies in L" are linear equations in the teacher's labels, which are analytic
in its weights: they hold for all teachers. ∎

**An output that cannot follow.**  Let nothing learn in row k of D, nor e_k, where some unit that
this row reads is not always silent.  Where φ is bounded by β, a student's label differs from e_k by
at most β Σ_j |D_kj|, which is as small as one likes with positive probability, while the
teacher's differs from e_k by more.  Where φ ≥ β only (softplus, polynomials of even degree), let
D_kj > 0 be small instead: the student's label is at least e_k − |β| Σ_j D_kj, the teacher's, whose
read-out has either sign, is smaller with positive probability.  States of units that leak are
sums of values with weights α (1 − α)^k, at most 1 together: bounded likewise, where the student's
leaks do not learn.  So MP < 1, for laws with a density
positive near 0; other weights of the student do not matter.  (φ ≤ β: mirrored.)
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from algebra.linalg.modular import random_points
from algebra.networks.activated import ActivatedNetwork
from algebra.networks.activation import Activation
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.ranks.jacobian import all_cells, columns_at, random_point


def everything_learns(allocation: Allocation, support: Mapping[str, np.ndarray]) -> bool:
    """Whether every weight that exists learns."""
    return set(all_cells(allocation.network, support)) <= set(allocation.cells)


def has_full_support(problem: Problem) -> bool:
    """Whether every real weight and sample can be drawn."""
    law = problem.distribution
    return {law.weights, law.inputs, law.teacher} == {"normal"}


def is_one_sided(activation: Activation) -> bool:
    """Whether values of φ are bounded from below or from above.

    Examples
    --------
    >>> is_one_sided(Activation.read("softplus"))
    True
    >>> is_one_sided(Activation.read({"polynomial": [0, 0, 0, 1]}))
    False
    """
    if activation.is_polynomial:
        return activation.degree % 2 == 0
    return activation.bounds != (None, None)


def stuck_output(
    network: ActivatedNetwork,
    allocation: Allocation,
    support: Mapping[str, np.ndarray],
    seed: int,
) -> int | None:
    """A row of the read-out that cannot reach all labels: see the module; None if there is none."""
    if not is_one_sided(network.activation):
        return None
    return next(
        (row for row in range(network.d) if is_stuck(network, allocation, support, row, seed)), None
    )


def is_stuck(
    network: ActivatedNetwork,
    allocation: Allocation,
    support: Mapping[str, np.ndarray],
    row: int,
    seed: int,
) -> bool:
    """Whether nothing of this output learns, and it reads a unit that is not always silent.

    A value that is not 0 at a random point shows that the unit is not silent.
    """
    read = (network.output, network.output_bias)
    if any((name in read and i == row) or name in network.rates for name, i, _ in allocation.cells):
        return False
    cells = [c for c in all_cells(network, support) if c[0] == network.output and c[1] == row]
    point = random_point(network, *next(random_points(f"stuck/{seed}")), support)
    return bool(cells) and bool(columns_at(network, point, cells).any())
