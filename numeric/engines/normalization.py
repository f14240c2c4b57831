"""Counting matches of linear normalization networks, lowered to matrices.

Each instance is lowered (`algebra.normalization.lowering`), and any engine of linear networks
counts it; solutions come back in the allocation's own order.  ReLU ones have an engine of their
own (`numeric.engines.relu_exact`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpq

from algebra.errors import InputError
from algebra.networks.normalization import NormNet
from algebra.normalization.certify import student_rank
from algebra.normalization.lowering import (
    augmented,
    lowered_allocation,
    lowered_cell,
    lowered_network,
    lowered_support,
    target_rank,
)
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from numeric.counts import COMPLETE, InstanceCount, Reason
from numeric.engines.counter import InstanceCounter
from numeric.engines.plans import Plan
from numeric.instances import Instance


def make_counter(problem: Problem, engine: str | None = None, **settings: Any) -> InstanceCounter:
    """The counter of a problem: see `numeric.engines.counter.InstanceCounter`."""
    if isinstance(problem.network, NormNet) and problem.network.is_linear:
        return LoweredCounter(problem, engine, **settings)
    return InstanceCounter(problem, engine, **settings)


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


class LoweredCounter(InstanceCounter):
    """A counter of linear normalization networks, by any engine.

    Parameters
    ----------
    problem : Problem
    engine, **settings
        As for `InstanceCounter`.  Where the target's labels are dependent beyond the number of
        samples, the default engine is ``exact``: path trackers would leave equations out.
    """

    def __init__(self, problem: Problem, engine: str | None = None, **settings: Any) -> None:
        network = problem.network
        assert isinstance(network, NormNet)
        if problem.constraints:
            raise InputError(
                "[constraints] are obeyed for linear, recurrent and feed-forward linear networks, "
                "not for normalization networks"
            )
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
            return [
                InstanceCount(i.index, 0, 0, COMPLETE, note, reason=Reason.SETTLED_MINIMAL)
                for i in instances
            ]
        found = super().count_many([lower_instance(i, self.problem) for i in instances])
        return [
            replace(count, solutions=_reordered(instance.allocation, count.solutions)).with_cells(
                instance.allocation.cells
            )
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
