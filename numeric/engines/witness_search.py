r"""Instances without real solutions, found by descent: candidates that balls then prove.

Dietmaier moved the parameters of the Stewart–Gough platform until all of its 40 solutions were
real [1]_; here parameters are moved until no solution is real.  θ are the fixed weights, the
teacher's, and the samples where these matter.

**Steps.**  A change dθ moves a solution of g(x; θ) = 0 by dx = −J(x)⁻¹ ∂g/∂θ dθ.  Two real
solutions x, y meet, and then become non-real, where D = |x − y|² vanishes; to first order the
nearest such θ has the distance 1 / |∇ log D|.  A non-real solution becomes real where its imaginary
part vanishes, and one diverges where 1 / |x| does, at distances that are inverse gradients of
logarithms as well.  (Weights are compared by asinh, because solutions of very different size are
common.)  These distances, not the imaginary parts, tell which solutions may become real: large
solutions move by as much as themselves when θ changes by a thousandth.  A step is the shortest
along which log D falls for one pair, quantities with a nearer zero grow, and no other one shrinks
by more than a share (a least distance problem, solved as in [2]_).  Steps that lead to fewer real
solutions or as many are accepted, and the next ones are longer, or else shorter.

If none of a number of steps lowers the number of real solutions, a random step is taken, and the
descent begins again.

**Solutions.**  N paths lead from a generic complex instance to a first random one.  From then on
the solutions of an instance are followed to those nearby, which takes a fiftieth of the time.  On
the straight line of real instances a solution stays real or non-real until it meets another.  So
real ones and one of each conjugate pair are followed on it; those that stop there, and after a
random step all, make a detour through complex instances.

**Symmetric instances.**  With fixed weights, teachers and samples that have a sign symmetry under
which solutions come in pairs (`numeric.arguments.sign_symmetries`) instances without real solutions
are much more frequent.  Few symmetries keep N; one that does is searched first, by paths to a
random complex symmetric instance.  The steps are then those in symmetric instances.

Two solutions that meet have opposite signs of det J.  So the sum of the signs changes only if
solutions come from infinity or diverge, and instances in which it is 0 are preferred.

`algebra.arguments.enclosed_solutions` proves the candidates or rejects them.

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

from algebra.certificates.tools import NonRealInstance
from algebra.errors import InputError
from algebra.networks.chain import need_chain
from algebra.problems.laws.distribution import Distribution
from algebra.problems.problem import Problem
from algebra.time_limits import check_time
from algebra.work import end_of_part, has_passed, spend
from numeric.arguments.sign_symmetries import SignSymmetry, sign_symmetries
from numeric.engines.homotopy import HomotopyEngine
from numeric.equations.arrays import pulled
from numeric.equations.chain import Chain
from numeric.equations.lanes.linalg import LANES
from numeric.tracking.monodromy import INCOMPLETE
from numeric.tracking.tracker import DONE, TrackerSettings, track
from numeric.trials.instances import Instance, draw_instance, to_rational

Matrices = Mapping[str, np.ndarray]

# With more complex solutions the search is not tried: the start system takes too long.
LARGEST_COUNT = 300
# Paths tracked for the random instances from which one is chosen.
_FIRST_PATHS = 400
# Between nearby instances paths are short, or stop where solutions meet.
_SHORT = TrackerSettings(order=8, tolerance=1e-4, shortest=1e-3, most_steps=60)
# Entries of the instances are multiples of this: exact as doubles, short as rationals.
_GRID = 2.0**-20
# Lengths of steps relative to the size of θ: the largest, the first, and the one below which the
# descent is given up.
_FURTHEST = 0.05
_FIRST = 0.01
_SHORTEST = 1e-5
# Factor of the length after a step that lowered the level or kept it, and after one that failed.
_LONGER = 1.5
_SHORTER = 0.5
# Multiple of the change that makes two solutions meet, to first order.
_BEYOND = 1.5
# Number of pairs among which the shortest step is chosen.
_PAIRS = 5
# What a step that makes a pair meet may change: a quantity with a zero that is as near as theirs
# keeps its size, a nearer one grows by `_GROWN` times the logarithm of the ratio, and `_GROWN` at
# most; no other shrinks by more than `_SHRUNK`, and this holds for those that are `_AWAY` times as
# far away without a condition.
_GROWN = 0.2
_SHRUNK = 0.4
_AWAY = 0.15
# Relative imaginary part below which a solution is called real, and least difference of two; the
# corner of the paths between real instances.
_REAL = 1e-7
_CORNER = 0.5 + 0.5j
# Parts of a solution's weights that are less than this share of the largest one are taken for 0.
_ZERO = 1e-20
# Weight of the sum of signs, relative to one real solution.
_DEGREE = 3
# Steps without fewer real solutions after which a descent ends.
_PATIENCE = 30
# Logarithms of the lengths of the random steps between descents, and number of those from which one
# is chosen.
_RANDOM = (-4.5, -2.0)
_DRAWS = 2
# Number of further real solutions with which the end of a descent replaces the last one.
_WORSE = 2
# After k times as many descents other random instances are drawn, for the k-th time.
_DESCENTS = 10
# Number of sign symmetries tried before each draw of random instances, until one keeps N.
_TRIED = 12
# Work of a step besides its paths.
_STEP = 0.01
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
    untried, symmetric = sign_symmetries(problem), None
    law = Distribution(signs=problem.distribution.signs)
    plain = Problem(problem.network, problem.learnable, problem.support, law)
    chain = engine.chain
    for number, first in enumerate(count(0, batch), 1):
        if has_passed(end):
            return
        if symmetric is None:
            symmetric = _SymmetricStart.find(engine, islice(untried, _TRIED), rng)
        use = symmetric if number % _SYMMETRIC else None
        draws = [_rounded(draw_instance(plain, seed, first + k)) for k in range(batch)]
        state = _first_state(engine, draws) if use is None else use.first_state(chain, draws)
        best = state
        for _ in range(_DESCENTS * number):
            if state is not None:
                state = _descended(chain, state, end)
                best = state if best is None or state.level <= best.level + _WORSE else best
            if best is None or not best.level or has_passed(end):
                break
            space = _Parameters(best.instance, chain, best.symmetry)
            lengths = np.exp(rng.uniform(*_RANDOM, _DRAWS))
            state = _at_best(chain, best, [space.moved(space.random(rng), x) for x in lengths])
        if best is not None and not len(best.real):
            instance = best.instance
            parts = np.stack([best.upper.real, best.upper.imag], axis=-1)
            # Rounding errors about 0 would be long as fractions.
            parts[np.abs(parts) < _ZERO * np.abs(parts).max(axis=(1, 2), keepdims=True)] = 0
            yield NonRealInstance(
                {name: to_rational(value) for name, value in instance.weights.items()},
                {name: to_rational(value) for name, value in instance.teacher.items()},
                to_rational(instance.X),
                to_rational(parts),
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
    symmetry : SignSymmetry or None
        A sign symmetry that the instance has.
    """

    instance: Instance
    roots: np.ndarray
    real: np.ndarray
    upper: np.ndarray
    signs: np.ndarray
    symmetry: SignSymmetry | None

    @classmethod
    def of(
        cls,
        chain: Chain,
        instance: Instance,
        roots: np.ndarray,
        symmetry: SignSymmetry | None = None,
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
        signs = np.linalg.slogdet(chain.residuals(chain.parameters(instance).real, real)[1])[0]
        return cls(instance, roots, real, upper, signs, symmetry)

    @cached_property
    def level(self) -> int:
        """The number of real solutions plus a multiple of the absolute sum of their signs."""
        return len(self.real) + _DEGREE * int(abs(self.signs.sum()))


def _first_state(engine: HomotopyEngine, instances: list[Instance]) -> _State | None:
    """The instance of least level among those for which all solutions were found."""
    states = [
        _State.of(engine.chain, instance, pool.roots)
        for instance, pool in zip(instances, engine.all_roots(instances), strict=True)
        if pool is not None
    ]
    return min((s for s in states if s is not None), key=lambda state: state.level, default=None)


def _at_best(chain: Chain, state: _State, instances: list[Instance]) -> _State | None:
    """The instance of least level, its solutions followed from those of an instance near it.

    On the straight line of real instances solutions meet, so paths pass it at a distance, through
    complex instances.
    """
    symmetry = state.symmetry
    roots = state.roots if symmetry is None else symmetry.representatives(state.roots)
    first = chain.parameters(state.instance)
    return _followed(chain, first, roots, instances, symmetry, _CORNER)


def _descended(chain: Chain, state: _State, end: float) -> _State:
    """The last instance of a descent in short steps, each of which makes a pair meet if it is long
    enough."""
    length, turn, since, space = _FIRST, 0, 0, None
    while state.level and since < _PATIENCE and length > _SHORTEST and not has_passed(end):
        since += 1
        spend(_STEP)
        if space is None:
            space = _Parameters(state.instance, chain, state.symmetry)
            pairs, guards = space.pairs(state), space.guards(state)
        step = _shortest(pairs, guards, turn)
        if step is None:
            break
        size = float(np.linalg.norm(step))
        found = _next_state(chain, state, space.moved(step, min(_BEYOND, length / size)))
        if found is None or found.level > state.level:
            # Another pair may be easier.
            length, turn = _SHORTER * length, turn + 1
            continue
        length = min(_LONGER * length, _FURTHEST)
        if found.level < state.level:
            since = turn = 0
        state, space = found, None
    return state


def _shortest(pairs: np.ndarray, guards: np.ndarray, turn: int) -> np.ndarray | None:
    """The shortest of the guarded steps of some pairs, the first of which is chosen in turn.

    Parameters
    ----------
    pairs, guards : ndarray, shape (·, p)
        Gradients of logarithms: of quantities that are to vanish, and of those that are not.
    turn : int
    """
    sizes, found = np.linalg.norm(guards, axis=1), list[np.ndarray]()
    for k in range(min(_PAIRS, len(pairs))):
        row = pairs[(turn + k) % len(pairs)]
        # How near a zero is, relative to that of the pair.
        ratio = sizes / np.linalg.norm(row)
        near = ratio > _AWAY
        least = np.clip(_GROWN * np.log(ratio[near]), -_SHRUNK, _GROWN)
        step = _guarded(np.vstack([-row, guards[near]]), np.concatenate([[1.0], least]))
        if step is not None:
            found.append(step)
    return min(found, key=lambda step: float(np.linalg.norm(step)), default=None)


def _next_state(chain: Chain, state: _State, instance: Instance) -> _State | None:
    """A real instance very near to another, and all its solutions; None if they are not found.

    Most solutions stay real, or non-real, and are followed on the straight line, one of each
    conjugate pair.  Paths of those that meet stop there; these solutions are followed through
    complex instances.
    """
    check_time()
    first = chain.parameters(state.instance)[None]
    try:
        second = chain.parameters(instance)[None]
    except InputError:
        return None
    starts = np.concatenate([state.real, state.upper])
    none = np.zeros(len(starts), np.int64)
    tracked = track(chain, first, second, none, none, starts, _SHORT)
    done = tracked.status == DONE
    is_real = none < 0
    is_real[: len(state.real)] = True
    upper = tracked.roots[done & ~is_real]
    roots = [tracked.roots[done & is_real], upper, upper.conj()]
    if not done.all():
        rest = np.concatenate([starts[~done], starts[~done & ~is_real].conj()])
        none, via = np.zeros(len(rest), np.int64), np.full((1, len(rest)), _CORNER)
        tracked = track(chain, first, second, none, none, rest, via=via)
        if not (tracked.status == DONE).all():
            return None
        roots.append(tracked.roots)
    return _State.of(chain, instance, np.concatenate(roots), state.symmetry)


def _followed(
    chain: Chain,
    first: np.ndarray,
    roots: np.ndarray,
    instances: list[Instance],
    symmetry: SignSymmetry | None,
    corner: complex | None,
) -> _State | None:
    """The instance of least level among those to which all solutions can be followed.

    Parameters
    ----------
    chain : Chain
    first : ndarray, shape (size,)
        Parameter vector of the instance where the paths start.
    roots : ndarray, shape (·, r)
        Its solutions; with a symmetry one of each pair.
    instances : list of Instance
    symmetry : SignSymmetry or None
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
            found = found if symmetry is None else symmetry.partners(found)
            states.append(_State.of(chain, instance, found, symmetry))
    return min((s for s in states if s is not None), key=lambda state: state.level, default=None)


@dataclass(frozen=True, eq=False)
class _SymmetricStart:
    """A complex instance with a sign symmetry, and one solution of each pair.

    Attributes
    ----------
    symmetry : SignSymmetry
    parameters : ndarray of complex, shape (size,)
    roots : ndarray of complex, shape (·, r)
    """

    symmetry: SignSymmetry
    parameters: np.ndarray
    roots: np.ndarray

    @classmethod
    def find(
        cls, engine: HomotopyEngine, among: Iterable[SignSymmetry], rng: np.random.Generator
    ) -> _SymmetricStart | None:
        """The first symmetry for which a random instance has N solutions; None if none is found.

        Parameters
        ----------
        engine : HomotopyEngine
            With a start system of N solutions.
        among : iterable of SignSymmetry
        rng : numpy.random.Generator
        """
        chain, start = engine.chain, engine.start
        for symmetry in among:
            check_time()
            try:
                parameters = chain.parameters(symmetry.random(engine.problem, rng))
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
                found = symmetry.representatives(tracked.roots[done])
                everything = symmetry.partners(found)
                if len(everything) == len(start.roots) and not _has_equal(everything):
                    return cls(symmetry, parameters, found)
        return None

    def first_state(self, chain: Chain, instances: list[Instance]) -> _State | None:
        """The symmetric instance of least level among those for which all solutions were found."""
        symmetric = [self.symmetry.symmetric(instance) for instance in instances]
        return _followed(chain, self.parameters, self.roots, symmetric, self.symmetry, None)


def _has_equal(roots: np.ndarray) -> bool:
    """Whether some solutions are equal: combinations of their weights are, on a logarithmic
    scale."""
    mixed = np.sort(np.arcsinh(roots) @ np.exp(1j * np.arange(roots.shape[1])))
    return bool(np.abs(np.diff(mixed)).min(initial=np.inf) < _REAL)


class _Parameters:
    """What may move at an instance, as one vector θ, and derivatives of its solutions by it.

    θ holds the student's parameter vector and the teacher's (`Chain.raw`): of the first the fixed
    weights move, and the samples where they are fewer than inputs (else the labels of independent
    samples determine all others, and moving samples changes nothing); of the second the weights.
    Steps are relative to the size of the weights, or of the samples.
    """

    def __init__(
        self, instance: Instance, chain: Chain, symmetry: SignSymmetry | None = None
    ) -> None:
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
        if symmetry is not None:
            # Symmetric instances stay symmetric.
            even = {name: np.where(odd, 0.0, 1.0) for name, odd in symmetry.odd.items()}
            inputs = np.where(symmetry.odd_samples, 0.0, 1.0)[:, columns]
            self._units = self._units * np.concatenate([
                chain.raw(even, inputs, none), chain.raw(even, inputs, none, keep_cells=True)
            ])  # fmt: skip
        self._inputs = chain.raw({n: 0 * v for n, v in exists.items()}, 0 * unit + 1, none) != 0
        r = chain.unknowns
        # Derivatives of the labels by θ's second half, and an orthonormal basis of those steps of
        # the teacher that change the labels.
        self._labels = pulled(chain, self._teacher, np.tile(self._others, (r, 1)), np.eye(r))
        self._own, other = map(np.flatnonzero, np.split(self._units, 2))
        self._other = other
        slopes = self._labels[:, other] * self._units[chain.size :][other]
        self._basis, self._slopes = np.linalg.qr(slopes.T)

    def moved(self, step: np.ndarray, length: float) -> Instance:
        """The instance after a step times `length`."""
        own, other = np.zeros((2, self.chain.size))
        own[self._own] = length * step[: len(self._own)]
        other[self._other] = length * (self._basis @ step[len(self._own) :])
        own, other = own * self._units[: len(own)], other * self._units[len(own) :]
        chain, X = self.chain, self.instance.X
        weights, teacher = (
            {name: value + part[chain.offsets[name] :][: value.size].reshape(value.shape)
             for name, value in matrices.items()}
            for matrices, part in ((self.instance.weights, own), (self.instance.teacher, other))
        )  # fmt: skip
        if self.has_samples:
            X = X + chain.inputs_of(own)
        return _rounded(replace(self.instance, weights=weights, teacher=teacher, X=X))

    def random(self, rng: np.random.Generator) -> np.ndarray:
        """A unit step in a random direction."""
        found = rng.standard_normal(len(self._own) + self._basis.shape[1])
        return np.asarray(found / np.linalg.norm(found))

    def pairs(self, state: _State) -> np.ndarray:
        """Gradients of log |x − y|² for pairs of real solutions of opposite signs, the nearest to
        each other first, each solution in one pair at most; weights are compared by asinh."""
        a, b = np.nonzero(state.signs[:, None] < state.signs)
        x = np.arcsinh(state.real)
        # Those of all weights of the real solutions, of which there are few.
        many, r = x.shape
        each, ones = np.repeat(state.real, r, axis=0), np.tile(np.eye(r), (many, 1))
        slopes = self._gradients(each, ones).reshape(many, r, -1)
        slopes = slopes / np.hypot(1, state.real)[:, :, None]
        gap = x[a] - x[b]
        rows = np.empty((len(a), slopes.shape[2]))
        for k in range(many):
            rows[a == k] = gap[a == k] @ slopes[k]
        for k in range(many):
            rows[b == k] -= gap[b == k] @ slopes[k]
        rows *= 2 / (gap**2).sum(axis=1)[:, None]
        left, chosen = np.ones(many, bool), list[int]()
        for k in np.argsort(-np.linalg.norm(rows, axis=1)):
            if left[a[k]] and left[b[k]] and np.isfinite(rows[k]).all():
                left[[a[k], b[k]]] = False
                chosen.append(k)
        return rows[chosen]

    def guards(self, state: _State) -> np.ndarray:
        """Gradients of the logarithms of what should not vanish: of |Im asinh z| for non-real
        solutions, and of 1 / |z| for all."""
        real, upper = state.real.astype(complex), state.upper
        heights = np.arcsinh(upper).imag
        rows = self._gradients(
            np.concatenate([upper, upper, real]),
            np.concatenate([heights / np.sqrt(1 + upper**2), 1j * upper.conj(), 1j * real]),
        ).imag
        sizes = np.concatenate([(heights**2).sum(axis=1), -(np.abs(upper) ** 2).sum(axis=1),
                                -(np.abs(real) ** 2).sum(axis=1)])  # fmt: skip
        rows = rows / sizes[:, None]
        return np.asarray(rows[np.isfinite(rows).all(axis=1)])

    def _gradients(self, roots: np.ndarray, covectors: np.ndarray) -> np.ndarray:
        """Gradients of covector · x by θ, x a solution: dx = −J⁻¹ (∂ student − ∂ teacher) dθ."""
        J = self.chain.residuals(self._student, roots)[1]
        covectors = _solved(J.transpose(0, 2, 1), covectors)
        own = -pulled(self.chain, self._student, roots, covectors)
        # Student and teacher have the same samples.
        own[:, self._inputs] += covectors @ self._labels[:, self._inputs]
        own = (own * self._units[: self.chain.size])[:, self._own]
        return np.concatenate([own, covectors @ self._slopes.T], axis=1)


def _solved(matrices: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Solutions of square systems, NaN where one is singular."""
    try:
        return np.linalg.solve(matrices, columns[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return np.full(columns.shape, np.nan)


def _guarded(rows: np.ndarray, least: np.ndarray) -> np.ndarray | None:
    """The shortest step with rows · step ≥ least, None if there is none."""
    sizes = np.linalg.norm(rows, axis=1) + 1e-300
    matrix = np.vstack([(rows / sizes[:, None]).T, least / sizes])
    aim = np.zeros(len(matrix))
    aim[-1] = 1
    try:
        rest = matrix @ nnls(matrix, aim)[0] - aim
    except RuntimeError:
        # More steps than SciPy allows.
        return None
    return -rest[:-1] / rest[-1] if rest[-1] < -1e-9 else None


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
