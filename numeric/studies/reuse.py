"""Constraints added later: trials counted without them decide most trials under them.

A count without constraints stores its real solutions.  Checking these against the constraints, as
is done for an engine's own (`numeric.certification.constraints`; for ReLU nets each solution is
recomputed over Q in its cell), gives the same record as a count under constraints, without solving
again.  This applies if all solutions are known, if there are none, or if a ReLU witness satisfies
the constraints.  All other trials (settled by a maximal verdict, which decides nothing here;
incomplete counts or counts stored without solutions; a solution too close to a bound) are computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from algebra.problems.allocation import Allocation
from algebra.problems.reduction import solved
from algebra.time_limits import check_time
from numeric.certification.constraints import ConstrainedCounts
from numeric.engines.base import engine_info, family_name
from numeric.plugins.relu.pairs import obeying_witnesses
from numeric.studies.store import Store
from numeric.studies.trials import RECORDS_VERSION, TrialSeries
from numeric.trials.counts import COMPLETE, UNDETERMINED, InstanceCount, Reason, Solutions
from numeric.trials.instances import Instance, draw_instance, lowered_instance


class Reuse:
    """Records of trials under constraints, from counts without them.

    Parameters
    ----------
    work : TrialSeries
        Its problem has constraints.
    """

    def __init__(self, work: TrialSeries) -> None:
        self.work = work
        self.problem = work.problem
        self.free = work.problem.without_constraints()
        self._plans = engine_info(work.settings.engine).plans
        self._relu = family_name(work.problem.network) == "relu"
        self._rules = lru_cache(maxsize=64)(self._rules_of)

    def studies(self, store: Store) -> list[int]:
        """Studies in a store with the same trials without constraints; the largest last."""
        wanted = self.free.to_dict()
        found = [
            s
            for s in store.studies()
            if s.work["problem"] == wanted
            and s.work["seed"] == self.work.seed
            and s.work.get("records") == RECORDS_VERSION
        ]
        return [s.id for s in sorted(found, key=lambda s: s.trials)]

    def records(self, counts: Sequence[InstanceCount]) -> list[InstanceCount]:
        """The records of those trials that the counts decide under the constraints."""
        found = []
        for count in counts:
            check_time()
            kept = self._record(count)
            if kept is not None:
                found.append(kept)
        return found

    def _record(self, count: InstanceCount) -> InstanceCount | None:
        if count.is_transient or count.reason is Reason.SETTLED_MAXIMAL:
            return None
        if count.reason is Reason.SETTLED_MINIMAL and not self.work.settings.certify:
            return None
        if count.status == COMPLETE and not count.real:
            return count
        if not count.solutions:
            return None
        if self._relu:
            return self._witnesses(count)
        if count.status != COMPLETE or len(count.solutions) != count.real or not self._plans:
            return None
        instance = draw_instance(self.problem, self.work.seed, count.index)
        inner = lowered_instance(instance)
        found = self._held(_reordered(count, inner), inner)
        if found is None:
            return None
        rows = tuple(inner.restored(s) for s in found.solutions)
        return replace(found, solutions=Solutions(rows))

    def _held(self, count: InstanceCount, instance: Instance) -> InstanceCount | None:
        """A complete count restricted to the box; None if its precision does not suffice."""
        rules = self._rules(instance.allocation)
        found = rules.obeying(count, instance, instance.box)
        return found if found.status == COMPLETE else None

    def _rules_of(self, allocation: Allocation) -> ConstrainedCounts:
        return ConstrainedCounts(allocation, solved(self.problem).support)

    def _witnesses(self, count: InstanceCount) -> InstanceCount | None:
        """A count of a ReLU instance, from its solutions recomputed over Q."""
        instance = draw_instance(self.problem, self.work.seed, count.index)
        inside = obeying_witnesses(instance, np.array(count.solutions))
        if inside is None:
            return None
        rows = tuple(s for s, obeys in zip(count.solutions, inside, strict=True) if obeys)
        whole = count.status == COMPLETE and len(count.solutions) == count.real
        if not whole and not rows:
            return None
        note = "a rational witness, verified; other solutions not counted"
        if whole:
            note = f"{len(rows)} of {count.real} real solutions obey; {count.note}"
        return replace(
            count, real=len(rows), status=COMPLETE if whole else UNDETERMINED, note=note,
            solutions=Solutions(rows), boxes=(),
        )  # fmt: skip


def _reordered(count: InstanceCount, instance: Instance) -> InstanceCount:
    """The count with its solutions in the order of the problem that is solved."""
    here = instance.restored(instance.allocation.cells)
    order = [here.index(cell) for cell in instance.allocation.cells]
    rows = tuple(tuple(row[k] for k in order) for row in count.solutions)
    return replace(count, solutions=Solutions(rows))
