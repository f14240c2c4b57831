"""The engine `complementarity`: ReLU instances decided by branch and bound."""

from __future__ import annotations

from collections.abc import Sequence

from numeric.counts import COMPLETE, UNDETERMINED, InstanceCount
from numeric.instances import Instance
from numeric.relu_decision import MATCH, NONE, decide


class ComplementarityEngine:
    """Decides instances of shallow ReLU nets.

    Notes
    -----
    It decides whether there is a match and does not count: a matched trial has at least one
    real solution (status "undetermined", for others may exist), an unmatched one none.
    """

    def count_many(self, instances: Sequence[Instance]) -> list[InstanceCount]:
        """One count for each instance, in their order."""
        return [self._count(instance) for instance in instances]

    def _count(self, instance: Instance) -> InstanceCount:
        found = decide(instance)
        if found.verdict == MATCH:
            note = "a rational witness, verified; other solutions not counted"
            values = tuple(int(v.p) / int(v.q) for v in found.witness or ())
            return InstanceCount(
                instance.index,
                1,
                None,
                UNDETERMINED,
                note,
                solutions=(values,),
                seconds=found.seconds,
            )
        if found.verdict == NONE:
            return InstanceCount(
                instance.index, 0, None, COMPLETE, found.note, seconds=found.seconds
            )
        return InstanceCount(
            instance.index, None, None, UNDETERMINED, found.note, seconds=found.seconds
        )
