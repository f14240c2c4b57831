r"""Verdicts on networks that are programs.

* **minimal**: the generic rank of the allocation's Jacobian is smaller than the network's.  The
  theorem of `algebra.ranks.jacobian` needs labels that are analytic in the weights; rational
  functions, exponentials and roots are, wherever they are defined.  Ranks are computed with formal
  values (`algebra.programs.formal`): a deficit is always valid, since they are upper bounds; a rank
  is attained if the labels are rational functions, or exponentials whose arguments are shown to be
  independent, or by a regular minor in ball arithmetic (`algebra.ranks.minors`).
* **maximal**: all weights learn; or the labels are affine in some of the learnable matrices, with
  full rank (`algebra.families.activations.certify`, "the read-out suffices": the proof needs
  labels that are single-valued analytic functions on a connected set.  Rational functions and
  exponentials of such are, on the complex numbers minus a hypersurface, which is connected; with
  square roots labels are analytic functions of all real weights, if `algebra.programs.ranges`
  shows it). Further learnable weights cannot lower the match probability.
* If the fixed weights are those of the file, the rank of the learnable weights is computed there
  (their own values are arbitrary), and that of the network at arbitrary weights, which are the
  teacher's: the theorem is proved for fixed weights, and near a student whose labels have rank ρ
  the network's have rank ρ, too.
* **undecided** otherwise.  On pieces (`algebra.ranks.pieces`) only "not minimal" is
shown.
"""

from __future__ import annotations

from dataclasses import replace

from algebra.arguments.certify import why_minimal
from algebra.arguments.stuck_output import conclude_stuck, stuck_output
from algebra.certificates.certificate import Certificate
from algebra.certificates.explanation import minimal
from algebra.certificates.family import Effort
from algebra.certificates.on_ranks import OnRanks, certified
from algebra.certificates.premises import EVERYTHING_LEARNS, RANK_DEFICIT
from algebra.certificates.verdicts import (
    INTERMEDIATE,
    MAXIMAL,
    MINIMAL,
    NEAR,
    OPEN_VALUE,
    UNDECIDED,
    reaches,
)
from algebra.documents import Explanation, step
from algebra.networks.program import ProgramNetwork
from algebra.problems.problem import Problem
from algebra.programs.balls import SignUnknown
from algebra.ranks.generic_rank import GenericRank, allocation_rank, network_rank
from algebra.ranks.pieces import MOST_PATTERNS, on_pattern

# Without these no verdict is known.
THEOREMS = (RANK_DEFICIT, EVERYTHING_LEARNS)


def certify_program(problem: Problem, effort: Effort) -> Certificate:
    """Decide an allocation of a program if possible."""
    found = certified(problem, effort, lambda: _decided(problem, effort))
    return replace(found, explained=_explained(found))


def _decided(problem: Problem, effort: Effort) -> Certificate:
    network = problem.network
    assert isinstance(network, ProgramNetwork)
    allocation, support = problem.allocation, problem.support
    problem = replace(problem, network=network.at_file(allocation.masks, support))
    if not network.is_piecewise:
        return _ModelCertifier(problem, effort, None).run()
    first: Certificate | None = None
    for number in range(MOST_PATTERNS if "choose" in network.functions else 1):
        try:
            piece = on_pattern(problem, number)
        except SignUnknown:
            continue
        found = _ModelCertifier(piece, effort, number).run()
        if found.rank == found.equations:
            return found
        first = first or found
    if first is None:
        raise SignUnknown(f"no activation pattern of {network} was found at rational points")
    return first


def program_ranks(problem: Problem, seed: int) -> tuple[GenericRank, GenericRank]:
    """Ranks of the network's Jacobian at any weights, and of the allocation's at the file's."""
    network = problem.network
    assert isinstance(network, ProgramNetwork)
    whole = network_rank(network.anywhere(), problem.support, seed)
    return whole, allocation_rank(problem.allocation, problem.support, whole.rank, seed)


class _ModelCertifier(OnRanks):
    """Certifies one problem, given its ranks; `piece` is the number of its pattern's point."""

    def __init__(self, problem: Problem, effort: Effort, piece: int | None) -> None:
        super().__init__(problem, effort, *program_ranks(problem, effort.seed))
        assert isinstance(problem.network, ProgramNetwork)
        self.network, self.piece = problem.network, piece
        if piece is not None:
            self.evidence["pattern"] = piece

    def run(self) -> Certificate:
        everything = self.if_everything_learns()
        if everything is not None:
            return everything
        if not self._ranks_proved():
            self.evidence["upper_bounds"] = True
            return self.unproved()
        if self.own.rank < self.whole.rank:
            if self.piece is not None:
                where = "on the activation pattern that was drawn"
                rule = f"rank {self.own.rank} of {self.whole.rank} {where}"
                tried = "other activation patterns or tokens may have other ranks"
                return self.conclude(UNDECIDED, rule, tried=(tried,))
            rule, bound, reasons = why_minimal(self.problem, self.whole, self.own, self.effort.seed)
            return self.conclude(MINIMAL, rule, bound, reasons=reasons, theorem=RANK_DEFICIT)
        part = self._affine_part()
        if part:
            self.evidence["affine_part"] = part
            return self.affine(", ".join(part))
        row = stuck_output(self.problem, self.problem.allocation, self.effort.seed)
        if row is not None:
            return conclude_stuck(self, row)
        what = "analytic" if self.piece is None else "by pieces"
        tried = "parameters in which the labels are affine: none of full rank"
        return self.conclude(UNDECIDED, f"not minimal, {what}", tried=(tried,))

    def _ranks_proved(self) -> bool:
        """Whether the ranks are the generic ones; adds a regular minor to the evidence."""
        if self.network.argued(self.effort.seed, self.problem.support):
            return True
        cells, support = self.problem.allocation.cells, self.problem.support
        return self.regular_minor(self.network, cells, support, self.piece) or not self.whole.rank

    def _affine_part(self) -> list[str]:
        """Learnable matrices in which the labels are jointly affine, of full rank."""
        allocation, support = self.problem.allocation, self.problem.support
        part: list[str] = []
        # The last matrices are nearest to the labels.
        for name in reversed(allocation.matrices):
            if self.network.affine_in([*part, name]):
                part.append(name)
        if not part:
            return []
        cells = [cell for cell in allocation.cells if cell[0] in part]
        own = type(allocation).from_cells(allocation.network, cells)
        found = allocation_rank(own, support, self.whole.rank, self.effort.seed)
        return sorted(part) if found.rank == self.whole.rank else []


def _explained(found: Certificate) -> Explanation:
    """The explanation of a verdict on a program that was read from a file: only ranks are known."""
    inspect = step("inspect", "the ranks, and why they are exact or not")
    if found.verdict == MINIMAL:
        why = minimal(found, False)
        return replace(why, steps=(inspect,))
    if found.verdict == INTERMEDIATE:
        return Explanation((reaches(found), NEAR, found.why), OPEN_VALUE, "", (inspect,))
    if found.verdict == MAXIMAL:
        if found.theorem is EVERYTHING_LEARNS:
            return Explanation((found.why,))
        return Explanation((reaches(found), found.why))
    pieces = "pattern" in found.evidence
    if found.rank == found.equations and "upper_bounds" not in found.evidence:
        return Explanation(
            (reaches(found), f"So {NEAR}"),
            "whether MP = 1",
            "a proof for all activation patterns: where a unit is off, weights before it do not "
            "change the labels"
            if pieces
            else "parameters in which the labels are affine with full rank, as in a last layer "
            "(then MP = 1)",
            (inspect,),
        )
    return Explanation(
        (
            f"The learnable weights have rank {found.rank}, the whole network {found.equations}"
            + (" on the activation pattern that was drawn." if pieces else ", with formal values."),
        ),
        "whether MP > 0",
        "an activation pattern on which both ranks are equal (then MP > 0)"
        if pieces
        else "a regular minor of the Jacobian in ball arithmetic",
        (inspect,),
    )
