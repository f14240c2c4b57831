r"""Instances without real solutions, found by descent: candidates that balls then prove.

Dietmaier moved the parameters of the Stewart–Gough platform until all of its 40 solutions were
real [1]_; here parameters are moved until no solution is real.  θ are the fixed weights, the
teacher's, and the samples where these matter.

**Steps.**  Let x, y be two real solutions of an instance and c the point between them.  If the
labels are quadratic in the weights, F(x) = F(y) implies F'(c) (x − y) = 0: where the labels are
F(c), the two meet at c, and beyond that they are not real.  So one step of a pair is the shortest
dθ for which, to first order, the labels of student and teacher agree at c.  Another one descends
along the gradient of D = |x − y|²: a change dθ moves a solution of g(x; θ) = 0 by
dx = −J(x)⁻¹ ∂g/∂θ dθ.  (There weights are compared by asinh, because solutions of very different
size are common.)

When a pair becomes non-real, others that are nearly real may become real.  Their imaginary parts
are functions of θ as well, so a step is replaced by the nearest one along which those of solutions
that are nearly real grow, and no other shrinks by more than a share (a least distance problem,
solved as in [2]_).  This is possible because there are more parameters than solutions.  Shares and
small multiples of such steps are tried, and random steps.

**Solutions.**  N paths lead from a generic complex instance to a first random one.  From then on
the solutions of an instance are followed to those nearby, which takes a tenth of the time.  On the
straight line of real instances solutions meet, and paths would be lost; they make a detour through
complex ones.

The search continues from the instance with the fewest real solutions, also if their number is
unchanged but a pair is nearer to its meeting point, or fewer solutions are nearly real.

**Symmetric instances.**  With fixed weights, teachers and samples that have a sign symmetry under
which solutions come in pairs (`numeric.gradings`) instances without real solutions are much
more frequent.  Few symmetries keep N; one that does is searched first, by paths to a random complex
symmetric instance.  The steps are then those in symmetric instances, and one solution of each pair
is followed.

Two solutions that meet have opposite signs of det J.  So the sum of the signs changes only if
solutions come from infinity or diverge, and instances in which it is 0 are preferred.

`algebra.linear.enclosed` proves the candidates or rejects them.

References
----------
.. [1] P. Dietmaier, "The Stewart–Gough platform of general geometry can have 40 real postures",
   Advances in Robot Kinematics, Kluwer 1998, 7-16.
.. [2] C. L. Lawson, R. J. Hanson, Solving Least Squares Problems, Prentice-Hall 1974, chapter 23.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count, islice

import numpy as np
from scipy.optimize import nnls

from algebra.certificates.family import NonRealInstance
from algebra.errors import InputError
from algebra.networks.chain import need_chain
from algebra.problems.laws.distribution import Distribution
from algebra.problems.problem import Problem
from algebra.time_limits import check_time, end_of_part, has_passed
from numeric.chains.arrays import pulled
from numeric.chains.chain import Chain
from numeric.chains.lanes.linalg import LANES
from numeric.engines.homotopy import HomotopyEngine
from numeric.gradings import Grading, gradings
from numeric.instances import Instance, draw_instance, to_rational
from numeric.tracking.monodromy import INCOMPLETE
from numeric.tracking.tracker import DONE, track

Matrices = Mapping[str, np.ndarray]

# With more complex solutions the search is not tried: the start system takes too long.
LARGEST_COUNT = 300
# Paths tracked for the random instances from which one is chosen.
_FIRST_PATHS = 400
# Entries of the instances are multiples of this: exact as doubles, short as rationals.
_GRID = 2.0**-20
# Largest number of pairs whose steps are tried at once; logarithms and number of the multiples of
# each; largest length, relative to the size of θ.
_PAIRS, _MULTIPLES, _FURTHEST = 3, (-2.0, 2.0, 2), 0.5
# Random steps: logarithms of their lengths relative to the size of θ, and their number.
_RANDOM = (-4.5, -0.7, 4)
# Relative imaginary part below which a solution is called real, and least difference of two; the
# corner of the paths between real instances.
_REAL, _CORNER = 1e-7, 0.5 + 0.5j
# Number of non-real solutions that are kept from real ones; relative imaginary part from which they
# need not be; range of the changes of its logarithm that a step must have.
_GUARDS, _FLAT, _CHANGES = 12, 0.03, (-0.7, 0.3)
# Weight of the logarithms of imaginary parts relative to that of the nearest meeting's distance.
_BARRIER = 0.3
# Weight of the sum of signs, relative to one real solution.
_DEGREE = 3
# After each sequence of `_UPHILL` steps without improvement a step with two more real solutions is
# allowed; after `_PATIENCE` k such steps other random instances are drawn, for the k-th time.
_UPHILL, _PATIENCE = 4, 10
# Number of sign symmetries tried before each draw of random instances, until one keeps N.
_TRIED = 12
# Of this number of random draws all but the last are symmetric, if that keeps N.
_SYMMETRIC = 8
# Least share of the paths to a random symmetric instance that must not be lost.
_ARRIVING = 0.8


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
    untried, symmetric = gradings(problem), None
    law = Distribution(signs=problem.distribution.signs)
    plain = Problem(problem.network, problem.learnable, problem.support, law)
    for number, first in enumerate(count(0, batch), 1):
        if symmetric is None:
            symmetric = _SymmetricStart.find(engine, islice(untried, _TRIED), rng)
        use = symmetric if number % _SYMMETRIC else None
        patience = _PATIENCE * (number if use is None else 1)
        if has_passed(end):
            return
        draws = [_rounded(draw_instance(plain, seed, first + k)) for k in range(batch)]
        chain = engine.chain
        state = _first_state(engine, draws) if use is None else use.first_state(chain, draws)
        stalled = step = 0
        while state is not None and state.level and stalled < patience and not has_passed(end):
            found = _next_state(engine.chain, state, _neighbours(engine.chain, state, step, rng))
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
    """An instance and all its solutions.

    Attributes
    ----------
    instance : Instance
    roots : ndarray of complex, shape (N, r)
    real, upper : ndarray
        The real ones, and one of each conjugate pair.
    signs : ndarray of float
        Signs of det J at the real ones.
    nearest : float
        Least relative distance of the labels from those at which two of opposite sign meet.
    """

    instance: Instance
    roots: np.ndarray
    real: np.ndarray
    upper: np.ndarray
    signs: np.ndarray
    nearest: float
    grading: Grading | None

    @classmethod
    def of(
        cls, chain: Chain, instance: Instance, roots: np.ndarray, grading: Grading | None = None
    ) -> _State | None:
        """From all solutions; None if some are equal, or are not closed under conjugation."""
        size = np.linalg.norm(roots, axis=1)
        flat = np.linalg.norm(roots.imag, axis=1) < _REAL * size
        # A coordinate with a large imaginary part tells a solution from its conjugate.
        shown = np.argmax(np.abs(roots.imag), axis=1)
        upper = np.take_along_axis(roots.imag, shown[:, None], axis=1)[:, 0] > 0
        real, upper = roots[flat].real, roots[upper & ~flat]
        if len(real) + 2 * len(upper) != len(roots):
            return None
        if _has_equal(roots):
            return None
        space = _Parameters(instance, chain, grading)
        signs = space.signs(real)
        a, b = np.nonzero(signs[:, None] < signs)
        nearest = float(space.apart(real[a], real[b]).min(initial=np.inf))
        return cls(instance, roots, real, upper, signs, nearest, grading)

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
        """The level plus a number below 1: less if a pair is nearer to its meeting point, or fewer
        solutions are nearly real."""
        near = np.minimum(np.log(_flatness(self.upper) / _FLAT), 0).sum() if len(self.upper) else 0
        merit = np.log(self.nearest) - _BARRIER * near if self.pairs else 0.0
        return self.level + float(1 / (1 + np.exp(-merit / 4)))


def _first_state(engine: HomotopyEngine, instances: list[Instance]) -> _State | None:
    """The instance of least cost among those for which all solutions were found."""
    states = [
        _State.of(engine.chain, instance, pool.roots)
        for instance, pool in zip(instances, engine.all_roots(instances), strict=True)
        if pool is not None
    ]
    return min((s for s in states if s is not None), key=lambda state: state.cost, default=None)


def _next_state(chain: Chain, state: _State, instances: list[Instance]) -> _State | None:
    """The instance of least cost, its solutions followed from those of an instance near it.

    On the straight line of real instances solutions meet, so paths pass it at a distance, through
    complex instances.
    """
    grading = state.grading
    roots = state.roots if grading is None else grading.representatives(state.roots)
    first = chain.parameters(state.instance)
    return _followed(chain, first, roots, instances, grading, _CORNER)


def _followed(
    chain: Chain,
    first: np.ndarray,
    roots: np.ndarray,
    instances: list[Instance],
    grading: Grading | None,
    corner: complex | None,
) -> _State | None:
    """The instance of least cost among those to which all solutions can be followed.

    Parameters
    ----------
    chain : Chain
    first : ndarray, shape (size,)
        Parameter vector of the instance where the paths start.
    roots : ndarray, shape (·, r)
        Its solutions; with a grading one of each pair.
    instances : list of Instance
    grading : Grading or None
        A sign symmetry of all these instances.
    corner : complex or None
        Where on the complex line paths make a detour.
    """
    check_time()
    ends, kept = list[np.ndarray](), list[Instance]()
    for instance in instances:
        with suppress(InputError):
            # A step may lead to dependent samples or read-outs.
            ends.append(chain.parameters(instance))
            kept.append(instance)
    if not kept:
        return None
    which = np.repeat(np.arange(len(kept)), len(roots))
    tracked = track(
        chain, first[None], np.array(ends), np.zeros_like(which), which,
        np.tile(roots, (len(kept), 1)),
        via=None if corner is None else np.full((1, len(which)), corner),
    )  # fmt: skip
    states = list[_State | None]()
    for k, instance in enumerate(kept):
        if (tracked.status[which == k] == DONE).all():
            found = tracked.roots[which == k]
            found = found if grading is None else grading.partners(found)
            states.append(_State.of(chain, instance, found, grading))
    return min((s for s in states if s is not None), key=lambda state: state.cost, default=None)


@dataclass(frozen=True, eq=False)
class _SymmetricStart:
    """A complex instance with a sign symmetry, and one solution of each pair.

    Attributes
    ----------
    grading : Grading
    parameters : ndarray of complex, shape (size,)
    roots : ndarray of complex, shape (·, r)
    """

    grading: Grading
    parameters: np.ndarray
    roots: np.ndarray

    @classmethod
    def find(
        cls, engine: HomotopyEngine, among: Iterable[Grading], rng: np.random.Generator
    ) -> _SymmetricStart | None:
        """The first symmetry for which a random instance has N solutions; None if none is found.

        Parameters
        ----------
        engine : HomotopyEngine
            With a start system of N solutions.
        among : iterable of Grading
        rng : numpy.random.Generator
        """
        chain, start = engine.chain, engine.start
        for grading in among:
            check_time()
            try:
                parameters = chain.parameters(grading.random(engine.problem, rng))
            except InputError:
                continue
            # Most symmetries lose solutions, of which a few paths are a sign.
            for roots in (start.roots[:LANES], start.roots):
                none = np.zeros(len(roots), np.int64)
                tracked = track(chain, start.parameters[None], parameters[None], none, none, roots)
                done = tracked.status == DONE
                if done.mean() < _ARRIVING:
                    break
            else:
                found = grading.representatives(tracked.roots[done])
                everything = grading.partners(found)
                if len(everything) == len(start.roots) and not _has_equal(everything):
                    return cls(grading, parameters, found)
        return None

    def first_state(self, chain: Chain, instances: list[Instance]) -> _State | None:
        """The symmetric instance of least cost among those for which all solutions were found."""
        symmetric = [self.grading.symmetric(instance) for instance in instances]
        return _followed(chain, self.parameters, self.roots, symmetric, self.grading, None)


def _neighbours(chain: Chain, state: _State, step: int, rng: np.random.Generator) -> list[Instance]:
    """Instances before and beyond the meeting points of some pairs of solutions, and random ones.

    The pairs are chosen in turn by `step`.
    """
    space, found = _Parameters(state.instance, chain, state.grading), list[Instance]()
    if state.pairs:
        x, y = (state.real[list(ends)] for ends in zip(*state.pairs, strict=True))
        meetings, approaches = space.to_meeting(x, y), space.towards(x, y)
        lengths = np.array([np.linalg.norm(shortest) for shortest, _ in meetings])
        moves = [k for k in np.argsort(lengths) if np.isfinite(lengths[k])]
        rows, least = space.guards(state.upper)
        for k in range(min(_PAIRS, len(moves))):
            move = moves[(step * _PAIRS + k) % len(moves)]
            shortest, basis = meetings[move]
            ways = (_guarded(shortest, basis, rows, least),
                    _guarded(approaches[move], None, rows, np.zeros_like(least)))  # fmt: skip
            for way in ways:
                if way is not None:
                    for multiple in np.exp(rng.uniform(*_MULTIPLES)):
                        length = min(multiple, _FURTHEST / np.linalg.norm(way))
                        found.append(space.moved(way, float(length)))
    distances = np.exp(rng.uniform(*_RANDOM))
    return found + [space.moved(space.random(rng), distance) for distance in distances]


def _has_equal(roots: np.ndarray) -> bool:
    """Whether some solutions are equal: combinations of their weights are, on a logarithmic
    scale."""
    mixed = np.sort(np.arcsinh(roots) @ np.exp(1j * np.arange(roots.shape[1])))
    return bool(np.abs(np.diff(mixed)).min(initial=np.inf) < _REAL)


def _flatness(roots: np.ndarray) -> np.ndarray:
    """Relative distances of non-real solutions from the real ones."""
    return np.asarray(np.linalg.norm(roots.imag, axis=1) / np.linalg.norm(roots, axis=1))


class _Parameters:
    """What may move at an instance, as one vector θ, and derivatives of its solutions by it.

    θ holds the student's parameter vector and the teacher's (`Chain.raw`): of the first the fixed
    weights move, and the samples where they are fewer than inputs (else the labels of independent
    samples determine all others, and moving samples changes nothing); of the second the weights.
    Steps are relative to the size of the weights, or of the samples.
    """

    def __init__(self, instance: Instance, chain: Chain, grading: Grading | None = None) -> None:
        self.instance, self.chain = instance, chain
        network, X = need_chain(instance.problem.network), instance.X
        columns = chain.independent_samples(X)
        Y = chain.label_columns(instance.labels, columns)
        self._student = chain.raw(instance.weights, X[:, columns], Y)
        self._teacher = chain.raw(instance.teacher, X[:, columns], Y, keep_cells=True)
        self._others = self._teacher[chain.cells[:, 4]]
        support = instance.problem.support
        exists = {name: np.broadcast_to(np.asarray(support.get(name, 1)) != 0, shape).astype(float)
                  for name, shape in network.shapes.items()}  # fmt: skip
        self.has_samples = network.drive(X) is X and len(X) > X.shape[1] == len(columns)
        none, X_size = np.zeros_like(Y), float(np.linalg.norm(X))
        size = float(np.sqrt(2 * sum((w**2).sum() for w in instance.teacher.values())))
        weights = {name: size * own for name, own in exists.items()}
        unit = np.full((len(X), len(columns)), X_size if self.has_samples else 0.0)
        # Units of the parts of θ, 0 where nothing moves.
        self._units = np.concatenate([
            chain.raw(weights, unit, none), chain.raw(weights, 0 * unit, none, keep_cells=True)
        ])  # fmt: skip
        if grading is not None:
            # Symmetric instances stay symmetric.
            even = {name: np.where(odd, 0.0, 1.0) for name, odd in grading.odd.items()}
            inputs = np.where(grading.odd_samples, 0.0, 1.0)[:, columns]
            self._units = self._units * np.concatenate([
                chain.raw(even, inputs, none), chain.raw(even, inputs, none, keep_cells=True)
            ])  # fmt: skip
        self._inputs = chain.raw({n: 0 * v for n, v in exists.items()}, 0 * unit + 1, none) != 0

    def moved(self, step: np.ndarray, length: float) -> Instance:
        """The instance after a step times `length`."""
        own, other = np.split(length * self._units * step, 2)
        chain, X = self.chain, self.instance.X
        weights, teacher = (
            {name: value + part[chain.offsets[name] :][: value.size].reshape(value.shape)
             for name, value in matrices.items()}
            for matrices, part in ((self.instance.weights, own), (self.instance.teacher, other))
        )  # fmt: skip
        if self.has_samples:
            X = X + chain.inputs_of(own)
        return _rounded(replace(self.instance, weights=weights, teacher=teacher, X=X))

    def signs(self, roots: np.ndarray) -> np.ndarray:
        """Signs of det J at real solutions (k, r)."""
        return np.linalg.slogdet(self.chain.residuals(self._student, roots)[1])[0]

    def random(self, rng: np.random.Generator) -> np.ndarray:
        """A unit step in a random direction."""
        found = rng.standard_normal(len(self._units)) * (self._units != 0)
        return np.asarray(found / np.linalg.norm(found))

    def apart(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """For pairs of solutions the labels' relative distance from those half-way between."""
        values = self.chain.residuals(self._student, (x + y) / 2)[0]
        size = np.linalg.norm(self.chain.equation_labels(self._student))
        return np.asarray(np.linalg.norm(values, axis=1) / size)

    def to_meeting(self, x: np.ndarray, y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """For pairs of solutions the shortest steps to where they meet half-way, to first order.

        With an orthonormal basis of the steps that change whether they do.
        """
        middle = (x + y) / 2
        pairs, r = middle.shape
        values = self.chain.residuals(self._student, middle)[0]
        each, ones = np.repeat(middle, r, axis=0), np.tile(np.eye(r), (pairs, 1))
        own = pulled(self.chain, self._student, each, ones)
        other = pulled(self.chain, self._teacher, np.tile(self._others, (r, 1)), np.eye(r))
        other = np.tile(other, (pairs, 1))
        own[:, self._inputs] -= other[:, self._inputs]
        slopes = np.concatenate([own, -other], axis=1) * self._units
        found = []
        for A, v in zip(slopes.reshape(pairs, r, -1), values, strict=True):
            Q, R = np.linalg.qr(A.T)
            found.append((-Q @ _solved(R.T[None], v[None])[0], Q))
        return found

    def towards(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """For pairs of solutions the steps along which they approach fastest, up to no distance."""
        gap = np.arcsinh(x) - np.arcsinh(y)
        # −∇D / 2, D the square of the gap.
        down = self._gradients(y, gap / np.hypot(1, y)) - self._gradients(x, gap / np.hypot(1, x))
        with np.errstate(all="ignore"):
            return np.asarray(down * ((gap**2).sum(axis=1) / (2 * (down**2).sum(axis=1)))[:, None])

    def guards(self, roots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradients of log |Im x| for the solutions nearest to real ones, and its least changes."""
        flatness = _flatness(roots)
        near = np.argsort(flatness)[:_GUARDS]
        sizes = (roots[near].imag ** 2).sum(axis=1)
        rows = self._gradients(roots[near], roots[near].imag).imag / sizes[:, None]
        good = np.isfinite(rows).all(axis=1)
        return rows[good], np.clip(np.log(_FLAT / flatness[near]), *_CHANGES)[good]

    def _gradients(self, roots: np.ndarray, covectors: np.ndarray) -> np.ndarray:
        """Gradients of covector · x by θ, x a solution: dx = −J⁻¹ (∂ student − ∂ teacher) dθ."""
        J = self.chain.residuals(self._student, roots)[1]
        covectors = _solved(J.transpose(0, 2, 1), covectors)
        others = np.broadcast_to(self._others, roots.shape)
        own = -pulled(self.chain, self._student, roots, covectors)
        other = pulled(self.chain, self._teacher, others, covectors)
        # Student and teacher have the same samples.
        own[:, self._inputs] += other[:, self._inputs]
        return np.concatenate([own, other], axis=1) * self._units


def _solved(matrices: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Solutions of square systems, NaN where one is singular."""
    try:
        return np.linalg.solve(matrices, columns[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return np.full(columns.shape, np.nan)


def _guarded(
    step: np.ndarray, basis: np.ndarray | None, rows: np.ndarray, least: np.ndarray
) -> np.ndarray | None:
    """The step nearest to a given one with rows · step ≥ least, None if there is none.

    Parameters
    ----------
    step : ndarray
    basis : ndarray or None
        The columns are directions along which it must not change.
    rows, least : ndarray
        See `_Parameters.guards`.
    """
    if not np.isfinite(step).all():
        return None
    if not len(rows):
        return step
    free = rows if basis is None else rows - (rows @ basis) @ basis.T
    scale = np.linalg.norm(free, axis=1) + 1e-300
    free, wanted = free / scale[:, None], (least - rows @ step) / scale
    matrix, aim = np.vstack([free.T, wanted]), np.zeros(free.shape[1] + 1)
    aim[-1] = 1
    try:
        rest = matrix @ nnls(matrix, aim)[0] - aim
    except RuntimeError:
        # More steps than SciPy allows.
        return None
    return step - rest[:-1] / rest[-1] if rest[-1] < -1e-9 else None


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
