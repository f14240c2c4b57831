"""Networks with activations: all real weights divided into boxes, or a search from many starts.

With up to four learnable weights and as many labels branch and bound decides most instances both
ways (`numeric.families.activations.boxes`).  With more, or where it does not end, Newton runs give
a lower bound: each solution is certified in balls, and none found proves nothing.  If N = 1 (only
the read-out learns) one certified solution is a complete count.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from algebra.errors import InputError
from algebra.problems.problem import Problem
from numeric.engines.base import SequentialEngine
from numeric.families.activations.boxes import BoxSearch, is_decidable
from numeric.families.activations.krawczyk import SolutionBox
from numeric.families.activations.newton import certified_solutions
from numeric.trials.counts import COMPLETE, InstanceCount, lower_bound
from numeric.trials.instances import Instance

# Random starts of an instance, and those before branch and bound.
STARTS = 62
_FIRST_STARTS = 8
# Boxes before the first starts: labels out of reach show at once.
_FIRST_BOXES = 64


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
        """The count of one instance: complete if every part of all weights was decided."""
        began = time.process_time()
        enough = 1 if self.root_count == 1 else self.enough
        found: Sequence[SolutionBox] = ()
        ends, done, search = "", 0, None

        def starts(number: int) -> None:
            nonlocal found, ends, done
            found, done, converged = certified_solutions(
                instance, number, enough=enough, seconds=self.timeout
            )
            ends = f"{converged} of {done} starts converged"

        if self.root_count != 1 and is_decidable(instance):
            search = BoxSearch(instance)
            search.run(_FIRST_BOXES, enough)
            if enough is not None and not (search.is_over or search.solutions):
                starts(_FIRST_STARTS)
            if not found:
                search.run(enough=enough)
            found = search.solutions or found
        if not found and not (search and search.is_over):
            starts(STARTS)
        elif search is not None and enough is None and not search.is_over:
            before = list(found)
            starts(STARTS)
            found = [*before, *(f for f in found if not any(map(f.overlaps, before)))]
        note = f"at least {len(found)} real" if found else "no solution found, which proves nothing"
        boxes = "" if search is None else f"{search.boxes} box{'es' * (search.boxes != 1)}"
        efforts = "; ".join(part for part in (ends, boxes) if part)
        count = lower_bound(
            instance.index, [box.middle.tolist() for box in found], f"{note}: {efforts}",
            paths=done, seconds=time.process_time() - began,
        )  # fmt: skip
        if search is not None and search.is_over:
            note = f"all real weights in {boxes}, each without a solution or with exactly one"
            return replace(count, complex=None, status=COMPLETE, reason=None, note=note)
        if self.root_count == len(found) == 1:
            note = "linear in the learnable weights: one solution"
            return replace(count, status=COMPLETE, note=note)
        return count
