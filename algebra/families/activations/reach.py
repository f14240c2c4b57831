r"""Allocations whose matches always exist, and labels that no student reaches.

**Everything learns.**  If every weight that exists learns, the teacher is a student: MP = 1.

**The read-out suffices.**  If the learning weights of D and e have the generic rank ρ of the whole
network, then MP = 1, whatever else learns.  *Proof.*  For fixed other weights the students' labels
are an affine space L of dimension ρ.  Near a generic point the labels of all networks are a
manifold of dimension ρ that contains an open part of L; so labels of teachers nearby lie in L.
"Lies in L" is a system of linear equations in the teacher's labels, which are analytic in its
weights: they hold for all teachers.  The other learnable weights may keep their values. ∎

**An output that cannot reach all labels** (a *stuck* output).  Let Λ be the learning weights of row
k of D, and e_k, M the number of label columns, and |Λ| less than the rank of the M columns that row
k can read (its units, and 1 for a bias e_k); if Λ is empty, some unit that this row reads is not
identically 0. If Λ is not empty, let no unit whose weight is in Λ depend on a learnable weight.  If
φ is bounded by β, then MP < 1.  *Proof.*  Let P project R^M along the columns of Λ's units (and of
1, if e_k is in Λ): they depend on fixed weights and X alone and span at most |Λ| dimensions.  A
student's P y_k differs from P e_k by at most β √M Σ_{j ∉ Λ} |D_kj|, which is arbitrarily small with
positive probability, whatever the other weights are.  The teacher's P y_k differs from it by more:
the teacher's row D_k is drawn, its contributions have a rank above |Λ|, and so y_k − e_k is not in
the span except for a null set of rows. ∎  (If D_kj are measured, they are not small, but the
teacher's row is arbitrarily large: its law must be unbounded.)  Signs change nothing: D_kj may be
small with either sign, and a null set of rows is one in every orthant.

If only φ ≥ β (softplus, polynomials of even degree) and Λ is empty, let D_kj > 0 be small: the
student's label is at least e_k − |β| Σ_j D_kj, and the teacher's, whose read-out has either sign,
is smaller with positive probability.  So MP < 1, for laws with a density positive near 0 and
read-outs without signs and measured weights.  (φ ≤ β: with the opposite sign.)  States of leaking
units are sums of values with weights α (1 − α)^k, whose sum is at most 1: they are bounded
likewise, if the student's leaks do not learn.
"""

from __future__ import annotations

from algebra.certificates.premises import GENERIC_LABELS, NEARBY, UPDATES
from algebra.certificates.verdicts import INTERMEDIATE
from algebra.linalg.modular import modular_rank, random_points
from algebra.networks.activated import ActivatedNetwork
from algebra.networks.activation import Activation
from algebra.networks.base import Support
from algebra.problems.allocation import Allocation
from algebra.problems.features import Feature, Premises
from algebra.problems.laws.values import given_numbers
from algebra.problems.problem import Problem
from algebra.programs.leaks import NO_LEAK
from algebra.ranks.jacobian import all_cells, columns_at, random_point

_SMALL = "the weights of an output may be small, and a teacher's larger"
STUCK_OUTPUT = Premises(
    "stuck_output",
    INTERMEDIATE,
    {
        **NEARBY,
        **UPDATES,
        Feature.BOUNDED: _SMALL,
        Feature.BOUNDED_NONLINEAR: _SMALL,
        Feature.SIGNS: "the weights may be small with either sign; null sets are null in orthants",
        Feature.EXACT: "the teacher's row is arbitrarily large",
        Feature.ARBITRARY_LABELS: GENERIC_LABELS,
        Feature.POLYNOMIAL: "polynomials of even degree are bounded on one side",
        Feature.ANALYTIC: "only the bounds of the activation are used",
    },
)


def is_bounded(activation: Activation) -> bool:
    """Whether values of φ are bounded on both sides.

    Examples
    --------
    >>> [is_bounded(Activation.read(name)) for name in ("tanh", "sigmoid", "softplus")]
    [True, True, False]
    """
    return not activation.is_polynomial and None not in activation.bounds


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


def read_out_part(problem: Problem) -> Allocation:
    """The learning weights in D and e, in which the labels are affine."""
    network, cells = problem.network, problem.allocation.cells
    return Allocation.from_cells(network, [c for c in cells if network.affine_in((c[0],))])


def stuck_output(problem: Problem, moving: Allocation, seed: int) -> int | None:
    """A row of the read-out that is stuck: see the module; None if none is known.

    Parameters
    ----------
    problem : Problem
        A problem of a network with activations.
    moving : Allocation
        The weights that move.
    seed : int
        It determines a random point.
    """
    network = problem.network
    assert isinstance(network, ActivatedNetwork)
    if not STUCK_OUTPUT.applies(problem.features):
        return None
    return next((row for row in range(network.d) if is_stuck(problem, moving, row, seed)), None)


def is_stuck(problem: Problem, moving: Allocation, row: int, seed: int) -> bool:
    """Whether a row of the read-out is stuck: see the module.

    Ranks at a random point are lower bounds of generic ones, also for which values are not 0, if
    the activation's formal values are independent.
    """
    network, support, law = problem.network, problem.support, problem.distribution
    assert isinstance(network, ActivatedNetwork)
    activation = network.activation
    if not is_one_sided(activation):
        return False
    if any(name in network.rates for name, _, _ in moving.cells):
        return False
    read = (network.output, network.output_bias)
    learning = [cell for cell in moving.cells if cell[0] in read and cell[1] == row]
    cells = [c for c in all_cells(network, support) if c[0] == network.output and c[1] == row]
    if not is_bounded(activation):
        signs = law.masks.get(network.output)
        signed = signs is not None and bool(signs[row].any())
        if learning or signed or any(cell in problem.values.numbers for cell in cells):
            return False
    if learning:
        moved = moved_units(network, moving, support)
        if not network.ranks_are_exact(support) or any(
            name == network.output and j in moved for name, _, j in learning
        ):
            return False
        cells += [(name, row, 0) for name in read[1:] if name is not None]
    given = given_numbers(support)
    point = random_point(network, *next(random_points(f"stuck/{seed}", given=given)), support)
    if not cells:
        return False
    columns = columns_at(network, point, cells).reshape(network.d, network.columns, -1)[row]
    if not learning:
        return bool(columns.any())
    return modular_rank(columns, point.p) > len(learning)


def moved_units(network: ActivatedNetwork, moving: Allocation, support: Support) -> set[int]:
    """Units that the read-out can read and that may depend on moving weights."""
    exists: dict[str, set[tuple[int, int]]] = {name: set() for name in network.shapes}
    for name, i, j in all_cells(network, support):
        exists[name].add((i, j))
    own = {(name, i) for name, i, _ in moving.cells}
    moved: set[int] = set()
    for stage in network.stages():
        sending = moved | {j for j in range(network.shapes[stage.matrix][1])
                           if stage.drive is not None and (network.encoder, j) in own}  # fmt: skip
        if network.has_currents:
            columns = (stage.matrix, stage.bias, network.encoder, *network.unit_columns)
            moved |= {i for name, i in own if name in columns}
            sending = moved
        keeps = network.reads_all or network.leak != NO_LEAK or network.has_currents
        before = moved if keeps else set()
        moved = before | {i for i, j in exists[stage.matrix] if j in sending}
        moved |= {i for name, i in own if name in (stage.matrix, stage.bias)}
    return moved
