r"""Derivatives of activities by learnable weights, in doubles at a circuit's own parameters.

The point is instance 0 of a seed: measured weights are the circuit's own, all others are drawn.  A
matrix W multiplies values R_s, and a number z changes with it by Σ_s L_s[:, i] ⊗ R_s[j, :]
(`algebra.programs.jacobian.factors`); the column of a gain or of a tied parameter is the sum over
the cells that it moves.

**Singular values** s_i are those of the doubles computed, with a bound of their distance from those
of the true Jacobian at these doubles: J is enclosed in balls (mid, rad), entry by entry and without
the factors above, and with the computed factors U, V and D = diag(s)

.. math:: |σ_i(J) − s_i| ≤ ‖rad‖_F + ‖mid − U D Vᵀ‖_F + s_i (\sqrt{(1+f)(1+g)} − 1),
   \quad f = ‖UᵀU − I‖_F, \; g = ‖VᵀV − I‖_F,

by Weyl's inequality and Ostrowski's theorem (for f, g < 1/4 twice the last term bounds both sides);
norms of products of doubles are increased by their rounding errors.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import matmul, truediv
from typing import Any

import numpy as np

from algebra.errors import InputError
from algebra.linalg.numbers import nearest_double
from algebra.memory_limits import check_memory
from algebra.networks.activated import ActivatedNetwork
from algebra.networks.base import Cell
from algebra.plugins.circuits.question import RecordingQuestion
from algebra.plugins.circuits.stimulation import driven_inputs, with_column
from algebra.plugins.circuits.target import Owners
from algebra.problems.problem import Problem
from algebra.problems.updates import Gain, LowRank
from algebra.programs.arrays import EntryArithmetic, number_in
from algebra.programs.balls import as_balls, ball_product
from algebra.programs.evaluate import evaluate
from algebra.programs.jacobian import Sweep, factors
from algebra.ranks.jacobian import base_of
from algebra.ranks.updates import MovedCells, cells_moved, moved_columns
from algebra.time_limits import check_time
from numeric.trials.instances import draw_entries, draw_instance, factor_of, to_double
from numeric.trials.streams import stream

# Entries of a Jacobian up to which it is enclosed in balls.
_ENCLOSED = 40_000
_ROUNDING = 2.0**-53
# Singular values of J diag(s)/σ below it change a sum with 1 by less than 1e-12.
_NOTHING = 1e-6
# The largest derivative, in units of the deviation before the recording.
_LARGEST = 1e9
# Share of the norm of the target, below which its singular values are left out.
_NO_TARGET = 1e-10
# The standard deviation of 1/(1 + e^(-x)) for a normal x, by Gauss and Hermite.
_AT, _WEIGHT = np.polynomial.hermite_e.hermegauss(60)
# |x| for x of mean 0 and variance 1.
_ABSOLUTE = {"normal": np.sqrt(1 - 2 / np.pi), "uniform": 0.5, "rademacher": 0.0}


@dataclass(frozen=True)
class Sensitivity:
    """Derivatives in doubles at the circuit's own parameters.

    Attributes
    ----------
    question : RecordingQuestion
    seed : int
    rows, owner : ndarray
        Of what may be recorded: numbers × parameters, and the element of each number.
    target, target_owner : ndarray
        Of the target.
    prior : ndarray, shape (parameters,)
        Standard deviations before the recording.
    stimulation : ndarray or None
        The stimulation in whose samples each number is, as an element; -1 without a drive.
    """

    question: RecordingQuestion
    seed: int
    rows: np.ndarray
    owner: np.ndarray
    target: np.ndarray
    target_owner: np.ndarray
    prior: np.ndarray
    stimulation: np.ndarray | None = None

    def kept(self, chosen: Iterable[int]) -> np.ndarray:
        """Which rows are recorded with some elements, stimulations among them."""
        listed = list(chosen)
        kept = np.isin(self.owner, listed)
        if self.stimulation is not None:
            kept &= np.isin(self.stimulation, [-1, *listed])
        return kept

    @cached_property
    def aims(self) -> np.ndarray:
        """F with FᵀF = S TᵀT S, S = diag(prior): the target, in units of the prior."""
        scaled = self.target * self.prior
        return _compressed(scaled, float(np.linalg.norm(scaled)) * _NO_TARGET)

    def parts(self, elements: Sequence[int], sigma: float) -> list[np.ndarray]:
        """A_u with A_uᵀA_u = S J_uᵀJ_u S/σ² for each element u."""
        order = np.argsort(self.owner, kind="stable")
        ends = np.searchsorted(self.owner[order], [[k, k + 1] for k in elements])
        return [
            _compressed(self.rows[order[a:b]] * (self.prior / sigma), _NOTHING) for a, b in ends
        ]

    def covariance(self, chosen: Sequence[int], sigma: float) -> np.ndarray:
        """(1 + Σ A_uᵀA_u)⁻¹, the covariance of the parameters in units of the prior.

        It is computed from singular values: squares of stiff ones would hide the 1.
        """
        rows = self.rows[self.kept(chosen)] * (self.prior / sigma)
        if rows.shape[0] > rows.shape[1]:
            rows = np.asarray(np.linalg.qr(rows, mode="r"))
        _, s, V = np.linalg.svd(rows, full_matrices=True)
        shrunk = np.ones(len(self.prior))
        shrunk[: len(s)] = 1 / (1 + s**2)
        return np.asarray((V.T * shrunk) @ V)

    def deviations(self, chosen: Sequence[int], sigma: float) -> tuple[np.ndarray, float]:
        """The predicted standard deviation of each element of the target, and of all numbers."""
        scaled = self.target * self.prior
        variance = ((scaled @ self.covariance(chosen, sigma)) * scaled).sum(axis=1)
        sums, counts = np.bincount(self.target_owner, variance), np.bincount(self.target_owner)
        return np.sqrt(sums / counts), float(np.sqrt(variance.mean()))

    def total(self, chosen: Sequence[int], sigma: float) -> float:
        """The predicted standard deviation of all numbers of the target, without the elements'."""
        left = ((self.aims @ self.covariance(chosen, sigma)) * self.aims).sum()
        return float(np.sqrt(left / len(self.target)))

    def singular_values(self, chosen: Sequence[int]) -> tuple[np.ndarray, float | None]:
        """Singular values of the rows of some elements, and a bound of their errors.

        The bound is None if the rows have too many entries to be enclosed, or units may be driven.
        """
        J = self.rows[self.kept(chosen)]
        U, s, V = np.linalg.svd(J, full_matrices=False)
        if not s.size or J.size > _ENCLOSED or self.stimulation is not None:
            return s, None
        norm, width = float(np.linalg.norm(J)), max(J.shape) + 2

        def gap(A: np.ndarray) -> float:
            found = np.linalg.norm(A.T @ A - np.eye(A.shape[1]))
            return float(found) + width * _ROUNDING * float(np.linalg.norm(A)) ** 2

        f, g = gap(U), gap(V.T)
        rest = float(np.linalg.norm(J - (U * s) @ V))
        rest += 4 * width * _ROUNDING * (norm + float(np.linalg.norm(U * s) * np.linalg.norm(V)))
        slack = 2 * (np.sqrt((1 + f) * (1 + g)) - 1) * float(s[0])
        return s, float((self._radius(chosen, J) + rest + slack) * (1 + 1e-10))

    def _radius(self, chosen: Sequence[int], J: np.ndarray) -> float:
        """Bound of the Frobenius norm of J − the true Jacobian, by balls."""
        point = _Point.of(self.question, self.seed)
        weights = {name: as_balls(w) for name, w in point.weights.items()}
        balls = replace(point, weights=weights, X=as_balls(point.X)).enclosed(chosen)
        far = [
            float((ball - float(mid)).abs_upper())
            for ball, mid in zip(balls.flat, J.flat, strict=True)
        ]
        return float(np.linalg.norm(far)) * (1 + 1e-12)


def _compressed(rows: np.ndarray, least: float) -> np.ndarray:
    """R with RᵀR = rowsᵀ rows, up to singular values below `least`."""
    if rows.shape[0] > rows.shape[1]:
        rows = np.asarray(np.linalg.qr(rows, mode="r"))
    _, s, V = np.linalg.svd(rows, full_matrices=False)
    kept = s > least
    return np.asarray(s[kept, None] * V[kept])


def sensitivity(
    question: RecordingQuestion, seed: int = 0, weights: Mapping[str, np.ndarray] | None = None
) -> Sensitivity:
    """The derivatives at instance 0 of a seed (measured weights are the circuit's own).

    Parameters
    ----------
    question : RecordingQuestion
        Without a target, the parameters are the target.
    seed : int, optional
    weights : mapping of str to ndarray, optional
        Matrices that replace those of the instance (singular values then have no bound).

    Raises
    ------
    InputError
        If the network has no activation function.
    """
    point, target = _Point.of(question, seed), question.target
    if weights is not None:
        point = replace(point, weights={**point.weights, **weights})
    known: dict[str, np.ndarray] = {}
    prior = point.prior()
    own, driven = question.allocation.size, None
    check_memory(2 * question.count_of(question.allowed) * own * 8, "what may be recorded")
    with np.errstate(over="ignore", invalid="ignore"):
        rows, owner = point.rows(question.owners, known)
        if target is None:
            aims, of = np.eye(len(prior)), np.arange(len(prior))
        else:
            aims, of = point.rows(target.owners, known)
        largest = max(float(np.abs(part * prior).max(initial=0)) for part in (rows, aims))
    # Not a number, or deviations would be rounding errors.
    if not largest < _LARGEST:
        raise InputError(
            "`noise`: the activities at these parameters, or their derivatives, are too large for "
            "doubles: use smaller weights (distribution.scale), fewer steps or a bounded activation"
        )
    kept = np.isin(owner, question.allowed)
    aimed = of < (len(prior) if target is None else len(target.elements))
    if not kept.all():
        rows, owner = rows[kept], owner[kept]
    if question.drives:
        parts = [(rows, owner, np.full(len(owner), -1))]
        for k, driven_point in point.driven().items():
            more, of_more = driven_point.rows(question.owners, {})
            some = np.isin(of_more, question.allowed)
            parts.append((more[some], of_more[some], np.full(int(some.sum()), k)))
        rows, owner, driven = map(np.concatenate, zip(*parts, strict=True))
    if not aimed.all():
        aims, of = aims[aimed], of[aimed]
    return Sensitivity(question, seed, rows, owner, aims, of, prior, driven)


class MovedCircuit:
    """Recorded numbers and those of the target as functions of the learnable parameters.

    Parameters are given by their differences from the circuit's own.

    Parameters
    ----------
    found : Sensitivity
    """

    def __init__(self, found: Sensitivity) -> None:
        self.question = found.question
        self._point, self._kept = _Point.of(found.question, found.seed), found.question.allowed
        self._points = [self._point, *self._point.driven().values()]

    def recorded(self, by: np.ndarray) -> np.ndarray:
        """What may be recorded, in the order of `Sensitivity.rows`."""
        owners = self.question.owners
        of = np.concatenate([own.ravel() for _, inside in owners for own in inside])
        kept = np.isin(of, self._kept)
        return np.concatenate([own.moved(by).values(owners)[kept] for own in self._points])

    def slopes(self, by: np.ndarray) -> np.ndarray:
        """The derivatives of what may be recorded."""
        parts = []
        for own in self._points:
            rows, of = own.moved(by).rows(self.question.owners, {})
            parts.append(rows[np.isin(of, self._kept)])
        return np.concatenate(parts)

    def aims(self, by: np.ndarray) -> np.ndarray:
        """The numbers of the target; the parameters if there is none."""
        if (target := self.question.target) is None:
            return by
        of = np.concatenate([own.ravel() for _, inside in target.owners for own in inside])
        return self._point.moved(by).values(target.owners)[of < len(target.elements)]


@dataclass(frozen=True)
class _Point:
    """The circuit's own parameters and samples, in doubles or balls."""

    question: RecordingQuestion
    network: ActivatedNetwork
    weights: Mapping[str, np.ndarray]
    X: np.ndarray
    given_moves: list[dict[Cell, Any]] | None = None

    @classmethod
    def of(cls, question: RecordingQuestion, seed: int) -> _Point:
        problem = question.parametrized
        networks = [base_of(p.network) for p in (question.asked, problem)]
        if not isinstance(networks[0], ActivatedNetwork):
            raise InputError(
                "`noise`: predicted for networks of the kinds rnn and ffn, not for "
                f'{networks[0].title} ones; an rnn or ffn with activation = "linear" is linear'
            )
        if any(isinstance(own[1], LowRank) for own in problem.network.parameters_of.values()):
            raise InputError("`noise`: low-rank updates have no law before the recording")
        assert isinstance(networks[1], ActivatedNetwork)
        if networks[0].own_point is not None:
            # Of a network with ReLU, on its own activation pattern.
            own_point = networks[0].own_point.first(networks[1].m)
            weights = {name: to_double(w) for name, w in own_point.weights.items()}
            return cls(question, networks[1], weights, to_double(own_point.X))
        laws = problem.distribution
        own = Problem(networks[0], {}, problem.support, laws, values=problem.values)
        instance = draw_instance(own, seed, 0)
        # The samples that are recorded do not depend on the target.
        more = networks[1].m - networks[0].m
        new = draw_entries(
            stream(seed, 0, "new samples"), laws.inputs, (instance.X.shape[0], more)
        )  # fmt: skip
        X = np.concatenate([instance.X, new], axis=1)
        return cls(question, networks[1], instance.weights, X)

    def driven(self) -> dict[int, _Point]:
        """The points of the stimulations, by their elements: the drive is one more input."""
        found = {}
        for k, own in self.question.experiments.items():
            if k is None or own.drive is None:
                continue
            network = base_of(own.parametrized.network)
            assert isinstance(network, ActivatedNetwork)
            drive = np.vectorize(nearest_double)(own.drive.given(self.X.shape[1]))
            B = with_column(self.weights["B"], own.drive.unit, 1.0)
            found[k] = replace(
                self, network=network, weights={**self.weights, "B": B},
                X=driven_inputs(self.X, drive), given_moves=self.moves,
            )  # fmt: skip
        return found

    def _arithmetic(self, product: Any, number: Any) -> EntryArithmetic:
        """The network's arithmetic, with the exact activation pattern of ReLU."""
        network = self.network
        if network.own_point is None:
            return network.entries(product, number)
        signs = network.on_pattern(network.own_point.first(network.m).signs)
        return EntryArithmetic(network.function, product, number, signs)

    @cached_property
    def moves(self) -> list[dict[Cell, Any]]:
        """The weights that each parameter moves, and how far; a gain moves no weight that is 0."""
        if self.given_moves is not None:
            return self.given_moves
        network, cells = self.question.parametrized.network, self.question.allocation.cells
        found: dict[Cell, dict[Cell, Any]] = {cell: {cell: 1} for cell in cells}
        for name, update, *_ in network.parameters_of.values():
            [letter], moved = update.arrays(self.network.shapes[name]), defaultdict[int, Any](dict)
            # Python's numbers, which are entries of balls as well.
            columns = (part.tolist() for part in cells_moved(update, self.weights[name]))
            for i, j, k, times in zip(*columns, strict=True):
                moved[k][name, i, j] = times
            found |= {(f"{letter}_{name}", k, 0): move for k, move in moved.items()}
        return [{own: times for own, times in found[cell].items() if times != 0} for cell in cells]

    @cached_property
    def motions(self) -> dict[str, MovedCells]:
        """The cells of each matrix that parameters move."""
        found: dict[str, list[tuple[int, int, int, Any]]] = {}
        for number, move in enumerate(self.moves):
            for (name, i, j), times in move.items():
                found.setdefault(name, []).append((i, j, number, times))
        return {
            name: MovedCells(*map(np.array, zip(*entries, strict=True)))
            for name, entries in found.items()
        }

    def moved(self, by: np.ndarray) -> _Point:
        """The point at which each parameter is changed by an amount."""
        weights = {name: np.array(w) for name, w in self.weights.items()}
        for name, own in self.motions.items():
            np.add.at(weights[name], (own.rows, own.columns), by[own.numbers] * own.times)
        return replace(self, weights=weights, given_moves=self.moves)

    def values(self, owners: Owners) -> np.ndarray:
        """All numbers of some readings, in the order of `rows`."""
        network, found = self.network, []
        arithmetic, blocks = self._arithmetic(matmul, truediv), network.placed(self.weights, self.X)
        for source, _ in owners:
            for node in network.recorded(source)[1]:
                value = evaluate(network.program(), arithmetic, blocks, [node])[node]
                found.append(np.broadcast_to(value, (len(value), network.m)).ravel())
        return np.concatenate(found)

    def prior(self) -> np.ndarray:
        """The standard deviation of each parameter before the recording.

        That of an amount by which several weights move is the root mean square of theirs.
        """
        network = self.question.parametrized.network
        parameters = network.parameters_of
        found = []
        for cell, move in zip(self.question.allocation.cells, self.moves, strict=True):
            if cell[0] in parameters and isinstance(parameters[cell[0]][1], Gain):
                found.append(1.0)
            else:
                found.append(float(np.sqrt(np.mean([self._spread(own) ** 2 for own in move]))))
        return np.array(found)

    def _spread(self, cell: Cell) -> float:
        """The standard deviation of a weight."""
        problem, (name, i, j) = self.question.parametrized, cell
        laws, values = problem.distribution, problem.values
        scale = factor_of(laws, name) / np.sqrt(self.network.shapes[name][1])
        if values and cell in values.numbers and values.jitter:
            size = nearest_double(values.numbers[cell]) if values.relative else 1.0
            return abs(nearest_double(values.jitter) * size)
        if name in self.network.rates:
            drawn = 1 / (1 + np.exp(-scale * _AT))
            mean, square = (float(_WEIGHT @ x / _WEIGHT.sum()) for x in (drawn, drawn**2))
            return float(np.sqrt(square - mean**2))
        if name in laws.masks and laws.masks[name][i, j]:
            scale *= _ABSOLUTE[laws.weights]
        return float(scale)

    def rows(
        self, owners: Owners, known: dict[str, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """Derivatives of all numbers of some readings, and their owners; `known` by source."""
        network = self.network
        arithmetic = self._arithmetic(matmul, truediv)
        blocks, program = network.placed(self.weights, self.X), network.program()
        for source in {source for source, _ in owners}.difference(known):
            parts = []
            for node in network.recorded(source)[1]:
                check_time()
                sweep = Sweep(program, arithmetic, blocks, set(self.motions), node)
                size = program.nodes[node].size
                found = np.zeros((size, network.m, len(self.moves)))
                for name, factor in factors(sweep, set(self.motions)).items():
                    own, shape = self.motions[name], network.shapes[name]
                    found += moved_columns(factor, own, shape, len(self.moves), arithmetic)
                parts.append(found.reshape(size * network.m, -1))
            known[source] = parts[0] if len(parts) == 1 else np.concatenate(parts)
        tables = [known[source] for source, _ in owners]
        of = np.concatenate([own.ravel() for _, inside in owners for own in inside])
        return tables[0] if len(tables) == 1 else np.concatenate(tables), of

    def enclosed(self, chosen: Sequence[int]) -> np.ndarray:
        """The same of some elements in balls, entry by entry."""
        network, program = self.network, self.network.program()
        # Constants are balls too: φ of an initial current 0 is one.
        arithmetic = self._arithmetic(ball_product, number_in(self.X))
        blocks = network.placed(self.weights, self.X)
        single = sorted({cell for move in self.moves for cell in move})
        place = {cell: k for k, cell in enumerate(single)}
        mix = np.zeros((len(single), len(self.moves)), dtype=object)
        for k, move in enumerate(self.moves):
            for cell, times in move.items():
                mix[place[cell], k] = times
        wanted, parts = list(chosen), []
        for source, inside in self.question.owners:
            for node, of in zip(network.recorded(source)[1], inside, strict=True):
                mine = np.isin(of, wanted)
                units = np.flatnonzero(mine.any(axis=1))
                if not units.size:
                    continue
                check_time()
                names = {cell[0] for cell in single}
                sweep = Sweep(program, arithmetic, blocks, names, node, units)
                J = sweep.jacobian(single).reshape(-1, len(single))
                parts.append(ball_product(as_balls(J), as_balls(mix))[mine[units].ravel()])
        return np.concatenate(parts)
