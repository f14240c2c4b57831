"""The benchmark of inner widths: its numbers add up, and orders of units only help."""

import random

from benchmarks.bench_inner_width import outcome


def test_orders_can_only_help():
    """A trial that one order realizes is realized with all orders, and some only with others."""
    helped = 0
    for seed in range(40):
        own = outcome(random.Random(seed), 2, 2, False)
        every = outcome(random.Random(seed), 2, 2, True)
        assert own.is_realized or own.is_refuted
        assert every.is_realized or not own.is_realized
        helped += every.is_realized and not own.is_realized
    assert helped > 0
