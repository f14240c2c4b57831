"""Trials of linear RNNs of any size in which few cells of W learn, by the few numbers that count.

The labels of such a network are polynomials in the learnable weights whose coefficients are
D W^a e_i, e_j^T W^a e_i, e_j^T W^a B and D W^t B (`algebra.networks.large`): they are computed from
drawn matrices of n units, and the system of these numbers, of the size of the cells, is solved in
place of the network.  Numbers are rounded: that of doubles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from algebra.networks.large import LargeNetwork
from algebra.networks.protocols import jacobian_of
from algebra.problems.problem import ALL, Problem
from algebra.systems.root_count import generic_root_count
from numeric.engines.counter import InstanceCounter
from numeric.trials.counts import COMPLETE, Reason
from numeric.trials.instances import Instance, draw_instance


@dataclass(frozen=True)
class MatchCounts:
    """Outcomes of the trials of one network.

    Attributes
    ----------
    matched, unmatched, undetermined : int
    root_count : int or None
        N; None with more weights than equations.
    certified : bool
        Whether a verdict settles all trials, such as an odd N: then none is drawn.
    """

    matched: int
    unmatched: int
    undetermined: int
    root_count: int | None
    certified: bool = False


def count_trials(
    problems: Sequence[Problem], trials: int, seeds: Sequence[int]
) -> list[MatchCounts]:
    """Trials of linear RNNs, those of `estimate`, with all solutions counted.

    Parameters
    ----------
    problems : sequence of Problem
        Of kind ``lrnn``, without options; the same cells of W learn in all, with the same T, b, d,
        m: only n differs, so one start system serves all.
    trials : int
        Of each.
    seeds : sequence of int
        One for each.
    """
    network, allocation = problems[0].network, problems[0].allocation
    sizes = {name: getattr(network, name) for name in ("T", "b", "d", "m")}
    large = LargeNetwork(cells=tuple((i, j) for _, i, j in allocation.cells), **sizes)
    small = Problem(large, {"W": ALL})
    if allocation.size > jacobian_of(network).label_dimension_bound:
        # With more cells than equations solutions are infinitely many, and only the networks' own
        # equations are decided.
        return [
            count_matches(one, (draw_instance(one, seed, k) for k in range(trials)), trials)
            for one, seed in zip(problems, seeds, strict=True)
        ]
    # N of the networks is that of the small system, as soon as n is so large that its numbers are
    # independent: counted for the smallest and the largest n.
    counted = {k: generic_root_count(problems[k].allocation, seed=seeds[k]).value for k in (0, -1)}
    found = []
    with InstanceCounter(small, complete=False) as counter:
        for k, (problem, seed) in enumerate(zip(problems, seeds, strict=True)):
            N = counted[-1 if k else 0]
            drawn = (draw_instance(problem, seed, index) for index in range(trials))
            instances = (
                replace(i, problem=small, allocation=small.allocation, drawn_labels=i.labels,
                        weights=numbers_of(large, i.weights))
                for i in drawn
            )  # fmt: skip
            found.append(_matches(counter, instances, trials, N))
    return found


def count_matches(
    problem: Problem, instances: Iterable[Instance], trials: int, N: int | None = None
) -> MatchCounts:
    """Outcomes of instances, or, if N is odd, the certain ones of so many.

    Parameters
    ----------
    problem : Problem
    instances : iterable of Instance
    trials : int
        Their number.
    N : int, optional
        The number of complex solutions of generic instances; none if they are infinitely many.
    """
    with InstanceCounter(problem, complete=False) as counter:
        return _matches(counter, instances, trials, N)


def _matches(
    counter: InstanceCounter, instances: Iterable[Instance], trials: int, N: int | None
) -> MatchCounts:
    if N is not None and N % 2:
        return MatchCounts(trials, 0, 0, N, certified=True)
    counts = counter.count_many(list(instances))
    matched = sum(bool(count.real) for count in counts)
    unmatched = sum(count.status == COMPLETE and not count.real for count in counts)
    settled = all(count.reason is Reason.SETTLED_MAXIMAL for count in counts)
    return MatchCounts(matched, unmatched, trials - matched - unmatched, N, settled)


def numbers_of(network: LargeNetwork, weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The frozen weights of a `LargeNetwork`, root = 1, with the labels of a network of n units.

    Parameters
    ----------
    network : LargeNetwork
    weights : mapping of str to ndarray
        D (d, n), W (n, n), B (n, b).  What W has in learnable cells, learnt weights add to.
    """
    D, W, B = (weights[name] for name in "DWB")
    heads, tails = list(network.heads), list(network.tails)
    images, middle, outputs = [B], [np.eye(len(W))[:, heads]], [D]
    for _ in range(network.T):
        images.append(W @ images[-1])
        middle.append(W @ middle[-1])
        outputs.append(outputs[-1] @ W)
    tables: dict[str, Any] = {
        "H": [D @ image for image in images[1:]],
        "D": [own[:, heads].T for own in outputs[:-1]],
        "G": [own[tails].T for own in middle[1:-1]],
        "B": [own[tails] for own in images[:-1]],
        "W": np.zeros(len(network.cells)),
    }
    return {name: np.reshape(tables[name], shape) for name, shape in network.shapes.items()}
