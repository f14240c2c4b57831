r"""Networks whose matrices learn by updates, with the updates' parameters as weights of their own.

A matrix that learns by an update (`algebra.problems.updates`) is a function of parameters θ.  Here
the arrays of θ are added to the matrices of the network, each as one column: ``g_W`` of gains,
``t_W`` of ties, ``U_W`` and ``V_W`` of a low rank.  Code that uses Jacobian columns of weights by
name (recordings, designs, repairs, losses) can then use those of parameters, J_θ = J · ∂w/∂θ,
without reference to updates.

**Points.**  The matrices of a point are the *updated* ones, and the arrays hold the difference of θ
from its value at the point: gains 1, amounts of ties 0, U and V as drawn
(`algebra.ranks.updates.drawn_parameters`).  At a random point the arrays are 0, so points are those
of the network itself.  `algebra.ranks.updates` shows why a generic updated matrix is a generic
point.

**Derivatives** are those of the network's program in which products W x are those of the updated
matrix (`algebra.problems.updates.Update.learned`), at the matrices W − U V.  An update that moves
cells has no such product; its columns are sums of those of the cells (`moved_columns`).  Dual
numbers (`Parametrized.updated`) use neither.

**Gauge.**  U G and V G⁻ᵀ give the same matrix; with the first k columns of V fixed, which are a
regular k×k matrix at a generic point, the other parameters still span the whole tangent: a change
(dU, dV) is equivalent to (dU + U A, dV − A V), and A = dV_k V_k^{-1} makes the change of these
columns 0.

**Instances.**  The program is that of the network with each updated matrix as a value of new blocks
(`algebra.programs.rewriting.rewritten`), so instances are those of any network with a program.  The
labels are polynomials in θ if they are in the weights.  At the start of an instance gains are 1 and
amounts of ties 0; U is drawn, and V = (I | V') with V' drawn: a chart that contains all matrices of
rank k but a set of smaller dimension (`learning_weights` gives its parameters).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any, ClassVar

import numpy as np

from algebra.errors import InputError
from algebra.linalg.primes import EntryBound
from algebra.linalg.sparse import SparseMatrix
from algebra.networks.base import (
    LABELS,
    Axis,
    Cell,
    ColumnFactors,
    Factors,
    Matrix,
    Network,
    Point,
    Reading,
    Support,
)
from algebra.networks.masks import held
from algebra.networks.protocols import HasJacobian, HasUnits, jacobian_of
from algebra.problems.learning import Learning
from algebra.problems.names import Names
from algebra.problems.problem import Problem
from algebra.problems.updates import CellwiseUpdate, Gain, LowRank, Update
from algebra.programs.arrays import Function
from algebra.programs.duals import DualValue
from algebra.programs.jacobian import ProgramCell, Sweep
from algebra.programs.program import Builder, Node, Program, Value
from algebra.programs.residues import ModularArithmetic
from algebra.ranks.generic_rank import GenericRank, generic_rank
from algebra.ranks.updates import cells_moved, drawn_parameters, more_degree_and_bits, moved_columns


def _of_base(name: str) -> Any:
    """A property that is the network's own, whatever its updates are."""
    return property(lambda self: getattr(self.base, name))


@dataclass(frozen=True)
class Parametrized(HasJacobian):
    """A network and the parameters of its updates: see the module.

    Parameters
    ----------
    base : Network
    updates : tuple of (str, Update)
        Updates by the matrix that they change, in the network's order.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> net = Parametrized(LinearRNN(n=3, T=2, b=1, d=1, m=2), (("W", Gain("rows")),))
    >>> net.shapes
    {'D': (1, 3), 'W': (3, 3), 'B': (3, 1), 'g_W': (3, 1)}
    """

    family: ClassVar[str] = "activations"
    needs_entries: ClassVar[bool] = True

    base: HasJacobian
    updates: tuple[tuple[str, Update], ...]

    def __post_init__(self) -> None:
        for name in ("d", "m", "kind", "title", "only_verbs", "is_linear", "column_letter"):
            object.__setattr__(self, name, getattr(self.base, name))
        for name in self.parameters_of:
            if name in self.base.shapes:
                raise InputError(f"a {self.title} network has a matrix {name} of its own")

    @cached_property
    def parameters_of(self) -> dict[str, tuple[str, Update, str, tuple[int, int]]]:  # type: ignore[override]
        """The arrays of parameters by name: matrix, update, letter, shape in the update."""
        return {
            f"{letter}_{name}": (name, update, letter, own)
            for name, update in self.updates
            for letter, own in update.arrays(self.base.shapes[name]).items()
        }

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        arrays = self.parameters_of.items()
        return self.base.shapes | {name: (own[0] * own[1], 1) for name, (*_, own) in arrays}

    sparse = _of_base("sparse")
    own_point = _of_base("own_point")
    smooth = _of_base("smooth")
    rates = _of_base("rates")
    untaught = _of_base("untaught")
    has_kinks = _of_base("has_kinks")
    sizes = _of_base("sizes")
    input_shape = _of_base("input_shape")
    columns = _of_base("columns")
    independent_columns = _of_base("independent_columns")
    is_affine = _of_base("is_affine")
    rank_decides = _of_base("rank_decides")
    label_dimension_bound = _of_base("label_dimension_bound")
    label_steps = _of_base("label_steps")

    @property
    def equations_are(self) -> str:
        """ "polynomial", unless the network's are analytic."""
        return self.base.equations_are or "polynomial"

    def to_dict(self) -> dict[str, Any]:
        """The network's table, with the updates; no problem file has it."""
        own = {name: update.to_dict() for name, update in self.updates}
        return {**self.base.to_dict(), "updates": own}

    def with_samples(self, m: int) -> Parametrized:
        return replace(self, base=self.base.with_samples(m))

    def anywhere(self) -> HasJacobian:  # type: ignore[override]
        """The network itself: updates do not change the labels that its teachers give."""
        return self.base

    def why_exact(self, support: Support, seed: object = 0) -> str:
        return self.base.why_exact(support, seed)

    @property
    def read_out(self) -> str | None:
        """The network's, unless a parameter changes it."""
        own = self.base.read_out
        return None if own in dict(self.updates) else own

    @property
    def entry_bound(self) -> EntryBound:
        degree, bits, meetings = self.base.entry_bound
        more = more_degree_and_bits(self.base.shapes[name] for name, _ in self.updates)
        return EntryBound(degree + more[0], bits + more[1], meetings)

    @property
    def label_bound(self) -> tuple[int, int]:
        """Weights are polynomials of degree 2 at most in the drawn ones and the parameters."""
        degree, bits = self.base.label_bound
        ranks = [own.rank if isinstance(own, LowRank) else 1 for _, own in self.updates]
        return 2 * degree, bits + 2 * degree * (1 + max(ranks)).bit_length()

    def drive(self, X: Matrix) -> Matrix:
        return self.base.drive(X)

    @property
    def added(self) -> tuple[str, ...]:  # type: ignore[override]
        """The arrays U."""
        return tuple(name for name, (*_, letter, _) in self.parameters_of.items() if letter == "U")

    def build(self) -> Program:
        """The network's program, in which each updated matrix is a value of new blocks."""
        return _rewritten(self.base.program(), self.updates)

    def function(self, node: Node) -> Function:
        return self.base.function(node)

    def check_verb(self, verb: str) -> None:
        self.base.check_verb(verb)

    def need_ranks(
        self, verb: str, support: Support, attained: Callable[[], bool] | None = None
    ) -> None:
        self.base.need_ranks(verb, support, attained)

    def weight_text(self, name: str, row: str, column: str) -> str:
        """A parameter's name in the update; for gains of single units, with the unit's name."""
        if name not in self.parameters_of:
            return self.base.weight_text(name, row, column)
        return f"{name}[{self._labels[name].get(row, row)}]"

    @cached_property
    def _labels(self) -> dict[str, dict[str, str]]:
        """For each array the names of its parameters, by their numbers as text."""
        found: dict[str, dict[str, str]] = {}
        for name, update in self.updates:
            shape = self.base.shapes[name]
            names, at = update.names(name, shape), 0
            for letter, (rows, columns) in update.arrays(shape).items():
                own = names[at : at + rows * columns]
                found[f"{letter}_{name}"] = {
                    str(k): text.partition("[")[2][:-1] for k, text in enumerate(own)
                }
                at += rows * columns
        return found

    def population(self, name: str, line: str) -> str:
        known = self.parameters_of.get(name)
        if known is None:
            return self.base.population(name, line)
        matrix, update, _, _ = known
        if line == "row" and isinstance(update, Gain) and update.groups is None:
            return self.base.population(matrix, "row" if update.line == "rows" else "column")
        return name

    # -- derivatives -----------------------------------------------------------------------

    def recorded(self, what: str) -> tuple[Program, list[int]]:
        """As the network's, with the parameters of the updates that have products of their own."""
        return _recorded(self, what)

    def modular(self, point: Point, program: Program) -> ModularArithmetic:
        return self.base.modular(point, program)

    def modular_blocks(self, point: Point) -> dict[str, Any]:
        """The matrices before they are updated, and the parameters: see the module."""
        drawn = drawn_parameters(self.base, dict(self.updates), point.p, point.seed)
        weights, parameters = dict(point.weights), {}
        for name, update in self.updates:
            if isinstance(update, LowRank):
                U, V = (drawn[name][letter] for letter in "UV")
                weights[name] = (weights[name] - point.matmul(U, V)) % point.p
            for letter, own in update.arrays(self.base.shapes[name]).items():
                value = drawn[name].get(letter, np.full(own, update.start(letter)))
                parameters[f"{letter}_{name}"] = value.reshape(-1, 1, 1)
        return self.base.modular_blocks(replace(point, weights=weights)) | parameters

    def place(self, cell: Cell) -> ProgramCell:
        return cell if cell[0] in self.parameters_of else self.base.place(cell)

    def factors_of(self, sweep: Sweep, names: Collection[str]) -> Factors:
        """Those of the network's matrices; of parameters, and matrices in other places, columns."""
        found = self.base.factors_of(sweep, [name for name in names if name in self.base.shapes])
        updates, columns = dict(self.updates), ColumnFactors(self, sweep)
        own = {name: found[name] for name in names if name in found}
        return own | {
            name: columns[name]
            for name in names
            if name not in own and (name in updates or name in self.parameters_of)
        }

    def modular_readings(
        self,
        what: str,
        point: Point,
        names: Sequence[str] | None,
        units: Sequence[np.ndarray | None] | None = None,
    ) -> Factors:
        wanted = set(self.shapes if names is None else names)
        arrays = {name: of for name, of in self.parameters_of.items() if of[1].moves_cells}
        needed = wanted - arrays.keys() | {arrays[n][0] for n in wanted & arrays.keys()}
        found = super().modular_readings(what, point, sorted(needed), units)
        for array in sorted(wanted & arrays.keys()):
            name, update, *_ = arrays[array]
            if name in found:
                W, count = point.weights[name], self.shapes[array][0]
                arithmetic, moves = ModularArithmetic(point.p), cells_moved(update, W)
                J = moved_columns(found[name], moves, W.shape, count, arithmetic)
                found[array] = J[None], np.ones((1, 1, J.shape[1]), np.int64)
        return found

    def after(self, weights: Mapping[str, Matrix]) -> dict[str, Matrix]:
        """The updated matrices, over any ring."""
        found = {name: weights[name] for name in self.base.shapes}
        for name, update in self.updates:
            arrays = update.arrays(self.base.shapes[name])
            values = {a: weights[f"{a}_{name}"].reshape(own) for a, own in arrays.items()}
            found[name] = update.apply(found[name], values)
        return found

    def updated(self, point: Point) -> Point:
        """The updated matrices for these parameters, over any matrices over GF(p).

        Sparse ones are dual matrices.
        """
        weights = {name: point.weights[name] for name in self.base.shapes}
        drawn = drawn_parameters(self.base, dict(self.updates), point.p, point.seed)
        for name, update in self.updates:
            values, before = {}, weights[name]
            for letter, own in update.arrays(self.base.shapes[name]).items():
                places = np.arange(own[0] * own[1]).reshape(own)
                moved = point.weights[f"{letter}_{name}"][places, np.zeros_like(places)]
                values[letter] = moved + drawn[name].get(letter, update.start(letter))
            if isinstance(update, LowRank):
                before = before + (-point.matmul(drawn[name]["U"], drawn[name]["V"])) % point.p
            own = getattr(before, "value", before)
            if isinstance(own, SparseMatrix):
                assert isinstance(update, CellwiseUpdate)
                numbers = update.numbers_at(own.shape, own.rows, own.columns)[:, None]
                weights[name] = before.with_entries(update.applied(before.entries, numbers, values))
            else:
                weights[name] = update.apply(before, values)
        return replace(point, weights=weights)

    def modular_forward(self, point: Point) -> Matrix:
        return self.base.modular_forward(self.updated(point))

    def modular_values(self, what: str, point: Point) -> list[DualValue]:
        return self.base.modular_values(what, self.updated(point))

    # -- numbers that can be recorded -------------------------------------------------------

    def readings(self, what: str) -> tuple[Reading, ...]:
        return self.base.readings(what)

    def factor_entries(self, what: str) -> int:
        """Those of the network, and one column for each parameter and number."""
        count = sum(own[0] * own[1] for *_, own in self.parameters_of.values())
        numbers = sum(reading.size for reading in self.base.readings(what)) * self.base.m
        return self.base.factor_entries(what) + count * (0 if what == LABELS else numbers)


@dataclass(frozen=True)
class NamedParametrized(HasUnits, Parametrized):
    """`Parametrized`, of a network whose units can be named."""

    def axes(self) -> tuple[Axis, ...]:
        """Axes of the network; gains of single rows or columns are permuted with these."""
        found = []
        assert isinstance(self.base, HasUnits)
        for axis in self.base.axes():
            more = tuple(
                (f"g_{name}", 0)
                for name, update in self.updates
                if isinstance(update, Gain)
                and update.groups is None
                and (name, 0 if update.line == "rows" else 1) in axis.places
            )
            found.append(replace(axis, places=axis.places + more))
        return tuple(found)


def _learned(name: str, update: Update, build: Builder, W: Value, x: Value | None) -> Value:
    return update.learned(build, W, name, x)


def _rewritten(program: Program, updates: Iterable[tuple[str, Update]]) -> Program:
    from algebra.programs.rewriting import rewritten

    return rewritten(program, {name: partial(_learned, name, own) for name, own in updates})


@lru_cache(maxsize=64)
def _recorded(network: Parametrized, what: str) -> tuple[Program, list[int]]:
    """See `Parametrized.recorded`."""
    program, nodes = network.base.recorded(what)
    own = _rewritten(program, [of for of in network.updates if not of[1].moves_cells])
    number = {k: own.named[name] for name, k in program.named.items()}
    return own, [number.get(k, own.output) for k in nodes]


def parametrized(base: Network, updates: tuple[tuple[str, Update], ...]) -> Parametrized:
    """A network with the parameters of its updates as weights.

    Raises
    ------
    InputError
        If the network's Jacobian is not known.
    """
    kind = NamedParametrized if isinstance(base, HasUnits) else Parametrized
    return kind(jacobian_of(base), updates)


def by_parameters(problem: Problem, *, singly: str = "") -> Problem:
    """The problem with the parameters of updates as weights; unchanged without updates.

    Parameters
    ----------
    problem : Problem
    singly : str, optional
        A verb that treats parameters as elements which learn or not, each by itself; it refuses low
        ranks, with this name in the message.

    Raises
    ------
    InputError
    """
    updates = problem.updates
    if not updates:
        return problem
    for name, update in updates.items():
        if singly and isinstance(update, LowRank):
            raise InputError(
                f"learnable.{name}: {singly} is about single parameters, and those of a low-rank "
                "update have no meaning one by one; use cells, gains or ties there"
            )
    network = parametrized(problem.network, tuple(updates.items()))
    masks = {n: held(problem.learnable, n) for n in problem.learnable if n not in updates}
    for name, update in updates.items():
        for letter, mask in update.identified(problem.network.shapes[name]).items():
            masks[f"{letter}_{name}"] = mask.reshape(-1, 1)
    names = Names(network, problem.names.given)
    return Problem(
        network, masks, problem.support, problem.distribution, names=names, values=problem.values,
        teacher=problem.teacher,
    )  # fmt: skip


def by_updates(problem: Problem) -> Problem:
    """The problem with updates whose parameters are weights here; unchanged without such.

    Inverse of `by_parameters`; parameters that do not learn are removed from their updates.
    """
    network = problem.network
    if not isinstance(network, Parametrized):
        return problem
    arrays = network.parameters_of
    learnable = {n: v for n, v in problem.learnable.items() if n not in arrays}
    for name, update in network.updates:
        shape = network.base.shapes[name]
        kept = {
            letter: np.asarray(
                problem.learnable.get(f"{letter}_{name}", np.zeros((own[0] * own[1], 1), np.int8))
            ).reshape(own)
            for letter, own in update.arrays(shape).items()
        }
        left = update.restricted(shape, kept)
        if left is not None and name in learnable and learnable[name].any():
            raise InputError(
                f"{name} learns by an update and by cells: choose parameters of one of them"
            )
        if left is not None:
            learnable[name] = left
    names = Names(network.base, problem.names.given)
    return Problem(
        network.base, learnable, problem.support, problem.distribution, names=names,
        values=problem.values, teacher=problem.teacher,
    )  # fmt: skip


def learning_weights(learning: Learning, *, gauge: bool = False) -> tuple[Network, list[Cell]]:
    """All learnable parameters as weights: single cells first, then those of the updates.

    Parameters
    ----------
    learning : Learning
    gauge : bool, optional
        Also the parameters of low ranks that only move within the gauge, which `by_parameters`
        omits.

    Returns
    -------
    network : Network
        A `Parametrized` network if there are updates.
    cells : list of cells
        In the order of `Learning.names` if the gauge is included.
    """
    if not learning.updates:
        return learning.network, list(learning.cells)
    network = parametrized(learning.network, tuple(learning.updates.items()))
    cells = [
        (f"{letter}_{name}", k, 0)
        for name, update in network.updates
        for letter, mask in update.identified(network.base.shapes[name]).items()
        for k, is_kept in enumerate(mask.ravel())
        if is_kept or gauge
    ]
    return network, [*learning.cells, *cells]


def learning_rank(learning: Learning, upper: int | None = None, seed: int = 0) -> GenericRank:
    """Generic rank ρ_θ of all learnable parameters (`algebra.ranks.updates`, with the theorem).

    Parameters
    ----------
    learning : Learning
    upper : int, optional
        A known upper bound, such as the rank of the whole Jacobian.
    seed : int, optional

    Examples
    --------
    >>> from algebra.networks.feedforward import LinearEstimator
    >>> net = LinearEstimator(q=4, d=3, m=3)
    >>> [learning_rank(Problem(net, {"W": {"lora": k}}).learning).rank for k in (1, 2, 3)]
    [5, 8, 9]
    """
    network, cells = learning_weights(learning)
    return generic_rank(network, cells, support=learning.support, upper=upper, seed=seed)
