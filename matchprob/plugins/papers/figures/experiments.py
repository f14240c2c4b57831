"""Experiments other than trials of a problem: computed once, kept in the run's store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from operator import call
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from algebra.children import POLL_SECONDS
from algebra.time_limits import StopRequest, check_time, checked, stoppable
from algebra.workers import Worker
from matchprob.plugins.papers.figures import Run
from numeric.studies.store import Store

Result = dict[str, Any]
Task = TypeVar("Task")


def compute(
    run: Run,
    tasks: Sequence[Task],
    key: Callable[[Task], tuple[str, int]],
    work: Callable[[Task], Result],
    on_result: Callable[[Task, Result], None] = lambda task, result: None,
) -> dict[Task, Result]:
    """Results of all tasks, in their order; an interrupt keeps the finished ones.

    Parameters
    ----------
    run : Run
    tasks : sequence
        Hashable.
    key : callable
        The name of a task in the store, and the number of its repetition.
    work : callable
        From a task to plain data; found by name in other processes.
    on_result : callable, optional
        Called with each new result.
    """
    out: dict[Task, Result] = {}
    with Store(run.store, create=True) as store:
        known = {
            name: store.results(name) for name in dict.fromkeys(key(task)[0] for task in tasks)
        }
        left = []
        for task in dict.fromkeys(tasks):
            name, number = key(task)
            if number in known[name]:
                out[task] = known[name][number]
            else:
                left.append(task)
        with suppress(KeyboardInterrupt):
            for task, result in _results(run.workers, work, left):
                store.keep(*key(task), result)
                out[task] = result
                on_result(task, result)
    return {task: out[task] for task in tasks if task in out}


def _results(
    workers: int, work: Callable[[Task], Result], tasks: Sequence[Task]
) -> Iterator[tuple[Task, Result]]:
    """Each task with its result, as they are finished."""
    if workers == 1 or len(tasks) < 2:
        yield from ((task, work(task)) for task in checked(tasks))
        return
    # Each thread waits for the calls of a child process, and ends it on request.
    requests, left = [StopRequest() for _ in range(workers)], SimpleQueue[Task]()
    finished = SimpleQueue[tuple[Task, Result] | BaseException]()
    for task in tasks:
        left.put(task)
    threads = [
        Thread(target=_work_apart, args=(request, work, left, finished)) for request in requests
    ]
    try:
        for thread in threads:
            thread.start()
        for _ in tasks:
            yield _next(finished)
    finally:
        # The remaining results are not needed.
        for request, thread in zip(requests, threads, strict=True):
            request.make()
            thread.join()


def _next(finished: SimpleQueue[Any]) -> Any:
    """The next result of a thread, or its error, which is raised."""
    while True:
        check_time()
        with suppress(Empty):
            found = finished.get(timeout=POLL_SECONDS)
            if isinstance(found, BaseException):
                raise found
            return found


def _work_apart(
    request: StopRequest,
    work: Callable[[Task], Result],
    left: SimpleQueue[Task],
    finished: SimpleQueue[Any],
) -> None:
    """Compute tasks in a child process until none are left."""
    try:
        with stoppable(request), Worker() as worker, suppress(Empty):
            while True:
                task = left.get_nowait()
                # A worker imports functions by their names, and `work` may be a partial.
                finished.put((task, worker.call(call, work, task)))
    except BaseException as error:
        finished.put(error)
