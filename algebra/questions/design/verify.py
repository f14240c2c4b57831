r"""Verification of the proof of a design, from the file alone.

`algebra.questions.design.proof` lists the claims of each goal.  The checks are, in this order:

*demand*, *design*
    The chosen weights meet the demand, have the cost and number in the file, and have the rank ρ of
    the whole network, so that MP > 0.
*cost*
    At random points drawn by the verifier, the dual solution gives a bound that is not below
    `cost_bound`.  By Splitting.bound and Tree.bound any numbers give a true lower bound for sets
    that are independent at that point, so a forged dual solution can only prove less.  A better
    design that is a generic basis would have to be dependent at every one of the points:
    probability `Demand.point_error` each.
*spread*
    With a cap smaller by one there is no design: the same with a dual solution whose bound is
    "none"; or the weights that must learn, or a single weight, exceed the smaller cap.
*rank*
    The design has the rank `value` and costs no more than `cost_budget`; for a rank larger by one
    the dual solution gives a bound above the budget, or "none".
*neurons*
    The leaves of the search cover all sets of neurons, and the bound of each one, recomputed at
    points drawn by the verifier, is not below (value, cost_bound)
    (`algebra.questions.design.neurons.neuron_bound`, with its theorem).
*maximal*
    The design, or a part of it with at most as many weights as equations, has an odd root count N:
    non-real solutions occur in pairs, so at least one is real.  All designs that cost less are
    enumerated again, at points drawn by the verifier, and each one is, up to renaming of units, in
    the file with an even N; the file has no others.  Each N is counted again modulo a new prime:
    *probable*; if a count does not end, the check is *unfinished*.  For a design with more weights
    than equations every part with as many and full rank is counted.  An even N does not show that
    MP < 1: the claim is about odd root counts only.

Examples
--------
>>> from algebra.questions.design.cheapest import cheapest
>>> from algebra.questions.design.demand import checked_demand
>>> from algebra.questions.design.proof import proof_of
>>> from algebra.networks.feedforward import LinearEstimator
>>> demand = checked_demand(LinearEstimator(q=3, d=2, m=2), caps={"column": 2})
>>> DESIGN.verify(proof_of(demand, cheapest(demand)).to_dict()).holds
True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any

from algebra.arguments.recount import SolutionCount, recount_again
from algebra.checker.checks import (
    PROBABLE,
    PROVED,
    UNFINISHED,
    CheckEffort,
    CheckFailed,
    Checklist,
    weakest,
)
from algebra.checker.fields import RefusedAt
from algebra.checker.formats import ProofFormat
from algebra.checker.root_evidence import Recount
from algebra.checker.statements import AtNewPoints, error_words
from algebra.errors import InputError, one_line
from algebra.matroids.capped import Dual
from algebra.matroids.optimum import TARGET
from algebra.problems.allocation import Allocation, Cell
from algebra.questions.design.cheapest import of_rank
from algebra.questions.design.demand import Demand
from algebra.questions.design.neurons import neuron_bound, neuron_of
from algebra.questions.design.odd_counts import renamings
from algebra.questions.design.proof import FORMAT, VERSION, DesignProof
from algebra.questions.design.ranked import ranked_bases
from algebra.questions.design.result import (
    CostEvidence,
    CountedRoots,
    MaximalEvidence,
    NeuronEvidence,
    RankEvidence,
    SpreadEvidence,
    allocation_of,
    fullest,
)
from algebra.questions.design.spread import least_cap
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.ranks.minors import is_attained
from algebra.time_limits import check_time, time_left


class _DesignChecker:
    def __init__(self, proof: DesignProof, effort: CheckEffort, checklist: Checklist) -> None:
        self.proof, self.effort, self.seed, self.say = proof, effort, effort.seed, checklist.say
        self.counted: dict[tuple[Cell, ...], Recount] = {}

    def run(self) -> None:
        """All checks of the goal, in order."""
        proof = self.proof
        self.need_ranks(partial(bool, True))
        with RefusedAt("demand"):
            demand = proof.demand(self.seed)
        if proof.cost_budget is not None:
            demand = self.within_budget(demand)
        self.meets(demand)
        if isinstance(proof.evidence, MaximalEvidence):
            self.need_ranks(None)
        else:
            self.need_ranks(partial(
                is_attained, demand.network, proof.design, demand.equations, demand.support,
                self.seed,
            ))  # fmt: skip
        # The evidence was read by the goal's own class.
        match proof.evidence:
            case CostEvidence(dual):
                self.costs_least(demand, dual)
            case RankEvidence(dual, refutation):
                self.costs_least(demand, dual)
                self.largest_rank(demand, refutation)
            case SpreadEvidence(dual, refutation):
                self.costs_least(demand, dual)
                self.most_spread(demand, refutation)
            case NeuronEvidence() as evidence:
                self.fewest_neurons(demand, evidence)
            case MaximalEvidence() as evidence:
                self.is_maximal(demand, evidence.roots)
                self.cheaper_are_even(demand, evidence)
            case evidence:
                raise CheckFailed("evidence", f"is of no known kind: {type(evidence).__name__}")

    def need_ranks(self, attained: Callable[[], bool] | None) -> None:
        """Ranks are known exactly, or those of the design are attained; else it is unfinished."""
        problem = self.proof.problem
        try:
            problem.network.need_ranks("a design", problem.support, attained)
        except InputError as error:
            self.say("problem.network", UNFINISHED, one_line(error))

    def within_budget(self, demand: Demand) -> Demand:
        """The demand with the rank that goal "rank" claims; it must be possible."""
        rank, size = self.proof.value, self.proof.size
        if rank.denominator != 1 or not 0 < rank <= demand.equations:
            raise CheckFailed("value", f"a rank of {rank}, of {demand.equations}")
        if size != rank + demand.extra:
            raise CheckFailed("size", f"{size} weights for a rank of {rank}")
        assert self.proof.cost_budget is not None
        if self.proof.cost > self.proof.cost_budget:
            raise CheckFailed("cost", f"{self.proof.cost} is more than {self.proof.cost_budget}")
        return of_rank(demand, int(rank))

    def largest_rank(self, demand: Demand, refutation: Dual | None) -> None:
        """A rank larger by one is not within the budget."""
        whole = network_rank(demand.network, demand.support, self.seed)
        if demand.equations == whole.rank:
            status = PROVED if whole.is_proved else PROBABLE
            self.say("rank", status, f"the network's own rank is {whole.rank}")
            return
        more = of_rank(demand, demand.equations + 1)
        budget = self.proof.cost_budget
        assert budget is not None
        units = (budget - demand.cost(sorted(demand.must))) * demand.unit
        if refutation is None:
            raise CheckFailed("evidence", f"does not exclude a rank of {more.equations}")

        def check(p: int, number: int) -> Fraction:
            with RefusedAt("evidence"):
                bound = refutation.bound(more.problem_at(p, number))
            if bound is not None and bound <= units:
                text = f"does not show that a rank of {more.equations} costs more than {budget}"
                raise CheckFailed("evidence", text)
            return more.point_error

        self.everywhere(
            "rank", f"a rank of {more.equations} costs more than {budget} or violates a cap", more,
            check,
        )  # fmt: skip

    def meets(self, demand: Demand) -> None:
        """The design meets the demand, with the cost, value and rank in the file."""
        proof = self.proof
        names = set(demand.cells)
        for cell in proof.design:
            if cell not in names:
                raise CheckFailed("design", f"{cell} may not learn")
        for cell in sorted(demand.must - set(proof.design)):
            raise CheckFailed("design", f"{cell} must learn and does not")
        if len(proof.design) != demand.size:
            raise CheckFailed("design", f"has {len(proof.design)} weights, not {demand.size}")
        chosen = Allocation.from_cells(demand.network, proof.design)
        for line, number in demand.caps:
            if fullest(chosen, line) > number:
                raise CheckFailed("caps", f"more than {number} weights in a {line}")
        cost = demand.cost(proof.design)
        if cost != proof.cost:
            raise CheckFailed("cost", f"says {proof.cost}, but the prices add up to {cost}")
        value = cost
        if proof.goal == "spread":
            value = Fraction(fullest(chosen, proof.line))
            if value != dict(demand.caps)[proof.line]:
                raise CheckFailed("caps", f"the cap of a {proof.line} is not the value {value}")
        elif proof.goal == "rank":
            value = Fraction(demand.equations)
        elif proof.goal == "neurons":
            value = Fraction(
                len({neuron_of(demand.network, cell, proof.line) for cell in proof.design})
            )
        if value != proof.value:
            raise CheckFailed("value", f"says {proof.value}, but it is {value}")
        is_lower = bool(proof.line) or proof.goal == "rank"
        if proof.cost_bound > cost or (not is_lower and proof.cost_bound < cost):
            raise CheckFailed("cost_bound", f"says {proof.cost_bound}, but the design costs {cost}")
        rank = allocation_rank(chosen, demand.support, demand.equations, self.seed)
        if rank.rank < demand.equations:
            what = "has" if proof.goal == "rank" else "is minimal:"
            raise CheckFailed("design", f"{what} rank {rank.rank} of {demand.equations}")
        if proof.goal == "rank":
            self.say("design", PROVED, f"meets the demand at cost {cost}, of rank {rank.rank}")
            return
        whole = network_rank(demand.network, demand.support, self.seed)
        self.say(
            "design",
            PROVED if whole.is_proved else PROBABLE,
            f"meets the demand at cost {cost}, not minimal (rank {rank.rank} of {whole.rank}; "
            f"{error_words(whole.error)})",
        )

    def everywhere(
        self, place: str, text: str, demand: Demand, miss: Callable[[int, int], Fraction]
    ) -> None:
        """What holds at new points of a demand."""
        AtNewPoints(place, text, demand.points(), miss, TARGET).stated(self.seed, self.say)

    def units(self, demand: Demand) -> Fraction:
        """`cost_bound` for the free weights, in units of the demand."""
        return (self.proof.cost_bound - demand.cost(sorted(demand.must))) * demand.unit

    def costs_least(self, demand: Demand, dual: Dual) -> None:
        """No design under the caps costs less than `cost_bound`."""
        units = self.units(demand)

        def check(p: int, number: int) -> Fraction:
            with RefusedAt("evidence"):
                bound = dual.bound(demand.problem_at(p, number))
            if bound is None or bound < units:
                raise CheckFailed(
                    "evidence", "the dual solution does not prove this bound of the cost"
                )
            return demand.point_error

        under = f" as spread costs less than {self.proof.cost_bound}"
        what = under if self.proof.line else " is cheaper"
        if self.proof.goal == "rank":
            what = f" of rank {demand.equations} costs less than {self.proof.cost_bound}"
        self.everywhere("evidence", f"nothing{what}", demand, check)

    def most_spread(self, demand: Demand, refutation: Dual | None) -> None:
        """With a cap smaller by one there is no design."""
        line, number = self.proof.line, int(self.proof.value)
        if number <= least_cap(demand, line):
            why = f"{number} weights of one {line} must learn" if number > 1 else "each has one"
            self.say("spread", PROVED, f"no {line} that learns can have fewer than {number}: {why}")
            return
        if refutation is None:
            raise CheckFailed(
                "spread", f"the evidence does not show that {number - 1} in a {line} are too few"
            )
        less = replace(
            demand, caps=tuple((k, n - (k == line)) for k, n in demand.caps)
        )  # in the order of the file

        def check(p: int, at: int) -> Fraction:
            problem = less.problem_at(p, at)
            with RefusedAt("spread"):
                none = refutation.bound(problem) is None
            if not none:
                raise CheckFailed(
                    "spread", f"the evidence does not exclude a cap of {number - 1} in a {line}"
                )
            return less.point_error

        self.everywhere("spread", f"no design with {number - 1} in a {line}", less, check)

    def fewest_neurons(self, demand: Demand, evidence: NeuronEvidence) -> None:
        """No design has fewer neurons, and none with as many costs less than `cost_bound`."""
        value, units = int(self.proof.value), self.units(demand)

        def check(p: int, number: int) -> Fraction:
            with RefusedAt("evidence"):
                rating, miss = neuron_bound(demand, self.proof.line, p, number, evidence.leaves)
            if rating is None or rating[0] < value:
                raise CheckFailed("evidence", f"the leaves do not exclude fewer than {value}")
            if rating[0] == value and rating[1] < units:
                raise CheckFailed("evidence", "the leaves do not prove this bound of the cost")
            return miss

        text = f"no design has fewer than {value} neurons that learn, and none with as many costs "
        self.everywhere("evidence", f"{text}less than {self.proof.cost_bound}", demand, check)

    def is_maximal(self, demand: Demand, roots: CountedRoots) -> None:
        """The design, or a part of it, has an odd root count."""
        place = "evidence.design"
        if not self.same(demand, roots.cells, self.proof.design):
            raise CheckFailed(place, "counts the roots of other weights than the design's")
        if len(roots.parts) != 1 or roots.parts[0][1] % 2 == 0:
            raise CheckFailed(place, "is not one odd root count")
        status, text = self.count_again(demand, roots, place)
        self.say(place, status, f"MP = 1, by an odd root count: {text}")

    def cheaper_are_even(self, demand: Demand, evidence: MaximalEvidence) -> None:
        """All cheaper designs are in the file, with even root counts."""
        place = "evidence.cheaper"
        listed: dict[tuple[Cell, ...], int] = {}
        for k, roots in enumerate(evidence.cheaper):
            if not roots.parts or any(n % 2 for _, n in roots.parts):
                raise CheckFailed(f"{place}[{k}]", "is not one even root count, or several")
            listed[self.canonical(demand, roots.cells)] = k
        met: set[int] = set()

        def check(p: int, number: int) -> Fraction:
            with RefusedAt(place):
                for units, elements in ranked_bases(demand, demand.columns(p, number), p):
                    if units >= self.units(demand):
                        break
                    cells = allocation_of(demand, elements).cells
                    k = listed.get(self.canonical(demand, cells))
                    if k is None:
                        raise CheckFailed(place, f"lacks {_named(cells)}, which costs less")
                    met.add(k)
            return demand.point_error

        shown = AtNewPoints(place, "", demand.points(), check, TARGET).check()
        if unmet := sorted(set(range(len(evidence.cheaper))) - met):
            text = "is not a design that costs less and is not minimal, or is given twice"
            raise CheckFailed(f"{place}[{unmet[0]}]", text)
        status = PROBABLE
        for k, roots in enumerate(evidence.cheaper):
            here = f"{place}[{k}]"
            found, text = self.count_again(demand, roots, here)
            if demand.extra:
                found = weakest(found, self.no_odd_part(demand, roots, here))
            if found == UNFINISHED:
                self.say(here, UNFINISHED, f"not all of its root counts were found again: {text}")
            status = weakest(status, found)
        text = "every allocation that is not minimal costs at least as much"
        if met:
            text = f"{len(met)} allocations, up to renaming of units, cost less: "
            text += "no part of one has" if demand.extra else "none has"
            text += " an odd root count"
        self.say(place, status, text + shown.words)

    def no_odd_part(self, demand: Demand, roots: CountedRoots, place: str) -> str:
        """No part of an allocation with more weights than equations has an odd root count."""
        status = PROBABLE
        for cells in combinations(roots.cells, demand.equations):
            check_time()
            part = Allocation.from_cells(demand.network, cells)
            if allocation_rank(part, demand.support, demand.equations, self.seed).rank < part.size:
                continue
            again = self.recount(demand, part)
            if again.value is None:
                status = UNFINISHED
            elif again.value % 2:
                text = f"is maximal: {_named(part.cells)} have N = {again.value}, {again.how}"
                raise CheckFailed(place, text)
        return status

    def canonical(self, demand: Demand, cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
        """A representative of an allocation's orbit."""
        with RefusedAt("evidence"):
            allocation = Allocation.from_cells(demand.network, cells)
        if not hasattr(self, "group"):
            self.group = renamings(demand)
        return (self.group.canonical(allocation) if self.group else allocation).cells

    def same(self, demand: Demand, one: tuple[Cell, ...], other: tuple[Cell, ...]) -> bool:
        """Whether two allocations are equal up to renaming of units."""
        return self.canonical(demand, one) == self.canonical(demand, other)

    def count_again(self, demand: Demand, roots: CountedRoots, place: str) -> tuple[str, str]:
        """The root counts of an allocation's parts, modulo a new prime."""
        status, texts = PROBABLE, []
        for cells, value in roots.parts:
            if not set(cells) <= set(roots.cells):
                raise CheckFailed(place, "has a part that is not a subset of its weights")
            with RefusedAt(place):
                part = Allocation.from_cells(demand.network, cells)
            rank = allocation_rank(part, demand.support, demand.equations, self.seed)
            if not part.size == rank.rank == demand.equations:
                raise CheckFailed(place, f"has a part of rank {rank.rank}, not {demand.equations}")
            shown = SolutionCount(
                place, value, partial(self.recount, demand, part), "given"
            ).check()
            status = weakest(status, shown.status)
            texts.append(shown.text)
        return status, "; ".join(texts)

    def recount(self, demand: Demand, part: Allocation) -> Recount:
        """N of weights of full rank, computed once for each orbit."""
        cells = self.canonical(demand, part.cells)
        if cells not in self.counted:
            self.counted[cells] = recount_again(
                Allocation.from_cells(demand.network, cells), demand.support, (), seed=self.seed,
                timeout=time_left(self.effort.seconds) / 2, fallback=self.effort.root_counter,
            )  # fmt: skip
        return self.counted[cells]


def _named(cells: tuple[Cell, ...]) -> str:
    shown = " ".join(f"{name}[{i},{j}]" for name, i, j in cells[:8])
    return shown + (" …" if len(cells) > 8 else "")


def _check(data: Mapping[str, Any], checklist: Checklist, effort: CheckEffort) -> None:
    _DesignChecker(DESIGN.read(data), effort, checklist).run()


def _subject(data: Mapping[str, Any]) -> str:
    goal = data.get("goal")
    return f"{goal} design" if isinstance(goal, str) else "design"


DESIGN = ProofFormat(FORMAT, (VERSION,), "the proof of a design", DesignProof, _check, _subject)
