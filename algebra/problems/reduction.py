"""A problem that is solved in place of another one, and the way back of its solutions.

There are three reductions:

* `Lowered`: the network is equivalent to one of another kind (`Network.lower`).  Solutions
  correspond one to one, and generic ranks and root counts are equal.
* `KeptFixed`: there are more learnable weights than equations, so an instance has infinitely many
  solutions.  The surplus weights keep their drawn values.  A solution of the smaller problem
  together with these values is a solution of the original; if the smaller one has none, nothing
  follows.
* `TimeUnit`: the weights of a recurrence are large or small by their law, so that labels of
  different steps have different sizes.  They are measured in another unit.

An engine receives only the reduced problem and its instances.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from algebra.errors import InputError
from algebra.networks.base import Network, Support
from algebra.networks.chain import need_chain
from algebra.networks.lowering import Identical, Lowering
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem

Matrices = Mapping[str, np.ndarray]


class Reduction(ABC):
    """A problem solved in place of another one, over any ring of entries (see the module)."""

    # Whether the teacher's weights in the reduced problem have exactly its labels.
    keeps_teacher = False

    @property
    @abstractmethod
    def problem(self) -> Problem:
        """The problem to solve; it has no learnable weights if the allocation is drawn anew."""

    @abstractmethod
    def allocation(self, allocation: Allocation) -> Allocation:
        """The learnable weights of the reduced problem."""

    def weights(self, weights: Matrices, one: Any) -> Matrices:
        """The student's matrices in the reduced problem; `one` is the unit of the entries' ring."""
        return weights

    def teacher(self, teacher: Matrices, one: Any) -> Matrices:
        """Weights of the reduced network that give the teacher's labels, if there are any."""
        return teacher

    def samples(self, X: np.ndarray, one: Any) -> np.ndarray:
        """The samples of the reduced problem; the labels are unchanged."""
        return X

    @abstractmethod
    def restore(
        self, allocation: Allocation, weights: Matrices, solution: Sequence[Any]
    ) -> tuple[Any, ...]:
        """The original solution: a value for each cell of the original allocation.

        Parameters
        ----------
        allocation : Allocation
            The original allocation.
        weights : mapping of str to ndarray
            The original student's weights.
        solution : sequence
            Values of the reduced allocation's cells, in their order.
        """


@dataclass(frozen=True)
class Lowered(Reduction):
    """The problem of `Network.lower`.

    Examples
    --------
    >>> from algebra.networks.normalization import NormNet
    >>> net = NormNet.square(2, 1, 3, 2, "linear")
    >>> lowered = Lowered(Problem(net, {"g1": [[1], [0], [1]]}), net.lower())
    >>> lowered.problem.allocation
    Allocation(W2[0,0] W2[2,2])
    """

    original: Problem
    lowering: Lowering

    @cached_property
    def problem(self) -> Problem:
        """The lowered problem, without constraints."""
        original = self.original
        masks = {}
        if not original.is_random:
            allocation = self.allocation(original.allocation)
            masks = {name: allocation.masks[name] for name in allocation.matrices}
        network = self.lowering.network
        # Instances are drawn for the original network, whose matrices may have other names.
        laws = replace(original.distribution, scale=None)
        teacher = original.teacher
        if teacher is not None and network.input_shape != original.network.input_shape:
            raise InputError(
                f"[teacher] is not implemented for this {original.network.title} network, which is "
                "solved as another one with other samples"
            )
        return Problem(network, masks, support=self._support(), distribution=laws, teacher=teacher)

    @property
    def labels(self) -> tuple[Network, Support]:
        """The network whose labels are the teacher's, and its structural zeros."""
        return self.lowering.labels

    def _support(self) -> Support:
        """The cells that are not structural zeros; constants are not among them."""
        if isinstance(self.lowering, Identical):
            return dict(self.original.support)
        network = self.original.network
        masks = {name: np.ones(shape, np.int8) for name, shape in network.shapes.items()}
        masks |= {name: np.asarray(mask) for name, mask in self.original.support.items()}
        found = self.lowering.weights(masks, 1)
        return {name: (matrix != 0).astype(np.int8) for name, matrix in found.items()}

    def allocation(self, allocation: Allocation) -> Allocation:
        """The same learnable weights in the lowered network."""
        cells = [self.lowering.cell(cell) for cell in allocation.cells]
        return Allocation.from_cells(self.lowering.network, cells)

    def weights(self, weights: Matrices, one: Any) -> Matrices:
        return self.lowering.weights(weights, one)

    def teacher(self, teacher: Matrices, one: Any) -> Matrices:
        return self.lowering.teacher(teacher, one)

    def samples(self, X: np.ndarray, one: Any) -> np.ndarray:
        return self.lowering.samples(X, one)

    def restore(
        self, allocation: Allocation, weights: Matrices, solution: Sequence[Any]
    ) -> tuple[Any, ...]:
        """The same values, in the original order."""
        values = dict(zip(self.allocation(allocation).cells, solution, strict=True))
        return tuple(values[self.lowering.cell(cell)] for cell in allocation.cells)


@dataclass(frozen=True)
class KeptFixed(Reduction):
    """The problem with some of the learnable weights; the surplus ones are fixed.

    Examples
    --------
    >>> from algebra.networks.feedforward import LinearEstimator
    >>> whole = Problem(LinearEstimator(q=3, d=1, m=2), {"W": [[1, 1, 1]]})
    >>> part = Allocation.from_masks(whole.network, W=[[1, 0, 1]])
    >>> weights = {"W": np.array([[7, 8, 9]], dtype=object)}
    >>> KeptFixed(whole, part).restore(whole.allocation, weights, (1, 2))
    (1, 8, 2)
    """

    original: Problem
    part: Allocation

    @cached_property
    def problem(self) -> Problem:
        """The original problem, with fewer learnable weights."""
        return self.original.with_allocation(self.part)

    def allocation(self, allocation: Allocation) -> Allocation:
        """The sub-allocation."""
        return self.part

    def restore(
        self, allocation: Allocation, weights: Matrices, solution: Sequence[Any]
    ) -> tuple[Any, ...]:
        """The solution together with the drawn values of the surplus weights."""
        values = dict(zip(self.part.cells, solution, strict=True))
        return tuple(
            values[cell] if cell in values else weights[cell[0]][cell[1:]]
            for cell in allocation.cells
        )


@dataclass(frozen=True)
class TimeUnit(Reduction):
    """The problem of a linear recurrence with its matrix divided by a power of two γ.

    Labels of the last step are sums of D W^(T-t) B x_t, t = 0 … T − 1.  With W = γ W' they are
    those of W' at the samples γ^(T-t) x_t; as γ is a power of two, doubles are multiplied without
    rounding.  The law of W' has a scale near 1, so the matrices D W'^k B have similar sizes, and
    the sizes of the samples differ, which a change of basis of the samples undoes.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> from algebra.problems.laws.distribution import Distribution
    >>> net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> laws = Distribution(scale={"W": 1000})
    >>> large = Problem(net, {"W": [[1, 1], [0, 0]]}, distribution=laws)
    >>> unit = TimeUnit(large, "W", Fraction(1024))
    >>> unit.problem.distribution.scale
    {'W': Fraction(125, 128)}
    >>> unit.samples(np.array([[1], [1]], dtype=object), 1)
    array([[1048576],
           [1024]], dtype=object)
    """

    original: Problem
    matrix: str
    unit: Fraction

    keeps_teacher = True

    @cached_property
    def problem(self) -> Problem:
        """The original problem with the law of W'."""
        laws = self.original.distribution
        factors = dict(laws.scale or {})
        factors[self.matrix] /= self.unit
        return replace(self.original, distribution=replace(laws, scale=factors))

    def allocation(self, allocation: Allocation) -> Allocation:
        """The same learnable weights."""
        return allocation

    def weights(self, weights: Matrices, one: Any) -> Matrices:
        return {**weights, self.matrix: weights[self.matrix] * self._factor(one, -1)}

    def teacher(self, teacher: Matrices, one: Any) -> Matrices:
        return self.weights(teacher, one)

    def samples(self, X: np.ndarray, one: Any) -> np.ndarray:
        # The rows of X, step by step: the last step's are multiplied by W once.
        size = need_chain(self.original.network).step_inputs
        powers = [self._factor(one, (len(X) - k - 1) // size + 1) for k in range(len(X))]
        return np.array([row * power for row, power in zip(X, powers, strict=True)])

    def restore(
        self, allocation: Allocation, weights: Matrices, solution: Sequence[Any]
    ) -> tuple[Any, ...]:
        """The values of W = γ W', numbers or intervals of numbers."""

        def grown(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(grown(end) for end in value)
            return value * self.unit.numerator / self.unit.denominator

        pairs = zip(allocation.cells, solution, strict=True)
        return tuple(grown(value) if cell[0] == self.matrix else value for cell, value in pairs)

    def _factor(self, one: Any, power: int) -> Any:
        """γ to a power, an element of the ring of `one`."""
        up, down = self.unit**power, self.unit**-power
        return one * up.numerator if up >= 1 else one / down.numerator


# Scales of a recurrence from 1/16 to 16 are left as they are.
_OTHER_UNIT = 16


def in_time_unit(problem: Problem) -> TimeUnit | None:
    """The reduction of a linear recurrence with a large or small scale; None for other problems."""
    chain = problem.network.chain()
    name = chain.recurrent if chain is not None else None
    if name is None:
        return None
    factor = (problem.distribution.scale or {}).get(name, Fraction(1))
    is_last = len(problem.network.label_steps) == 1
    if not is_last or 1 < _OTHER_UNIT * factor < _OTHER_UNIT**2 or problem.constraints:
        return None
    # The nearest power of two, up to a factor 2.
    power = factor.numerator.bit_length() - factor.denominator.bit_length()
    return TimeUnit(problem, name, Fraction(2) ** power)


def lowered(problem: Problem) -> Lowered | None:
    """The reduction that the network's kind has; None if the problem is solved unchanged.

    Examples
    --------
    >>> from algebra.networks.feedforward import LinearEstimator
    >>> lowered(Problem(LinearEstimator(q=3, d=1, m=2), {"W": [[1, 1, 1]]})) is None
    True
    """
    lowering = problem.network.lower()
    return None if lowering is None else Lowered(problem, lowering)
