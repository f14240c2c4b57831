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
from dataclasses import replace
from typing import Protocol

from algebra.errors import InputError
from algebra.networks.base import Network
from algebra.networks.normalization import NormNet
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.systems.forms import core_dimension
from numeric.chains.chain import make_chain
from numeric.counts import COMPLETE, SEARCHING, TRACE_NOTE, UNDETERMINED, InstanceCount
from numeric.engines.complementarity import ComplementarityEngine
from numeric.engines.exact import ExactEngine
from numeric.engines.fsolve import FsolveEngine
from numeric.engines.homotopy import HomotopyEngine
from numeric.engines.multistart import MultistartEngine, multistart_newton
from numeric.engines.optimizers import OptimizerEngine
from numeric.engines.phcpy import PhcpyEngine
from numeric.engines.phcpy_tracker import PhcpyTracker
from numeric.engines.plans import Plan, linear_plan, rank_plan, root_plan
from numeric.engines.scip import ScipEngine
from numeric.instances import Instance
from numeric.phcpy.process import PhcpyProcess

# Engines kept: each allocation of a random problem needs one of its own.
_MOST_ENGINES = 64
# Newton starts of the quick search for one real solution: few where a complete count is
# quick too, because elimination leaves few unknowns.
_FEW_STARTS, _QUICK_STARTS, _FEW_UNKNOWNS = 12, 192, 5


# Decides ReLU normalization networks (`numeric.engines.normalization`).
RELU_EXACT = "relu-exact"


class InstanceEngine(Protocol):
    """An engine for one allocation."""

    def count_many(self, instances: Sequence[Instance]) -> list[InstanceCount]:
        """All real solutions of several instances, in their order."""
        ...


class Counter:
    """Counts the real solutions of a problem's instances.

    Parameters
    ----------
    problem : Problem
    engine : str
        One of `ENGINES`; by default `default_engine`.
    timeout : float, optional
        Seconds for one instance in the engine.
    certify : bool, optional
        Whether verdicts settle instances: minimal allocations by their rank, and, unless
        `complete`, maximal ones by an odd root count.  Never done for discrete laws, where
        generic verdicts say nothing of an instance.
    complete : bool, optional
        Whether every solution is wanted.  Otherwise one that is certain is enough: it
        decides the match, and where each trial has an allocation of its own it saves the
        root count and the start system.
    root_timeout : float, optional
        Seconds for one root count.

    Notes
    -----
    A context manager: worker processes end with it.
    """

    def __init__(
        self,
        problem: Problem,
        engine: str | None = None,
        *,
        timeout: float = 600.0,
        certify: bool = True,
        complete: bool = True,
        root_timeout: float = 60.0,
    ) -> None:
        engine = engine or default_engine(problem.network)
        if engine not in ENGINES:
            raise InputError(f"`engine` ({engine!r}) must be one of " + ", ".join(ENGINES))
        if problem.network.is_linear and engine in RELU_ENGINES:
            raise InputError(
                f"engine {engine!r} decides ReLU nets; for a {problem.network.title} take one of "
                + ", ".join(name for name in ENGINES if name not in RELU_ENGINES)
            )
        if not problem.network.is_linear and engine not in RELU_ENGINES:
            raise InputError(
                f"engine {engine!r} solves polynomial systems; a {problem.network.title} "
                "network has none: take one of " + ", ".join(RELU_ENGINES)
            )
        self.problem = problem
        self.name = engine
        self.timeout = timeout
        self.certify = certify and problem.distribution.is_continuous
        self.complete = complete
        self.root_timeout = root_timeout
        self._plans: dict[Allocation, Plan] = {}
        self._counted: set[Allocation] = set()
        self._looked: set[Allocation] = set()
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
        if self.name.startswith("phcpy"):
            self._process.start()

    def plan(self, allocation: Allocation) -> Plan:
        """What is known of an allocation; found once."""
        if not self.problem.network.is_linear:
            return _no_plan(self.problem, allocation)
        plan = self._rank_plan(allocation)
        if plan.root_count is None and self.name in SEARCHING:
            return replace(plan, source=f"not counted: {self.name} gives lower bounds")
        if plan.root_count is None and allocation not in self._counted:
            self._counted.add(allocation)
            plan = root_plan(self.problem, plan, timeout=self.root_timeout)
            self._plans[allocation] = plan
        return plan

    def _rank_plan(self, allocation: Allocation) -> Plan:
        if allocation not in self._plans:
            self._plans[allocation] = rank_plan(self.problem, allocation)
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
        if not self.problem.network.is_linear:
            # Decided one by one; the allocation, rank or pattern, needs no plan.
            return ENGINES[self.name](
                self, self.problem, _no_plan(self.problem, allocation)
            ).count_many(instances)
        plan = self._rank_plan(allocation)
        if plan.is_minimal and self.certify:
            note = f"no solution, with probability 1 ({plan.source})"
            return [InstanceCount(i.index, 0, 0, COMPLETE, note) for i in instances]
        if self.complete or plan.is_minimal:
            return self._solve(self.plan(allocation), instances)
        if self.certify and plan.root_count is None and allocation not in self._looked:
            self._looked.add(allocation)
            plan = self._plans[allocation] = linear_plan(self.problem, plan)
        if self.certify and plan.is_maximal:
            return _settled(plan, instances)
        found: dict[int, InstanceCount] = {}
        if self.problem.is_random and self.name == "homotopy":
            found = self._one_real(plan, instances)
        left = [k for k in range(len(instances)) if k not in found]
        if left:
            plan = self.plan(allocation)
            rest = [instances[k] for k in left]
            settled = self.certify and plan.is_maximal
            counts = _settled(plan, rest) if settled else self._solve(plan, rest)
            found.update(zip(left, counts, strict=True))
        return [found[k] for k in range(len(instances))]

    def _one_real(self, plan: Plan, instances: Sequence[Instance]) -> dict[int, InstanceCount]:
        """Instances in which Newton's method soon finds a real solution, certified."""
        found: dict[int, InstanceCount] = {}
        if plan.allocation.size != plan.equations:
            return found
        left = core_dimension(plan.allocation)
        starts = _FEW_STARTS if left is not None and left <= _FEW_UNKNOWNS else _QUICK_STARTS
        chain = None
        for k, instance in enumerate(instances):
            part = replace(instance, allocation=plan.allocation)
            try:
                chain = chain or make_chain(plan.allocation, self.problem.support)
                count = multistart_newton(part, starts, chain=chain, enough=1)
            except InputError:
                continue
            if count.real:
                note = "a certified real solution; not counted completely"
                found[k] = replace(count, complex=None, note=note, solutions=())
        return found

    def _solve(self, plan: Plan, instances: Sequence[Instance]) -> list[InstanceCount]:
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


def _settled(plan: Plan, instances: Sequence[Instance]) -> list[InstanceCount]:
    """Trials of a maximal allocation: each has a real solution, which nobody needs to find."""
    note = f"certified maximal: N = {plan.root_count} is odd ({plan.source})"
    return [InstanceCount(i.index, 1, None, UNDETERMINED, note) for i in instances]


def default_engine(network: Network) -> str:
    """The engine for a network where none is named."""
    if isinstance(network, NormNet) and not network.is_linear:
        return RELU_EXACT
    if not network.is_linear:
        return "complementarity"
    return "homotopy"


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
    if plan.root_count is None and plan.allocation.size == plan.equations:
        # Neither a Gröbner basis nor monodromy came to an end: too many paths to follow.
        # What can be had is a lower bound; every count says so.
        reason = (
            f"N is out of reach ({plan.source}); lower bound by the engine multistart, which "
            "--engine multistart starts at once"
        )
        return MultistartEngine(
            problem, enough=None if counter.complete else 1, timeout=counter.timeout, reason=reason
        )
    return _Homotopy(problem, plan)


def _phcpy_track(counter: Counter, problem: Problem, plan: Plan) -> InstanceEngine:
    return PhcpyTracker(problem, plan.root_count, timeout=counter.timeout, process=counter._process)


def _phcpy_core(counter: Counter, problem: Problem, plan: Plan) -> InstanceEngine:
    return PhcpyTracker(
        problem, plan.root_count, form="core", timeout=counter.timeout, process=counter._process
    )


def _fsolve(counter: Counter, problem: Problem, plan: Plan) -> InstanceEngine:
    enough = None if counter.complete else 1
    return FsolveEngine(problem, enough=enough, timeout=counter.timeout)


def _multistart(counter: Counter, problem: Problem, plan: Plan) -> InstanceEngine:
    enough = None if counter.complete else 1
    return MultistartEngine(problem, enough=enough, timeout=counter.timeout)


def _exact(counter: Counter, problem: Problem, plan: Plan) -> InstanceEngine:
    return ExactEngine(problem, plan.root_count, timeout=counter.timeout)


def _complementarity(counter: Counter, problem: Problem, plan: Plan) -> InstanceEngine:
    return ComplementarityEngine(complete=counter.complete)


def _scip(counter: Counter, problem: Problem, plan: Plan) -> InstanceEngine:
    return ScipEngine(timeout=counter.timeout)


def _no_plan(problem: Problem, allocation: Allocation) -> Plan:
    """Of a ReLU net: its equations change with the pattern, so there is no root count."""
    outputs = problem.network.outputs
    return Plan(allocation, outputs, min(allocation.size, outputs), None, "ReLU: no root count")


def _adam(counter: Counter, problem: Problem, plan: Plan) -> InstanceEngine:
    return OptimizerEngine("adam")


def _levenberg(counter: Counter, problem: Problem, plan: Plan) -> InstanceEngine:
    return OptimizerEngine("levenberg-marquardt")


# Engines of ReLU nets; they serve no other.
RELU_ENGINES = ("complementarity", "scip", "adam", "levenberg-marquardt")

ENGINES: dict[str, Callable[[Counter, Problem, Plan], InstanceEngine]] = {
    "homotopy": _homotopy,
    "phcpy": _phcpy,
    "phcpy-track": _phcpy_track,
    "phcpy-core": _phcpy_core,
    "exact": _exact,
    "fsolve": _fsolve,
    "multistart": _multistart,
    "complementarity": _complementarity,
    "scip": _scip,
    "adam": _adam,
    "levenberg-marquardt": _levenberg,
}
