"""Removing groups of vectors by exchanges in a basis, against ranks of what is left."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.linalg.ranks import modular_rank
from algebra.matroids.exchange import Exchange
from tests.samples import many

P = 1_000_003


@settings(max_examples=many(200), deadline=None)
@given(
    width=st.integers(1, 5),
    sizes=st.lists(st.integers(0, 3), max_size=6),
    order=st.permutations(range(6)),
    data=st.data(),
)
def test_removed_groups_lose_what_ranks_say(width, sizes, order, data):
    """After each removal the basis has the rank of the others; needed groups are known."""
    entry = st.sampled_from([0, 0, 1, 2, P - 1])
    parts = [
        np.array([data.draw(st.lists(entry, min_size=width, max_size=width)) for _ in range(size)],
                 np.int64).reshape(-1, width)
        for size in sizes
    ]  # fmt: skip
    exchange = Exchange.of(parts, P)
    left = dict(enumerate(parts))

    def f(groups):
        return modular_rank(np.concatenate([np.zeros((0, width), np.int64), *groups.values()]), P)

    assert len(exchange.basis) == f(left)
    for group in order[: data.draw(st.integers(0, len(parts)))]:
        if group not in left:
            continue
        without = {k: part for k, part in left.items() if k != group}
        lost = f(left) - f(without)
        assert [exchange.is_needed(group, spare) for spare in range(4)] == [
            lost > spare for spare in range(4)
        ]
        left, exchange = without, exchange.removed(group)
        assert len(exchange.basis) == f(left)
        assert len(exchange.basis) + len(exchange.others) == sum(map(len, left.values()))
