r"""Instances without real solutions, found by descent: candidates that balls then prove.

Dietmaier moved the parameters of the Stewart–Gough platform until all of its 40 solutions were
real [1]_; here parameters are moved until no solution is real.  Let x_1, x_2 be two real solutions
of an instance with parameters θ: the fixed weights and the teacher's.  A change dθ moves a solution
of the equations g(x; θ) = 0 by dx = −J(x)⁻¹ ∂g/∂θ dθ, so the gradient of D = |x_1 − x_2|² with
respect to θ costs two adjoint derivatives.  (Weights are compared by asinh, because solutions of
very different size are common.)  Near a point where the two solutions meet, D is linear in θ to
first order, and D / |∇D| is the distance to that point; far from it D / |∇D| is much too short.  So
a pair is *followed*: small steps along −∇D, each corrected by Newton's method for these two
solutions alone, until their distance is small.  An instance beyond the meeting point is then solved
for all N solutions, by paths from a generic complex instance.  (On straight lines between real
instances solutions meet, and paths are lost.)  Instances after one straight step, and random
instances, are solved as well.

When a pair of real solutions becomes non-real, others that are nearly real may become real.  Their
imaginary parts are functions of θ as well, so the step of a pair is also projected to the cone in
which no imaginary part of the nearest solutions decreases (non-negative least squares); this is
possible because there are more parameters than solutions.  The search continues from the instance
with the fewest real solutions, also if their number is unchanged but a pair is nearer to its
meeting point.

Two solutions that meet have opposite signs of det J.  So the sum of the signs changes only if
solutions come from infinity or diverge, and instances in which it is 0 are preferred.

`algebra.linear.enclosed` proves the candidates or rejects them.

References
----------
.. [1] P. Dietmaier, "The Stewart–Gough platform of general geometry can have 40 real postures",
   Advances in Robot Kinematics, Kluwer 1998, 7-16.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count

import numpy as np
from scipy.optimize import nnls

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

# With more complex solutions the search is not tried: the start system takes too long.
LARGEST_COUNT = 300
# Paths tracked for the random instances from which one is chosen.
_FIRST_PATHS = 400
# Entries of the instances are multiples of this: exact as doubles, short as rationals.
_GRID = 2.0**-20
# Largest number of pairs that are followed, of steps of each, and of a step relative to θ.
_PAIRS, _STEPS, _STRIDE = 3, 40, 0.05
# A step is this share of the distance to the meeting point; smaller shares, down to the second
# number, are tried if a corrected solution is too far from the one before.
_SHARE, _LEAST_SHARE = 0.3, 0.01
# A pair has nearly met at this share of its first distance.  The instance beyond the meeting point
# is at a random multiple, between the two numbers, of the distance to it; longest such step.
_NEARLY, _BEYOND, _LONGEST = 0.1, (1.2, 3.0), 0.3
# Largest number of Newton steps, and the size of the last one.
_CORRECTIONS, _CORRECTED = 8, 1e-9
# Straight steps towards the meeting point: logarithms of their lengths relative to the distance.
_STRAIGHT, _FURTHEST = (-1.5, 1.5), 0.5
# Number of non-real solutions whose imaginary parts must not decrease; least cosine between the
# wanted step and one that satisfies this; range of the logarithms of the lengths of such steps
# relative to the distance, and their number.
_GUARDS, _LEAST_COSINE, _GUARDED, _LENGTHS = 12, 1e-3, (-1.0, 2.5), 3
# Random steps, and logarithms of their lengths relative to θ.
_RANDOM_STEPS, _RANDOM = 4, (-4.5, -0.7)
# Weight of the sum of signs, relative to one real solution.
_DEGREE = 3
# After each sequence of `_UPHILL` steps without improvement a step with two more real solutions is
# allowed; after `_PATIENCE` k such steps other random instances are drawn, for the k-th time.
_UPHILL, _PATIENCE = 4, 10


def rootless_instances(
    problem: Problem, root_count: int, seed: int, seconds: float
) -> Iterator[NonRealInstance]:
    """Instances in which the tracker finds all solutions, and no real one.

    Parameters
    ----------
    problem : Problem
        A problem of a linear network with a fixed allocation.
    root_count : int
        The generic root count.
    seed : int
    seconds : float
        Time limit of the search.

    Yields
    ------
    NonRealInstance
        An instance, and approximations of one solution of each conjugate pair.
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
    for number, first in enumerate(count(0, batch), 1):
        patience = _PATIENCE * number
        if has_passed(end):
            return
        draws = [_rounded(draw_instance(plain, seed, first + k)) for k in range(batch)]
        state = _fewest(engine, draws)
        stalled = step = 0
        while state is not None and state.level and stalled < patience and not has_passed(end):
            found = _fewest(engine, _neighbours(engine.chain, state, step, rng))
            stalled, step = stalled + 1, step + 1
            most = state.cost if stalled % _UPHILL else state.level + 3
            if found is None or found.cost > most:
                continue
            if found.level < state.level:
                stalled = step = 0
            state = found
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
    def level(self) -> int:
        """The number of real solutions plus a multiple of the absolute sum of their signs."""
        return len(self.real) + _DEGREE * int(abs(self.signs.sum()))

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of real solutions that can meet, because their signs are opposite."""
        return [(int(a), int(b)) for a, b in np.argwhere(self.signs[:, None] < self.signs)]

    @cached_property
    def cost(self) -> float:
        """The level plus a number below 1 that grows with the gap of the closest such pair."""
        apart = [_gap(self.real[a], self.real[b]) for a, b in self.pairs]
        return self.level + float(np.tanh(min(apart, default=0.0)))


def _fewest(engine: HomotopyEngine, instances: list[Instance]) -> _State | None:
    """The instance of least cost among those for which all solutions were found."""
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


def _neighbours(chain: Chain, state: _State, step: int, rng: np.random.Generator) -> list[Instance]:
    """Random instances, and instances beyond the meeting points of some pairs of solutions.

    The pairs are chosen in turn by `step`.
    """
    space = _Parameters(state.instance, chain)
    moves = []
    for a, b in state.pairs:
        move = space.towards(state.real[a], state.real[b])
        if move is not None:
            moves.append((move[1], move[0], a, b))
    moves.sort(key=lambda move: move[0])
    found = []
    guards = space.kept_apart(state.upper)
    for k in range(min(_PAIRS, len(moves))):
        distance, direction, a, b = moves[(step * _PAIRS + k) % len(moves)]
        guarded = space.guarded(direction, guards)
        if guarded is not None:
            along, cosine = guarded
            for factor in np.exp(rng.uniform(*_GUARDED, _LENGTHS)):
                found.append(space.moved(along, min(factor * distance / cosine, _FURTHEST)))
        beyond = _beyond(space, state.real[a], state.real[b], rng.uniform(*_BEYOND))
        found += [] if beyond is None else [beyond]
        length = min(distance * np.exp(rng.uniform(*_STRAIGHT)), _FURTHEST)
        found.append(space.moved(direction, length))
    lengths = np.exp(rng.uniform(*_RANDOM, _RANDOM_STEPS))
    return found + [space.moved(space.random(rng), length) for length in lengths]


def _beyond(space: _Parameters, x: np.ndarray, y: np.ndarray, factor: float) -> Instance | None:
    """Follow two real solutions until they nearly meet: an instance beyond that point."""
    first, share = _gap(x, y), _SHARE
    for _ in range(_STEPS):
        move = space.towards(x, y)
        if move is None:
            return None
        (direction, distance), gap = move, _gap(x, y)
        # If steps get short at a smaller gap, the two are near their meeting point.
        if gap < _NEARLY * first or (gap < 3 * _NEARLY * first and share < _SHARE / 3):
            return space.moved(direction, min(factor * distance, _LONGEST))
        near = space.at(space.moved(direction, min(share * distance, _STRIDE)))
        new_x, new_y = near.corrected(x), near.corrected(y)
        if new_x is None or new_y is None or not _is_short(x, y, new_x, new_y):
            share /= 2
            if share < _LEAST_SHARE:
                return None
            continue
        share, space, x, y = min(2 * _SHARE, 1.3 * share), near, new_x, new_y
    return None


def _gap(x: np.ndarray, y: np.ndarray) -> float:
    """Distance of two solutions; large weights are compared on a logarithmic scale."""
    return float(np.linalg.norm(np.arcsinh(x) - np.arcsinh(y)))


def _is_short(x: np.ndarray, y: np.ndarray, new_x: np.ndarray, new_y: np.ndarray) -> bool:
    """Whether both solutions moved less than their gap, are different, and their gap decreased."""
    gap, left = _gap(x, y), _gap(new_x, new_y)
    furthest = max(_gap(new_x, x), _gap(new_y, y))
    return bool(1e-7 < left <= gap and furthest <= 0.8 * gap)


class _Parameters:
    """The fixed weights and the teacher's of an instance, and derivatives of its solutions."""

    def __init__(self, instance: Instance, chain: Chain) -> None:
        self.instance, self.chain = instance, chain
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

    def at(self, instance: Instance) -> _Parameters:
        """The parameters of another instance."""
        return _Parameters(instance, self.chain)

    def corrected(self, x: np.ndarray) -> np.ndarray | None:
        """The solution near an approximate one, by Newton's method; None if there is none."""
        for _ in range(_CORRECTIONS):
            labels = self.network.forward(self.instance.with_weights(x), self.instance.X)
            try:
                step = np.linalg.solve(
                    self.jacobian(x), (labels - self.instance.labels).ravel()[self._rows]
                )
            except np.linalg.LinAlgError:
                return None
            x = x - step
            size = np.linalg.norm(step) / (1 + np.linalg.norm(x))
            # NaN and infinity fail too.
            if not size <= 1 / 2:
                return None
            if size < _CORRECTED:
                return x
        return None

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
        difference = np.arcsinh(x) - np.arcsinh(y)
        try:
            covectors = [
                np.linalg.solve(self.jacobian(z).T, difference / np.hypot(1, z)) for z in (x, y)
            ]
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

    def kept_apart(self, roots: np.ndarray) -> np.ndarray:
        """Unit rows: gradients of the imaginary parts of the solutions nearest to real ones."""
        near = np.linalg.norm(roots.imag, axis=1) / np.linalg.norm(roots, axis=1)
        rows = []
        for z in roots[np.argsort(near)[:_GUARDS]]:
            try:
                covector = np.linalg.solve(self.jacobian(z).T, z.imag)
            except np.linalg.LinAlgError:
                continue
            own = self._pulled(self.instance.with_weights(z), covector, self._free[0])
            teacher = self._pulled(self.instance.teacher, covector, self._free[1])
            # Im x · Im dx, where dx = −J⁻¹ (∂ student − ∂ teacher) dθ.
            row = np.concatenate([*(-v.imag.ravel() for v in own.values()),
                                  *(v.imag.ravel() for v in teacher.values())])  # fmt: skip
            norm = float(np.linalg.norm(row))
            if np.isfinite(norm) and norm > 0:
                rows.append(row / norm)
        return np.array(rows)

    def guarded(
        self, step: tuple[Matrices, Matrices], guards: np.ndarray
    ) -> tuple[tuple[Matrices, Matrices], float] | None:
        """The nearest unit step along which no imaginary part decreases, and its cosine.

        None if the cosine with the given step is too small.
        """
        found = np.concatenate([v.ravel() for own in step for v in own.values()])
        if len(guards):
            try:
                found = found + guards.T @ nnls(guards.T, -found)[0]
            except RuntimeError:
                # More steps than SciPy allows.
                return None
        size = float(np.linalg.norm(found))
        if size < _LEAST_COSINE:
            return None
        unit: list[dict[str, np.ndarray]] = []
        at = 0
        for own in step:
            unit.append({})
            for name, value in own.items():
                unit[-1][name] = (found[at : at + value.size] / size).reshape(value.shape)
                at += value.size
        return (unit[0], unit[1]), size

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
        flat = np.zeros(self.instance.labels.size, covector.dtype)
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
