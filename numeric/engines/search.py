"""A search for real solutions without a root count: some paths, Newton runs, more paths.

Complex paths (`numeric.tracking.label_paths`) find a real solution among thousands where Newton
runs (`numeric.engines.multistart`) do not converge; if weights in nearly every row learn, Newton
runs find one where paths do not.  So a hundred paths come first, then the Newton runs, then more
paths.  Solutions are certified; if none is found, nothing is proved.
"""

from __future__ import annotations

import time

from algebra.networks.limits import plural
from algebra.time_limits import check_time
from numeric.certification.pool import RealPool
from numeric.counts import InstanceCount, lower_bound
from numeric.engines.base import PAPER_STARTS
from numeric.engines.multistart import LowerBoundEngine, multistart_newton
from numeric.equations.chain import Chain
from numeric.instances import Instance
from numeric.tracking.label_paths import LabelPaths

# Paths before the Newton runs, and in total.
FIRST_PATHS = 112
MOST_PATHS = 2032
# In total if as many solutions as possible are required.
_ALL_PATHS = 496


class RealSearch:
    """The search for real solutions of one instance.

    Parameters
    ----------
    instance : Instance
    chain : Chain
        The chain of its allocation.
    enough : int, optional
        The search ends after this number of solutions; None for no limit.
    seconds : float, optional
        Processor time after which no further batch is started.
    seed : int, optional
        Seed of the paths.

    Attributes
    ----------
    pool : RealPool
        The certified real solutions found so far.
    paths : LabelPaths

    Raises
    ------
    InputError
        If the instance is special: its samples are dependent.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> from algebra.problems.problem import Problem
    >>> from numeric.equations.chain import make_chain
    >>> from numeric.instances import draw_instance
    >>> problem = Problem(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 0], [0, 1]]})
    >>> instance, chain = draw_instance(problem, 0, 1), make_chain(problem.allocation)
    >>> search = RealSearch(instance, chain, enough=None)
    >>> search.follow(112)
    >>> search.result().real, search.few
    (2, True)
    """

    def __init__(
        self,
        instance: Instance,
        chain: Chain,
        *,
        enough: int | None = 1,
        seconds: float = float("inf"),
        seed: int = 0,
    ) -> None:
        self._instance, self._chain = instance, chain
        self._enough, self._seconds = enough, seconds
        self._began = time.process_time()
        self.paths = LabelPaths(instance, chain, seed)
        self.pool = RealPool(chain, instance)
        self._runs = 0

    @property
    def is_over(self) -> bool:
        """Whether enough solutions were found, or time is up."""
        found = self._enough is not None and len(self.pool) >= self._enough
        return found or self._left <= 0

    @property
    def few(self) -> bool:
        """Whether the paths' endpoints are mostly repetitions: all solutions can be counted."""
        return self.paths.repeats

    def follow(self, most_paths: int) -> None:
        """Track paths until their total is `most_paths`, unless there are few solutions."""
        while self.paths.paths < most_paths and not (self.few or self.is_over):
            check_time()
            self.pool.take(self.paths.follow(most_paths))

    def run(self, starts: int) -> None:
        """Run Newton's method from this number of starts."""
        if not self.is_over:
            found = multistart_newton(
                self._instance, starts, chain=self._chain, enough=self._enough,
                seconds=self._left, pool=self.pool,
            )  # fmt: skip
            self._runs += found.paths

    def result(self) -> InstanceCount:
        """The solutions found: a lower bound."""
        pool, paths = self.pool, self.paths.paths
        real = len(pool)
        efforts = plural(paths, f"{paths} complex path")
        if self._runs:
            efforts += f" and {plural(self._runs, f'{self._runs} Newton run')}"
        found = f"at least {real} real" if real else "no solution found, which proves nothing"
        return lower_bound(
            self._instance.index, pool.solutions, f"{found}: {efforts}",
            paths=paths + self._runs, seconds=time.process_time() - self._began,
        )  # fmt: skip

    @property
    def _left(self) -> float:
        return self._seconds - (time.process_time() - self._began)


class SearchEngine(LowerBoundEngine):
    """Lower bounds by `RealSearch`."""

    def search(self, instance: Instance) -> InstanceCount:
        """The solutions found by paths and Newton runs."""
        search = RealSearch(instance, self.chain, enough=self.enough, seconds=self.timeout)
        search.follow(FIRST_PATHS)
        search.run(PAPER_STARTS)
        search.follow(_ALL_PATHS if self.enough is None else MOST_PATHS)
        return search.result()
