r"""The fewest weights to move so that an allocation is not minimal, or is certified maximal.

Let A have r weights of rank k < ρ.  A set of max(r, ρ) weights that is not minimal has rank ρ, and
its part in A has rank at most k: at least ρ - k of its weights are new.  This many suffice: a
maximal independent part of A is extended to a basis, and any r - ρ of the other weights of A stay.
With caps, or weights that must or must not learn, more may have to move.  In all cases the result
is a least-cost design in which a weight of A costs almost nothing and any other one a large sum
(`algebra.questions.design.cheapest`), so the number of moves has the same proof of optimality;
prices decide between equal numbers of moves.

The nearest certified maximal allocation is found in the same way
(`algebra.questions.design.maximal`): all allocations one move away, then two, and so on.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import floor
from typing import Any

from algebra.errors import InputError
from algebra.linalg.numbers import float_text
from algebra.problems.allocation import Allocation, Cell
from algebra.questions.design.cheapest import cheapest
from algebra.questions.design.demand import Demand
from algebra.questions.design.goals import SearchOptions
from algebra.questions.design.maximal import BY_MOVES, cheapest_maximal
from algebra.questions.design.result import Design
from algebra.ranks.generic_rank import allocation_rank
from algebra.results import named

NOT_MINIMAL, MAXIMAL = "not minimal", "maximal"


@dataclass(frozen=True)
class Repair:
    """An allocation and the nearest one that meets the goal.

    Attributes
    ----------
    before, after : Allocation
    goal : str
        "not minimal" or "maximal".
    moves : int
        Weights that learn afterwards and did not learn before.
    bound : int
        No repair to this goal moves fewer.
    cost : Fraction
        Price of the weights that learn afterwards.
    reason : str
        The reason for the number of moves.
    proof : str
        The text of the design's proof.
    error : Fraction
        Bound on the probability that fewer moves suffice.
    """

    before: Allocation
    after: Allocation
    goal: str
    moves: int
    bound: int
    cost: Fraction
    reason: str
    proof: str = field(repr=False)
    error: Fraction = Fraction(0)

    @property
    def removed(self) -> tuple[Cell, ...]:
        """Weights that learned only before."""
        return self.before.without(self.after.cells).cells

    @property
    def added(self) -> tuple[Cell, ...]:
        """Weights that learn now."""
        return self.after.without(self.before.cells).cells

    @property
    def is_optimal(self) -> bool:
        """Whether fewer moves are excluded."""
        return self.moves == self.bound

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            **named(self, "goal", "moves", "bound"),
            "optimal": self.is_optimal,
            **named(self, "removed", "added"),
            **named(self.after, "cells"),
            "learnable": self.after.size,
            **named(self, "cost", "reason", "proof"),
            "error_bound": float_text(self.error),
        }


def repair(
    before: Allocation,
    demand: Demand,
    goal: str,
    options: SearchOptions | None = None,
) -> Repair:
    """Move as few weights as possible.

    Parameters
    ----------
    before : Allocation
    demand : Demand
        On the same network: where weights may move, what must learn, caps, prices.  Its size is the
        number of weights afterwards, at least that before.
    goal : {"not minimal", "maximal"}
    options : SearchOptions, optional

    Raises
    ------
    InputError
        If no allocation meets the demand, with the reason.
    SearchUnfinished
        If no certified maximal one was found in time.

    Examples
    --------
    >>> from algebra.questions.design.demand import checked_demand
    >>> from algebra.networks.feedforward import LinearEstimator
    >>> net = LinearEstimator(q=3, d=2, m=2)
    >>> before = Allocation.from_masks(net, W=[[1, 1, 1], [1, 0, 0]])
    >>> found = repair(before, checked_demand(net), "not minimal")
    >>> found.moves, found.reason
    (1, '4 learnable weights take part in 3 of 4 independent equations')
    """
    options = options or SearchOptions()
    if before.network != demand.network:
        raise InputError("`before` and `demand` are of different networks")
    if goal not in (NOT_MINIMAL, MAXIMAL):
        raise InputError(f"`goal` ({goal!r}) must be {NOT_MINIMAL!r} or {MAXIMAL!r}")
    if demand.size < before.size:
        raise InputError(
            f"`budget` ({demand.size}) is less than the {before.size} weights that learn already"
        )
    old = set(before.cells)
    total = sum((abs(price) for price in demand.prices.values()), Fraction(0))
    # One move costs more than all prices together.
    move = 2 * total + 1
    prices = {c: demand.prices[c] + (0 if c in old else move) for c in demand.cells}
    moved = replace(demand, prices=prices)
    design: Design
    if goal == MAXIMAL:
        design = cheapest_maximal(
            moved, relaxation=options.relaxation, seconds=options.seconds,
            timeout=options.timeout, fallback=options.fallback, wording=BY_MOVES,
        )  # fmt: skip
    else:
        design = cheapest(moved, options.relaxation, options.seconds, goal="repair")
    after = design.allocation
    moves = len(set(after.cells) - old)
    bound = min(moves, max(0, floor((design.bound + total) / move)))
    return Repair(
        before, after, goal, moves, bound, demand.cost(after.cells),
        _reason(before, demand, goal, moves, bound), design.proof, design.error,
    )  # fmt: skip


def _reason(before: Allocation, demand: Demand, goal: str, moves: int, bound: int) -> str:
    rank = allocation_rank(before, demand.support, demand.equations, demand.seed).rank
    lack = demand.equations - rank
    if not moves:
        return "no weight has to move"
    if goal == MAXIMAL and not lack:
        if bound < moves:
            return (
                f"with this number of moves it is certified maximal; whether {_at_least(bound)} "
                "suffice was not decided: not all nearer allocations were counted"
            )
        return (
            "no allocation that shares more weights with this one has an odd root count"
            if moves > 1
            else "its own root count is not odd"
        )
    text = (
        f"{before.size} learnable weights take part in {rank} of {demand.equations} independent "
        "equations"
    )
    if moves > lack:
        text += (
            f"; {lack} new ones would suffice, {_needed(moves, bound)} to satisfy the demands"
            if goal == NOT_MINIMAL
            else f"; {lack} new ones would suffice, {_needed(moves, bound)} for a maximal one"
        )
    return text


def _needed(moves: int, bound: int) -> str:
    return f"{moves} are needed" if bound == moves else f"{moves} were found"


def _at_least(bound: int) -> str:
    return "fewer" if bound <= 1 else f"{bound} or more of them"
