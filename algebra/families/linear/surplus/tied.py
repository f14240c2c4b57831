r"""More weights than equations: maximal because groups of weights that move together are.

Let r > ρ cells learn.  Students in which the cells of a group move by the same amount, each from
its own value, and other cells do not move, are students of the allocation.  With ρ groups and a
Jacobian of rank ρ in their amounts, the theorem of `algebra.systems.update_roots` says that a
generic instance has a number N of complex solutions of this type, and a real one if N is odd: then
MP = 1.

Groups of one cell each are sub-allocations: slices of the fibre, a variety of dimension r − ρ, by
planes parallel to the axes.  Other groups are other slices, and their N may be odd when those of
all sub-allocations are even: N is the degree of the divisor of poles of a function on the fibre,
and the poles of w_i − w_j are those of w_i and w_j with the higher order at each place.  From an
even N of a slice nothing follows: real points of the fibre need not lie on it, nor on any other
slice.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

from algebra.certificates.checks import PROVED, CheckFailed, Say
from algebra.problems.allocation import Cell
from algebra.problems.problem import Problem
from algebra.problems.updates import Tied
from algebra.ranks.parametrized import learning_rank
from algebra.time_limits import check_time

PLACE = "evidence.tied"


def tied_problems(problem: Problem, equations: int, seed: int, most: int) -> Iterator[Problem]:
    """Problems with random groups of cells that move together, as many groups as equations.

    Only problems of full rank; cells of a group are in one matrix.

    Parameters
    ----------
    problem : Problem
        It has more learnable cells than equations.
    equations : int
        The network's generic rank ρ.
    seed : int
    most : int
        Largest number of groupings that are tried.
    """
    rng = random.Random(f"tied/{seed}")
    seen = set()
    for _ in range(most):
        check_time()
        groups: list[list[Cell]] = [[cell] for cell in problem.allocation.cells]
        rng.shuffle(groups)
        while len(groups) > equations:
            group = groups.pop()
            # Usually it joins another group; otherwise its cells stay fixed.
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
    """Check that the tied cells are the allocation's, in ρ groups of rank ρ.

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
    say(PLACE, PROVED, f"{groups} groups of tied weights, of full rank")
