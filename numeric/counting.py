"""Counting with what is certain first: ranks and root counts before any engine.

For each allocation met (one, or a new one each trial) the generic ranks and the generic
root count are found once and remembered.  A minimal allocation needs no solver: its
instances have no solution with probability 1.  All others go to an engine that is told
the root count, so that it knows when it has found everything.

With more weights than equations an instance has infinitely many solutions.  Then a
sub-allocation of full rank is solved, the surplus weights kept at their random values: a
real solution proves a match, none leaves the trial undetermined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from algebra.allocation import Allocation
from algebra.bases import candidate_bases
from algebra.errors import InputError
from algebra.jacobian import allocation_rank, network_rank
from algebra.problem import Problem
from algebra.rootcount import RootCountError, generic_root_count
from numeric.counts import COMPLETE, TRACE_NOTE, UNDETERMINED, InstanceCount
from numeric.exact_engine import ExactEngine
from numeric.homotopy import HomotopyEngine
from numeric.instances import Instance
from numeric.monodromy_count import monodromy_root_count
from numeric.phcpy_engine import PhcpyEngine
from numeric.phcpy_process import PhcpyProcess

# Engines kept: each allocation of a random problem needs one of its own.
_MOST_ENGINES = 64


class InstanceEngine(Protocol):
    """An engine for one allocation."""

    def count_many(self, instances: Sequence[Instance]) -> list[InstanceCount]:
        """All real solutions of several instances, in their order."""
        ...


@dataclass(frozen=True)
class Plan:
    """What is known of an allocation before any instance is solved.

    Attributes
    ----------
    allocation : Allocation
        The one to solve: the given one, or a sub-allocation of full rank.
    equations, rank : int
        Generic ranks of the network's and the allocation's Jacobian.
    root_count : int or None
        Generic root count; 0 for a minimal allocation, None where it is out of reach.
    source : str
        Where the root count comes from.
    is_part : bool
        Whether surplus weights are kept fixed.
    is_numerical : bool
        Whether the root count rests on a trace test (msolve missing or too slow).
    """

    allocation: Allocation
    equations: int
    rank: int
    root_count: int | None
    source: str
    is_part: bool = False
    is_numerical: bool = False


def make_plan(problem: Problem, allocation: Allocation, *, timeout: float = 60.0) -> Plan:
    """Ranks and root count of an allocation."""
    network, support = problem.network, problem.support
    whole = network_rank(network, support).rank
    own = allocation_rank(allocation, support, whole).rank
    if own < whole:
        return Plan(allocation, whole, own, 0, f"minimal: rank {own} of {whole}")
    part = allocation
    if allocation.size > whole:
        cells = next(candidate_bases(allocation, whole, support, 0, 1), None)
        if cells is None:
            return Plan(allocation, whole, own, None, "no sub-allocation of full rank found")
        part = Allocation.from_cells(network, cells)
    try:
        roots = generic_root_count(part, support, timeout=timeout, fallback=monodromy_root_count)
    except (RootCountError, InputError) as error:
        return Plan(part, whole, own, None, str(error), part is not allocation)
    source = f"{roots.how}: {roots.because}" if roots.is_numerical else roots.how
    is_part = part is not allocation
    return Plan(part, whole, own, roots.value, source, is_part, roots.is_numerical)


class Counter:
    """Counts the real solutions of a problem's instances.

    Parameters
    ----------
    problem : Problem
    engine : str
        One of `ENGINES`.
    timeout : float, optional
        Seconds for one instance in the engine, and for one root count.
    certify : bool, optional
        Whether minimal allocations are settled by their rank alone.  Never done for
        discrete laws, where generic verdicts say nothing of an instance.

    Notes
    -----
    A context manager: worker processes end with it.
    """

    def __init__(
        self,
        problem: Problem,
        engine: str = "phcpy",
        *,
        timeout: float = 600.0,
        certify: bool = True,
    ) -> None:
        if engine not in ENGINES:
            raise InputError(f"`engine` ({engine!r}) must be one of " + ", ".join(ENGINES))
        if not problem.network.is_linear:
            raise InputError(
                f"engine {engine!r} solves polynomial systems; a {problem.network.title} "
                "network has none"
            )
        self.problem = problem
        self.name = engine
        self.timeout = timeout
        self.certify = certify and problem.distribution.is_continuous
        self._plans: dict[Allocation, Plan] = {}
        self._engines: dict[Allocation, InstanceEngine] = {}
        self._process = PhcpyProcess()

    def __enter__(self) -> Counter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End the worker processes."""
        self._process.close()

    def prepare(self) -> None:
        """Fail early: a missing engine is known before any work is done."""
        if self.name == "phcpy":
            self._process.start()

    def plan(self, allocation: Allocation) -> Plan:
        """What is known of an allocation; found once."""
        if allocation not in self._plans:
            self._plans[allocation] = make_plan(self.problem, allocation)
        return self._plans[allocation]

    def count_many(self, instances: Sequence[Instance]) -> list[InstanceCount]:
        """All real solutions of several instances, in their order."""
        out: dict[int, InstanceCount] = {}
        groups: dict[Allocation, list[int]] = {}
        for k, instance in enumerate(instances):
            groups.setdefault(instance.allocation, []).append(k)
        for allocation, members in groups.items():
            counts = self._count_alike(allocation, [instances[k] for k in members])
            out.update(zip(members, counts, strict=True))
        return [out[k] for k in range(len(instances))]

    def count(self, instance: Instance) -> InstanceCount:
        """All real solutions of one instance."""
        return self.count_many([instance])[0]

    def _count_alike(
        self, allocation: Allocation, instances: Sequence[Instance]
    ) -> list[InstanceCount]:
        plan = self.plan(allocation)
        if plan.root_count == 0 and self.certify:
            note = f"no solution, with probability 1 ({plan.source})"
            return [InstanceCount(i.index, 0, 0, COMPLETE, note) for i in instances]
        if plan.allocation not in self._engines:
            part = self.problem.with_allocation(plan.allocation)
            # Of a minimal allocation only an exact engine can find the chance solutions
            # that discrete laws allow: its systems have more equations than unknowns.
            name = "exact" if plan.root_count == 0 else self.name
            if len(self._engines) >= _MOST_ENGINES:
                self._engines.pop(next(iter(self._engines)))
            self._engines[plan.allocation] = ENGINES[name](self, part, plan)
        engine = self._engines[plan.allocation]
        if not plan.is_part:
            counts = engine.count_many(instances)
            return [_marked(c) for c in counts] if plan.is_numerical else counts
        counts = engine.count_many([replace(i, allocation=plan.allocation) for i in instances])
        note = "surplus weights kept fixed"
        # There are infinitely many solutions: their number means nothing, a match does.
        return [
            replace(
                c, real=c.real or None, complex=None, status=UNDETERMINED, note=note, solutions=()
            )
            for c in counts
        ]


def _marked(count: InstanceCount) -> InstanceCount:
    """A count that is complete only if a trace test was not deceived says so."""
    if count.status != COMPLETE or TRACE_NOTE in count.note:
        return count
    return replace(count, note="; ".join(part for part in (count.note, TRACE_NOTE) if part))


def _phcpy(counter: Counter, problem: Problem, plan: Plan) -> InstanceEngine:
    return PhcpyEngine(problem, plan.root_count, timeout=counter.timeout, process=counter._process)


class _Homotopy:
    """The path tracker; linear systems need none."""

    def __init__(self, problem: Problem, plan: Plan) -> None:
        self.exact = ExactEngine(problem, plan.root_count)
        # A single solution found numerically may need msolve: the tracker does not.
        linear = plan.root_count == 1 and not plan.is_numerical
        self.engine = None if linear else HomotopyEngine(problem, root_count=plan.root_count)

    def count_many(self, instances: Sequence[Instance]) -> list[InstanceCount]:
        """One solution is rational in the data: exact arithmetic gives it."""
        if self.engine is None:
            return self.exact.count_many(instances)
        return self.engine.count(instances)


def _homotopy(counter: Counter, problem: Problem, plan: Plan) -> InstanceEngine:
    return _Homotopy(problem, plan)


def _exact(counter: Counter, problem: Problem, plan: Plan) -> InstanceEngine:
    return ExactEngine(problem, plan.root_count, timeout=counter.timeout)


ENGINES: dict[str, Callable[[Counter, Problem, Plan], InstanceEngine]] = {
    "homotopy": _homotopy,
    "phcpy": _phcpy,
    "exact": _exact,
}
