"""Immediate results on an allocation: ranks, budgets, violations, theorems, changes.

All results here take a few tens of milliseconds at most, in the process of the page, at every
click.  Longer computations (elimination, root counts, searches) are jobs.  A part that does not
apply to a kind of network is None, with the reason as text.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from algebra.certificates.trial_costs import affordable_trials, expectation, too_costly
from algebra.certificates.vanishing import labels_vanish
from algebra.linalg.numbers import nearest_double
from algebra.networks.base import Network
from algebra.networks.protocols import BUDGETS, HasLimits, limits_of, not_known
from algebra.plugins.papers.theorems.statements import THEOREMS
from algebra.problems.allocation import Allocation
from algebra.problems.premises import Feature
from algebra.problems.problem import Problem
from algebra.ranks.budgets.cover import budget_violations
from algebra.ranks.budgets.lines import Budget, budgets
from algebra.ranks.generic_rank import GenericRank, allocation_rank, network_rank
from algebra.ranks.parametrized import by_parameters
from algebra.ranks.what_if import what_if
from algebra.results import named
from algebra.systems.forms import preferred_form, preferred_forms, unknown_count
from algebra.systems.incidence import BlockTriangularForm, block_triangular_form
from algebra.systems.instances import modular_instance
from algebra.systems.system import WrittenSystem
from algebra.time_limits import OutOfTime, within
from matchprob.plugins.page.state import PageState, pack

# Time limit in seconds after which the remaining parts are skipped; small nets need hundredths.
PATIENCE = 3.0
# Largest number of unknowns for an immediate block triangular form; larger ones are jobs.
FEW_UNKNOWNS = 320
MOST_UNKNOWNS = 4000
# Largest number of marks in a picture of the incidence matrix.
MOST_MARKS = 60_000
# A prime for the structure: it determines which unknowns occur where, not the number of solutions.
_PRIME = 2_147_483_629

Data = dict[str, Any]


def immediate_results(state: PageState, seed: int = 0) -> Data:
    """All immediate results.

    Parameters
    ----------
    state : PageState
    seed : int, optional

    Returns
    -------
    dict
        Plain data: see `matchprob.plugins.page.session`.
    """
    start = time.perf_counter()
    # Parameters of updates are weights beside those that are painted.
    problem = by_parameters(state.problem)
    is_painted = not state.problem.updates
    network, allocation = problem.network, problem.allocation
    unknown: list[str] = []

    def part(what: Callable[[], Any]) -> Any:
        try:
            return what()
        except OutOfTime:
            unknown.append("some parts take longer than a page can wait: use the buttons below")
        return None

    with within(PATIENCE):
        # Where ranks modulo primes say nothing of MP, or not for certain, the verdict is a job.
        is_ranked = network.rank_decides and network.ranks_are_exact(problem.support)
        ranks = part(lambda: _ranks(problem, seed)) if is_ranked else None
        is_counted = isinstance(network, HasLimits)
        if not is_counted:
            unknown.append(str(not_known(network, *BUDGETS)))
        expected = expectation(problem)
        is_few = (
            is_painted and network.chain() is not None and _unknowns(allocation) <= FEW_UNKNOWNS
        )
        data = {
            "digest": state.problem.digest,
            "title": str(network),
            "learnable": allocation.size,
            "outputs": network.outputs,
            "trials": affordable_trials(problem),
            "too_costly": " ".join(too_costly(problem)),
            "expected": expected and f"{expected[0].upper()}{expected[1:]}.",
            "shapes": {n: list(shape) for n, shape in state.problem.network.shapes.items()},
            "rank": ranks,
            "limits": part(lambda: _limits(network)) if is_counted else None,
            "totals": part(lambda: _totals(allocation)) if is_counted else None,
            "violations": part(lambda: [_violation(v) for v in budget_violations(allocation)])
            if is_counted
            else None,
            "theorems": _theorems(network, allocation, ranks),
            "what_if": part(lambda: _what_if(problem, seed)) if ranks and is_painted else None,
            "blocks": part(lambda: blocks_of(problem, seed)) if is_few else None,
            "notes": ["discrete"] if Feature.DISCRETE in problem.features else [],
        }
    data["unknown"] = list(dict.fromkeys(unknown))
    data["milliseconds"] = 1000 * (time.perf_counter() - start)
    return data


def blocks_of(problem: Problem, seed: int = 0) -> Data | None:
    """The incidence matrix of the equations in block triangular form."""
    allocation = problem.allocation
    if not allocation.size:
        return None
    form = preferred_form(allocation)
    if unknown_count(allocation, form) > MOST_UNKNOWNS:
        return None
    instance = modular_instance(
        allocation, _PRIME, seed, problem.support, key="inspect", teacher=True
    )
    system = instance.system(form).without_identities()
    patterns = [np.flatnonzero(row).tolist() for row in system.occurs]
    return incidence(system, block_triangular_form(system.occurs, len(system.unknowns)), patterns)


def incidence(system: WrittenSystem, form: BlockTriangularForm, patterns: Any) -> Data:
    """The permuted incidence matrix as plain data: blocks, marks, names."""
    rows = {e: k for k, e in enumerate(form.row_order)}
    columns = {u: k for k, u in enumerate(form.column_order)}
    parts = []
    for k, block in enumerate(form.parts):
        if not block:
            continue
        kind = "square"
        if k == 0:
            kind = "over"
        elif k == len(form.parts) - 1:
            kind = "under"
        parts.append(
            {
                "kind": kind,
                "rows": [min((rows[e] for e in block.equations), default=0), len(block.equations)],
                "columns": [
                    min((columns[u] for u in block.unknowns), default=0), len(block.unknowns)
                ],
                # Unknowns that are learnable weights, by index in the allocation's order.
                "weights": [u for u in block.unknowns if u < system.weights],
            }
        )  # fmt: skip
    marks = [[rows[e], columns[u]] for e, row in enumerate(patterns) for u in row]
    return {
        "form": system.form,
        "equations": len(rows),
        "unknowns": len(columns),
        "weights": system.weights,
        "parts": parts,
        "marks": marks if len(marks) <= MOST_MARKS else None,
        "labels": [system.labels[e] for e in form.row_order],
        "names": [system.unknowns[u] for u in form.column_order],
    }


def _unknowns(allocation: Allocation) -> int:
    forms = preferred_forms(allocation.network, allocation)
    return unknown_count(allocation, forms[0])


def _rank_of_network(problem: Problem, seed: int) -> GenericRank:
    support = tuple((name, mask.tobytes()) for name, mask in sorted(problem.support.items()))
    return _cached_rank(problem.network, support, seed)


@lru_cache(maxsize=64)
def _cached_rank(
    network: Network, support: tuple[tuple[str, bytes], ...], seed: int
) -> GenericRank:
    masks = {
        name: np.frombuffer(raw, np.int8).reshape(network.shapes[name]) for name, raw in support
    }
    return network_rank(network, masks, seed)


def _ranks(problem: Problem, seed: int) -> Data:
    """Ranks of the network and of the allocation, and their consequence for MP."""
    allocation = problem.allocation
    whole = _rank_of_network(problem, seed)
    own = allocation_rank(allocation, problem.support, whole.rank, seed)
    is_minimal = own.rank < whole.rank
    # Too few weights are too few at every point; otherwise a deficit has the error of its points.
    error = own.error if is_minimal else whole.error
    if is_minimal and allocation.size < whole.rank and whole.rank:
        error = Fraction(0)
    return {
        "rank": own.rank,
        "equations": whole.rank,
        "minimal": is_minimal,
        "vanish": labels_vanish(problem.network, problem.support),
        "error": nearest_double(error),
    }


def _limits(network: Network) -> Data:
    """Number of equations to which a row and a column of each matrix contribute."""
    out = {}
    for name, limits in limits_of(network).items():
        column = limits.column
        out[name] = {
            "row": [limits.row[0], limits.row[1]],
            "column": None if column is None else [column[0], column[1]],
        }
    return out


def _totals(allocation: Allocation) -> list[Data]:
    return [
        {"subject": b.subject, "used": b.learnable, "limit": b.limit, "text": str(b)}
        for b in budgets(allocation)
        if b.kind in ("total", "matrix")
    ]


def _violation(found: Budget) -> Data:
    return {
        "kind": found.kind,
        "rows": [list(line) for line in found.rows],
        "columns": [list(line) for line in found.columns],
        "text": str(found),
    }


def _theorems(network: Network, allocation: Allocation, ranks: Mapping[str, Any] | None) -> Any:
    """The conclusion of each theorem for this kind of network, as stated."""
    out = []
    for theorem in THEOREMS.values():
        if not theorem.matrices(network):
            continue
        gaps = theorem.gaps(network, allocation)
        out.append(
            {
                **named(theorem, "name", "statement", "source"),
                "says": theorem.says(network, allocation),
                "gaps": list(gaps),
            }
        )
    return out


def _what_if(problem: Problem, seed: int) -> Data:
    found = what_if(problem.allocation, problem.support, seed)
    return {
        "raises": {name: pack(mask) for name, mask in found.raises.items() if mask.any()},
        "lowers": {name: pack(mask) for name, mask in found.lowers.items() if mask.any()},
        "error": nearest_double(found.error),
    }
