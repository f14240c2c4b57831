"""The engine `relu-exact`: ReLU normalization networks, by verdict or in rationals.

The equations of these networks are no single polynomial system.  A trial is decided

* by verdict, if the allocation is maximal (every layer can be realized for generic
  weights) or minimal (too few weights for the labels' dimension);
* with one hidden layer by branch and bound over activation patterns, in rationals
  (`algebra.plugins.normalization.matching`): both answers are proofs, unless time runs out;
* otherwise by realizing the target's layers on the samples, in rationals: a solution that
  reproduces the labels in the whole network is a match; finding none proves nothing, and the
  trial is undetermined.

Under constraints "maximal" settles nothing; the branch and bound includes them, and a realization
counts only if it satisfies them.
"""

from __future__ import annotations

import time

from algebra.checker.verdicts import MAXIMAL, MINIMAL
from algebra.families.certify import certify
from algebra.plugins.normalization.certify import target_rank
from algebra.plugins.normalization.matching import MATCHED, UNMATCHED, applies_to, match_instance
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.time_limits import check_time, time_left
from numeric.engines.base import SequentialEngine
from numeric.engines.plans import SETTLED, Plan
from numeric.linalg.float_simplex import guesses
from numeric.plugins.normalization.realize import realize_instance
from numeric.trials.counts import COMPLETE, UNDETERMINED, InstanceCount, Reason
from numeric.trials.instances import Instance

# Largest number of linear programs for one instance.
_MOST_NODES = 20_000


class ReluExactEngine(SequentialEngine):
    """Matches of ReLU normalization networks, as far as they can be decided.

    Parameters
    ----------
    problem : Problem
    certify : bool, optional
        Whether verdicts settle instances; never for discrete laws.
    timeout : float, optional
        Seconds for one instance.
    """

    def __init__(self, problem: Problem, *, certify: bool = True, timeout: float = 600.0) -> None:
        self.problem = problem
        self.certify = certify and SETTLED.applies(problem.features)
        self.timeout = timeout
        self._verdicts: dict[Allocation, tuple[str, str]] = {}

    def plan(self, allocation: Allocation) -> Plan:
        """The verdict as a plan; ReLU networks have no root count."""
        verdict, rule = self._verdict(allocation)
        target = target_rank(self.problem.network).rank  # type: ignore[arg-type]
        return Plan(allocation, target, target, 0 if verdict == MINIMAL else None, rule)

    def _verdict(self, allocation: Allocation) -> tuple[str, str]:
        if allocation not in self._verdicts:
            found = certify(self.problem.without_constraints().with_allocation(allocation))
            self._verdicts[allocation] = found.verdict, found.rule
        return self._verdicts[allocation]

    def count(self, instance: Instance) -> InstanceCount:
        """The proved part of the count of one instance."""
        check_time()
        start = time.process_time()
        verdict, rule = self._verdict(instance.allocation)
        if self.certify and verdict == MINIMAL:
            note = f"no solution, with probability 1 (minimal: {rule})"
            reason = Reason.SETTLED_MINIMAL
            return InstanceCount(instance.index, 0, 0, COMPLETE, note, reason=reason)
        if self.certify and verdict == MAXIMAL and not instance.box:
            note = f"certified maximal: {rule}"
            reason = Reason.SETTLED_MAXIMAL
            return InstanceCount(instance.index, 1, None, UNDETERMINED, note, reason=reason)
        if applies_to(instance.allocation):
            weights, X, Y = instance.exact
            match = match_instance(
                instance.allocation, weights, X, Y, box=instance.box, most_nodes=_MOST_NODES,
                seconds=time_left(self.timeout), guesses=guesses,
            )  # fmt: skip
            seconds = time.process_time() - start
            note = f"{match.nodes} linear programs over activation patterns"
            if match.status == UNMATCHED:
                return InstanceCount(
                    instance.index, 0, None, COMPLETE, note, paths=match.nodes, seconds=seconds
                )
            if match.status == MATCHED:
                return InstanceCount(
                    instance.index, 1, None, UNDETERMINED, f"a match in rationals, {note}",
                    paths=match.nodes, certified=1, seconds=seconds,
                )  # fmt: skip
            check_time()
            return InstanceCount(
                instance.index, None, None, UNDETERMINED, f"not decided by {note}",
                paths=match.nodes, seconds=seconds,
            )  # fmt: skip
        found, note = realize_instance(instance)
        box = instance.box.items()
        if found is not None and any(found[n][i, j] not in b for (n, i, j), b in box):
            found, note = None, "a match in rationals that breaks the constraints"
        seconds = time.process_time() - start
        real = 1 if found is not None else None
        return InstanceCount(
            instance.index, real, None, UNDETERMINED, note, certified=int(found is not None),
            seconds=seconds,
        )  # fmt: skip
