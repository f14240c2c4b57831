"""Lower bounds for networks with activations: many starts, each solution certified in balls.

If N = 1 (only the read-out learns) one certified solution is a complete count.
"""

from __future__ import annotations

import time
from dataclasses import replace

from algebra.errors import InputError
from algebra.problems.problem import Problem
from numeric.counts import COMPLETE, InstanceCount, lower_bound
from numeric.engines.base import SequentialEngine
from numeric.families.activations.newton import certified_solutions
from numeric.instances import Instance

# Random starts of an instance.
STARTS = 62


class NewtonEngine(SequentialEngine):
    """Certified real solutions of instances of networks with activations.

    Parameters
    ----------
    problem : Problem
        With as many learnable weights as labels.
    root_count : int or None
    enough : int, optional
        Stop after this number of certified solutions (1 decides a match).
    timeout : float, optional
        Seconds of processor time for one instance.

    Raises
    ------
    InputError
        If the system is not square.
    """

    def __init__(
        self,
        problem: Problem,
        root_count: int | None = None,
        *,
        enough: int | None = None,
        timeout: float = float("inf"),
    ) -> None:
        labels = problem.network.outputs
        if problem.allocation.size != labels:
            raise InputError(
                f"`problem` has {problem.allocation.size} learnable weights and {labels} labels: "
                "Krawczyk's test needs equal numbers"
            )
        self.root_count = root_count
        self.enough, self.timeout = enough, timeout

    def count(self, instance: Instance) -> InstanceCount:
        """A lower bound for one instance."""
        began = time.process_time()
        enough = self.enough
        if self.root_count == 1:
            enough = 1
        found, done, converged = certified_solutions(
            instance, STARTS, enough=enough, seconds=self.timeout
        )
        solutions = [box.middle.tolist() for box in found]
        ends = f"{converged} of {done} starts converged"
        note = f"at least {len(found)} real" if found else "no solution found, which proves nothing"
        seconds = time.process_time() - began
        count = lower_bound(
            instance.index, solutions, f"{note}: {ends}", paths=done, seconds=seconds
        )
        if self.root_count == len(found) == 1:
            note = "linear in the learnable weights: one solution"
            return replace(count, status=COMPLETE, note=note)
        return count
