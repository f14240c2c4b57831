"""Counting matches of normalization networks: lowered where linear, by verdict where not.

A linear normalization network is lowered to matrices (`algebra.normalization.lowering`) instance by
instance, and any engine counts it; solutions come back in the allocation's own order.

A ReLU one has no single polynomial system.  Engine ``relu-exact`` decides a trial

* by verdict, where the allocation is maximal (every layer can be realized for generic
  weights) or minimal (too few weights for the labels' dimension);
* with one hidden layer by branch and bound over what is active, in rationals
  (`algebra.normalization.matching`): both answers are proofs, unless time runs out;
* otherwise by realizing the target's layers on the samples, in rationals: a solution, put
  through the whole network, is a match; none proves nothing, and the trial stays
  undetermined.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from algebra.certificates.certificate import MAXIMAL, MINIMAL
from algebra.errors import InputError
from algebra.families import certify
from algebra.networks.normalization import NormNet
from algebra.normalization.certify import student_rank
from algebra.normalization.dense import norm_bound
from algebra.normalization.lowering import (
    augmented,
    lowered_allocation,
    lowered_cell,
    lowered_network,
    lowered_support,
    target_rank,
)
from algebra.normalization.matching import MATCHED, UNMATCHED, applies_to, match_instance
from algebra.normalization.scales import Unreachable, solve_both_scales, solve_scales
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from numeric.counts import COMPLETE, UNDETERMINED, InstanceCount
from numeric.engines.counter import RELU_EXACT, Counter
from numeric.engines.plans import Plan
from numeric.instances import Instance, to_rational
from numeric.normalization.float_simplex import advisor

# Linear programs for one instance.
_MOST_NODES = 20_000


def make_counter(problem: Problem, engine: str | None = None, **settings: Any) -> Counter:
    """The counter of a problem: see `numeric.engines.counter.Counter`."""
    if not isinstance(problem.network, NormNet):
        return Counter(problem, engine, **settings)
    if problem.network.is_linear:
        return LoweredCounter(problem, engine, **settings)
    return ReluCounter(problem, engine, **settings)


@dataclass(frozen=True)
class LoweredInstance(Instance):
    """An instance of a linear normalization network as one of augmented matrices.

    Attributes
    ----------
    original : Instance
        Its labels are the teacher's; the lowered teacher realizes them where the hidden
        widths allow it, and is only a start for path tracking.
    """

    original: Instance

    @cached_property
    def labels(self) -> np.ndarray:
        """The teacher's labels Y (d×m), in double precision."""
        return self.original.labels

    @cached_property
    def exact(self) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
        """Augmented weights and samples, and Y, as rationals."""
        weights, X, Y = self.original.exact
        ones = np.array([[fmpq(1)] * X.shape[1]], dtype=object)
        return augmented(weights, fmpq(1)), np.concatenate([X, ones]), Y


def lower_instance(instance: Instance, problem: Problem) -> LoweredInstance:
    """The instance of the lowered problem."""
    network = instance.problem.network
    assert isinstance(network, NormNet)
    return LoweredInstance(
        problem=problem,
        allocation=lowered_allocation(instance.allocation),
        seed=instance.seed,
        index=instance.index,
        weights=augmented(instance.weights, 1.0),
        teacher=augmented(_embedded(network, instance.teacher), 1.0),
        X=np.concatenate([instance.X, np.ones((1, network.m))]),
        original=instance,
    )


def _embedded(network: NormNet, teacher: Any) -> dict[str, np.ndarray]:
    """Student weights whose blocks are the teacher's layers, as far as the widths allow."""
    out: dict[str, np.ndarray] = {}
    for k in range(1, network.depth + 1):
        T, w = teacher[f"T{k}"], network.hidden[k - 1]
        n, before = T.shape
        first, second = np.zeros((w, before)), np.zeros((n, w))
        if w >= before:
            first[:before], second[:, :before] = np.eye(before), T
        else:
            size = min(w, n)
            first[:size], second[:size, :size] = T[:size], np.eye(size)
        out |= {f"W{2 * k - 1}": first, f"W{2 * k}": second}
        out |= {f"g{2 * k - 1}": np.ones((w, 1)), f"b{2 * k - 1}": np.zeros((w, 1))}
        out |= {f"g{2 * k}": np.ones((n, 1)), f"b{2 * k}": np.array(teacher[f"t{k}"])}
    return out


class LoweredCounter(Counter):
    """A counter of linear normalization networks, by any engine.

    Parameters
    ----------
    problem : Problem
    engine, **settings
        As for `Counter`.  Where the target's labels are dependent beyond the number of
        samples, the default engine is ``exact``: path trackers would leave equations out.
    """

    def __init__(self, problem: Problem, engine: str | None = None, **settings: Any) -> None:
        network = problem.network
        assert isinstance(network, NormNet)
        self.original = problem
        whole, target = student_rank(problem).rank, target_rank(network).rank
        self._narrow = whole < target
        dependent = target < network.d * min(network.m, network.q + 1)
        if self._narrow or (dependent and engine in (None, "homotopy")):
            engine = "exact"
        lowered = Problem(
            lowered_network(network),
            {},
            support=lowered_support(network, problem.support),
            distribution=problem.distribution,
        )
        super().__init__(lowered, engine, **settings)
        self._dimensions = whole, target

    def plan(self, allocation: Allocation) -> Plan:
        """What is known of an allocation of the original network, or of the lowered one."""
        if isinstance(allocation.network, NormNet):
            allocation = lowered_allocation(allocation)
        if self._narrow:
            return Plan(allocation, self._dimensions[1], self._dimensions[0], 0, self._why)
        return super().plan(allocation)

    @property
    def _why(self) -> str:
        return "the frozen net's labels have dimension {}, the target's {}".format(
            *self._dimensions
        )

    def count_many(self, instances: Sequence[Instance]) -> list[InstanceCount]:
        """All real solutions of several instances, in their order."""
        if self._narrow and self.certify:
            note = f"no solution, with probability 1 (minimal: {self._why})"
            return [InstanceCount(i.index, 0, 0, COMPLETE, note) for i in instances]
        found = super().count_many([lower_instance(i, self.problem) for i in instances])
        return [
            replace(count, solutions=_reordered(instance.allocation, count.solutions))
            for instance, count in zip(instances, found, strict=True)
        ]


def _reordered(
    allocation: Allocation, solutions: tuple[tuple[float, ...], ...]
) -> tuple[tuple[float, ...], ...]:
    """Solutions in the order of the original allocation's cells."""
    network = allocation.network
    assert isinstance(network, NormNet)
    place = {cell: k for k, cell in enumerate(lowered_allocation(allocation).cells)}
    order = [place[lowered_cell(network, cell)] for cell in allocation.cells]
    return tuple(tuple(s[k] for k in order) for s in solutions if len(s) == len(order))


class ReluCounter(Counter):
    """Matches of ReLU normalization networks, as far as they can be decided.

    Parameters
    ----------
    problem : Problem
    engine : str, optional
        "relu-exact" is the only one.
    **settings
        As for `Counter`.
    """

    def __init__(self, problem: Problem, engine: str | None = None, **settings: Any) -> None:
        if engine not in (None, RELU_EXACT):
            raise InputError(
                f"engine {engine!r} solves polynomial systems; a ReLU normalization network has "
                f'none: choose {RELU_EXACT!r}, or activation = "linear"'
            )
        self.problem = problem
        self.name = RELU_EXACT
        self.certify = settings.get("certify", True) and problem.distribution.is_continuous
        self.timeout = settings.get("timeout", 600.0)
        self._verdicts: dict[Allocation, tuple[str, str]] = {}

    def close(self) -> None:
        """There are no worker processes."""

    def prepare(self) -> None:
        """Nothing can be missing."""

    def plan(self, allocation: Allocation) -> Plan:
        """Verdict in the words of a plan; root counts are not known for ReLU networks."""
        verdict, rule = self._verdict(allocation)
        target = target_rank(self.problem.network).rank  # type: ignore[arg-type]
        return Plan(allocation, target, target, 0 if verdict == MINIMAL else None, rule)

    def _verdict(self, allocation: Allocation) -> tuple[str, str]:
        if allocation not in self._verdicts:
            found = certify(self.problem.with_allocation(allocation))
            self._verdicts[allocation] = found.verdict, found.rule
        return self._verdicts[allocation]

    def count_many(self, instances: Sequence[Instance]) -> list[InstanceCount]:
        """What is certain of several instances, in their order."""
        return [self._count(instance) for instance in instances]

    def _count(self, instance: Instance) -> InstanceCount:
        start = time.process_time()
        verdict, rule = self._verdict(instance.allocation)
        if self.certify and verdict == MINIMAL:
            note = f"no solution, with probability 1 (minimal: {rule})"
            return InstanceCount(instance.index, 0, 0, COMPLETE, note)
        if self.certify and verdict == MAXIMAL:
            note = f"certified maximal: {rule}"
            return InstanceCount(instance.index, 1, None, UNDETERMINED, note)
        if applies_to(instance.allocation):
            weights, X, Y = instance.exact
            match = match_instance(
                instance.allocation, weights, X, Y, most_nodes=_MOST_NODES,
                seconds=self.timeout, advisor=advisor,
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
            return InstanceCount(
                instance.index, None, None, UNDETERMINED, f"not decided by {note}",
                paths=match.nodes, seconds=seconds,
            )  # fmt: skip
        found, note = realize_instance(instance)
        seconds = time.process_time() - start
        real = 1 if found is not None else None
        return InstanceCount(
            instance.index, real, None, UNDETERMINED, note, certified=int(found is not None),
            seconds=seconds,
        )  # fmt: skip


def realize_instance(instance: Instance) -> tuple[dict[str, np.ndarray] | None, str]:
    """Scales and shifts that match an instance, by realizing each layer on its samples.

    Parameters
    ----------
    instance : Instance
        Of a `NormNet`, allocations of whole columns of scales and shifts; its weights
        are doubles, that is rationals.

    Returns
    -------
    weights : dict or None
        The student's matrices in rationals, put through the network and found to give the
        labels exactly; None where the construction does not apply.
    note : str
    """
    network = instance.problem.network
    assert isinstance(network, NormNet)
    masks = instance.allocation.masks
    weights, X, Y = instance.exact
    student = {name: value.copy() for name, value in weights.items()}
    for k in range(1, network.depth + 1):
        needed = (f"g{2 * k - 1}", f"b{2 * k - 1}", f"b{2 * k}")
        if not all(masks[name].all() for name in needed):
            return None, f"the construction needs all of {', '.join(needed)} to learn"
    teacher = {name: to_rational(value) for name, value in instance.teacher.items()}
    state = X
    for k in range(1, network.depth + 1):
        first, second = 2 * k - 1, 2 * k
        goal = teacher[f"T{k}"] @ state + teacher[f"t{k}"]
        base = _independent(state[:, 1:] - state[:, :1])
        if base.shape[1]:
            W1 = weights[f"W{first}"] @ base
            W2, want = weights[f"W{second}"], teacher[f"T{k}"] @ base
            try:
                if masks[f"g{second}"].all():
                    gamma, output = solve_both_scales(W2, W1, want, layer=k)
                else:
                    output = weights[f"g{second}"][:, 0]
                    if any(entry == 0 for entry in output):
                        return None, f"layer {k}: an output scale is 0"
                    gamma = solve_scales(W2, W1, want / output[:, None], layer=k)
            except Unreachable as failure:
                return None, f"{failure}; which proves nothing"
            student[f"g{first}"] = gamma[:, None]
            student[f"g{second}"] = output[:, None]
        linear = student[f"g{first}"] * (weights[f"W{first}"] @ state)
        shift = np.array([[norm_bound(row)] for row in linear], dtype=object)
        student[f"b{first}"] = shift
        made = student[f"g{second}"] * (weights[f"W{second}"] @ (linear + shift))
        student[f"b{second}"] = (goal - made)[:, :1]
        state = goal * (goal > 0)
    if any(entry != 0 for entry in (network.forward(student, X) - Y).ravel()):
        return None, "the construction does not give the labels"
    return student, "realized exactly, layer by layer"


def _independent(columns: np.ndarray) -> np.ndarray:
    """A maximal set of independent columns, by exact elimination."""
    rows, count = columns.shape
    if not count:
        return columns
    reduced, rank = fmpq_mat(rows, count, columns.ravel().tolist()).rref()
    pivots: list[int] = []
    for r in range(rank):
        c = pivots[-1] + 1 if pivots else 0
        while reduced[r, c] == 0:
            c += 1
        pivots.append(c)
    return columns[:, pivots]
