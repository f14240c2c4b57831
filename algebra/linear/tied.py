r"""More weights than equations: maximal because some of them may move together.

Let r > ρ cells learn.  Students in which the cells of a group move by the same amount, each from a
value of its own, and other cells not at all, are students of the allocation.  With ρ groups and a
Jacobian of rank ρ in their amounts, the theorem of `algebra.systems.update_roots` says that a
generic instance has a number N of complex solutions of this kind, and a real one where N is odd:
then MP = 1.

Groups of one cell each are sub-allocations: slices of the fibre, a variety of dimension r − ρ, by
planes along the axes.  Other groups are other slices, and their N may be odd where those of all
sub-allocations are even: N is the degree of the divisor of poles of a function on the fibre, and
the poles of w_i − w_j are those of w_i and w_j of the higher order at each place.  An even N of a
slice says nothing: real points of the fibre need not lie on it, nor on any other.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

from algebra.certificates.checks import PROVED, CheckFailed, Say
from algebra.problems.allocation import Cell
from algebra.problems.problem import Problem
from algebra.problems.updates import Tied
from algebra.ranks.updates import learning_rank
from algebra.time_limits import check_time

PLACE = "evidence.tied"


def tied_problems(problem: Problem, equations: int, seed: int, most: int) -> Iterator[Problem]:
    """Problems in which as many groups of cells as there are equations move, at random.

    Only such of full rank; cells of a group are in one matrix.

    Parameters
    ----------
    problem : Problem
        With more learnable cells than equations.
    equations : int
        The network's generic rank ρ.
    seed : int
    most : int
        Divisions into groups that are tried.
    """
    rng = random.Random(f"tied/{seed}")
    seen = set()
    for _ in range(most):
        check_time()
        groups: list[list[Cell]] = [[cell] for cell in problem.allocation.cells]
        rng.shuffle(groups)
        while len(groups) > equations:
            group = groups.pop()
            # Most often it joins another one; else its cells stay fixed.
            friends = [other for other in groups if other[0][0] == group[0][0]]
            if friends and rng.randrange(5):
                rng.choice(friends).extend(group)
        key = frozenset(frozenset(group) for group in groups)
        if key in seen or all(len(group) == 1 for group in groups):
            continue
        seen.add(key)
        tied = _with_groups(problem, groups)
        if learning_rank(tied.learning, equations, seed).rank == equations:
            yield tied


def _with_groups(problem: Problem, groups: list[list[Cell]]) -> Problem:
    shapes = problem.network.shapes
    numbers = {group[0][0]: np.zeros(shapes[group[0][0]], np.int64) for group in groups}
    for k, group in enumerate(groups):
        for name, i, j in group:
            numbers[name][i, j] = k + 1
    return Problem(problem.network, {n: Tied(v) for n, v in numbers.items()}, problem.support)


def check_tied(problem: Problem, tied: Problem, equations: int, seed: int, say: Say) -> None:
    """Cells that move together are the allocation's, in ρ groups of rank ρ.

    Raises
    ------
    CheckFailed
    """
    masks = problem.allocation.masks
    for name, update in tied.updates.items():
        assert isinstance(update, Tied)
        if ((np.array(update.numbers) != 0) & (np.asarray(masks.get(name, 0)) == 0)).any():
            raise CheckFailed(PLACE, f"cells of {name} are tied that do not learn")
    groups = tied.learning.dimension
    found = learning_rank(tied.learning, equations, seed).rank
    if groups != equations or found != equations:
        raise CheckFailed(PLACE, f"{groups} groups of rank {found} for {equations} equations")
    say(PLACE, PROVED, f"{groups} groups of weights that move together, of full rank")
