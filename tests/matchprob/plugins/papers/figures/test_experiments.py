"""Experiments in several processes: their order, and their end."""

import os
import threading
import time

import pytest

from algebra.time_limits import Interrupted, OutOfTime, StopRequest, stoppable, within
from matchprob.plugins.papers.figures import Run
from matchprob.plugins.papers.figures.experiments import _results, compute
from numeric.studies.store import Store
from tests.matchprob.plugins.papers.figures.tasks import nap, process


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_their_tasks(workers, tmp_path):
    """The results do not depend on the number of workers, each of which is one process."""
    run = Run(1, 0, tmp_path / "s.sqlite", workers, 0, print)
    found = compute(run, range(6), lambda task: ("test", task), process)
    assert [result["task"] for result in found.values()] == list(found) == list(range(6))
    processes = {result["process"] for result in found.values()}
    assert len(processes) == workers
    assert (os.getpid() in processes) == (workers == 1)


def test_what_is_finished_is_kept(tmp_path):
    """After an interrupt the results of later tasks are there; a task that fails is an error."""
    run = Run(1, 0, tmp_path / "s.sqlite", 2, 0, print)

    def interrupt(task, result):
        if task == 0.1:
            raise KeyboardInterrupt

    naps = [600.0, 0.0, 0.1]
    found = compute(run, naps, lambda task: ("naps", int(10 * task)), nap, interrupt)
    assert list(found) == naps[1:]
    with Store(run.store) as store:
        assert sorted(store.results("naps")) == [0, 1]
    with pytest.raises(RuntimeError, match="ValueError: sleep length"):
        compute(run, [-1.0, 0.2], lambda task: ("naps", int(10 * task)), nap)


def test_work_in_processes_ends_with_the_call():
    """At the time limit, or after a stop request, the processes end at once."""
    threads = threading.active_count()
    began = time.monotonic()
    with pytest.raises(OutOfTime), within(1.0):
        list(_results(2, time.sleep, [300, 301, 302]))
    request = StopRequest()
    request.make()
    with pytest.raises(Interrupted), stoppable(request):
        list(_results(2, time.sleep, [300, 301, 302]))
    assert threading.active_count() == threads
    assert time.monotonic() - began < 120
