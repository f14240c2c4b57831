"""Experiments other than trials of a problem: computed once, kept in the run's store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any, TypeVar

from algebra.children import POLL_SECONDS, call_apart
from algebra.time_limits import StopRequest, check_time, checked, stoppable
from matchprob.figures import Run
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
    """Results of all tasks; an interrupt keeps the finished ones.

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
            for task, result in zip(left, _map(run.workers, work, left), strict=True):
                store.keep(*key(task), result)
                out[task] = result
                on_result(task, result)
    return out


def _map(workers: int, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterable[Result]:
    if workers == 1 or len(tasks) < 2:
        yield from map(work, checked(tasks))
        return
    # Each task is computed in a child process; a thread waits for it, and ends it on request.
    requests = [StopRequest() for _ in tasks]
    with ThreadPoolExecutor(workers) as pool:
        futures = [
            pool.submit(_compute_apart, request, work, task)
            for request, task in zip(requests, tasks, strict=True)
        ]
        try:
            for future in futures:
                while not future.done():
                    check_time()
                    wait([future], POLL_SECONDS)
                yield future.result()
        finally:
            # The remaining results are not needed.
            for request in requests:
                request.make()


def _compute_apart(request: StopRequest, work: Callable[[Task], Result], task: Task) -> Result:
    with stoppable(request):
        return call_apart(_call, work, task)


def _call(work: Callable[[Task], Result], task: Task) -> Result:
    """For `call_apart`, which imports functions by their names: `work` may be a partial."""
    return work(task)
