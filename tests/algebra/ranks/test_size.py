"""Sizes that exceed the memory are refused with a message, at once."""

import warnings

import pytest

import matchprob as mp
from algebra.errors import LargeMemory, Unfinished
from algebra.memory_limits import limited_memory
from algebra.plugins.circuits.elements import ELEMENT_KINDS
from algebra.ranks.jacobian import all_cells, columns_at, random_point
from algebra.ranks.size import check_memory, check_size
from algebra.time_limits import OutOfTime, TooSlow, within
from tests.samples import NET


def test_memory_and_time():
    """A table larger than memory, a rank longer than the time left; small ones pass."""
    net = mp.LinearRNN(n=2000, T=4, b=100, d=50, m=100)
    with pytest.raises(Unfinished, match=r"5000 numbers would take about 1\.4\d TB"):
        check_size(net, 4_000_000)
    with within(0.5), pytest.raises(TooSlow, match="`timeout`"):
        check_size(net, 6_000)
    check_size(net, 6_000)
    with within(0.5):
        check_size(mp.LinearRNN(n=2, T=2, b=1, d=1, m=2), 4)


def test_time_that_is_over():
    """If no time is left the message says so, not how long a rank would take."""
    with within(1e-9), pytest.raises(OutOfTime, match="time limit is over"):
        check_size(NET, 4)


def test_limit_of_memory():
    """What exceeds the limit is refused; from 4 GB on it is shown."""
    with limited_memory(8 * 10**9):
        with pytest.raises(
            Unfinished, match=r"8\.01 GB of memory, and the limit is 8 GB .*`memory`"
        ):
            check_memory(8.01e9, "it", "less")
        with pytest.warns(LargeMemory, match=r"it takes about 7\.9 GB of memory, of 8 GB"):
            check_memory(7.9e9, "it", "less")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_memory(3.9e9, "it", "less")


def test_left_factors_of_activations():
    """Derivatives of hidden units through activations: the factors count; they grow as n² m T²."""
    net = mp.RNN(n=40, T=4, b=1, d=1, m=50, activation="tanh")
    point = random_point(net, 2147483629, 0)
    for what in ("labels", "times", "units"):
        source = ELEMENT_KINDS[what if what != "labels" else "outputs"].source
        factors = net.modular_readings(source, point, None)
        held = sum(L.size + R.size for L, R in factors.values())
        assert held / 3 <= net.factor_entries(source) <= 3 * held
    with limited_memory(8 * 10**6):
        check_size(net, 10, 10)
        with pytest.raises(Unfinished, match="memory"):
            check_size(net, 10, 10, reading=ELEMENT_KINDS["units"].source)


def test_before_anything_is_made():
    """Columns of all weights for eighty million labels are refused before they are computed."""
    net = mp.LinearRNN(n=40, T=2, b=1, d=20, m=4_000_000)
    with pytest.raises(Unfinished, match="memory"):
        columns_at(net, random_point(mp.LinearRNN(n=2, T=2, b=1, d=1, m=2), 7, 0), all_cells(net))


def test_many_steps():
    """A million steps need a minute for every size: rejected if there is less time."""
    net = mp.LinearRNN(n=2, T=1_000_000, b=1, d=1, m=2)
    with within(2.0), pytest.raises(TooSlow, match="1000000 steps would take about 60 s"):
        check_size(net, 8)
    check_size(net, 8)
