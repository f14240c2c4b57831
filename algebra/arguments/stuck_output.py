r"""Labels that no student reaches: an output that reads bounded values.

Let the labels be read out by a last matrix D, and perhaps a bias e (`algebra.programs.read_out`):
y_k = Σ_j D_kj z_j + e_k.

**Theorem.** Let Λ be the learning weights of row k of D, and e_k; M the number of label columns;
and |Λ| less than the rank of the M columns that row k can read (its units, and 1 for a bias e_k).
If Λ is empty, let some unit that this row reads not be identically 0; otherwise let no unit whose
weight is in Λ depend on a learnable weight.  If the values z are bounded by β for all weights and
samples (`algebra.programs.ranges`), then MP < 1.

*Proof.* Let P project R^M along the columns of Λ's units (and of 1, if e_k is in Λ): they depend on
fixed weights and X alone and span at most |Λ| dimensions.  A student's P y_k differs from P e_k by
at most β √M Σ_{j ∉ Λ} |D_kj|, which is arbitrarily small with positive probability, whatever the
other weights are.  The teacher's P y_k differs from it by more: the teacher's row D_k is drawn, its
contributions have a rank above |Λ|, and so y_k − e_k is not in the span except for a null set of
rows. ∎  (If D_kj are measured, they are not small, but the teacher's row is arbitrarily large: its
law must be unbounded.)  Signs change nothing: D_kj may be small with either sign, and a null set of
rows is one in every orthant.

If only z ≥ β (softplus, polynomials of even degree) and Λ is empty, let D_kj > 0 be small: the
student's label is at least e_k − |β| Σ_j D_kj, and the teacher's, whose read-out has either sign,
is smaller with positive probability.  So MP < 1, for laws with a density positive near 0 and
read-outs without signs and measured weights.  (z ≤ β: with the opposite sign.)  States of leaking
units are sums of values with weights α (1 − α)^k, whose sum is at most 1: they are bounded
likewise, if the student's leaks do not learn.

Such an output is called *stuck*.

*Survey*: of the first 240 nets of `benchmarks/bench_undecided.py`, which are linear, it decides
none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from algebra.arguments.argument import Argument, Claimed, FoundEvidence
from algebra.checker.checks import PROVED, CheckFailed
from algebra.checker.premises import GENERIC_LABELS, NEARBY, UPDATES
from algebra.checker.verdicts import INTERMEDIATE
from algebra.declarations import Count
from algebra.linalg.primes import random_points
from algebra.linalg.ranks import modular_rank
from algebra.networks.base import Cell
from algebra.problems.laws.pinned import given_numbers
from algebra.problems.premises import Feature, Premises
from algebra.problems.problem import Problem
from algebra.programs.presence import presence
from algebra.programs.ranges import UNIT, Range, ranges
from algebra.programs.read_out import ReadOut, read_out
from algebra.ranks.jacobian import columns_at, random_point
from algebra.ranks.parametrized import by_updates

if TYPE_CHECKING:
    from algebra.arguments.case import Case

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
        Feature.ANALYTIC: "only the bounds of the values that are read are used",
    },
)


@dataclass(frozen=True, eq=False)
class BoundedReading:
    """What the outputs of a problem read.

    Attributes
    ----------
    read : ReadOut
    range : Range
        Of the values that the outputs read, for all weights and samples.
    moved : ndarray of bool
        The units that may depend on a weight that moves.
    exists : dict of str to ndarray of bool
        The weights that exist, by block of the program, as one axis.
    """

    read: ReadOut
    range: Range
    moved: np.ndarray
    exists: dict[str, np.ndarray]


def reading(problem: Problem) -> BoundedReading | None:
    """What the outputs read, if it is bounded on a side; None otherwise."""
    network, moving = problem.network, problem.learning.moving
    program = network.program()
    found = read_out(program)
    if found is None:
        return None
    learns = {name: np.asarray(mask) != 0 for name, mask in moving.masks.items()}
    nodes = [node for node, _ in found.values]
    # Leaks that do not learn are between 0 and 1.
    rates = {name: UNIT for name in network.rates if not learns[name].any()}
    known = ranges(program, nodes, rates, network.function_bounds)
    total = known[nodes[0]]
    for node in nodes[1:]:
        total = total.hull(known[node])
    if total.low is None and total.high is None:
        return None
    shapes = program.weights
    exists = {
        name: np.asarray(problem.support.get(name, np.ones(network.shapes[name]))) != 0
        for name in network.shapes
    }
    there = presence(
        program,
        {name: mask.reshape(shapes[name]) for name, mask in exists.items()},
        {name: mask.reshape(shapes[name]) for name, mask in learns.items()},
        network.vanishes_at_zero,
        nodes,
    )
    moved = np.zeros(found.weights.shape[1], bool)
    for node, entries in found.values:
        moved |= there[node].moves.ravel()[entries].any(axis=1)
    return BoundedReading(
        found, total, moved, {name: mask.ravel() for name, mask in exists.items()}
    )


def stuck_output(problem: Problem, seed: int) -> int | None:
    """A row of the read-out that is stuck: see the module; None if none is known.

    Parameters
    ----------
    problem : Problem
    seed : int
        It determines a random point.
    """
    if not STUCK_OUTPUT.applies(problem.features):
        return None
    found = reading(problem)
    if found is None:
        return None
    rows = range(len(found.read.weights))
    return next((row for row in rows if is_stuck(problem, found, row, seed)), None)


def is_stuck(problem: Problem, found: BoundedReading, row: int, seed: int) -> bool:
    """Whether a row of the read-out is stuck: see the module.

    Ranks at a random point are lower bounds of generic ones, also for which values are not 0, if
    the activation's formal values are independent.
    """
    network, read = problem.network, found.read

    def cells_of(name: str, entries: np.ndarray) -> list[Cell]:
        width = network.shapes[name][1]
        own = entries[found.exists[name][entries]]
        return [(name, *divmod(int(entry), width)) for entry in own]

    own = read.weights[row]
    cells = cells_of(read.matrix, own)
    bias = [] if read.bias is None else cells_of(read.bias, read.biases[[row]])  # type: ignore[index]
    moving = set(problem.learning.moving.cells)
    learning = [cell for cell in (*cells, *bias) if cell in moving]
    if not found.range.is_bounded:
        signs = problem.distribution.masks.get(read.matrix)
        signed = signs is not None and bool(signs.ravel()[own].any())
        if learning or signed or any(cell in problem.values.numbers for cell in cells):
            return False
    if learning:
        width = network.shapes[read.matrix][1]
        units = {int(entry): unit for unit, entry in enumerate(own)}
        learned = [units[i * width + j] for name, i, j in learning if name == read.matrix]
        if not network.ranks_are_exact(problem.support) or found.moved[learned].any():
            return False
        cells += bias
    if not cells:
        return False
    given = given_numbers(problem.support)
    point = random_point(
        network, *next(random_points(f"stuck/{seed}", given=given)), problem.support
    )
    derivatives = columns_at(network, point, cells)
    columns = derivatives.reshape(read.labels.size, network.m, -1)[read.labels[row]]
    columns = columns.reshape(-1, len(cells))
    if not learning:
        return bool(columns.any())
    return modular_rank(columns, point.p) > len(learning)


# -- the argument --------------------------------------------------------------------------

PLACE = "evidence.stuck_output"


def limit(row: int) -> str:
    """Why labels are out of reach, in a few words."""
    return f"output {row} cannot match all labels: the values that it reads are bounded on a side"


def search(case: Case) -> FoundEvidence | None:
    """The first output that is stuck; labels that are linear in the samples have no bounds."""
    problem = by_updates(case.problem)
    if problem.network.is_linear:
        return None
    row = stuck_output(problem, case.effort.seed)
    if row is None:
        return None
    return FoundEvidence(INTERMEDIATE, limit(row), row)


def refute_maximal(problem: Problem, seed: int) -> None:
    """Reject "maximal" if some output is stuck: then MP < 1, for every count.

    Raises
    ------
    CheckFailed
    """
    row = stuck_output(by_updates(problem), seed)
    if row is not None:
        raise CheckFailed("verdict", limit(row))


def check(problem: Problem, row: int, claimed: Claimed) -> str:
    """The output reads bounded values, and too few of its weights learn."""
    problem = by_updates(problem)
    found = reading(problem)
    if found is None:
        raise CheckFailed(PLACE, "the values that the outputs read are bounded on no side")
    if row >= len(found.read.weights):
        raise CheckFailed(PLACE, f"{row} is no output")
    if not is_stuck(problem, found, row, claimed.seed):
        raise CheckFailed(
            PLACE, f"output {row} may match all labels, or reads only units that are always 0"
        )
    claimed.say(PLACE, PROVED, limit(row))
    return PROVED


ARGUMENT = Argument(
    name=STUCK_OUTPUT.name,
    form=Count,
    why={
        INTERMEDIATE: "MP < 1: too few weights of output {what} learn, and the values that it "
        "reads are bounded: labels that are larger are out of reach."
    },
    search=search,
    check=check,
    covers={INTERMEDIATE: STUCK_OUTPUT.covers},
)
