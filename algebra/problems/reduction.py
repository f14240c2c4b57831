"""A problem that is solved in place of another one, and the way back of its solutions.

All equivalences are `Reduction`s: `accepts` says for which problems one is proved, by their
features; `problem` is the one to solve, `allocation`, `weights`, `teacher` and `samples` are what
becomes of an instance, and `restore` leads back.

* `AsLinear`, `algebra.plugins.normalization.augmented.Augmented`: the network is a linear one,
  with the same matrices or with others (`Network.lower`).  Solutions correspond one to one, and
  generic ranks and root counts are equal, so verdicts are too.
* `algebra.systems.equivalent_cells.AsCells`: updates that reach the labels of some cells.
* `algebra.problems.as_layers.AsLayers`: a model that is a feed-forward network.
* `algebra.problems.renaming.Renamed`: hidden units in another order.
* `TimeUnit`: the weights of a recurrence are large or small by their law, so that labels of
  different steps have different sizes.  They are measured in another unit.
* `KeptFixed`: there are more learnable weights than equations, so an instance has infinitely many
  solutions.  The surplus weights keep their drawn values.  A solution of the smaller problem
  together with these values is a solution of the original; if the smaller one has none, nothing
  follows.  `algebra.systems.equivalent_cells.WithinReach` is the same for updates.

An engine receives only the reduced problem and its instances.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from algebra.declarations import loaded
from algebra.errors import InputError
from algebra.networks.base import Cell, Network, Support
from algebra.networks.chain import need_chain
from algebra.problems.allocation import Allocation
from algebra.problems.constraints import Constraints
from algebra.problems.premises import GIVEN_DATA, UNTAUGHT, Feature, Features, Premises
from algebra.problems.problem import Problem

Matrices = Mapping[str, np.ndarray]

# What says how instances are drawn, and nothing about their solutions.
DRAWN: Features = GIVEN_DATA | UNTAUGHT | {
    Feature.BOUNDED, Feature.DISCRETE, Feature.SCALES, Feature.RANDOM_CELLS, Feature.NOT_CONTAINED,
    Feature.TEACHER_ON_PIECES,
}  # fmt: skip
MEASURED: Features = frozenset(
    {Feature.SIGNS, Feature.MEASURED, Feature.EXACT, Feature.BOUNDED_MEASURED}
)
CONSTRAINED: Features = frozenset({Feature.BOUNDS, Feature.MATCH_SIGNS})
UPDATED: Features = frozenset({Feature.LOW_RANKS, Feature.GAINS, Feature.TIES})
# What problems can have whose instances are solved for some of the weights.
OF_INSTANCES: Features = DRAWN | MEASURED | CONSTRAINED | {
    Feature.ZEROS, Feature.POLYNOMIAL, Feature.ANALYTIC, Feature.BOUNDED_NONLINEAR,
    Feature.DENSE_TARGET, Feature.OWN_WEIGHTS, Feature.RESTING_TEACHER, Feature.RESTING_RESTRICTED,
}  # fmt: skip
# What the solutions of the reduced problem are; of the second nothing follows if there are none.
SAME, SOME = "the same solutions", "some of the solutions"


def covering(name: str, features: Features, sentence: str, claim: str = SAME) -> Premises:
    """The premises of a reduction, all of whose features one sentence covers."""
    return Premises(name, claim, dict.fromkeys(features, sentence))


@dataclass(frozen=True)
class Reduction(ABC):
    """A problem solved in place of another one, over any ring of entries (see the module).

    Parameters
    ----------
    original : Problem

    Raises
    ------
    InputError
        If the proof does not cover a feature of the problem.
    """

    premises: ClassVar[Premises]
    # Whether the teacher's weights in the reduced problem have exactly its labels.
    keeps_teacher: ClassVar[bool] = False

    original: Problem

    @classmethod
    def accepts(cls, problem: Problem) -> bool:
        """Whether the proof covers a problem."""
        return cls.premises.applies(problem.features)

    @classmethod
    def theorem(cls, verdict: str) -> Premises:
        """That a problem has this verdict, about drawn data, if the one to solve has it."""
        about = cls.premises.covers.keys() - GIVEN_DATA - {Feature.RANDOM_CELLS}
        covers = {feature: cls.premises.covers[feature] for feature in about}
        return replace(cls.premises, claim=verdict, covers=covers)

    def __post_init__(self) -> None:
        missing = self.premises.missing(self.original.features)
        if missing:
            raise InputError(
                f"{' and '.join(missing)}: not implemented for this {self.original.network.title} "
                "network, which is solved as another problem"
            )

    @property
    @abstractmethod
    def problem(self) -> Problem:
        """The problem to solve; it has no learnable weights if the allocation is drawn anew."""

    def cell(self, cell: Cell) -> Cell:
        """The cell of a weight in the reduced problem."""
        return cell

    def allocation(self, allocation: Allocation) -> Allocation:
        """The learnable weights of the reduced problem."""
        return Allocation.from_cells(self.problem.network, map(self.cell, allocation.cells))

    def weights(self, weights: Matrices, one: Any) -> Matrices:
        """The student's matrices in the reduced problem; `one` is the unit of the entries' ring."""
        return weights

    def teacher(self, teacher: Matrices, one: Any) -> Matrices:
        """Weights of the reduced network that give the teacher's labels, if there are any."""
        return self.weights(teacher, one)

    def samples(self, X: np.ndarray, one: Any) -> np.ndarray:
        """The samples of the reduced problem; the labels are unchanged."""
        return X

    def restore(
        self, allocation: Allocation, weights: Matrices, solution: Sequence[Any]
    ) -> tuple[Any, ...]:
        """The original solution: a value for each cell of the original allocation.

        Parameters
        ----------
        allocation : Allocation
            The original allocation.
        weights : mapping of str to ndarray
            The original student's weights; those that do not learn in the reduced problem keep
            their values.
        solution : sequence
            Values of the reduced allocation's cells, in their order.
        """
        values = dict(zip(self.allocation(allocation).cells, solution, strict=True))
        pairs = [(cell, self.cell(cell)) for cell in allocation.cells]
        return tuple(
            values[at] if at in values else weights[cell[0]][cell[1:]] for cell, at in pairs
        )


@dataclass(frozen=True)
class Lowered(Reduction):
    """A problem whose network is solved as the linear one of `Network.lower`."""

    @cached_property
    def network(self) -> Network:
        """The linear network."""
        found = self.original.network.lower()
        assert found is not None
        return found

    @property
    def labels(self) -> tuple[Network, Support]:
        """The network whose labels are the teacher's, and its structural zeros."""
        return self.network, self.original.support


@dataclass(frozen=True)
class AsLinear(Lowered):
    """The linear network with the same matrices: the same labels at all weights and samples.

    Examples
    --------
    >>> from algebra.networks.ffn import FeedForward
    >>> net = FeedForward(2, (2,), 1, 3, activation="linear")
    >>> AsLinear(Problem(net, {"W1": [[1, 0], [0, 1]]})).problem.network
    LinearFeedForward(q=2, widths=(2,), d=1, m=3)
    """

    premises = covering(
        "the same matrices",
        DRAWN | CONSTRAINED | UPDATED | {Feature.ZEROS},
        "labels are the same function of the same weights and samples",
    )

    @cached_property
    def problem(self) -> Problem:
        """The same problem of the linear network, without constraints."""
        learnable = {} if self.original.is_random else self.original.learnable
        return replace(
            self.original, network=self.network, learnable=learnable, constraints=Constraints()
        )


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

    premises = covering(
        "surplus weights fixed", OF_INSTANCES, "some of the students are its students", SOME
    )

    part: Allocation

    @cached_property
    def problem(self) -> Problem:
        """The original problem, with fewer learnable weights."""
        return self.original.with_allocation(self.part)

    def allocation(self, allocation: Allocation) -> Allocation:
        """The sub-allocation."""
        return self.part


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

    premises = covering(
        "another unit of time",
        DRAWN | MEASURED | {Feature.ZEROS},
        "labels are the same at the matrix divided by γ and the samples times powers of it",
    )
    keeps_teacher = True

    matrix: str
    unit: Fraction

    @cached_property
    def problem(self) -> Problem:
        """The original problem with the law of W'."""
        laws = self.original.distribution
        factors = dict(laws.scale or {})
        factors[self.matrix] /= self.unit
        return replace(self.original, distribution=replace(laws, scale=factors))

    def weights(self, weights: Matrices, one: Any) -> Matrices:
        return {**weights, self.matrix: weights[self.matrix] * self._factor(one, -1)}

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
    """The reduction of a linear recurrence with a large or small scale; None for other problems.

    A network with a linear activation is solved as the linear one, in this unit.
    """
    if not TimeUnit.accepts(problem):
        return None
    problem = solved(problem)
    chain = problem.network.chain()
    name = chain.recurrent if chain is not None else None
    if name is None or len(problem.network.label_steps) > 1:
        return None
    factor = (problem.distribution.scale or {}).get(name, Fraction(1))
    if 1 < _OTHER_UNIT * factor < _OTHER_UNIT**2:
        return None
    # The nearest power of two, up to a factor 2.
    power = factor.numerator.bit_length() - factor.denominator.bit_length()
    return TimeUnit(problem, name, Fraction(2) ** power)


def lowered(problem: Problem) -> Lowered | None:
    """The reduction to a linear network; None if the problem is solved unchanged.

    Examples
    --------
    >>> from algebra.networks.feedforward import LinearEstimator
    >>> lowered(Problem(LinearEstimator(q=3, d=1, m=2), {"W": [[1, 1, 1]]})) is None
    True
    """
    if problem.network.lower() is None:
        return None
    found: Lowered = loaded(problem.network.reduction)(problem)
    return found


def solved(problem: Problem) -> Problem:
    """The problem that is solved: that of `lowered`, or the problem itself."""
    reduction = lowered(problem)
    return problem if reduction is None else reduction.problem
