"""Verdicts where matrices learn by updates: low rank, gains, ties.

* If all updates are equivalent to cells (`algebra.systems.equivalent_cells`) the verdict is that on
  the cells.
* Otherwise the parameters of the updates are weights of their own (`algebra.ranks.parametrized`),
  and the verdict is that on these weights, by the same search over the same arguments
  (`algebra.arguments.certify`): those whose premises cover updates.  The theorem on ranks and that
  on the number of complex solutions are in `algebra.ranks.updates`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from algebra.arguments.certify import certify_by_arguments
from algebra.certificates.certificate import Certificate
from algebra.certificates.sentences import NEAR
from algebra.certificates.tools import Effort
from algebra.certificates.vanishing import labels_vanish
from algebra.checker.verdicts import INTERMEDIATE, MAXIMAL, MINIMAL
from algebra.documents import Explanation, step
from algebra.problems.problem import Problem
from algebra.problems.updates import LowRank
from algebra.ranks.parametrized import by_parameters
from algebra.systems.equivalent_cells import AsCells, as_cells
from algebra.words import plural

CellVerdict = Callable[[Problem, Effort], Certificate]


def certify_updates(problem: Problem, effort: Effort, certify_cells: CellVerdict) -> Certificate:
    """Decide a problem with updates if possible; `certify_cells` certifies problems of cells."""
    cells = as_cells(problem)
    plain, simpler = cells.original, cells.problem
    if labels_vanish(plain.network, plain.support):
        found = replace(certify_cells(cells.moving, effort), problem=problem)
        return replace(found, explained=_explained(found))
    if simpler.updates:
        found = certify_by_arguments(by_parameters(simpler), effort, more=problem.features)
    else:
        found = certify_cells(simpler, effort)
    found = replace(found, problem=problem, notes=(*found.notes, *_equivalences(cells)))
    return replace(found, explained=_explained(found))


def _equivalences(cells: AsCells) -> tuple[str, ...]:
    """The updates that are equivalent to cells, in words."""
    out, problem = [], cells.original
    for name, mask in cells.masks.items():
        update = problem.updates[name]
        whole = isinstance(update, LowRank)
        what = f"the whole {name} does" if whole else f"its {int(mask.sum())} cells do"
        out.append(f"{update.words(name, problem.network.shapes[name])} reaches all that {what}")
    return tuple(out)


def _explained(found: Certificate) -> Explanation:
    """The explanation of a verdict on a problem in which matrices learn by updates."""
    learning = found.problem.learning
    size, gauge = learning.size, learning.size - learning.dimension
    what = plural(size, f"{size} learnable parameter")
    if gauge:
        what += f" ({gauge} of them gauge: they change no weight)"
    inspect = step("inspect", "sizes, dimensions and ranks of the updates")
    identify = step("identify", "which weights the data determine")
    if found.verdict == MINIMAL:
        lacking = found.equations - found.rank
        text = (
            f"MP = 0: a match has to satisfy "
            f"{plural(found.equations, f'{found.equations} independent equation')}, and the {what} "
            f"{'changes' if size == 1 else 'change'} the outputs in "
            f"{plural(found.rank, f'{found.rank} independent direction')} only, {lacking} too few."
        )
        return Explanation((text,), steps=(inspect,))
    reach = f"Not minimal: the {what} reach all {found.equations} independent equations."
    if found.verdict == MAXIMAL:
        if not found.equations:
            return Explanation((found.why,))
        return Explanation((reach, found.why), steps=(identify,))
    known = [reach, f"So {NEAR}"]
    open_ = "whether MP = 1: the number of complex solutions is unknown or infinite"
    if found.generic_root_count is not None:
        open_ = (
            f"whether MP = 1: almost every instance has N = {found.generic_root_count} complex "
            "solutions, and N is even, so all of them may be non-real"
        )
    decided = (
        "a maximal allocation of cells that the updates can change freely (a larger rank may have "
        "one)"
    )
    if found.verdict == INTERMEDIATE:
        known.append("MP < 1: some teachers, of positive probability, are out of reach.")
        open_, decided = "the value of MP: no formula is known", ""
    return Explanation(tuple(known), open_, decided, (inspect, identify))
