"""Short descriptions of the differences between studies of one store: cells, laws, settings.

Studies of the same network with as many learnable weights look alike in a list.  The description
of each contains only what differs among the studies that look alike.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from hashlib import sha256
from typing import Any

from algebra.problems.files import problem_from_dict
from algebra.problems.problem import Problem
from algebra.problems.random_cells import RandomCells
from algebra.problems.updates import Update
from algebra.systems.equivalent_cells import in_parameters
from numeric.studies.store import StudyInfo

# Largest number of cells that are listed; the number of the others is given.
_MOST_CELLS = 6
# Settings that a list shows in a column of their own.
_ELSEWHERE = ("engine",)


def study_differences(
    studies: Sequence[StudyInfo], alike: Callable[[Problem], Hashable]
) -> list[str]:
    """The properties of each study that it does not share with those that look like it.

    Parameters
    ----------
    studies : sequence of StudyInfo
    alike : callable
        The properties of a problem that the reader sees in any case.

    Returns
    -------
    list of str
        Empty for studies that look like no other.
    """
    problems = [problem_from_dict(s.work["problem"]) for s in studies]
    groups: dict[Hashable, list[int]] = {}
    for k, problem in enumerate(problems):
        groups.setdefault(alike(problem), []).append(k)
    texts = [""] * len(studies)
    for members in groups.values():
        cells = [_cells(problems[k]) for k in members]
        shared = set.intersection(*cells)
        facets = [_facets(studies[k], problems[k]) for k in members]
        names = sorted({name for found in facets for name in found})
        differing = [n for n in names if len({str(found.get(n)) for found in facets}) > 1]
        for k, own, found in zip(members, cells, facets, strict=True):
            parts = [_listed(own - shared)] if own - shared else []
            parts += [f"{n.replace('_', ' ')} {found[n]}" for n in differing if n in found]
            texts[k] = "; ".join(parts)
    return texts


def _cells(problem: Problem) -> set[tuple[str, int, int]]:
    if problem.is_random:
        return set()
    return set(in_parameters(problem).allocation.cells)


def _facets(study: StudyInfo, problem: Problem) -> dict[str, Any]:
    """All properties except the cells of a fixed allocation, by name."""
    known: dict[str, Any] = {
        name: value for name, value in study.work["settings"].items() if name not in _ELSEWHERE
    }
    data = study.work["problem"]
    known |= {
        name: value
        for name, value in data.items()
        if name not in ("network", "learnable", "support")
    }
    known |= {
        name: value
        for name, value in problem.learnable.items()
        if isinstance(value, RandomCells | Update)
    }
    known |= {
        f"support of {name}": f"{int(mask.sum())} cells, {sha256(mask.tobytes()).hexdigest()[:6]}"
        for name, mask in problem.support.items()
    }
    return known


def _listed(cells: set[tuple[str, int, int]]) -> str:
    shown = [f"{name}[{i},{j}]" for name, i, j in sorted(cells)[:_MOST_CELLS]]
    more = len(cells) - len(shown)
    return " ".join(shown) + (f" and {more} more" if more else "")
