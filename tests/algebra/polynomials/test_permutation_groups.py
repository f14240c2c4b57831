"""Permutation groups compared with a list of all their elements, and with known groups."""

from math import factorial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.polynomials.permutation_groups import ALTERNATING, OTHER, SYMMETRIC, root_group
from tests.refusals import refuses
from tests.samples import many


def elements(permutations):
    """All products of the permutations."""
    images = [tuple(p) for p in permutations]
    found = {tuple(range(len(images[0])))}
    todo = list(found)
    while todo:
        element = todo.pop()
        for image in images:
            product = tuple(image[i] for i in element)
            if product not in found:
                found.add(product)
                todo.append(product)
    return found


GENERATORS = st.integers(2, 6).flatmap(
    lambda n: st.lists(st.permutations(range(n)), min_size=1, max_size=3)
)


@settings(max_examples=many(60), deadline=None)
@given(GENERATORS)
def test_order_orbits_and_blocks_against_all_elements(generators):
    """Order and orbits are those of the list of elements, and every element keeps the blocks."""
    degree = len(generators[0])
    group = root_group(generators, degree)
    every = elements(generators)
    assert group.order == len(every)
    orbits = {tuple(sorted({element[i] for element in every})) for i in range(degree)}
    assert group.orbits == tuple(sorted(map(len, orbits)))
    blocks = {frozenset(block) for block in group.blocks}
    for element in every:
        assert {frozenset(element[i] for i in block) for block in blocks} == blocks
    if group.is_transitive:
        product = 1
        for stage in group.stages:
            product *= stage
        assert product == degree
        assert (group.kind == SYMMETRIC) == (len(every) == factorial(degree))


@pytest.mark.parametrize("degree", [8, 9, 30, 200])
def test_symmetric_and_alternating_groups_are_told_apart(degree):
    """A transposition and a long cycle generate S_N; a 3-cycle and an even one A_N."""
    turn = [*range(1, degree), 0]
    swap = [1, 0, *range(2, degree)]
    whole = root_group([turn, swap], degree)
    assert (whole.kind, whole.order) == (SYMMETRIC, factorial(degree))
    assert (whole.stages, whole.is_solvable, whole.is_primitive) == ((degree,), False, True)
    # A cycle of odd length through all points, or all but the first.
    first = 1 - degree % 2
    long = [*range(first), *range(first + 1, degree), first]
    threes = [[1, 2, 0, *range(3, degree)], long]
    even = root_group(threes, degree)
    assert (even.kind, even.order) == (ALTERNATING, factorial(degree) // 2)


def test_a_primitive_group_that_is_neither():
    """PSL(2, 7) on the 8 points of the projective line has order 168, no blocks, no radicals."""
    line = [*range(7), None]
    shift = [7 if x is None else (x + 1) % 7 for x in line[:7]] + [7]
    # x → −1/x
    invert = [7 if x == 0 else (-pow(x, -1, 7)) % 7 for x in range(7)] + [0]
    group = root_group([shift, invert], 8)
    assert (group.kind, group.order, group.is_primitive, group.is_solvable) == (
        OTHER, 168, True, False
    )  # fmt: skip


def test_a_wreath_product_has_stages():
    """S_3 wr S_2, three inside each of two blocks: order 72, solvable; S_2 wr S_5 is not."""
    swap_inside = [1, 0, 2, 3, 4, 5]
    turn_inside = [1, 2, 0, 3, 4, 5]
    exchange = [3, 4, 5, 0, 1, 2]
    group = root_group([swap_inside, turn_inside, exchange], 6)
    assert (group.order, group.stages, group.is_solvable) == (72, (3, 2), True)
    assert group.blocks == ((0, 1, 2), (3, 4, 5))
    pairs = [[1, 0, *range(2, 10)], [*range(2, 10), 0, 1], [2, 3, 0, 1, *range(4, 10)]]
    large = root_group(pairs, 10)
    assert (large.order, large.stages, large.is_solvable) == (2**5 * 120, (2, 5), False)


def test_what_is_no_permutation_is_refused():
    """A list that contains a number twice is refused, and shown."""
    refuses(r"0, 0", root_group, [[0, 0]], 2)
