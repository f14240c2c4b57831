"""Experiments in several processes: their order, and their end."""

import threading
import time

import pytest

from algebra.time_limits import Interrupted, OutOfTime, StopRequest, stoppable, within
from matchprob.figures.experiments import _map


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_their_tasks(workers):
    """The results do not depend on the number of workers."""
    assert list(_map(workers, abs, [-3, 2])) == [3, 2]


def test_work_in_processes_ends_with_the_call():
    """At the time limit, or after a stop request, the processes end at once."""
    threads = threading.active_count()
    began = time.monotonic()
    with pytest.raises(OutOfTime), within(1.0):
        list(_map(2, time.sleep, [300, 301, 302]))
    request = StopRequest()
    request.make()
    with pytest.raises(Interrupted), stoppable(request):
        list(_map(2, time.sleep, [300, 301, 302]))
    assert threading.active_count() == threads
    assert time.monotonic() - began < 120
