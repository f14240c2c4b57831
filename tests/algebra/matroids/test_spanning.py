"""The cheapest groups that span against all sets of groups; the leaves that prove it."""

import math
import time
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.errors import DualError
from algebra.matroids.groups import GroupLeaf, Groups
from algebra.matroids.linear import LinearMatroid
from algebra.matroids.spanning import SpanningProblem, cheapest_groups, spanning_bound
from tests.refusals import refuses
from tests.samples import many

P = 1_000_003


@st.composite
def problems(draw):
    """Up to 7 groups of up to 3 sparse columns, costs with ties, a must, a cap."""
    rows, count = draw(st.integers(1, 5)), draw(st.integers(1, 7))
    entry = st.sampled_from([0, 0, 1, 2, P - 1])
    columns, members = [], []
    for _ in range(count):
        size = draw(st.integers(0, 3))
        members.append(list(range(len(columns), len(columns) + size)))
        columns += [draw(st.lists(entry, min_size=rows, max_size=rows)) for _ in range(size)]
    table = np.array(columns, np.int64).reshape(-1, rows).T
    matroid = LinearMatroid(table, P)
    costs = tuple(draw(st.lists(st.integers(0, 6), min_size=count, max_size=count)))
    start = frozenset(draw(st.sets(st.integers(0, count - 1), max_size=1)))
    systems = []
    if draw(st.booleans()):
        classes = draw(st.lists(st.integers(0, 1), min_size=count, max_size=count))
        systems.append((classes, [draw(st.integers(0, 3)), draw(st.integers(1, 4))]))
    return SpanningProblem(
        Groups.of_columns(matroid, members), costs, matroid.rank(), start, systems
    )


def all_sets(problem):
    """Every set of groups that spans, has the must and keeps the caps."""
    count = len(problem.groups)
    for size in range(count + 1):
        for chosen in combinations(range(count), size):
            if not problem.start <= set(chosen):
                continue
            if problem.keeps_caps(chosen) and problem.spans(chosen):
                yield chosen


@settings(max_examples=many(150), deadline=None)
@given(problems())
def test_against_all_sets(problem):
    """The cost, the bound and the groups; the leaves alone give the bound again."""
    best = min(map(problem.cost, all_sets(problem)), default=None)
    found = cheapest_groups(problem)
    assert (found.cost, found.bound) == (best, best)
    again = spanning_bound(problem, found.leaves)
    assert again is None or best is None or again >= best
    if found.chosen is not None:
        assert found.chosen in set(all_sets(problem))


@settings(max_examples=many(60), deadline=None)
@given(problems(), st.randoms(use_true_random=False))
def test_forged_leaves_prove_no_more_than_is_true(problem, rng):
    """For all leaves, the bound that they give is not above the true one."""
    best = min(map(problem.cost, all_sets(problem)), default=None)
    count = len(problem.groups)
    leaves, stack = [], [((), ())]
    while stack:
        chosen, banned = stack.pop()
        left = [k for k in range(count) if k not in {*chosen, *banned, *problem.start}]
        if left and rng.random() < 0.6:
            k = rng.choice(left)
            stack += [((*chosen, k), banned), (chosen, (*banned, k))]
        else:
            leaves.append(GroupLeaf(chosen, banned))
    bound = spanning_bound(problem, leaves)
    if best is not None:
        assert bound is not None
        assert bound <= best


@settings(max_examples=many(100), deadline=None)
@given(problems(), st.integers(0, 2), st.booleans())
def test_many_vectors_are_treated_alike(problem, slack, is_small):
    """If vectors are made on request, and others only bounded: the same cost and bound."""
    best = min(map(problem.cost, all_sets(problem)), default=None)
    groups = problem.groups
    groups.is_small = is_small
    # Any upper bound will do.
    groups.reach = lambda chosen, others: np.array(
        [groups.rank([*chosen, k]) + slack for k in others], np.int64
    )
    found = cheapest_groups(problem)
    assert (found.cost, found.bound) == (best, best)
    for enough in (None, best):
        again = spanning_bound(problem, found.leaves, enough)
        assert again is None or best is None or again >= best
        fresh = replace(problem, _nodes={})
        now = spanning_bound(fresh, found.leaves, enough)
        assert now is None or best is None or now >= best


@settings(max_examples=many(150), deadline=None)
@given(problem=problems(), lower=st.integers(0, 1), rng=st.randoms())
def test_groups_are_left_out_as_by_ranks(problem, lower, rng):
    """One elimination leaves out what a rank for each group does, also with rank to spare."""
    problem = replace(problem, wanted=max(0, problem.wanted - lower))
    order = list(range(len(problem.groups)))
    rng.shuffle(order)
    order = order[: rng.randint(0, len(order))]
    left = frozenset(range(len(problem.groups)))
    assert problem.spans(left)
    found = problem.without_unneeded(left, order)
    for k in order:
        if problem.spans(left - {k}):
            left -= {k}
    assert found == left


@pytest.mark.parametrize("is_small", [False, True])
def test_two_cheap_groups_may_do_as_well_as_a_dear_one(is_small):
    """One group of cost 6 suffices, but 6 is not a bound: two other groups cost 2."""
    matroid = LinearMatroid(np.eye(3, dtype=np.int64)[:, [0, 1, 2, 1, 2]], P)
    groups = Groups.of_columns(matroid, [[0], [1, 2], [3], [4]])
    groups.is_small = is_small
    groups.reach = lambda chosen, others: np.array(
        [groups.rank([*chosen, k]) for k in others], np.int64
    )
    problem = SpanningProblem(groups, (0, 6, 1, 1), 3, frozenset({0}))
    found = cheapest_groups(problem)
    assert (found.chosen, found.cost, found.bound) == ((0, 2, 3), 2, 2)
    assert spanning_bound(problem, [problem.whole], 6) == problem.quick_bound(problem.whole) == 2
    assert problem.quick_bound(GroupLeaf((0,), (2,))) == 6
    assert problem.quick_bound(GroupLeaf((0,), (1, 2))) is None


def test_few_vectors_are_made_of_many():
    """Of a hundred groups of twenty random vectors in 40 dimensions only a few are computed."""
    rng, made = np.random.default_rng(0), []

    def part(k):
        made.append(k)
        return rng.integers(0, P, (20, 40))

    groups = Groups(part, [20] * 100, 40, P)
    groups.is_small = False
    found = cheapest_groups(SpanningProblem(groups, (1,) * 100, 40))
    assert (found.cost, found.bound) == (2, 2)
    assert len(set(made)) <= 4


def test_leaves_that_leave_something_out_are_refused():
    """A missing branch, a group that does not exist, a banned required group."""
    matroid = LinearMatroid(np.eye(3, dtype=np.int64), P)
    problem = SpanningProblem(
        Groups.of_columns(matroid, [[0], [1], [2]]), (1, 1, 1), 2, frozenset({0})
    )
    refuses("do not cover", spanning_bound, problem, [GroupLeaf((1,), ())], error=DualError)
    refuses("does not exist", spanning_bound, problem, [GroupLeaf((3,), ())], error=DualError)
    refuses("must be there", spanning_bound, problem, [GroupLeaf((), (0,))], error=DualError)


def _hard():
    """Thirty groups of three random columns in 20 dimensions with costs: no bound is tight."""
    rng = np.random.default_rng(4)
    table = rng.integers(0, 2, (20, 90)) * (rng.random((20, 90)) < 0.2)
    members = [list(range(3 * k, 3 * k + 3)) for k in range(30)]
    costs = tuple(int(c) for c in rng.integers(5, 20, 30))
    matroid = LinearMatroid(table.astype(np.int64), P)
    return SpanningProblem(Groups.of_columns(matroid, members), costs, matroid.rank())


def test_a_search_without_time_is_honest():
    """The result spans, and the bound holds; with enough time they are equal."""
    full = cheapest_groups(_hard())
    assert full.cost == full.bound
    short = cheapest_groups(_hard(), frozenset(range(30)), ends=time.monotonic())
    assert short.bound <= full.cost <= short.cost
    assert short.interrupt is None
    assert spanning_bound(_hard(), short.leaves) == short.bound


def test_an_interrupt_keeps_what_was_found(monkeypatch):
    """Ctrl-C in the middle: the best so far, a valid bound, leaves that cover all sets."""
    problem, full = _hard(), cheapest_groups(_hard())
    asked = 0
    make = SpanningProblem.new_node

    def stop(self, leaf, with_essential):
        nonlocal asked
        asked += 1
        if asked == 5:
            raise KeyboardInterrupt
        return make(self, leaf, with_essential)

    monkeypatch.setattr(SpanningProblem, "new_node", stop)
    found = cheapest_groups(problem, frozenset(range(30)), math.inf)
    monkeypatch.undo()
    assert isinstance(found.interrupt, KeyboardInterrupt)
    assert found.bound <= full.cost <= found.cost
    assert spanning_bound(_hard(), found.leaves) >= found.bound
