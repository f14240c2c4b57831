"""Bases under several kinds of caps against brute force; bounds that check, and can fail."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.errors import DualError
from algebra.linalg.ranks import modular_rank
from algebra.matroids.branch_and_bound import Tree, capped_basis, conditions_cover, counting_reason
from algebra.matroids.capped import CappedProblem
from algebra.matroids.lagrangian import LagrangianLeaf
from numeric.questions.design.cap_relaxation import linear_relaxation
from tests.algebra.matroids.by_force import least_cost
from tests.refusals import refuses
from tests.samples import P, many


@st.composite
def problems(draw):
    rows = draw(st.integers(1, 4))
    E = draw(st.integers(rows, 9))
    entries = st.integers(0, 2)
    columns = np.array(
        draw(st.lists(st.lists(entries, min_size=E, max_size=E), min_size=rows, max_size=rows)),
        np.int64,
    )
    systems = [
        (
            draw(st.lists(st.integers(0, 2), min_size=E, max_size=E)),
            draw(st.lists(st.integers(0, 3), min_size=3, max_size=3)),
        )
        for _ in range(draw(st.integers(2, 3)))
    ]
    costs = draw(st.lists(st.integers(-3, 9), min_size=E, max_size=E))
    return columns, P, systems, costs, max(1, modular_rank(columns, P))


@given(problems(), st.booleans())
@settings(max_examples=many(150), deadline=None)
def test_brute_force(problem, linear):
    """With either relaxation: the least cost with leaves that prove it, or a proof of none."""
    asked = CappedProblem(*problem)
    found = capped_basis(asked, relax=linear_relaxation(asked) if linear else None)
    best = least_cost(asked)
    assert found.cost == best == found.bound
    bound = found.dual.bound(asked)
    assert bound is None if best is None else bound >= best


def test_an_unfinished_search_is_honest():
    """If the search is stopped, the bound is at most the optimum, and the leaves cover all sets."""
    rng = np.random.default_rng(1)
    columns = rng.integers(0, 50, (4, 12))
    systems = [
        (rng.integers(0, 4, 12).tolist(), [1] * 4),
        (rng.integers(0, 4, 12).tolist(), [1] * 4),
    ]
    costs = rng.integers(1, 50, 12).tolist()
    asked = CappedProblem(columns, P, systems, costs, 4)
    best = capped_basis(asked)
    assert best.is_optimal
    for nodes in range(1, 6):
        cut = capped_basis(asked, nodes=nodes)
        assert cut.bound <= best.cost
        assert cut.cost is None or cut.cost >= best.cost
        assert cut.dual.bound(asked) == cut.bound


def test_leaves_that_do_not_cover_are_refused():
    """A missing leaf, or a negative multiplier, is found."""
    columns = np.array([[1, 0, 1, 1], [0, 1, 1, 2]])
    systems = [([0, 0, 1, 1], [1, 1]), ([0, 1, 0, 1], [1, 1])]
    task = CappedProblem(columns, P, systems, [1, 2, 5, 1], 2)
    none = ((0, 0), (0, 0))
    refuses("cover", Tree((LagrangianLeaf((0,), (), none),)).bound, task, error=DualError)
    assert Tree((LagrangianLeaf((0,), (), none), LagrangianLeaf((), (0,), none))).bound(task) == 2
    bad = replace(LagrangianLeaf((), (), none), multipliers=((0, -1), (0, 0)))
    refuses("negative", Tree((bad,)).bound, task, error=DualError)
    with pytest.raises(DualError, match="one multiplier for each line"):
        Tree((replace(bad, multipliers=((0, 0),)),)).bound(task)
    with pytest.raises(DualError, match="does not exist"):
        Tree((LagrangianLeaf((4,), (), none), LagrangianLeaf((), (4,), none))).bound(task)


def test_what_covers_all_sets():
    """Leaves of a tree cover all sets, in any order; with one missing they do not."""
    leaves = [({0, 1}, set()), ({0}, {1}), ({2}, {0}), (set(), {0, 2})]
    parts = [(frozenset(i), frozenset(o)) for i, o in leaves]
    assert conditions_cover(parts)
    assert conditions_cover(parts[::-1])
    assert conditions_cover([(frozenset(), frozenset())])
    for k in range(4):
        assert not conditions_cover(parts[:k] + parts[k + 1 :])
    assert not conditions_cover([])


def test_a_counting_reason_holds():
    """If each cap alone can be kept but both cannot, the reason's numbers are correct."""
    # A triangle of pairs: any two of three independent directions, rows and columns tight.
    columns = np.eye(3, dtype=np.int64)[:, [0, 1, 2]]
    systems = [([0, 0, 1], [1, 1]), ([0, 1, 1], [1, 1])]
    asked = CappedProblem(columns, P, systems, [1, 1, 1], 3)
    found = capped_basis(asked, relax=linear_relaxation(asked))
    assert found.elements is None
    assert found.bound is None
    lines, needed, left = counting_reason(asked, found.dual.leaves[0].multipliers)
    assert needed > left
    weight = sum(v * sum(g == line for g in systems[s][0]) for s, line, v in lines)
    assert weight == needed


@given(problems(), st.integers(0, 80))
@settings(max_examples=many(60), deadline=None)
def test_costs_of_any_size(problem, bits):
    """Costs beyond 64 bits: the same set, its cost multiplied, without overflow."""
    small = CappedProblem(*problem)
    asked = small._replace(costs=[c << bits for c in small.costs])
    found = capped_basis(asked, relax=linear_relaxation(asked))
    best = least_cost(small)
    assert found.cost == found.bound == (None if best is None else best << bits)
