r"""Stimulations: units that may be driven, each in samples of its own, beside what is recorded.

A *stimulation* of a unit u repeats all m samples: the same inputs enter once more, and a known
drive as well, at every step.  It adds a column to B with one entry, at u, and one input a step, the
drive.  So the drive enters where inputs do: the current of u, if states are currents; otherwise the
rate of u as its synapses send it on.  The samples without a drive are recorded in any case.

Let Z_ru be the numbers of the element r in the samples of the stimulation u, and Z_r0 those in the
problem's own samples.  If the elements R are recorded and the units S driven, the data are the Z_ru
with r in R and u in S or u = 0.

**Theorem.** For generic weights, samples and drives, R and S determine locally what all elements
and stimulations do if and only if the rows of the Z_ru, r ∈ R, u ∈ S ∪ {0}, have the rank ρ of all
rows; and a target as far as all do if and only if the span of these rows contains V, the part of
the target's rows that is in the span of all rows.

*Proof.*  The numbers of each stimulation are those of a network with one more input, at weights and
samples that the stimulations share; all are analytic functions of the same r learnable weights.  So
the theorems of `algebra.plugins.circuits.question` and `algebra.plugins.circuits.target` hold for
any set of them. ∎

A larger R or S adds rows.  So "contains V" (V the span of all rows, if there is no target) is a
property of sets R ∪ S that grow: the cheapest ones are found, bounded and proved by cuts
(`algebra.matroids.containing`, `algebra.matroids.pairs`).  It is no rank of R ∪ S, for an element
adds the more rows, the more units are driven.

**Formal values.**  If φ is tanh, the sigmoid or softplus, the sums that drives reach are
independent as the theorem of `algebra.arguments.formal_ranks` needs it.  Its proof takes the
sums of a unit in an order in which each has a monomial that no earlier one has.  A sum in the
samples of u that the drive does not reach is that of the problem's own sample with the same inputs:
equal sums have equal values.  One that it reaches s steps after u contains the drive of its own
sample at the latest such step (s = 1), or a value of its own sample at the latest stage that the
drive reaches; no sum of another sample or an earlier stage contains it.  Leaks that are given
numbers matter for sums that nothing reaches; these are some of those without a drive.

At own parameters (ReLU) the drives are given as well: numbers of mean 0 and variance 1 that follow
from the unit alone (`drive_of`).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpq

from algebra.errors import InputError, shown
from algebra.given import given_list
from algebra.linalg.residues import random_residues
from algebra.networks.base import STATES, Network, Point
from algebra.networks.masks import held
from algebra.networks.protocols import jacobian_of, not_known
from algebra.plugins.circuits.elements import (
    STIMULATIONS,
    Recordable,
    elements_of,
    fitting,
    kind_name,
    numbers_of,
    title,
)
from algebra.problems.names import Names
from algebra.problems.problem import Problem
from algebra.ranks.jacobian import base_of, random_point

# A drive is k/64 with a whole number k from -111 to 111: its variance is nearly 1.
_PARTS = 64
_MOST = 111
# The matrix of inputs.
_ENCODER = "B"


def drive_of(unit: int, steps: int, samples: int) -> np.ndarray:
    """The drive of a unit at given parameters.

    Returns
    -------
    ndarray of Fraction, shape (steps, samples)
    """
    rng = random.Random(f"drive/{unit}")
    # The drive of a sample does not depend on the number of samples.
    columns = [
        [Fraction(rng.randint(-_MOST, _MOST), _PARTS) for _ in range(steps)] for _ in range(samples)
    ]
    return np.array(columns, object).reshape(samples, steps).T


def driven_inputs(X: np.ndarray, drive: np.ndarray) -> np.ndarray:
    """Samples with a drive (steps × samples) as the last input of each step."""
    steps, m = drive.shape
    whole = np.concatenate([X.reshape(steps, -1, m), drive[:, None]], axis=1)
    return whole.reshape(-1, m)


def with_column(table: np.ndarray, unit: int, entry: Any) -> np.ndarray:
    """A matrix with one more column, which has one entry."""
    column = np.full((len(table), 1), entry * 0, table.dtype)
    column[unit] = entry
    return np.concatenate([table, column], axis=1)


@dataclass(frozen=True)
class Drive:
    """The drive of one unit.

    Attributes
    ----------
    unit : int
    before : Problem
        The problem without a drive; the parameters of updates are weights in it.
    """

    unit: int
    before: Problem

    @cached_property
    def driven(self) -> Problem:
        """The problem whose network has the drive as a further input."""
        problem, network = self.before, self.before.network
        base = base_of(network)
        more: Any = base.with_input()
        there = held(problem.support, _ENCODER)
        there = np.ones(base.shapes[_ENCODER], np.int8) if there is None else np.asarray(there)
        masks = dict(problem.learnable)
        if _ENCODER in masks:
            masks[_ENCODER] = with_column(np.asarray(masks[_ENCODER], np.int8), self.unit, 0)
        support = {**problem.support, _ENCODER: with_column(there, self.unit, 1)}
        if base.own_point is not None:
            own = base.own_point
            drive = self.given(own.X.shape[1])
            exact = np.array([fmpq(v.numerator, v.denominator) for v in drive.flat], object)
            weights = {
                **own.weights,
                _ENCODER: with_column(own.weights[_ENCODER], self.unit, fmpq(1)),
            }
            X = driven_inputs(own.X, exact.reshape(drive.shape))
            more = more.at_parameters(weights, X, support)
        if network is not base:
            more = replace(network, base=more)  # type: ignore[type-var]
        return Problem(more, masks, support)

    def given(self, samples: int) -> np.ndarray:
        """The drive at given parameters: `drive_of`."""
        base: Any = base_of(self.before.network)
        return drive_of(self.unit, base.T, samples)

    def point(self, network: Network, p: int, number: int) -> Point:
        """A random point: that of the problem without a drive, with a random drive.

        Parameters
        ----------
        network : Network
            With the drive.
        p, number : int
        """
        if network.own_point is not None:
            return random_point(network, p, number)
        point = random_point(self.before.network, p, number, self.before.support)
        rng = random.Random(f"drive/{p}/{number}/{self.unit}")
        base = base_of(network)
        entry, drive = (
            random_residues((rows, columns), p, rng)
            for rows, columns in ((1, 1), (base.T, point.X.shape[1]))  # type: ignore[attr-defined]
        )
        B = with_column(point.weights[_ENCODER], self.unit, entry[0, 0])
        return replace(
            point, weights={**point.weights, _ENCODER: B}, X=driven_inputs(point.X, drive)
        )


def stimulations_of(
    network: Network, names: Names, patterns: str | Sequence[str]
) -> tuple[Recordable, ...]:
    """The stimulations of the units that fit one of some patterns.

    Parameters
    ----------
    network : Network
    names : Names
    patterns : str or sequence of str
        Such as "unit *", "unit AV*", "unit 5", "units".

    Raises
    ------
    InputError
        If a pattern fits no unit, or inputs do not enter at the units of this network.
    """
    if base_of(network).with_input() is None:
        raise not_known(network, "stimulations of units", "record without `stimulate`")
    units = elements_of(network, ["units"])[0]
    known, found = numbers_of(units, names), set[int]()
    texts = (patterns,) if isinstance(patterns, str) else given_list(patterns, "stimulate", "[…]")
    for text in texts:
        fits = fitting("unit *" if kind_name(text) == "units" else text, known)
        if not fits:
            raise InputError(
                f"`stimulate` ({shown(text)}) fits none of the {len(units)} units "
                f"({title(units[0], names)}, …): give the name of a unit, or a pattern such as "
                "'unit *'"
            )
        found.update(fits)
    return stimulations(network, sorted(found))


def stimulations(network: Network, units: Sequence[int]) -> tuple[Recordable, ...]:
    """The stimulations of some units."""
    axis = network.readings(STATES)[0].axis
    return tuple(Recordable(STIMULATIONS, axis, unit=unit) for unit in units)


def bounding_network(problem: Problem, experiments: Mapping[int, Network]) -> Network:
    """A network whose degrees, bits and collisions bound those of all experiments together.

    Parameters
    ----------
    problem : Problem
        Without a drive.
    experiments : mapping of int to Network
        The networks with a drive.
    """
    if not experiments:
        return problem.network
    if problem.network.own_point is not None:
        # There are no collisions; degrees are equal.
        every = [problem.network, *experiments.values()]
        return max(every, key=lambda own: jacobian_of(own).entry_bound.bits)
    first = next(iter(experiments.values()))
    return first.with_samples(first.m * (1 + len(experiments)))
