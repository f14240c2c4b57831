"""Verdicts on networks with activations and biases.

For every activation, MP = 0 if and only if the generic rank of the allocation's Jacobian is smaller
than the network's (`algebra.families.activations.formal`: the theorem, and how the ranks of
analytic networks are computed modulo a prime).  MP < 1 is shown by an output that cannot reach all
labels (`algebra.arguments.stuck_output`).  Networks with a polynomial activation are polynomial
systems: the other cases are decided as for linear networks, by N, its parity, and a rational
witness.
Analytic networks have no finite count of solutions, and the other cases are undecided.

**Everything learns.**  If every weight that exists learns, the teacher is a student: MP = 1.

**The read-out suffices.**  If the learning weights of D and e have the generic rank ρ of the whole
network, then MP = 1, whatever else learns.  *Proof.*  For fixed other weights the students' labels
are an affine space L of dimension ρ.  Near a generic point the labels of all networks are a
manifold of dimension ρ that contains an open part of L; so labels of teachers nearby lie in L.
"Lies in L" is a system of linear equations in the teacher's labels, which are analytic in its
weights: they hold for all teachers.  The other learnable weights may keep their values. ∎
"""

from __future__ import annotations

from dataclasses import replace

from algebra.arguments.certify import certify_linear, generic_ranks, why_minimal
from algebra.arguments.stuck_output import conclude_stuck, stuck_output
from algebra.certificates.certificate import Certificate
from algebra.certificates.family import Effort, Tools
from algebra.certificates.on_ranks import OnRanks, certified
from algebra.certificates.premises import RANK_DEFICIT
from algebra.certificates.trial_costs import estimate_steps, too_costly
from algebra.certificates.verdicts import MINIMAL, UNDECIDED, near, reaches
from algebra.documents import Explanation
from algebra.networks.activated import ActivatedNetwork
from algebra.problems.allocation import Allocation
from algebra.problems.features import Feature
from algebra.problems.laws.values import pins
from algebra.problems.problem import Problem
from algebra.problems.reduction import lowered
from algebra.ranks.generic_rank import allocation_rank

# Without it no verdict is known.
THEOREMS = (RANK_DEFICIT,)


def read_out_part(problem: Problem) -> Allocation:
    """The learning weights in D and e, in which the labels are affine."""
    network, cells = problem.network, problem.allocation.cells
    return Allocation.from_cells(network, [c for c in cells if network.affine_in((c[0],))])


def certify_activated(problem: Problem, effort: Effort) -> Certificate:
    """Decide an allocation of a network with activations if possible."""
    network = problem.network
    assert isinstance(network, ActivatedNetwork)
    reduction = lowered(problem)
    if reduction is not None:
        found = certify_linear(reduction.problem, effort)
        return replace(found, problem=problem)

    def decide() -> Certificate:
        return _ActivationCertifier(problem, network, effort).run()

    return certified(problem, effort, decide, can_vanish=True)


class _ActivationCertifier(OnRanks):
    """Certifies one problem, given its ranks."""

    def __init__(self, problem: Problem, network: ActivatedNetwork, effort: Effort) -> None:
        super().__init__(problem, effort, *generic_ranks(problem, effort.seed))
        self.network = network

    def run(self) -> Certificate:
        problem, network = self.problem, self.network
        allocation, seed = problem.allocation, self.effort.seed
        everything = self.if_everything_learns()
        if everything is not None:
            return everything
        if self.own.rank < self.whole.rank:
            if not self._ranks_proved(allocation):
                return self.unproved()
            rule, bound, reasons = why_minimal(problem, self.whole, self.own, seed)
            return self.conclude(MINIMAL, rule, bound, reasons=reasons, theorem=RANK_DEFICIT)
        part = read_out_part(problem)
        if part.size >= self.whole.rank:
            own = allocation_rank(part, problem.student(), self.whole.rank, seed)
            if own.rank == self.whole.rank and self._ranks_proved(part):
                return self.affine(", ".join(sorted(part.matrices)))
        proved = self._ranks_proved(allocation)
        row = stuck_output(problem, allocation, seed)
        if row is not None:
            if not proved:
                return self.unproved()
            return conclude_stuck(self, row)
        if network.activation.is_polynomial:
            # A trace test and guessed instances apply only to chains.
            effort = replace(self.effort, tools=Tools())
            found = certify_linear(problem, effort, ranks=(self.whole, self.own))
            return replace(found, notes=())
        if not proved:
            return self.unproved()
        tried = "a number of complex solutions: it is infinite for an analytic network"
        found = self.conclude(UNDECIDED, "not minimal, analytic", tried=(tried,))
        return replace(found, explained=_analytic(found))

    def _ranks_proved(self, part: Allocation) -> bool:
        """Whether the ranks are the generic ones; adds regular minors to the evidence.

        Parameters
        ----------
        part : Allocation
            The part of the allocation that has full rank, or the allocation if it is minimal.
        """
        minimal = self.own.rank < self.whole.rank
        if minimal and Feature.ARBITRARY_LABELS in self.problem.features:
            # An upper bound of the allocation's rank is enough.
            return True
        exact = self.network.ranks_are_exact(self.problem.support)
        polynomial = self.network.activation.is_polynomial
        if exact and (minimal or polynomial):
            return True
        student = self.problem.student()
        # If pre-activations contain given numbers, the values need not be independent.
        exact = exact and not pins(self.problem.support if minimal else student)
        return self.regular_minor(self.network, part.cells, student) or exact


def _analytic(found: Certificate) -> Explanation:
    """What stays open for an analytic network of full rank."""
    return Explanation(
        (reaches(found), f"So {near(found)}", *too_costly(found.problem)),
        "whether MP = 1: an analytic network has no finite number of complex solutions, so neither "
        "parity nor a complete count can be used, and some weights of each output learn",
        "an output with no learnable weights (then MP < 1), or an allocation in which only the "
        "read-out learns (then MP = 1)",
        estimate_steps(found.problem),
    )
