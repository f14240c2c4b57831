"""A search for real solutions without a root count: Gauss–Newton runs, complex paths, more of both.

Damped Gauss–Newton runs in the states that fixed weights leave free
(`numeric.equations.projected`) usually end at a solution after some steps, so in recurrent nets a
few of them come first, except where few weights of many rows learn: there runs in the weights are
the shorter ones.  Complex paths (`numeric.tracking.label_paths`) find a real solution among
thousands, and tell whether there are only few; runs in the weights (`numeric.engines.multistart`)
find one if weights in nearly every row learn.  Solutions are certified; if none is found, nothing
is proved.
"""

from __future__ import annotations

import time
from functools import cache, partial

import numpy as np

from algebra.systems.forms import core_dimension
from algebra.time_limits import check_time
from algebra.words import plural
from numeric.certification.pool import RealPool
from numeric.engines.base import PAPER_STARTS
from numeric.engines.multistart import LowerBoundEngine, multistart_newton
from numeric.equations.chain import Chain
from numeric.equations.projected import project
from numeric.linalg.levenberg_marquardt import Damping, levenberg_marquardt
from numeric.tracking.label_paths import LabelPaths
from numeric.trials.counts import InstanceCount, lower_bound
from numeric.trials.instances import Instance

# Batches of runs in the free states: starts, and growth of the states.
_FREE_RUNS = ((16, 1.5), (32, 2.0), (32, 1.5), (32, 1.0))
_FREE_STEPS = 60
# Size of a start, relative to the states of least norm; relative size of what solutions leave.
_FREE_SPREAD = 2.0
_FREE_LEFT = 1e-10
# With at least so many times as many free states as weights, a few runs in the weights come first.
_MORE_STATES = 4
_FEW_RUNS = 64
# As many in large nets, whose paths need tapes of their own.
_FEW_OF_LARGE = 256
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
    >>> from numeric.trials.instances import draw_instance
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
        self._instance, self._chain, self._seed = instance, chain, seed
        self._enough, self._seconds = enough, seconds
        self._began = time.process_time()
        self.paths = LabelPaths(instance, chain, seed)
        self.pool = RealPool(chain, instance, enough)
        self._runs = 0

    @property
    def is_over(self) -> bool:
        """Whether enough solutions were found, or time is up."""
        return self.pool.is_enough or self._left <= 0

    @property
    def few(self) -> bool:
        """Whether the paths' endpoints are mostly repetitions: all solutions can be counted."""
        return self.paths.repeats

    def follow(self, most_paths: int) -> None:
        """Track paths until their total is `most_paths`, unless there are few solutions."""
        while self.paths.paths < most_paths and not (self.few or self.is_over):
            check_time()
            self.pool.take(self.paths.follow(most_paths))

    def begin(self) -> None:
        """The first paths and runs, those first that decide more a second.

        Paths of multi-layer nets are short, those of recurrent ones as long as their time.
        """
        if self._chain.read_all:
            free = core_dimension(self._instance.allocation)
            if free is not None and free >= _MORE_STATES * self._chain.unknowns:
                self.run(_FEW_OF_LARGE if self._chain.is_large else _FEW_RUNS)
            self.solve()
        self.follow(FIRST_PATHS)
        if not (self._chain.read_all or self.few):
            self.solve()

    def solve(self, batches: int = len(_FREE_RUNS)) -> None:
        """Run Gauss–Newton steps in the free states, some batches of starts, where these are few.

        A batch ends with its first solution.
        """
        rng = np.random.default_rng(
            np.random.SeedSequence(self._seed, spawn_key=(self._instance.index, 0x3359))
        )
        projected = cache(partial(project, self._chain, self._chain.parameters(self._instance)))
        for starts, growth in _FREE_RUNS[:batches]:
            check_time()
            system = None if self.is_over else projected(growth)
            if system is None:
                return
            first = rng.standard_normal((starts, system.free)) * _FREE_SPREAD * system.size
            enough = (_FREE_LEFT * system.size) ** 2
            runs = levenberg_marquardt(
                system.residuals, first, _FREE_STEPS, enough=enough, damping=Damping(), first=True
            )
            self._runs += starts
            weights = system.weights(runs.ends[runs.cost <= enough])
            self.pool.take(weights[np.isfinite(weights).all(axis=1)])

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
        search.begin()
        search.run(PAPER_STARTS)
        search.follow(_ALL_PATHS if self.enough is None else MOST_PATHS)
        return search.result()
