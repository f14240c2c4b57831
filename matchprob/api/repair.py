"""Allocations mended, and how much they can lose: the verbs repair and robust."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from matplotlib.figure import Figure
from rich.console import Console
from rich.text import Text

from algebra.certificates.certificate import Certificate
from algebra.design import repair as repairs
from algebra.design import robustness as losses
from algebra.design.cheapest import float_text
from algebra.design.repair import MAXIMAL, NOT_MINIMAL, Repair
from algebra.design.robustness import Robustness
from algebra.errors import InputError
from algebra.problems.allocation import Cell
from algebra.problems.problem import Problem
from algebra.ranks.budgets.limits import plural
from algebra.ranks.jacobian import all_cells, network_rank
from matchprob.api.certify import certify
from matchprob.api.design import Wishes
from matchprob.api.question import Question, as_problem
from matchprob.report.design import draw_masks, print_masks
from numeric.cap_relaxation import linear_relaxation
from numeric.tracking.root_count import monodromy_root_count

# Seconds for a root count of the two allocations that are certified, at least.
_PATIENCE = 10.0
_GOALS = {"positive": NOT_MINIMAL, "maximal": MAXIMAL}


@dataclass(frozen=True)
class Mended:
    """A repair with the certificates of both allocations.

    Attributes
    ----------
    repair : Repair or None
        None where nothing is to be done.
    before, after : Certificate
    """

    repair: Repair | None
    before: Certificate
    after: Certificate

    @property
    def problem(self) -> Problem:
        """The problem with the mended allocation."""
        return self.after.problem

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of ``matchprob repair``."""
        found = self.repair.to_dict() if self.repair else {"moves": 0, "bound": 0, "optimal": True}
        verdicts = {
            when: {
                "verdict": c.verdict,
                "rule": c.rule,
                "rank": c.rank,
                "generic_root_count": c.generic_root_count,
                "reasons": list(c.reasons),
            }
            for when, c in (("before", self.before), ("after", self.after))
        }
        return {**found, **verdicts, "equations": self.before.equations}


def repair(
    question: Question,
    *,
    goal: str | None = None,
    costs: Mapping[Cell, Fraction] | None = None,
    must: Sequence[Cell] = (),
    forbidden: Sequence[Cell] = (),
    matrices: Sequence[str] = (),
    caps: Mapping[str, int] | None = None,
    seconds: float = 60.0,
    timeout: float = 3.0,
    seed: int = 0,
) -> Mended:
    """Move as few weights as possible; certify before and after.

    Parameters
    ----------
    question : Problem, str or Path
    goal : {"positive", "maximal"}, optional
        MP > 0, or certified MP = 1.  By default "positive" for a minimal allocation, "maximal"
        for any other.
    costs : mapping of cell to Fraction, optional
        Among as few moves the cheapest; 1 for each weight not named.
    must, forbidden : sequence of cells, optional
        Weights that learn afterwards in any case, or in none.
    matrices : sequence of str, optional
        Where weights may move to; the matrices that learn already by default.
    caps : mapping, optional
        At most so many in each "row", "column", "matrix" afterwards.
    seconds, timeout : float, optional
        For the search of a maximal allocation, and for one root count.
    seed : int, optional

    Returns
    -------
    Mended

    Examples
    --------
    >>> from algebra.networks.base import LinearRNN
    >>> net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> done = repair(Problem(net, {"W": [[1, 0], [0, 1]]}))
    >>> done.before.verdict, done.repair.moves, done.after.verdict
    ('intermediate', 1, 'maximal')
    """
    problem = as_problem(question)
    if goal is not None and goal not in _GOALS:
        raise InputError(f"`goal` ({goal!r}) must be positive or maximal")
    allocation, network = problem.allocation, problem.network
    if not network.is_linear:
        raise InputError(f"a {network.title} network has no minimal allocations to repair")
    before = certify(problem, seed=seed, timeout=max(timeout, _PATIENCE))
    wishes = bool(must or forbidden or caps)
    if goal is None:
        goal = "positive" if before.verdict == "minimal" else "maximal"
    fine = before.verdict == "maximal" or (goal == "positive" and before.verdict != "minimal")
    if fine and not wishes:
        return Mended(None, before, before)
    names = list(matrices or allocation.matrices or network.shapes)
    allowed = [c for c in all_cells(network, problem.support) if c[0] in names]
    allowed += [c for c in allocation.cells if c[0] not in names]
    whole = network_rank(network, problem.support, seed).rank
    options = Wishes(dict(costs or {}), must, forbidden, (), caps, max(whole, allocation.size))
    asked = options.demand(problem, allowed, seed)
    found = repairs.repair(
        allocation, asked, _GOALS[goal], relaxation=linear_relaxation, seconds=seconds,
        timeout=timeout, fallback=partial(monodromy_root_count, timeout=timeout),
    )  # fmt: skip
    after = certify(
        problem.with_allocation(found.after), seed=seed, timeout=max(timeout, _PATIENCE)
    )
    return Mended(found, before, after)


def robust(question: Question, *, seconds: float = 30.0, seed: int = 0) -> Robustness:
    """How many learnable weights may be lost before MP drops to 0.

    Parameters
    ----------
    question : Problem, str or Path
    seconds : float, optional
        Time for the search; bounds are given where it is not enough.
    seed : int, optional

    Returns
    -------
    Robustness

    Examples
    --------
    >>> from algebra.networks.base import LinearEstimator
    >>> net = LinearEstimator(q=3, d=1, m=2)
    >>> print(robust(Problem(net, {"W": [[1, 1, 1]]})))
    any 1 of 3 weights may be lost, not more
    """
    problem = as_problem(question)
    return losses.robustness(problem.allocation, problem.support, seconds=seconds, seed=seed)


def _names(cells: Sequence[Cell], most: int = 16) -> str:
    text = " ".join(f"{n}[{i},{j}]" for n, i, j in cells[:most])
    return text + (f" … ({len(cells)})" if len(cells) > most else "") if cells else "none"


def print_repair(out: Console, found: Mended) -> None:
    """Before, what moves and why, after."""
    out.print(Text(f"before  {found.before.verdict}: {found.before.rule}", style="bold"))
    for reason in found.before.reasons[:3]:
        out.print(f"        {reason}")
    done = found.repair
    if done is None or (not done.moves and not done.removed):
        out.print("\nnothing has to move")
        return
    out.print(f"\n{plural(done.moves, f'{done.moves} move')}: {done.reason}")
    out.print(f"  out  {_names(done.removed)}")
    out.print(f"  in   {_names(done.added)}")
    print_masks(out, done.after)
    out.print()
    out.print(Text(f"after   {found.after.verdict}: {found.after.rule}", style="bold"))
    if done.is_optimal:
        out.print(
            f"fewest  {done.proof}; fewer would do with probability at most "
            f"{float_text(done.error)}"
        )
    else:
        out.print(f"        at least {done.bound} moves for any repair; {done.proof}")


def draw_repair(found: Mended) -> Figure:
    """The masks before and after in one picture."""
    return draw_masks(
        found.problem.network,
        found.before.problem.allocation.cells,
        found.problem.allocation.cells,
        ("fixed", "learnt before", "learns as before", "learns now"),
        moved=True,
    )


def print_robustness(out: Console, found: Robustness) -> None:
    """What may be lost and what not."""
    size = found.allocation.size
    out.print(Text(str(found), style="bold"))
    out.print(f"\n  weights    {size}, for {found.equations} independent equations")
    out.print(
        f"  survived   any {found.survives} of them lost: proved"
        if found.survives
        else "  survived   no loss for sure"
    )
    out.print(
        f"  fatal      {_names(found.fatal)}: MP = 0 without "
        f"{'it' if len(found.fatal) == 1 else 'them'}, error at most {float_text(found.error)}"
    )
    alone = f"all {size}" if len(found.coloops) == size else _names(found.coloops)
    out.print(f"  coloops    {alone} (each fatal alone)")
    if len(found.coloops) == size:
        return
    lines = ", ".join(found.lines[:16]) + (", …" if len(found.lines) > 16 else "")
    out.print(f"  lines      {lines or 'none'} (fatal where all their weights are lost)")
