"""Sizes that no machine holds are refused in words, at once."""

import pytest

import matchprob as mp
from algebra.errors import Unfinished
from algebra.ranks.jacobian import all_cells, columns_at, random_point
from algebra.ranks.size import check_size
from algebra.time_limits import TooSlow, within


def test_memory_and_time():
    """A table larger than memory, a rank longer than the time left; small ones pass."""
    net = mp.LinearRNN(n=2000, T=4, b=100, d=50, m=100)
    with pytest.raises(Unfinished, match=r"4000000 weights for 5000 labels would take 480 GB"):
        check_size(net, 4_000_000)
    with within(0.5), pytest.raises(Unfinished, match="--timeout"):
        check_size(net, 6_000)
    check_size(net, 6_000)
    with within(0.5):
        check_size(mp.LinearRNN(n=2, T=2, b=1, d=1, m=2), 4)


def test_before_anything_is_made():
    """Columns of all weights for eighty million labels are refused before they are made."""
    net = mp.LinearRNN(n=40, T=2, b=1, d=20, m=4_000_000)
    with pytest.raises(Unfinished, match="memory"):
        columns_at(net, random_point(mp.LinearRNN(n=2, T=2, b=1, d=1, m=2), 7, 0), all_cells(net))


def test_many_steps():
    """A million steps need a minute whatever the size: refused where there is less."""
    net = mp.LinearRNN(n=2, T=1_000_000, b=1, d=1, m=2)
    with within(2.0), pytest.raises(TooSlow, match="1000000 steps would take about 60 s"):
        check_size(net, 8)
    check_size(net, 8)
