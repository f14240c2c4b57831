"""Verdicts of every family: certify by the family of a network."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from algebra.certificates.tools import Effort, Tools
from algebra.errors import InputError
from algebra.families.registry import family_of
from algebra.problems.premises import Feature
from algebra.problems.problem import Problem
from algebra.time_limits import limited
from algebra.work import Limits, by_work

if TYPE_CHECKING:
    from algebra.certificates.certificate import Certificate


def certify(
    problem: Problem,
    *,
    seed: int = 0,
    timeout: float = 120.0,
    search: float = 2.0,
    subsets: int = 40,
    effort: float = 1.0,
    tools: Tools | None = None,
) -> Certificate:
    """Decide whether an allocation is maximal, minimal or in between.

    Parameters
    ----------
    problem : Problem
        With a fixed allocation.  Constraints are left out: the verdict is about matches that need
        not satisfy them.
    seed : int, optional
        Determines random points and instances.
    timeout, search, subsets, effort : optional
        See `algebra.work.Limits`; `timeout` is for the whole call, and ends it.  Searches
        and counts are bounded by work, so that the verdict does not depend on the machine.
    tools : Tools, optional
        Methods in floating point; none by default.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> certify(Problem(net, {"W": [[1, 1], [0, 0]]})).verdict
    'maximal'
    """
    task = Effort(seed, Limits(timeout, search, subsets, effort), tools or Tools())
    with limited(task.limits.seconds), by_work(task.limits.work):
        return replace(_certify(problem.without_constraints(), task), limits=task.limits)


def _certify(problem: Problem, effort: Effort) -> Certificate:
    if problem.teacher is not None:
        from algebra.families.other_teacher import certify_other_teacher

        return certify_other_teacher(problem, effort, _certify)
    updated = bool(problem.updates)
    on_pieces = Feature.PIECES in problem.features
    if Feature.ARBITRARY_LABELS in problem.features and (
        (on_pieces and (updated or problem.learning.size < problem.network.outputs))
        or not family_of(problem.network).reaches_any_labels(problem.network)
    ):
        from algebra.families.arbitrary_labels import certify_by_number

        return certify_by_number(problem, effort)
    if updated:
        # Problems in which matrices learn by updates, for all networks.  An equivalent problem of
        # cells is certified by `_certify`.
        from algebra.families.updates.certify import certify_updates

        return certify_updates(problem, effort, _certify)
    family = family_of(problem.network)
    # A verdict is on fixed parameters: random cells are refused here.
    assert problem.learning is not None
    refused = sorted(problem.features - family.covered())
    if refused:
        raise InputError(
            f"verdicts on this {problem.network.title} network are not known with "
            f"{' and '.join(refused)}: use estimate, count or decide, which treat single trials"
        )
    if problem.values.pinned(problem.allocation.cells):
        # Guesses and numerical counts are for weights that are drawn.
        effort = replace(effort, tools=Tools())
    return family.certify(problem, effort)
