"""Random instances: fixed weights, teacher and samples of one trial.

Trial i of seed s does not depend on the allocation, the order of trials or the number
of workers: each of its parts has its own stream, spawned from ``SeedSequence(s)`` under
the key (i, part).  Two allocations with the same seed are thus compared on common
random instances.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np
from flint import fmpq

from algebra.errors import whole_number
from algebra.linalg.numbers import nearest_double
from algebra.linalg.rational import rational_echelon, rational_product
from algebra.linalg.sparse import SparseMatrix
from algebra.networks.base import Network
from algebra.networks.masks import held
from algebra.networks.protocols import not_known
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.instance_files import GivenNumbers
from algebra.problems.intervals import Interval
from algebra.problems.laws.distribution import ARBITRARY, Distribution
from algebra.problems.laws.values import Values
from algebra.problems.problem import Problem
from algebra.problems.reduction import Reduction, lowered
from algebra.time_limits import checked
from numeric.trials.streams import Streams, stream, streams_of

# Weights of trials that are drawn together: the arrays of a trial are views of them.
_DRAWN_TOGETHER = 1 << 20


@dataclass(frozen=True)
class Instance:
    """One draw of everything that is random in a problem.

    Attributes
    ----------
    problem : Problem
    allocation : Allocation
        The problem's allocation, or the one drawn for this trial.
    seed, index : int
        Together they determine the instance.
    weights : dict of str to ndarray
        The student's weights, float64.  Those of learnable cells are drawn too, so that
        instances do not depend on the allocation: they are the values before learning, to which
        constraints may refer; matches do not depend on them.
    teacher : dict of str to ndarray
        The teacher's weights.
    X : ndarray
        Samples, of shape ``problem.network.input_shape``.
    drawn_labels : ndarray or None
        Arbitrary labels, or those of another network: doubles or rationals, which are exact.  None
        if `teacher` gives the labels; otherwise it is drawn too, and has no meaning.
    """

    problem: Problem
    allocation: Allocation
    seed: int
    index: int
    weights: Mapping[str, np.ndarray]
    teacher: Mapping[str, np.ndarray]
    X: np.ndarray
    drawn_labels: np.ndarray | None = field(default=None, kw_only=True)

    @cached_property
    def labels(self) -> np.ndarray:
        """The labels Y (d×m), in double precision."""
        if self.drawn_labels is not None:
            return to_double(self.drawn_labels)
        return np.asarray(self.problem.network.teach(self.teacher, self.X))

    @cached_property
    def before(self) -> np.ndarray:
        """The learnable weights (r,) before learning, in the allocation's order."""
        return np.array([self.weights[name][i, j] for name, i, j in self.allocation.cells])

    @cached_property
    def spread(self) -> np.ndarray:
        """Standard deviations (r,) of the learnable weights in the student's distribution."""
        shapes, laws = self.problem.network.shapes, self.problem.distribution
        factors = {name: factor_of(laws, name) * shape[1] ** -0.5 for name, shape in shapes.items()}
        return np.array([factors[name] for name, _, _ in self.allocation.cells])

    @cached_property
    def exact(self) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
        """Student weights, X and Y as arrays of `flint.fmpq`.

        A double is a rational number, so these numbers are the same instance.  One exception:
        measured weights without jitter are the exact numbers of the problem, not their doubles.
        Y is the teacher's output without rounding.
        """
        return self.exact_on(None)

    def exact_on(
        self, samples: Sequence[int] | None
    ) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
        """As `exact`, with some of the samples and their labels; None means all samples.

        Raises
        ------
        InputError
            If the activation is not a polynomial: then the labels are not rational.
        """
        network, X = self.problem.network, self.X
        if samples is not None:
            network, X = network.with_samples(len(samples)), X[:, samples]
        if network.equations_are == "analytic":
            raise not_known(
                network, "labels in rational numbers", "its activation is no polynomial"
            )
        X = to_rational(X)
        drawn = self.drawn_labels
        teacher = {name: to_rational(value) for name, value in self.teacher.items()}
        weights = {name: to_rational(value) for name, value in self.weights.items()}
        for (name, i, j), value in self.problem.values.pinned(self.allocation.cells).items():
            weights[name][i, j] = fmpq(value.numerator, value.denominator)
        if drawn is not None:
            assert samples is None
            return weights, X, to_rational(drawn)
        return weights, X, network.teach(teacher, X, rational_product)

    @property
    def spanning_samples(self) -> list[int] | None:
        """Samples that span all others, exactly, if a linear network has more than it needs.

        The labels of a linear network are Y = A X, and so are the teacher's: a student that
        reproduces them on a basis of the samples' span reproduces all of them.  None means that
        all samples are needed: there are few, the network is not linear, or the first samples
        contain no basis.
        """
        if self.drawn_labels is not None:
            return None
        network = self.problem.network
        enough = network.determining_samples
        if enough == network.m or enough != network.input_shape[0]:
            return None
        basis = rational_echelon(to_rational(self.X[:, : 2 * enough]))[1]
        return basis if len(basis) == enough else None

    @property
    def is_rescaled(self) -> bool:
        """Whether its teacher gives the labels of an instance in another unit."""
        return False

    @property
    def known_teacher(self) -> Mapping[str, np.ndarray] | None:
        """The teacher's weights, exact; None if labels are given without a teacher."""
        return None if self.drawn_labels is not None else self.teacher

    @cached_property
    def box(self) -> dict[Cell, Interval]:
        """The exact interval of each learnable weight; empty if the problem has no constraints.

        The value before learning is the drawn weight of the same cell.
        """
        rules = self.problem.constraints
        if not rules:
            return {}
        found = {}
        for cell in self.allocation.cells:
            name, i, j = cell
            before = fmpq(*float(self.weights[name][i, j]).as_integer_ratio())
            found[cell] = rules.interval(cell, before)
        return found

    def residual(self, student: Mapping[str, np.ndarray]) -> float:
        """Largest error of a student's labels, relative to the largest label."""
        error = np.abs(self.problem.network.forward(student, self.X) - self.labels)
        return float(error.max() / max(np.abs(self.labels).max(), np.finfo(float).tiny))

    def with_weights(self, values: Any) -> dict[str, np.ndarray]:
        """The student's matrices with these values in the learnable cells, in allocation order."""
        values = np.asarray(values)
        student = {
            name: np.array(value, dtype=np.result_type(value, values))
            for name, value in self.weights.items()
        }
        for (name, i, j), value in zip(self.allocation.cells, values, strict=True):
            student[name][i, j] = value
        return student

    def restored(self, solution: Sequence[Any]) -> tuple[Any, ...]:
        """A solution in terms of the instance from which this one was made: unchanged."""
        return tuple(solution)


@dataclass(frozen=True)
class ReducedInstance(Instance):
    """An instance of the reduced problem, which is solved in place of the original one.

    Attributes
    ----------
    original : Instance
        The original instance has the labels.  The reduced teacher reproduces them only if some
        student does, and serves only as a start for path tracking.
    reduction : Reduction
    """

    original: Instance
    reduction: Reduction

    @property
    def is_rescaled(self) -> bool:
        return self.reduction.keeps_teacher and self.drawn_labels is None

    @cached_property
    def labels(self) -> np.ndarray:
        """The teacher's labels Y (d×m), in double precision."""
        return self.original.labels

    @property
    def spanning_samples(self) -> list[int] | None:
        """Those of its own samples; None, all, for a given instance."""
        return None if isinstance(self.original, GivenInstance) else super().spanning_samples

    def exact_on(
        self, samples: Sequence[int] | None
    ) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
        """Reduced weights and samples, and Y, as rationals."""
        weights, X, Y = self.original.exact_on(samples)
        one = fmpq(1)
        return dict(self.reduction.weights(weights, one)), self.reduction.samples(X, one), Y

    @cached_property
    def box(self) -> dict[Cell, Interval]:
        """Intervals of the reduced learnable weights, from the original's constraints."""
        found = self.original.box
        if not found:
            return {}
        here = self.restored(self.allocation.cells)
        # A weight that is kept fixed is restored as its value, not as a cell.
        pairs = zip(self.original.allocation.cells, here, strict=True)
        return {at: found[cell] for cell, at in pairs if isinstance(at, tuple)}

    def restored(self, solution: Sequence[Any]) -> tuple[Any, ...]:
        """A solution in terms of the original instance, in the order of its allocation."""
        original = self.original
        return self.reduction.restore(original.allocation, original.weights, solution)


@dataclass(frozen=True)
class GivenInstance(Instance):
    """An instance given by the user, in rational numbers.

    Attributes
    ----------
    numbers : GivenNumbers
        Weights, samples and labels over Q; `weights` and `X` are these, rounded, and `teacher` is
        empty if labels are given.
    """

    numbers: GivenNumbers

    @cached_property
    def labels(self) -> np.ndarray:
        """The labels, rounded."""
        return to_double(self.numbers.Y)

    def exact_on(
        self, samples: Sequence[int] | None
    ) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
        """The numbers themselves, always of all samples: the labels may be anything."""
        return dict(self.numbers.weights), self.numbers.X, self.numbers.Y

    @property
    def spanning_samples(self) -> list[int] | None:
        """None, all samples: a given label need not follow from those of other samples."""
        return None

    @property
    def known_teacher(self) -> Mapping[str, np.ndarray] | None:
        """The teacher's weights over Q."""
        return self.numbers.teacher


def given_instance(numbers: GivenNumbers) -> GivenInstance:
    """The instance with these numbers."""
    teacher = numbers.teacher or {}
    return GivenInstance(
        problem=numbers.problem,
        allocation=numbers.problem.allocation,
        seed=0,
        index=0,
        weights={name: to_double(value) for name, value in numbers.weights.items()},
        teacher={name: to_double(value) for name, value in teacher.items()},
        X=to_double(numbers.X),
        numbers=numbers,
    )


def reduced(instance: Instance, reduction: Reduction) -> ReducedInstance:
    """The corresponding instance of the reduced problem."""
    return ReducedInstance(
        problem=reduction.problem,
        allocation=reduction.allocation(instance.allocation),
        seed=instance.seed,
        index=instance.index,
        weights=reduction.weights(instance.weights, 1.0),
        teacher=reduction.teacher(instance.teacher, 1.0),
        X=reduction.samples(instance.X, 1.0),
        drawn_labels=instance.drawn_labels,
        original=instance,
        reduction=reduction,
    )


def lowered_instance(instance: Instance) -> Instance:
    """The instance of the equivalent network that is solved; itself if there is none."""
    reduction = lowered(instance.problem)
    return instance if reduction is None else reduced(instance, reduction)


def stacked(matrices: Sequence[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """For each name one array, the matrices of that name along its first axis."""
    return {name: np.array([own[name] for own in matrices]) for name in matrices[0]}


def labels_of(instances: Sequence[Instance]) -> np.ndarray:
    """`Instance.labels` of instances of one problem, along the first axis."""
    network = instances[0].problem.network
    originals = [own.original for own in instances if isinstance(own, ReducedInstance)]
    if originals:
        return labels_of(originals)
    if network.chain() is None or any(
        type(own) is not Instance or own.drawn_labels is not None for own in instances
    ):
        return np.array([own.labels for own in instances])

    def times(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (a.swapaxes(0, 1) @ b.swapaxes(0, 1)).swapaxes(0, 1)

    # Networks cut and join rows, the first axis, and columns, the last one.
    teachers = stacked([own.teacher for own in instances])
    rows_first = {name: value.swapaxes(0, 1) for name, value in teachers.items()}
    X = np.array([own.X for own in instances]).swapaxes(0, 1)
    return network.teach(rows_first, X, times).swapaxes(0, 1)


def to_rational(array: Any) -> Any:
    """Doubles, or rationals, as exact rationals (object array of `flint.fmpq`)."""
    if isinstance(array, SparseMatrix):
        return array.with_values(to_rational(array.values))
    out = np.empty(array.shape, dtype=object)
    for index, value in np.ndenumerate(array):
        is_exact = isinstance(value, fmpq)
        out[index] = value if is_exact else fmpq(*float(value).as_integer_ratio())
    return out


def to_double(array: np.ndarray) -> np.ndarray:
    """Rationals (object array of `flint.fmpq`) as the nearest doubles; doubles unchanged."""
    if array.dtype != object:
        return array
    out = np.empty(array.shape)
    for index, value in np.ndenumerate(array):
        out[index] = nearest_double(value)
    return out


def draw_instance(problem: Problem, seed: int, index: int) -> Instance:
    """Instance number `index` of a seed.

    Every matrix has variance g² / (number of its columns), g its factor in
    ``problem.distribution`` (1 by default), samples and arbitrary labels have variance 1; cells
    outside the support are 0.  Weights with a sign are these draws with that sign.  Measured
    weights of the student are the nearest doubles, or, with jitter, drawn around them.  Leaks that
    are weights are logistic functions of such draws.

    Parameters
    ----------
    problem : Problem
    seed, index : int
        Both at least 0.

    Examples
    --------
    >>> from algebra.networks.feedforward import LinearEstimator
    >>> problem = Problem(LinearEstimator(q=2, d=2, m=2), {"W": [[1, 1], [1, 1]]})
    >>> draw_instance(problem, 0, 3).X.shape
    (2, 2)
    """
    seed, index = whole_number(seed, "seed", 0), whole_number(index, "index", 0)
    return _drawn(problem, seed, [index], partial(stream, seed))[0]


def draw_instances(problem: Problem, seed: int, indices: Sequence[int]) -> list[Instance]:
    """The instances with these numbers, each the same as by `draw_instance`.

    Where matrices learn by updates, they are instances of the problem in their parameters.

    Parameters
    ----------
    problem : Problem
    seed : int
    indices : sequence of int
        Below 2^32.
    """
    of = streams_of(whole_number(seed, "seed", 0), indices)
    size = max(1, _DRAWN_TOGETHER // max(1, problem.network.parameters))
    out: list[Instance] = []
    for at in checked(range(0, len(indices), size)):
        out += _drawn(problem, seed, indices[at : at + size], of)
    return out


def _need_instances(network: Network) -> None:
    """Refuse a network whose instances are not known, unless it is one of another kind."""
    if not network.has_instances:
        instead = (
            f"{network.only_verbs} take them; of models only feed-forward ones, W_L φ(… φ(W_1 x + "
            "c_1) …) + e with one φ, have instances"
        )
        raise not_known(network, "instances", instead)


def _drawn(problem: Problem, seed: int, indices: Sequence[int], of: Streams) -> list[Instance]:
    if problem.updates:
        from algebra.systems.equivalent_cells import in_parameters

        problem = in_parameters(problem)
    network, laws = problem.network, problem.distribution
    _need_instances(network)
    if laws.has_given_inputs:
        rows = [[nearest_double(x) for x in row] for row in laws.inputs]
        X = np.repeat(np.array(rows).T[None], len(indices), axis=0)
    else:
        [X] = _entries([network.input_shape], laws.inputs, indices, of, "inputs")
    labels: Sequence[np.ndarray | None] = [None] * len(indices)
    if laws.labels == ARBITRARY:
        [drawn] = _entries([(network.d, network.columns)], laws.labels, indices, of, "labels")
        labels = list(drawn)
    elif laws.has_given_labels:
        labels = [given_labels(problem)] * len(indices)
    elif problem.teacher is not None:
        labels = _labels_of(problem.teacher, indices, of, X)
    weights, teacher = (_matrices(problem, indices, of, part) for part in ("weights", "teacher"))
    if laws.noise:
        taught = zip(_each(teacher), X, strict=True)
        shape = [(network.d, network.columns)]
        [noise] = _entries(shape, "normal", indices, of, "labels")
        noise *= nearest_double(laws.noise)
        labels = [network.teach(own, x) + e for (own, x), e in zip(taught, noise, strict=True)]
    parts = zip(indices, _each(weights), _each(teacher), X, labels, strict=True)
    return [
        Instance(
            problem, _drawn_allocation(problem, index, of), seed, index, own, others, inputs,
            drawn_labels=given,
        )
        for index, own, others, inputs, given in parts
    ]  # fmt: skip


def given_labels(problem: Problem) -> np.ndarray:
    """The labels of a problem that gives them (d×columns), rational."""
    network, rows = problem.network, problem.distribution.labels
    exact = np.array([[fmpq(x.numerator, x.denominator) for x in row] for row in rows], object)
    steps = network.columns // network.m
    # A row has the outputs of one sample, step after step.
    by_step = exact.reshape(network.m, steps, network.d)
    return by_step.transpose(2, 1, 0).reshape(network.d, network.columns)


def _entries(
    shapes: Sequence[tuple[int, int]], law: str, indices: Sequence[int], of: Streams, part: str
) -> list[np.ndarray]:
    """Standard draws of one part of many trials: for each shape an array (trials, rows, columns).

    A generator gives the same numbers for several matrices one after the other as for one long
    vector.
    """
    sizes = [rows * columns for rows, columns in shapes]
    drawn = np.empty((len(indices), sum(sizes)))
    for row, index in zip(drawn, indices, strict=True):
        if law == "normal":
            of(index, part).standard_normal(out=row)
        else:
            row[:] = draw_entries(of(index, part), law, row.shape)
    parts = np.split(drawn, np.cumsum(sizes)[:-1], axis=1)
    return [own.reshape(-1, *shape) for own, shape in zip(parts, shapes, strict=True)]


def _each(matrices: Mapping[str, np.ndarray]) -> Iterator[dict[str, np.ndarray]]:
    """The matrices of each trial."""
    return (dict(zip(matrices, own, strict=True)) for own in zip(*matrices.values(), strict=True))


def _labels_of(
    other: Problem, indices: Sequence[int], of: Streams, X: np.ndarray
) -> list[np.ndarray]:
    """The labels of another network: rationals, or doubles if they are not rational.

    Rounded labels are labels near those of the teacher.
    """
    network, found = other.network, []
    teachers = _each(_matrices(other, indices, of, "teacher"))
    for teacher, inputs in zip(teachers, X, strict=True):
        if network.equations_are == "analytic":
            found.append(np.asarray(network.teach(teacher, inputs), float))
            continue
        exact = {name: to_rational(value) for name, value in teacher.items()}
        found.append(np.asarray(network.teach(exact, to_rational(inputs))))
    return found


def teacher_of(instance: Instance) -> tuple[Network, Mapping[str, np.ndarray]]:
    """The network that gives an instance's labels, and its weights."""
    other = instance.problem.teacher
    if other is None:
        return instance.problem.network, instance.teacher
    of = streams_of(instance.seed, [instance.index])
    [teacher] = _each(_matrices(other, [instance.index], of, "teacher"))
    return other.network, teacher


def _matrices(
    problem: Problem, indices: Sequence[int], of: Streams, part: str
) -> dict[str, np.ndarray]:
    """The weights of students, or of teachers of the same network, (trials, rows, columns)."""
    network, laws = problem.network, problem.distribution
    _need_instances(network)
    law = laws.weights if part == "weights" else laws.teacher
    shapes = network.shapes if part == "weights" else network.teacher_shapes
    drawn_of = zip(shapes, _entries(list(shapes.values()), law, indices, of, part), strict=True)
    standard = dict(drawn_of)
    drawn = {
        name: factor_of(laws, name) * value / math.sqrt(value.shape[2])
        for name, value in standard.items()
    }
    if part == "weights" and problem.values:
        drawn = with_measured(problem.values, drawn, standard)
    drawn = laws.oriented(drawn)
    for name in set(drawn).intersection(network.rates):
        # Between 0 and 1, by the logistic function.
        drawn[name] = 1 / (1 + np.exp(-drawn[name]))
    for name, mask in problem.support.items():
        if name in drawn:
            drawn[name] *= mask
    if part == "teacher":
        for name in network.untaught.intersection(drawn):
            drawn[name] *= 0
    if network.parameters_of:
        drawn |= _parameters(network, drawn, is_teacher=part == "teacher")
    return drawn


def _parameters(
    network: Network, drawn: Mapping[str, np.ndarray], *, is_teacher: bool
) -> dict[str, np.ndarray]:
    """The parameters of updates at the start of an instance; those of a teacher change nothing."""
    found = {}
    for name, (matrix, update, letter, own) in network.parameters_of.items():
        if letter == "V":
            V = (0 if is_teacher else 1) * drawn[name].reshape(-1, *own)
            V[..., : own[0]] = np.eye(own[0])
            found[name] = V.reshape(drawn[name].shape)
        elif letter == "U" and not is_teacher:
            found[name] = drawn[name] / math.sqrt(network.shapes[matrix][1])
        else:
            found[name] = np.full_like(drawn[name], update.start(letter))
    return found


def draw_existing(problem: Problem, seed: int, index: int) -> tuple[dict[str, Any], np.ndarray]:
    """The student's weights and the samples of an instance, without cells that do not exist.

    Of matrices with a sparse mask (`algebra.networks.masks`) all n² numbers of the stream are
    drawn, some at a time, and those of existing cells are kept: they are the weights of
    `draw_instance`.

    Returns
    -------
    (dict of str to ndarray or SparseMatrix, ndarray)
    """
    network, laws = problem.network, problem.distribution
    _need_instances(network)
    rng, standard = stream(seed, index, "weights"), dict[str, Any]()
    for name, shape in network.shapes.items():
        mask = held(problem.support, name)
        if isinstance(mask, SparseMatrix):
            places = mask.rows.astype(np.int64) * shape[1] + mask.columns
            standard[name] = mask.with_values(_at_places(rng, laws.weights, shape, places))
        else:
            standard[name] = draw_entries(rng, laws.weights, shape)
    drawn = dict[str, Any]()
    for name, own in standard.items():
        values = own.values if isinstance(own, SparseMatrix) else own
        values = factor_of(laws, name) * values / math.sqrt(own.shape[1])
        drawn[name] = own.with_values(values) if isinstance(own, SparseMatrix) else values
    if problem.values:
        drawn = with_measured(problem.values, drawn, standard)
    drawn = laws.oriented(drawn)
    for name in set(drawn).intersection(network.rates):
        drawn[name] = 1 / (1 + np.exp(-drawn[name]))
    for name in problem.support:
        if name in drawn and not isinstance(drawn[name], SparseMatrix):
            drawn[name] = drawn[name] * problem.support[name]
    return drawn, draw_entries(stream(seed, index, "inputs"), laws.inputs, network.input_shape)


def _at_places(
    rng: np.random.Generator, law: str, shape: tuple[int, int], places: np.ndarray
) -> np.ndarray:
    """The numbers at some places, in their order, of a matrix that is drawn row by row."""
    found, size = np.empty(len(places)), shape[0] * shape[1]
    for start in checked(range(0, size, _DRAWN_TOGETHER)):
        row = draw_entries(rng, law, (min(_DRAWN_TOGETHER, size - start),))
        low, high = np.searchsorted(places, (start, start + len(row)))
        found[low:high] = row[places[low:high] - start]
    return found


def _drawn_allocation(problem: Problem, index: int, of: Streams) -> Allocation:
    if not problem.is_random:
        return problem.allocation
    key = of(index, "allocation").integers(0, 2**32, size=4).tolist()
    return problem.draw(random.Random(sum(int(k) << 32 * i for i, k in enumerate(key))))


def with_measured(
    values: Values, drawn: Mapping[str, Any], standard: Mapping[str, Any]
) -> dict[str, Any]:  # fmt: skip
    """Drawn weights, with the measured weights in their cells.

    Parameters
    ----------
    values : Values
    drawn : mapping of str to ndarray or SparseMatrix
        The last two axes are the rows and columns.
    standard : mapping of str to ndarray or SparseMatrix
        Draws of variance 1, for the jitter.
    """
    out: dict[str, Any] = {
        name: own.with_values(own.values.copy()) if isinstance(own, SparseMatrix) else own.copy()
        for name, own in drawn.items()
    }
    for (name, i, j), value in values.numbers.items():
        number = nearest_double(value)
        spread = nearest_double(values.jitter) * (number if values.relative else 1.0)
        at: Any = np.s_[..., i, j]
        own, more = out[name], standard[name]
        if isinstance(own, SparseMatrix):
            at = own.places(np.array(i), np.array(j))
            own, more = own.values, more.values
        own[at] = number + spread * more[at] if spread else number
    return out


def factor_of(laws: Distribution, name: str) -> float:
    """The factor of a matrix's standard deviation, as a double."""
    if not laws.scale:
        return 1.0
    return nearest_double((laws.scale or {}).get(name, Fraction(1)))


def draw_entries(rng: np.random.Generator, law: str, shape: tuple[int, ...]) -> np.ndarray:
    """Independent entries of mean 0 and variance 1."""
    if law == "normal":
        return rng.standard_normal(shape)
    if law == "uniform":
        return rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), shape)
    return rng.choice(np.array([-1.0, 1.0]), shape)
