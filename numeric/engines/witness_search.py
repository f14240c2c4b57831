r"""Instances without real solutions, found by descent: candidates that balls then prove.

Dietmaier moved the parameters of the Stewart–Gough platform until all of its 40 solutions were
real [1]_; here they are moved until none is.  Let x_1, x_2 be two real solutions of an instance
with parameters θ: the fixed weights and the teacher's.  The equations g(x; θ) = 0 move a solution
by dx = −J(x)⁻¹ ∂g/∂θ dθ, so the gradient of D = |x_1 − x_2|² with respect to θ costs two adjoint
derivatives.  Near the point where the two meet D is linear in θ to first order, and D / |∇D| is the
distance to it.  For the pairs nearest to meeting, instances along −∇D, before and beyond that
point, are solved for all N solutions.  As these instances are near the one whose solutions are
known, the paths are short, and only solutions that meet need a detour through complex parameters.
The search continues from the instance with the fewest real solutions; among several, from the one
with a pair nearest to meeting.

At two solutions that meet the signs of det J are opposite.  So the sum of
the signs changes only if solutions come from infinity or diverge, and instances in which it is
0 are preferred.

`algebra.linear.enclosed` proves the candidates or rejects them.

References
----------
.. [1] P. Dietmaier, "The Stewart–Gough platform of general geometry can have 40 real postures",
   Advances in Robot Kinematics, Kluwer 1998, 7-16.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count

import numpy as np

from algebra.certificates.family import NonRealInstance
from algebra.errors import InputError
from algebra.networks.chain import need_chain
from algebra.problems.laws.distribution import Distribution
from algebra.problems.problem import Problem
from algebra.time_limits import check_time, end_of_part, has_passed
from numeric.chains.chain import Chain
from numeric.engines.homotopy import HomotopyEngine
from numeric.instances import Instance, draw_instance, to_rational
from numeric.tracking.monodromy import INCOMPLETE

Matrices = Mapping[str, np.ndarray]

# Larger start systems take longer than the search is worth.
LARGEST_COUNT = 300
# Paths tracked for the random instances from which one is chosen.
_FIRST_PATHS = 600
# Entries of the instances are multiples of this: exact as doubles, short as rationals.
_GRID = 2.0**-20
# Pairs that are moved together, and step lengths for each: relative to the distance to
# the meeting point (logarithms), and the largest relative to θ.
_PAIRS, _LENGTHS = 6, 2
_BEYOND, _LONGEST = (-1.5, 1.5), 0.5
# Random steps in addition.
_RANDOM = 4
# Weight of the sum of signs, relative to one real solution.
_DEGREE = 3
# Consecutive steps without improvement before another random instance is drawn.
_PATIENCE = 8


def rootless_instances(
    problem: Problem, root_count: int, seed: int, seconds: float
) -> Iterator[NonRealInstance]:
    """Instances in which the tracker finds all solutions, and no real one.

    Parameters
    ----------
    problem : Problem
        With a linear network and a fixed allocation.
    root_count : int
        The generic root count.
    seed : int
    seconds : float
        Time limit of the search.
    """
    end = end_of_part(seconds)
    if root_count > LARGEST_COUNT or seconds <= 0:
        return
    try:
        # If its paths are hard, another instance is drawn.
        engine = HomotopyEngine(problem, root_count=root_count, retries=2)
    except InputError:
        # The labels' dimension is smaller than the tracker assumes: there is no candidate.
        return
    if engine.start.source == INCOMPLETE:
        return
    batch = max(4, _FIRST_PATHS // root_count)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0xDE5C,)))
    law = Distribution(signs=problem.distribution.signs)
    plain = Problem(problem.network, problem.learnable, problem.support, law)
    for first in count(0, batch):
        if has_passed(end):
            return
        draws = [_rounded(draw_instance(plain, seed, first + k)) for k in range(batch)]
        state = _fewest(engine, draws)
        stalled = 0
        while state is not None and len(state.real) and stalled < _PATIENCE and not has_passed(end):
            found = _fewest(state.engine(engine), _neighbours(engine.chain, state, rng))
            stalled += 1
            if found is not None and found.cost < state.cost:
                state, stalled = found, 0
        if state is not None and not len(state.real):
            instance = state.instance
            yield NonRealInstance(
                {name: to_rational(value) for name, value in instance.weights.items()},
                {name: to_rational(value) for name, value in instance.teacher.items()},
                to_rational(instance.X),
                to_rational(np.stack([state.upper.real, state.upper.imag], axis=-1)),
            )


@dataclass(frozen=True)
class _State:
    """An instance, its real solutions with the signs of det J, and one of each conjugate pair."""

    instance: Instance
    roots: np.ndarray
    real: np.ndarray
    upper: np.ndarray
    signs: np.ndarray

    @cached_property
    def cost(self) -> float:
        """The cost to minimize: real solutions, then the gap between two that can meet."""
        unlike = np.argwhere(self.signs[:, None] < self.signs)
        apart = [
            np.linalg.norm(self.real[a] - self.real[b])
            / (np.linalg.norm(self.real[a]) + np.linalg.norm(self.real[b]))
            for a, b in unlike
        ]
        return len(self.real) + _DEGREE * abs(self.signs.sum()) + min(apart, default=0.0)

    def engine(self, engine: HomotopyEngine) -> HomotopyEngine:
        """The engine with this instance as its start, so that paths to neighbours are short."""
        near = copy(engine)
        parameters = engine.chain.parameters(self.instance).astype(complex)
        near.start = replace(engine.start, parameters=parameters, roots=self.roots)
        return near


def _fewest(engine: HomotopyEngine, instances: list[Instance]) -> _State | None:
    """Of the instances with all solutions found, the one of least cost."""
    check_time()
    states = []
    for instance, pool in zip(instances, engine.all_roots(instances), strict=True):
        if pool is not None:
            real = pool.roots[pool.is_real].real
            space = _Parameters(instance, engine.chain)
            signs = np.array([np.linalg.slogdet(space.jacobian(x))[0] for x in real])
            rest, radii = pool.roots[~pool.is_real], pool.radii[~pool.is_real]
            # The coordinate that proves a root non-real also separates it from its conjugate.
            shown = np.argmax(np.abs(rest.imag) - radii, axis=1)
            upper = np.take_along_axis(rest.imag, shown[:, None], axis=1)[:, 0] > 0
            states.append(_State(instance, pool.roots, real, rest[upper], signs))
    return min(states, key=lambda state: state.cost, default=None)


def _neighbours(chain: Chain, state: _State, rng: np.random.Generator) -> list[Instance]:
    """Instances beyond the meeting points of pairs of real solutions, in random order.

    det J changes its sign where two meet: only pairs of opposite signs do.
    """
    space = _Parameters(state.instance, chain)
    moves = []
    for a in range(len(state.real)):
        for b in range(a):
            if state.signs[a] != state.signs[b]:
                move = space.towards(state.real[a], state.real[b])
                moves += [] if move is None else [move]
    moves.sort(key=lambda move: move[1])
    steps = [
        (step, min(distance * factor, _LONGEST))
        for step, distance in moves[:_PAIRS]
        for factor in np.exp(rng.uniform(*_BEYOND, _LENGTHS))
    ]
    steps += [(space.random(rng), length) for length in _LONGEST * rng.random(_RANDOM)]
    rng.shuffle(steps)
    return [space.moved(*step) for step in steps]


class _Parameters:
    """The fixed weights and the teacher's of an instance, and derivatives of its solutions."""

    def __init__(self, instance: Instance, chain: Chain) -> None:
        self.instance = instance
        self.network = need_chain(instance.problem.network)
        columns, samples = chain.independent_samples(instance.X), instance.problem.network.m
        repeats = np.arange(instance.problem.network.columns // samples)[:, None]
        labels = (repeats * samples + columns).ravel()
        rows, which = chain.equations.T
        self._rows = rows * instance.problem.network.columns + labels[which]
        support = instance.problem.support
        ones = {name: np.ones(shape) for name, shape in self.network.shapes.items()}
        exists = {name: np.asarray(support.get(name, one)) != 0 for name, one in ones.items()}
        masks = instance.allocation.masks
        fixed = {name: exists[name] & (np.asarray(masks.get(name, 0 * one)) == 0)
                 for name, one in ones.items()}  # fmt: skip
        self._free = (fixed, exists)
        size = sum(float((w**2).sum()) for w in instance.teacher.values())
        self.size = float(np.sqrt(2 * size))

    def moved(self, step: tuple[Matrices, Matrices], length: float) -> Instance:
        """The instance after a unit step times `length`, relative to the parameters' size."""
        weights, teacher = (
            {name: value + length * self.size * change[name] for name, value in own.items()}
            for own, change in zip(
                (self.instance.weights, self.instance.teacher), step, strict=True
            )
        )
        return _rounded(replace(self.instance, weights=weights, teacher=teacher))

    def random(self, rng: np.random.Generator) -> tuple[Matrices, Matrices]:
        """A unit step in a random direction."""
        parts = [
            {name: rng.standard_normal(free.shape) * free for name, free in own.items()}
            for own in self._free
        ]
        norm = np.sqrt(sum(float((v**2).sum()) for part in parts for v in part.values()))
        one, other = ({name: value / norm for name, value in part.items()} for part in parts)
        return one, other

    def towards(
        self, x: np.ndarray, y: np.ndarray
    ) -> tuple[tuple[Matrices, Matrices], float] | None:
        """The unit step along which two solutions approach fastest, and their distance."""
        difference = x - y
        try:
            covectors = [np.linalg.solve(self.jacobian(z).T, difference) for z in (x, y)]
        except np.linalg.LinAlgError:
            return None
        own = self._pulled(self.instance.with_weights(x), covectors[0], self._free[0])
        other = self._pulled(self.instance.with_weights(y), covectors[1], self._free[0])
        teacher = self._pulled(self.instance.teacher, covectors[0] - covectors[1], self._free[1])
        # −∇D / 2: the student's part enters g with the sign +, the teacher's with −.
        down = ({name: own[name] - other[name] for name in own},
                {name: -value for name, value in teacher.items()})  # fmt: skip
        norm = np.sqrt(sum(float((v**2).sum()) for part in down for v in part.values()))
        if not np.isfinite(norm) or norm == 0:
            return None
        unit = tuple({name: value / norm for name, value in part.items()} for part in down)
        return (unit[0], unit[1]), float(difference @ difference) / (2 * norm) / self.size

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        """Jacobian of the equations at learnable weights."""
        names = self.instance.allocation.matrices
        factors = self.network.tangents(self.instance.with_weights(x), self.instance.X, names)
        columns = [
            (factors[n][0][:, :, i].T @ factors[n][1][:, j]).ravel()[self._rows]
            for n, i, j in self.instance.allocation.cells
        ]
        return np.array(columns).T

    def _pulled(
        self, weights: Matrices, covector: np.ndarray, free: Matrices
    ) -> dict[str, np.ndarray]:
        """The gradient of covector · equations with respect to the free entries of the weights."""
        flat = np.zeros(self.instance.labels.size)
        flat[self._rows] = covector
        at = flat.reshape(self.instance.labels.shape)
        factors = self.network.tangents(weights, self.instance.X)
        return {
            name: np.einsum("sdi,sdj->ij", L, at @ R.transpose(0, 2, 1)) * free[name]
            for name, (L, R) in factors.items()
        }


def _rounded(instance: Instance) -> Instance:
    """The instance with entries on the grid."""

    law = instance.problem.distribution

    def rounded(matrices: Matrices) -> dict[str, np.ndarray]:
        found = {name: np.round(value / _GRID) * _GRID for name, value in matrices.items()}
        for name, signs in law.masks.items():
            # A weight that would change its sign, or vanish, keeps it.
            found[name] = np.where((signs != 0) & (found[name] == 0), _GRID, found[name])
            found[name] *= np.asarray(instance.problem.support.get(name, 1))
        return law.oriented(found)

    return replace(
        instance,
        weights=rounded(instance.weights),
        teacher=rounded(instance.teacher),
        X=np.round(instance.X / _GRID) * _GRID,
    )
