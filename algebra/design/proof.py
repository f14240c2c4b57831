r"""The proof that a design is cheapest, as plain data that somebody else can check.

It holds the demand, the weights chosen, and the dual solution: a weight splitting (one kind of
cap or none) or the leaves of a branch and bound with their multipliers.  The check draws its own
random points, so it does not rest on those of the search: at each of them the dual solution must
show, by greedy runs, that no design costs less.  A design that is cheaper and generic would have
to be dependent at all of these points (`algebra.design.demand`).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from algebra.certificates.checks import FAILED, PROBABLE, PROVED, Check, CheckFailed, Verification
from algebra.design.cheapest import Design, float_text
from algebra.design.demand import TARGET, Demand, demand
from algebra.errors import InputError
from algebra.matroids.branch_and_bound import capped_basis, certified_bound
from algebra.matroids.intersection import CommonBasis, Shortage, common_basis, is_optimal
from algebra.matroids.lagrangian import Leaf
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem, problem_from_dict
from algebra.ranks.jacobian import allocation_rank

FORMAT, VERSION = "matchprob-design", 1


def design_to_dict(asked: Demand, found: Design) -> dict[str, Any]:
    """The proof of a design.

    Parameters
    ----------
    asked : Demand
        Without the cap that goal "spread" found itself.
    found : Design
        Of the goals "cheapest" and "spread".
    """
    if not found.evidence:
        raise InputError(f"a design of goal {found.goal!r} has no proof of this form")
    if not found.measure and not found.is_optimal:
        raise InputError("the design is not proved to be cheapest: allow the search more time")
    everything = Allocation.from_cells(asked.network, asked.cells)
    return {
        "format": FORMAT,
        "version": VERSION,
        "problem": Problem.of(everything, support=asked.support).to_dict(),
        "must": [list(cell) for cell in sorted(asked.must)],
        "prices": [str(asked.prices[cell]) for cell in asked.cells],
        "caps": dict(found.caps),
        "size": asked.size,
        "goal": found.goal,
        "spread": found.measure.rpartition(" ")[2] if found.goal == "spread" else None,
        "design": [list(cell) for cell in found.allocation.cells],
        "cost": str(found.cost),
        "evidence": dict(found.evidence),
    }


def verify_design(data: Mapping[str, Any], *, seed: int = 1) -> Verification:
    """Check the proof of a design.

    Parameters
    ----------
    data : mapping
        What `design_to_dict` makes.
    seed : int, optional
        The points follow from it.

    Returns
    -------
    Verification

    Examples
    --------
    >>> from algebra.design.cheapest import cheapest
    >>> from algebra.networks.base import LinearEstimator
    >>> asked = demand(LinearEstimator(q=3, d=2, m=2), caps={"column": 2})
    >>> verify_design(design_to_dict(asked, cheapest(asked))).holds
    True
    """
    if data.get("format") != FORMAT or data.get("version") != VERSION:
        raise InputError(f"this is not a proof of a design: `format` is not {FORMAT!r}, 1")
    checks: list[Check] = []
    with suppress(_Stop):
        asked, chosen = _step(checks, "design", lambda: _design(data, seed, checks))
        _step(checks, "evidence", lambda: _optimal(data, asked, chosen, checks))
        if data.get("spread"):
            _step(checks, "spread", lambda: _spread(data, asked, checks))
    return Verification(f"{data.get('goal')} design", tuple(checks))


class _Stop(Exception):
    """A check failed: those after it would rest on it."""


def _step(checks: list[Check], place: str, action: Any) -> Any:
    try:
        return action()
    except CheckFailed as failure:
        checks.append(Check(failure.place, FAILED, str(failure)))
    except InputError as error:
        checks.append(Check(place, FAILED, str(error)))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        checks.append(Check(place, FAILED, f"malformed: {type(error).__name__}: {error}"))
    raise _Stop


def _design(data: Mapping[str, Any], seed: int, checks: list[Check]) -> tuple[Demand, Allocation]:
    """The demand, and that the design meets it."""
    problem = problem_from_dict(data["problem"])
    cells = problem.allocation.cells
    prices = dict(zip(cells, map(Fraction, data["prices"]), strict=True))
    must = [(str(n), int(i), int(j)) for n, i, j in data["must"]]
    asked = demand(
        problem.network, allowed=cells, must=must, costs=prices, caps=dict(data["caps"]),
        budget=data["size"], support=problem.support, seed=seed,
    )  # fmt: skip
    chosen = Allocation.from_cells(problem.network, [(n, i, j) for n, i, j in data["design"]])
    if not set(must) <= set(chosen.cells) <= set(cells):
        raise CheckFailed("design", "weights learn that may not, or others must and do not")
    if chosen.size != asked.size:
        raise CheckFailed("design", f"has {chosen.size} weights, {asked.size} were asked for")
    place = {cell: k for k, cell in enumerate(asked.free)}
    free = [place[cell] for cell in chosen.cells if cell in place]
    for (line, number), (group, left) in zip(asked.caps, asked.all_groups(), strict=False):
        counts = np.bincount([group[k] for k in free], minlength=len(left))
        if (counts > np.array(left)).any():
            raise CheckFailed("caps", f"more than {number} weights in a {line}")
    cost = asked.cost(chosen.cells)
    if cost != Fraction(data["cost"]):
        raise CheckFailed("cost", f"says {data['cost']}, the prices add up to {cost}")
    rank = allocation_rank(chosen, asked.support, asked.equations, seed)
    if rank.rank < asked.equations:
        raise CheckFailed("design", f"is minimal: rank {rank.rank} of {asked.equations}")
    checks.append(
        Check("design", PROVED, f"meets the demand at cost {cost}, not minimal (rank {rank.rank})")
    )
    return asked, chosen


def _optimal(
    data: Mapping[str, Any], asked: Demand, chosen: Allocation, checks: list[Check]
) -> None:
    """At points of our own the dual solution leaves nothing cheaper."""
    evidence = data["evidence"]
    place = {cell: k for k, cell in enumerate(asked.free)}
    elements = tuple(sorted(place[c] for c in chosen.cells if c in place))
    cost = sum(asked.costs[k] for k in elements)
    systems = asked.all_groups()
    error, count = Fraction(1), 0
    for p, number in asked.points():
        if error < TARGET:
            break
        columns = asked.columns(p, number)
        if evidence["kind"] == "splitting":
            scale = int(evidence["scale"])
            first = np.array(evidence["first"], np.int64)
            whole = np.array([c * scale for c in asked.costs], np.int64)
            basis = CommonBasis(elements, cost, first, whole - first, scale)
            good = len(systems) == 1 and is_optimal(columns, p, *systems[0], asked.costs, basis)
        else:
            leaves = [
                Leaf(tuple(inside), tuple(outside), tuple(map(tuple, lines)))
                for inside, outside, lines in evidence["leaves"]
            ]
            task = (columns, p, systems, asked.costs, asked.wanted)
            good = certified_bound(*task, leaves, cost) == cost
        if not good:
            raise CheckFailed("evidence", "the dual solution does not show that nothing is cheaper")
        error *= asked.point_error
        count += 1
    text = f"nothing is cheaper at {count} new points; error at most {float_text(error)}"
    checks.append(Check("evidence", PROBABLE, text))


def _spread(data: Mapping[str, Any], asked: Demand, checks: list[Check]) -> None:
    """With a cap of one less there is no design."""
    line = str(data["spread"])
    number = dict(asked.caps)[line]
    caps = tuple((kind, k - (kind == line)) for kind, k in asked.caps)
    if number <= 1 or any(k < 0 for _, k in caps):
        checks.append(Check("spread", PROVED, f"a {line} with a weight has at least one"))
        return
    less = replace(asked, caps=caps)
    p, at = next(less.points())
    columns, systems = less.columns(p, at), less.all_groups()
    if len(systems) == 1:
        found = common_basis(columns, p, *systems[0], less.costs, less.wanted)
        none = isinstance(found, Shortage)
    else:
        none = capped_basis(columns, p, systems, less.costs, less.wanted).elements is None
    if not none:
        raise CheckFailed("spread", f"a cap of {number - 1} in a {line} admits a design")
    text = f"no design with {number - 1} in a {line}; error at most {float_text(less.point_error)}"
    checks.append(Check("spread", PROBABLE, text))
