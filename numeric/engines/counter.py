"""Counts by ranks and root counts first, then by an engine.

For each allocation (one, or a new one each trial) the generic ranks and the generic
root count are computed once and kept.  A minimal allocation needs no solver: its
instances have no solution with probability 1.  All others are solved by an engine, which
receives the root count and so can recognize a complete set of solutions.

The problem to solve may be a reduced one (`algebra.problems.reduction`): that of a network of
another kind, or, with more weights than equations, of a sub-allocation of full rank, with the
surplus weights fixed at their random values.  Then a real solution proves a match, and without one
the trial is undetermined.  Engines see the reduced problem; solutions are returned in the
original's order.  Under constraints surplus weights of a chain are not fixed: a match inside the
box is searched on the whole fibre (`numeric.certification.fibre`).

An instance of a network with activations, some of whose labels no student can reach because the
outputs read bounded values, has no match, whatever learns (`numeric.families.activations.reach`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from algebra.errors import InputError
from algebra.problems.allocation import Allocation
from algebra.problems.laws.pinned import pins
from algebra.problems.premises import UNTAUGHT
from algebra.problems.problem import Problem
from algebra.problems.reduction import KeptFixed, Lowered, in_time_unit, lowered
from algebra.problems.renaming import Renamed, renamed
from algebra.ranks.generic_rank import network_rank
from algebra.systems.equivalent_cells import in_parameters
from algebra.systems.forms import core_dimension
from algebra.systems.root_count import RootCountError, generic_root_count
from algebra.time_limits import check_time, positive_seconds
from numeric.engines.base import (
    Assignment,
    InstanceEngine,
    PlanningEngine,
    Resources,
    check_engine,
    chosen_engine,
    default_engine,
    engine_info,
    engines_for,
    make_engine,
)
from numeric.engines.plans import SETTLED, Plan, linear_plan, rank_plan, root_plan
from numeric.trials.counts import COMPLETE, TRACE_NOTE, UNDETERMINED, InstanceCount, Reason
from numeric.trials.instances import Instance, ReducedInstance, reduced

if TYPE_CHECKING:
    from algebra.families.activations.reach import LabelReach

# Up to so many learnable cells drawn allocations have few orbits: 220 digraphs of up to 4 cells.
_SHARED_CELLS = 4
# Largest number of engines kept: each allocation of a random problem needs its own.
_MOST_ENGINES = 64
# The note of an instance without a match.
_OUT_OF_REACH = "labels out of reach: the outputs read bounded values"
# Newton starts of the search for one real solution; few if elimination leaves few unknowns, since
# a complete count is then quick too.
_FEW_STARTS = 12
_QUICK_STARTS = 192
_FEW_UNKNOWNS = 5
# With more unknowns left than these a root count of hundreds of thousands is usual: of an
# allocation that all trials share a real solution is searched too before N is counted.
_COUNTED_UNKNOWNS = 16


class InstanceCounter:
    """Counts the real solutions of a problem's instances.

    Parameters
    ----------
    problem : Problem
    engine : str
        One of `numeric.engines.base.engines`; by default the network's.
    timeout : float, optional
        Seconds for one instance in the engine.
    certify : bool, optional
        Whether verdicts settle instances: minimal allocations by their rank, and, unless
        `complete`, maximal ones by an odd root count.  Not used for discrete laws, for which
        generic verdicts do not decide single instances.
    complete : bool, optional
        Whether every solution is required; it is if solutions are checked against constraints.
        Otherwise one certified solution is enough: it decides the match, and if each trial has its
        own allocation it saves the root count and the start system.
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
        features, problem = problem.features, in_parameters(problem)
        self._lowered = in_time_unit(problem) or lowered(problem)
        self._labels: int | None = None
        self.problem = problem
        if self._lowered is not None:
            self.problem = self._lowered.problem
        if isinstance(self._lowered, Lowered):
            engine = self._lower(self._lowered, engine)
        engine = chosen_engine(self.problem.network, engine)
        self.name = engine
        self.info = engine_info(engine)
        self.timeout = positive_seconds(timeout, "timeout")
        exact_ranks = problem.network.ranks_are_exact(problem.support)
        self.certify = certify and exact_ranks and SETTLED.applies(features)
        # The first solution may violate the constraints; other engines handle them themselves.
        self.constrained = bool(problem.constraints)
        self.complete = complete or (self.constrained and self.info.plans)
        if self.constrained and not (self.info.plans or self.info.constraints):
            raise InputError(f"engine {engine!r} does not support [constraints]: choose another")
        self.root_timeout = positive_seconds(root_timeout, "root_timeout")
        # What is computed before any instance is the same for all allocations of an orbit.
        self._renames = self._lowered is None and Renamed.accepts(problem)
        self._renamings: dict[Allocation, Renamed] = {}
        self._plans: dict[Allocation, Plan] = {}
        self._counted: set[Allocation] = set()
        self._tested_linear: set[Allocation] = set()
        self._engines: dict[Allocation | None, InstanceEngine] = {}
        self._resources = Resources()
        self._reaches: dict[Allocation, LabelReach | None] = {}

    def _lower(self, reduction: Lowered, engine: str | None) -> str | None:
        """The engine for a lowered problem, with the rank of its labels.

        If the teacher's labels satisfy more relations than dependent samples explain, path
        trackers, which select as many equations as there are unknowns, would omit some:
        the default is then the exact engine.
        """
        network = self.problem.network
        if not self.problem.features.isdisjoint(UNTAUGHT):
            return engine
        self._labels = network_rank(*reduction.labels).rank
        whole = network_rank(network, self.problem.support).rank
        dependent = self._labels < network.d * network.independent_columns
        if whole < self._labels or (dependent and engine in (None, "homotopy")):
            return "exact"
        return engine

    def __enter__(self) -> InstanceCounter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End the worker processes."""
        self._engines.clear()
        self._resources.close()

    def prepare(self) -> None:
        """Raise before any work is done if the engine cannot run."""
        check_engine(self.name, self._resources)

    def plan(self, allocation: Allocation) -> Plan:
        """The plan of an allocation, the original's or the reduced one; computed once."""
        if self._lowered is not None and allocation.network != self.problem.network:
            allocation = self._lowered.allocation(allocation)
        if not self.info.plans:
            engine = self._engine(_no_plan(self.problem, allocation), self.problem)
            if isinstance(engine, PlanningEngine):
                return engine.plan(allocation)
            return _no_plan(self.problem, allocation)
        plan = self._rank_plan(allocation)
        if plan.is_special:
            return plan
        if plan.root_count is None and self.problem.network.equations_are:
            # If only the read-out learns, N = 1 for every activation.
            plan = self._plans[allocation] = linear_plan(self.problem, plan)
        if plan.root_count is None and not self.info.complete:
            return replace(plan, source=f"not counted: {self.name} gives lower bounds")
        if plan.root_count is None and allocation not in self._counted:
            self._counted.add(allocation)
            needs = "msolve" in self.info.needs
            plan = root_plan(self.problem, plan, timeout=self.root_timeout, needs_msolve=needs)
            self._plans[allocation] = plan
        return plan

    def _rank_plan(self, allocation: Allocation) -> Plan:
        if allocation not in self._plans:
            self._plans[allocation] = rank_plan(self.problem, allocation, self._labels)
        return self._plans[allocation]

    def count_many(self, instances: Sequence[Instance]) -> list[InstanceCount]:
        """All real solutions of several instances, in their order."""
        inner = [
            instance if reduction is None else reduced(instance, reduction)
            for instance in instances
            for reduction in [self._lowered or self._renaming(instance.allocation)]
        ]
        counts = [restored(c, i) for c, i in zip(self._counts(inner), inner, strict=True)]
        return [c.with_cells(i.allocation.cells) for c, i in zip(counts, instances, strict=True)]

    def _renaming(self, allocation: Allocation) -> Renamed | None:
        """The renaming of hidden units that maps an allocation to the first one of its orbit.

        None if allocations are not drawn, or if hardly two of them are of one orbit.
        """
        if not self._renames or allocation.size > _SHARED_CELLS:
            return None
        if allocation not in self._renamings:
            self._renamings[allocation] = renamed(self.problem, allocation)
        return self._renamings[allocation]

    def _counts(self, instances: Sequence[Instance]) -> list[InstanceCount]:
        out: dict[int, InstanceCount] = {}
        groups: dict[Allocation, list[int]] = {}
        for k, instance in enumerate(instances):
            groups.setdefault(instance.allocation, []).append(k)
        for allocation, members in groups.items():
            check_time()
            counts = self._count_alike(allocation, [instances[k] for k in members])
            out.update(zip(members, counts, strict=True))
        return [out[k] for k in range(len(instances))]

    def count(self, instance: Instance) -> InstanceCount:
        """All real solutions of one instance."""
        return self.count_many([instance])[0]

    def _count_alike(
        self, allocation: Allocation, instances: Sequence[Instance]
    ) -> list[InstanceCount]:
        if not self.info.plans:
            # Each instance is decided by itself, for every allocation.
            plan = _no_plan(self.problem, allocation)
            return self._engine(plan, self.problem).count_many(instances)
        plan = self._rank_plan(allocation)
        if plan.is_minimal and self.certify:
            note = f"no solution, with probability 1 ({plan.source})"
            return [
                InstanceCount(i.index, 0, 0, COMPLETE, note, reason=Reason.SETTLED_MINIMAL)
                for i in instances
            ]
        excluded = {
            k: InstanceCount(instance.index, 0, None, COMPLETE, _OUT_OF_REACH)
            for k, instance in enumerate(instances)
            if not plan.is_minimal and self._is_excluded(instance)
        }
        left = [k for k in range(len(instances)) if k not in excluded]
        counts = self._count_left(allocation, [instances[k] for k in left]) if left else []
        found = excluded | dict(zip(left, counts, strict=True))
        return [found[k] for k in range(len(instances))]

    def _is_excluded(self, instance: Instance) -> bool:
        """Whether some labels are proved to be out of reach of the learnable weights."""
        if self.problem.network.equations_are != "analytic":
            return False
        # Loaded here: it needs SciPy's optimizers.
        from algebra.families.activations.reach import LabelReach
        from numeric.families.activations.reach import separated_labels

        if isinstance(instance, ReducedInstance):
            instance = instance.original
        allocation = instance.allocation
        if allocation not in self._reaches:
            if len(self._reaches) >= _MOST_ENGINES:
                self._reaches.pop(next(iter(self._reaches)))
            self._reaches[allocation] = LabelReach.of(instance.problem.with_allocation(allocation))
        reach = self._reaches[allocation]
        return reach is not None and separated_labels(reach, instance) is not None

    def _count_left(
        self, allocation: Allocation, instances: Sequence[Instance]
    ) -> list[InstanceCount]:
        """Counts of instances whose labels may be within reach."""
        plan = self._rank_plan(allocation)
        if self.complete or plan.is_minimal or plan.is_special:
            return self._solve(self.plan(allocation), instances)
        if self.certify and plan.root_count is None and allocation not in self._tested_linear:
            self._tested_linear.add(allocation)
            plan = self._plans[allocation] = linear_plan(self.problem, plan)
        # Whether a trial is settled by N or by a search depends on this trial alone, not on which
        # trials were counted before.
        searches = self._searches_first(plan) and plan.root_count != 1
        if self.certify and plan.is_maximal and not searches:
            return _settled(plan, instances)
        found: dict[int, InstanceCount] = {}
        if searches:
            found = self._one_real(plan, instances)
        left = [k for k in range(len(instances)) if k not in found or not found[k].real]
        if left:
            plan = self.plan(allocation)
            if plan.root_count is None:
                # Without N only the same search could follow.
                found |= {k: _uncounted(found[k], plan) for k in left if k in found}
                left = [k for k in left if k not in found]
            rest = [instances[k] for k in left]
            settled = self.certify and plan.is_maximal
            counts = _settled(plan, rest) if settled or not rest else self._solve(plan, rest)
            found.update(zip(left, counts, strict=True))
        return [found[k] for k in range(len(instances))]

    def _searches_first(self, plan: Plan) -> bool:
        """Whether one real solution is searched before N is counted.

        It is if each trial has its own allocation, for which N would serve one trial only (not if
        renamings of hidden units leave few), and if N is probably out of reach.
        """
        unknowns = core_dimension(plan.allocation)
        many = unknowns is not None and unknowns > _COUNTED_UNKNOWNS
        own = self.problem.is_random and self._renaming(plan.allocation) is None
        return self.info.decides and (own or many)

    def _one_real(self, plan: Plan, instances: Sequence[Instance]) -> dict[int, InstanceCount]:
        """Counts of instances by a search for one real solution, before any root count.

        If the search is short, because a complete count is quick too, instances in which it
        failed are omitted.
        """
        found: dict[int, InstanceCount] = {}
        if plan.allocation.size != plan.equations:
            return found
        # Loaded here: it needs compiled kernels, which other engines do not.
        from numeric.engines.search import MOST_PATHS, RealSearch
        from numeric.equations.chain import make_chain

        unknowns = core_dimension(plan.allocation)
        chain = None
        for k, instance in enumerate(instances):
            part = _of_plan(plan, instance)
            try:
                chain = chain or make_chain(plan.allocation, self.problem.support)
                search = RealSearch(part, chain, seconds=self.timeout)
            except InputError:
                continue
            few = unknowns is not None and unknowns <= _FEW_UNKNOWNS
            if few:
                search.solve(1)
                search.run(_FEW_STARTS)
            else:
                search.begin()
                few = search.few
            if not few:
                search.run(_QUICK_STARTS)
                search.follow(MOST_PATHS)
            count = search.result()
            if count.real:
                note = "a certified real solution; not counted completely"
                count = replace(
                    count, complex=None, note=note, solutions=(), boxes=(), reason=Reason.FOUND_ONE
                )
            if count.real or not few:
                found[k] = count
        return found

    def _solve(self, plan: Plan, instances: Sequence[Instance]) -> list[InstanceCount]:
        is_chain = self.problem.network.chain() is not None
        if self.constrained and plan.reduction is not None and is_chain:
            return self._in_boxes(plan, instances)
        whole = self._solves_whole(plan)
        if whole is not None:
            engine = self._engine(plan, self.problem.with_allocation(whole))
            return engine.count_many(instances)
        engine = self._engine(plan, plan.problem_of(self.problem))
        if plan.reduction is None:
            counts = self._obeying(plan, instances, engine.count_many(instances))
            if plan.is_lost:
                # The root count is missing because a child process ended: the count is not stored.
                counts = [_lost(c) for c in counts]
            return [_marked(c) for c in counts] if plan.is_numerical else counts
        solved = [reduced(i, plan.reduction) for i in instances]
        counts = self._obeying(plan, instances, engine.count_many(solved))
        note = "surplus weights kept fixed"
        # There are infinitely many solutions: their number is meaningless, a match is not.
        return [
            replace(
                c, real=c.real or None, complex=None, status=UNDETERMINED, note=note,
                solutions=tuple(own for s in c.solutions if (own := i.restored(s))),
                boxes=(),
                reason=_of_part(c, plan.is_lost),
            )
            for c, i in zip(counts, solved, strict=True)
        ]  # fmt: skip

    def _solves_whole(self, plan: Plan) -> Allocation | None:
        """The allocation with its surplus weights, if the engine decides instances in all of them.

        Exact numbers among the fixed weights change how many complex solutions there are.
        """
        part = plan.reduction
        if (
            not isinstance(part, KeptFixed)
            or not self.info.surplus
            or self.problem.network.chain() is None
        ):
            return None
        whole = part.original.allocation
        if self.constrained or pins(self.problem.student(whole)):
            return None
        # Loaded here: it needs compiled kernels, as the engine does.
        from numeric.equations.chain import laid_out

        # By structural zeros more labels may be dependent than by narrow layers.
        labels = laid_out(whole, self.problem.support).equations
        return whole if len(labels) == plan.equations else None

    def _in_boxes(self, plan: Plan, instances: Sequence[Instance]) -> list[InstanceCount]:
        """Counts for constrained surplus weights, which no engine can solve for in part."""
        # Loaded here: it needs compiled kernels and SciPy's optimizers.
        from numeric.certification.fibre import count_inside

        return [count_inside(i, plan.equations, self.problem.support) for i in instances]

    def _obeying(
        self, plan: Plan, instances: Sequence[Instance], counts: Sequence[InstanceCount]
    ) -> list[InstanceCount]:
        """The counts of the solutions that satisfy the problem's constraints."""
        if not self.constrained:
            return list(counts)
        # Loaded here: it needs compiled kernels, which problems without constraints do not.
        from numeric.certification.constraints import ConstrainedCounts, box_of

        constrained = ConstrainedCounts(
            plan.allocation, self.problem.support, searching=not self.info.complete
        )
        return [
            constrained.obeying(count, _of_plan(plan, instance), box_of(instance))
            for instance, count in zip(instances, counts, strict=True)
        ]

    def _engine(self, plan: Plan, problem: Problem) -> InstanceEngine:
        """The engine of an allocation, made once; one for all allocations if it has no plans."""
        key = plan.allocation if self.info.plans else None
        if key not in self._engines:
            # For a minimal allocation only an exact engine can find the chance solutions
            # that discrete laws allow: its systems have more equations than unknowns.
            exact = "exact" in engines_for(problem.network) and plan.root_count == 0
            exact = exact or (self.name == "homotopy" and _is_special(plan, problem))
            exact = exact or (plan.is_special and "exact" in engines_for(problem.network))
            name = "exact" if self.info.plans and exact else self.name
            # Of cells within reach of updates the equations may be of another type.
            of_cells = problem.network != self.problem.network
            if of_cells and name in (default_engine(self.problem.network), "newton"):
                name = default_engine(problem.network)
            if len(self._engines) >= _MOST_ENGINES:
                self._engines.pop(next(iter(self._engines)))
            self._engines[key] = make_engine(
                name,
                Assignment(
                    problem, plan, self.complete, self.certify, self.timeout, self._resources,
                    self.root_timeout,
                ),
            )  # fmt: skip
        return self._engines[key]


def _is_special(plan: Plan, problem: Problem) -> bool:
    """Whether exact numbers among the fixed weights change the number of solutions.

    Then some paths of a tracker diverge, because it starts at generic weights.
    """
    if plan.root_count in (None, 1) or not pins(problem.student(plan.allocation)):
        return False
    try:
        return generic_root_count(plan.allocation, problem.support).value != plan.root_count
    except RootCountError:
        return True


def _of_plan(plan: Plan, instance: Instance) -> Instance:
    """The instance that is solved under a plan."""
    return instance if plan.reduction is None else reduced(instance, plan.reduction)


def restored(count: InstanceCount, instance: Instance) -> InstanceCount:
    """A count with the solutions of the original problem."""
    solutions, boxes = (
        tuple(instance.restored(s) for s in found) for found in (count.solutions, count.boxes)
    )
    return replace(count, solutions=solutions, boxes=boxes)


def _settled(plan: Plan, instances: Sequence[Instance]) -> list[InstanceCount]:
    """Trials of a maximal allocation: each has a real solution, which need not be found."""
    note = f"certified maximal: N = {plan.root_count} is odd ({plan.source})"
    return [
        InstanceCount(i.index, 1, None, UNDETERMINED, note, reason=Reason.SETTLED_MAXIMAL)
        for i in instances
    ]


def _uncounted(count: InstanceCount, plan: Plan) -> InstanceCount:
    """The count of a search that found no solution, if N could not be computed."""
    count = replace(count, note=f"{count.note}; N could not be computed ({plan.source})")
    return _lost(count) if plan.is_lost else count


def _lost(count: InstanceCount) -> InstanceCount:
    """The count, with the reason "lost" if it is undetermined."""
    return count if count.outcome != "undetermined" else replace(count, reason=Reason.LOST)


def _of_part(count: InstanceCount, lost: bool) -> Reason:
    """The reason of a count with surplus weights fixed."""
    if count.real:
        return Reason.FOUND_ONE
    if count.is_transient or lost:
        return Reason.LOST
    return Reason.SEARCHED


def _marked(count: InstanceCount) -> InstanceCount:
    """The count, marked if it is complete only provided that a trace test is right."""
    if count.status != COMPLETE or count.reason is Reason.COUNTED_BY_TRACE:
        return count
    note = "; ".join(part for part in (count.note, TRACE_NOTE) if part)
    return replace(count, note=note, reason=Reason.COUNTED_BY_TRACE)


def _no_plan(problem: Problem, allocation: Allocation) -> Plan:
    """The plan of a ReLU net: its equations depend on the pattern, so there is no root count."""
    outputs = problem.network.outputs
    return Plan(allocation, outputs, min(allocation.size, outputs), None, "ReLU: no root count")
