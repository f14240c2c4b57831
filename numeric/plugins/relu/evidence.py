"""A search for a ReLU instance that proves MP < 1: it and all instances near it have no match."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from algebra.checker.reading import TooLarge
from algebra.plugins.relu.decision import decision_data, read_decision
from algebra.plugins.relu.network import ShallowReLU
from algebra.plugins.relu.verify import persists
from algebra.problems.problem import Problem
from algebra.work import end_of_part, has_passed, spend
from numeric.plugins.relu.decide import decide_cells
from numeric.plugins.relu.hull import hull_fits, learning_units
from numeric.trials.instances import draw_instance, to_rational

# Work of an instance, in seconds: most trees are small.
_INSTANCE = 0.02
# Small trees are preferred as evidence: instances with larger ones are skipped.
_MOST_NODES = 400


def refuted_instance(problem: Problem, seed: int, seconds: float) -> Mapping[str, Any] | None:
    """The evidence of one instance, or None if none is found in time.

    Parameters
    ----------
    problem : Problem
        A problem of a shallow ReLU net with a fixed allocation.
    seed : int
    seconds : float
        Work after which no further instance is begun; the first one always is.

    Returns
    -------
    dict or None
        See `algebra.plugins.relu.decision.decision_data`; `algebra.plugins.relu.verify.persists`
        holds.
    """
    if not isinstance(problem.network, ShallowReLU) or set(problem.allocation.matrices) != {"W1"}:
        return None
    end, index = end_of_part(seconds), 0
    while index == 0 or not has_passed(end):
        spend(_INSTANCE)
        instance = draw_instance(problem, seed, index)
        if not len(learning_units(instance)) or not hull_fits(instance):
            return None
        found = decide_cells(instance, certify=True, most_nodes=_MOST_NODES)
        if found.leaves is not None and found.system is not None:
            teacher = {name: to_rational(value) for name, value in instance.teacher.items()}
            data = decision_data(found.system, None, found.leaves, teacher)
            try:
                good = persists(problem, read_decision(data))
            except TooLarge:
                return None
            if good:
                return data
        index += 1
    return None
